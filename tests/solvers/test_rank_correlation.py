"""Absolute rank correlations as an operator, against scipy's."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import spearmanr

from tamis.solvers import rank_correlation
from tamis.solvers.rank_correlation import RankCorrelation

N_SAMPLES, N_FEATURES = 50, 24


def mixed_table():
    """Columns with few values and with many, of both signs, with ties, with and without zeros."""
    random = np.random.default_rng(0)
    X = np.round(random.standard_normal((N_SAMPLES, N_FEATURES)), 1)
    share = np.linspace(0.02, 1, N_FEATURES)
    X[random.random(X.shape) > share] = 0
    X[0, X.std(axis=0) == 0] = -2.0
    X[:, 5] = np.abs(X[:, 5])
    X[:, -1] = 3 + random.random(N_SAMPLES)
    return X


def stored_zeros(X):
    """The table with each of its zeros stored."""
    table = sp.csr_array(np.ones_like(X))
    table.data = X.ravel()
    return table


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, stored_zeros])
@pytest.mark.parametrize("filled", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("block_size", [1 << 23, 5 * N_SAMPLES])
@pytest.mark.parametrize("side_max", [6000, 20, 0])
def test_products_are_those_of_the_matrix(monkeypatch, form, filled, block_size, side_max):
    monkeypatch.setattr(rank_correlation, "FILLED", filled)
    monkeypatch.setattr(rank_correlation, "BLOCK_SIZE", block_size)
    monkeypatch.setattr(rank_correlation, "SIDE_MAX", side_max)
    X = mixed_table()
    expected = np.abs(spearmanr(X).statistic)
    operator = RankCorrelation(form(X))
    V = np.random.default_rng(1).standard_normal((N_FEATURES, 3))
    for _ in range(2):  # of the second product some blocks are known
        np.testing.assert_allclose(operator.times(V), expected @ V, atol=1e-12)
    np.testing.assert_allclose(operator.times(V[:, 0]), expected @ V[:, 0], atol=1e-12)


def test_no_more_is_kept_than_there_is_room_for(monkeypatch):
    monkeypatch.setattr(rank_correlation, "BLOCK_SIZE", 5 * N_SAMPLES)
    monkeypatch.setattr(rank_correlation, "SIDE_MAX", 16)
    operator = RankCorrelation(mixed_table())
    operator.times(np.ones(N_FEATURES))
    assert 0 < sum(block.size for block in operator._kept.values()) <= 16**2
