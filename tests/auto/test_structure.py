"""Is there structure: rarely in noise, always in planted groups."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from references.tables import planted_groups
from scipy.stats import spearmanr
from sklearn.datasets import load_breast_cancer, load_digits

from tamis.auto._structure import (
    LEVEL,
    MOST_COLUMNS,
    MOST_ROWS,
    _sample,
    _statistics,
    _unit_ranks,
    structure_of,
)
from tamis.utils.ties import content_ranks

NOISE = {
    "normal": lambda rng: rng.standard_normal((40, 15)),
    "uniform": lambda rng: rng.random((40, 15)),
    "heavy tails": lambda rng: rng.standard_cauchy((40, 15)),
    "0/1": lambda rng: (rng.random((40, 15)) < 0.3).astype(float),
    "wide": lambda rng: rng.standard_normal((20, 60)),
    "shuffled cancer": lambda rng: rng.permuted(
        load_breast_cancer().data[rng.choice(569, 60, replace=False)], axis=0
    ),
}


def structure(X, seed=0):
    return structure_of(X, np.argsort(content_ranks(X)), np.random.RandomState(seed))


def p_values(kind, count):
    tables = (NOISE[kind](np.random.default_rng(seed)) for seed in range(count))
    return np.array([structure(X[:, X.std(axis=0) > 0]).p_value for X in tables])


@pytest.mark.slow
@pytest.mark.parametrize("kind", NOISE)
def test_noise_is_called_structured_once_in_twenty_at_most(kind):
    found = p_values(kind, 100)
    assert np.count_nonzero(found < LEVEL) <= 5
    # Twice the smaller of two p-values: not below what its level promises, and not always 1.
    assert np.mean(found < 0.05) <= 0.12
    assert np.mean(found < 0.5) >= 0.15


def test_planted_groups_are_structure():
    for seed in range(5):
        X, _ = planted_groups(seed=seed)
        found = structure(X)
        assert found.found
        assert found.p_value < LEVEL
        assert found.statistic > 5


def test_groups_that_are_shuffled_away_are_none():
    X, _ = planted_groups()
    shuffled = np.random.default_rng(0).permuted(X, axis=0)
    assert structure(X).found
    assert not structure(shuffled).found


def test_a_copy_is_structure_and_so_is_any_monotone_map_of_it():
    X = np.random.default_rng(0).standard_normal((50, 6))
    assert structure(np.hstack([X, X[:, :1]])).found
    assert structure(np.hstack([X, np.exp(X[:, :1])])).found
    assert not structure(X).found


def test_ranks_are_compared():
    X, _ = planted_groups()
    assert structure(X) == structure(np.exp(X))


def test_the_statistics_are_those_of_the_rank_correlations():
    X = np.random.default_rng(0).standard_normal((30, 8)).round(1)
    R = spearmanr(X).statistic
    expected = np.log([(R**2).sum(), np.linalg.eigvalsh(R)[-1]])
    np.testing.assert_allclose(_statistics(_unit_ranks(X)), expected, rtol=1e-10)
    np.testing.assert_allclose(_statistics(_unit_ranks(X.T[:, :5])), _statistics_by_columns(X))


def _statistics_by_columns(X):
    """Of the transposed table, whose rows are fewer than its columns or not: one formula."""
    unit = _unit_ranks(X.T[:, :5])
    gram = unit.T @ unit
    return np.log([(gram**2).sum(), np.linalg.eigvalsh(gram)[-1]])


def test_one_column_has_no_structure():
    found = structure(np.random.default_rng(0).standard_normal((20, 1)))
    assert (found.statistic, found.p_value, found.found) == (0.0, 1.0, False)


def test_sparse_and_dense_tables_are_tested_alike():
    X, _ = planted_groups()
    X = np.where(X > 1, X, 0)
    order = np.argsort(content_ranks(X))
    dense, sparse = (
        structure_of(table, order, np.random.RandomState(0)) for table in (X, sp.csr_array(X))
    )
    assert dense == sparse


def test_large_tables_are_tested_on_some_rows_and_columns():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((MOST_ROWS + 20, MOST_COLUMNS + 30)) * rng.random(MOST_COLUMNS + 30)
    drawn = _sample(X, np.arange(len(X)), np.random.RandomState(0))
    assert drawn.shape == (MOST_ROWS, MOST_COLUMNS)
    assert np.isin(drawn, X).all()


def test_the_order_of_the_rows_does_not_decide_which_are_drawn():
    X = load_digits().data
    X = X[:, X.std(axis=0) > 0]
    shuffled = np.random.default_rng(0).permutation(len(X))
    first, second = (
        _sample(table, np.argsort(content_ranks(table)), np.random.RandomState(0))
        for table in (X, X[shuffled])
    )
    np.testing.assert_array_equal(np.unique(first, axis=0), np.unique(second, axis=0))
