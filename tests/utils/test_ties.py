"""Tables with many equal distances: the order of the rows plays no part in a selection."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from tamis import MCFS, MRSF, UDFS, LaplacianScore

# Whether a fit has converged is not the question here.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

METHODS = {
    "UDFS": UDFS(32),
    "MCFS": MCFS(32, n_clusters=7),
    "MRSF": MRSF(32, n_clusters=7),
    "LaplacianScore": LaplacianScore(32),
}


def ternary(n_samples=73, n_features=120, n_classes=7, seed=0):
    """Discretised genes, of which some tell the classes apart."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_samples) % n_classes
    X = rng.standard_normal((n_samples, n_features))
    X[:, :40] += 2 * rng.standard_normal((n_classes, 40))[y]
    return 2 * np.round(X.clip(-1, 1))


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def test_the_table_has_ties_that_row_numbers_would_break():
    X = ternary()
    squared = np.sort(((X[:, None] - X) ** 2).sum(axis=2), axis=1)
    assert (squared[:, 5] == squared[:, 6]).mean() > 0.1


def assert_rows_may_be_in_any_order(name, X):
    method = METHODS[name]
    Z = standardised(X)
    ranking, of_standardised = method.fit(X).ranking_, method.fit(Z).ranking_
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(X))
        np.testing.assert_array_equal(method.fit(X[order]).ranking_, ranking)
        np.testing.assert_array_equal(method.fit(Z[order]).ranking_, of_standardised)
        again = method.fit(standardised(X[order])).get_support()
        np.testing.assert_array_equal(again, of_standardised <= 32)


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_discretised_genes_may_be_in_any_order(name):
    assert_rows_may_be_in_any_order(name, ternary())


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_sparse_discretised_genes_may_be_in_any_order(name):
    X = ternary()
    expected = METHODS[name].fit(X).scores_
    order = np.random.default_rng(0).permutation(len(X))
    found = METHODS[name].fit(sp.csr_array(X[order])).scores_
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9 * np.abs(expected).max())


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_real_discretised_genes_may_be_in_any_order(name, benchmark_set):
    assert_rows_may_be_in_any_order(name, benchmark_set("lung_small")[0].astype(np.float64))


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_rows_with_more_copies_than_neighbours_may_be_in_any_order(name):
    X = ternary()[np.random.default_rng(1).integers(0, 12, 120)]
    X = np.vstack([X, ternary(seed=3)])
    scores = METHODS[name].fit(X).scores_
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(X))
        found = METHODS[name].fit(X[order]).scores_
        np.testing.assert_allclose(found, scores, rtol=1e-7, atol=1e-9 * np.abs(scores).max())
