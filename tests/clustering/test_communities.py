"""Communities of a graph: by the definition of modularity, and for a given number."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from tamis.clustering import communities, modularity
from tamis.clustering._communities import _joined
from tamis.graphs import neighbor_graph


def random_graph(n_samples, seed, density=0.4):
    rng = np.random.default_rng(seed)
    W = rng.random((n_samples, n_samples)) * (rng.random((n_samples, n_samples)) < density)
    W = np.triu(W, 1)
    return sp.csr_array(W + W.T)


def cliques(sizes):
    """Full graphs that one weak edge joins to the next."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    W = (group[:, None] == group).astype(float) - np.eye(len(group))
    ends = np.cumsum(sizes)[:-1]
    W[ends - 1, ends] = W[ends, ends - 1] = 0.1
    return sp.csr_array(W), group


def modularity_by_pairs(graph, labels):
    """The definition: over all pairs of samples of one group."""
    W = graph.toarray()
    degree, total = W.sum(axis=1), W.sum()
    same = labels[:, None] == labels
    return ((W - np.outer(degree, degree) / total) * same).sum() / total


@given(st.integers(2, 12), st.integers(1, 4), st.integers(0, 1000))
def test_modularity_is_its_definition(n_samples, n_groups, seed):
    graph = random_graph(n_samples, seed)
    labels = np.random.default_rng(seed).integers(n_groups, size=n_samples)
    if graph.nnz == 0:
        assert modularity(graph, labels) == 0
    else:
        expected = modularity_by_pairs(graph, labels)
        np.testing.assert_allclose(modularity(graph, labels), expected, atol=1e-12)


def test_cliques_are_communities_the_largest_first():
    graph, group = cliques([4, 6, 5])
    np.testing.assert_array_equal(communities(graph), np.array([2, 0, 1])[group])


def test_of_equal_communities_the_one_that_begins_first_comes_first():
    graph, group = cliques([4, 4, 4])
    np.testing.assert_array_equal(communities(graph), group)
    backwards = np.arange(12)[::-1]
    np.testing.assert_array_equal(communities(graph, order=backwards), 2 - group)


@pytest.mark.parametrize("n_clusters", range(1, 13))
def test_there_are_as_many_as_asked_for(n_clusters):
    X = np.random.default_rng(0).standard_normal((60, 3))
    found = communities(neighbor_graph(X, 5), n_clusters)
    np.testing.assert_array_equal(np.unique(found), np.arange(n_clusters))
    assert (np.diff(np.bincount(found)) <= 0).all()


def test_there_can_be_as_many_as_samples_and_no_more():
    graph = random_graph(8, 0)
    assert communities(graph, 8).max() == 7
    assert communities(graph, 20).max() == 7


def test_a_number_that_fits_finds_the_groups_themselves():
    graph, group = cliques([7, 6, 5, 4])
    np.testing.assert_array_equal(communities(graph, 4), group)


@pytest.mark.parametrize("seed", range(5))
def test_the_pair_is_joined_that_loses_the_least_modularity(seed):
    graph = random_graph(15, seed)
    labels = np.arange(15) % 5
    joined = _joined(sp.csr_matrix(graph), labels, 4)
    unions = [np.where(labels == b, a, labels) for a, b in combinations(range(5), 2)]
    best = max(modularity_by_pairs(graph, union) for union in unions)
    np.testing.assert_array_equal(np.unique(joined), np.arange(4))
    np.testing.assert_allclose(modularity(graph, joined), best, rtol=1e-12)


@pytest.mark.parametrize("n_clusters", [None, 4])
def test_an_order_that_follows_the_samples_makes_rows_play_no_part(n_clusters):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((50, 2))
    order = np.argsort(X[:, 0])
    shuffled = rng.permutation(50)
    expected = communities(neighbor_graph(X, 5), n_clusters, order=order)
    found = communities(
        neighbor_graph(X[shuffled], 5), n_clusters, order=np.argsort(X[shuffled, 0])
    )
    np.testing.assert_array_equal(found, expected[shuffled])


def test_the_graph_is_left_as_it_is():
    graph = random_graph(20, 0)
    before = graph.copy()
    communities(graph, 3)
    assert (graph != before).nnz == 0
    assert graph.indices.dtype == before.indices.dtype


def test_a_graph_without_edges_has_a_community_per_sample():
    empty = sp.csr_array((4, 4))
    np.testing.assert_array_equal(np.sort(communities(empty)), np.arange(4))
    np.testing.assert_array_equal(communities(empty, 4), np.arange(4))
    assert communities(empty, 2).max() == 1


# --- landmarks ------------------------------------------------------------------------------------


def test_communities_of_a_landmark_graph_reach_all_samples():
    rng = np.random.default_rng(0)
    group = rng.integers(3, size=300)
    X = 10 * np.eye(3)[group] + rng.standard_normal((300, 3))
    graph = neighbor_graph(X, 3, method="landmarks", n_landmarks=30)
    labels = communities(graph, 3)
    sizes = np.bincount(labels)
    assert (np.diff(sizes) <= 0).all()
    table = np.zeros((3, 3))
    np.add.at(table, (group, labels), 1)
    assert (table > 0).sum() == 3  # each group is one community
    order = rng.permutation(300)
    np.testing.assert_array_equal(communities(graph, 3, order=order), labels)
