"""The non-negative factor, its loadings and its regression: minimisers, or steps that descend."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from references.factorization import factor_objective, l21, poster_label_step, smallest_over

from tamis.graphs import laplacian, neighbor_graph
from tamis.solvers import weighted_ridge
from tamis.solvers.centred import Centred
from tamis.solvers.factorization import (
    CALM,
    FactorObjective,
    ReweightedRegression,
    RowLoss,
    ScaledTable,
    block_coordinate_descent,
    departure_from_orthogonality,
    exchanged,
    loss_smoothing,
    nonnegative_factor,
    nonnegative_loadings,
    penalised_loadings,
    residual_norms,
    reweighted,
    roughness,
    settled,
    squared_norm,
)
from tamis.solvers.l21 import l21_regression, row_norms

FORMS = [np.asarray, sp.csr_array]
SHAPES = {"more samples": (60, 15), "more features": (25, 50)}


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


# --- the factor -------------------------------------------------------------------------------


@pytest.mark.parametrize("penalty", [0.0, 1.0, 1e6])
def test_the_factor_objective_is_that_of_the_definition(penalty):
    problem, definition, U = factor_problem(penalty=penalty)
    assert problem.value(U) == pytest.approx(definition(U), rel=1e-10)


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
    assert found.objective[-1] == pytest.approx(problem.value(found.solution))


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
    values = np.array([problem.value(U) for U in path])
    assert (np.diff(values) > 1e-3 * np.abs(values[:-1])).sum() > 5  # it oscillates
    sound = nonnegative_factor(problem, path[0])
    assert sound.solution.min() >= 0
    assert sound.objective[-1] < values.min()


def test_roughness_is_the_trace():
    L = laplacian(neighbor_graph(np.random.default_rng(0).random((20, 3)), 4))
    U = np.random.default_rng(1).random((20, 2))
    assert roughness(L, U) == pytest.approx(np.trace(U.T @ L @ U))


# --- loadings ---------------------------------------------------------------------------------


@pytest.mark.parametrize("penalty", [1e-3, 1.0, 5.0])
def test_penalised_loadings_meet_the_optimality_conditions(penalty):
    rng = np.random.default_rng(0)
    U = rng.random((30, 4))
    H, R = U.T @ U, rng.standard_normal((12, 30)) @ U
    V = penalised_loadings(H, R, penalty)
    pull = 2 * (R - V @ H)
    norms = np.linalg.norm(V, axis=1)
    used = norms > 0
    direction = V[used] / norms[used, None]
    np.testing.assert_allclose(pull[used], penalty * direction, atol=1e-8 * penalty)
    assert (np.linalg.norm(2 * R[~used], axis=1) <= penalty).all()


def test_penalised_loadings_are_zero_beyond_the_largest_useful_penalty():
    rng = np.random.default_rng(0)
    U = rng.random((30, 4))
    H, R = U.T @ U, rng.standard_normal((12, 30)) @ U
    strengths = 2 * np.linalg.norm(R, axis=1)
    penalty = np.sort(strengths)[6]
    np.testing.assert_array_equal(
        penalised_loadings(H, R, penalty).any(axis=1), strengths > penalty
    )
    assert not penalised_loadings(H, R, 1.01 * strengths.max()).any()


def test_penalised_loadings_take_a_singular_gram():
    rng = np.random.default_rng(0)
    U = rng.random((30, 2))
    U = np.column_stack([U, U[:, 0]])
    H, R = U.T @ U, rng.standard_normal((12, 30)) @ U
    V = penalised_loadings(H, R, 0.5)
    used = V.any(axis=1)
    pull = 2 * (R - V @ H)[used]
    expected = 0.5 * V[used] / np.linalg.norm(V[used], axis=1)[:, None]
    np.testing.assert_allclose(pull, expected, atol=1e-7)


def test_non_negative_loadings_are_those_of_non_negative_least_squares():
    from scipy.optimize import nnls

    rng = np.random.default_rng(0)
    U, X = rng.random((30, 4)), rng.standard_normal((30, 7))
    found = nonnegative_loadings(U.T @ U, X.T @ U, np.ones((7, 4)), max_iter=5000)
    expected = np.array([nnls(U, column)[0] for column in X.T])
    np.testing.assert_allclose(found, expected, atol=1e-8)


def test_sweeps_of_non_negative_loadings_never_climb():
    rng = np.random.default_rng(0)
    U, X = rng.random((30, 4)), rng.random((30, 7))
    V = np.ones((7, 4))
    errors = [np.linalg.norm(X - U @ V.T)]
    for _ in range(10):
        V = nonnegative_loadings(U.T @ U, X.T @ U, V, max_iter=1)
        errors.append(np.linalg.norm(X - U @ V.T))
    assert (np.diff(errors) <= 1e-12).all()
    assert V.min() >= 0


@pytest.mark.parametrize("form", FORMS)
def test_residual_norms_are_those_of_the_residual(form, monkeypatch):
    monkeypatch.setattr("tamis.utils.blocks.BLOCK_SIZE", 40)  # several blocks
    rng = np.random.default_rng(0)
    X = rng.random((30, 9)) * (rng.random((30, 9)) < 0.5)
    U, V = rng.random((30, 3)), rng.random((9, 3))
    expected = np.linalg.norm(X - U @ V.T, axis=1)
    np.testing.assert_allclose(residual_norms(form(X), U, V), expected, rtol=1e-9)
    assert squared_norm(form(X)) == pytest.approx((X**2).sum())


def test_the_reweighted_loss_majorises():
    rng = np.random.default_rng(0)
    before, after = rng.random(20), rng.random(20)
    smoothing = loss_smoothing(before)
    loss, weights = reweighted(before, smoothing)
    bound = loss + (weights * (after**2 - before**2)).sum()
    assert reweighted(after, smoothing)[0] <= bound
    assert loss == pytest.approx(before.sum(), rel=1e-2)
    assert smoothing == pytest.approx((0.01 * before.mean()) ** 2)
    assert loss_smoothing(np.zeros(3)) > 0


# --- the alternation --------------------------------------------------------------------------


class Valley:
    """A long valley, ``½xᵀHx + height``, descended by gradient steps: half the scores creep."""

    def __init__(self, n=30, condition=1e4, height=1.0):
        self.H, self.height = np.geomspace(1, 1 / condition, n), height
        self.x, self.n_updates = np.ones(n), []

    def update(self):
        self.n_updates.append(1)
        self.x = self.x - self.H * self.x

    def objective(self):
        return float(self.x @ (self.H * self.x)) / 2 + self.height

    def scores(self):
        # Signed, so that the order of entries that have not settled changes as they do.
        return self.x - np.linspace(0, 1, len(self.x))

    def extrapolate(self, before, momentum):
        self.x = self.x + momentum * (self.x - before.x)


def test_momentum_takes_an_alternation_far_in_a_few_iterations_and_it_never_rises():
    plain = Valley()
    for _ in range(300):
        plain.update()
    found = block_coordinate_descent(Valley(), max_iter=300, tol=0)
    assert len(found.objective) == 300
    assert found.converged
    assert (np.diff(found.objective) <= 0).all()
    assert found.objective[-1] - 1 < 0.05 * (plain.objective() - 1)
    assert found.objective[-1] == found.model.objective()


def test_an_alternation_goes_on_until_the_ranking_has_settled_too():
    found = block_coordinate_descent(Valley(height=1e6), max_iter=2000, tol=1e-5)
    # The objective hardly falls from the start: that alone would stop at once.
    assert settled(found.objective[: CALM + 1], 1e-5)
    assert found.converged
    assert len(found.objective) > 50
    final = np.argsort(
        -block_coordinate_descent(Valley(), max_iter=5000, tol=0).model.scores(), kind="stable"
    )
    reached = np.argsort(-found.model.scores(), kind="stable")
    assert exchanged(reached, final) < 0.05
    assert not block_coordinate_descent(Valley(height=1e6), max_iter=20, tol=1e-5).converged


def test_settled_is_relative_lasts_and_zero_tolerance_never_is():
    assert not settled([1.0], 0.1)
    assert settled([100.0, 99.0, 98.0, 97.0], 0.02)
    assert not settled([100.0, 90.0, 90.0, 90.0], 0.02)
    assert not settled([100.0, 99.0, 98.0, 97.0], 0.005)
    assert not settled([1.0, 1.0, 1.0, 1.0], 0)


def test_exchanged_is_the_mean_share_over_all_sizes():
    before, after = np.array([0, 1, 2, 3, 4, 5]), np.array([1, 0, 3, 2, 4, 5])
    shares = [1 - len(set(before[:k]) & set(after[:k])) / k for k in (1, 2, 3)]
    assert exchanged(before, after) == pytest.approx(np.mean(shares))
    assert exchanged(before, before) == 0
    assert exchanged(before, before[::-1]) == 1
    assert exchanged(np.array([0]), np.array([0])) == 0


# --- regression -------------------------------------------------------------------------------


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
    table = Centred(form(X))
    penalty = fraction * 2 * row_norms(table.transposed_times(Y)).max()
    regression = ReweightedRegression(table, penalty)
    found = regression.descend(Y, regression.start(Y), max_iter=3000, tol=1e-13)
    exact = l21_regression(table, Y, penalty, tol=1e-9)
    assert found.objective[-1] == pytest.approx(exact.objective[-1], rel=1e-6)
    assert (np.diff(found.objective) <= 0).all()
    # Small rows go on shrinking for ever; they are of no account beside the large ones.
    np.testing.assert_allclose(found.coef, exact.coef, atol=1e-3 * np.abs(exact.coef).max())


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_all_sides_of_the_system_take_the_same_steps(shape, form, monkeypatch):
    X, Y = regression_data(shape)
    scale = np.random.default_rng(1).random(shape[0]) + 0.5
    paths = []
    for limit in (6000, 5):
        monkeypatch.setattr(weighted_ridge, "SIDE_MAX", limit)
        regression = ReweightedRegression(ScaledTable(form(X), scale), 2.0)
        paths.append(regression.descend(Y, regression.start(Y), max_iter=8, tol=0))
    np.testing.assert_allclose(paths[0].objective, paths[1].objective, rtol=1e-7)
    np.testing.assert_allclose(paths[0].coef, paths[1].coef, atol=1e-5)
    # One step by hand, from the definition.
    SX = scale[:, None] * X
    W = SX.T @ Y / (SX**2).sum(axis=0)[:, None]
    for _ in range(8):
        weights = 2.0 / (2 * np.sqrt((W**2).sum(axis=1) + regression.smoothing))
        W = np.linalg.solve(SX.T @ SX + np.diag(weights), SX.T @ Y)
    np.testing.assert_allclose(paths[0].coef, W, atol=1e-7)
    value = np.linalg.norm(SX @ W - Y) ** 2 + 2.0 * l21(W, regression.smoothing)
    assert paths[0].objective[-1] == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_a_scaled_table_is_the_scaled_table(form):
    X, Y = regression_data((20, 9))
    scale = np.random.default_rng(1).random(20)
    table, SX = ScaledTable(form(X), scale), scale[:, None] * X
    V, weights = np.random.default_rng(2).random((9, 2)), np.random.default_rng(3).random(9)
    np.testing.assert_allclose(table.times(V), SX @ V)
    np.testing.assert_allclose(table.times(V[:, 0]), SX @ V[:, 0])
    np.testing.assert_allclose(table.transposed_times(Y), SX.T @ Y)
    np.testing.assert_allclose(table.transposed_times(Y[:, 0]), SX.T @ Y[:, 0])
    np.testing.assert_allclose(table.columns(np.array([4, 1])), SX[:, [4, 1]])
    np.testing.assert_allclose(table.gram_of_features(), SX.T @ SX, atol=1e-12)
    np.testing.assert_allclose(table.gram_of_samples(weights), (SX * weights) @ SX.T, atol=1e-12)
    np.testing.assert_allclose(table.gram_of_samples(), SX @ SX.T, atol=1e-12)
    np.testing.assert_allclose(table.squared_column_norms(), (SX**2).sum(axis=0))
    plain = ScaledTable(form(X))
    np.testing.assert_allclose(plain.times(V), X @ V)
    centred = Centred(form(X))
    expected = ((X - X.mean(axis=0)) ** 2).sum(axis=0)
    np.testing.assert_allclose(centred.squared_column_norms(), expected)


def test_equal_columns_keep_equal_rows():
    X, Y = regression_data((30, 8))
    table = ScaledTable(np.hstack([X, X[:, :2]]))
    regression = ReweightedRegression(table, 1.0)
    W = regression.descend(Y, regression.start(Y), max_iter=50, tol=0).coef
    np.testing.assert_allclose(W[8:], W[:2], atol=1e-10)
