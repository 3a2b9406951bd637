"""Dictionary blocks: each is the minimiser of its own problem, and never climbs on the way."""

from __future__ import annotations

import numpy as np
import pytest
from references.factorization import (
    best_dictionary_error,
    codes_by_coordinate_descent,
    dictionary_by_admm,
)

from tamis.solvers.dictionary import (
    dictionary_update,
    ridge_codes,
    sparse_codes,
    squared_error,
    within_unit_ball,
)

# Steps to convergence on the problems below.
ALGORITHMS = {dictionary_update: 2000, dictionary_by_admm: 3000}


def problem(n_rows=6, n_atoms=4, n_samples=12, seed=0, scale=1.0):
    rng = np.random.default_rng(seed)
    Y = scale * rng.standard_normal((n_rows, n_samples))
    A = rng.standard_normal((n_atoms, n_samples))
    D = within_unit_ball(rng.standard_normal((n_rows, n_atoms)))
    return Y, A, D


def update(Y, A, D, algorithm, **options):
    return algorithm(A @ A.T, Y @ A.T, D, **options)


def never_rises(path):
    return (np.diff(path) <= 1e-12 * np.abs(path).max()).all()


# --- atoms ------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("scale", [0.3, 1.0, 5.0])  # no, some and every atom at the boundary
@pytest.mark.parametrize("seed", range(3))
def test_the_dictionary_is_the_best_within_the_unit_ball(algorithm, scale, seed):
    Y, A, D = problem(seed=seed, scale=scale)
    found = update(Y, A, D, algorithm, max_iter=ALGORITHMS[algorithm], tol=1e-10)
    error = np.linalg.norm(Y - found.solution @ A) ** 2
    assert error == pytest.approx(best_dictionary_error(Y, A, D), rel=1e-6)
    assert found.optimality < 1e-5
    assert found.converged
    assert (np.linalg.norm(found.solution, axis=0) <= 1 + 1e-12).all()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("max_iter", [1, 5, 50])
def test_few_steps_descend_from_the_start(algorithm, max_iter):
    Y, A, D = problem(n_rows=20, n_atoms=8, n_samples=50)
    found = update(Y, A, D, algorithm, max_iter=max_iter, tol=0)
    assert never_rises(found.objective)
    assert len(found.objective) == max_iter + 1
    assert (np.linalg.norm(found.solution, axis=0) <= 1 + 1e-12).all()
    constant = np.linalg.norm(Y) ** 2
    for D_any, value in ((D, found.objective[0]), (found.solution, found.objective[-1])):
        assert constant + value == pytest.approx(np.linalg.norm(Y - D_any @ A) ** 2)


def test_one_sweep_over_blocks_is_worth_several_steps_of_admm():
    Y, A, D = problem(n_rows=20, n_atoms=8, n_samples=50)
    blocks = update(Y, A, D, dictionary_update, max_iter=3, tol=0).objective[-1]
    assert blocks <= update(Y, A, D, dictionary_by_admm, max_iter=3, tol=0).objective[-1]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_an_atom_without_a_code_stays_as_it_is(algorithm):
    Y, A, D = problem()
    A[2] = 0
    found = update(Y, A, D, algorithm, max_iter=20).solution
    if algorithm is dictionary_update:
        np.testing.assert_array_equal(found[:, 2], D[:, 2])
    assert np.isfinite(found).all()
    nothing = update(Y, 0 * A, D, algorithm)
    np.testing.assert_allclose(nothing.solution, D)


def test_the_error_is_that_of_the_definition():
    Y, A, D = problem()
    found = squared_error(np.linalg.norm(Y) ** 2, D, A @ A.T, Y @ A.T)
    assert found == pytest.approx(np.linalg.norm(Y - D @ A) ** 2)
    assert squared_error(np.linalg.norm(D @ A) ** 2, D, A @ A.T, D @ A @ A.T) < 1e-12


# --- codes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_atoms", [4, 15])  # fewer and more atoms than rows
@pytest.mark.parametrize("penalty", [0.1, 0.5, 3.0])
def test_sparse_codes_are_those_of_coordinate_descent(penalty, n_atoms):
    Y, A, D = problem(n_rows=8, n_atoms=n_atoms, n_samples=5)
    found = sparse_codes(D.T @ D, D.T @ Y, penalty, 0 * A, max_iter=20_000, tol=1e-13)
    expected = codes_by_coordinate_descent(Y, D, penalty)

    def value(codes):
        return np.linalg.norm(Y - D @ codes) ** 2 + penalty * np.abs(codes).sum()

    assert value(found.solution) == pytest.approx(value(expected), rel=1e-9)
    assert np.linalg.norm(Y) ** 2 + found.objective[-1] == pytest.approx(value(found.solution))
    assert found.optimality < 1e-7  # values that are compared hold half of the digits of the codes
    assert found.converged
    assert never_rises(found.objective)


@pytest.mark.parametrize("penalty", [0.01, 0.5, 3.0])
def test_sparse_codes_meet_the_optimality_conditions(penalty):
    Y, A, D = problem(n_rows=30, n_atoms=40, n_samples=20)
    found = sparse_codes(D.T @ D, D.T @ Y, penalty, A, max_iter=50_000, tol=1e-14).solution
    pull = 2 * D.T @ (Y - D @ found)
    used = found != 0
    np.testing.assert_allclose(pull[used], penalty * np.sign(found[used]), atol=1e-6)
    assert (np.abs(pull[~used]) <= penalty + 1e-6).all()
    assert used.any()
    assert not used.all()


def test_a_warm_start_is_never_lost():
    Y, _, D = problem(n_rows=30, n_atoms=40, n_samples=20)
    gram, correlation = D.T @ D, D.T @ Y
    good = sparse_codes(gram, correlation, 0.5, np.zeros((40, 20)), max_iter=5000, tol=1e-12)
    again = sparse_codes(gram, correlation, 0.5, good.solution, max_iter=3, tol=0)
    assert again.objective[0] == pytest.approx(good.objective[-1])
    assert never_rises(again.objective)


@pytest.mark.parametrize("numbers", [1, 100, 130])  # a sample, and a last block that is smaller
def test_codes_do_not_depend_on_the_size_of_a_block(monkeypatch, numbers):
    Y, A, D = problem(n_rows=10, n_atoms=30, n_samples=10, seed=3)
    start = A.copy()
    whole = sparse_codes(D.T @ D, D.T @ Y, 0.05, start, max_iter=60, tol=0)
    monkeypatch.setattr("tamis.solvers.dictionary.CACHED_CODES", numbers)
    blocks = sparse_codes(D.T @ D, D.T @ Y, 0.05, start, max_iter=60, tol=0)
    np.testing.assert_allclose(blocks.solution, whole.solution, atol=1e-12)
    np.testing.assert_allclose(blocks.objective, whole.objective, rtol=1e-12)
    assert blocks.optimality == pytest.approx(whole.optimality, rel=1e-6)
    np.testing.assert_array_equal(start, A)  # steps are in place, but not in the caller's


def test_plain_fista_would_climb_where_the_safeguard_does_not():
    Y, A, D = problem(n_rows=10, n_atoms=30, n_samples=10, seed=3)
    gram, correlation, penalty = D.T @ D, D.T @ Y, 0.05
    rate = 1 / np.linalg.eigvalsh(gram)[-1]
    codes, Z, inertia, path = A, A, 1.0, []
    for _ in range(200):
        step = Z + rate * (correlation - gram @ Z)
        following = np.sign(step) * np.maximum(np.abs(step) - rate * penalty / 2, 0)
        later = (1 + np.sqrt(1 + 4 * inertia**2)) / 2
        Z = following + (inertia - 1) / later * (following - codes)
        codes, inertia = following, later
        path.append(np.linalg.norm(Y - D @ codes) ** 2 + penalty * np.abs(codes).sum())
    assert not never_rises(np.array(path))
    assert never_rises(sparse_codes(gram, correlation, penalty, A, max_iter=200, tol=0).objective)


def test_a_dictionary_of_zeros_codes_nothing():
    found = sparse_codes(np.zeros((3, 3)), np.zeros((3, 5)), 0.1, np.ones((3, 5)))
    assert not found.solution.any()
    assert found.converged


@pytest.mark.parametrize("penalty", [1e-3, 0.1, 10.0])
def test_ridge_codes_are_the_closed_form(penalty):
    Y, _, D = problem(n_rows=8, n_atoms=12, n_samples=7)
    found = ridge_codes(D.T @ D, D.T @ Y, penalty)
    expected = np.linalg.inv(D.T @ D + penalty * np.eye(12)) @ D.T @ Y
    np.testing.assert_allclose(found.solution, expected, atol=1e-8)
    value = np.linalg.norm(Y - D @ expected) ** 2 + penalty * (expected**2).sum()
    assert np.linalg.norm(Y) ** 2 + found.objective[-1] == pytest.approx(value)
    assert found.optimality < 1e-9
