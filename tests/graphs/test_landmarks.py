"""Landmarks and their graph against W = ZΛ⁻¹Zᵀ formed densely."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from references import graphs as reference_graphs
from references import landmarks as reference
from scipy.spatial.distance import cdist

from tamis.graphs import (
    LandmarkGraph,
    Landmarks,
    choose_landmarks,
    degrees,
    dirichlet_energies,
    feature_roughness,
    landmark_embedding,
    laplacian,
    n_components,
    spectral_embedding,
)


def blobs(n_samples=240, n_features=6, seed=0):
    rng = np.random.default_rng(seed)
    centres = 3 * rng.standard_normal((4, n_features))
    return centres[rng.integers(4, size=n_samples)] + rng.standard_normal((n_samples, n_features))


def projector(Y):
    return Y @ np.linalg.pinv(Y)


@pytest.fixture(scope="module", name="X")
def table():
    return blobs()


@pytest.fixture(scope="module")
def landmarks(X):
    return choose_landmarks(X, 30, n_nearest=3)


@pytest.fixture(scope="module")
def graph(X, landmarks):
    return LandmarkGraph.from_landmarks(X, landmarks)


def test_ties_are_those_of_the_definition(X, landmarks):
    expected = reference.ties(X, landmarks.centres, 3, landmarks.bandwidth)
    np.testing.assert_allclose(landmarks.tie(X).toarray(), expected, atol=1e-5)


def test_ties_of_a_row_depend_on_nothing_else(X, landmarks):
    whole = landmarks.tie(X).toarray()
    parts = [landmarks.tie(X[start : start + 7]).toarray() for start in range(0, len(X), 7)]
    np.testing.assert_allclose(np.vstack(parts), whole, atol=1e-6)


def test_bandwidth_is_the_median_distance_to_the_farthest_tie(X, landmarks):
    squared = ((X[:, None] - landmarks.centres) ** 2).sum(axis=2)
    third = np.sqrt(np.sort(squared, axis=1)[:, 2])  # K-means saw all rows
    assert landmarks.bandwidth == pytest.approx(np.median(third), rel=1e-5)


def test_landmarks_are_means_of_their_rows(X, monkeypatch):
    monkeypatch.setattr("tamis.graphs._landmarks.MOST_STEPS", 100)  # until no row moves
    landmarks = choose_landmarks(X, 12, n_nearest=1)  # K-means saw all rows
    nearest = ((X[:, None] - landmarks.centres) ** 2).sum(axis=2).argmin(axis=1)
    means = np.array([X[nearest == j].mean(axis=0) for j in range(12)])
    np.testing.assert_allclose(landmarks.centres, means)


def test_order_of_rows_plays_no_part(X):
    order = np.random.default_rng(1).permutation(len(X))
    straight, shuffled = (choose_landmarks(T, 20) for T in (X, X[order]))
    np.testing.assert_allclose(shuffled.centres, straight.centres, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        shuffled.tie(X[order]).toarray(), straight.tie(X).toarray()[order], atol=1e-6
    )


def test_sparse_and_dense_agree():
    X = blobs() * (np.random.default_rng(2).random((240, 6)) < 0.4)
    dense, sparse = choose_landmarks(X, 25), choose_landmarks(sp.csr_array(X), 25)
    np.testing.assert_allclose(sparse.centres, dense.centres, atol=1e-10)
    np.testing.assert_allclose(
        sparse.tie(sp.csr_array(X)).toarray(), dense.tie(X).toarray(), atol=1e-5
    )


def test_float32_agrees_with_float64(X, landmarks):
    single = landmarks.tie(X.astype(np.float32))
    assert single.dtype == np.float64
    np.testing.assert_allclose(single.toarray(), landmarks.tie(X).toarray(), atol=1e-5)


def test_close_landmarks_far_from_each_other_are_told_apart():
    # Two tight groups a million of their widths apart: single precision sees two points.
    rng = np.random.default_rng(3)
    X = 1e-3 * rng.standard_normal((100, 3)) + np.repeat([[0.0], [1e3]], 50, axis=0)
    landmarks = choose_landmarks(X, 20, n_nearest=2)
    expected = reference.ties(X, landmarks.centres, 2, landmarks.bandwidth)
    np.testing.assert_allclose(landmarks.tie(X).toarray(), expected, atol=1e-4)


def test_scale_and_offset_change_no_tie(X):
    straight = choose_landmarks(X, 20)
    moved = choose_landmarks(1e-30 * (X + 4), 20)
    np.testing.assert_allclose(
        moved.tie(1e-30 * (X + 4)).toarray(), straight.tie(X).toarray(), atol=1e-5
    )


def test_fewer_distinct_rows_than_landmarks():
    X = np.repeat([[0.0, 0.0], [1.0, 0.0], [0.0, 5.0]], 10, axis=0)
    landmarks = choose_landmarks(X, 12)
    assert landmarks.n_landmarks == landmarks.n_nearest == 3
    ties = landmarks.tie(X)
    np.testing.assert_allclose(ties.sum(axis=1), 1)
    assert (ties.toarray().argmax(axis=1).reshape(3, 10).std(axis=1) == 0).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_landmarks": 1000}, "n_landmarks=1000 is out of range for 240 samples"),
        ({"n_nearest": 0}, "n_nearest=0 must be at least 1"),
    ],
)
def test_refusals(X, arguments, message):
    with pytest.raises(ValueError, match=message):
        choose_landmarks(X, **arguments)


def test_rows_of_another_table_are_refused(X, landmarks):
    with pytest.raises(ValueError, match="the landmarks have 6 columns"):
        landmarks.tie(X[:, :3])


# --- the graph ------------------------------------------------------------------------------------


def test_products_are_those_of_the_dense_matrix(graph, X):
    W = reference.affinity(graph.ties.toarray())
    np.testing.assert_allclose(W.sum(axis=1), 1)
    np.testing.assert_allclose(graph @ X, W @ X, atol=1e-12)
    np.testing.assert_allclose(graph.laplacian_times(X[:, 0]), X[:, 0] - W @ X[:, 0], atol=1e-12)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array, np.float32])
def test_energies_are_those_of_the_dense_matrix(graph, X, convert):
    W = reference.affinity(graph.ties.toarray())
    expected = [reference_graphs.dirichlet_energy(W, f) for f in X.T]
    tolerance = 1e-5 if convert is np.float32 else 1e-10
    np.testing.assert_allclose(dirichlet_energies(graph, convert(X)), expected, rtol=tolerance)


def test_a_large_offset_leaves_the_energies(graph, X):
    np.testing.assert_allclose(
        dirichlet_energies(graph, X + 1e6), dirichlet_energies(graph, X), rtol=1e-6
    )


def test_embedding_is_that_of_the_dense_matrix(graph):
    W = reference.affinity(graph.ties.toarray())
    n_samples = len(W)
    values, vectors = np.linalg.eigh(np.eye(n_samples) - W + 3 * np.ones(W.shape) / n_samples)
    found, Y = spectral_embedding(graph, 5)
    np.testing.assert_allclose(found, values[:5], atol=1e-10)
    np.testing.assert_allclose(Y.T @ Y, np.eye(5), atol=1e-10)
    np.testing.assert_allclose(projector(Y), projector(vectors[:, :5]), atol=1e-8)


def test_embedding_needs_the_gram_matrix_of_the_ties_only(graph, X):
    Z = graph.ties
    values, B = landmark_embedding((Z.T @ Z).toarray(), graph.mass, 4)
    expected_values, Y = spectral_embedding(graph, 4)
    np.testing.assert_allclose(values, expected_values, atol=1e-12)
    np.testing.assert_allclose((X.T @ Z) @ B, X.T @ Y, atol=1e-9)


def test_landmarks_without_a_tie_play_no_part(graph):
    Z = sp.hstack([graph.ties, sp.csr_array((graph.shape[0], 2))], format="csr")
    assert LandmarkGraph.of(Z).n_landmarks == graph.n_landmarks
    values, B = landmark_embedding(Z.T @ Z, Z.sum(axis=0), 3)
    assert (B[-2:] == 0).all()
    np.testing.assert_allclose(values, spectral_embedding(graph, 3)[0], atol=1e-12)


def test_parts_without_a_common_landmark_are_told_apart():
    Z = sp.csr_array(np.kron(np.eye(3), np.array([[0.5, 0.5], [0.2, 0.8]])))
    values, Y = spectral_embedding(LandmarkGraph.of(Z), 2)
    np.testing.assert_allclose(values, 0, atol=1e-12)
    parts = Y.reshape(3, 2, 2)
    np.testing.assert_allclose(parts[:, 0], parts[:, 1])
    assert np.linalg.matrix_rank(parts[:, 0], tol=1e-6) == 2


def test_more_vectors_than_the_landmarks_give_are_refused():
    Z = sp.csr_array(np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]))
    with pytest.raises(ValueError, match="take more landmarks"):
        spectral_embedding(LandmarkGraph.of(Z), 2)


def test_memory_grows_with_the_rows_not_with_their_square():
    from references.memory import with_peak_memory

    X = blobs(4000)
    landmarks = Landmarks(X[:200].copy(), 3, 1.0)
    _, peak = with_peak_memory(
        lambda: spectral_embedding(LandmarkGraph.from_landmarks(X, landmarks), 3)
    )
    assert peak < 24e6  # the matrix of 4000 × 4000 has 128 MB


def test_functions_of_graphs_take_it(graph, X):
    W = reference.affinity(graph.ties.toarray())
    np.testing.assert_allclose(degrees(graph), W.sum(axis=1))
    for centre in (True, False):
        expected = [reference_graphs.roughness(W, f, centre) for f in X.T]
        found = feature_roughness(graph, X, centre=centre)
        np.testing.assert_allclose(found, expected, rtol=1e-9)
    with pytest.raises(TypeError, match="use its laplacian_times"):
        laplacian(graph)


def test_components_are_those_of_the_samples():
    Z = sp.csr_array(np.kron(np.eye(3), np.array([[0.5, 0.5], [0.2, 0.8]])))
    assert n_components(LandmarkGraph.of(Z)) == 3


def test_distances_are_those_in_the_components_that_decide_them():
    """What is left out of a squared distance is a small share of the squared bandwidth."""
    rng = np.random.default_rng(0)
    latent = rng.standard_normal((4000, 5)) @ rng.standard_normal((5, 60))
    X = latent + 0.2 * rng.standard_normal((4000, 60)) + 100
    landmarks = choose_landmarks(X, 600)
    axes = landmarks._search.axes
    assert axes is not None
    assert axes.shape[1] < 20
    weights = landmarks.tie(X).toarray()
    squared = cdist(X, landmarks.centres, "sqeuclidean")
    chosen = np.argsort(-weights, axis=1)[:, : landmarks.n_nearest]
    found = np.take_along_axis(squared, chosen, axis=1)
    nearest = np.sort(squared, axis=1)[:, : landmarks.n_nearest]
    assert np.sqrt(np.mean((found - nearest) ** 2)) <= 0.02 * landmarks.bandwidth**2
    assert np.mean(np.isclose(found, nearest)) > 0.9
    exact = np.exp(-(nearest - nearest[:, :1]) / (2 * landmarks.bandwidth**2))
    exact /= exact.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(-np.sort(-weights, axis=1)[:, :5], exact, atol=0.02)


def test_all_columns_are_used_where_the_landmarks_fill_them():
    X = np.random.default_rng(0).standard_normal((4000, 8))
    assert choose_landmarks(X, 600)._search.axes is None
    assert choose_landmarks(X @ np.ones((8, 40)), 100)._search.axes is None  # few landmarks
