"""Weighted products of the rows of a table with one another: ``X diag(w) Xᵀ``."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis._typing import FloatArray, Matrix
from tamis.solvers.dense import matmul
from tamis.utils.blocks import LARGE_TABLE, row_blocks
from tamis.utils.sparse import is_sparse
from tamis.utils.threads import side_by_side

__all__ = ["COLUMNS_AT_ONCE", "RowGram", "products_of_rows"]

# A column of a sparse table with more than this share of stored values is faster as a dense one:
# a BLAS product then does in a pass what a sparse product does entry by entry.
FILLED = 0.08
# Numbers in a block of columns made dense.
BLOCK_SIZE = 1 << 21
# The columns of a wide table are multiplied in so many pieces, and within each so many at once.
PIECES = 4
COLUMNS_AT_ONCE = 2048


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
        if weights is None and not is_sparse(self._X):
            return products_of_rows(self._X)
        weights = np.ones(self.n_features) if weights is None else weights
        if not is_sparse(self._X):
            return _product(self._X, weights, by_roots)
        gram: FloatArray = _product(self._thin, weights[~self._is_filled], by_roots).toarray()
        weights = weights[self._is_filled]
        for columns in row_blocks(len(weights), self.n_samples, block_size=BLOCK_SIZE):
            filled = self._filled[:, columns].toarray()
            gram += _product(filled, weights[columns], by_roots)
        return gram


def products_of_rows(X: FloatArray, origin: FloatArray | None = None) -> FloatArray:
    """``(X − 1mᵀ)(X − 1mᵀ)ᵀ`` of a dense table, in float64; without an origin m is zero.

    Of a large one a few thousand columns at a time: no sum is longer, and no copy larger. O(n²d).
    """
    n_samples, n_features = X.shape
    if X.size < LARGE_TABLE or n_samples > n_features:
        X = X.astype(np.float64, copy=False) if origin is None else X - origin
        return matmul(X, X.T)

    def products(piece: slice) -> FloatArray:
        gram = np.zeros((n_samples, n_samples))
        for some in row_blocks(piece.stop - piece.start, 1, block_size=COLUMNS_AT_ONCE):
            columns = slice(piece.start + some.start, piece.start + some.stop)
            block = X[:, columns].astype(np.float64, copy=False)
            block = block if origin is None else block - origin[columns]
            gram += block @ block.T
        return gram

    pieces = row_blocks(n_features, 1, block_size=-(-n_features // PIECES))
    total: FloatArray = sum(side_by_side(products, pieces), np.zeros((n_samples, n_samples)))
    return total


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
