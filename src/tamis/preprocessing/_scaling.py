"""Columns brought to a common scale, whatever their offsets and units."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from tamis._typing import IntArray, Matrix
from tamis.utils.columns import columns_of_rounding, extent, variances
from tamis.utils.messages import describe_columns
from tamis.utils.sparse import canonical_csr, is_sparse

Scaling = Literal["none", "unit", "columns", "standard"]

# A column whose range is less than this share of its largest value is shifted before it is squared.
_FAR = 1024.0


def scaled(X: Matrix, scaling: Scaling, feature_names: Any = None) -> Matrix:
    """X in float64 and scaled; sparse tables are never shifted. O(nd).

    Columns that do not vary beyond rounding are left unscaled, with a warning that names them.
    """
    dtype = X.dtype
    X = X.astype(np.float64)
    if scaling == "none":
        return X
    if scaling == "unit":
        if is_sparse(X):
            return X / (abs(X).max() or 1.0)
        return (X - X.min()) / (np.ptp(X) or 1.0)
    X, left = scaled_columns(X, scaling, dtype)
    warn_of_columns_left(left, feature_names)
    return X


def scaled_columns(X: Matrix, scaling: Scaling, dtype: Any) -> tuple[Matrix, IntArray]:
    """Columns standardised, or brought to the range 0 to 1, whatever their offset and unit.

    Each column is first multiplied by a power of two that brings its largest value near 1, and one
    that is far from zero beside its range is first shifted to begin at zero: both are exact, so
    that neither squares of small values vanish nor does a large offset drown the differences.

    Parameters
    ----------
    X : {ndarray, CSR} of shape (n_samples, n_features)
        In float64; it is overwritten.
    scaling : {"standard", "columns"}
    dtype : dtype
        The type that the values had, to which they were rounded.

    Returns
    -------
    X : {ndarray, CSR}
    left : ndarray of int
        Columns that vary, but not beyond rounding. They are left as constant: zero, or of a sparse
        table as they were.
    """
    scaler = scaler_for(scaling, is_sparse(X))
    assert scaler is not None
    lowest, highest = extent(X)
    largest = np.maximum(np.abs(lowest), np.abs(highest))
    with np.errstate(over="ignore"):  # an infinite range is a wide one
        width = highest - lowest
    precision = dtype if np.dtype(dtype).kind == "f" else np.float64
    left = columns_of_rounding(X, lowest, highest, precision=precision, own_scale=True)
    constant = width == 0
    constant[left] = True
    if is_sparse(X):
        X = canonical_csr(X)
        _, exponent = np.frexp(np.where(constant, 0.5, largest))  # 0.5 has the exponent 0
        X.data = np.ldexp(X.data, -exponent[X.indices])
        if scaling == "columns":
            return scaler.fit_transform(X), left
        deviations = np.sqrt(variances(X))
        deviations[constant] = 1.0
        X.data /= deviations[X.indices]
        return X, left
    X -= np.where(width < largest / _FAR, lowest, 0.0)
    X[:, left] = 0.0
    _, exponent = np.frexp(np.abs(X).max(axis=0, initial=0.0))
    np.ldexp(X, -exponent, out=X)
    return scaler.fit_transform(X), left


def warn_of_columns_left(columns: IntArray, names: Any) -> None:
    """Name the columns that scaling could not bring to a common scale, if there are any."""
    if len(columns):
        verb = "does" if len(columns) == 1 else "do"
        warnings.warn(
            f"{describe_columns(columns, names)} {verb} not vary beyond rounding: left as "
            "constant, not scaled; subtract the offset before the table is written, or drop them.",
            UserWarning,
            stacklevel=3,
        )


def scaler_for(scaling: Scaling, sparse: bool) -> TransformerMixin | None:
    """The scikit-learn transformer that scales each column so, or None where there is none."""
    if scaling == "columns":
        return MaxAbsScaler() if sparse else MinMaxScaler()
    return StandardScaler(with_mean=not sparse) if scaling == "standard" else None
