"""Learned graphs: projections on the simplex, candidates, and vectors that cut."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from references.tables import three_levels as table

from tamis.graphs import (
    WEIGHT_SMOOTHING,
    CandidateEdges,
    affine_weights,
    laplacian,
    nearest_neighbors,
    neighbor_graph,
    simplex_weights,
    smallest_cut_vectors,
)
from tamis.graphs import _spectral as spectral


@pytest.mark.parametrize("size", [0.01, 1.0, 100.0])
def test_the_projection_on_the_simplex_has_the_optimality_of_one(size):
    points = size * np.random.default_rng(0).standard_normal((40, 9))
    found = simplex_weights(points)
    assert found.min() >= 0
    np.testing.assert_allclose(found.sum(axis=1), 1)
    slack = found - points  # constant where positive, larger elsewhere
    lowest = slack.min(axis=1)
    np.testing.assert_allclose(
        np.where(found > 0, slack - lowest[:, None], 0), 0, atol=1e-10 * size
    )


def test_equal_points_share():
    np.testing.assert_allclose(simplex_weights(np.full((2, 4), 7.0)), 0.25)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_candidates_are_the_neighbours_at_their_distances(form):
    X = table(30, 6)
    edges = CandidateEdges(nearest_neighbors(X, 6), 30)
    (indices,) = [indices for _, indices in edges.sets]
    (found,) = edges.squared_distances(form(X))
    expected = ((X[:, None] - X[indices]) ** 2).sum(axis=2)
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_the_ridge_keeps_as_many_neighbours_as_asked_for():
    X = np.random.default_rng(0).standard_normal((200, 3))
    edges = CandidateEdges(nearest_neighbors(X, 15), 200)
    costs = edges.squared_distances(X)
    for wanted in (2, 5, 8):
        weights = edges.weights(costs, edges.ridge_for(costs, wanted))
        assert (weights[0] > 0).sum(axis=1).mean() == pytest.approx(wanted, abs=2.5)
    graph = edges.graph(weights)
    assert graph.sum() == pytest.approx(200)
    assert abs(graph - graph.T).max() < 1e-15


def test_a_graph_gives_candidates_of_different_numbers():
    graph = neighbor_graph(table(30, 6), 4)
    edges = CandidateEdges(graph, 30)
    assert len(edges.sets) > 1
    costs = edges.squared_distances(table(30, 6))
    learned = edges.graph(edges.weights(costs, edges.ridge_for(costs, 3)))
    assert abs(learned[abs(graph).toarray() == 0]).sum() == 0
    np.testing.assert_allclose(learned.sum(), 30)


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("n_vectors", [2, 5])
def test_cut_vectors_are_the_smallest_of_the_laplacian(monkeypatch, n_vectors, dense):
    if not dense:
        monkeypatch.setattr(spectral, "DENSE_EIGEN_MAX", 0)
    graph = neighbor_graph(np.random.default_rng(0).standard_normal((60, 2)), 6)
    L = laplacian(graph).toarray()
    found = smallest_cut_vectors(graph, n_vectors)
    np.testing.assert_allclose(found.T @ found, np.eye(n_vectors), atol=1e-8)
    expected = scipy.linalg.eigvalsh(L)[:n_vectors].sum()
    assert np.trace(found.T @ L @ found) == pytest.approx(expected, abs=1e-8)


def test_all_components_are_told_even_if_fewer_are_asked_for():
    blocks = sp.block_diag([np.ones((5, 5)) - np.eye(5)] * 4, format="csr")
    found = smallest_cut_vectors(sp.csr_array(blocks), 2)
    assert found.shape == (20, 4)
    np.testing.assert_allclose(laplacian(sp.csr_array(blocks)) @ found, 0, atol=1e-12)


@pytest.mark.parametrize("penalty", [1e-3, 0.1, 10.0])
def test_affine_weights_end_at_the_optimum(penalty):
    rng = np.random.default_rng(0)
    roots = rng.standard_normal((5, 3, 8))
    grams = np.swapaxes(roots, 1, 2) @ roots
    start = np.full((5, 8), 1 / 8)

    def values(weights):
        fits = np.einsum("mi,mij,mj->m", weights, grams, weights)
        return fits + penalty * np.sqrt(weights**2 + WEIGHT_SMOOTHING).sum(axis=1)

    path = [values(affine_weights(grams, start, penalty, n)) for n in (0, 1, 2, 5, 50, 500)]
    assert (np.diff(path, axis=0) <= 1e-12).all()
    found = affine_weights(grams, start, penalty, 500)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    # Along no direction that keeps the sum does the value fall.
    for _ in range(200):
        step = rng.standard_normal(found.shape)
        step -= step.mean(axis=1, keepdims=True)
        for size in (1e-4, 1e-2):
            assert (values(found + size * step) >= path[-1] - 1e-5 * penalty - 1e-7).all()
