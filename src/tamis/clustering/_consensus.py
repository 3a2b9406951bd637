"""Many partitions of one graph, and what they have in common."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from tamis._typing import IntArray, SparseMatrix
from tamis.clustering._communities import communities, resolution_for

# How finely the graph is parted, as multiples of the resolution that gives the groups.
FREE = (0.7, 1.0, 1.4)
OF_NUMBER = (1.0, 1.4, 2.0)
# Orders in which the samples are visited, at each resolution, unless told otherwise.
N_ORDERS = 5
# Edges within groups that the partitions agree on weigh more than chance has it, so that the
# consensus is sought at a lower resolution than the partitions.
CONSENSUS_RESOLUTION = 0.5


def partitions(
    affinity: SparseMatrix,
    n_clusters: int | None = None,
    *,
    n_orders: int = N_ORDERS,
    order: IntArray,
) -> list[IntArray]:
    """Partitions of a graph by the method of Louvain, at three resolutions, in some orders each.

    One partition is a local maximum of modularity among many that are nearly as high, and which of
    them is found depends on the order of the samples and on the last digits of the weights. What
    all have in common does not.

    Parameters
    ----------
    affinity : csr_array of shape (n_samples, n_samples)
        Symmetric and non-negative.
    n_clusters : int or None, default=None
        How many groups: of finer partitions groups are joined until they are so many. A partition
        in another order may have fewer.
    n_orders : int, default=5
        Orders in which the samples are visited, at each resolution.
    order : ndarray of shape (n_samples,)
        The samples in an order that their values decide; the other orders are drawn from it, with
        a fixed seed.

    Returns
    -------
    list of ndarray of shape (n_samples,)
        By resolution, the coarsest first.

    Notes
    -----
    O(nnz) per pass, a few passes per partition; with `n_clusters` a dozen searches more.
    """
    rng = np.random.default_rng(0)
    centre, factors = 1.0, FREE
    if n_clusters is not None:
        centre, factors = resolution_for(affinity, n_clusters, order=order), OF_NUMBER
    found = []
    for factor in factors:
        for i in range(n_orders):
            visited = order if i == 0 else order[rng.permutation(len(order))]
            found.append(
                communities(affinity, n_clusters, resolution=factor * centre, order=visited)
            )
    return found


def consensus(
    affinity: SparseMatrix,
    parts: Sequence[IntArray],
    n_clusters: int | None = None,
    *,
    order: IntArray,
) -> IntArray:
    """The groups that many partitions of a graph agree on.

    Every edge is weighted by the share of the partitions that have both its ends in one group, and
    the communities of that graph are taken (Lancichinetti and Fortunato). It has no edges that the
    graph has not, so that it is as sparse.

    Parameters
    ----------
    affinity : csr_array of shape (n_samples, n_samples)
    parts : sequence of ndarray of shape (n_samples,)
        Partitions of the samples.
    n_clusters : int or None, default=None
        How many groups.
    order : ndarray of shape (n_samples,)
        See :func:`communities`.

    Notes
    -----
    O(nnz·partitions).

    References
    ----------
    A. Lancichinetti, S. Fortunato. Consensus clustering in complex networks. Scientific Reports 2,
    2012.
    """
    edges = sp.coo_array(affinity)
    left, right = edges.coords
    together = np.zeros(len(edges.data))
    for labels in parts:
        together += labels[left] == labels[right]
    weights = edges.data * together / len(parts)
    graph = sp.csr_array((weights, (left, right)), shape=edges.shape)
    graph.eliminate_zeros()
    if n_clusters is None:
        return communities(graph, resolution=CONSENSUS_RESOLUTION, order=order)
    return communities(graph, n_clusters, order=order)
