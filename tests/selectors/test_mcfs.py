"""MCFS against dense eigenvectors and scikit-learn's least angle regression."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from references.spectral import generalized_eigenvectors, mcfs_coefficients
from references.tables import three_levels
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs
from sklearn.preprocessing import scale

from tamis import MCFS
from tamis.graphs import n_components, neighbor_graph

FORMS = [np.asarray, sp.csr_array]
SHAPES = {"more samples": (80, 20), "more features": (30, 60)}


table = partial(three_levels, zeros=0.2)


def unit(Y):
    Y = Y - Y.mean(axis=0)
    return Y / np.linalg.norm(Y, axis=0)


# --- the definition ---------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("weights", ["heat", "binary"])
def test_random_tables_have_the_scores_of_the_definition(weights, shape, form):
    X = table(*shape)
    graph = neighbor_graph(X, 6, weights=weights)
    assert n_components(graph) == 1
    _, vectors = generalized_eigenvectors(graph.toarray(), 5)
    Y = unit(vectors[:, 1:])
    model = MCFS(n_clusters=4, n_nonzero_coefs=4, n_neighbors=6, weights=weights).fit(form(X))
    signs = np.sign(np.einsum("ij,ij->j", Y, model.embedding_))
    np.testing.assert_allclose(model.embedding_, Y * signs, atol=1e-7)
    expected = mcfs_coefficients(X, Y * signs, 4)
    np.testing.assert_allclose(model.coef_, expected, atol=1e-6 * np.abs(expected).max())
    entered = model.coef_.any(axis=1)
    largest = np.abs(model.coef_).max(axis=1)
    np.testing.assert_allclose(model.scores_[entered], largest[entered])


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_real_tables_have_the_scores_of_the_definition(load):
    X = scale(load().data)
    k = 30 if load is load_iris else 12
    graph = neighbor_graph(X, k)
    assert n_components(graph) == 1
    Y = unit(generalized_eigenvectors(graph.toarray(), 3)[1][:, 1:])
    model = MCFS(n_clusters=2, n_nonzero_coefs=3, n_neighbors=k).fit(X)
    expected = np.abs(mcfs_coefficients(X, Y, 3))
    np.testing.assert_allclose(np.abs(model.coef_), expected, atol=1e-6 * expected.max())


@pytest.mark.parametrize("form", FORMS)
def test_single_precision_is_solved_in_double(form):
    X = table(80, 20).astype(np.float32)
    expected = MCFS().fit(X.astype(np.float64)).scores_
    np.testing.assert_allclose(MCFS().fit(form(X)).scores_, expected, rtol=1e-6)


def test_the_embedding_is_centred_and_of_unit_length():
    Y = MCFS(n_clusters=4).fit(table(80, 20)).embedding_
    np.testing.assert_allclose(Y.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(Y, axis=0), 1)


# --- scores -----------------------------------------------------------------------------------


def test_the_sign_of_a_feature_plays_no_part():
    X = table(80, 20)
    signs = np.where(np.arange(20) % 3, 1, -1)
    plain, flipped = MCFS().fit(X), MCFS().fit(X * signs)
    assert (plain.coef_ < 0).any()
    np.testing.assert_allclose(flipped.scores_, plain.scores_, rtol=1e-6)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_features_that_did_not_enter_are_ranked_below_in_the_order_of_entry(shape, form):
    X = table(*shape)
    model = MCFS(n_clusters=1, n_nonzero_coefs=3).fit(form(X))
    entered = model.coef_.any(axis=1)
    assert model.scores_[~entered].max() < model.scores_[entered].min()
    best_first = np.argsort(model.ranking_)
    for n_steps in range(4, min(shape) // 2):  # later scikit-learn drops features
        more = mcfs_coefficients(X, model.embedding_, n_steps).any(axis=1)
        assert set(best_first[:n_steps]) == set(np.flatnonzero(more))


@pytest.mark.slow
@pytest.mark.parametrize("fitted", [1, 5, 0.5, 20])
@pytest.mark.parametrize("wanted", [1, 2, 5, 10, 0.5, 1.0, None])
def test_another_number_of_features_is_what_a_new_fit_would_give(fitted, wanted):
    X = scale(load_breast_cancer().data)
    expected = MCFS(wanted).fit(X)
    model = MCFS(fitted).fit(X).set_params(n_features_to_select=wanted)
    np.testing.assert_array_equal(model.scores_, expected.scores_)
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    np.testing.assert_array_equal(model.get_support(), expected.get_support())
    by_hand = MCFS(fitted).fit(X)
    by_hand.n_features_to_select = wanted
    np.testing.assert_array_equal(by_hand.transform(X), expected.transform(X))
    np.testing.assert_array_equal(by_hand.ranking_, expected.ranking_)


def test_a_number_that_is_too_large_is_refused_where_it_is_used():
    X = table(80, 20)
    model = MCFS(5).fit(X).set_params(n_features_to_select=21)
    with pytest.raises(ValueError, match="n_features_to_select=21, but X has 20 features"):
        model.transform(X)
    assert model.set_params(n_features_to_select=20).transform(X).shape == (80, 20)


@pytest.mark.parametrize("form", FORMS)
def test_where_all_samples_are_fitted_the_rest_is_not_ordered_by_rounding(form):
    X = table(30, 200)
    expected = MCFS(n_clusters=2).fit(X)
    assert np.count_nonzero(expected.coef_.any(axis=1)) < 100  # fewer than are selected
    for seed in range(3):
        rows = np.random.default_rng(seed).permutation(30)
        model = MCFS(n_clusters=2).fit(form(X[rows]))
        np.testing.assert_allclose(
            model.scores_, expected.scores_, atol=1e-6 * expected.scores_.max()
        )
        np.testing.assert_array_equal(model.get_support(), expected.get_support())
    others = expected.scores_[~expected.coef_.any(axis=1)]
    smallest = np.abs(expected.coef_[expected.coef_.any(axis=1)]).max(axis=1).min()
    assert others.max() > 1e-3 * smallest  # shares of what was left, not of rounding


@pytest.mark.parametrize(
    ("wanted", "n_nonzero_coefs", "expected"), [(4, None, 4), (0.5, None, 10), (4, 7, 7)]
)
def test_as_many_features_enter_as_are_to_be_selected(wanted, n_nonzero_coefs, expected):
    model = MCFS(wanted, n_nonzero_coefs=n_nonzero_coefs).fit(table(80, 20))
    assert (np.count_nonzero(model.coef_, axis=0) == expected).all()


def test_copies_of_a_feature_enter_once_and_come_right_below():
    X = table(80, 6)
    model = MCFS(n_clusters=2, n_nonzero_coefs=4).fit(np.hstack([X, X]))
    assert not model.coef_[6:].any()
    graph = neighbor_graph(X, 5)
    alone = MCFS(n_clusters=2, n_nonzero_coefs=4, affinity=graph).fit(X)
    np.testing.assert_allclose(model.coef_[:6], alone.coef_, atol=1e-8)


@pytest.mark.parametrize("form", FORMS)
def test_constant_features_come_last(form):
    X = table(80, 10)
    X[:, [3, 7]] = 0.0, 2.0
    model = MCFS(n_nonzero_coefs=10).fit(form(X))
    assert set(model.ranking_[[3, 7]]) == {9, 10}
    assert not model.coef_[[3, 7]].any()


def test_planted_features_are_found():
    informative, _ = make_blobs(200, 4, centers=5, cluster_std=1.0, random_state=0)
    noise = np.random.default_rng(0).standard_normal((200, 16))
    model = MCFS(4, n_clusters=4).fit(scale(np.hstack([informative, 0.1 * noise]), with_std=False))
    assert set(np.flatnonzero(model.get_support())) == {0, 1, 2, 3}


# --- graphs -----------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_a_disconnected_graph_is_embedded_by_its_components(form):
    X, y = make_blobs([40, 30, 20], 5, random_state=0, cluster_std=0.1)
    graph = neighbor_graph(X, 5)
    assert n_components(graph) == 3
    model = MCFS(n_clusters=2).fit(form(X))
    for label in range(3):
        np.testing.assert_allclose(np.ptp(model.embedding_[y == label], axis=0), 0, atol=1e-10)
    assert np.linalg.matrix_rank(model.embedding_) == 2


def test_a_precomputed_graph_is_used():
    X = table(80, 20)
    graph = neighbor_graph(X, 8, weights="binary")
    expected = MCFS(n_neighbors=8, weights="binary").fit(X).scores_
    np.testing.assert_allclose(MCFS(affinity=graph.toarray()).fit(X).scores_, expected)


def test_more_eigenvectors_than_the_graph_has_are_refused():
    with pytest.raises(ValueError, match="ask for fewer"):
        MCFS(n_clusters=10, n_neighbors=3).fit(table(10, 4))


# --- real tables ------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ["UMIST", "Isolet", "COIL20"])
def test_large_real_tables_are_solved(benchmark_set, name):
    X, _ = benchmark_set(name)
    model = MCFS(50).fit(X)
    assert np.isfinite(model.scores_).all()
    entered = model.coef_.any(axis=1)
    assert 50 <= np.count_nonzero(entered) <= 250
    assert model.get_support()[entered].sum() == 50
    if name == "COIL20":
        graph = neighbor_graph(X, 5)
        assert n_components(graph) > 5  # contrasts of components, exactly smooth
        rough = np.einsum("ij,ij->j", model.embedding_, graph @ model.embedding_)
        degree = np.asarray(graph.sum(axis=1)).ravel()
        np.testing.assert_allclose(rough, degree @ model.embedding_**2, rtol=1e-10)


@pytest.mark.filterwarnings("ignore:.* reads a graph in which one sample")
@pytest.mark.parametrize("name", ["MouseBladder_sc", "News20"])
@pytest.mark.parametrize("n_features", [100, 500])
def test_sparse_and_dense_real_tables_have_the_same_scores(fullest_columns, name, n_features):
    X = fullest_columns(name, n_features)
    sparse, dense = MCFS(50).fit(X), MCFS(50).fit(X.toarray())
    np.testing.assert_allclose(sparse.scores_, dense.scores_, atol=1e-7 * dense.scores_.max())
    np.testing.assert_array_equal(sparse.get_support(), dense.get_support())
