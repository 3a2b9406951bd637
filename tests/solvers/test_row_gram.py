"""Products of rows, dense and sparse, against their definition."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from tamis.solvers import row_gram
from tamis.solvers.row_gram import RowGram


def table_of_uneven_columns(n_samples=60, n_features=90):
    """Columns whose share of stored values goes from none to all."""
    rng = np.random.default_rng(0)
    kept = rng.random((n_samples, n_features)) < np.linspace(0, 1.02, n_features)
    return np.where(kept, rng.standard_normal((n_samples, n_features)), 0)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("filled", [0.0, 0.08, 1.0])
def test_the_product_is_the_one_of_its_definition(form, filled, monkeypatch):
    monkeypatch.setattr(row_gram, "FILLED", filled)
    monkeypatch.setattr(row_gram, "BLOCK_SIZE", 60 * 7)  # blocks of seven columns, the last shorter
    X = table_of_uneven_columns()
    product = RowGram(form(X))
    rng = np.random.default_rng(1)
    for weights in (rng.random(90), rng.standard_normal(90), np.zeros(90)):
        np.testing.assert_allclose(product(weights), (X * weights) @ X.T, atol=1e-12)
    np.testing.assert_allclose(product(), X @ X.T, atol=1e-12)


def test_columns_are_parted_by_how_full_they_are():
    X = table_of_uneven_columns()
    product = RowGram(sp.csr_array(X))
    expected = (X != 0).mean(axis=0) > row_gram.FILLED
    np.testing.assert_array_equal(product._is_filled, expected)
    assert 0 < expected.sum() < 90
    assert product._filled.shape[1] + product._thin.shape[1] == 90


@pytest.mark.parametrize("filled", [0.0, 1.0])
def test_no_columns_of_a_kind_are_no_obstacle(filled, monkeypatch):
    monkeypatch.setattr(row_gram, "FILLED", filled)
    X = np.random.default_rng(0).random((5, 4)) + 1  # no zero anywhere
    np.testing.assert_allclose(RowGram(sp.csr_array(X))(), X @ X.T)


def test_the_table_is_left_alone():
    X = sp.csr_array(table_of_uneven_columns())
    before = X.copy()
    RowGram(X)(np.random.default_rng(0).random(90))
    np.testing.assert_array_equal(X.data, before.data)
    np.testing.assert_array_equal(X.indices, before.indices)
