"""Any table as it comes: frames, arrays, sparse matrices, and columns by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import _get_feature_names, check_array

from tamis._typing import Matrix
from tamis.preprocessing._column import Column, column_of
from tamis.utils.sparse import is_sparse
from tamis.utils.table_kinds import refuse_other_tables


@dataclass(frozen=True)
class Source:
    """A table that can be asked for its columns.

    Attributes
    ----------
    names : tuple of str
        Of the columns; x0, x1, … where the table has none.
    named : bool
        Whether the table has names.
    n_rows : int
    matrix : {ndarray, CSR} or None
        The whole table, if all of it is numbers of one type.
    arrays : tuple
        The columns, each an array or a series of narwhals, if it is not.
    """

    names: tuple[str, ...]
    named: bool
    n_rows: int
    matrix: Matrix | None = None
    arrays: tuple[Any, ...] = ()

    def column(self, j: int) -> Column:
        """The column at an index."""
        if self.matrix is not None:
            if is_sparse(self.matrix):
                return column_of(self.matrix[:, [j]].toarray().ravel())
            return column_of(self.matrix[:, j])
        array = self.arrays[j]
        if isinstance(array, nw.Series):
            return _column_of_series(array)
        return column_of(array)


def source_of(X: Any, estimator: Any, *, n_rows: int = 1) -> Source:
    """Read a table of any kind.

    Parameters
    ----------
    X : {pandas, polars or Arrow frame, array-like, sparse, dict of arrays}
    estimator : estimator instance
        Named in messages.
    n_rows : int, default=1
        The fewest rows that are needed.
    """
    refuse_other_tables(X)
    if isinstance(X, Mapping) and not sp.issparse(X):  # scipy's DOK is a mapping
        source = _of_mapping(X)
    elif nw.dependencies.is_into_dataframe(X):
        source = _of_frame(X)
    else:
        return _of_array(X, estimator, n_rows)
    if not source.names:
        raise ValueError("Found a table with 0 feature(s); it needs at least one column.")
    if source.n_rows < n_rows:
        raise ValueError(
            f"Found a table with {source.n_rows} sample(s); Preparation needs at least {n_rows} "
            "rows."
        )
    return source


def _of_mapping(X: Mapping[Any, Any]) -> Source:
    arrays = {name: np.asarray(values) for name, values in X.items()}
    for name, values in arrays.items():
        if not isinstance(name, str):
            raise TypeError(f"X has a column named {name!r}, which is not text; name it by a str.")
        if values.ndim != 1:
            raise ValueError(
                f"Column {name!r} of X has the shape {values.shape}; a column has one dimension."
            )
    lengths = {name: len(values) for name, values in arrays.items()}
    if len(set(lengths.values())) > 1:
        first, *others = lengths
        other = next(name for name in others if lengths[name] != lengths[first])
        raise ValueError(
            f"Column {first!r} of X has {lengths[first]} rows and column {other!r} "
            f"{lengths[other]}; all columns must have the same length."
        )
    n_rows = next(iter(lengths.values()), 0)
    return Source(tuple(arrays), True, n_rows, arrays=tuple(arrays.values()))


def _of_frame(X: Any) -> Source:
    frame = nw.from_native(X, eager_only=True)
    names = _get_feature_names(X) if not nw.dependencies.is_pyarrow_table(X) else frame.columns
    named = names is not None
    columns = tuple(names) if named else _numbered(frame.shape[1])
    types = list(frame.schema.values())
    plain = {nw.Float64, nw.Float32}
    if types and len(set(types)) == 1 and types[0] in plain and len(frame):
        matrix = frame.to_numpy()
        if matrix.dtype.kind == "f":
            return Source(columns, named, len(frame), matrix=matrix)
    series = tuple(frame[name] for name in frame.columns)
    return Source(columns, named, len(frame), arrays=series)


def _column_of_series(series: Any) -> Column:
    """A column of a frame; whole numbers and booleans with gaps keep their kind."""
    dtype = series.dtype
    if dtype in (nw.Categorical, nw.Enum):
        return column_of(
            np.asarray(series.cast(nw.String).to_numpy(), dtype=object), is_category=True
        )
    if dtype.is_numeric() and dtype != nw.Decimal and series.null_count():
        series = series.cast(nw.Float64)
    values = np.asarray(series.to_numpy())
    if isinstance(dtype, nw.Datetime | nw.Date) and values.dtype.kind != "M":
        values = np.asarray(series.to_list(), dtype=object)
    return column_of(values)


def _of_array(X: Any, estimator: Any, n_rows: int) -> Source:
    if not sp.issparse(X) and not hasattr(X, "dtype"):
        X = _array_of_lists(X)
    X = check_array(
        X,
        accept_sparse="csr",
        dtype=None,
        ensure_all_finite=False,
        ensure_min_samples=n_rows,
        estimator=estimator,
        input_name="X",
    )
    names = _numbered(X.shape[1])
    if X.dtype.kind in "fiu":
        if X.dtype not in (np.float64, np.float32):
            X = X.astype(np.float64)
        return Source(names, False, X.shape[0], matrix=X)
    if sp.issparse(X):
        return Source(names, False, X.shape[0], matrix=X.astype(np.float64))
    columns = tuple(X[:, j] for j in range(X.shape[1]))
    return Source(names, False, X.shape[0], arrays=columns)


def _array_of_lists(X: Any) -> Any:
    """Nested lists as an array: of numbers, or of objects so that none becomes text."""
    try:
        array = np.asarray(X)
    except ValueError:  # rows of different lengths: scikit-learn's message
        return X
    return np.asarray(X, dtype=object) if array.dtype.kind in "US" and array.ndim == 2 else array


def _numbered(n_features: int) -> tuple[str, ...]:
    return tuple(f"x{j}" for j in range(n_features))
