"""`neighbors=` and `graph_`, alike in all methods with a sample graph."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from references.nn_descent import itself_and_nearest, stand_in
from sklearn.datasets import load_digits

from tamis import EUFS, JDLUFS, JELSR, M3FS, MCFS, MRSF, RUFS, SPEC, UDFS, LaplacianScore
from tamis.graphs import LandmarkGraph, choose_landmarks, neighbor_graph

BY_LANDMARKS = [LaplacianScore(), SPEC(), SPEC(style=3), MCFS(), MRSF(), JELSR()]
BY_EDGES = [
    UDFS(max_iter=1, tol=0),
    RUFS(max_iter=1, tol=0),
    EUFS(max_iter=1, tol=0),
    JDLUFS(max_iter=1, tol=0),
    M3FS(n_features_to_select=5, max_iter=1, graph="knn"),
]


def name(selector):
    return str(selector).replace("\n", "")


@pytest.fixture(scope="module")
def digits():
    X = load_digits().data[:900]
    return X[:, X.std(axis=0) > 0]


def share_of_best(left, right, k):
    return np.mean(right.ranking_[left.ranking_ <= k] <= k)


@pytest.mark.parametrize("selector", BY_LANDMARKS, ids=name)
def test_landmarks_find_nearly_the_same_columns(digits, selector):
    exact = selector.fit(digits)
    assert exact.graph_.method == "exact"
    other = type(selector)(**{**selector.get_params(), "neighbors": "landmarks"}).fit(digits)
    assert other.graph_.method == "landmarks"
    assert other.graph_.n_landmarks == 180  # one per five rows
    assert 0.3 < other.graph_.recall < 1
    assert share_of_best(exact, other, 30) >= 0.8


def test_order_of_rows_with_landmarks(digits):
    order = np.random.default_rng(0).permutation(len(digits))
    straight, shuffled = (MRSF(neighbors="landmarks").fit(T) for T in (digits, digits[order]))
    np.testing.assert_allclose(shuffled.scores_, straight.scores_, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("selector", BY_LANDMARKS, ids=name)
def test_a_landmark_graph_is_taken_as_affinity(digits, selector):
    graph = neighbor_graph(digits, method="landmarks", random_state=0)
    given = type(selector)(**{**selector.get_params(), "affinity": graph}).fit(digits)
    own = type(selector)(**{**selector.get_params(), "neighbors": "landmarks"}).fit(digits)
    np.testing.assert_allclose(given.scores_, own.scores_, rtol=1e-9)
    assert (given.graph_.method, given.graph_.n_landmarks) == ("given", graph.n_landmarks)


def test_a_landmark_graph_of_other_rows_is_refused(digits):
    graph = LandmarkGraph.from_landmarks(digits[:50], choose_landmarks(digits, 20))
    with pytest.raises(ValueError, match="landmark graph of 50 samples, but X has 900"):
        MRSF(affinity=graph).fit(digits)


@pytest.mark.parametrize("selector", BY_EDGES, ids=name)
def test_methods_that_need_edges_refuse_landmarks(digits, selector):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert selector.fit(digits[:100]).graph_.method == "exact"
    with pytest.raises(ValueError, match="'neighbors' parameter"):
        type(selector)(neighbors="landmarks").fit(digits[:100])


def test_landmarks_that_nobody_asked_for_are_said(digits, monkeypatch):
    monkeypatch.setattr("tamis.graphs._method.EXACT_MAX", 1e6)
    with pytest.warns(UserWarning, match="MRSF reads the graph from 180 landmarks, since exact"):
        MRSF().fit(digits)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert MRSF(neighbors="landmarks").fit(digits).graph_.why == "asked for"


def test_neighbours_that_nobody_asked_for_are_said(digits, monkeypatch):
    stand_in(monkeypatch, itself_and_nearest)
    monkeypatch.setattr("tamis.graphs._method.EXACT_MAX", 1e6)
    with pytest.warns(UserWarning, match="UDFS takes approximate neighbours"):
        assert UDFS(max_iter=1, tol=0).fit(digits).graph_.method == "approximate"


def test_a_star_is_said_and_left():
    rng = np.random.default_rng(0)
    size = np.append(0.01, rng.uniform(1, 3, 149))
    X = size[:, None] * rng.standard_normal((150, 1000))
    X[:, :60] += 2 * np.repeat([-1, 1], 75)[:, None] * (size > 0.1)[:, None]
    with pytest.warns(UserWarning, match="angles in 50 principal components: one sample is a"):
        model = MRSF(60, n_clusters=2).fit(X)
    assert np.count_nonzero(model.get_support()[:60]) > 50
    given = MRSF(60, n_clusters=2, affinity=neighbor_graph(X)).fit(X)
    assert given.graph_.hubness.is_star
    assert (given.ranking_ != model.ranking_).any()


def test_tables_of_constants_have_no_graph():
    assert MRSF().fit(np.ones((10, 3))).graph_.method == "none"
