"""The statistics of dispersion, against their formulas and as selectors."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from genes.planted import planted
from tamis.genes import NormalizedDispersion, PearsonResiduals, StandardizedVariance
from tamis.genes._dispersion import (
    residual_variance,
    standardised_variance,
    standardised_variance_within,
)
from tamis.genes._groups import Batches
from tamis.genes._matrix import log_of_equal_depth
from tamis.solvers.loess import loess

SELECTORS = [
    NormalizedDispersion(20),
    NormalizedDispersion(20, flavor="cell_ranger"),
    StandardizedVariance(20),
    PearsonResiduals(20),
]


def table_for(selector):
    counts = sp.csr_array(planted(n_cells=200, n_genes=300)[0]).astype(np.float64)
    return log_of_equal_depth(counts) if isinstance(selector, NormalizedDispersion) else counts


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
def test_sparse_dense_and_permuted(selector):
    X = table_for(selector)
    scores = selector.fit(X).scores_
    np.testing.assert_allclose(selector.fit(X.toarray()).scores_, scores, rtol=1e-8)
    order = np.random.default_rng(0).permutation(X.shape[1])
    np.testing.assert_allclose(selector.fit(X[:, order]).scores_, scores[order], rtol=1e-6)
    rows = np.random.default_rng(1).permutation(X.shape[0])
    np.testing.assert_allclose(selector.fit(X[rows]).scores_, scores, rtol=1e-6)


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
def test_markers_come_before_others(selector):
    _, _, marked = planted(n_cells=200, n_genes=300)
    chosen = selector.fit(table_for(selector)).get_support()
    assert (marked[chosen] >= 0).mean() > 0.4  # 16 % of all are


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
def test_negative_values_are_refused(selector):
    X = table_for(selector).toarray()
    X[3, 5] = -1
    with pytest.raises(ValueError, match="column 5"):
        selector.fit(X)


def test_the_wrong_values_are_refused():
    counts = table_for(PearsonResiduals())
    with pytest.raises(ValueError, match="whole numbers only"):
        NormalizedDispersion(3).fit(counts)
    for selector in (StandardizedVariance(3), PearsonResiduals(3)):
        with pytest.raises(ValueError, match="not whole numbers"):
            selector.fit(counts * 0.5)


def test_residuals_by_their_formula():
    counts = np.random.default_rng(0).poisson(0.8, (30, 12)).astype(float)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    residuals = (counts - expected) / np.sqrt(expected + expected**2 / 100)
    expected = residuals.clip(-np.sqrt(30), np.sqrt(30)).var(axis=0)
    np.testing.assert_allclose(residual_variance(counts), expected)
    np.testing.assert_allclose(residual_variance(sp.csr_array(counts)), expected)


def test_interpolated_sums_over_the_cells():
    rng = np.random.default_rng(0)
    rate = rng.lognormal(-1, 2, 700) * rng.lognormal(0, 0.5, (80, 1))
    counts = rng.poisson(rate).astype(float)
    counts = counts[:, counts.any(axis=0)]
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    residuals = (counts - expected) / np.sqrt(expected + expected**2 / 100)
    expected = residuals.clip(-20, 20).var(axis=0)
    found = residual_variance(sp.csr_array(counts), clip=20.0)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_a_dispersion_that_is_alone_in_its_bin_is_one():
    rng = np.random.default_rng(0)
    X = np.log1p(rng.gamma(2, 0.1, (100, 30)))
    X[:, 7] = np.log1p(rng.gamma(2, 30, 100))
    assert NormalizedDispersion(5, n_bins=4).fit(X).scores_[7] == 1


def test_standardised_variance_within_batches():
    counts, _, _ = planted(n_cells=240, n_genes=300)
    counts = sp.csr_array(counts[:, np.asarray(counts.sum(axis=0)).ravel() > 5], dtype=np.float32)
    whole = standardised_variance(counts)
    one = standardised_variance_within(counts, Batches.one(240), np.ones(counts.shape[1], bool))
    np.testing.assert_array_equal(one, whole)
    # Of deviations from the means of the batches, by the formula.
    codes = np.arange(240) % 3
    batches = Batches.of(codes)
    dense = counts.toarray().astype(float)
    means = batches.means(counts)
    total, freedom = dense.mean(axis=0), 240 - 3
    variances = ((dense - means[codes]) ** 2).sum(axis=0) / freedom
    deviation = np.sqrt(10 ** loess(np.log10(total), np.log10(variances), 0.3))
    clipped = np.minimum(dense, total + deviation * np.sqrt(240))
    expected = ((clipped - means[codes]) ** 2).sum(axis=0) / (freedom * deviation**2)
    found = standardised_variance_within(counts, batches, np.ones(counts.shape[1], bool))
    np.testing.assert_allclose(found, expected, rtol=1e-5)
