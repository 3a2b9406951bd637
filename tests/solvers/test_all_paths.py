"""Sums over all paths, against inverses."""

from __future__ import annotations

import numpy as np
import pytest

from tamis.solvers.all_paths import all_paths


def graph(size, seed=0):
    A = np.random.default_rng(seed).random((size, size))
    return A + A.T


@pytest.mark.parametrize("size", [1, 2, 5, 60, 500])
@pytest.mark.parametrize("factor", [0.1, 0.9, 0.999])
def test_it_is_the_inverse_less_the_identity(size, factor):
    A, b = graph(size), np.linspace(1, 2, size)
    radius = np.linalg.eigvalsh(A)[-1]
    found = all_paths(lambda v: A @ v, b, factor)
    expected = np.linalg.solve(np.eye(size) - factor / radius * A, b) - b
    assert found.radius == pytest.approx(radius, rel=1e-12)
    assert found.converged
    np.testing.assert_allclose(found.solution, expected, rtol=1e-10)


def test_eigenvalues_of_a_spread_spectrum_are_found():
    values = np.linspace(0, 1, 200)
    basis = np.linalg.qr(np.random.default_rng(0).standard_normal((200, 200)))[0]
    A = (basis * values) @ basis.T
    found = all_paths(lambda v: A @ v, np.ones(200), 0.9)
    assert found.radius == pytest.approx(1, rel=1e-12)
    expected = np.linalg.solve(np.eye(200) - 0.9 * A, np.ones(200)) - 1
    np.testing.assert_allclose(found.solution, expected, atol=1e-10)


def test_too_few_steps_are_told():
    A = graph(60)
    found = all_paths(lambda v: A @ v, np.ones(60), 0.9, max_iter=2)
    assert not found.converged
    assert found.optimality == found.objective[-1] > 1e-13


def test_rounding_is_no_graph():
    A = 1e-16 * np.random.default_rng(0).standard_normal((50, 50))
    found = all_paths(lambda v: (A + A.T) @ v, np.ones(50), 0.9, negligible=1e-12)
    assert found.converged
    assert len(found.objective) == 1
