"""Differences and lengths of rows, dense or sparse."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from tamis._typing import FloatArray, IntArray, Matrix


def row_differences(X: Matrix, left: IntArray, right: IntArray) -> Matrix:
    """``X[left] − X[right]`` in float64, sparse if X is."""
    if sp.issparse(X):
        return sp.csr_array(X[left].astype(np.float64) - X[right].astype(np.float64))
    return np.subtract(X[left], X[right], dtype=np.float64)


def squared_row_norms(X: Matrix) -> FloatArray:
    """``‖x_i‖²`` for each row. O(nd), or O(nnz) for sparse `X`."""
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)
