"""Neighbours in wide tables by the products of their rows: those of a brute force in float64."""

from __future__ import annotations

import numpy as np
import pytest
from references.graphs import assert_brute_neighbors

from tamis.graphs import _gram_search, _neighbors
from tamis.graphs._neighbors import nearest_neighbors


def by_products(monkeypatch, columns_at_once=7):
    """Search small wide tables by products too, whose columns are multiplied a few at a time."""
    monkeypatch.setattr(_gram_search, "FEWEST_COLUMNS", 1)
    monkeypatch.setattr(_gram_search, "COLUMNS_AT_ONCE", columns_at_once)
    monkeypatch.setattr("tamis.solvers.row_gram.COLUMNS_AT_ONCE", columns_at_once)
    monkeypatch.setattr("tamis.solvers.row_gram.LARGE_TABLE", 1)
    monkeypatch.setattr("tamis.utils.blocks.LARGE_TABLE", 1)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("offset", [0.0, 30.0])
@pytest.mark.parametrize(("shape", "n_neighbors"), [((40, 200), 5), ((30, 30), 29), ((2, 9), 1)])
def test_products_find_the_neighbours_of_a_wide_table(
    shape, n_neighbors, offset, dtype, monkeypatch
):
    by_products(monkeypatch)
    X = (np.random.default_rng(0).standard_normal(shape) + offset).astype(dtype)
    found = assert_brute_neighbors(X, n_neighbors, reference=X.astype(np.float64))
    assert found.method == "gram"


def test_products_keep_the_rule_for_equal_distances(monkeypatch):
    by_products(monkeypatch)
    X = np.vstack([np.eye(12), np.ones((1, 12)) / 12, 3 * np.eye(12)[:4]])
    X = np.hstack([X, np.zeros((len(X), 20))])
    found = nearest_neighbors(X, 6)
    monkeypatch.setattr(_neighbors, "gram_search", lambda X, n_neighbors: None)
    expected = nearest_neighbors(X, 6)
    assert (found.method, expected.method) == ("gram", "tiles")
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_allclose(found.distances, expected.distances, rtol=1e-12)


@pytest.mark.parametrize(
    "close",
    [
        lambda X: np.vstack([X, X[:3]]),  # equal rows
        lambda X: np.vstack([X, X[:3] + 1e-9]),  # of whose products no digit is left
        lambda X: 1e-6 * X + 100.0 * np.arange(len(X))[:, None],
    ],
)
def test_rows_that_products_do_not_tell_apart(close, monkeypatch):
    by_products(monkeypatch)
    X = close(np.random.default_rng(1).standard_normal((30, 200)))
    assert_brute_neighbors(X, 4)


def test_distances_of_close_rows_have_all_their_digits(monkeypatch):
    by_products(monkeypatch)
    rng = np.random.default_rng(2)
    X = rng.standard_normal((30, 200))
    X = np.vstack([X, X + 1e-4 * rng.standard_normal(X.shape)])
    assert assert_brute_neighbors(X, 3).method == "gram"
