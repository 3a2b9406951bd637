"""The non-negative factor: its objective, its minimiser, and steps that never climb."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from references.factorization import factor_objective, poster_label_step, smallest_over

from tamis.graphs import laplacian, neighbor_graph
from tamis.solvers.nonnegative_factor import (
    FactorObjective,
    RowLoss,
    departure_from_orthogonality,
    nonnegative_factor,
    roughness,
)
from tamis.solvers.row_norms import row_norms


def factor_problem(n_samples=30, n_columns=3, penalty=100.0, seed=0):
    """All terms at once: the objective, the same from the definition, and a start."""
    rng = np.random.default_rng(seed)
    P = rng.standard_normal((n_samples, n_columns))
    Y, B = rng.standard_normal((n_samples, 6)), rng.standard_normal((6, n_columns))
    S = rng.standard_normal((n_samples, n_samples)) * (rng.random((n_samples, n_samples)) < 0.1)
    L = S.T @ S
    U = rng.random((n_samples, n_columns)) / np.sqrt(n_samples / 3)
    losses = (
        RowLoss((Y**2).sum(axis=1), Y @ B, B.T @ B, 0.01, 2.0),
        RowLoss((P**2).sum(axis=1), P, None, 0.1),
    )
    problem = FactorObjective(penalty, sp.csr_array(L), P, 0.7, losses)

    def definition(U):
        robust = 2 * np.sqrt(row_norms(Y - U @ B.T) ** 2 + 0.01).sum()
        robust += np.sqrt(row_norms(P - U) ** 2 + 0.1).sum()
        return factor_objective(U, P, 0.7, L, penalty) + robust

    return problem, definition, U


@pytest.mark.parametrize("penalty", [0.0, 1.0, 1e6])
def test_the_factor_objective_is_that_of_the_definition(penalty):
    problem, definition, U = factor_problem(penalty=penalty)
    assert problem.value_and_gradient(U)[0] == pytest.approx(definition(U), rel=1e-10)


def test_the_gradient_of_the_factor_is_that_of_the_definition():
    problem, definition, U = factor_problem(n_samples=8)
    gradient = problem.value_and_gradient(U)[1]
    for i in range(8):
        for k in range(3):
            step = np.zeros_like(U)
            step[i, k] = 1e-5
            slope = definition(U + step) - definition(U - step)
            assert gradient[i, k] == pytest.approx(slope / 2e-5, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("penalty", [0.0, 0.1, 10.0, 1e3, 1e6])
@pytest.mark.parametrize("size", [1e-3, 1.0, 30.0])
def test_steps_never_climb_and_stay_non_negative(penalty, size):
    problem, definition, U = factor_problem(penalty=penalty)
    found = nonnegative_factor(problem, size * U, max_iter=60)
    assert definition(found.solution) < definition(size * U)
    assert found.solution.min() >= 0
    assert found.objective[-1] == pytest.approx(problem.value_and_gradient(found.solution)[0])


@pytest.mark.parametrize("unit", [1e-12, 1e12])
def test_the_unit_of_the_objective_plays_no_part(unit):
    P = np.random.default_rng(0).standard_normal((20, 3))
    plain = nonnegative_factor(FactorObjective(5.0, None, P, 0.3), np.ones((20, 3)))
    other = nonnegative_factor(
        FactorObjective(5.0 * unit, None, P * unit, 0.3 * unit), np.ones((20, 3))
    )
    np.testing.assert_allclose(other.solution, plain.solution, atol=1e-6)


def test_the_factor_is_the_minimiser():
    # Without the orthogonality the problem is convex: any start will do.
    problem, definition, U = factor_problem(n_samples=6, penalty=0.0)
    found = nonnegative_factor(problem, U + 0.1, max_iter=500)
    best = smallest_over(definition, U + 0.1, bounds=[(0, None)] * U.size)
    assert found.objective[-1] == pytest.approx(best, rel=1e-6)
    assert found.optimality < 1e-4


def test_a_large_penalty_makes_the_columns_orthonormal():
    problem, _, U = factor_problem(penalty=1e6)
    found = nonnegative_factor(problem, U, max_iter=3000).solution
    assert departure_from_orthogonality(found) < 1e-2
    assert departure_from_orthogonality(np.eye(5)[:, :3]) == 0


def test_zeros_can_leave_and_rows_without_any_pull_are_no_obstacle():
    problem = FactorObjective(0.0, None, np.array([[1.0, -1.0], [2.0, 0.0]]), 1.0)
    found = nonnegative_factor(problem, np.zeros((2, 2)), max_iter=50).solution
    np.testing.assert_allclose(found, [[1, 0], [2, 0]], atol=1e-6)
    nothing = FactorObjective(0.0, None, np.zeros((4, 2)))
    np.testing.assert_array_equal(nonnegative_factor(nothing, np.ones((4, 2))).solution, 1)


def poster_path(penalty, n_iter=30):
    """Iterates of the poster's own label update, on labels of two clusters."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.standard_normal((20, 4)), rng.standard_normal((20, 4)) + 4])
    L = laplacian(neighbor_graph(X, 5))
    U = np.full((40, 2), 0.2)
    U[np.arange(40), np.arange(40) // 20] = 1.2
    U /= np.linalg.norm(U, axis=0)
    P = 2 * U + rng.standard_normal(U.shape) / 3
    path = [U]
    for _ in range(n_iter):
        path.append(poster_label_step(path[-1], P, 1.0, 1.0, L.toarray(), penalty))
    return FactorObjective(penalty, L, P, 2.0), path


def test_the_update_as_the_poster_prints_it_turns_negative_and_climbs():
    problem, path = poster_path(penalty=0.1)
    assert min(U.min() for U in path) < 0
    problem, path = poster_path(penalty=100.0)
    values = np.array([problem.value_and_gradient(U)[0] for U in path])
    assert (np.diff(values) > 1e-3 * np.abs(values[:-1])).sum() > 5  # it oscillates
    sound = nonnegative_factor(problem, path[0])
    assert sound.solution.min() >= 0
    assert sound.objective[-1] < values.min()


def test_roughness_is_the_trace():
    L = laplacian(neighbor_graph(np.random.default_rng(0).random((20, 3)), 4))
    U = np.random.default_rng(1).random((20, 2))
    assert roughness(L, U) == pytest.approx(np.trace(U.T @ L @ U))
