"""Weighted products of the rows of a table with one another: ``X diag(w) Xᵀ``."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis._typing import FloatArray, Matrix
from tamis.solvers.dense import matmul
from tamis.utils.blocks import row_blocks
from tamis.utils.sparse import is_sparse

__all__ = ["RowGram"]

# A column of a sparse table with more than this share of stored values is faster as a dense one:
# a BLAS product then does in a pass what a sparse product does entry by entry.
FILLED = 0.08
# Numbers in a block of columns made dense.
BLOCK_SIZE = 1 << 21


class RowGram:
    """``X diag(w) Xᵀ`` for many w.

    Of a sparse X the well filled columns, in which most of the multiplications lie, are made dense
    a few at a time; the others are multiplied as they are.

    Parameters
    ----------
    X : {ndarray, CSR} of shape (n_samples, n_features)
        In float64. A dense one is kept as it is, of a sparse one its columns are sorted once.
    """

    def __init__(self, X: Matrix) -> None:
        self.n_samples, self.n_features = X.shape
        self._X = X
        if not is_sparse(X):
            return
        stored = np.bincount(X.indices, minlength=self.n_features)
        self._is_filled = stored > FILLED * self.n_samples
        by_columns = sp.csc_array(X)
        self._filled = by_columns[:, self._is_filled]
        self._thin = sp.csr_array(by_columns[:, ~self._is_filled])

    def __call__(self, weights: FloatArray | None = None, *, by_roots: bool = True) -> FloatArray:
        """The product for given weights. O(n²d) if X is dense.

        Parameters
        ----------
        weights : ndarray of shape (n_features,) or None, default=None
            Of any sign; None are ones.
        by_roots : bool, default=True
            Whether non-negative weights may enter by their roots, which takes half of the time
            where X is dense. An interior point method notices their rounding, where the weights
            span many orders of magnitude.
        """
        weights = np.ones(self.n_features) if weights is None else weights
        if not is_sparse(self._X):
            return _product(self._X, weights, by_roots)
        gram: FloatArray = _product(self._thin, weights[~self._is_filled], by_roots).toarray()
        weights = weights[self._is_filled]
        for columns in row_blocks(len(weights), self.n_samples, block_size=BLOCK_SIZE):
            filled = self._filled[:, columns].toarray()
            gram += _product(filled, weights[columns], by_roots)
        return gram


def _product(X: Matrix, weights: FloatArray, by_roots: bool) -> Any:
    """By roots of the weights a table times its own transpose, of which BLAS computes half."""
    if not by_roots or weights.min(initial=0) < 0:
        return matmul(_times_columns(X, weights), X.T)
    scaled = _times_columns(X, np.sqrt(weights))
    return matmul(scaled, scaled.T)


def _times_columns(X: Matrix, factors: FloatArray) -> Matrix:
    if not is_sparse(X):
        return X * factors
    return sp.csr_array((X.data * factors[X.indices], X.indices, X.indptr), shape=X.shape)
