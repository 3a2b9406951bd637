"""Products of one column with all columns, as greedy searches ask for them, one after the other."""

from __future__ import annotations

import numpy as np

from tamis._typing import FloatArray
from tamis.solvers.eigen import SIDE_MAX
from tamis.solvers.table_operator import TableOperator

__all__ = ["ColumnProducts"]


class ColumnProducts:
    """``XᵀX`` column by column: formed where it is no larger than the table, else computed.

    Parameters
    ----------
    X : TableOperator

    Notes
    -----
    O(nd²) at first and O(d) per column where d ≤ n, at most 6000; else O(nd), or O(nnz), per
    column.
    """

    def __init__(self, X: TableOperator) -> None:
        self._X = X
        n_samples, n_features = X.shape
        formed = n_features <= min(n_samples, SIDE_MAX)
        self._gram = X.gram_of_features() if formed else None

    def with_column(self, j: int) -> FloatArray:
        """``Xᵀx_j``."""
        if self._gram is not None:
            return self._gram[j]
        return self._X.transposed_times(self._X.columns(np.array([j]))[:, 0])
