"""What a table must be for any method to use it, and which of its columns none can."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.utils.validation import _get_feature_names, check_array

from tamis._typing import BoolArray, FloatArray, IntArray, Matrix
from tamis.utils.columns import columns_of_rounding, extent
from tamis.utils.messages import describe_columns
from tamis.utils.sparse import canonical_csr, is_sparse
from tamis.utils.table_kinds import refuse_other_tables

# Squares, and sums of squares, of larger numbers would overflow.
LARGEST_VALUE = 1e100
# Squares of smaller differences would underflow.
SMALLEST_RANGE = 1e-150


@dataclass(frozen=True)
class Table:
    """A table that has been checked.

    Attributes
    ----------
    X : {ndarray, csr_array} of shape (n_samples, n_features)
        In float32 or float64.
    names : ndarray of shape (n_features,) or None
        The column names of the input, where all are strings.
    lowest, highest : ndarray of shape (n_features,)
        The smallest and the largest value of each column.
    constant : ndarray of bool of shape (n_features,)
        The columns that no method can use: constant, or as good as constant.
    cautions : tuple of str
        For the columns that are only as good as constant, what is done with them and why.
    """

    X: Matrix
    names: Any
    lowest: FloatArray
    highest: FloatArray
    constant: BoolArray
    cautions: tuple[str, ...]


def check_table(X: Any, *, estimator: Any = None) -> Table:
    """Check a table and find its constant columns.

    Refuses what no method can use, naming the columns. A column whose values differ by no more than
    rounding (see :func:`tamis.utils.columns.columns_of_rounding`), or by too little to be squared,
    counts as constant.

    Parameters
    ----------
    X : {array-like, sparse, pandas or polars frame} of shape (n_samples, n_features)
    estimator : estimator instance or None, default=None
        Named in scikit-learn's own messages.

    Returns
    -------
    Table
    """
    refuse_other_tables(X)
    if getattr(X, "ndim", 2) != 2:
        raise ValueError(
            f"Expected a 2D table of samples and features, not an array of shape {X.shape}; "
            "for a single feature pass X.reshape(-1, 1)."
        )
    refuse_text_columns(X)
    names = _get_feature_names(X)
    X = check_array(
        X,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        ensure_min_samples=2,
        ensure_all_finite=False,  # ours names the columns
        estimator=estimator,
        input_name="X",
    )
    if is_sparse(X):
        X = canonical_csr(X)
    lowest, highest = extent(X)
    refuse_unusable_values(lowest, highest, names)
    rounding = columns_of_rounding(X, lowest, highest)
    constant, cautions = constant_columns(lowest, highest, rounding, names)
    return Table(X, names, lowest, highest, constant, cautions)


def rows_of_table(table: Table, rows: IntArray) -> Table:
    """Some rows of a table, for a method that decides on them: columns may be constant in these.

    Parameters
    ----------
    table : Table
    rows : ndarray of int
    """
    found = check_table(table.X[rows])
    idle = np.flatnonzero(found.constant & ~table.constant)
    cautions = (*table.cautions, decides_on(len(rows), table.X.shape[0]))
    if len(idle):
        columns = describe_columns(idle, table.names)
        cautions += (f"ranks {columns} last, constant in the rows that were drawn.",)
    constant = found.constant | table.constant
    return replace(found, names=table.names, constant=constant, cautions=cautions)


def decides_on(n_drawn: int, n_rows: int) -> str:
    """A caution that not all rows are looked at."""
    return (
        f"decides on {n_drawn:,} of the {n_rows:,} rows, drawn at random, since it compares rows "
        "with each other."
    )


def constant_columns(
    lowest: FloatArray, highest: FloatArray, rounding: IntArray, names: Any
) -> tuple[BoolArray, tuple[str, ...]]:
    """The columns that count as constant, and a sentence for those that are only as good as that.

    Parameters
    ----------
    lowest, highest : ndarray of shape (n_features,)
    rounding : ndarray of int
        The columns whose values differ by rounding alone.
    names : array-like or None
    """
    constant = lowest == highest
    width = highest.astype(np.float64) - lowest.astype(np.float64)
    narrow = np.setdiff1d(np.flatnonzero(~constant & (width < SMALLEST_RANGE)), rounding)
    cautions = []
    for columns, reason, remedy in (
        (rounding, "by rounding alone", "if they are real, bring the columns to a common scale"),
        (narrow, "by too little to be squared", "rescale the columns"),
    ):
        if len(columns):
            constant[columns] = True
            cautions.append(
                f"takes {describe_columns(columns, names)} for constant, since the values differ "
                f"{reason}; {remedy}."
            )
    return constant, tuple(cautions)


def refuse_text_columns(X: Any) -> None:
    """Name the columns of a frame or an object array that do not hold numbers."""
    if nw.dependencies.is_into_dataframe(X):
        frame = nw.from_native(X, eager_only=True)
        names = frame.columns
        text = [
            name
            for name, dtype in frame.schema.items()
            if not (dtype.is_numeric() or dtype == nw.Boolean)
            and (dtype.is_temporal() or dtype.is_nested() or not _parses(frame[name], False))
        ]
        bad = [names.index(name) for name in text]
    elif isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "OUSMm":
        names = None
        dates = X.dtype.kind in "Mm"
        bad = [j for j in range(X.shape[1]) if dates or not _parses(X[:, j], True)]
    else:
        return
    if bad:
        raise ValueError(
            f"X holds values that are not numbers in {describe_columns(bad, names)}; encode them, "
            "for example with tamis.preprocessing.Preparation, or drop the columns."
        )


def _parses(column: Any, wrong_type: bool) -> bool:
    """Whether a column of objects can be read as numbers.

    `wrong_type` answers for objects that are neither numbers nor text: scikit-learn wants numpy's
    own error for those of an array.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            np.asarray(column, dtype=np.float64)
    except (ValueError, np.exceptions.ComplexWarning):
        return False
    except TypeError:
        return wrong_type
    return True


def refuse_unusable_values(lowest: FloatArray, highest: FloatArray, names: Any) -> None:
    """Name the columns whose smallest or largest value no method can use."""
    for what, bad, remedy in (
        (
            "NaN",
            np.isnan(lowest) | np.isnan(highest),
            "impute them, for example with tamis.preprocessing.Preparation, or drop the columns",
        ),
        ("infinity", np.isinf(lowest) | np.isinf(highest), "clip them, or drop the columns"),
        (
            f"values beyond {LARGEST_VALUE:g}, too large to be squared,",
            np.maximum(highest.astype(np.float64), -lowest.astype(np.float64)) > LARGEST_VALUE,
            "rescale the columns",
        ),
    ):
        if bad.any():
            columns = describe_columns(np.flatnonzero(bad), names)
            raise ValueError(f"X contains {what} in {columns}; {remedy}.")
