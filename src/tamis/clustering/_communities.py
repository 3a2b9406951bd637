"""Communities of a graph: groups that have more edges inside than chance would give them."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sknetwork.clustering import Louvain

from tamis._typing import FloatArray, IntArray, SparseMatrix
from tamis.graphs import Graph, LandmarkGraph

# Gains of modularity below this end the search.
GAIN = 1e-6
# Halvings of the interval in which the resolution is sought, in powers of two from 2⁻⁶ to 2¹⁰.
HALVINGS = 12
LOWEST, HIGHEST = -6.0, 10.0


def communities(
    affinity: Graph,
    n_clusters: int | None = None,
    *,
    resolution: float | None = None,
    order: IntArray | None = None,
) -> IntArray:
    """Communities by the method of Louvain, which climbs the modularity of the partition.

    Parameters
    ----------
    affinity : csr_array of shape (n_samples, n_samples) or LandmarkGraph
        Symmetric and non-negative. Of a landmark graph the landmarks are grouped, by the samples
        that they share, and each sample joins the group that has most of its ties.
    n_clusters : int or None, default=None
        How many communities. None lets modularity decide. A number is reached from a resolution
        that gives at least as many, after which those whose union costs the least modularity are
        joined; there are fewer where the graph, or the given resolution, has fewer.
    resolution : float or None, default=None
        How much the edges count that chance would give: the larger, the more communities. None
        takes 1 or, with `n_clusters`, what :func:`resolution_for` finds.
    order : ndarray of shape (n_samples,) or None, default=None
        The order in which the samples are visited, on which the result depends a little: one that
        the values of the samples decide makes it free of the order of the rows. None takes them
        as they come.

    Returns
    -------
    ndarray of shape (n_samples,)
        From 0, without gaps; the largest community first, equal ones by their first sample in
        `order`.

    Notes
    -----
    O(nnz) per pass, and a few passes; a dozen searches with `n_clusters` and no resolution.

    References
    ----------
    V. D. Blondel, J.-L. Guillaume, R. Lambiotte, E. Lefebvre. Fast unfolding of communities in
    large networks. Journal of Statistical Mechanics, 2008.
    """
    if order is None:
        order = np.arange(affinity.shape[0])
    if isinstance(affinity, LandmarkGraph):
        labels = _of_landmarks(affinity, n_clusters, resolution)
        labels[order] = _largest_first(labels[order])
        return labels
    graph = _in_order(affinity, order)
    if resolution is None:
        resolution = 1.0 if n_clusters is None else _resolution_for(graph, n_clusters)
    found = _louvain(graph, resolution)
    if n_clusters is not None:
        found = _joined(graph, found, n_clusters)
    labels = np.empty(len(order), dtype=np.intp)
    labels[order] = _largest_first(found)
    return labels


def _of_landmarks(
    graph: LandmarkGraph, n_clusters: int | None, resolution: float | None
) -> IntArray:
    """The community of each sample, from those of its landmarks. O(n·n_nearest·n_communities)."""
    groups = communities(graph.tie_gram, n_clusters, resolution=resolution)
    members = sp.csr_array((np.ones(len(groups)), groups, np.arange(len(groups) + 1)))
    shares = (graph.ties @ members).toarray()
    # Equal shares differ by rounding, which must not decide.
    most = shares.max(axis=1, keepdims=True)
    return (shares >= most * (1 - 1e-9)).argmax(axis=1)


def resolution_for(affinity: SparseMatrix, n_clusters: int, *, order: IntArray) -> float:
    """The lowest resolution, of a dozen halvings, that gives at least so many communities."""
    return _resolution_for(_in_order(affinity, order), n_clusters)


def modularity(affinity: SparseMatrix, labels: IntArray) -> float:
    """How many more edges lie within the groups than by chance, in [−½, 1]. O(nnz).

    Chance keeps the degree of every sample.
    """
    inside, degree = _between_groups(affinity, labels)
    total = degree.sum()
    if total == 0:
        return 0.0
    return float(inside.diagonal().sum() / total - ((degree / total) ** 2).sum())


def _louvain(graph: sp.csr_matrix, resolution: float) -> IntArray:
    if graph.nnz == 0:  # without edges every sample is by itself
        return np.arange(graph.shape[0])
    model = Louvain(
        resolution=resolution,
        tol_optimization=GAIN,
        tol_aggregation=GAIN,
        shuffle_nodes=False,
        return_probs=False,
        return_aggregate=False,
        random_state=0,
    )
    return np.unique(model.fit_predict(graph), return_inverse=True)[1].astype(np.intp)


def _resolution_for(graph: sp.csr_matrix, n_clusters: int) -> float:
    lower, upper = LOWEST, HIGHEST
    for _ in range(HALVINGS):
        middle = (lower + upper) / 2
        n_found = _louvain(graph, 2.0**middle).max() + 1
        if n_found >= n_clusters:
            upper = middle
            if n_found == n_clusters:
                break
        else:
            lower = middle
    return 2.0**upper


def _joined(graph: sp.csr_matrix, labels: IntArray, n_clusters: int) -> IntArray:
    """Groups joined in pairs, those first whose union costs the least modularity."""
    edges, degree = _between_groups(graph, labels)
    total = degree.sum() or 1.0
    place = np.arange(len(degree))
    while len(degree) > n_clusters:
        gain = edges / total - np.outer(degree, degree) / total**2
        np.fill_diagonal(gain, -np.inf)
        first, second = sorted(np.unravel_index(gain.argmax(), gain.shape))
        edges[first] += edges[second]
        edges[:, first] += edges[:, second]
        edges = np.delete(np.delete(edges, second, axis=0), second, axis=1)
        degree[first] += degree[second]
        degree = np.delete(degree, second)
        place[place == second] = first
        place[place > second] -= 1
    return place[labels]


def _between_groups(affinity: SparseMatrix, labels: IntArray) -> tuple[FloatArray, FloatArray]:
    """The weight of the edges between each two groups, and of all edges of each. O(nnz)."""
    n_samples = len(labels)
    members = sp.csr_array((np.ones(n_samples), labels, np.arange(n_samples + 1)))
    edges = (members.T @ (sp.csr_array(affinity) @ members)).toarray()
    return edges, edges.sum(axis=1)


def _largest_first(labels: IntArray) -> IntArray:
    """Labels renumbered by the size of the groups, equal ones by where they begin."""
    _, first, codes, sizes = np.unique(
        labels, return_index=True, return_inverse=True, return_counts=True
    )
    place = np.empty(len(sizes), dtype=np.intp)
    place[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    return place[codes]


def _in_order(affinity: SparseMatrix, order: IntArray) -> sp.csr_matrix:
    """The graph of the samples in an order, with indices of 32 bits, as scikit-network wants it."""
    matrix = sp.csr_matrix(sp.csr_array(affinity)[order][:, order], dtype=np.float64)
    matrix.indices = matrix.indices.astype(np.int32)
    matrix.indptr = matrix.indptr.astype(np.int32)
    return matrix
