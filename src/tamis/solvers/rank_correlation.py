"""Absolute rank correlations between the columns of a table, as an operator."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.stats import rankdata

from tamis._typing import FloatArray, Matrix
from tamis.solvers.dense import matmul
from tamis.solvers.eigen import SIDE_MAX
from tamis.utils.blocks import row_blocks
from tamis.utils.sparse import is_sparse

__all__ = ["RankCorrelation"]


class RankCorrelation:
    """``|ρ_ij|``: the absolute rank correlations (Spearman's) of all pairs of columns.

    Kept as a d × d matrix for up to 6000 columns; beyond, blocks of it are computed anew for each
    product, from the ranks of a dense table or from the columns of a sparse one.

    Parameters
    ----------
    X : {ndarray, CSR} of shape (n_samples, n_features)
        Without constant columns.

    Notes
    -----
    O(nd log n + nd²) for the matrix or for each product beyond it; O(nd) memory beside a matrix.
    """

    def __init__(self, X: Matrix) -> None:
        self.n_samples, self.size = X.shape
        self._X = sp.csc_array(X) if is_sparse(X) else None
        self._ranks = None if self._X is not None else _unit_ranks(np.asarray(X))
        self._matrix: FloatArray | None = None
        if self.size <= SIDE_MAX:
            self._matrix = np.empty((self.size, self.size))
            for rows in self._blocks():
                self._matrix[rows] = self._rows(rows)

    def times(self, v: FloatArray) -> FloatArray:
        """``|ρ|v`` for a vector or columns."""
        if self._matrix is not None:
            return self._matrix @ v
        return np.concatenate([self._rows(rows) @ v for rows in self._blocks()])

    def _blocks(self) -> list[slice]:
        return list(row_blocks(self.size, max(self.size, self.n_samples), block_size=1 << 23))

    def _block(self, columns: slice) -> FloatArray:
        if self._X is None:
            assert self._ranks is not None
            return self._ranks[:, columns]
        return _unit_ranks(self._X[:, columns].toarray())

    def _rows(self, rows: slice) -> FloatArray:
        """Some rows of the matrix."""
        left = self._block(rows).T
        if self._ranks is not None:
            return np.abs(matmul(left, self._ranks))
        found = np.empty((len(left), self.size))
        for columns in self._blocks():
            found[:, columns] = np.abs(matmul(left, self._block(columns)))
        return found


def _unit_ranks(columns: FloatArray) -> FloatArray:
    """Ranks of the values of each column, equal ones sharing theirs, centred and of unit length."""
    ranks: FloatArray = rankdata(columns, axis=0)
    ranks -= (len(ranks) + 1) / 2
    return ranks / np.linalg.norm(ranks, axis=0)
