"""A table as an operator: shifted, with scaled rows, and never made dense if it is sparse."""

from __future__ import annotations

import copy
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from tamis._typing import BoolArray, FloatArray, IntArray, Matrix, SparseMatrix
from tamis.solvers.dense import matmul, root_of_products, scale_rows
from tamis.solvers.row_gram import RowGram
from tamis.utils.blocks import LARGE_TABLE, column_pieces, row_blocks
from tamis.utils.columns import weighted_moments
from tamis.utils.condensed import Condensed
from tamis.utils.sparse import is_sparse
from tamis.utils.threads import side_by_side

# A dense table is centred as a sparse one if no more than this share of its cells differs from the
# value that their columns repeat.
FEW_CELLS = 0.05
# About as many rows tell whether a closer look is worth it.
SAMPLE = 50
# Means that are no more times as large as the deviations may be taken out of products.
SMALL_MEANS = 10


class TableOperator:
    """``diag(s)(X − 1mᵀ)`` in float64, known by its products.

    Of a dense table the shift m is subtracted once. A sparse one is kept as it is, and the shift is
    taken out of every product. Only its columns without a zero are shifted for good: nothing is
    lost by it, and a large offset would drown them in every product.

    Parameters
    ----------
    X : {ndarray, CSR} of shape (n_samples, n_features)
        Neither copied, where it is float64 already and has no shift, nor changed.
    shift : ndarray of shape (n_features,) or None, default=None
        m; None leaves the columns where they are.
    row_scale : ndarray of shape (n_samples,) or None, default=None
        s; None leaves the rows as they are.

    Attributes
    ----------
    shape : tuple of int
    is_sparse : bool
    stored : {ndarray, CSR}
        The table that is held: X less what has been subtracted for good. Its rows are as far apart
        as those of X.
    origin : ndarray of shape (n_features,)
        m, zeros where there is none.
    """

    def __init__(
        self, X: Matrix, *, shift: FloatArray | None = None, row_scale: FloatArray | None = None
    ) -> None:
        self.is_sparse = is_sparse(X)
        self.shape: tuple[int, int] = X.shape
        self.origin = np.zeros(X.shape[1]) if shift is None else shift
        self._row_scale = row_scale
        self._is_centred = False
        # The products of the stored rows; operators that differ in their row scales share them.
        self._row_grams: list[RowGram] = []
        # What is left of the shift, to be taken out of products.
        self._shift: FloatArray | None = None
        self.stored: Matrix
        if is_sparse(X):
            table = sp.csr_array(X, dtype=np.float64)
            self.stored = table
            if shift is not None:
                self._shift_full_columns(table, shift)
        else:
            self.stored = np.asarray(X, dtype=np.float64) if shift is None else X - shift

    @classmethod
    def centred(
        cls, X: Matrix | Condensed, *, norm: float | None = None, copied: bool = True
    ) -> Self:
        """The table less its column means.

        A dense table whose means are rounding already, as those of standardised columns are, is
        used as it is. One whose columns repeat a value in all but a twentieth of the cells is held
        as a sparse one, of what the other cells have beyond it: products then cost as few cells.

        Parameters
        ----------
        X : {ndarray, CSR, Condensed} of shape (n_samples, n_features)
            Of a condensed table, of which the products are known only, another one with the same
            products stands for it, of as many rows as columns.
        norm : float or None, default=None
            The Frobenius norm to scale the centred table to; None leaves its scale.
        copied : bool, default=True
            Whether to subtract the means of a dense table for good, in a copy. If not, those of a
            large one in double precision are taken out of every product, as of a sparse one, where
            they are at most 10 times as large as the deviations: `stored` is then the table.
        """
        if isinstance(X, Condensed):
            factor = 1.0 if norm is None else norm / np.sqrt(X.scatter.sum())
            return cls.of_root(root_of_products(X.gram * factor**2))
        X, repeated = _without_repeats(X, FEW_CELLS)
        mean, scatter = weighted_moments(X, np.ones(X.shape[0]))
        if _has_zero_means(X, mean, scatter):
            table = cls(X)
        elif copied or norm is not None or not _has_small_means(X, mean, scatter):
            table = cls(X, shift=mean)
        else:
            table = cls(X)
            table.origin = table._shift = mean
        if repeated is not None:
            table.origin = mean + repeated
        if norm is not None:
            factor = norm / np.sqrt(scatter.sum())
            scatter = scatter * factor**2
            table.origin = table.origin * factor
            table.stored = table.stored * factor
            table._shift = None if table._shift is None else table._shift * factor
        table._squared_column_norms, table._is_centred = scatter, True
        return table

    @classmethod
    def of_root(cls, root: FloatArray) -> Self:
        """A table that stands for a centred one, since it has the same products."""
        table = cls(root)
        table._is_centred = True
        return table

    @classmethod
    def standardised(cls, X: Matrix, mean: FloatArray, scale: FloatArray) -> Self:
        """The table with ``(x − mean) / scale`` in each column, for statistics that are given."""
        table = cls(X, shift=mean)
        table.origin = mean / scale
        if is_sparse(table.stored):
            table.stored = table.stored.copy()
            table.stored.data /= scale[table.stored.indices]
        else:
            table.stored /= scale
        table._shift = None if table._shift is None else table._shift / scale
        return table

    def rows_scaled(self, row_scale: FloatArray) -> Self:
        """The operator with other row scales, on the same table."""
        scaled = copy.copy(self)
        scaled._row_scale = row_scale
        scaled._is_centred = False
        vars(scaled).pop("_squared_column_norms", None)
        return scaled

    def with_repeats_implicit(self, most: float) -> TableOperator:
        """The same table, as a sparse one if its columns mostly repeat one value.

        Parameters
        ----------
        most : float
            A dense table is returned as it is if more than this share of its cells has another
            value than its column repeats. O(nd).
        """
        if self._row_scale is not None or self._shift is not None:
            return self
        cells, repeated = _without_repeats(self.stored, most)
        return self if repeated is None else TableOperator(cells, shift=-repeated)

    def _shift_full_columns(self, table: SparseMatrix, shift: FloatArray) -> None:
        full = np.bincount(table.indices, minlength=table.shape[1]) == table.shape[0]
        if full.any():
            data = table.data - np.where(full, shift, 0)[table.indices]
            self.stored = sp.csr_array((data, table.indices, table.indptr), shape=table.shape)
        self._shift = np.where(full, 0, shift)

    @property
    def background(self) -> FloatArray:
        """What the operator has where `stored`, if sparse, has no entry, its rows not scaled."""
        return np.zeros(self.shape[1]) if self._shift is None else -self._shift

    @property
    def n_stored(self) -> int:
        """How many cells `stored` holds."""
        return int(self.stored.nnz if is_sparse(self.stored) else self.stored.size)

    def times(self, V: FloatArray) -> FloatArray:
        """The operator times V, a vector or columns."""
        product = self.stored @ V
        if self._shift is not None:
            product = product - self._shift @ V
        return product if self._row_scale is None else scale_rows(product, self._row_scale)

    def transposed_times(self, U: FloatArray, rows: slice | None = None) -> FloatArray:
        """The transposed operator, or that of some rows, times U, a vector or columns."""
        table, row_scale = self.stored, self._row_scale
        if rows is not None:
            table = table[rows]
            row_scale = None if row_scale is None else row_scale[rows]
        if row_scale is not None:
            U = scale_rows(U, row_scale)
        product = table.T @ U if is_sparse(table) else _transposed_times(table, U)
        if self._shift is not None:
            product -= np.multiply.outer(self._shift, U.sum(axis=0))
        return product

    def rows(self, some: slice) -> FloatArray:
        """Some rows, dense."""
        rows: Any = self.stored[some]
        rows = rows.toarray() if self.is_sparse else rows
        if self._shift is not None:
            rows = rows - self._shift
        return rows if self._row_scale is None else scale_rows(rows, self._row_scale[some])

    def columns(self, chosen: IntArray) -> FloatArray:
        """The chosen columns, dense."""
        columns: Any = self.stored[:, chosen]
        columns = columns.toarray() if self.is_sparse else columns
        if self._shift is not None:
            columns = columns - self._shift[chosen]
        return columns if self._row_scale is None else scale_rows(columns, self._row_scale)

    def with_columns(self, chosen: IntArray | BoolArray) -> Self:
        """The operator of some of its columns."""
        some = copy.copy(self)
        some.stored, some.origin = self.stored[:, chosen], self.origin[chosen]
        some.shape = (self.shape[0], len(some.origin))
        some._shift = None if self._shift is None else self._shift[chosen]
        some._row_grams = []
        if "_squared_column_norms" in vars(self):
            some._squared_column_norms = self._squared_column_norms[chosen]
        return some

    def column_means(self) -> FloatArray:
        """Means of the columns. O(nd), or O(nnz) if sparse."""
        weights = np.ones(self.shape[0]) if self._row_scale is None else self._row_scale
        mean = weighted_moments(self.stored, weights)[0]
        if self._shift is not None:
            mean = mean - self._shift
        return mean if self._row_scale is None else mean * weights.mean()

    def squared_column_norms(self) -> FloatArray:
        """Squared lengths of the columns: the diagonal of the Gram matrix of the features."""
        return self._squared_column_norms

    @cached_property
    def _squared_column_norms(self) -> FloatArray:
        weights = np.ones(self.shape[0]) if self._row_scale is None else self._row_scale**2
        if self._shift is not None:
            mean, scatter = weighted_moments(self.stored, weights)
            return scatter + weights.sum() * (mean - self._shift) ** 2
        if is_sparse(self.stored):
            return np.asarray(self.stored.multiply(self.stored).T @ weights)
        total = np.zeros(self.shape[1])
        for rows in row_blocks(*self.shape):
            total += weights[rows] @ self.stored[rows] ** 2
        return total

    def gram_of_features(self) -> FloatArray:
        """The transposed operator times the operator, d × d. O(nd²)."""
        if self.is_sparse:
            return self._sparse_gram_of_features()
        if self._row_scale is None and self._shift is None:
            return matmul(self.stored.T, self.stored)
        gram = np.zeros((self.shape[1], self.shape[1]))
        for rows in row_blocks(*self.shape):
            scaled = self.rows(rows)
            gram += matmul(scaled.T, scaled)
        return gram

    def _sparse_gram_of_features(self) -> FloatArray:
        weights = np.ones(self.shape[0]) if self._row_scale is None else self._row_scale**2
        gram = RowGram(sp.csr_array(self.stored.T))(weights)
        if self._shift is None:
            return gram
        # Σ w (x − m)(x − m)ᵀ = Σ w xxᵀ − (Σ w) mmᵀ − (cmᵀ + mcᵀ) with c = Σ w (x − m).
        gram = gram - weights.sum() * np.outer(self._shift, self._shift)
        if not self._is_centred:
            cross = np.outer(self.stored.T @ weights - weights.sum() * self._shift, self._shift)
            gram -= cross + cross.T
        return gram

    def gram_of_samples(
        self, weights: FloatArray | None = None, *, by_roots: bool = True
    ) -> FloatArray:
        """The operator times ``diag(weights)`` times the transposed operator, n × n. O(n²d).

        Parameters
        ----------
        weights : ndarray of shape (n_features,) or None, default=None
            Of any sign; None are ones.
        by_roots : bool, default=True
            As in :class:`RowGram`.
        """
        gram = self._row_gram(weights, by_roots=by_roots)
        if self._shift is not None:
            weighted = self._shift if weights is None else weights * self._shift
            cross = self.stored @ weighted
            gram = gram - cross[:, None] - cross + weighted @ self._shift
        if self._row_scale is None:
            return gram
        return self._row_scale[:, None] * gram * self._row_scale

    @property
    def _row_gram(self) -> RowGram:
        if not self._row_grams:
            self._row_grams.append(RowGram(self.stored))
        return self._row_grams[0]


def _transposed_times(table: FloatArray, U: FloatArray) -> FloatArray:
    """``tableᵀU`` of a dense table; of a large and wide one some columns at a time."""
    pieces = list(column_pieces(table))
    if len(pieces) == 1:
        return table.T @ U
    product = np.empty((*U.shape[1:], table.shape[1]))

    def multiply(columns: slice) -> None:
        np.matmul(U.T, table[:, columns], out=product[..., columns])

    side_by_side(multiply, pieces)
    return product.T


def _without_repeats(X: Matrix, most: float) -> tuple[Matrix, FloatArray | None]:
    """A table less the value that each column repeats, as a sparse one, and these values.

    As it is, and None, if it is sparse or if more than the share `most` of its cells has another
    value than the median of their column, which is the one repeated if any fills half of it.
    """
    if is_sparse(X) or X.size == 0:
        return X, None
    middle = (len(X) - 1) // 2
    sample = X[:: max(1, len(X) // SAMPLE)]
    values = np.partition(sample, (len(sample) - 1) // 2, axis=0)[(len(sample) - 1) // 2]
    if np.count_nonzero(sample != values) > 2 * most * sample.size:  # not worth a closer look
        return X, None
    values = np.partition(X, middle, axis=0)[middle]
    if np.count_nonzero(values != X) > most * X.size:
        return X, None
    repeated = values.astype(np.float64)
    return sp.csr_array(np.asarray(X, dtype=np.float64) - repeated), repeated


def _has_small_means(X: Matrix, mean: FloatArray, scatter: FloatArray) -> bool:
    """Whether a table is dense and large, and loses no digits if its means stay in it."""
    if is_sparse(X) or X.dtype != np.float64 or X.size < LARGE_TABLE:
        return False
    return bool(np.all(X.shape[0] * mean**2 <= SMALL_MEANS**2 * scatter))


def _has_zero_means(X: Matrix, mean: FloatArray, scatter: FloatArray) -> bool:
    """Whether the means of a dense table are no more than what rounding leaves of them."""
    if is_sparse(X) or X.dtype != np.float64:
        return False
    deviations = np.sqrt(scatter / X.shape[0])
    rounding = np.finfo(np.float64).eps * np.sqrt(X.shape[0]) * deviations
    return bool(np.all(np.abs(mean) <= rounding))
