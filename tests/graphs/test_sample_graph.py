"""Which graph a table gets, what is said of it, and hubs."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

from tamis.graphs import (
    LandmarkGraph,
    affordable_method,
    hubness,
    is_star,
    leading_scores,
    nearest_neighbors,
    neighbor_graph,
    sample_graph,
    sample_neighbors,
)


@pytest.fixture(scope="module")
def digits():
    return load_digits().data


def star(n_samples=150, n_features=2000, seed=0):
    """Two groups that a tenth of the columns tell apart, in noise of unequal size per sample.

    The sample of least noise lies next to the mean, and is everybody's neighbour.
    """
    rng = np.random.default_rng(seed)
    group = np.repeat([0, 1], n_samples // 2)
    size = rng.uniform(1, 3, n_samples)
    size[0] = 0.01
    X = size[:, None] * rng.standard_normal((n_samples, n_features))
    X[:, : n_features // 10] += 1.5 * (2 * group[:, None] - 1) * (size > 0.1)[:, None]
    return X, group


def within_groups(graph, group):
    edges = sp.coo_array(graph)
    left, right = edges.coords
    return np.mean(group[left] == group[right])


# --- choosing by size -----------------------------------------------------------------------------


class Huge:
    """A table of which only the shape is looked at."""

    def __init__(self, *shape):
        self.shape = shape


@pytest.mark.parametrize(
    ("shape", "method"),
    [
        ((1000, 50), "exact"),
        ((70_000, 784), "exact"),
        ((1_000_000, 100), "landmarks"),
        ((500, 100_000), "exact"),
        ((10_000_000, 3), "exact"),  # a tree
    ],
)
def test_size_decides(shape, method):
    chosen, why = affordable_method(Huge(*shape))
    assert chosen == method
    assert why


def test_auto_is_exact_where_that_is_affordable(digits):
    graph, report = sample_graph(digits)
    assert abs(graph - neighbor_graph(digits)).max() == 0
    assert (report.method, report.recall, report.n_landmarks) == ("exact", 1, None)
    assert "affordable" in report.why
    assert not report.hubness.is_star


def test_auto_takes_landmarks_beyond(digits, monkeypatch):
    monkeypatch.setattr("tamis.graphs._method.EXACT_MAX", 1e6)
    graph, report = sample_graph(digits, n_landmarks=150)
    assert isinstance(graph, LandmarkGraph)
    assert (report.method, report.n_landmarks) == ("landmarks", 150)
    assert "more than 1e+06" in report.why
    assert isinstance(neighbor_graph(digits, method="auto", n_landmarks=150), LandmarkGraph)


def test_methods_that_need_edges_get_them_beyond(digits, monkeypatch):
    monkeypatch.setattr("tamis.graphs._method.EXACT_MAX", 1e5)
    monkeypatch.setattr("tamis.graphs._method.find_spec", lambda _: None)
    found, report = sample_neighbors(digits[:100])
    assert report.method == "exact"
    assert "need pynndescent" in report.why
    np.testing.assert_array_equal(found.indices, nearest_neighbors(digits[:100]).indices)
    assert sample_graph(digits[:100], explicit=True)[1].method == "exact"


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (neighbor_graph, {"method": "annoy"}, "method='annoy' is unknown"),
        (sample_graph, {"method": "annoy"}, "method='annoy' is unknown"),
        (sample_neighbors, {"method": "landmarks"}, "gives no list of neighbours"),
    ],
)
def test_refusals(digits, function, arguments, message):
    with pytest.raises(ValueError, match=message):
        function(digits[:50], **arguments)


# --- landmarks ------------------------------------------------------------------------------------


def test_recall_is_the_share_of_ties_in_common_with_true_neighbours(digits, monkeypatch):
    monkeypatch.setattr("tamis.graphs._landmark_search.N_JUDGED", len(digits))  # all rows
    graph, report = sample_graph(digits, 4, method="landmarks", n_landmarks=100)
    Z = graph.ties.toarray()
    nearest = nearest_neighbors(digits, 4).indices
    expected = np.mean([np.minimum(Z[i], Z[j]).sum() for i in range(len(Z)) for j in nearest[i]])
    assert report.recall == pytest.approx(expected, rel=2e-3)  # neighbours at equal distances
    assert report.recall > 0.5


@pytest.mark.parametrize("weights", ["heat", "binary", "cosine"])
def test_weights_of_the_ties(digits, weights):
    graph, _ = sample_graph(digits, 3, method="landmarks", n_landmarks=50, weights=weights)
    np.testing.assert_allclose(graph.ties.sum(axis=1), 1)
    assert (np.diff(graph.ties.indptr) == 3).all()
    if weights == "binary":
        np.testing.assert_allclose(graph.ties.data, 1 / 3)
    if weights == "cosine":  # the length of a row plays no part
        scaled = digits * np.linspace(1, 9, len(digits))[:, None]
        other, _ = sample_graph(scaled, 3, method="landmarks", n_landmarks=50, weights="cosine")
        assert other.mass.sum() == pytest.approx(len(digits))


def test_bandwidth_of_the_ties(digits):
    narrow, _ = sample_graph(digits, 3, method="landmarks", n_landmarks=50, bandwidth=1.0)
    wide, _ = sample_graph(digits, 3, method="landmarks", n_landmarks=50, bandwidth=1e6)
    assert np.median(narrow.ties.data.reshape(-1, 3).max(axis=1)) > 0.99
    np.testing.assert_allclose(wide.ties.data, 1 / 3, rtol=1e-6)


# --- hubs -----------------------------------------------------------------------------------------


def test_hubness_by_hand():
    X = np.array([[0.0], [1.0], [3.0], [7.0]])  # chosen: 0 → 1, 1 → 0, 3 → 1, 7 → 3
    found = hubness(nearest_neighbors(X, 1))
    counts = np.array([1, 2, 1, 0])
    assert (found.largest, found.share) == (2, 2 / 3)
    assert found.skewness == pytest.approx(np.mean((counts - 1) ** 3) / counts.std() ** 3)
    assert hubness(neighbor_graph(X, 1)).largest == 2
    ties = sp.csr_array(np.array([[0.5, 0.5, 0], [0, 0.5, 0.5], [0, 1, 0]]))
    assert hubness(LandmarkGraph.of(ties)).largest == 3


def test_regular_graphs_have_no_skewness():
    ring = sp.csr_array(np.roll(np.eye(6), 1, axis=0) + np.roll(np.eye(6), -1, axis=0))
    assert hubness(ring).skewness == 0
    assert not is_star(ring)


def test_a_star_is_seen_and_left():
    X, group = star()
    assert is_star(neighbor_graph(X))
    graph, report = sample_graph(X)
    assert report.n_components == 50
    assert "one sample is a neighbour of 100% of the others" in report.why
    assert not is_star(graph)
    assert within_groups(graph, group) > 0.98 > 0.9 > within_groups(neighbor_graph(X), group)


def test_a_star_is_kept_on_request():
    X, _ = star()
    graph, report = sample_graph(X, n_components=None)
    assert abs(graph - neighbor_graph(X)).max() == 0
    assert report.hubness.is_star


def test_neighbours_in_components(digits):
    scores = leading_scores(digits, 20)
    centred = digits - digits.mean(axis=0)
    left = np.linalg.svd(centred, full_matrices=False)
    expected = (left[0] * left[1])[:, :20]
    np.testing.assert_allclose(np.abs(scores), np.abs(expected), atol=1e-8)
    graph = neighbor_graph(digits, weights="cosine", n_components=20)
    assert abs(graph - neighbor_graph(expected, weights="cosine")).max() < 1e-10
    again, report = sample_graph(sp.csr_array(digits), weights="cosine", n_components=20)
    assert report.n_components == 20
    assert abs(graph - again).max() < 1e-8
