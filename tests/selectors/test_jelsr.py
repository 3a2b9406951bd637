"""JELSR against Table 1 of its paper."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from references.graphs import brute_neighbors
from references.spectral import jelsr_path, lle_laplacian, row_norms
from references.tables import three_levels as table
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.preprocessing import scale

from tamis import JELSR, MRSF
from tamis.graphs import LandmarkGraph, choose_landmarks, lle_weights, neighbor_graph
from tamis.solvers import eigen, embedding_matrix

FORMS = [np.asarray, sp.csr_array]
SHAPES = {"more samples": (60, 15), "more features": (25, 50)}


def monotone(model):
    return (np.diff(model.objective_) <= 1e-9 * model.objective_[:-1]).all()


# --- the definition ---------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (0.1, 10.0), (0.5, 0.1)])
def test_random_tables_have_the_path_of_table_1(monkeypatch, alpha, beta, shape, long, form):
    if long:
        monkeypatch.setattr(eigen, "DENSE_MAX", 0)
        monkeypatch.setattr(embedding_matrix, "DENSE_MAX", 0)
    X = table(*shape)
    L = lle_laplacian(X, brute_neighbors(X, 5)[0])
    W, Y, objective = jelsr_path(X, L, alpha, beta, 4, 8)
    model = JELSR(n_components=4, alpha=alpha, beta=beta, max_iter=8, tol=0).fit(form(X))
    np.testing.assert_allclose(model.objective_, objective, rtol=1e-6)
    np.testing.assert_allclose(model.scores_, row_norms(W), atol=1e-5 * row_norms(W).max())
    np.testing.assert_allclose(model.scores_, row_norms(model.coef_), rtol=1e-12)
    np.testing.assert_allclose(model.embedding_.T @ model.embedding_, np.eye(4), atol=1e-8)
    assert np.linalg.svd(Y.T @ model.embedding_)[1].min() > 1 - 1e-6


@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits])
@pytest.mark.parametrize("n_samples", [150, 30])
def test_real_tables_have_the_path_of_table_1(load, n_samples):
    X = load().data[:n_samples]
    X = scale(X[:, X.std(axis=0) > 0])
    L = lle_laplacian(X, brute_neighbors(X, 5)[0])
    W, _, objective = jelsr_path(X, L, 1.0, 1.0, 3, 6)
    model = JELSR(n_components=3, max_iter=6, tol=0).fit(X)
    np.testing.assert_allclose(model.objective_, objective, rtol=1e-6)
    np.testing.assert_allclose(model.scores_, row_norms(W), atol=1e-4 * row_norms(W).max())


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_reconstruction_weights_are_those_of_the_loop(shape, form):
    X = table(*shape)
    S = lle_weights(form(X), 5).toarray()
    np.testing.assert_allclose(S.sum(axis=1), 1)
    remainder = np.eye(shape[0]) - S
    expected = lle_laplacian(X, brute_neighbors(X, 5)[0])
    np.testing.assert_allclose(remainder.T @ remainder, expected, atol=1e-8)


@pytest.mark.parametrize("form", FORMS)
def test_single_precision_is_solved_in_double(form):
    X = table(60, 15).astype(np.float32)
    expected = JELSR(n_components=3).fit(X.astype(np.float64)).scores_
    found = JELSR(n_components=3).fit(form(X)).scores_
    np.testing.assert_allclose(found, expected, atol=1e-7 * expected.max())


def test_a_precomputed_graph_gives_its_own_laplacian():
    X = table(60, 15)
    graph = neighbor_graph(X, 4).toarray()
    L = np.diag(graph.sum(axis=1)) - graph
    _, _, objective = jelsr_path(X, L, 1.0, 0.5, 4, 8)
    model = JELSR(n_components=4, beta=0.5, max_iter=8, tol=0, affinity=graph).fit(X)
    np.testing.assert_allclose(model.objective_, objective, rtol=1e-6)


# --- the objective ----------------------------------------------------------------------------


@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("alpha", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("beta", [1e-3, 1.0, 1e3])
def test_the_objective_never_rises_whatever_the_weights(monkeypatch, beta, alpha, shape, long):
    if long:
        monkeypatch.setattr(eigen, "DENSE_MAX", 0)
        monkeypatch.setattr(embedding_matrix, "DENSE_MAX", 0)
    model = JELSR(n_components=3, alpha=alpha, beta=beta, max_iter=25, tol=0)
    with pytest.warns(UserWarning, match="W is zero") if alpha == 1e3 else nullcontext():
        model.fit(table(*shape))
    assert model.n_iter_ == 25
    assert monotone(model)
    np.testing.assert_allclose(model.embedding_.T @ model.embedding_, np.eye(3), atol=1e-8)


def test_too_few_iterations_warn_and_zero_tolerance_does_not():
    X = table(60, 15)
    with pytest.warns(UserWarning, match="did not converge in max_iter=2"):
        JELSR(max_iter=2, tol=1e-12).fit(X)
    assert JELSR(max_iter=2, tol=0).fit(X).n_iter_ == 2


# --- the embedding ----------------------------------------------------------------------------


def test_the_constant_vector_enters_where_the_features_are_too_dear():
    # At a high price nothing is rebuilt: Y is the null space of L first, W vanishes.
    model = JELSR(n_components=1, alpha=1e6, tol=0, max_iter=20)
    with pytest.warns(UserWarning, match="no feature worth alpha=1e\\+06"):
        model.fit(table(60, 15))
    np.testing.assert_allclose(np.abs(model.embedding_), 1 / np.sqrt(60), rtol=1e-6)
    assert model.objective_[-1] == pytest.approx(1.0, rel=1e-6)  # β times ‖Y‖²
    np.testing.assert_allclose(model.coef_, 0, atol=1e-8)


def test_the_constant_vector_stays_out_where_the_features_rebuild_enough():
    model = JELSR(n_components=2, alpha=1e-3).fit(scale(load_wine().data))
    assert np.abs(model.embedding_.sum(axis=0)).max() < 0.1
    assert row_norms(model.coef_.T).min() > 0


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_pairs", [1, 2])
@pytest.mark.parametrize("fraction", [0.1, 0.5])
def test_without_regression_in_the_embedding_it_is_mrsf(fraction, n_pairs, form):
    # On a ring all degrees are equal: L and (L, D) have the same eigenvectors, a constant one and
    # pairs of equal eigenvalue, of which none is cut.
    ring = scipy.linalg.circulant([0.0, 1.0] + [0.0] * 27 + [1.0])
    X = table(30, 8)
    separate = MRSF(n_clusters=1 + 2 * n_pairs, alpha=fraction, affinity=ring, tol=1e-8)
    separate.fit(form(X))
    joint = JELSR(
        n_components=1 + 2 * n_pairs,
        alpha=separate.penalty_,
        beta=1e-7,
        affinity=ring,
        max_iter=500,
        tol=0,
    ).fit(form(X))
    largest = row_norms(separate.coef_).max()
    np.testing.assert_allclose(
        row_norms(joint.coef_), row_norms(separate.coef_), atol=2e-3 * largest
    )


@pytest.mark.parametrize("form", FORMS)
def test_as_many_components_as_samples_can_be_asked_for_but_not_more(monkeypatch, form):
    X = form(table(30, 6))
    assert JELSR(n_components=30).fit(X).embedding_.shape == (30, 30)
    with pytest.raises(ValueError, match="n_components=31 is too large for n_samples=30"):
        JELSR(n_components=31).fit(X)
    monkeypatch.setattr(eigen, "DENSE_MAX", 0)
    monkeypatch.setattr(embedding_matrix, "DENSE_MAX", 0)
    assert JELSR(n_components=30).fit(X).embedding_.shape == (30, 30)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_constant_features_come_last_and_change_nothing(shape, form):
    X = table(*shape)
    X[:, [3, 7]] = 0.0, 2.0
    model = JELSR(n_components=3).fit(form(X))
    assert set(model.ranking_[[3, 7]]) == {shape[1] - 1, shape[1]}
    without = JELSR(n_components=3).fit(form(np.delete(X, [3, 7], axis=1)))
    np.testing.assert_allclose(np.delete(model.scores_, [3, 7]), without.scores_, atol=1e-8)


@pytest.mark.parametrize("form", FORMS)
def test_disconnected_and_duplicated_samples_are_no_obstacle(form):
    X = table(30, 8)
    for rows in (np.vstack([X, X[:20] + 100]), np.repeat(X, 7, axis=0)):
        model = JELSR(n_components=3, max_iter=20, tol=0).fit(form(rows))
        assert np.isfinite(model.scores_).all()
        assert monotone(model)


def test_equal_features_share_a_score():
    X = table(60, 8)
    model = JELSR(n_components=3).fit(np.hstack([X, X]))
    np.testing.assert_allclose(model.scores_[:8], model.scores_[8:], rtol=1e-6)


# --- units ------------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [1e-30, 1e-8, 1e8, 1e30])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_a_table_in_another_unit_has_the_same_path_with_alpha_in_that_unit(shape, factor):
    X = table(*shape)
    plain = JELSR(n_components=3).fit(X)
    scaled = JELSR(n_components=3, alpha=factor).fit(factor * X)
    np.testing.assert_allclose(scaled.objective_, plain.objective_, rtol=1e-8)
    largest = plain.scores_.max()
    np.testing.assert_allclose(factor * scaled.scores_, plain.scores_, atol=1e-6 * largest)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_a_penalty_that_is_small_beside_the_table_is_solved(monkeypatch, shape, long, form):
    if long:
        monkeypatch.setattr(eigen, "DENSE_MAX", 0)
        monkeypatch.setattr(embedding_matrix, "DENSE_MAX", 0)
    model = JELSR(n_components=3, tol=0, max_iter=30).fit(form(1e8 * table(*shape)))
    assert np.isfinite(model.scores_).all()
    assert (np.diff(model.objective_) <= 1e-6 * model.objective_[0]).all()
    np.testing.assert_allclose(model.embedding_.T @ model.embedding_, np.eye(3), atol=1e-8)


def test_penalties_out_of_all_proportion_to_the_table_are_refused_or_told():
    X = scale(load_wine().data)
    with pytest.raises(ValueError, match=r"alpha=1 is lost in the rounding.*deviation is 1e\+12"):
        JELSR().fit(1e12 * X)
    with pytest.warns(UserWarning, match="W is zero.*standard deviation, 1e-08"):
        JELSR().fit(1e-8 * X)


# --- real tables ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["UMIST", "Isolet"])
def test_large_real_tables_are_solved(benchmark_set, name):
    X, _ = benchmark_set(name)
    model = JELSR(max_iter=5, tol=0).fit(scale(X))
    assert monotone(model)
    np.testing.assert_allclose(model.embedding_.T @ model.embedding_, np.eye(5), atol=1e-8)


@pytest.mark.filterwarnings("ignore:.* reads a graph in which one sample")
@pytest.mark.parametrize("name", ["MouseBladder_sc", "News20"])
@pytest.mark.parametrize("n_features", [100, 500])
def test_sparse_and_dense_real_tables_have_the_same_scores(fullest_columns, name, n_features):
    X = fullest_columns(name, n_features)
    sparse, dense = JELSR().fit(X), JELSR().fit(X.toarray())
    np.testing.assert_allclose(sparse.scores_, dense.scores_, atol=1e-8 * dense.scores_.max())


# --- landmarks ---------------------------------------------------------------------------------


def graph_of_landmarks(X, n_landmarks):
    """The graph, and its matrix, which is formed here."""
    graph = LandmarkGraph.from_landmarks(X, choose_landmarks(X, n_landmarks))
    Z, mass = graph.ties.toarray(), graph.mass
    return graph, Z @ np.diag(1 / mass) @ Z.T


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize("n_landmarks", [12, 50], ids=["condensed", "as a matrix"])
@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (0.1, 10.0)])
def test_landmarks_have_the_path_of_table_1(monkeypatch, alpha, beta, n_landmarks, long, form):
    if long:
        monkeypatch.setattr(eigen, "DENSE_MAX", 0)
        monkeypatch.setattr(embedding_matrix, "DENSE_MAX", 0)
    X = table(60, 15)
    graph, affinity = graph_of_landmarks(X, n_landmarks)
    L = np.eye(60) - affinity
    W, Y, objective = jelsr_path(X, L, alpha, beta, 4, 8)
    options = {"n_components": 4, "alpha": alpha, "beta": beta, "max_iter": 8, "tol": 0}
    model = JELSR(affinity=graph, **options).fit(form(X))
    np.testing.assert_allclose(model.objective_, objective, rtol=1e-6)
    np.testing.assert_allclose(model.scores_, row_norms(W), atol=1e-5 * row_norms(W).max())
    assert model.embedding_.shape == (60, 4)
    np.testing.assert_allclose(model.embedding_.T @ model.embedding_, np.eye(4), atol=1e-8)
    np.testing.assert_allclose(model.embedding_ @ model.embedding_.T, Y @ Y.T, atol=1e-5)


def test_more_components_than_landmarks_and_columns_have_directions():
    X = table(60, 15)
    with pytest.raises(ValueError, match="n_components=20 is too large: landmarks and columns"):
        JELSR(n_components=20, affinity=graph_of_landmarks(X, 4)[0]).fit(X)
