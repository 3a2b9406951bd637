"""Statistics of columns, dense or sparse, in float64 and without copying the whole table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from tamis._typing import BoolArray, FloatArray, IntArray, Matrix
from tamis.utils.blocks import column_pieces, row_blocks
from tamis.utils.condensed import Condensed
from tamis.utils.sparse import is_sparse
from tamis.utils.threads import side_by_side

TableT = TypeVar("TableT")

# Values that lie within as many units in the last place differ by rounding alone.
ROUNDING_STEPS = 16


def varying_columns(X: TableT, constant: BoolArray) -> TableT:
    """The columns that are not constant; X itself where none is."""
    if isinstance(X, Condensed):
        return X.of_columns(~constant) if constant.any() else X
    return X[:, ~constant] if constant.any() else X  # type: ignore[index]


def extent(X: Matrix | Condensed) -> tuple[FloatArray, FloatArray]:
    """Smallest and largest value of each column; NaN where a column holds a NaN. O(nd)."""
    if isinstance(X, Condensed):
        return X.lowest, X.highest
    if is_sparse(X):
        return X.min(axis=0).toarray().ravel(), X.max(axis=0).toarray().ravel()
    found = side_by_side(
        lambda columns: (X[:, columns].min(axis=0), X[:, columns].max(axis=0)), column_pieces(X)
    )
    lowest, highest = (np.concatenate(pieces) for pieces in zip(*found, strict=True))
    return lowest, highest


def columns_of_rounding(
    X: Matrix,
    lowest: FloatArray,
    highest: FloatArray,
    *,
    precision: Any = None,
    own_scale: bool = False,
) -> IntArray:
    """The columns that are not constant, but whose values differ by rounding alone.

    Such columns come of arithmetic: shares that sum to 1 ± 1e-16, a constant that was centred. A
    column is one if

    - its range is at most :data:`ROUNDING_STEPS` units in the last place, of its own largest value
      or of that of the median column (a centred column has lost its own), and
    - it has at most twice as many different values, as rounding makes no more, and
    - they are not all whole numbers that the type holds exactly, such as a flag of 0 and 1.

    So a measured column in tiny units, 1e-12 beside others of 1e6, is none. O(nd), or O(nnz) for
    sparse `X`.

    Parameters
    ----------
    X : {ndarray, CSR} of shape (n_samples, n_features)
        Of floats.
    lowest, highest : ndarray of shape (n_features,)
        As :func:`extent` returns them.
    precision : dtype, optional
        The floating type to which the values were rounded; by default that of `X`.
    own_scale : bool, default=False
        Whether each column has a unit of its own, so that the others' values say nothing of it.

    Returns
    -------
    ndarray of int
        Ascending.
    """
    precision = X.dtype if precision is None else precision
    narrow = narrow_columns(lowest, highest, precision, own_scale=own_scale)

    def values(j: int) -> FloatArray:
        column = X[:, [j]]
        return np.unique(column.toarray() if is_sparse(column) else column)

    return narrow[[is_rounding(values(j), precision) for j in narrow]] if len(narrow) else narrow


def narrow_columns(
    lowest: FloatArray, highest: FloatArray, precision: Any, *, own_scale: bool = False
) -> IntArray:
    """The columns whose range is so small that their values may differ by rounding alone. O(d)."""
    lowest, highest = lowest.astype(np.float64), highest.astype(np.float64)
    largest = np.maximum(np.abs(lowest), np.abs(highest))
    varying = lowest < highest
    if not varying.any():
        return np.empty(0, dtype=np.intp)
    size = largest if own_scale else np.maximum(largest, np.median(largest[varying]))
    eps = float(np.finfo(precision).eps)
    with np.errstate(over="ignore"):  # an infinite range is a wide one
        return np.flatnonzero(varying & (highest - lowest <= ROUNDING_STEPS * eps * size))


def is_rounding(values: FloatArray, precision: Any) -> bool:
    """Whether the distinct values of a narrow column are few, and not all whole numbers."""
    exact = (values == np.rint(values)) & (np.abs(values) <= 2 / float(np.finfo(precision).eps))
    return len(values) <= 2 * ROUNDING_STEPS and not exact.all()


def columns_not_finite(X: Matrix) -> tuple[IntArray, int]:
    """The columns that hold NaN or infinite values, and how many rows hold such values.

    Dense tables are looked at block by block. O(nd), or O(nnz) for sparse `X`.

    Parameters
    ----------
    X : {ndarray, CSR} of shape (n_samples, n_features)

    Returns
    -------
    columns : ndarray of int
        Ascending.
    n_rows : int
    """
    affected = np.zeros(X.shape[1], dtype=bool)
    n_rows = 0
    if X.dtype.kind != "f":
        pass
    elif is_sparse(X):
        bad = np.flatnonzero(~np.isfinite(X.data))
        affected[X.indices[bad]] = True
        n_rows = np.unique(np.searchsorted(X.indptr, bad, side="right")).size
    else:
        for rows in row_blocks(*X.shape):
            bad = ~np.isfinite(X[rows])
            if bad.any():
                affected |= bad.any(axis=0)
                n_rows += int(np.count_nonzero(bad.any(axis=1)))
    return np.flatnonzero(affected), n_rows


def single_or_double(kinds: Sequence[Any]) -> np.dtype[Any]:
    """Single precision where it holds every value of all the types, else double."""
    small = all(np.can_cast(kind, np.float32) for kind in kinds)
    return np.dtype(np.float32 if small else np.float64)


def weighted_moments(X: Matrix, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Weighted mean and weighted sum of squared deviations from it, for each column.

    Two passes, so that a large common offset costs no precision. O(nd), or O(nnz) for sparse `X`.

    Parameters
    ----------
    X : {ndarray, CSR} of shape (n_samples, n_features)
    weights : ndarray of shape (n_samples,)
        Non-negative sample weights that are not all zero.

    Returns
    -------
    mean, scatter : ndarray of shape (n_features,)
    """
    n_features = X.shape[1]
    total = weights.sum()
    if is_sparse(X):
        row_weights = np.repeat(weights, np.diff(X.indptr))

        def column_sums(values: FloatArray) -> FloatArray:
            return np.bincount(X.indices, values, minlength=n_features)

        # The zeros that are not stored deviate from the mean by the mean itself. Where none is
        # missing, the difference of the two sums would be rounding, times a large mean.
        n_stored = np.bincount(X.indices, minlength=n_features)
        missing = np.where(n_stored < X.shape[0], total - column_sums(row_weights), 0).clip(min=0)
        mean = column_sums(row_weights * X.data) / total
        deviations = X.data - mean[X.indices]
        sums = column_sums(row_weights * deviations) - missing * mean
        scatter = column_sums(row_weights * deviations**2) + missing * mean**2
    else:
        found = side_by_side(
            lambda columns: _dense_moments(X[:, columns], weights), column_pieces(X)
        )
        mean, sums, scatter = np.hstack(found)
    # The deviations sum to zero but for the rounding of the mean, which is taken out of both.
    return mean + sums / total, (scatter - sums**2 / total).clip(min=0)


def _dense_moments(X: FloatArray, weights: FloatArray) -> FloatArray:
    """Weighted means, and weighted sums of deviations from them and of their squares."""
    mean, sums, scatter = moments = np.zeros((3, X.shape[1]))
    blocks = list(row_blocks(*X.shape))
    for rows in blocks:
        mean += weights[rows] @ X[rows].astype(np.float64, copy=False)
    mean /= weights.sum()
    for rows in blocks:
        deviations = X[rows] - mean
        sums += weights[rows] @ deviations
        scatter += weights[rows] @ deviations**2
    return moments


def variances(X: Matrix | Condensed) -> FloatArray:
    """Population variance of each column. O(nd), or O(nnz) for sparse `X`."""
    if isinstance(X, Condensed):
        return X.scatter / X.n_samples
    return weighted_moments(X, np.ones(X.shape[0]))[1] / X.shape[0]


def share_of_variation(X: Matrix) -> float:
    """The norm of the centred table, as a share of that of the table. O(nd), or O(nnz)."""
    n_samples = X.shape[0]
    mean, scatter = weighted_moments(X, np.ones(n_samples))
    return float(np.sqrt(scatter.sum() / (scatter.sum() + n_samples * (mean**2).sum())))


def centred_unit_columns(Y: FloatArray) -> FloatArray:
    """Columns minus their means, scaled to unit length; a constant column becomes zero."""
    Y = Y - Y.mean(axis=0)
    norms = np.linalg.norm(Y, axis=0)
    return np.divide(Y, norms, out=np.zeros_like(Y), where=norms > 0)
