"""Eigenvectors of Laplacians: the dense ones, by either solver, of disconnected graphs too."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from references import graphs as reference
from references.example_graphs import PATH, components, normal, random_graph

from tamis.graphs import (
    _spectral,
    degrees,
    laplacian,
    laplacian_eigenvectors,
    n_components,
    neighbor_graph,
    normalized_laplacian,
    spectral_embedding,
)


@pytest.fixture(params=["dense", "lanczos"])
def solver(request, monkeypatch):
    """Each eigensolver, forced: the other one is not there."""
    if request.param == "dense":
        monkeypatch.setattr(_spectral, "DENSE_EIGEN_MAX", 10**9)
        monkeypatch.setattr(_spectral, "eigsh", None)
    else:
        monkeypatch.setattr(_spectral, "DENSE_EIGEN_MAX", 0)
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
        monkeypatch.setattr(_spectral, "DENSE_EIGEN_MAX", limit)
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


@pytest.mark.slow
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
