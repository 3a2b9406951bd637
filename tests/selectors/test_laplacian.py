"""The Laplacian score against its equation, and what the equation implies."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from references.scores import laplacian_scores
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.preprocessing import scale

from tamis import LaplacianScore
from tamis.graphs import neighbor_graph


def random_table(n_samples, n_features, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n_samples, n_features)) * (
        rng.random((n_samples, n_features)) < 0.7
    )


def planted(n_samples=150, n_noise=20, seed=0):
    """Three clusters in the columns 0 … 4, noise of the same variance in the others."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n_samples) % 3
    signal = 4 * rng.standard_normal((3, 5))[labels] + rng.standard_normal((n_samples, 5))
    return scale(np.hstack([signal, rng.standard_normal((n_samples, n_noise))]))


# --- the equation -----------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("shape", [(60, 8), (15, 40), (7, 3)])
def test_random_tables_have_the_scores_of_the_equation(shape, form):
    X = random_table(*shape)
    expected = -laplacian_scores(neighbor_graph(X, 5), X)
    np.testing.assert_allclose(LaplacianScore().fit(form(X)).scores_, expected, rtol=1e-9)


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_neighbors": 9},
        {"weights": "binary"},
        {"weights": "cosine", "n_neighbors": 7},
        {"bandwidth": 0.7},
    ],
)
def test_the_parameters_reach_the_graph(parameters):
    X = random_table(60, 8)
    graph = neighbor_graph(X, **parameters)
    assert abs(graph - neighbor_graph(X)).max() > 0.1
    found = LaplacianScore(**parameters).fit(X).scores_
    np.testing.assert_allclose(found, -laplacian_scores(graph, X), rtol=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits])
def test_real_tables_have_the_scores_of_the_equation(load, form):
    X = load().data[:400]
    varies = X.std(axis=0) > 0
    expected = -laplacian_scores(neighbor_graph(form(X), 5), X[:, varies])
    found = LaplacianScore().fit(form(X)).scores_
    np.testing.assert_allclose(found[varies], expected, rtol=1e-8)
    assert (found[~varies] == found.min()).all()


def test_single_precision_input_is_scored_in_double():
    X = random_table(60, 8).astype(np.float32)
    expected = -laplacian_scores(neighbor_graph(X.astype(np.float64), 5), X)
    np.testing.assert_allclose(LaplacianScore().fit(X).scores_, expected, rtol=1e-6)


def test_the_hand_worked_path_of_three_samples():
    path = np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]])
    X = np.array([[1.0, 1, 0, 2], [0, 1, 1, 2], [-1, 0, 0, 2]])
    # fᵀLf = 2, 1, 2; the weighted means are 0, 3/4, 1/2; f̃ᵀDf̃ = 2, 3/4, 1; the last is constant.
    fitted = LaplacianScore(affinity=path).fit(X)
    assert fitted.scores_.tolist() == pytest.approx([-1, -4 / 3, -2, -2])
    assert fitted.ranking_.tolist() == [1, 2, 3, 4]


# --- what it implies --------------------------------------------------------------------------


def test_scores_lie_between_minus_two_and_zero():
    scores = LaplacianScore().fit(random_table(50, 30)).scores_
    assert scores.min() >= -2
    assert scores.max() <= 0


@pytest.mark.filterwarnings("ignore:.*the same score")
def test_two_samples_are_as_rough_as_it_gets():
    X = np.array([[0.0, 1.0, 5.0], [3.0, 2.0, 5.0]])
    assert LaplacianScore(n_neighbors=1).fit(X).scores_.tolist() == pytest.approx([-2, -2, -2])


def test_a_column_that_is_constant_on_each_component_is_perfectly_smooth():
    X = np.random.default_rng(0).standard_normal((40, 4))
    X[:, 3] = 100 * (np.arange(40) < 15)
    fitted = LaplacianScore().fit(X)
    assert fitted.scores_[3] == 0
    assert fitted.ranking_[3] == 1


def test_translation_and_a_common_scale_change_nothing():
    X = random_table(60, 8)
    expected = LaplacianScore().fit(X).scores_
    for table in (X + np.linspace(-50, 50, 8), 1e6 * X, 1e-6 * X, -X):
        np.testing.assert_allclose(LaplacianScore().fit(table).scores_, expected, rtol=1e-8)


def test_on_a_given_graph_the_scale_of_each_column_changes_nothing():
    X = random_table(60, 8)
    graph = neighbor_graph(X, 5)
    expected = LaplacianScore(affinity=graph).fit(X).scores_
    found = LaplacianScore(affinity=graph).fit(X * np.logspace(-4, 4, 8) + 3).scores_
    np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_the_scale_of_a_given_graph_changes_nothing():
    X = random_table(60, 8)
    graph = neighbor_graph(X, 5)
    expected = LaplacianScore(affinity=graph).fit(X).scores_
    for factor in (1e-100, 1e-3, 1e100):
        found = LaplacianScore(affinity=graph * factor).fit(X).scores_
        np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_large_offset_costs_no_precision(form):
    X = np.random.default_rng(0).standard_normal((200, 5)).round(6)
    graph = neighbor_graph(X, 5)
    expected = LaplacianScore(affinity=graph).fit(X).scores_
    found = LaplacianScore(affinity=graph).fit(form(X + 1e6)).scores_
    np.testing.assert_allclose(found, expected, rtol=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_planted_features_come_before_noise(seed):
    ranking = LaplacianScore().fit(planted(seed=seed)).ranking_
    assert set(ranking[:5]) == {1, 2, 3, 4, 5}


# --- graphs with little to say ----------------------------------------------------------------


@pytest.mark.parametrize("level", [0.0, 0.1, 1e5 / 7])
def test_a_column_that_varies_only_where_there_are_no_edges_comes_last(level):
    X = np.random.default_rng(0).standard_normal((50, 4))
    X[:, 3] = level
    X[7, 3] = 1e6  # so far from all others that its edges have no weight
    assert LaplacianScore().fit(X).ranking_[3] == 4


def test_a_bandwidth_that_leaves_no_edge_is_refused():
    X = 1000 * np.random.default_rng(0).standard_normal((30, 4))
    with pytest.raises(ValueError, match=r"bandwidth"):
        LaplacianScore(bandwidth=0.1).fit(X)


def test_the_graph_may_be_sparse_or_dense_or_a_list():
    X = random_table(30, 4)
    graph = neighbor_graph(X, 5)
    expected = LaplacianScore().fit(X).scores_
    for given in (graph, sp.csr_matrix(graph), sp.coo_array(graph), graph.toarray()):
        np.testing.assert_allclose(
            LaplacianScore(affinity=given).fit(X).scores_, expected, rtol=1e-12
        )
    listed = graph.toarray().tolist()
    np.testing.assert_allclose(LaplacianScore(affinity=listed).fit(X).scores_, expected)


def test_fit_leaves_the_given_graph_as_it_is():
    X = random_table(30, 4)
    graph = neighbor_graph(X, 5)
    graph.data[0] = graph.data[0] * (1 + 1e-12)  # within the tolerance of symmetry
    stored = graph.copy()
    LaplacianScore(affinity=graph).fit(X)
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(graph, part), getattr(stored, part))


@pytest.mark.parametrize(
    ("parameters", "word"),
    [
        ({"weights": "gaussian"}, "weights"),
        ({"bandwidth": 0.0}, "bandwidth"),
        ({"bandwidth": -1.0}, "bandwidth"),
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"n_neighbors": 2.0}, "n_neighbors"),
        ({"affinity": "precomputed"}, "affinity"),
        ({"n_jobs": 1.5}, "n_jobs"),
        ({"verbose": "yes"}, "verbose"),
    ],
)
def test_senseless_parameters_are_refused_by_name(parameters, word):
    with pytest.raises(ValueError, match=f"'{word}' parameter of LaplacianScore"):
        LaplacianScore(**parameters).fit(random_table(30, 4))


def test_wide_tables_are_understood():
    X = random_table(20, 1500)
    expected = -laplacian_scores(neighbor_graph(sp.csr_array(X), 5), X)
    np.testing.assert_allclose(LaplacianScore().fit(X).scores_, expected, rtol=1e-8)
