"""Reweighted regression: it reaches the convex optimum, by every side of the system."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from references.factorization import l21

from tamis.solvers import weighted_ridge
from tamis.solvers.l21 import l21_regression
from tamis.solvers.reweighted_regression import ReweightedRegression
from tamis.solvers.row_norms import row_norms
from tamis.solvers.table_operator import TableOperator

FORMS = [np.asarray, sp.csr_array]
SHAPES = {"more samples": (60, 15), "more features": (25, 50)}


def regression_data(shape, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal(shape) * (rng.random(shape) < 0.6)
    return X, rng.random((shape[0], 3))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("fraction", [0.05, 0.3, 0.7])
def test_reweighting_reaches_the_convex_optimum(fraction, shape, form):
    X, Y = regression_data(shape)
    Y = Y - Y.mean(axis=0)
    table = TableOperator.centred(form(X))
    penalty = fraction * 2 * row_norms(table.transposed_times(Y)).max()
    regression = ReweightedRegression(table, penalty)
    found = regression.descend(Y, regression.start(Y), max_iter=3000, tol=1e-13)
    exact = l21_regression(table, Y, penalty, tol=1e-9)
    assert found.objective[-1] == pytest.approx(exact.objective[-1], rel=1e-6)
    assert (np.diff(found.objective) <= 0).all()
    # Small rows go on shrinking for ever; they are of no account beside the large ones.
    np.testing.assert_allclose(
        found.solution, exact.solution, atol=1e-3 * np.abs(exact.solution).max()
    )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_all_sides_of_the_system_take_the_same_steps(shape, form, monkeypatch):
    X, Y = regression_data(shape)
    scale = np.random.default_rng(1).random(shape[0]) + 0.5
    paths = []
    for limit in (6000, 5):
        monkeypatch.setattr(weighted_ridge, "SIDE_MAX", limit)
        regression = ReweightedRegression(TableOperator(form(X), row_scale=scale), 2.0)
        paths.append(regression.descend(Y, regression.start(Y), max_iter=8, tol=0))
    np.testing.assert_allclose(paths[0].objective, paths[1].objective, rtol=1e-7)
    np.testing.assert_allclose(paths[0].solution, paths[1].solution, atol=1e-5)
    # One step by hand, from the definition.
    SX = scale[:, None] * X
    W = SX.T @ Y / (SX**2).sum(axis=0)[:, None]
    for _ in range(8):
        weights = 2.0 / (2 * np.sqrt((W**2).sum(axis=1) + regression.smoothing))
        W = np.linalg.solve(SX.T @ SX + np.diag(weights), SX.T @ Y)
    np.testing.assert_allclose(paths[0].solution, W, atol=1e-7)
    value = np.linalg.norm(SX @ W - Y) ** 2 + 2.0 * l21(W, regression.smoothing)
    assert paths[0].objective[-1] == pytest.approx(value, rel=1e-9)


def test_equal_columns_keep_equal_rows():
    X, Y = regression_data((30, 8))
    table = TableOperator(np.hstack([X, X[:, :2]]))
    regression = ReweightedRegression(table, 1.0)
    W = regression.descend(Y, regression.start(Y), max_iter=50, tol=0).solution
    np.testing.assert_allclose(W[8:], W[:2], atol=1e-10)
