"""A table minus its column means, as an operator: a copy if dense, implicit if sparse."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.sparse as sp

from tamis._typing import FloatArray, IntArray, Matrix
from tamis.solvers.dense import matmul
from tamis.solvers.row_gram import RowGram
from tamis.utils.columns import weighted_moments


class Centred:
    """The centred table X, in float64.

    Parameters
    ----------
    X : {ndarray, CSR} of shape (n_samples, n_features)
        A dense table is copied and centred, unless its means are rounding already, as those of
        standardised columns are: then it is used as it is. A sparse one is kept as it is, and its
        means are subtracted from every product.
    norm : float or None, default=None
        The Frobenius norm to scale the centred table to; None leaves its scale.
    """

    def __init__(self, X: Matrix, norm: float | None = None) -> None:
        self.is_sparse = sp.issparse(X)
        self.shape: tuple[int, int] = X.shape
        self._mean, self._scatter = weighted_moments(X, np.ones(X.shape[0]))
        if self.is_sparse:
            self._X = self._without_full_columns(X)
        else:
            self._X = X if self._is_centred(X) else X - self._mean
        if norm is not None:
            scale = norm / np.sqrt(self._scatter.sum())
            self._scatter = self._scatter * scale**2
            self._mean = self._mean * scale
            self._X = self._X * scale

    def _is_centred(self, X: FloatArray) -> bool:
        """Whether the means are no more than what rounding leaves of them."""
        deviations = np.sqrt(self._scatter / self.shape[0])
        rounding = np.finfo(np.float64).eps * np.sqrt(self.shape[0]) * deviations
        return X.dtype == np.float64 and bool(np.all(np.abs(self._mean) <= rounding))

    def _without_full_columns(self, X: Matrix) -> Matrix:
        """A sparse X whose columns without a zero are centred for good.

        Nothing is lost by it, and a large offset would drown them in every product.
        """
        table = sp.csr_array(X, dtype=np.float64)
        full = np.bincount(table.indices, minlength=table.shape[1]) == table.shape[0]
        if full.any():
            data = table.data - np.where(full, self._mean, 0)[table.indices]
            table = sp.csr_array((data, table.indices, table.indptr), shape=table.shape)
            self._mean = np.where(full, 0, self._mean)
        return table

    @property
    def stored(self) -> Matrix:
        """The table that is held: of a sparse one, X less what has been subtracted for good."""
        return self._X

    def times(self, V: FloatArray) -> FloatArray:
        """``XV``, for a vector or for columns."""
        product = self._X @ V
        return product - self._mean @ V if self.is_sparse else product

    def transposed_times(self, U: FloatArray) -> FloatArray:
        """``XᵀU``, for a vector or for columns."""
        product = self._X.T @ U
        if self.is_sparse:
            product -= np.multiply.outer(self._mean, U.sum(axis=0))
        return product

    def columns(self, chosen: IntArray) -> FloatArray:
        """The chosen columns, dense."""
        if self.is_sparse:
            return self._X[:, chosen].toarray() - self._mean[chosen]
        return self._X[:, chosen]

    def squared_column_norms(self) -> FloatArray:
        """Squared lengths of the columns: the diagonal of XᵀX."""
        return self._scatter

    def gram_of_features(self) -> FloatArray:
        """``XᵀX``, d × d. O(nd²)."""
        if not self.is_sparse:
            return matmul(self._X.T, self._X)
        gram = RowGram(sp.csr_array(self._X.T))()
        return gram - self.shape[0] * np.outer(self._mean, self._mean)

    def gram_of_samples(self, weights: FloatArray | None = None) -> FloatArray:
        """``X diag(weights) Xᵀ``, n × n. O(n²d)."""
        gram = self._row_gram(weights)
        if not self.is_sparse:
            return gram
        weighted_mean = self._mean if weights is None else weights * self._mean
        cross = self._X @ weighted_mean
        return gram - cross[:, None] - cross + weighted_mean @ self._mean

    @cached_property
    def _row_gram(self) -> RowGram:
        return RowGram(self._X)


def centred_unit_columns(Y: FloatArray) -> FloatArray:
    """Columns minus their means, scaled to unit length; a constant column becomes zero."""
    Y = Y - Y.mean(axis=0)
    norms = np.linalg.norm(Y, axis=0)
    return np.divide(Y, norms, out=np.zeros_like(Y), where=norms > 0)
