"""The stopping rule."""

from __future__ import annotations

import numpy as np

from tamis.solvers.stopping import has_converged, stationarity


def test_convergence_is_relative_lasts_and_zero_tolerance_never_is():
    assert not has_converged([1.0], 0.1, n_calm=3)
    assert has_converged([100.0, 99.0, 98.0, 97.0], 0.02, n_calm=3)
    assert not has_converged([100.0, 90.0, 90.0, 90.0], 0.02, n_calm=3)
    assert not has_converged([100.0, 99.0, 98.0, 97.0], 0.005, n_calm=3)
    assert not has_converged([1.0, 1.0, 1.0, 1.0], 0, n_calm=3)


def test_one_calm_iteration_is_enough_unless_more_are_asked_for():
    assert has_converged([100.0, 90.0, 89.9], 0.01)
    assert not has_converged([100.0, 90.0, 89.9], 0.01, n_calm=2)
    assert not has_converged([np.inf, 90.0], 0.01)


def test_a_rise_is_a_change_and_a_negative_objective_has_a_size_too():
    assert not has_converged([1.0, 2.0], 0.1)
    assert has_converged([-100.0, -100.5], 0.01)
    assert not has_converged([-100.0, -102.0], 0.01)


def test_a_gradient_is_stationary_where_it_leaves_the_constraint_alone():
    rng = np.random.default_rng(0)
    T = np.diag(rng.random(6) + 0.5)
    W = np.linalg.qr(rng.standard_normal((6, 2)))[0]
    symmetric = np.array([[2.0, 0.5], [0.5, 1.0]])
    assert stationarity(W @ symmetric, W) < 1e-15
    scaled = np.linalg.solve(np.sqrt(T), W)  # on scaledᵀ T scaled = I
    assert stationarity(T @ scaled @ symmetric, scaled, T @ scaled) < 1e-15
    rest = rng.standard_normal((6, 2))
    rest -= W @ (W.T @ rest)
    share = np.linalg.norm(rest) / np.linalg.norm(W @ symmetric + rest)
    np.testing.assert_allclose(stationarity(W @ symmetric + rest, W), share)
