"""The stopping rule."""

from __future__ import annotations

import numpy as np

from tamis.solvers.stopping import has_converged


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
