"""Correlation between the columns of a selection."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis._typing import FloatArray, Matrix
from tamis.metrics._feature_sets import feature_sets
from tamis.utils.columns import columns_not_finite, extent, weighted_moments
from tamis.utils.messages import describe_columns
from tamis.utils.sparse import is_sparse

# How many columns `redundancy` correlates with all the others at a time.
_BLOCK = 256


def _column_positions(features: Any, n_columns: int, names: list[Any] | None) -> list[int]:
    """Positions of the chosen ones of `n_columns` columns, which have `names` in a frame."""
    if features is None:
        return list(range(n_columns))
    (chosen,), _ = feature_sets([features], ["features"], n_columns)
    if not any(isinstance(feature, str) for feature in chosen):
        return sorted(chosen)
    if names is None:
        raise ValueError(
            "features are names, but X has no column names; pass a data frame, or integer indices."
        )
    unknown = chosen.difference(names)
    if unknown:
        raise ValueError(f"X has no column {min(unknown)!r}; name columns of X in features.")
    positions = [position for position, name in enumerate(names) if name in chosen]
    if len(positions) > len(chosen):
        raise ValueError(
            "Several columns of X share a name in features; choose columns by integer indices."
        )
    return positions


def _take_columns(X: Any, positions: list[int], names: list[Any] | None) -> Matrix:
    """Copy columns of `X` as finite floats: into a CSR array if `X` is sparse, else a dense one."""
    if is_sparse(X):
        chosen: Any = sp.csr_array(X)[:, positions]
    elif hasattr(X, "iloc"):
        chosen = X.iloc[:, positions].to_numpy(na_value=np.nan)
    else:
        chosen = np.asarray(X[:, positions])
    problem = "The chosen columns of X must hold real numbers"
    if chosen.dtype.kind not in "biufO":
        raise ValueError(f"{problem}, not {chosen.dtype} values; convert them or leave them out.")
    try:
        columns = chosen.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{problem} ({error}); convert them or leave them out.") from error

    if is_sparse(columns):
        columns.sum_duplicates()
    bad, _ = columns_not_finite(columns)
    if bad.size:
        where = describe_columns([positions[column] for column in bad], names)
        raise ValueError(
            f"X has NaN or infinite values in {where}; fill them in or choose other columns."
        )
    return columns


def _standardize(columns: Matrix) -> FloatArray:
    """Scale columns in place so that their deviations have length 1, or 0 if they are constant.

    Return the means of the scaled columns, which are still to be subtracted: a sparse table cannot
    be centred without filling it. They are 0, up to rounding, wherever centring was possible.
    """
    lowest, highest = extent(columns)
    # Rounding gives a constant column some small variance, so its values are compared instead.
    constant = lowest == highest
    # A power of two scales without rounding, and keeps the squares of any values in range.
    exponents = -np.frexp(np.maximum(-lowest, highest))[1]
    n_rows, n_columns = columns.shape
    values: FloatArray
    owners: Any  # the column of each value
    if is_sparse(columns):
        values, owners = columns.data, columns.indices
        # Subtracting the means from a product of columns loses digits where they are large beside
        # the deviations. In a column with a zero they are not, (mean / deviation)^2 < n_rows; a
        # column without any can be centred, for it is stored in full.
        can_centre = np.bincount(owners, minlength=n_columns) == n_rows
    else:
        values, owners = columns, slice(None)
        can_centre = np.ones(n_columns, dtype=bool)

    weights = np.ones(n_rows)
    np.ldexp(values, exponents[owners], out=values)
    values -= np.where(can_centre, weighted_moments(columns, weights)[0], 0.0)[owners]
    means, scatter = weighted_moments(columns, weights)
    lengths = np.where(constant, np.inf, np.sqrt(scatter))
    values /= lengths[owners]
    remaining: FloatArray = means / lengths
    return remaining


def redundancy(X: Any, features: Any = None) -> float:
    r"""Mean absolute correlation between the chosen columns of a table.

    .. math:: \mathrm{RED} = \frac{2}{k (k - 1)} \sum_{i < j} |\rho_{ij}|

    where :math:`\rho_{ij}` is the Pearson correlation of two of the :math:`k` chosen columns [1]_.

    Parameters
    ----------
    X : array-like, data frame or sparse array of shape (n_samples, n_features)
        The table. A sparse one is never made dense.
    features : collection of int or str, or boolean mask, default=None
        The chosen columns: their indices from 0, their names if `X` is a pandas or polars frame,
        or one boolean per column. Integers are always positions, even where the columns of a
        frame are named by integers. None chooses all columns.

    Returns
    -------
    float
        Between 0, uncorrelated columns, and 1, columns that are all the same up to shift, scale
        and sign. Fewer than two columns make no pair, and give 0.

    Notes
    -----
    A constant column has no correlation with anything: its pairs count as 0. Only the chosen
    columns need be free of NaN and infinite values.

    Some authors divide the sum over :math:`i < j` by :math:`k (k - 1)`; their values are half
    of these.

    Takes O(n k²) time. Correlations are computed for a block of columns at a time, so that memory
    is O(nk), the copy of the chosen columns, and never O(k²).

    References
    ----------
    .. [1] Z. Zhao, L. Wang and H. Liu (2010). Efficient spectral feature selection with minimum
       redundancy. Proceedings of the 24th AAAI Conference on Artificial Intelligence, 673-678.

    Examples
    --------
    >>> from tamis.metrics import redundancy
    >>> X = [[1.0, 2.0, 1.0], [2.0, 4.0, -1.0], [3.0, 6.0, -1.0], [4.0, 8.0, 1.0]]
    >>> round(redundancy(X), 4)
    0.3333
    >>> round(redundancy(X, features=[0, 1]), 4)
    1.0
    """
    names = list(X.columns) if hasattr(X, "columns") else None
    if names is None and not is_sparse(X):
        X = np.asarray(X)
    if len(X.shape) != 2:
        raise ValueError(f"X must be two-dimensional, not of shape {X.shape}.")
    n_rows, n_columns = X.shape
    if n_rows == 0:
        raise ValueError("X has no rows; pass at least one sample.")
    positions = _column_positions(features, n_columns, names)
    columns = _take_columns(X, positions, names)
    n_chosen = len(positions)
    if n_chosen < 2:
        return 0.0

    means = _standardize(columns)
    total = 0.0
    for start in range(0, n_chosen, _BLOCK):
        block = slice(start, start + _BLOCK)
        products: Any = columns[:, block].T @ columns[:, start:]
        if is_sparse(products):
            products = products.toarray()
        products -= n_rows * np.outer(means[block], means[start:])
        # Above the diagonal, which starts where the block does, each pair appears once.
        total += float(np.triu(np.minimum(np.abs(products), 1.0), k=1).sum())
    return total / (n_chosen * (n_chosen - 1) / 2)
