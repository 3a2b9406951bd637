"""Laplacians, Dirichlet energies and roughness: by hand and as their dense definitions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from references import graphs as reference
from references.example_graphs import PATH, components, normal, random_graph, stored_zeros
from references.memory import with_peak_memory

from tamis.graphs import (
    degrees,
    dirichlet_energies,
    feature_roughness,
    laplacian,
    n_components,
    neighbor_graph,
    normalized_laplacian,
    symmetrize,
)

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
    monkeypatch.setattr("tamis.utils.blocks.BLOCK_SIZE", 10)
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
