"""Graphs: hand-worked cases, definitions written out densely, and disconnected graphs."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from references import graphs as reference
from references.memory import with_peak_memory
from scipy.spatial.distance import pdist, squareform
from sklearn.manifold._locally_linear import barycenter_weights
from sklearn.neighbors import kneighbors_graph

from tamis import graphs
from tamis.graphs import (
    check_affinity,
    degrees,
    dirichlet_energies,
    feature_roughness,
    laplacian,
    laplacian_eigenvectors,
    lle_laplacian,
    lle_weights,
    local_gram,
    local_sets,
    n_components,
    nearest_neighbors,
    neighbor_graph,
    normalized_laplacian,
    spectral_embedding,
    symmetrize,
)

COMBINE = {
    "max": np.maximum,
    "min": np.minimum,
    "mean": lambda forward, backward: (forward + backward) / 2,
}
LINE = np.array([[0.0], [1.0], [3.0], [7.0]])


def normal(n_samples=60, n_features=4, seed=0):
    return np.random.default_rng(seed).standard_normal((n_samples, n_features))


def random_graph(n_samples, seed=0, density=0.1):
    """A dense, connected, weighted graph: a ring and random chords."""
    rng = np.random.default_rng(seed)
    W = np.triu(rng.random((n_samples, n_samples)) * (rng.random((n_samples,) * 2) < density), 1)
    if n_samples > 1:
        ring = np.arange(n_samples)
        W[ring[:-1], ring[1:]] += 0.5 + rng.random(n_samples - 1)
    return W + W.T


def components(*sizes, seed=0):
    """A graph of connected parts of these sizes, its samples shuffled; size 1: no edge."""
    blocks = [random_graph(size, seed + i) for i, size in enumerate(sizes)]
    order = np.random.default_rng(seed).permutation(sum(sizes))
    return scipy.linalg.block_diag(*blocks)[np.ix_(order, order)]


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


# --- precomputed graphs ---------------------------------------------------------------------------

PATH = np.array([[0.0, 2.0, 0.0], [2.0, 0.0, 1.0], [0.0, 1.0, 0.0]])


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


def stored_zeros():
    """Two edges, 0–1 and 2–3, and a stored zero between 1 and 2."""
    rows, columns = [0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]
    return sp.csr_array(([1.0, 1.0, 0.0, 0.0, 1.0, 1.0], (rows, columns)), shape=(4, 4))


def test_checking_removes_stored_zeros_and_leaves_the_graph_of_the_caller_alone():
    graph = stored_zeros()
    assert graph.nnz == 6
    before = graph.data.copy(), graph.indices.copy(), graph.indptr.copy()
    for part in (graph.data, graph.indices, graph.indptr):
        part.flags.writeable = False
    assert check_affinity(graph, 4).nnz == 4
    for part, old in zip((graph.data, graph.indices, graph.indptr), before, strict=True):
        np.testing.assert_array_equal(part, old)


# --- Laplacians -----------------------------------------------------------------------------------


def test_laplacian_by_hand():
    graph = sp.csr_array(PATH)
    np.testing.assert_array_equal(degrees(graph), [2, 3, 1])
    np.testing.assert_array_equal(laplacian(graph).toarray(), [[2, -2, 0], [-2, 3, -1], [0, -1, 1]])
    a, b = 2 / np.sqrt(6), 1 / np.sqrt(3)
    np.testing.assert_allclose(
        normalized_laplacian(graph).toarray(), [[1, -a, 0], [-a, 1, -b], [0, -b, 1]], rtol=1e-15
    )


@given(st.lists(st.integers(1, 8), min_size=1, max_size=5), st.booleans(), st.integers(0, 999))
@settings(max_examples=50, deadline=None)
def test_laplacians_of_any_graph_have_their_properties(sizes, loops, seed):
    W = components(*sizes, seed=seed)
    if loops:
        W = W + np.diag(np.random.default_rng(seed).random(len(W)).round())
    graph = sp.csr_array(W)
    L = laplacian(graph).toarray()
    normalized = normalized_laplacian(graph).toarray()
    np.testing.assert_allclose(L, reference.laplacian(W), atol=1e-14)
    np.testing.assert_allclose(normalized, reference.normalized_laplacian(W), atol=1e-14)
    np.testing.assert_allclose(L.sum(axis=1), 0, atol=1e-13)
    assert np.linalg.eigvalsh(L).min() > -1e-12
    values = np.linalg.eigvalsh(normalized)
    assert values.min() > -1e-12
    assert values.max() < 2 + 1e-12
    assert n_components(graph) == len(np.unique(reference.component_labels(W)))
    assert n_components(graph) == len(sizes) == (np.abs(values) < 1e-10).sum()


def test_rows_of_samples_without_an_edge_are_zero():
    graph = sp.csr_array(scipy.linalg.block_diag(PATH, np.zeros((2, 2))))
    for matrix in (laplacian(graph), normalized_laplacian(graph)):
        np.testing.assert_array_equal(matrix.toarray()[3:], 0)
        np.testing.assert_array_equal(matrix.toarray()[:, 3:], 0)


def test_the_old_sparse_matrices_give_the_same_laplacians():
    array, matrix = sp.csr_array(PATH), sp.csr_matrix(PATH)
    np.testing.assert_array_equal(degrees(array), degrees(matrix))
    for function in (laplacian, normalized_laplacian):
        np.testing.assert_array_equal(function(array).toarray(), function(matrix).toarray())


def test_stored_zeros_do_not_join_components():
    assert n_components(stored_zeros()) == 2


# --- Dirichlet energies and roughness -------------------------------------------------------------

CONTAINERS = [np.asarray, sp.csr_array, sp.csr_matrix]


def test_energies_by_hand():
    # Edges 0–1 of weight 2 and 1–2 of weight 1.
    X = np.array([[1.0, 0.0, 5.0], [2.0, 0.0, 5.0], [5.0, 3.0, 5.0]])
    np.testing.assert_array_equal(dirichlet_energies(sp.csr_array(PATH), X), [2 + 9, 9, 0])


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_energies_are_their_definition(container, dtype):
    W = components(20, 15, 1)
    X = normal(36, 5)
    X = np.where(normal(36, 5, seed=1) > 0, X, 0).astype(dtype)
    energies = dirichlet_energies(sp.csr_array(W), container(X))
    wide = X.astype(np.float64)
    np.testing.assert_allclose(
        energies, [reference.dirichlet_energy(W, f) for f in wide.T], rtol=1e-13
    )
    np.testing.assert_allclose(
        energies, np.diag(wide.T @ reference.laplacian(W) @ wide), rtol=1e-11
    )


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int64, bool])
def test_energies_of_integers_do_not_overflow(container, dtype):
    W = random_graph(30)
    X = np.random.default_rng(0).integers(0, 256, (30, 4)).astype(dtype)
    energies = dirichlet_energies(sp.csr_array(W), container(X))
    np.testing.assert_allclose(
        energies, [reference.dirichlet_energy(W, f) for f in X.astype(np.float64).T], rtol=1e-13
    )


@pytest.mark.parametrize("container", CONTAINERS)
def test_an_offset_does_not_blur_the_energies(container):
    graph = neighbor_graph(normal(), 5)
    f = np.round(normal(60, 3, seed=1) * 2**20) / 2**20  # f + 2**20 rounds nothing
    expected = dirichlet_energies(graph, f)
    np.testing.assert_allclose(dirichlet_energies(graph, container(f + 2**20)), expected, rtol=1e-9)
    L = laplacian(graph)
    naive = np.diag((f + 2**20).T @ (L @ (f + 2**20)))
    assert np.abs(naive / expected - 1).max() > 1e-9


def test_energies_in_many_blocks_are_the_same(monkeypatch):
    graph, X = neighbor_graph(normal(), 5), normal(60, 7, seed=1)
    expected = dirichlet_energies(graph, X)
    monkeypatch.setattr("tamis.columns.BLOCK_SIZE", 10)
    np.testing.assert_allclose(dirichlet_energies(graph, X), expected, rtol=1e-13)
    np.testing.assert_allclose(dirichlet_energies(graph, sp.csr_array(X)), expected, rtol=1e-13)


def test_one_long_row_does_not_multiply_the_memory_of_the_energies():
    # A star whose centre is the long row: it takes part in every edge.
    n_samples, n_features = 600, 20_000
    star = sp.lil_array((n_samples, n_samples))
    star[0, 1:] = star[1:, 0] = 1.0
    X = sp.lil_array((n_samples, n_features))
    X[0] = 1.0
    X[1:, 5] = 3.0
    energies, peak = with_peak_memory(dirichlet_energies, sp.csr_array(star), sp.csr_array(X))
    expected = np.full(n_features, n_samples - 1.0)
    expected[5] *= 4
    np.testing.assert_allclose(energies, expected)
    assert peak < 50e6 < 8 * n_samples * n_features


def test_loops_have_no_energy():
    X = normal(3, 2)
    without = dirichlet_energies(sp.csr_array(PATH), X)
    np.testing.assert_array_equal(dirichlet_energies(sp.csr_array(PATH + np.eye(3)), X), without)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("centre", [True, False])
@pytest.mark.parametrize("loops", [0.0, 0.7])
def test_roughness_is_its_definition(container, centre, loops):
    W = components(18, 11, 1) + loops * np.eye(30)
    X = 1 + np.where(normal(30, 6, seed=2) > -0.5, normal(30, 6), -1)
    roughness = feature_roughness(sp.csr_array(W), container(X), centre=centre)
    np.testing.assert_allclose(
        roughness, [reference.roughness(W, f, centre) for f in X.T], rtol=1e-11
    )


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_an_offset_does_not_change_the_centred_roughness(container):
    graph = neighbor_graph(normal(), 5)
    f = np.round(normal(60, 3, seed=1) * 2**20) / 2**20
    expected = feature_roughness(graph, f, centre=True)
    shifted = feature_roughness(graph, container(f + 2**20), centre=True)
    np.testing.assert_allclose(shifted, expected, rtol=1e-9)


def test_roughness_is_largest_for_an_alternating_column():
    # A ring of even length: neighbours of opposite sign reach the upper bound 2.
    ring = sp.csr_array(np.roll(np.eye(8), 1, axis=1) + np.roll(np.eye(8), -1, axis=1))
    f = np.where(np.arange(8) % 2, 1.0, -1.0)[:, None]
    assert feature_roughness(ring, f, centre=True) == pytest.approx(2)
    assert feature_roughness(ring, np.ones((8, 1)), centre=False) == 0


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3, -1e6 / 7])
def test_a_constant_column_is_the_roughest_once_centred(container, value):
    graph = neighbor_graph(normal(), 5)
    X = np.column_stack([np.full(60, value), normal(60, 1)])
    assert feature_roughness(graph, container(X), centre=True)[0] == 2


def long_ring(n_samples):
    ends = np.arange(n_samples)
    return symmetrize(sp.csr_array((np.ones(n_samples), (ends, np.roll(ends, 1)))))


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e6 / 7])
def test_a_constant_column_of_many_samples_is_the_roughest_once_centred(container, value):
    # The rounding errors of the sum of equal numbers add up.
    X = np.full((20_000, 1), value)
    assert feature_roughness(long_ring(20_000), container(X), centre=True) == 2


def test_a_column_of_many_samples_that_hardly_varies_is_not_constant():
    f = 1 + 1e-12 * normal(20_000, 1)
    roughness = feature_roughness(long_ring(20_000), f, centre=True)
    np.testing.assert_allclose(
        roughness, feature_roughness(long_ring(20_000), f - 1, centre=True), rtol=1e-3
    )


def test_a_column_that_varies_only_at_samples_without_an_edge_is_the_roughest():
    graph = sp.csr_array(components(30, 1, seed=3))
    alone = np.flatnonzero(degrees(graph) == 0)
    f = np.full((31, 1), 0.1)
    f[alone] = 5
    assert feature_roughness(graph, f, centre=True) == 2


def test_a_column_that_tells_components_apart_has_no_roughness():
    W = components(12, 7)
    f = 0.1 + 1e-9 * (reference.component_labels(W) == 1)[:, None]
    assert feature_roughness(sp.csr_array(W), f, centre=True) == 0


# --- locally linear embedding ---------------------------------------------------------------------


@pytest.mark.parametrize("n_features", [2, 12])
@pytest.mark.parametrize("n_neighbors", [1, 5, 9])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_lle_weights_are_those_of_scikit_learn(container, n_neighbors, n_features):
    X = normal(50, n_features)
    indices = reference.brute_neighbors(X, n_neighbors)[0]
    expected = np.zeros((50, 50))
    np.put_along_axis(expected, indices, barycenter_weights(X, X, indices, reg=1e-3), axis=1)
    weights = lle_weights(container(X), n_neighbors)
    np.testing.assert_allclose(weights.toarray(), expected, atol=1e-9)
    np.testing.assert_allclose(expected, reference.lle_weights(X, indices, 1e-3), atol=1e-9)


@pytest.mark.parametrize("reg", [1e-6, 1e-3, 10.0])
def test_lle_weights_sum_to_one_and_sparse_equals_dense(reg):
    X = np.where(normal(80, 6, seed=1) > 0, normal(80, 6), 0)
    dense = lle_weights(X, 4, reg=reg)
    np.testing.assert_allclose(dense.sum(axis=1), 1, rtol=1e-12)
    sparse = lle_weights(sp.csr_array(X), 4, reg=reg)
    np.testing.assert_allclose(sparse.toarray(), dense.toarray(), atol=1e-8)
    expected = reference.lle_weights(X, nearest_neighbors(X, 4).indices, reg)
    np.testing.assert_allclose(dense.toarray(), expected, atol=1e-8)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_lle_weights_of_duplicates_are_equal(container):
    X = np.repeat(normal(3, 4), 5, axis=0)
    weights = lle_weights(container(X), 4).toarray()
    np.testing.assert_allclose(weights, np.kron(np.eye(3), (np.ones((5, 5)) - np.eye(5)) / 4))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.float32])
def test_lle_weights_of_narrow_numbers_are_those_of_double_precision(dtype):
    X = np.random.default_rng(0).integers(0, 100, (40, 5)).astype(dtype)
    expected = lle_weights(X.astype(np.float64), 4).toarray()
    for container in (np.asarray, sp.csr_array):
        np.testing.assert_allclose(lle_weights(container(X), 4).toarray(), expected, atol=1e-9)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_lle_weights_rebuild_points_of_a_line_and_move_with_the_data(container):
    line = np.outer(np.arange(1.0, 9.0), [1.0, 2.0])
    weights = lle_weights(container(line), 2, reg=1e-12)
    np.testing.assert_allclose((weights @ line)[1:-1], line[1:-1], atol=1e-6)
    moved = lle_weights(container(line + 1e4), 2, reg=1e-12)
    np.testing.assert_allclose(moved.toarray(), weights.toarray(), atol=1e-6)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_local_gram_matrices_are_their_definition(container):
    X = normal(30, 5)
    centres = np.array([3, 20])
    indices = np.array([[1, 2, 29], [4, 3, 0]])
    grams = local_gram(container(X), centres, indices)
    for gram, centre, others in zip(grams, centres, indices, strict=True):
        differences = X[others] - X[centre]
        np.testing.assert_allclose(gram, differences @ differences.T, atol=1e-13)


def test_local_sets_group_the_samples_by_their_number_of_neighbours():
    # 0–1, 1–2, a loop at 2, a stored zero between 0 and 3, and 4 alone.
    rows, columns = [0, 1, 1, 2, 2, 0, 3], [1, 0, 2, 1, 2, 3, 0]
    values = [1.0, 1.0, 2.0, 2.0, 1.0, 0.0, 0.0]
    graph = sp.csr_array((values, (rows, columns)), shape=(5, 5))
    sets = {indices.shape[1]: (centres, indices) for centres, indices in local_sets(graph)}
    assert set(sets) == {1, 2}
    np.testing.assert_array_equal(sets[1][0], [0, 2])
    np.testing.assert_array_equal(sets[1][1], [[1], [1]])
    np.testing.assert_array_equal(sets[2][0], [1])
    np.testing.assert_array_equal(np.sort(sets[2][1]), [[0, 2]])


def test_known_neighbours_are_used(monkeypatch):
    X = normal()
    neighbors = nearest_neighbors(X, 3)
    expected = lle_weights(X, 3).toarray()
    monkeypatch.setattr(graphs, "nearest_neighbors", None)
    np.testing.assert_array_equal(lle_weights(X, 7, neighbors=neighbors).toarray(), expected)


def test_lle_weights_in_many_blocks_are_the_same(monkeypatch):
    X = normal()
    expected = lle_weights(X, 4).toarray()
    monkeypatch.setattr("tamis.columns.BLOCK_SIZE", 50)
    for container in (np.asarray, sp.csr_array):
        np.testing.assert_allclose(lle_weights(container(X), 4).toarray(), expected, atol=1e-9)


# --- eigenvectors ---------------------------------------------------------------------------------


@pytest.fixture(params=["dense", "lanczos"])
def solver(request, monkeypatch):
    """Each eigensolver, forced: the other one is not there."""
    if request.param == "dense":
        monkeypatch.setattr(graphs, "DENSE_EIGEN_MAX", 10**9)
        monkeypatch.setattr(graphs, "eigsh", None)
    else:
        monkeypatch.setattr(graphs, "DENSE_EIGEN_MAX", 0)
        monkeypatch.setattr(scipy.linalg, "eigh", None)


def assert_smooth_eigenpairs(W, n_vectors, drop_constant, values, vectors, atol=1e-10):
    """They are the smallest eigenpairs of the normalised Laplacian, in an orthonormal basis."""
    expected_values, projector = reference.smooth_eigenpairs(W, n_vectors, drop_constant)
    degree = W.sum(axis=1)
    assert vectors.shape == (len(W), n_vectors)
    np.testing.assert_allclose(values, expected_values, atol=atol)
    assert (np.diff(values) > -1e-10).all()
    assert (values >= 0).all()
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(n_vectors), atol=1e-10)
    residual = reference.normalized_laplacian(W) @ vectors - vectors * values
    assert np.abs(residual).max() < atol
    np.testing.assert_array_equal(vectors[degree == 0], 0)
    largest = np.abs(vectors).argmax(axis=0)
    assert (vectors[largest, np.arange(n_vectors)] > 0).all()
    if drop_constant:
        np.testing.assert_allclose(vectors.T @ np.sqrt(degree), 0, atol=1e-9)
    return projector


DISCONNECTED = {
    "one component": (60,),
    "two equal components": (40, 40),
    "two unequal components": (60, 25),
    "three components": (30, 40, 20),
    "ten components": (12,) * 5 + (15,) * 5,
    "samples without an edge": (40, 1, 30, 1, 1),
    "pairs among larger ones": (40, 2, 30, 2),
}


@pytest.mark.parametrize("drop_constant", [True, False])
@pytest.mark.parametrize("sizes", DISCONNECTED.values(), ids=DISCONNECTED.keys())
def test_eigenvectors_are_those_of_the_dense_laplacian(solver, sizes, drop_constant):
    W = components(*sizes)
    n_vectors = sum(size > 1 for size in sizes) + 4
    values, vectors = laplacian_eigenvectors(
        sp.csr_array(W), n_vectors, drop_constant=drop_constant
    )
    projector = assert_smooth_eigenpairs(W, n_vectors, drop_constant, values, vectors)
    np.testing.assert_allclose(vectors @ vectors.T, projector, atol=1e-7)


@pytest.mark.parametrize("drop_constant", [True, False])
@pytest.mark.parametrize("sizes", DISCONNECTED.values(), ids=DISCONNECTED.keys())
def test_the_embedding_solves_the_generalised_problem(solver, sizes, drop_constant):
    W = components(*sizes, seed=5)
    n_vectors = sum(size > 1 for size in sizes) + 3
    values, Y = spectral_embedding(sp.csr_array(W), n_vectors, drop_constant=drop_constant)
    D = np.diag(W.sum(axis=1))
    np.testing.assert_allclose(Y.T @ D @ Y, np.eye(n_vectors), atol=1e-9)
    np.testing.assert_allclose(reference.laplacian(W) @ Y, D @ Y * values, atol=1e-9)
    np.testing.assert_array_equal(Y[W.sum(axis=1) == 0], 0)
    expected, _ = reference.smooth_eigenpairs(W, n_vectors, drop_constant)
    np.testing.assert_allclose(values, expected, atol=1e-10)
    if drop_constant:
        np.testing.assert_allclose(Y.T @ W.sum(axis=1), 0, atol=1e-9)


@pytest.mark.parametrize("drop_constant", [True, False])
def test_all_eigenvectors_can_be_asked_for(drop_constant):
    W = components(12, 7, 1, 5)
    n_vectors = 24 - drop_constant
    values, vectors = laplacian_eigenvectors(
        sp.csr_array(W), n_vectors, drop_constant=drop_constant
    )
    projector = assert_smooth_eigenpairs(W, n_vectors, drop_constant, values, vectors)
    np.testing.assert_allclose(vectors @ vectors.T, projector, atol=1e-9)


@pytest.mark.parametrize("n_vectors", [0, -1, 24, 25, 60])
@pytest.mark.parametrize("find", [laplacian_eigenvectors, spectral_embedding])
def test_more_eigenvectors_than_there_are_is_refused(find, n_vectors):
    graph = sp.csr_array(components(12, 7, 1, 5))
    message = f"^{n_vectors} eigenvectors .* has 23 .*24 samples have an edge"
    with pytest.raises(ValueError, match=message):
        find(graph, n_vectors)


def test_the_constant_vector_counts_when_it_is_kept():
    graph = sp.csr_array(components(12, 7, 1, 5))
    assert laplacian_eigenvectors(graph, 24, drop_constant=False)[1].shape == (25, 24)
    with pytest.raises(ValueError, match=r"^25 eigenvectors .* has 24"):
        laplacian_eigenvectors(graph, 25, drop_constant=False)


@pytest.mark.parametrize("n_vectors", [1, 2, 9])
def test_with_more_components_than_vectors_each_vector_is_constant_on_each_component(n_vectors):
    W = components(*range(2, 13))
    labels = reference.component_labels(W)
    values, Y = spectral_embedding(sp.csr_array(W), n_vectors)
    np.testing.assert_array_equal(values, 0)
    for label in np.unique(labels):
        np.testing.assert_allclose(np.ptp(Y[labels == label], axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(Y.T @ W.sum(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(Y.T @ np.diag(W.sum(axis=1)) @ Y, np.eye(n_vectors), atol=1e-12)


def test_contrasts_set_each_component_against_all_larger_ones():
    W = components(4, 9, 6)
    sizes = np.bincount(reference.component_labels(W))[reference.component_labels(W)]
    degree = W.sum(axis=1)
    _, Y = spectral_embedding(sp.csr_array(W), 2)
    large, middle, small = (sizes == size for size in (9, 6, 4))
    # Two sides of weight a and b: −√(b/(a(a + b))) and √(a/(b(a + b))).
    a, b, c = degree[large].sum(), degree[middle].sum(), degree[small].sum()
    first = np.select([large, middle], [-np.sqrt(b / (a * (a + b))), np.sqrt(a / (b * (a + b)))])
    a = a + b
    second = np.where(small, np.sqrt(a / (c * (a + c))), -np.sqrt(c / (a * (a + c))))
    for found, expected in ((Y[:, 0], first), (Y[:, 1], second)):
        sign = np.sign(found @ (degree * expected))
        np.testing.assert_allclose(found * sign, expected, atol=1e-14)


def test_equal_components_are_taken_in_the_order_of_their_first_sample():
    W = scipy.linalg.block_diag(*[PATH] * 3)
    _, Y = spectral_embedding(sp.csr_array(W), 1)
    assert (Y[:6] != 0).all()
    np.testing.assert_array_equal(Y[6:], 0)


def test_the_constant_vector_comes_first_when_kept():
    W = components(20, 30)
    degree = W.sum(axis=1)
    values, vectors = laplacian_eigenvectors(sp.csr_array(W), 3, drop_constant=False)
    np.testing.assert_allclose(vectors[:, 0], np.sqrt(degree / degree.sum()), rtol=1e-12)
    kept = laplacian_eigenvectors(sp.csr_array(W), 2)
    np.testing.assert_allclose(values[1:], kept[0], atol=1e-12)
    np.testing.assert_allclose(np.abs(vectors[:, 1:]), np.abs(kept[1]), atol=1e-9)


def test_eigenvectors_of_a_path_by_hand():
    # A–B–C of weight one: eigenvalues 0, 1, 2 of the normalised Laplacian.
    path = sp.csr_array(np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    values, vectors = laplacian_eigenvectors(path, 2)
    np.testing.assert_allclose(values, [1, 2], atol=1e-14)
    half = np.sqrt(0.5)
    np.testing.assert_allclose(np.abs(vectors), [[half, 0.5], [0, half], [half, 0.5]], atol=1e-14)


@pytest.mark.parametrize("sizes", [(60,), (35, 25), (30, 1, 25)])
def test_loops_count_in_the_degrees_only(solver, sizes):
    W = components(*sizes)
    W = W + np.diag(np.random.default_rng(0).random(len(W)))
    n_vectors = 6
    values, vectors = laplacian_eigenvectors(sp.csr_array(W), n_vectors)
    projector = assert_smooth_eigenpairs(W, n_vectors, True, values, vectors)
    np.testing.assert_allclose(vectors @ vectors.T, projector, atol=1e-8)


def ring(n_samples):
    return np.roll(np.eye(n_samples), 1, axis=1) + np.roll(np.eye(n_samples), -1, axis=1)


@pytest.mark.parametrize("n_copies", [2, 3, 10])
@pytest.mark.parametrize("n_vectors", [1, 4, 5, 10])
def test_identical_components_have_all_copies_of_their_eigenvalues(solver, n_copies, n_vectors):
    W = np.kron(np.eye(n_copies), random_graph(40))
    n_vectors += n_copies
    values, vectors = laplacian_eigenvectors(sp.csr_array(W), n_vectors)
    assert_smooth_eigenpairs(W, n_vectors, True, values, vectors)


@pytest.mark.parametrize("side", [15, 21])
@pytest.mark.parametrize("n_vectors", [4, 8, 20])
def test_a_symmetric_graph_has_all_copies_of_its_eigenvalues(solver, side, n_vectors):
    torus = np.kron(ring(side), np.eye(side)) + np.kron(np.eye(side), ring(side))
    values, vectors = laplacian_eigenvectors(sp.csr_array(torus), n_vectors)
    one = 1 - np.cos(2 * np.pi * np.arange(side) / side)
    expected = np.sort(np.add.outer(one, one).ravel() / 2)[1 : n_vectors + 1]
    np.testing.assert_allclose(values, expected, atol=1e-10)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(n_vectors), atol=1e-10)
    assert (
        np.abs(normalized_laplacian(sp.csr_array(torus)) @ vectors - vectors * values).max() < 1e-10
    )


def test_eigenvectors_are_reproducible(solver):
    graph = sp.csr_array(components(70, 40))
    first, second = (laplacian_eigenvectors(graph, 6) for _ in range(2))
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_array_equal(first[1], second[1])


def test_both_solvers_agree_on_a_neighbour_graph(monkeypatch):
    graph = neighbor_graph(normal(300, 2), 6)
    results = []
    for limit in (10**9, 0):
        monkeypatch.setattr(graphs, "DENSE_EIGEN_MAX", limit)
        results.append(laplacian_eigenvectors(graph, 8))
    np.testing.assert_allclose(results[0][0], results[1][0], atol=1e-10)
    np.testing.assert_allclose(np.abs(results[0][1]), np.abs(results[1][1]), atol=1e-7)


def test_weights_of_very_different_size_are_no_obstacle(solver):
    W = components(40, 30)
    scale = np.where(reference.component_labels(W) == 0, 1e-12, 1e6)
    W = W * np.sqrt(np.outer(scale, scale))
    values, vectors = laplacian_eigenvectors(sp.csr_array(W), 5)
    assert_smooth_eigenpairs(W, 5, True, values, vectors)


@pytest.mark.parametrize("weight", [1e-300, 1e-30, 1e-10])
def test_parts_joined_by_a_negligible_edge_are_components(solver, weight):
    W = scipy.linalg.block_diag(random_graph(40), random_graph(30, seed=1))
    W[0, 69] = W[69, 0] = weight
    values, vectors = laplacian_eigenvectors(sp.csr_array(W), 6)
    assert values[0] == 0
    assert values[1] > 1e-6
    np.testing.assert_allclose(np.ptp(vectors[:40, 0] / np.sqrt(W[:40].sum(axis=1))), 0, atol=1e-12)
    assert_smooth_eigenpairs(W, 6, True, values, vectors, atol=2 * weight + 1e-10)


def test_an_edge_that_is_small_but_not_negligible_joins_its_parts(solver):
    W = scipy.linalg.block_diag(random_graph(40), random_graph(30, seed=1))
    W[0, 69] = W[69, 0] = 1e-5
    values, vectors = laplacian_eigenvectors(sp.csr_array(W), 6)
    assert 1e-9 < values[0] < 1e-5
    assert_smooth_eigenpairs(W, 6, True, values, vectors)


def test_the_old_sparse_matrices_have_the_same_eigenvectors():
    W = components(30, 20)
    expected = laplacian_eigenvectors(sp.csr_array(W), 4)
    found = laplacian_eigenvectors(sp.csr_matrix(W), 4)
    np.testing.assert_allclose(found[0], expected[0], atol=1e-14)
    np.testing.assert_allclose(found[1], expected[1], atol=1e-12)


# --- real data ------------------------------------------------------------------------------------


def test_the_graph_of_real_images_is_disconnected_and_embedded_all_the_same(benchmark_set):
    X, _ = benchmark_set("COIL20")
    graph = neighbor_graph(X, 5)
    degree = degrees(graph)
    n_parts = n_components(graph)
    assert n_parts > 2
    values, Y = spectral_embedding(graph, n_parts + 4)
    assert (values[: n_parts - 1] == 0).all()
    assert (values[n_parts - 1 :] > 1e-8).all()
    np.testing.assert_allclose(Y.T @ (degree[:, None] * Y), np.eye(n_parts + 4), atol=1e-9)
    np.testing.assert_allclose(degree @ Y, 0, atol=1e-8)
    np.testing.assert_allclose(laplacian(graph) @ Y, degree[:, None] * Y * values, atol=1e-8)
    dense = np.linalg.eigvalsh(normalized_laplacian(graph).toarray())
    np.testing.assert_allclose(values, dense[1 : n_parts + 5], atol=1e-9)


def test_the_heat_graph_of_real_images_is_its_definition(benchmark_set):
    X = benchmark_set("ORL")[0]
    graph = neighbor_graph(X, 5).toarray()
    distances = squareform(pdist(X))
    np.fill_diagonal(distances, np.inf)
    nearest = np.sort(distances, axis=1)[:, :5]
    chosen = distances <= nearest[:, -1:]
    expected = np.exp(-(distances**2) / (2 * np.median(nearest) ** 2)) * (chosen | chosen.T)
    np.testing.assert_allclose(graph, expected, rtol=1e-9)


@pytest.mark.parametrize("weights", ["heat", "binary"])
def test_known_neighbors_make_the_same_graph(weights):
    X = np.random.default_rng(0).standard_normal((40, 6))
    known = neighbor_graph(X, neighbors=nearest_neighbors(X, 4), weights=weights)
    assert abs(known - neighbor_graph(X, 4, weights=weights)).max() == 0


def test_euclidean_neighbors_are_refused_for_cosine_weights():
    X = np.random.default_rng(0).standard_normal((40, 6))
    with pytest.raises(ValueError, match="leave out neighbors"):
        neighbor_graph(X, neighbors=nearest_neighbors(X, 4), weights="cosine")


def test_the_laplacian_of_reconstruction_is_that_of_its_weights():
    X = np.random.default_rng(0).standard_normal((40, 6))
    neighbors = nearest_neighbors(X, 4)
    remainder = np.eye(40) - lle_weights(X, reg=0.01, neighbors=neighbors).toarray()
    L = lle_laplacian(X, neighbors, 0.01)
    np.testing.assert_allclose(L.toarray(), remainder.T @ remainder, atol=1e-12)
    np.testing.assert_allclose(L.sum(axis=1), 0, atol=1e-10)


@pytest.mark.parametrize("columns", [1, 2])
def test_thin_graphs_on_which_lanczos_does_not_converge(columns):
    """A long chain, and a ribbon: eigenvalues crowd next to zero."""
    n_samples = 2000
    rng = np.random.default_rng(0)
    X = np.linspace(0, 1, n_samples)[:, None] + 1e-5 * rng.standard_normal((n_samples, 1))
    if columns == 2:
        X = np.hstack([X, 1e-3 * rng.random((n_samples, 1))])
    affinity = neighbor_graph(X, 3, weights="binary")
    assert n_components(affinity) == 1
    values, vectors = laplacian_eigenvectors(affinity, 6)
    L = normalized_laplacian(affinity)
    expected = scipy.linalg.eigh(L.toarray(), eigvals_only=True, subset_by_index=(1, 6))
    np.testing.assert_allclose(values, expected, rtol=1e-6, atol=1e-13)
    np.testing.assert_allclose(L @ vectors, vectors * values, atol=1e-10)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(6), atol=1e-10)
