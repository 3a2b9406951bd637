"""Differences and lengths of rows, and energies along the edges between them, dense or sparse."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from tamis._typing import FloatArray, IntArray, Matrix, SparseMatrix
from tamis.utils.blocks import pair_blocks
from tamis.utils.sparse import is_sparse


def row_differences(X: Matrix, left: IntArray, right: IntArray) -> Matrix:
    """``X[left] − X[right]`` in float64, sparse if X is."""
    if is_sparse(X):
        return sp.csr_array(X[left].astype(np.float64) - X[right].astype(np.float64))
    return np.subtract(X[left], X[right], dtype=np.float64)


def squared_row_norms(X: Matrix) -> FloatArray:
    """``‖x_i‖²`` for each row. O(nd), or O(nnz) for sparse `X`."""
    if is_sparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)


def dirichlet_energies(affinity: SparseMatrix, X: Matrix) -> FloatArray:
    """``fᵀLf = Σ_{i<j} w_ij (f_i − f_j)²`` for each column f of X.

    Summed over the edges: nothing cancels, so that the value is as exact for a column near 10⁶ as
    for one near zero, and sparse `X` stays sparse. O(nnz(W)·d), or O(nnz(W)·nnz(X)/n) for sparse.
    """
    upper = sp.coo_array(sp.triu(affinity, k=1))
    left, right = upper.coords
    energies = np.zeros(X.shape[1])
    for edges in pair_blocks(X, left, right):
        weight = upper.data[edges]
        difference = row_differences(X, left[edges], right[edges])
        if is_sparse(difference):
            squares = np.repeat(weight, np.diff(difference.indptr)) * difference.data**2
            energies += np.bincount(difference.indices, squares, minlength=X.shape[1])
        else:
            np.square(difference, out=difference)
            energies += weight @ difference
    return energies
