"""Lengths of the columns of ``BᵀX`` for many B, sparse columns of X kept sparse."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from tamis._typing import FloatArray
from tamis.solvers.dense import matmul
from tamis.solvers.row_norms import row_norms
from tamis.solvers.table_operator import TableOperator
from tamis.utils.blocks import row_blocks
from tamis.utils.sparse import is_sparse

__all__ = ["ColumnForms"]

# A column of a sparse table with more than this share of stored values is faster as a dense one.
FILLED = 0.04
# Numbers in a block of columns.
BLOCK_SIZE = 1 << 21


class ColumnForms:
    """``‖Bᵀx_j‖`` for each column of X, and many B.

    Parameters
    ----------
    X : TableOperator
        Without row scales.
    """

    def __init__(self, X: TableOperator) -> None:
        self._X = X
        self._thin = np.empty(0, dtype=np.intp)
        if is_sparse(X.stored):
            stored = np.bincount(X.stored.indices, minlength=X.shape[1])
            self._thin = np.flatnonzero(stored <= FILLED * X.shape[0])
            # By columns, so that each is summed up in one place.
            self._thin_rows = sp.csr_array(sp.csc_array(X.stored)[:, self._thin].T)
        self._filled = np.setdiff1d(np.arange(X.shape[1]), self._thin)

    def __call__(self, B: FloatArray) -> FloatArray:
        """The lengths, for B of shape (n_samples, m). O(ndm); of sparse columns O(nnz·m + dm)."""
        found = np.empty(self._X.shape[1])
        sums = B.sum(axis=0)
        width = max(B.shape)
        for some in row_blocks(len(self._thin), width, block_size=BLOCK_SIZE):
            columns = self._thin[some]
            background = self._X.background[columns]
            found[columns] = row_norms(
                matmul(self._thin_rows[some], B) + np.multiply.outer(background, sums)
            )
        for some in row_blocks(len(self._filled), width, block_size=BLOCK_SIZE):
            columns = self._filled[some]
            found[columns] = row_norms(matmul(self._X.columns(columns).T, B))
        return found
