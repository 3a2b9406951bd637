"""Statistics of columns, dense or sparse, in float64 and without copying the whole table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis._typing import BoolArray, FloatArray, IntArray, Matrix, SparseMatrix

# Dense tables are read in row blocks of about this many numbers: large enough for numpy to run at
# full speed, small enough for the float64 temporaries to stay in the cache.
BLOCK_SIZE = 1 << 18

# Values that lie within as many units in the last place differ by rounding alone.
ROUNDING_STEPS = 16


def share_of(fraction: float, n_columns: int) -> int:
    """How many columns a fraction of them is: rounded down, but at least one."""
    # Rounded first: 0.29 * 100 is a little less than 29 in binary.
    return max(1, int(round(fraction * n_columns, 9)))


def row_blocks(n_rows: int, row_length: int, *, block_size: int | None = None) -> Iterator[slice]:
    """Consecutive row slices of a table, each of about `block_size` numbers, or ``BLOCK_SIZE``."""
    step = max(1, (block_size or BLOCK_SIZE) // max(1, row_length))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def neighborhood_blocks(X: Matrix, n_sets: int, n_neighbors: int) -> Iterator[slice]:
    """Slices of neighbourhoods whose differences and Gram matrices make a block."""
    row_length = X.nnz // X.shape[0] if sp.issparse(X) else X.shape[1]
    return row_blocks(n_sets, n_neighbors * max(n_neighbors, row_length))


def cost_blocks(costs: FloatArray) -> Iterator[slice]:
    """Consecutive slices of items whose costs add up to about ``BLOCK_SIZE``, at least one each."""
    ends = np.cumsum(costs)
    start = 0
    while start < len(ends):
        spent = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, spent + BLOCK_SIZE, side="right")))
        yield slice(start, stop)
        start = stop


def pair_blocks(X: Matrix, left: IntArray, right: IntArray) -> Iterator[slice]:
    """Slices of row pairs, such that their differences hold about ``BLOCK_SIZE`` numbers."""
    if sp.issparse(X):
        lengths = np.diff(X.indptr)
        return cost_blocks(lengths[left] + lengths[right] + 1)
    return row_blocks(len(left), X.shape[1])


def row_differences(X: Matrix, left: IntArray, right: IntArray) -> Matrix:
    """``X[left] − X[right]`` in float64, sparse if X is."""
    if sp.issparse(X):
        return sp.csr_array(X[left].astype(np.float64) - X[right].astype(np.float64))
    return np.subtract(X[left], X[right], dtype=np.float64)


def squared_row_norms(X: Matrix) -> FloatArray:
    """``‖x_i‖²`` for each row. O(nd), or O(nnz) for sparse `X`."""
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)


def varying_columns(X: Matrix, constant: BoolArray) -> Matrix:
    """The columns that are not constant, in float64; X itself where it is that already."""
    return (X[:, ~constant] if constant.any() else X).astype(np.float64, copy=False)


def canonical_csr(X: Matrix) -> SparseMatrix:
    """X as a CSR array, sorted and without duplicates; the caller's arrays stay as they are."""
    table = sp.csr_array(X)
    if not table.has_canonical_format:
        table = table.copy()
        table.sum_duplicates()
    return table


def extent(X: Matrix) -> tuple[FloatArray, FloatArray]:
    """Smallest and largest value of each column; NaN where a column holds a NaN. O(nd)."""
    if sp.issparse(X):
        return X.min(axis=0).toarray().ravel(), X.max(axis=0).toarray().ravel()
    return X.min(axis=0), X.max(axis=0)


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
    lowest, highest = lowest.astype(np.float64), highest.astype(np.float64)
    largest = np.maximum(np.abs(lowest), np.abs(highest))
    varying = lowest < highest
    if not varying.any():
        return np.empty(0, dtype=np.intp)
    size = largest if own_scale else np.maximum(largest, np.median(largest[varying]))
    eps = float(np.finfo(precision).eps)
    with np.errstate(over="ignore"):  # an infinite range is a wide one
        narrow = np.flatnonzero(varying & (highest - lowest <= ROUNDING_STEPS * eps * size))
    return narrow[[_is_rounding(X[:, [j]], eps) for j in narrow]] if len(narrow) else narrow


def _is_rounding(column: Matrix, eps: float) -> bool:
    """Whether the values of a narrow column are few, and not all whole numbers held exactly."""
    values = np.unique(column.toarray() if sp.issparse(column) else column)
    exact = (values == np.rint(values)) & (np.abs(values) <= 2 / eps)
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
    elif sp.issparse(X):
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
    if sp.issparse(X):
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
        mean, sums, scatter = np.zeros(n_features), np.zeros(n_features), np.zeros(n_features)
        blocks = list(row_blocks(*X.shape))
        for rows in blocks:
            mean += weights[rows] @ X[rows].astype(np.float64, copy=False)
        mean /= total
        for rows in blocks:
            deviations = X[rows] - mean
            sums += weights[rows] @ deviations
            scatter += weights[rows] @ deviations**2
    # The deviations sum to zero but for the rounding of the mean, which is taken out of both.
    return mean + sums / total, (scatter - sums**2 / total).clip(min=0)


def variances(X: Matrix) -> FloatArray:
    """Population variance of each column. O(nd), or O(nnz) for sparse `X`."""
    return weighted_moments(X, np.ones(X.shape[0]))[1] / X.shape[0]


def dirichlet_energies(affinity: SparseMatrix, X: Matrix) -> FloatArray:
    """``fᵀLf = Σ_{i<j} w_ij (f_i − f_j)²`` for each column f of X.

    Summed over the edges: nothing cancels, so that the value is as exact for a column near 10⁶ as
    for one near zero, and sparse `X` stays sparse. O(nnz(W)·d), or O(nnz(W)·nnz(X)/n) for sparse.
    """
    upper = sp.coo_array(sp.triu(affinity, k=1))
    left, right = upper.coords
    energies = np.zeros(X.shape[1])
    for edges in pair_blocks(X, left, right):
        weight = upper.data[edges]
        difference = row_differences(X, left[edges], right[edges])
        if sp.issparse(X):
            squares = np.repeat(weight, np.diff(difference.indptr)) * difference.data**2
            energies += np.bincount(difference.indices, squares, minlength=X.shape[1])
        else:
            np.square(difference, out=difference)
            energies += weight @ difference
    return energies


def describe_columns(columns: Any, names: Any = None, most: int = 5) -> str:
    """A short list of columns for a message: by name where they have one, else by index."""
    shown = [repr(str(names[j])) if names is not None else str(j) for j in columns[:most]]
    if len(columns) > most:
        shown.append(f"… ({len(columns) - most} more)")
    return ("column " if len(columns) == 1 else "columns ") + ", ".join(shown)
