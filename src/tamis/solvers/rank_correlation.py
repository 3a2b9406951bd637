"""Absolute rank correlations between the columns of a table, as an operator."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import scipy.sparse as sp
from scipy.stats import rankdata

from tamis._typing import FloatArray, Matrix, SparseMatrix
from tamis.solvers.dense import matmul, scale_rows
from tamis.solvers.eigen import SIDE_MAX
from tamis.solvers.row_gram import FILLED
from tamis.utils.blocks import row_blocks
from tamis.utils.sparse import is_sparse

__all__ = ["RankCorrelation"]

# Numbers in a block of rows of the matrix.
BLOCK_SIZE = 1 << 23


class RankCorrelation:
    """``|ρ_ij|``: the absolute rank correlations (Spearman's) of all pairs of columns.

    Computed in blocks of rows, of which as many are kept as there are numbers in a matrix of 6000
    columns; the others are computed anew for each product.

    The zeros of a sparse column share one rank, and only what the other cells have beyond it is
    stored, s. With c the mean of s, ``ρ_ij = s_iᵀs_j − nc_ic_j``: a pair of columns that are never
    both filled has ``n|c_i||c_j|``, a matrix of rank one, and the few other pairs a sparse
    correction of it. Only columns of many values are made dense.

    Parameters
    ----------
    X : {ndarray, CSR} of shape (n_samples, n_features)
        Without constant columns.

    Notes
    -----
    O(nd log n + nd²) for the matrix or for each product beyond it; of sparse columns, whose rows
    have m values, O(nm²). O(nd) memory beside the blocks that are kept.
    """

    def __init__(self, X: Matrix) -> None:
        self.n_samples, self.size = X.shape
        is_filled = np.ones(self.size, dtype=bool)
        thin, means = sp.csc_array((self.n_samples, 0)), np.empty(0)
        if is_sparse(X):
            deviations, all_means = _unit_deviations(X)
            is_filled = np.diff(deviations.indptr) > FILLED * self.n_samples
            self._ranks = deviations[:, is_filled].toarray() - all_means[is_filled]
            thin, means = deviations[:, ~is_filled], all_means[~is_filled]
        else:
            self._ranks = _unit_ranks(np.asarray(X))
        # The filled columns first.
        self._order = np.argsort(~is_filled, kind="stable")
        self._thin, self._thin_rows = sp.csr_array(thin), sp.csr_array(thin.T)
        self._means = means
        self._kept: dict[tuple[str, int], Matrix] = {}
        self._room = SIDE_MAX**2

    def times(self, V: FloatArray) -> FloatArray:
        """``|ρ|V`` for a vector or columns."""
        n_filled = self._ranks.shape[1]
        ordered = V[self._order]
        filled, thin = ordered[:n_filled], ordered[n_filled:]
        product = np.zeros(ordered.shape)
        for rows, block in self._blocks("filled", n_filled, self._rows_of_filled):
            product[rows] = block @ ordered
            product[n_filled:] += block[:, n_filled:].T @ filled[rows]
        sizes = np.abs(self._means)
        product[n_filled:] += self.n_samples * np.multiply.outer(sizes, sizes @ thin)
        for rows, correction in self._blocks("thin", len(thin), self._corrections_of_thin):
            product[n_filled:][rows] += correction @ thin
        found = np.empty_like(product)
        found[self._order] = product
        return found

    def _blocks(
        self, kind: str, n_rows: int, compute: Callable[[slice], Matrix]
    ) -> Iterator[tuple[slice, Matrix]]:
        """Some rows of the matrix at a time, kept as far as there is room."""
        for rows in row_blocks(n_rows, max(self.size, self.n_samples), block_size=BLOCK_SIZE):
            block = self._kept.get((kind, rows.start))
            if block is None:
                block = compute(rows)
                # A stored value has an index of half its length.
                numbers = block.nnz * 3 // 2 if is_sparse(block) else block.size
                if numbers <= self._room:
                    self._kept[kind, rows.start] = block
                    self._room -= numbers
            yield rows, block

    def _rows_of_filled(self, rows: slice) -> FloatArray:
        """Rows of filled columns, for all columns."""
        some = self._ranks[:, rows]
        beside_filled = matmul(some.T, self._ranks)
        # Filled columns are centred, so that the means of the others have no part.
        return np.abs(np.hstack([beside_filled, (self._thin_rows @ some).T]))

    def _corrections_of_thin(self, rows: slice) -> SparseMatrix:
        """Rows of thin columns, for thin columns, less ``n|c||c|ᵀ``."""
        block = sp.csr_array(self._thin_rows[rows] @ self._thin)
        of_rows = np.repeat(self._means[rows], np.diff(block.indptr))
        without = self.n_samples * of_rows * self._means[block.indices]
        block.data = np.abs(block.data - without) - np.abs(without)
        return block


def _unit_ranks(columns: FloatArray) -> FloatArray:
    """Ranks of the values of each column, equal ones sharing theirs, centred and of unit length."""
    ranks: FloatArray = rankdata(columns, axis=0)
    ranks -= (len(ranks) + 1) / 2
    return ranks / np.linalg.norm(ranks, axis=0)


def _unit_deviations(X: SparseMatrix) -> tuple[SparseMatrix, FloatArray]:
    """By how much ranks differ from that of zero, as a sparse table, and its column means.

    Less these means, each column has unit length.

    Parameters
    ----------
    X : {CSR, CSC} of shape (n_samples, n_features)
    """
    table = sp.csc_array(X, dtype=np.float64, copy=True)
    table.eliminate_zeros()
    n_samples, n_features = table.shape
    counts = np.diff(table.indptr)
    columns = np.repeat(np.arange(n_features), counts)
    order = np.lexsort((table.data, columns))
    values = table.data[order]
    # Places in a column's order of its values, equal ones sharing theirs.
    starts = np.flatnonzero(np.diff(values, prepend=np.nan) != 0)
    starts = np.union1d(starts, table.indptr[:-1][counts > 0])
    ends = np.append(starts[1:], len(values))
    shared = np.repeat((starts + ends + 1) / 2, ends - starts)
    places = shared - table.indptr[columns]
    n_negative = np.bincount(columns[values < 0], minlength=n_features)
    n_zeros = n_samples - counts
    of_zero = n_negative + (n_zeros + 1) / 2
    ranks = np.empty_like(places)
    ranks[order] = places + np.where(values > 0, n_zeros[columns], 0)
    deviations = sp.csc_array(
        (ranks - of_zero[columns], table.indices, table.indptr), shape=table.shape
    )
    means = np.asarray(deviations.sum(axis=0)).ravel() / n_samples
    squares = np.asarray(deviations.power(2).sum(axis=0)).ravel() - n_samples * means**2
    deviations.data /= np.sqrt(squares)[columns]
    return deviations, scale_rows(means, 1 / np.sqrt(squares))
