"""What many partitions of a graph have in common."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from references.tables import planted_groups

from tamis.clustering import communities, consensus, partitions
from tamis.graphs import neighbor_graph
from tamis.metrics import adjusted_rand_index
from tamis.utils.ties import content_ranks


def graph_and_order(X):
    return neighbor_graph(X, 5), np.argsort(content_ranks(X))


def overlapping(seed=0, n_samples=90):
    """Three groups that run into each other, so that partitions differ."""
    rng = np.random.default_rng(seed)
    centres = 2.5 * rng.standard_normal((3, 4))
    return centres[np.arange(n_samples) % 3] + rng.standard_normal((n_samples, 4))


def test_planted_groups_are_in_every_partition_and_in_the_consensus():
    X, groups = planted_groups()
    graph, order = graph_and_order(X[:, :6])
    found = partitions(graph, 3, order=order)
    assert {labels.max() + 1 for labels in found} == {3}
    labels = consensus(graph, found, order=order)
    assert adjusted_rand_index(groups, labels) == 1


def test_partitions_are_finer_at_higher_resolutions():
    graph, order = graph_and_order(overlapping())
    sizes = [labels.max() + 1 for labels in partitions(graph, order=order)]
    assert len(sizes) == 15
    coarse, medium, fine = (np.mean(sizes[start : start + 5]) for start in (0, 5, 10))
    assert coarse <= medium <= fine
    assert coarse < fine


@pytest.mark.parametrize("number", [2, 4])
def test_partitions_and_consensus_have_the_number_asked_for(number):
    graph, order = graph_and_order(overlapping())
    found = partitions(graph, number, order=order)
    sizes = [labels.max() + 1 for labels in found]
    assert max(sizes) == number
    assert np.median(sizes) == number
    assert consensus(graph, found, number, order=order).max() + 1 == number


def test_the_consensus_is_of_the_graph_weighted_by_agreement():
    graph, order = graph_and_order(overlapping())
    found = partitions(graph, order=order)
    shares = np.mean([labels[:, None] == labels for labels in found], axis=0)
    weighted = sp.csr_array(graph.toarray() * shares)
    expected = communities(weighted, resolution=0.5, order=order)
    np.testing.assert_array_equal(consensus(graph, found, order=order), expected)


@pytest.mark.parametrize("n_clusters", [None, 3])
def test_the_order_of_the_samples_plays_no_part(n_clusters):
    X = overlapping()
    shuffled = np.random.default_rng(1).permutation(len(X))
    (graph, order), (other, other_order) = graph_and_order(X), graph_and_order(X[shuffled])
    first = partitions(graph, n_clusters, order=order)
    second = partitions(other, n_clusters, order=other_order)
    for one, two in zip(first, second, strict=True):
        np.testing.assert_array_equal(one[shuffled], two)


def test_the_consensus_changes_less_with_noise_than_one_partition():
    singles, agreed = [], []
    for seed in range(8):
        X = overlapping(seed, 240)
        both = (X, X + 0.01 * np.random.default_rng(seed).standard_normal(X.shape))
        graphs = [graph_and_order(one) for one in both]
        single = [communities(graph, order=order) for graph, order in graphs]
        several = [
            consensus(graph, partitions(graph, order=order), order=order) for graph, order in graphs
        ]
        singles.append(adjusted_rand_index(*single))
        agreed.append(adjusted_rand_index(*several))
    assert np.mean(agreed) > np.mean(singles)


def test_a_graph_without_edges_has_every_sample_by_itself():
    empty = sp.csr_array((4, 4))
    found = partitions(empty, order=np.arange(4))
    np.testing.assert_array_equal(consensus(empty, found, order=np.arange(4)), np.arange(4))
