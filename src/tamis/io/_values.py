"""The features of a table as a writer wants them: by cell, by column, or as one matrix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any

import numpy as np

from tamis._typing import FloatArray, Matrix
from tamis.utils.blocks import row_blocks
from tamis.utils.sparse import is_sparse


@dataclass(frozen=True, eq=False)
class MixedColumns:
    """Columns of different types, in place of a matrix."""

    columns: Sequence[FloatArray]

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns."""
        return len(self.columns[0]), len(self.columns)


def matrix(X: Matrix | MixedColumns) -> Matrix:
    """The features as one matrix, of the type that holds all of them."""
    if not isinstance(X, MixedColumns):
        return X
    columns = [c.astype(np.float64) if c.dtype == object else c for c in X.columns]
    joined = np.empty(X.shape, dtype=np.result_type(*columns))
    for j, values in enumerate(columns):
        joined[:, j] = values
    return joined


def column(X: Matrix | MixedColumns, j: int) -> FloatArray:
    """One feature; a sparse table should be CSC."""
    if isinstance(X, MixedColumns):
        return X.columns[j]
    return X[:, [j]].toarray().ravel() if is_sparse(X) else np.ascontiguousarray(X[:, j])


def cells_of(table: Any, *, short: bool = False) -> Iterator[list[Any]]:
    """The features row by row, as Python values; floats that are all whole come without a point.

    Parameters
    ----------
    table : Table
    short : bool, default=False
        Whether single precision comes as the shortest text that is the same number.
    """
    X = table.X
    mixed = isinstance(X, MixedColumns)
    whole = [False] * X.shape[1] if mixed or not short else _whole_columns(X)
    for rows in row_blocks(*X.shape):
        if mixed:
            block = [values[rows] for values in X.columns]
        else:
            block = list((X[rows].toarray() if is_sparse(X) else X[rows]).T)
        yield from map(list, zip(*map(_cells, block, whole, [short] * len(block)), strict=True))


def _cells(values: FloatArray, whole: bool, short: bool) -> list[Any]:
    if whole:
        return [int(value) for value in values.tolist()]
    if short and values.dtype in (np.float32, np.float16):
        return [str(value) for value in values]
    return values.tolist()


def _whole_columns(X: Any) -> list[bool]:
    if X.dtype.kind != "f":
        return [False] * X.shape[1]
    whole = np.ones(X.shape[1], dtype=bool)
    for rows in row_blocks(*X.shape):
        block = X[rows].toarray() if is_sparse(X) else X[rows]
        whole &= ((block == np.floor(block)) & (np.abs(block) < 2**53)).all(axis=0)
    return whole.tolist()


def is_plain(value: Any) -> bool:
    """Whether a value has a type of its own in a sheet or an Arrow column: no text, no object."""
    return isinstance(value, bool | int | float | np.number | np.bool_ | datetime | date | time)


def texts(values: Sequence[Any] | FloatArray) -> list[str]:
    """Values as text; what is missing is empty, as in a text file."""
    return ["" if value is None else str(value) for value in values]
