"""The shape of the samples: a graph of neighbours that several views agree on, and its groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from tamis._typing import FloatArray, IntArray, Matrix, SparseMatrix
from tamis.clustering import consensus, partitions
from tamis.graphs import degrees, neighbor_graph
from tamis.solvers.principal import principal_components
from tamis.solvers.table_operator import TableOperator

N_NEIGHBORS = 5
# Principal components of the second view, and of the third.
N_COMPONENTS = 50
N_ANGLES = 20
# A graph in which a sample is a neighbour of so large a share of the others is a star: the
# distances of noisy, wide tables, in which one sample near the mean is everybody's neighbour.
STAR_SHARE = 0.2
STAR_DEGREE = 50
# Partitions come in equally many orders at each of so many resolutions.
N_RESOLUTIONS = 3


@dataclass(frozen=True)
class Shape:
    """The neighbours of the samples and the groups that they form.

    Attributes
    ----------
    graph : csr_array of shape (n_samples, n_samples)
        The mean of the normalised graphs.
    labels : ndarray of shape (n_samples,)
        The groups that the partitions agree on, the largest first.
    partitions : tuple of ndarray of shape (n_samples,)
        Partitions of the graph, of the number of groups that was asked for.
    others : tuple of ndarray of shape (n_samples,)
        Where a number was asked for, those that the graph has by itself.
    stars : tuple of str
        The views that were left out, since one sample was a neighbour of too many.
    """

    graph: SparseMatrix
    labels: IntArray
    partitions: tuple[IntArray, ...] = ()
    others: tuple[IntArray, ...] = ()
    stars: tuple[str, ...] = ()

    @property
    def n_groups(self) -> int:
        """The number of groups."""
        return int(self.labels.max()) + 1

    @property
    def witnesses(self) -> tuple[IntArray, ...]:
        """Partitions that selections are compared with: one of each resolution."""
        n_orders = max(1, len(self.partitions) // N_RESOLUTIONS)
        return self.partitions[::n_orders] or (self.labels,)

    @property
    def typical(self) -> IntArray:
        """The partition of the middle resolution, neither coarse nor fine."""
        return self.witnesses[len(self.witnesses) // 2]


def shape_of(
    Z: Matrix,
    n_clusters: int | None,
    order: IntArray,
    *,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> Shape:
    """The shape of a scaled table.

    Three views of the samples vote: all columns, the leading principal components, and the angles
    in fewer of these. A view whose graph is a star does not.

    Parameters
    ----------
    Z : {ndarray, CSR} of shape (n_samples, n_features)
        Scaled; a dense one is centred.
    n_clusters : int or None
        The number of groups; None lets the graph decide.
    order : ndarray of shape (n_samples,)
        See :func:`tamis.clustering.partitions`.
    n_jobs, verbose
        As in :func:`tamis.graphs.neighbor_graph`, for the search in all columns.

    Notes
    -----
    The neighbour search, O(nd·min(n, d)) for the components of a dense table with a side of at
    most 2000, otherwise O(nd) per Lanczos step; O(nnz) per pass for 15 partitions.
    """
    n_neighbors = min(N_NEIGHBORS, Z.shape[0] - 1)
    projected = _projected(Z)
    views = {
        "columns": neighbor_graph(Z, n_neighbors, n_jobs=n_jobs, verbose=verbose),
        "components": neighbor_graph(projected, n_neighbors),
    }
    angles = _angles(projected[:, :N_ANGLES], n_neighbors)
    if angles is not None:
        views["angles"] = angles
    stars = tuple(name for name, graph in views.items() if is_star(graph))
    voting = [graph for name, graph in views.items() if name not in stars]
    graph = mean_graph(voting or [views[stars[-1]]])
    others = () if n_clusters is None else tuple(partitions(graph, order=order))
    return replace(_parted(graph, n_clusters, order), others=others, stars=stars)


def common_shape(shapes: Sequence[Shape], n_clusters: int | None, order: IntArray) -> Shape:
    """What several scales see together: the mean of their graphs, parted anew.

    Its partitions, one per resolution, favour no scale, as those of the single graphs would. The
    groups are those that the partitions of all scales agree on.
    """
    if len(shapes) == 1:
        return shapes[0]
    graph = mean_graph([seen.graph for seen in shapes])
    found = partitions(graph, n_clusters, n_orders=1, order=order)
    everyone = [*found, *(labels for seen in shapes for labels in seen.partitions)]
    return Shape(graph, consensus(graph, everyone, n_clusters, order=order), tuple(found))


def _parted(graph: SparseMatrix, n_clusters: int | None, order: IntArray) -> Shape:
    """The graph with its partitions, and the groups that these agree on."""
    found = partitions(graph, n_clusters, order=order)
    return Shape(graph, consensus(graph, found, n_clusters, order=order), tuple(found))


def is_star(graph: SparseMatrix) -> bool:
    """Whether one sample is a neighbour of a fifth of all others, and of fifty at least."""
    largest = int(np.diff(graph.indptr).max())
    return largest > max(STAR_SHARE * graph.shape[0], STAR_DEGREE)


def mean_graph(graphs: list[SparseMatrix]) -> SparseMatrix:
    """The mean of the graphs, each normalised by its degrees: ``D^-½ W D^-½``. O(nnz)."""
    total = sum(_normalized(graph) for graph in graphs)
    return sp.csr_array(total / len(graphs))


def _normalized(graph: SparseMatrix) -> SparseMatrix:
    degree = degrees(graph)
    root = 1 / np.sqrt(np.where(degree > 0, degree, 1.0))
    edges = sp.coo_array(graph)
    rows, columns = edges.coords
    values = edges.data * root[rows] * root[columns]
    return sp.csr_array((values, (rows, columns)), shape=graph.shape)


def _projected(Z: Matrix) -> FloatArray:
    """The samples in their leading principal components."""
    wanted = min(N_COMPONENTS, *Z.shape)
    _, directions = principal_components(Z, wanted)
    return TableOperator.centred(Z).times(directions)


def _angles(projected: FloatArray, n_neighbors: int) -> SparseMatrix | None:
    """The graph of smallest angles, or None where too few samples have a direction."""
    directed = np.einsum("ij,ij->i", projected, projected) > 0
    if projected.shape[1] < 2 or np.count_nonzero(directed) <= n_neighbors:
        return None
    return neighbor_graph(projected, n_neighbors, weights="cosine")
