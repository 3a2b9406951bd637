"""Conjugate gradients for many right-hand sides against a direct solution."""

from __future__ import annotations

import numpy as np
import pytest

from tamis.solvers.conjugate_gradients import conjugate_gradients, inverse_by_conjugate_gradients


def problem(size=30, n_columns=3, decades=2, seed=0):
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.standard_normal((size, size)))[0]
    A = basis * 10 ** rng.uniform(0, decades, size) @ basis.T
    return (A + A.T) / 2, rng.standard_normal((size, n_columns))


@pytest.mark.parametrize("with_start", [False, True])
@pytest.mark.parametrize("preconditioned", [False, True])
def test_the_solution_is_that_of_the_system(with_start, preconditioned):
    A, Y = problem()
    expected = np.linalg.solve(A, Y)
    found = conjugate_gradients(
        lambda V: A @ V,
        Y,
        precondition=(lambda R: R / np.diag(A)[:, None]) if preconditioned else None,
        start=expected + 0.1 if with_start else None,
        tol=1e-12,
        max_iter=500,
    )
    np.testing.assert_allclose(found.solution, expected, atol=1e-9)
    residual = np.linalg.norm(A @ found.solution - Y, axis=0) / np.linalg.norm(Y, axis=0)
    assert found.converged
    assert found.optimality <= 1e-12
    assert residual.max() == pytest.approx(found.optimality, abs=1e-12)


def test_too_few_steps_are_told_and_each_is_counted():
    A, Y = problem()
    found = conjugate_gradients(lambda V: A @ V, Y, tol=1e-12, max_iter=3)
    assert not found.converged
    assert len(found.objective) == 4
    assert found.optimality == found.objective[-1] > 1e-12


def test_a_start_worse_than_zero_is_given_up_and_a_zero_target_is_zero():
    A, Y = problem()
    Y[:, 1] = 0
    bad = conjugate_gradients(lambda V: A @ V, Y, start=np.full_like(Y, 1e9), tol=1e-12, max_iter=0)
    assert not bad.solution.any()
    found = conjugate_gradients(lambda V: A @ V, Y, tol=1e-12, max_iter=500)
    assert found.converged
    assert not found.solution[:, 1].any()


def test_the_inverse_takes_vectors_and_columns():
    A, Y = problem()
    solve = inverse_by_conjugate_gradients(lambda V: A @ V, 1 / np.diag(A))
    np.testing.assert_allclose(solve(Y), np.linalg.solve(A, Y), atol=1e-10)
    np.testing.assert_allclose(solve(Y[:, 0]), np.linalg.solve(A, Y[:, 0]), atol=1e-10)
