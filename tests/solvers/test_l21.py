"""The l2,1 solvers against plain reweighting and against their optimality conditions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from references.spectral import (
    l21_by_reweighting,
    l21_objective,
    nearness,
    row_norms,
    udfs_path,
    udfs_start,
)
from references.tables import off_centre as table

from tamis.graphs import laplacian, neighbor_graph
from tamis.solvers import l21
from tamis.solvers.l21 import (
    alpha_max,
    kkt_violations,
    l21_regression,
    orthonormal_l21,
    scores_with_order_of_entry,
)
from tamis.solvers.row_norms import PENALTY_SMOOTHING
from tamis.solvers.table_operator import TableOperator
from tamis.solvers.weighted_gram import WeightedGram

FORMS = [np.asarray, sp.csr_array]
SHAPES = {"more samples": (60, 25), "more features": (20, 45)}


# --- min Tr(WᵀMW) + γ‖W‖21, WᵀW = I -----------------------------------------------------------


def quadratic(n_samples, n_features, seed=0):
    X = table(n_samples, n_features, seed)
    A = laplacian(neighbor_graph(X, 4)) / n_samples
    return X, A, X.T @ A @ X


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("gamma", [1e-2, 1.0])
def test_the_path_is_that_of_algorithm_1(gamma, shape, form):
    X, A, M = quadratic(*shape)
    start = udfs_start(M, 3) if shape[0] <= shape[1] else None
    expected_W, expected = udfs_path(M, gamma, 3, 15, start)
    found = orthonormal_l21(WeightedGram(form(X), A), gamma, 3, max_iter=15, tol=0)
    np.testing.assert_allclose(found.objective, expected, rtol=1e-6)
    np.testing.assert_allclose(row_norms(found.solution), row_norms(expected_W), atol=1e-5)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("gamma", [1e-4, 1e-2, 1.0, 1e2])
def test_the_objective_never_rises_and_w_stays_orthonormal(gamma, shape, seed):
    X, A, M = quadratic(*shape, seed)
    found = orthonormal_l21(WeightedGram(X, A), gamma, 3, max_iter=40, tol=0)
    assert (np.diff(found.objective) <= 1e-9 * np.abs(found.objective[:-1])).all()
    np.testing.assert_allclose(found.solution.T @ found.solution, np.eye(3), atol=1e-8)
    assert row_norms(found.solution).sum() >= 3 - 1e-9  # equal where three rows are left
    value = (
        np.trace(found.solution.T @ M @ found.solution) + gamma * row_norms(found.solution).sum()
    )
    assert value == pytest.approx(found.objective[-1], rel=1e-5)


def test_the_limit_is_stationary():
    X, A, M = quadratic(60, 25)
    found = orthonormal_l21(WeightedGram(X, A), 0.05, 3, max_iter=2000, tol=1e-14)
    assert found.converged
    assert found.optimality < 1e-4
    W = found.solution
    smoothed = np.sqrt(row_norms(W) ** 2 + PENALTY_SMOOTHING)
    gradient = M @ W + 0.05 / 2 * W / smoothed[:, None]
    symmetric = W.T @ gradient
    np.testing.assert_allclose(symmetric, symmetric.T, atol=1e-6)
    np.testing.assert_allclose(gradient, W @ symmetric, atol=1e-4)


def test_a_large_penalty_leaves_as_many_rows_as_columns():
    X, A, _ = quadratic(60, 25)
    found = orthonormal_l21(WeightedGram(X, A), 1e3, 3, max_iter=100, tol=1e-10)
    norms = row_norms(found.solution)
    assert np.count_nonzero(norms > 1e-6) == 3
    assert norms.sum() == pytest.approx(3, abs=1e-5)


def test_too_few_iterations_are_reported():
    X, A, _ = quadratic(60, 25)
    found = orthonormal_l21(WeightedGram(X, A), 0.1, 3, max_iter=2, tol=1e-12)
    assert not found.converged
    assert len(found.objective) == 2
    assert found.solver == "dense: the matrix is small"


def test_one_column_for_each_feature_leaves_nothing_to_choose():
    X, A, M = quadratic(60, 4)
    found = orthonormal_l21(WeightedGram(X, A), 0.1, 4, max_iter=10, tol=0)
    np.testing.assert_allclose(row_norms(found.solution), 1, rtol=1e-9)
    assert found.objective[-1] == pytest.approx(np.trace(M) + 0.4)


# --- min ‖XW − Y‖² + penalty·‖W‖21 ------------------------------------------------------------


def regression(n_samples, n_features, n_targets=3, seed=0):
    X = table(n_samples, n_features, seed)
    rng = np.random.default_rng(seed + 7)
    Y = X[:, :4] @ rng.standard_normal((4, n_targets)) + rng.standard_normal((n_samples, n_targets))
    return X, Y - Y.mean(axis=0)


def centre(X):
    return X - X.mean(axis=0)


def assert_optimal(X, Y, W, penalty, tol=2e-6):
    """The conditions themselves, written out row by row."""
    gradient = 2 * centre(X).T @ (Y - centre(X) @ W)
    for g, w in zip(gradient, W, strict=True):
        if w.any():
            assert np.linalg.norm(g - penalty * w / np.linalg.norm(w)) <= tol * penalty
        else:
            assert np.linalg.norm(g) <= (1 + tol) * penalty


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("fraction", [0.01, 0.1, 0.5, 0.9])
def test_the_regression_is_optimal(fraction, shape, form):
    X, Y = regression(*shape)
    centred = TableOperator.centred(form(X))
    penalty = fraction * alpha_max(centred, Y)
    found = l21_regression(centred, Y, penalty)
    assert found.converged
    assert found.optimality <= 1e-6
    assert_optimal(X, Y, found.solution, penalty)
    reference = l21_by_reweighting(centre(X), Y, penalty, 500)
    best = l21_objective(centre(X), Y, reference, penalty)
    assert found.objective[-1] <= best * (1 + 1e-9)
    assert found.objective[-1] == pytest.approx(best, rel=1e-3)
    assert found.objective[-1] == pytest.approx(
        l21_objective(centre(X), Y, found.solution, penalty)
    )
    assert found.objective[0] == pytest.approx(np.linalg.norm(Y) ** 2)
    assert (np.diff(found.objective) <= 1e-9 * found.objective[0]).all()


def test_the_regression_agrees_with_reweighting_run_to_convergence():
    X, Y = regression(60, 12)
    penalty = 0.2 * alpha_max(TableOperator.centred(X), Y)
    found = l21_regression(TableOperator.centred(X), Y, penalty, tol=1e-8)
    np.testing.assert_allclose(found.solution, l21_by_reweighting(centre(X), Y, penalty), atol=1e-6)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_the_largest_useful_penalty_is_the_smallest_that_empties_w(shape):
    X, Y = regression(*shape)
    largest = alpha_max(TableOperator.centred(X), Y)
    assert largest == pytest.approx(2 * row_norms(centre(X).T @ Y).max())
    for penalty in (largest, 2 * largest):
        found = l21_regression(TableOperator.centred(X), Y, penalty)
        assert not found.solution.any()
        assert found.converged
    strongest = row_norms(centre(X).T @ Y).argmax()
    kept = l21_regression(TableOperator.centred(X), Y, 0.999 * largest).solution
    assert np.flatnonzero(kept.any(axis=1)).tolist() == [strongest]


@pytest.mark.parametrize("first", [1, 2, 5])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_working_sets_smaller_than_the_support_lead_to_the_same_optimum(monkeypatch, shape, first):
    X, Y = regression(*shape)
    penalty = 0.05 * alpha_max(TableOperator.centred(X), Y)
    whole = l21_regression(TableOperator.centred(X), Y, penalty)
    monkeypatch.setattr(l21, "FIRST_WORKING_SET", first)
    found = l21_regression(TableOperator.centred(X), Y, penalty)
    assert np.count_nonzero(found.solution.any(axis=1)) > first
    assert len(found.objective) > len(whole.objective)
    assert_optimal(X, Y, found.solution, penalty)
    assert found.objective[-1] == pytest.approx(whole.objective[-1], rel=1e-7)
    assert (np.diff(found.objective) <= 1e-9 * found.objective[0]).all()


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("fraction", [0.02, 0.3])
def test_of_equal_columns_the_first_has_the_whole_row(fraction, sign):
    X, Y = regression(60, 8)
    penalty = fraction * alpha_max(TableOperator.centred(X), Y)
    single = l21_regression(TableOperator.centred(X), Y, penalty)
    table = np.hstack([X, sign * X, X])
    tripled = l21_regression(TableOperator.centred(table), Y, penalty)
    assert tripled.converged
    assert_optimal(table, Y, tripled.solution, penalty)
    assert tripled.objective[-1] == pytest.approx(single.objective[-1], rel=1e-8)
    np.testing.assert_allclose(tripled.solution[:8], single.solution, atol=1e-5)
    assert not tripled.solution[8:].any()


@pytest.mark.parametrize("noise", [1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2])
@pytest.mark.parametrize("fraction", [0.01, 0.1])
def test_columns_that_nearly_repeat_others_are_solved_too(fraction, noise):
    X, Y = regression(60, 25)
    rng = np.random.default_rng(5)
    X = np.hstack([X, X + noise * rng.standard_normal(X.shape)])
    penalty = fraction * alpha_max(TableOperator.centred(X), Y)
    found = l21_regression(TableOperator.centred(X), Y, penalty)
    assert found.converged
    assert_optimal(X, Y, found.solution, penalty)
    assert (np.diff(found.objective) <= 1e-9 * found.objective[0]).all()


def test_lengths_of_rows_are_solved_for_at_once():
    X, Y = regression(60, 8)
    gram, correlation = centre(X).T @ centre(X), centre(X).T @ Y
    penalty = 0.2 * alpha_max(TableOperator.centred(X), Y)
    W = np.random.default_rng(0).standard_normal((8, 3))
    found = l21._with_best_lengths(gram, correlation, penalty, W)
    lengths = row_norms(found)
    U = W / row_norms(W)[:, None]
    np.testing.assert_allclose(found, lengths[:, None] * U, atol=1e-12)
    slope = np.einsum("ij,ij->i", U, 2 * (gram @ found - correlation)) + penalty
    np.testing.assert_allclose(slope[lengths > 0], 0, atol=1e-8 * penalty)
    assert (slope[lengths == 0] >= 0).all()
    assert (lengths == 0).any()
    assert (lengths > 0).any()


def test_columns_of_very_different_units_are_solved_too():
    X, Y = regression(60, 12)
    X = X * 10.0 ** np.linspace(-3, 3, 12)
    for fraction in (1e-4, 1e-2, 0.5):
        penalty = fraction * alpha_max(TableOperator.centred(X), Y)
        found = l21_regression(TableOperator.centred(X), Y, penalty)
        assert_optimal(X, Y, found.solution, penalty)


def test_the_zero_row_of_the_largest_gradient_is_the_next_to_enter():
    X, Y = regression(60, 25)
    penalty = 0.4 * alpha_max(TableOperator.centred(X), Y)
    found = l21_regression(TableOperator.centred(X), Y, penalty)
    outside = ~found.solution.any(axis=1)
    assert outside.any()
    near = nearness(centre(X), Y, found.solution, penalty)
    assert (near[outside] >= 0).all()
    assert (near[outside] <= 1 + 1e-6).all()
    np.testing.assert_allclose(near[~outside], 1, rtol=1e-5)
    entering = np.flatnonzero(outside)[near[outside].argmax()]
    for fraction in np.linspace(0.4, 0.2, 41):
        more = l21_regression(
            TableOperator.centred(X), Y, fraction * alpha_max(TableOperator.centred(X), Y)
        ).solution.any(axis=1)
        if (more & outside).any():
            assert (more & outside)[entering]
            break


def test_the_solution_scales_with_the_data():
    X, Y = regression(60, 12)
    plain = l21_regression(
        TableOperator.centred(X), Y, 0.3 * alpha_max(TableOperator.centred(X), Y)
    )
    scaled = TableOperator.centred(1e3 * X)
    large = l21_regression(scaled, Y, 0.3 * alpha_max(scaled, Y))
    np.testing.assert_allclose(1e3 * large.solution, plain.solution, atol=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_long_tables_are_read_in_blocks_to_the_same_optimum(monkeypatch, form):
    X, Y = regression(300, 12)
    operator = TableOperator.centred(form(X))
    penalty = 0.3 * alpha_max(operator, Y)
    whole = l21_regression(operator, Y, penalty)
    monkeypatch.setattr(l21, "MOST_CELLS", 0)
    monkeypatch.setattr(l21, "row_blocks", lambda n, d: (slice(i, i + 7) for i in range(0, n, 7)))
    in_blocks = l21_regression(operator, Y, penalty)
    assert in_blocks.converged
    np.testing.assert_allclose(in_blocks.solution, whole.solution, atol=1e-9)
    assert in_blocks.objective[-1] == pytest.approx(whole.objective[-1], rel=1e-12)


def test_targets_that_no_feature_explains_give_zero():
    X, _ = regression(60, 12)
    found = l21_regression(TableOperator.centred(X), np.zeros((60, 2)), 1.0)
    assert not found.solution.any()
    assert found.converged
    none = l21_regression(TableOperator.centred(np.ones((60, 3))), np.zeros((60, 2)), 0.0)
    assert not none.solution.any()
    assert none.optimality == 0


def test_global_random_state_is_neither_read_nor_changed():
    X, Y = regression(60, 12)
    penalty = 0.1 * alpha_max(TableOperator.centred(X), Y)
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    l21_regression(TableOperator.centred(X), Y, penalty)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_violations_are_measured_for_both_kinds_of_rows():
    W = np.array([[3.0, 4.0], [0.0, 0.0], [0.0, 0.0]])
    gradient = np.array([[1.2, 1.6], [0.0, 1.0], [0.0, 5.0]])  # 2·w/‖w‖, inside, outside
    np.testing.assert_allclose(kkt_violations(W, gradient, 2.0), [0, 0, 3], atol=1e-12)


def test_rows_that_are_zero_are_ordered_below_all_others():
    norms = np.array([0.0, 0.5, 0.0, 0.2, 0.0])
    nearness = np.array([0.3, 1.0, 1.0, 1.0, 0.6])
    scores = scores_with_order_of_entry(norms, nearness)
    assert np.argsort(-scores).tolist() == [1, 3, 2, 4, 0]
    np.testing.assert_array_equal(scores[[1, 3]], [0.5, 0.2])
    np.testing.assert_allclose(
        scores_with_order_of_entry(np.zeros(3), np.array([0.3, 1.0, 0.5])), [0.3, 1.0, 0.5]
    )
