"""The distinct values of columns, exactly, up to a number beyond which they are many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from tamis._typing import BoolArray, FloatArray, IntArray

# Columns of more distinct values have many. Rounding makes at most 32.
MOST = 64
# Rows that tell of most columns of measurements that they have many.
FIRST_ROWS = 1024


@dataclass(frozen=True, eq=False)
class DistinctValues:
    """The distinct values of each column: exact up to 64, "more" beyond; nothing is estimated.

    Attributes
    ----------
    values : ndarray of shape (65, n_features)
        The distinct values of each column in ascending order, then NaN. A column of which the last
        place is taken has more values than are kept.
    """

    values: FloatArray

    @classmethod
    def of(cls, X: FloatArray) -> Self:
        """The distinct values of the columns of a table. O(nd), O(nd log n) for few values."""
        values = np.full((MOST + 1, X.shape[1]), np.nan)
        for j in range(X.shape[1]):
            found = np.unique(X[:FIRST_ROWS, j])
            if len(found) <= MOST and len(X) > FIRST_ROWS:
                found = np.unique(X[:, j])
            values[: min(len(found), MOST + 1), j] = found[: MOST + 1]
        return cls(values)

    def merge(self, other: Self) -> Self:
        """The distinct values of the rows of both. O(d)."""
        values = self.values.copy()
        many = self.many | other.many
        values[:, other.many] = other.values[:, other.many]
        for j in np.flatnonzero(~many):
            found = np.union1d(_held(self.values[:, j]), _held(other.values[:, j]))[: MOST + 1]
            values[:, j] = np.nan
            values[: len(found), j] = found
        return type(self)(values)

    @property
    def many(self) -> BoolArray:
        """The columns with more than 64 distinct values."""
        return ~np.isnan(self.values[-1])

    @property
    def counts(self) -> IntArray:
        """How many distinct values each column has; 65 stands for more than 64."""
        return np.count_nonzero(~np.isnan(self.values), axis=0)

    def of_column(self, j: int) -> FloatArray:
        """The distinct values of a column that has not many."""
        return _held(self.values[:, j])


def _held(values: FloatArray) -> FloatArray:
    return values[~np.isnan(values)]
