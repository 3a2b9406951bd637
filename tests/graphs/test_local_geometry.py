"""Local geometry: scikit-learn's weights, definitions written out, and neighbours known before."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from references import graphs as reference
from references.example_graphs import normal
from sklearn.manifold._locally_linear import barycenter_weights

from tamis.graphs import lle_laplacian, lle_weights, local_gram, local_sets, nearest_neighbors


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
    monkeypatch.setattr("tamis.graphs._local_geometry.nearest_neighbors", None)
    np.testing.assert_array_equal(lle_weights(X, 7, neighbors=neighbors).toarray(), expected)


def test_lle_weights_in_many_blocks_are_the_same(monkeypatch):
    X = normal()
    expected = lle_weights(X, 4).toarray()
    monkeypatch.setattr("tamis.utils.blocks.BLOCK_SIZE", 50)
    for container in (np.asarray, sp.csr_array):
        np.testing.assert_allclose(lle_weights(container(X), 4).toarray(), expected, atol=1e-9)


def test_the_laplacian_of_reconstruction_is_that_of_its_weights():
    X = np.random.default_rng(0).standard_normal((40, 6))
    neighbors = nearest_neighbors(X, 4)
    remainder = np.eye(40) - lle_weights(X, reg=0.01, neighbors=neighbors).toarray()
    L = lle_laplacian(X, neighbors, 0.01)
    np.testing.assert_allclose(L.toarray(), remainder.T @ remainder, atol=1e-12)
    np.testing.assert_allclose(L.sum(axis=1), 0, atol=1e-10)
