"""UDFS against Algorithm 1 of its paper, and where it must differ from it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from references.graphs import brute_neighbors
from references.spectral import (
    row_norms,
    udfs_feature_matrix,
    udfs_path,
    udfs_sample_matrix,
    udfs_start,
)
from references.tables import three_levels as table
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.preprocessing import scale

from tamis import UDFS
from tamis.graphs import neighbor_graph
from tamis.selectors.udfs import local_discriminant_matrix

FORMS = [np.asarray, sp.csr_array]
SHAPES = {"more samples": (60, 25), "more features": (25, 60)}


def top(scores, n):
    return set(np.argsort(-scores)[:n].tolist())


def assert_same_top(found, expected, n):
    """The same features come first, down to the last clear gap at or before place `n`."""
    ordered = np.sort(expected)[::-1]
    gaps = ordered[:-1] - ordered[1:]
    clear = np.flatnonzero(gaps[:n] > 1e-4 * ordered[0])
    place = clear[-1] + 1
    assert top(found, place) == top(expected, place)


def reference(X, k, reg, gamma, n_columns, n_iter):
    X = np.asarray(X, dtype=np.float64)
    M = udfs_feature_matrix(X, brute_neighbors(X, k)[0], reg)
    start = udfs_start(M, n_columns) if len(X) <= X.shape[1] else None
    return udfs_path(M, gamma, n_columns, n_iter, start)


# --- the definition ---------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize(("gamma", "reg"), [(0.1, 1.0), (10.0, 1.0), (1.0, 1e-3)])
def test_random_tables_have_the_path_of_algorithm_1(gamma, reg, shape, form):
    X = table(*shape)
    W, objective = reference(X, 4, reg, gamma, 3, 15)
    model = UDFS(n_clusters=3, n_neighbors=4, gamma=gamma, reg=reg, max_iter=15, tol=0)
    model.fit(form(X))
    np.testing.assert_allclose(model.objective_, objective, rtol=1e-6)
    assert model.n_iter_ == 15
    np.testing.assert_allclose(model.scores_, row_norms(model.coef_), rtol=1e-12)
    np.testing.assert_allclose(model.coef_.T @ model.coef_, np.eye(3), atol=1e-8)
    assert_same_top(model.scores_, row_norms(W), 20)


@pytest.mark.parametrize("load", [load_iris, load_wine, lambda: load_digits()])
@pytest.mark.parametrize("n_samples", [150, 30])
def test_real_tables_have_the_path_of_algorithm_1(load, n_samples):
    X = load().data[:n_samples]
    X = scale(X[:, X.std(axis=0) > 0])
    W, objective = reference(X, 5, 1.0, 0.1, 3, 10)
    model = UDFS(n_clusters=3, max_iter=10, tol=0).fit(X)
    np.testing.assert_allclose(model.objective_, objective, rtol=1e-6)
    assert_same_top(model.scores_, row_norms(W), 20)


@pytest.mark.parametrize("form", FORMS)
def test_single_precision_is_solved_in_double(form):
    X = table(60, 25).astype(np.float32)
    expected = UDFS(n_clusters=3).fit(X.astype(np.float64))
    np.testing.assert_allclose(UDFS(n_clusters=3).fit(form(X)).scores_, expected.scores_, atol=1e-7)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("reg", [1e-6, 1.0, 1e6])
def test_the_sample_matrix_is_that_of_equation_12_and_sums_to_zero(reg, form):
    X = table(40, 12)
    indices = brute_neighbors(X, 5)[0]
    found = local_discriminant_matrix(form(X), [(np.arange(40), indices)], reg).toarray()
    expected = udfs_sample_matrix(X, indices, reg)
    np.testing.assert_allclose(found, expected, atol=1e-9 * np.abs(expected).max())
    np.testing.assert_allclose(found.sum(axis=1), 0, atol=1e-9 * np.abs(found).max())
    assert np.linalg.eigvalsh(found).min() > -1e-9 * np.abs(found).max()


@pytest.mark.parametrize("factor", [1e3, 1e6, 1e9])
def test_a_regularisation_far_below_the_scatter_costs_no_precision(factor):
    # (factor·X, λ) has the blocks of (X, λ/factor²) over factor²; with λ gone they are those of a
    # pseudo-inverse, since a neighbourhood of 6 in 12 dimensions has full rank but for its mean.
    X = table(40, 12)
    indices = brute_neighbors(X, 5)[0]
    found = local_discriminant_matrix(factor * X, [(np.arange(40), indices)], 1e-6).toarray()
    expected = np.zeros((40, 40))
    for i, neighbors in enumerate(indices):
        members = [i, *neighbors]
        centred = X[members] - X[members].mean(axis=0)
        expected[np.ix_(members, members)] += np.linalg.pinv(centred @ centred.T, rcond=1e-10)
    np.testing.assert_allclose(factor**2 * found, expected, atol=1e-7 * np.abs(expected).max())


# --- the objective ----------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("gamma", [1e-6, 1e-3, 1.0, 1e3])
def test_the_objective_never_rises(gamma, shape, form):
    model = UDFS(n_clusters=3, gamma=gamma, max_iter=30, tol=0).fit(form(table(*shape)))
    assert (np.diff(model.objective_) <= 1e-9 * model.objective_[:-1]).all()


def test_too_few_iterations_warn_and_zero_tolerance_does_not():
    X = table(60, 25)
    with pytest.warns(UserWarning, match="did not converge in max_iter=2"):
        UDFS(max_iter=2, tol=1e-12).fit(X)
    assert UDFS(max_iter=2, tol=0).fit(X).n_iter_ == 2
    assert UDFS(max_iter=40, tol=0).fit(X).n_iter_ == 40


def test_the_solver_is_named():
    assert UDFS().fit(table(60, 25)).solver_ == "dense: the matrix is small"


# --- where the paper fails --------------------------------------------------------------------


def test_the_literal_start_lets_rounding_choose_where_samples_are_few():
    X = table(25, 60)
    shuffle = np.random.default_rng(1).permutation(25)
    chosen, stable = [], []
    for rows in (np.arange(25), shuffle):
        M = udfs_feature_matrix(X[rows], brute_neighbors(X[rows], 5)[0], 1.0)
        chosen.append(top(row_norms(udfs_path(M, 0.1, 3, 10)[0]), 10))
        stable.append(top(row_norms(udfs_path(M, 0.1, 3, 10, udfs_start(M, 3))[0]), 10))
    assert stable[0] == stable[1]
    assert chosen[0] != chosen[1]


@pytest.mark.parametrize("form", FORMS)
def test_where_samples_are_few_the_order_of_the_rows_plays_no_part(form):
    X = table(25, 60)
    expected = UDFS(n_clusters=3, tol=1e-4).fit(form(X))
    for seed in range(3):
        rows = np.random.default_rng(seed).permutation(25)
        model = UDFS(n_clusters=3, tol=1e-4).fit(form(X[rows]))
        np.testing.assert_allclose(model.scores_, expected.scores_, atol=1e-9)
        assert top(model.scores_, 10) == top(expected.scores_, 10)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_constant_features_are_never_chosen(shape, form):
    X = table(*shape)
    X[:, [3, 7]] = 0.0, 2.0
    model = UDFS(n_clusters=3, tol=1e-4).fit(form(X))
    assert set(model.ranking_[[3, 7]]) == {shape[1] - 1, shape[1]}
    assert not model.coef_[[3, 7]].any()
    without = UDFS(n_clusters=3, tol=1e-4).fit(form(np.delete(X, [3, 7], axis=1)))
    np.testing.assert_allclose(np.delete(model.scores_, [3, 7]), without.scores_, atol=1e-8)


def test_the_literal_method_would_choose_constant_features():
    X = table(60, 25)
    X[:, [3, 7]] = 0.0, 2.0
    M = udfs_feature_matrix(X, brute_neighbors(X, 5)[0], 1.0)
    assert top(row_norms(udfs_path(M, 0.1, 2, 10)[0]), 2) == {3, 7}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_clusters", [1, 3])
def test_a_large_gamma_leaves_a_row_a_column_and_warns(n_clusters, form):
    X = table(60, 25)
    model = UDFS(10, n_clusters=n_clusters, gamma=1e4)
    with pytest.warns(UserWarning, match=f"leaves only {n_clusters} rows of W, fewer than the 10"):
        model.fit(form(X))
    assert model.n_support_ == n_clusters
    np.testing.assert_allclose(np.sort(model.scores_)[-n_clusters:], 1, rtol=1e-6)
    others = model.scores_[model.scores_ < 1e-6]
    assert len(np.unique(others)) == 25 - n_clusters  # they keep an order


def test_without_a_wanted_number_nothing_is_said_of_the_collapse():
    assert UDFS(n_clusters=3, gamma=1e4).fit(table(60, 25)).n_support_ == 3
    assert UDFS(3, n_clusters=3, gamma=1e4).fit(table(60, 25)).n_support_ == 3


@pytest.mark.filterwarnings("ignore:.*the same score")
def test_more_clusters_than_features_use_one_column_a_feature():
    model = UDFS(n_clusters=5).fit(table(60, 3))
    assert model.coef_.shape == (3, 3)
    np.testing.assert_allclose(model.scores_, 1, rtol=1e-9)


def test_a_table_of_constants_is_ranked_by_position():
    model = UDFS().fit(np.ones((10, 4)))
    assert model.ranking_.tolist() == [1, 2, 3, 4]
    assert model.n_support_ == model.n_iter_ == 0
    assert "constant" in model.solver_


# --- neighbourhoods ---------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_a_graph_gives_neighbourhoods_of_different_sizes(form):
    X = table(40, 12)
    graph = neighbor_graph(X, 4)
    neighborhoods = [row.nonzero()[0] for row in graph.toarray()]
    assert len({len(some) for some in neighborhoods}) > 1
    M = udfs_feature_matrix(X, neighborhoods, 1.0)
    _, objective = udfs_path(M, 0.1, 3, 10)
    model = UDFS(n_clusters=3, max_iter=10, tol=0, affinity=graph).fit(form(X))
    np.testing.assert_allclose(model.objective_, objective, rtol=1e-6)
    scaled = UDFS(n_clusters=3, max_iter=10, tol=0, affinity=7 * graph.toarray()).fit(form(X))
    np.testing.assert_allclose(scaled.scores_, model.scores_, atol=1e-9)


def test_the_diagonal_of_a_graph_and_samples_without_an_edge_are_left_out():
    X = table(40, 12)
    graph = neighbor_graph(X, 4).toarray()
    graph[5] = graph[:, 5] = 0
    neighborhoods = [row.nonzero()[0] for row in graph]
    _, objective = udfs_path(udfs_feature_matrix(X, neighborhoods, 1.0), 0.1, 3, 10)
    looped = graph + np.eye(40)
    model = UDFS(n_clusters=3, max_iter=10, tol=0, affinity=looped).fit(X)
    np.testing.assert_allclose(model.objective_, objective, rtol=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_duplicated_samples_are_no_obstacle(form):
    X = np.repeat(table(12, 8), 7, axis=0)  # each neighbourhood is a single point
    model = UDFS(n_clusters=2).fit(form(X))
    assert np.isfinite(model.scores_).all()
    mixed = UDFS(n_clusters=2).fit(form(np.vstack([X, table(30, 8, 1)])))
    assert (np.diff(mixed.objective_) <= 1e-9 * mixed.objective_[:-1]).all()


@pytest.mark.parametrize("form", FORMS)
def test_disconnected_neighbourhoods_are_no_obstacle(form):
    X = table(30, 8)
    far = np.vstack([X, X[:20] + 100, X[:10] - 100])
    model = UDFS(n_clusters=2, max_iter=10, tol=0).fit(form(far))
    _, objective = reference(far, 5, 1.0, 0.1, 2, 10)
    np.testing.assert_allclose(model.objective_, objective, rtol=1e-6)


@pytest.mark.parametrize("shape", [(60, 25), (40, 80)])
@pytest.mark.parametrize("height", [50.3, 1e5])
def test_a_feature_that_no_neighbourhood_sees_comes_first_and_leaves_rounding_no_choice(
    height, shape
):
    X = np.random.default_rng(0).standard_normal(shape)
    X[:, 5] = np.repeat([0.1, height], shape[0] // 2)  # two components, constant on each
    models = [UDFS(n_clusters=3, tol=1e-4).fit(form(X)) for form in FORMS]
    rows = np.random.default_rng(1).permutation(shape[0])
    models.append(UDFS(n_clusters=3, tol=1e-4).fit(X[rows]))
    assert models[0].ranking_[5] == 1
    for model in models[1:]:
        np.testing.assert_allclose(model.scores_, models[0].scores_, atol=1e-6)


# --- real tables ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["UMIST", "Isolet"])
def test_large_real_tables_are_solved(benchmark_set, name):
    X, _ = benchmark_set(name)
    model = UDFS(max_iter=8, tol=0).fit(X)
    assert (np.diff(model.objective_) <= 1e-9 * model.objective_[:-1]).all()
    np.testing.assert_allclose(model.coef_.T @ model.coef_, np.eye(5), atol=1e-8)
    assert "Lanczos" in model.solver_


@pytest.mark.filterwarnings("ignore:.* reads a graph in which one sample")
@pytest.mark.parametrize("name", ["MouseBladder_sc", "News20"])
@pytest.mark.parametrize("n_features", [100, 500])
def test_sparse_and_dense_real_tables_have_the_same_scores(fullest_columns, name, n_features):
    X = fullest_columns(name, n_features)
    sparse, dense = UDFS(tol=1e-4).fit(X), UDFS(tol=1e-4).fit(X.toarray())
    assert sparse.n_iter_ == dense.n_iter_
    np.testing.assert_allclose(sparse.scores_, dense.scores_, atol=1e-10)
