"""Graphs: hand-worked cases, definitions written out densely, and graphs from elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from references import graphs as reference
from references.example_graphs import PATH, normal, stored_zeros
from scipy.spatial.distance import pdist, squareform
from sklearn.neighbors import kneighbors_graph

from tamis import graphs
from tamis.graphs import (
    check_affinity,
    degrees,
    n_components,
    nearest_neighbors,
    neighbor_graph,
    symmetrize,
)

COMBINE = {
    "max": np.maximum,
    "min": np.minimum,
    "mean": lambda forward, backward: (forward + backward) / 2,
}
LINE = np.array([[0.0], [1.0], [3.0], [7.0]])


# --- neighbour graphs -----------------------------------------------------------------------------


def test_binary_graph_by_hand():
    # Each sample's nearest: 0 → 1, 1 → 0, 3 → 1, 7 → 3.
    chosen = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]], dtype=float)
    for symmetry, combine in COMBINE.items():
        graph = neighbor_graph(LINE, 1, weights="binary", symmetry=symmetry)
        np.testing.assert_array_equal(graph.toarray(), combine(chosen, chosen.T))


def test_heat_graph_by_hand():
    # Distances 1, 1, 2, 4 to the nearest; their median is 1.5.
    graph = neighbor_graph(LINE, 1).toarray()
    expected = np.zeros((4, 4))
    for i, j, r in [(0, 1, 1), (1, 2, 2), (2, 3, 4)]:
        expected[i, j] = expected[j, i] = np.exp(-(r**2) / (2 * 1.5**2))
    np.testing.assert_allclose(graph, expected, rtol=1e-14)


def test_cosine_graph_by_hand():
    X = np.array([[1.0, 0.0], [3.0, 3.0], [0.0, 2.0], [-1.0, 0.0]])
    graph = neighbor_graph(X, 2, weights="cosine").toarray()
    half = np.sqrt(0.5)
    expected = [[0, half, 0, 0], [half, 0, half, 0], [0, half, 0, 0], [0, 0, 0, 0]]
    np.testing.assert_allclose(graph, expected, atol=1e-15)
    assert ((graph == 0) == (np.array(expected) == 0)).all()


@pytest.mark.parametrize("symmetry", ["max", "mean", "min"])
@pytest.mark.parametrize("n_neighbors", [1, 5, 59])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_heat_graph_is_its_definition(container, n_neighbors, symmetry):
    X = normal()
    bandwidth = np.median(reference.brute_neighbors(X, n_neighbors)[1])
    expected = reference.neighbor_graph(
        X, n_neighbors, lambda x, y, r: np.exp(-(r**2) / (2 * bandwidth**2)), COMBINE[symmetry]
    )
    graph = neighbor_graph(container(X), n_neighbors, symmetry=symmetry)
    np.testing.assert_allclose(graph.toarray(), expected, rtol=1e-12)


@pytest.mark.parametrize("symmetry", ["max", "mean", "min"])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_cosine_graph_is_its_definition(container, symmetry):
    X = normal()
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    expected = reference.neighbor_graph(unit, 5, lambda x, y, r: max(0.0, x @ y), COMBINE[symmetry])
    graph = neighbor_graph(container(X), 5, weights="cosine", symmetry=symmetry)
    np.testing.assert_allclose(graph.toarray(), expected, rtol=1e-12)


@pytest.mark.parametrize("symmetry", ["max", "mean", "min"])
@pytest.mark.parametrize("weights", ["heat", "binary", "cosine"])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_graphs_are_symmetric_non_negative_and_without_loops(container, weights, symmetry):
    X = np.round(normal(120, 3), 1)
    X[10:20] = X[0]
    X[30] = 0
    X[40] = -X[41]
    graph = neighbor_graph(container(X), 5, weights=weights, symmetry=symmetry)
    assert isinstance(graph, sp.csr_array)
    assert graph.dtype == np.float64
    assert graph.shape == (120, 120)
    assert abs(graph - graph.T).max() == 0
    assert graph.data.min() > 0
    assert graph.data.max() <= 1
    assert not graph.diagonal().any()
    check_affinity(graph, 120)


def test_edges_are_those_of_scikit_learn():
    X = normal()
    expected = kneighbors_graph(X, 4)
    graph = neighbor_graph(X, 4, weights="binary")
    assert abs(graph - expected.maximum(expected.T)).max() == 0


@pytest.mark.parametrize("weights", ["heat", "binary", "cosine"])
@pytest.mark.parametrize("scale", [1000.0, 1e-9, 1e160, 1e-160])
def test_weights_do_not_depend_on_the_unit_of_the_data(weights, scale):
    X = normal()
    expected = neighbor_graph(X, 5, weights=weights).toarray()
    graph = neighbor_graph(scale * X, 5, weights=weights).toarray()
    np.testing.assert_allclose(graph, expected, rtol=1e-12, atol=1e-15)


def test_a_given_bandwidth_is_used():
    graph = neighbor_graph(LINE, 1, bandwidth=2.0).toarray()
    assert graph[0, 1] == pytest.approx(np.exp(-1 / 8))
    assert graph[2, 3] == pytest.approx(np.exp(-16 / 8))


@pytest.mark.parametrize("bandwidth", [0.0, -1.0, np.nan])
def test_impossible_bandwidths_are_refused(bandwidth):
    with pytest.raises(ValueError, match="bandwidth"):
        neighbor_graph(LINE, 1, bandwidth=bandwidth)


def test_equal_samples_have_weight_one():
    graph = neighbor_graph(np.zeros((4, 2)), 2)
    np.testing.assert_array_equal(graph.data, 1)


def test_the_bandwidth_is_the_mean_distance_when_most_neighbours_are_duplicates():
    X = np.array([[0.0]] * 8 + [[2.0]])
    graph = neighbor_graph(X, 1).toarray()
    bandwidth = 2 / 9
    assert graph[0, 1] == 1
    assert graph[0, 8] == pytest.approx(np.exp(-(2.0**2) / (2 * bandwidth**2)))


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_a_zero_row_has_no_angle_and_gets_no_edge(container):
    X = np.vstack([np.zeros(5), np.eye(5) + 0.1])
    graph = neighbor_graph(container(X), 2, weights="cosine").toarray()
    np.testing.assert_array_equal(graph[0], 0)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_a_zero_row_is_not_preferred_to_rows_at_a_wide_angle(container):
    directions = np.array([[1.0, 0.0], [np.cos(1.3), np.sin(1.3)], [0.0, 0.0], [-1.0, 0.1]])
    graph = neighbor_graph(container(directions), 1, weights="cosine").toarray()
    assert graph[0, 1] == pytest.approx(np.cos(1.3))
    assert graph[0, 2] == 0


def test_opposite_rows_get_no_edge():
    X = np.array([[1.0, 2.0], [-1.0, -2.0], [-2.0, -4.0]])
    graph = neighbor_graph(X, 2, weights="cosine").toarray()
    np.testing.assert_allclose(graph, [[0, 0, 0], [0, 0, 1], [0, 1, 0]], atol=1e-15)
    assert graph[0, 1] == graph[0, 2] == 0


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_documents_without_a_common_word_are_not_joined(container, dtype):
    rng = np.random.default_rng(0)
    X = scipy.linalg.block_diag(*[rng.random((4, 7)) for _ in range(3)]).astype(dtype)
    graph = neighbor_graph(container(X), 6, weights="cosine")
    assert n_components(graph) == 3


def test_weights_that_underflow_leave_no_stored_zero():
    X = np.array([[0.0], [1.0], [2.0], [1e4]])
    graph = neighbor_graph(X, 1)
    assert graph.nnz == np.count_nonzero(graph.toarray()) == 4
    assert degrees(graph)[3] == 0


def test_lists_and_other_layouts_are_accepted():
    X = normal(20)
    expected = neighbor_graph(X, 3).toarray()
    for same in (X.tolist(), np.asfortranarray(X), sp.csc_array(X), sp.coo_matrix(X)):
        np.testing.assert_allclose(neighbor_graph(same, 3).toarray(), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": "gauss"}, "weights='gauss'.*'heat'"),
        ({"symmetry": "both"}, "symmetry='both'.*'max'"),
        ({"n_neighbors": 4}, "n_neighbors=4"),
    ],
)
def test_unknown_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        neighbor_graph(LINE, **{"n_neighbors": 1, **options})


@pytest.mark.parametrize("options", [{"weights": "gauss"}, {"symmetry": "both"}, {"bandwidth": 0}])
def test_unknown_options_are_refused_before_the_search(options, monkeypatch):
    monkeypatch.setattr(graphs, "nearest_neighbors", None)
    with pytest.raises(ValueError, match=next(iter(options))):
        neighbor_graph(LINE, 1, **options)


@pytest.mark.parametrize("symmetry", ["max", "mean", "min"])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix, sp.coo_array])
def test_symmetrize_combines_the_two_directions(container, symmetry):
    rng = np.random.default_rng(0)
    W = rng.random((20, 20)) * (rng.random((20, 20)) < 0.3)
    graph = symmetrize(container(W), symmetry)
    np.testing.assert_array_equal(graph.toarray(), COMBINE[symmetry](W, W.T))
    assert isinstance(graph, sp.csr_array)
    assert graph.nnz == np.count_nonzero(graph.data)


def test_symmetrize_makes_a_directed_graph_acceptable():
    directed = kneighbors_graph(normal(), 3, mode="distance")
    with pytest.raises(ValueError, match="symmetrize"):
        check_affinity(directed, 60)
    check_affinity(symmetrize(directed), 60)


@pytest.mark.parametrize("weights", ["heat", "binary"])
def test_known_neighbors_make_the_same_graph(weights):
    X = np.random.default_rng(0).standard_normal((40, 6))
    known = neighbor_graph(X, neighbors=nearest_neighbors(X, 4), weights=weights)
    assert abs(known - neighbor_graph(X, 4, weights=weights)).max() == 0


def test_euclidean_neighbors_are_refused_for_cosine_weights():
    X = np.random.default_rng(0).standard_normal((40, 6))
    with pytest.raises(ValueError, match="leave out neighbors"):
        neighbor_graph(X, neighbors=nearest_neighbors(X, 4), weights="cosine")


# --- precomputed graphs ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "container", [np.asarray, list, sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array]
)
def test_symmetric_graphs_of_any_layout_are_accepted(container):
    graph = check_affinity(container(PATH), 3)
    assert isinstance(graph, sp.csr_array)
    np.testing.assert_array_equal(graph.toarray(), PATH)


def test_integer_graphs_become_floats():
    assert check_affinity(PATH.astype(np.int64), 3).dtype == np.float64


@pytest.mark.parametrize(
    ("affinity", "message"),
    [
        (PATH[:2, :2], r"shape \(2, 2\).*3 samples"),
        (PATH[:2], r"shape \(2, 3\)"),
        (PATH[0], r"shape \(3,\)"),
        (np.where(PATH == 1, np.nan, PATH), "NaN"),
        (np.where(PATH == 1, np.inf, PATH), "NaN or infinity"),
        (-PATH, "negative"),
        (np.triu(PATH), "not symmetric.*symmetrize"),
        (PATH + 1e-6 * np.triu(PATH), "not symmetric"),
        (np.zeros((3, 3)), "no edge"),
        (sp.csr_array((3, 3)), "no edge"),
        ("nearest", "not str.*neighbor_graph"),
        ([[1, 2], [3]], "not list"),
        (np.array([["a", "b"]] * 2), "numbers"),
    ],
)
def test_unusable_graphs_are_refused_with_the_reason(affinity, message):
    with pytest.raises(ValueError, match=message):
        check_affinity(affinity, 3)


def test_asymmetry_by_rounding_is_forgiven():
    check_affinity(PATH * (1 + 1e-14 * np.triu(np.ones((3, 3)))), 3)


def test_checking_removes_stored_zeros_and_leaves_the_graph_of_the_caller_alone():
    graph = stored_zeros()
    assert graph.nnz == 6
    before = graph.data.copy(), graph.indices.copy(), graph.indptr.copy()
    for part in (graph.data, graph.indices, graph.indptr):
        part.flags.writeable = False
    assert check_affinity(graph, 4).nnz == 4
    for part, old in zip((graph.data, graph.indices, graph.indptr), before, strict=True):
        np.testing.assert_array_equal(part, old)


# --- real data ------------------------------------------------------------------------------------


def test_the_heat_graph_of_real_images_is_its_definition(benchmark_set):
    X = benchmark_set("ORL")[0]
    graph = neighbor_graph(X, 5).toarray()
    distances = squareform(pdist(X))
    np.fill_diagonal(distances, np.inf)
    nearest = np.sort(distances, axis=1)[:, :5]
    chosen = distances <= nearest[:, -1:]
    expected = np.exp(-(distances**2) / (2 * np.median(nearest) ** 2)) * (chosen | chosen.T)
    np.testing.assert_allclose(graph, expected, rtol=1e-9)
