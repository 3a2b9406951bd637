"""Degrees and Laplacians of a graph, its components, and how rough columns are on it."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from tamis._typing import FloatArray, Matrix, SparseMatrix
from tamis.graphs._landmark_graph import Graph, LandmarkGraph
from tamis.utils.columns import weighted_moments
from tamis.utils.rows import dirichlet_energies as edge_energies


def degrees(affinity: Graph) -> FloatArray:
    """Sum of the weights at each sample; 1 on a landmark graph. O(nnz)."""
    if isinstance(affinity, LandmarkGraph):
        return np.ones(affinity.shape[0])
    return np.asarray(affinity.sum(axis=1)).ravel()


def laplacian(affinity: SparseMatrix) -> SparseMatrix:
    """``L = D − W``: the graph Laplacian, sparse. O(nnz)."""
    if isinstance(affinity, LandmarkGraph):
        raise TypeError(
            "The Laplacian of a landmark graph is not sparse; use its laplacian_times, or build "
            "the graph with method='exact'."
        )
    return sp.csr_array(sp.diags_array(degrees(affinity)) - affinity)


def normalized_laplacian(affinity: SparseMatrix) -> SparseMatrix:
    """``D^-½ (D − W) D^-½``; the rows of samples without an edge are zero. O(nnz)."""
    scale = sp.diags_array(inverse_sqrt(degrees(affinity)))
    return sp.csr_array(scale @ laplacian(affinity) @ scale)


def inverse_sqrt(values: FloatArray) -> FloatArray:
    """``1/√v``, and zero where v is zero."""
    return np.divide(1, np.sqrt(values), out=np.zeros_like(values), where=values > 0)


def dirichlet_energies(affinity: Graph, X: Matrix) -> FloatArray:
    """``fᵀLf = Σ_{i<j} w_ij (f_i − f_j)²`` for each column f of X.

    Nothing cancels, so that the value is as exact for a column near 10⁶ as for one near zero, and
    sparse `X` stays sparse. O(nnz(W)·d), or O(nnz(W)·nnz(X)/n) for sparse; on a landmark graph its
    ties take the place of the edges.
    """
    if isinstance(affinity, LandmarkGraph):
        return affinity.energies(X)
    return edge_energies(affinity, X)


def n_components(affinity: Graph) -> int:
    """Number of connected components; a sample without an edge is one of its own. O(nnz)."""
    if isinstance(affinity, LandmarkGraph):
        affinity = affinity.tie_gram  # landmarks that share no sample are apart
    graph = sp.csr_array(affinity, copy=True)
    graph.eliminate_zeros()  # a stored zero is no edge
    return int(connected_components(graph, directed=False, return_labels=False))


def feature_roughness(affinity: Graph, X: Matrix, *, centre: bool) -> FloatArray:
    """``fᵀLf / fᵀDf`` for each column f: how much it varies along the edges, within [0, 2].

    With `centre` the denominator is taken after the weighted mean of f is removed (the numerator
    never feels it): that is the Laplacian score. Columns with a zero denominator get 2, the worst.
    Cost as :func:`dirichlet_energies`.
    """
    degree = degrees(affinity)
    mean, scatter = weighted_moments(X, degree)
    squared_norm = scatter + degree.sum() * mean**2
    denominator = scatter if centre else squared_norm
    ratio = np.full(X.shape[1], 2.0)
    energies = dirichlet_energies(affinity, X)
    # The scatter of a column that is constant on all samples with an edge is a rounding error.
    rounding = 16 * X.shape[0] ** 2 * np.finfo(np.float64).eps ** 3
    np.divide(energies, denominator, out=ratio, where=denominator > rounding * squared_norm)
    return ratio.clip(0, 2)
