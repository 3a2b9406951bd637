"""The quick ranking for other columns to keep and to drop, beside the fit that it stands in for."""

from __future__ import annotations

import numpy as np
import pytest

from tamis import Auto
from tamis.auto import scores_again


def table():
    """Three groups that the first eight columns show, noise, a copy, and a constant."""
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 3, 120)
    X = rng.normal(size=(120, 30))
    X[:, :8] += 4 * rng.normal(size=(3, 8))[groups]
    X[:, 8] = X[:, 0] + 0.01 * rng.normal(size=120)
    X[:, 29] = 1.0
    return X


@pytest.fixture(scope="module")
def fitted():
    return Auto(6).fit(table())


def mask(*columns):
    found = np.zeros(30, dtype=bool)
    found[list(columns)] = True
    return found


@pytest.mark.parametrize(
    ("keep", "drop"), [((), ()), ((20,), ()), ((), (0,)), ((20, 8), (0, 1)), ((29,), (3,))]
)
def test_what_is_kept_is_what_a_fit_keeps(fitted, keep, drop):
    scores = scores_again(fitted, table(), mask(*keep), mask(*drop))
    best = set(np.argsort(-scores, kind="stable")[:6].tolist())
    fresh = Auto(6, keep=list(keep) or None, drop=list(drop) or None).fit(table())
    assert set(keep) <= best
    assert not set(drop) & best
    assert len(best & set(fresh.get_support(indices=True).tolist())) >= 5
    assert np.isfinite(scores).all()


def test_columns_dropped_before_can_come_back():
    fitted = Auto(6, drop=[2, 4]).fit(table())
    scores = scores_again(fitted, table(), mask(4), mask())
    assert scores[4] == scores.max()
    assert scores[2] > scores[29]
