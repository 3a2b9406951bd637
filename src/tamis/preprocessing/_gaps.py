"""Missing values of prepared numbers: how many, in which rows; infinity counts as one."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamis._typing import BoolArray, FloatArray, IntArray, Matrix
from tamis.utils.sparse import is_sparse


def gaps_per_column(X: Matrix) -> FloatArray:
    """How many values each column lacks."""
    if is_sparse(X):
        return np.bincount(X.indices[np.isnan(X.data)], minlength=X.shape[1])
    return np.array([np.count_nonzero(np.isnan(X[:, j])) for j in range(X.shape[1])], dtype=float)


def complete_rows(numbers: Matrix, codes: list[IntArray]) -> BoolArray:
    """The rows without a gap."""
    rows = np.ones(numbers.shape[0], dtype=bool)
    if is_sparse(numbers):
        rows[
            np.searchsorted(numbers.indptr, np.flatnonzero(np.isnan(numbers.data)), "right") - 1
        ] = False
    else:
        for j in range(numbers.shape[1]):
            rows &= ~np.isnan(numbers[:, j])
    for code in codes:
        rows &= code != -1
    return rows


def without_infinity(X: Matrix, own: bool) -> tuple[Matrix, bool]:
    """X with NaN for infinite values, in place if it is our own; and whether it is, then."""
    values: Any = X.data if is_sparse(X) else X
    total = values.sum()
    if np.isfinite(total) or not np.isinf(values).any():
        return X, own
    X = X if own else X.copy()
    values = X.data if is_sparse(X) else X
    values[np.isinf(values)] = np.nan
    return X, True
