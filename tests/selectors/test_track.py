"""TRACK against the equations of its paper, and where it must differ from Algorithm 1."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from references.discriminant import (
    TrackProblem,
    between_directions,
    never_rises,
    normalised,
    row_norms,
    track_literal,
    track_safeguarded,
    whole_path,
)
from references.memory import with_peak_memory
from references.tables import clusters_in_noise as table
from scipy.optimize import check_grad
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

from tamis import TRACK
from tamis.clustering import between_root, kmeans
from tamis.solvers.indefinite import IndefiniteGram
from tamis.solvers.table_operator import TableOperator
from tamis.solvers.trace_ratio import TraceRatio, trace_ratio_l21

SHAPES = {"more samples": (60, 25), "more features": (25, 60)}
GAMMAS = (1e-4, 1e-3, 1e-2, 0.1, 1.0)


def problem(X, labels, gamma, ridge=1.0):
    Z = normalised(X, 1.0)
    return Z, TrackProblem(Z, labels, gamma, ridge / X.shape[1])


# --- the definition ---------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("gamma", [1e-3, 0.1])
@pytest.mark.parametrize("safeguard", [True, False])
def test_a_round_has_the_path_of_the_equations(safeguard, gamma, shape, form):
    X = table(*shape)
    model = TRACK(
        n_clusters=4,
        gamma=gamma,
        safeguard=safeguard,
        max_iter=1,
        max_inner=15,
        tol=0,
        random_state=np.random.RandomState(0),
    )
    # The first clusters are those of K-means with the same generator.
    labels = kmeans(X, 4, random_state=np.random.RandomState(0)).labels
    model.fit(form(X))
    Z, naive = problem(X, labels, gamma)
    path = track_safeguarded if safeguard else track_literal
    W, objective = path(naive, between_directions(Z, labels, 3), 15)
    found = whole_path(model)
    # Where no step descends any more but by rounding, one may stop before the other.
    common = min(len(found), len(objective))
    assert common == 16 or safeguard
    np.testing.assert_allclose(found[:common], objective[:common], rtol=1e-7)
    np.testing.assert_allclose(found[-1], objective[-1], rtol=1e-7)
    np.testing.assert_array_equal(model.labels_, labels)
    np.testing.assert_allclose(model.coef_.T @ model.coef_, np.eye(3), atol=1e-8)
    np.testing.assert_allclose(model.scores_, row_norms(W), atol=1e-5)


def test_the_gradient_is_that_of_the_objective():
    X = table(30, 8)
    _, naive = problem(X, kmeans(X, 3, random_state=0).labels, 0.1)
    W = np.linalg.qr(np.random.default_rng(0).standard_normal((8, 2)))[0]
    error = check_grad(
        lambda w: naive.objective(w.reshape(8, 2)),
        lambda w: naive.gradient(w.reshape(8, 2)).ravel(),
        W.ravel(),
    )
    assert error < 1e-5


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("gamma", GAMMAS)
def test_the_result_is_stationary_and_its_clusters_are_a_fixed_point(gamma, shape):
    X = table(*shape)
    model = TRACK(n_clusters=4, gamma=gamma, tol=1e-13, max_inner=5000, random_state=0).fit(X)
    Z, naive = problem(X, model.labels_, gamma)
    W = model.coef_
    assert naive.objective(W) == pytest.approx(model.objective_[-1], rel=1e-10)
    assert naive.ratio(W) == pytest.approx(model.ratio_, rel=1e-10)
    gradient = naive.gradient(W)
    along = gradient - W @ (W.T @ gradient)
    assert np.linalg.norm(along) < 1e-3 * np.linalg.norm(gradient)
    projected = Z @ W
    means = np.array([projected[model.labels_ == j].mean(axis=0) for j in range(4)])
    distances = ((projected[:, None] - means) ** 2).sum(axis=2)
    np.testing.assert_array_equal(distances.argmin(axis=1), model.labels_)


# --- descent ----------------------------------------------------------------------------------


@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("load", [load_breast_cancer, load_wine, load_digits])
def test_the_objective_never_rises_on_bundled_sets(load, gamma):
    X = load().data
    for values in (X, scale(X)):
        model = TRACK(n_clusters=3, gamma=gamma, random_state=0, tol=1e-5).fit(values)
        assert never_rises(whole_path(model))
        assert never_rises(model.objective_)
        np.testing.assert_array_equal(model.objective_, [p[-1] for p in model.inner_objective_])


@pytest.mark.slow
@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize(
    ("name", "n_clusters"), [("MSRC_v1_CENT", 7), ("JAFFE_1024", 10), ("ORL_644", 40)]
)
def test_the_objective_never_rises_on_the_sets_of_the_paper(benchmark_set, name, n_clusters, gamma):
    X = benchmark_set(name)[0][:, ::2]
    model = TRACK(n_clusters=n_clusters, gamma=gamma, tol=1e-4, random_state=0).fit(X)
    assert never_rises(whole_path(model))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*the same score")
@pytest.mark.parametrize("ridge", [0.0, 1.0])
@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    gamma=st.floats(1e-5, 3),
    n_samples=st.integers(8, 40),
    n_features=st.integers(3, 40),
)
def test_the_objective_never_rises(ridge, seed, gamma, n_samples, n_features):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_features)) * 10 ** rng.uniform(-2, 2, n_features)
    model = TRACK(
        n_clusters=4, gamma=gamma, ridge=ridge, max_inner=30, max_iter=6, tol=0, random_state=0
    ).fit(X)
    assert never_rises(whole_path(model))


PRINTED = {"ridge": 0.0, "safeguard": False, "n_components": "paper"}


def test_algorithm_1_as_printed_rises():
    X = load_digits().data[:60]
    model = TRACK(n_clusters=2, gamma=0.1, max_iter=5, max_inner=40, tol=0, random_state=0)
    printed = whole_path(model.set_params(**PRINTED).fit(X))
    assert (np.diff(printed) > 0.1 * printed[:-1]).any()
    held = whole_path(model.set_params(safeguard=True).fit(X))
    assert never_rises(held)


def test_the_safeguard_ends_no_higher_on_breast_cancer():
    X = load_breast_cancer().data
    labels = kmeans(X, 2, random_state=0).labels
    table = TableOperator.centred(X, norm=1.0)
    trace_ratio = TraceRatio(IndefiniteGram(table), between_root(table, labels), 0.01, 0.0)
    printed, held, rises = [], [], 0
    for seed in range(30):
        W = np.linalg.qr(np.random.default_rng(seed).standard_normal((30, 1)))[0]
        path = trace_ratio_l21(trace_ratio, W, safeguard=False, tol=1e-8).objective
        rises += not never_rises(path)
        printed.append(path[-1])
        held.append(trace_ratio_l21(trace_ratio, W, tol=1e-8).objective[-1])
    assert rises > 0
    assert np.all(np.array(held) <= np.array(printed) + 1e-6)
    assert np.mean(held) < np.mean(printed) - 1e-4


@pytest.mark.slow
def test_algorithm_1_as_printed_never_settles_on_warppie10p(benchmark_set):
    X = benchmark_set("warpPIE10P")[0][:, ::2]
    model = TRACK(n_clusters=10, gamma=0.01, max_iter=1, max_inner=25, tol=0, random_state=0)
    held = whole_path(model.fit(X))
    assert never_rises(held)
    printed = whole_path(model.set_params(safeguard=False).fit(X))
    assert (np.diff(printed[-10:]) > 0.04).any()
    assert held[-1] < 0.7 * printed[-10:].min()


# --- the theorems of the paper ----------------------------------------------------------------


@pytest.mark.parametrize("gamma", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("n_components", [1, 3, 6])
def test_theorem_1_at_least_as_many_rows_as_columns(gamma, n_components):
    model = TRACK(n_clusters=4, n_components=n_components, gamma=gamma, random_state=0)
    model.fit(table(40, 20))
    assert model.n_support_ >= n_components
    assert np.linalg.matrix_rank(model.coef_[model.scores_ > 1e-4]) == n_components


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10_000), n_columns=st.integers(1, 6))
def test_theorem_2_the_norm_is_at_least_the_number_of_columns(seed, n_columns):
    W = np.linalg.qr(np.random.default_rng(seed).standard_normal((12, n_columns)))[0]
    assert row_norms(W).sum() >= n_columns - 1e-12
    unit = np.zeros((12, n_columns))
    unit[:n_columns] = np.linalg.qr(np.random.default_rng(seed).standard_normal([n_columns] * 2))[0]
    assert row_norms(unit).sum() == pytest.approx(n_columns)


def test_theorem_2_a_large_penalty_leaves_exactly_as_many_rows_as_columns():
    model = TRACK(n_clusters=4, gamma=10.0, random_state=0).fit(table(60, 25))
    assert model.n_support_ == 3
    assert row_norms(model.coef_).sum() == pytest.approx(3, abs=1e-2)


# --- choices ----------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*the same score")
def test_the_number_of_columns():
    X = table(20, 30)
    for wanted, found in ((None, 3), (2, 2), (100, 30), ("paper", 13)):
        model = TRACK(n_clusters=4, n_components=wanted, max_iter=2, max_inner=3, tol=0)
        assert model.set_params(random_state=0).fit(X).coef_.shape == (30, found)
    model = TRACK(n_clusters=4, n_components="paper", random_state=0).fit(X.T)
    assert model.coef_.shape == (20, 3)


def test_the_rule_of_the_paper_makes_the_clusters_not_matter():
    X = table(20, 60)
    model = TRACK(n_clusters=4, gamma=1e-3, max_iter=2, random_state=0, tol=1e-4, max_inner=500)
    literal = model.set_params(**PRINTED | {"safeguard": True}).fit(X)
    assert literal.ratio_ < 1e-3
    assert literal.n_support_ >= 43
    assert model.set_params(n_components=None, ridge=1.0).fit(X).ratio_ > 0.01


def test_more_starts_are_never_worse():
    X = load_digits().data[:300]
    few = TRACK(n_clusters=10, n_init=1, random_state=0).fit(X)
    more = TRACK(n_clusters=10, n_init=5, random_state=0).fit(X)
    assert more.objective_[-1] <= few.objective_[-1]


def test_the_ridge_keeps_features_that_hardly_vary_out():
    X = load_digits().data
    nearly_blank = X.std(axis=0) < 1
    model = TRACK(n_features_to_select=20, n_clusters=10, gamma=0.001, random_state=0)
    assert not nearly_blank[model.fit(X).get_support()].any()
    assert nearly_blank[model.set_params(ridge=0.0).fit(X).get_support()].any()


def test_clusters_of_the_informative_columns_are_found():
    rng = np.random.default_rng(0)
    truth = np.arange(120) % 3
    X = rng.standard_normal((120, 30))
    X[:, [3, 11, 19]] += 8 * np.eye(3)[truth]
    model = TRACK(n_features_to_select=3, n_clusters=3, gamma=0.05, random_state=0)
    model.fit(X)
    assert set(np.flatnonzero(model.get_support())) == {3, 11, 19}


@pytest.mark.parametrize("gamma", [1e-3, 0.1, 4.0])
def test_without_a_ridge_a_projection_in_which_nothing_varies_does_no_harm(gamma):
    X = table(21, 5)[:, list(range(5)) * 3]  # the scatter has a large null space
    model = TRACK(n_clusters=2, gamma=gamma, ridge=0.0, random_state=0).fit(X)
    assert never_rises(whole_path(model))
    assert np.isfinite(model.scores_).all()
    assert 0 <= model.ratio_ <= 1


def test_scale_does_not_matter():
    X = table(40, 12)
    scores = TRACK(n_clusters=3, random_state=0).fit(X).scores_
    for factor in (1e-6, 1e6, 1e50):
        np.testing.assert_allclose(
            TRACK(n_clusters=3, random_state=0).fit(factor * X).scores_, scores, atol=1e-6
        )


def test_a_heavy_penalty_says_so():
    with pytest.warns(UserWarning, match=r"gamma=10.0 leaves only 3 rows of W"):
        TRACK(n_features_to_select=8, n_clusters=4, gamma=10.0, random_state=0).fit(table(60, 25))


def test_too_few_rounds_say_so():
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        TRACK(n_clusters=4, max_iter=1, max_inner=2, random_state=0).fit(table(60, 25))


# --- wide tables ------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_wide_table_makes_no_square_matrix():
    X = np.random.default_rng(0).standard_normal((40, 6000))
    model = TRACK(n_clusters=4, gamma=0.01, max_iter=2, max_inner=5, tol=0, random_state=0)
    _, peak = with_peak_memory(model.fit, X)
    assert peak < 6000 * 6000 * 8 / 5
    assert never_rises(whole_path(model))


@pytest.mark.slow
def test_pixraw10p_fits(benchmark_set):
    X, _ = benchmark_set("pixraw10P")
    model = TRACK(n_clusters=10, random_state=0, tol=0, max_iter=2, max_inner=5)
    _, peak = with_peak_memory(model.fit, X)
    assert peak < 2**29
    assert never_rises(whole_path(model))


@pytest.mark.slow
def test_warppie10p_fits(benchmark_set):
    X, _ = benchmark_set("warpPIE10P")
    model = TRACK(n_clusters=10, random_state=0, tol=1e-4).fit(X)
    assert never_rises(whole_path(model))
    assert "Woodbury" in model.solver_
