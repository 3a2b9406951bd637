"""What ranks are made of: sums, places and medians, each against its plain formula."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import rankdata

from tamis.genes._choice import by_median_rank
from tamis.genes._evidence import Sums, best_rank_in_a_group, ranks
from tamis.genes._groups import Batches
from tamis.genes._matrix import Cells, mean_and_scatter, row_sums
from tamis.genes._ranking import _sums_of_batches, _variation


def table(n_cells=60, n_genes=40, seed=0):
    counts = np.random.default_rng(seed).poisson(0.7, (n_cells, n_genes)).astype(np.float32)
    return sp.csr_array(np.log1p(counts))


def test_ranks_are_those_of_scipy():
    values = np.random.default_rng(0).integers(0, 20, 100).astype(float)
    np.testing.assert_array_equal(ranks(values), rankdata(-values))
    np.testing.assert_array_equal(ranks(values, equal="best"), rankdata(-values, method="min"))
    marks = np.random.default_rng(1).integers(0, 30, (4, 50)).astype(float)
    expected = np.min([rankdata(-row, method="min") for row in marks], axis=0)
    np.testing.assert_array_equal(best_rank_in_a_group(marks), expected)


@pytest.mark.parametrize("n_batches", [1, 4])
def test_sums_about_the_means_of_batches(n_batches):
    X = table()
    codes, groups = np.arange(60) % n_batches, np.arange(60) // 7 % 3
    dense = X.toarray().astype(float)
    means = np.array([dense[codes == batch].mean(axis=0) for batch in range(n_batches)])
    centred = dense - means[codes]
    found = Sums.within(X, groups, Batches.of(codes))
    for group in range(3):
        members = groups == group
        assert found.size[group] == members.sum()
        np.testing.assert_allclose(found.sums[group], centred[members].sum(axis=0), atol=1e-4)
        squares = (centred[members] ** 2).sum(axis=0)
        np.testing.assert_allclose(found.squares[group], squares, atol=1e-4)


def test_sums_of_each_batch(monkeypatch):
    X = table()
    codes, groups = np.random.default_rng(0).permutation(60) % 5, np.arange(60) % 3
    monkeypatch.setattr("tamis.genes._ranking.SUMS_AT_ONCE", 2 * 3 * 40)  # two batches at once
    found = list(_sums_of_batches(X, groups, Batches.of(codes)))
    assert len(found) == 5
    for batch, sums in enumerate(found):
        expected = Sums.of(X[codes == batch], groups[codes == batch], 3)
        np.testing.assert_array_equal(sums.size, expected.size)
        np.testing.assert_allclose(sums.sums, expected.sums, rtol=1e-6)
        np.testing.assert_allclose(sums.squares, expected.squares, rtol=1e-6)


def test_the_median_of_the_ranks_in_the_batches_won():
    rng = np.random.default_rng(0)
    costs = rng.integers(0, 25, (6, 30)).astype(float)
    costs[rng.random(costs.shape) < 0.2] = np.inf
    tie = rng.permutation(30).astype(float)
    places = np.full(costs.shape, np.nan)
    for place, cost in zip(places, costs, strict=True):
        best = [gene for gene in np.lexsort((tie, cost)) if cost[gene] < np.inf][:12]
        place[best] = np.arange(len(best))
    won = np.count_nonzero(~np.isnan(places), axis=0)
    chosen = by_median_rank(costs, 12, tie=tie)
    np.testing.assert_array_equal(chosen.n_batches, won)
    assert chosen.selected.sum() == 12
    expected = np.nanmedian(places[:, chosen.selected], axis=0)
    np.testing.assert_array_equal(chosen.rank[chosen.selected], expected)
    assert won[chosen.selected].min() >= won[~chosen.selected].max()


def test_variation_is_the_mean_over_the_batches_that_have_the_gene():
    counts = np.random.default_rng(0).poisson(0.7, (60, 40)).astype(np.float32)
    counts[3, 5] = 40  # clipped, by the root of all cells and not of those of the batch
    codes, depth = np.arange(60) % 4, counts.sum(axis=1).astype(float)
    counts[codes != 1, 7] = 0  # seen in one batch, the only one that counts for it
    expected = np.zeros(40)
    for batch in range(4):
        part, total = counts[codes == batch], depth[codes == batch]
        rate = np.outer(total, part.sum(axis=0)) / total.sum() + 1e-300
        residuals = (part - rate) / np.sqrt(rate + rate**2 / 100)
        varies = residuals.clip(-np.sqrt(60), np.sqrt(60)).var(axis=0)
        expected += np.where(np.arange(40) == 7, varies if batch == 1 else 0, varies / 4)
    cells = Cells(sp.csr_array(counts), sp.csr_array(np.log1p(counts)), depth, "")
    found = _variation(cells, Batches.of(codes), np.ones(40, dtype=bool), None)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_moments_of_columns_and_sums_of_rows():
    X = table()
    dense = X.toarray().astype(float)
    dense[:, 3], dense[[0, 7, 59]] = 0.7, 0
    dense[:, 5] = 0.7  # constant, but not to the last bit of its square
    X = sp.csr_array(dense)
    mean, scatter = mean_and_scatter(X)
    np.testing.assert_allclose(mean, dense.mean(axis=0))
    np.testing.assert_allclose(scatter, ((dense - dense.mean(axis=0)) ** 2).sum(axis=0), atol=1e-12)
    assert scatter[5] == 0
    np.testing.assert_allclose(row_sums(X), dense.sum(axis=1))
    np.testing.assert_array_equal(row_sums(sp.csr_array((3, 4))), np.zeros(3))
