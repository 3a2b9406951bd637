"""How samples lie among their neighbours: weights that rebuild them, local Gram matrices."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from tamis._typing import FloatArray, IntArray, Matrix, SparseMatrix
from tamis.graphs._neighbors import Neighbors, directed_graph, nearest_neighbors
from tamis.graphs._tiles import pair_distances
from tamis.utils.blocks import row_blocks
from tamis.utils.sparse import is_sparse


def lle_weights(
    X: Matrix, n_neighbors: int = 5, *, reg: float = 1e-3, neighbors: Neighbors | None = None
) -> SparseMatrix:
    """Weights that best rebuild each sample from its neighbours (locally linear embedding).

    Each row minimises ``‖x_i − Σ_j S_ij x_j‖²`` under ``Σ_j S_ij = 1``, with `reg` times the trace
    of the local Gram matrix added to its diagonal, as in scikit-learn.

    Parameters
    ----------
    X : {ndarray, sparse} of shape (n_samples, n_features)
    n_neighbors : int, default=5
    reg : float, default=1e-3
    neighbors : Neighbors or None, default=None
        Already known neighbours; `n_neighbors` is then unused.

    Returns
    -------
    csr_array of shape (n_samples, n_samples)
        Directed, rows sum to one. O(nk²d + nk³) beyond the search.
    """
    if neighbors is None:
        neighbors = nearest_neighbors(X, n_neighbors)
    indices = neighbors.indices
    n_samples, n_neighbors = indices.shape
    X = sp.csr_array(X, dtype=np.float64) if is_sparse(X) else np.asarray(X)
    values = np.empty((n_samples, n_neighbors))
    for rows in neighborhood_blocks(X, n_samples, n_neighbors):
        gram = local_gram(X, np.arange(rows.start, rows.stop), indices[rows])
        trace = np.trace(gram, axis1=1, axis2=2)
        ridge = np.where(trace > 0, reg * trace, reg)
        gram[:, np.arange(n_neighbors), np.arange(n_neighbors)] += ridge[:, None]
        solution = np.linalg.solve(gram, np.ones((len(gram), n_neighbors, 1)))[:, :, 0]
        values[rows] = solution / solution.sum(axis=1, keepdims=True)
    return directed_graph(indices, values)


def lle_laplacian(X: Matrix, neighbors: Neighbors, reg: float) -> SparseMatrix:
    """``(I − S)ᵀ(I − S)`` with S the weights of :func:`lle_weights`: sparse, its rows sum to zero.

    Its form is small for values that each sample's neighbours rebuild as they rebuild the sample.
    O(nk²d + nk³).
    """
    remainder = sp.eye_array(X.shape[0]) - lle_weights(X, reg=reg, neighbors=neighbors)
    return sp.csr_array(remainder.T @ remainder)


def local_gram(X: Matrix, centres: IntArray, indices: IntArray) -> FloatArray:
    """Inner products of the differences between samples and their neighbours. O(mk²d).

    Parameters
    ----------
    X : {ndarray, CSR} of shape (n_samples, n_features)
    centres : ndarray of shape (m,)
    indices : ndarray of shape (m, k)
        The neighbours of each centre.

    Returns
    -------
    ndarray of shape (m, k, k)
    """
    if not is_sparse(X):
        differences = np.subtract(X[indices], X[centres][:, None], dtype=np.float64)
        return differences @ differences.transpose(0, 2, 1)
    # ⟨a − x, b − x⟩ = (‖a − x‖² + ‖b − x‖² − ‖a − b‖²) / 2 needs distances only.
    m, k = indices.shape
    to_centre = pair_distances(X, np.repeat(centres, k), indices.ravel()).reshape(m, k)
    left = np.repeat(indices, k, axis=1).ravel()
    right = np.tile(indices, k).ravel()
    between = pair_distances(X, left, right).reshape(m, k, k)
    return (to_centre[:, :, None] + to_centre[:, None, :] - between) / 2


def local_sets(graph: SparseMatrix | Neighbors) -> list[tuple[IntArray, IntArray]]:
    """The neighbours of each sample, grouped by their number. O(nk), or O(nnz).

    Parameters
    ----------
    graph : Neighbors or csr_array of shape (n_samples, n_samples)
        The neighbours themselves, or a graph whose edges lead to them.

    Returns
    -------
    list of (centres, indices)
        For each number k of neighbours that occurs: the m samples that have k, and their
        neighbours, of shape (m, k). Samples without a neighbour are left out.
    """
    if isinstance(graph, Neighbors):
        return [(np.arange(len(graph.indices)), graph.indices)]
    edges = sp.coo_array(graph)
    row, column = edges.coords
    proper = (row != column) & (edges.data != 0)
    links = sp.csr_array((edges.data[proper], (row[proper], column[proper])), shape=edges.shape)
    counts = np.diff(links.indptr)
    sets = []
    for k in np.unique(counts[counts > 0]):
        centres = np.flatnonzero(counts == k)
        sets.append((centres, links.indices[links.indptr[centres][:, None] + np.arange(k)]))
    return sets


def neighborhood_blocks(X: Matrix, n_sets: int, n_neighbors: int) -> Iterator[slice]:
    """Slices of neighbourhoods whose differences and Gram matrices make a block."""
    row_length = X.nnz // X.shape[0] if is_sparse(X) else X.shape[1]
    return row_blocks(n_sets, n_neighbors * max(n_neighbors, row_length))
