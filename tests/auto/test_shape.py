"""The graph that three views agree on, and its groups."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from references.tables import planted_groups

from tamis.auto._scales import scaled_table
from tamis.auto._shape import is_star, mean_graph, shape_of
from tamis.metrics import adjusted_rand_index
from tamis.utils.ties import content_ranks


def shape(X, n_clusters=None):
    return shape_of(scaled_table(X, "standard"), n_clusters, np.argsort(content_ranks(X)))


def star(n_samples, n_leaves):
    edges = np.zeros((n_samples, n_samples))
    edges[0, 1 : n_leaves + 1] = edges[1 : n_leaves + 1, 0] = 1
    return sp.csr_array(edges)


@pytest.mark.parametrize("n_clusters", [None, 3])
def test_planted_groups_are_found(n_clusters):
    X, groups = planted_groups()
    found = shape(X, n_clusters)
    assert found.n_groups == 3
    assert adjusted_rand_index(groups, found.labels) == 1


def test_the_number_of_groups_can_be_given():
    X, _ = planted_groups()
    assert [shape(X, number).n_groups for number in (1, 2, 5)] == [1, 2, 5]


@pytest.mark.parametrize("n_samples", [2, 3, 5, 7])
@pytest.mark.parametrize("n_features", [1, 2, 8])
def test_tiny_tables_have_a_shape(n_samples, n_features):
    X = np.random.default_rng(0).standard_normal((n_samples, n_features))
    found = shape(X)
    assert found.labels.shape == (n_samples,)
    assert found.graph.shape == (n_samples, n_samples)
    np.testing.assert_allclose(found.graph.toarray(), found.graph.toarray().T, atol=1e-12)


def test_sparse_and_dense_tables_have_one_shape():
    X, _ = planted_groups()
    X = np.where(X > 1, X, 0)
    dense, sparse = shape(X), shape(sp.csr_array(X))
    np.testing.assert_array_equal(dense.labels, sparse.labels)


@pytest.mark.parametrize(
    ("n_samples", "n_leaves", "expected"),
    [(100, 50, False), (100, 51, True), (400, 80, False), (400, 81, True), (40, 39, False)],
)
def test_a_star_is_a_sample_that_is_everybodys_neighbour(n_samples, n_leaves, expected):
    assert is_star(star(n_samples, n_leaves)) is expected


def test_the_mean_of_normalised_graphs_is_its_formula():
    rng = np.random.default_rng(0)
    graphs = []
    for _ in range(3):
        W = np.triu(rng.random((6, 6)), 1)
        W[:, 5] = 0  # a sample without neighbours
        graphs.append(W + W.T)
    expected = 0
    for W in graphs:
        root = np.sqrt(np.where(W.sum(axis=1) > 0, W.sum(axis=1), 1))
        expected = expected + W / np.outer(root, root) / 3
    found = mean_graph([sp.csr_array(W) for W in graphs]).toarray()
    np.testing.assert_allclose(found, expected, atol=1e-15)


def test_a_view_that_is_a_star_does_not_vote():
    """One sample in the middle of many that lie far from each other."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 500))
    X[0] = 0
    found = shape(X)
    assert "columns" in found.stars
    assert not is_star(found.graph)
