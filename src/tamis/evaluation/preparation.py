"""Tables as a protocol wants them: drawn samples, scaled columns, kept for the next run."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from tamis import datasets
from tamis._neighbor_memory import fingerprint
from tamis._typing import IntArray, Matrix
from tamis.clustering import normalized_cut
from tamis.columns import (
    canonical_csr,
    columns_of_rounding,
    describe_columns,
    extent,
    variances,
)
from tamis.datasets.loading import Origin
from tamis.evaluation.own_table import OwnTable
from tamis.evaluation.protocol import Scaling
from tamis.graphs import neighbor_graph

__all__ = [
    "Data",
    "contents_name",
    "differences",
    "drawn_samples",
    "prepared",
    "reference_clusters",
    "scaled",
    "scaled_columns",
    "scaler_for",
    "warn_of_columns_left",
]

# A column whose range is less than this share of its largest value is shifted before it is squared.
_FAR = 1024.0


Data = str | datasets.Dataset | OwnTable


def contents_name(data: Data) -> str:
    """What a table holds, in a few letters: of a set by name, the checksum of the copy at hand.

    A set that is not at hand, or cannot be read, has the name of the registry's copy: that is what
    a download gives, or nothing.
    """
    if isinstance(data, str):
        try:
            copy = datasets.copy_at_hand(data)
        except datasets.DatasetError:
            known = datasets.entry(data)
            return known.sha256 or known.name
        if copy.difference:
            warnings.warn(
                f"the copy of {data!r} at hand {copy.difference}; results may not compare with "
                "others'.",
                datasets.DatasetWarning,
                stacklevel=2,
            )
        return copy.sha256
    if isinstance(data, datasets.Dataset):
        return f"{fingerprint(data.X)} {_label_name(data.y)}"
    return f"{fingerprint(data.X)} {_label_name(data.y)} {data.n_clusters}"


def differences(names: Iterable[str]) -> dict[str, str]:
    """Those of the sets whose copy at hand is not the registry's, each with how it differs."""
    found = {}
    for name in names:
        with suppress(datasets.DatasetError):  # what cannot be read is told by the runs that fail
            difference = datasets.copy_at_hand(name).difference
            if difference:
                found[name] = difference
    return found


def _label_name(y: NDArray[Any] | None) -> str:
    return "" if y is None else hashlib.blake2b(repr(list(y)).encode(), digest_size=8).hexdigest()


def scaled(X: Matrix, scaling: Scaling, feature_names: Any = None) -> Matrix:
    """X in float64 and scaled; sparse tables are never shifted. O(nd).

    Columns that do not vary beyond rounding are left unscaled, with a warning that names them.
    """
    dtype = X.dtype
    X = X.astype(np.float64)
    if scaling == "none":
        return X
    if scaling == "unit":
        if sp.issparse(X):
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
    scaler = scaler_for(scaling, sp.issparse(X))
    assert scaler is not None
    lowest, highest = extent(X)
    largest = np.maximum(np.abs(lowest), np.abs(highest))
    with np.errstate(over="ignore"):  # an infinite range is a wide one
        width = highest - lowest
    precision = dtype if np.dtype(dtype).kind == "f" else np.float64
    left = columns_of_rounding(X, lowest, highest, precision=precision, own_scale=True)
    constant = width == 0
    constant[left] = True
    if sp.issparse(X):
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


def drawn_samples(n_samples: int, most: int | None, seed: int) -> IntArray | slice:
    """Which samples are taken: all, or `most` of them at random, in their order."""
    if most is None or n_samples <= most:
        return slice(None)
    return np.sort(np.random.default_rng(seed).choice(n_samples, most, replace=False))


def prepared(
    data: Data, scaling: Scaling, max_samples: int | None, seed: int
) -> tuple[Matrix, IntArray | None]:
    """The table and its labels, as codes from 0. Registered sets are kept for the next call."""
    if isinstance(data, str):
        return _prepared_by_name(data, datasets.origin(data), scaling, max_samples, seed)
    return _prepare(data, scaling, max_samples, seed)


@lru_cache(maxsize=2)  # one to fit on, one to judge on
def _prepared_by_name(
    name: str,
    origin: Origin | None,
    scaling: Scaling,
    max_samples: int | None,
    seed: int,
) -> tuple[Matrix, IntArray | None]:
    with warnings.catch_warnings():
        # That a copy is not the registry's was told when the run was planned: see contents_name.
        warnings.simplefilter("ignore", datasets.DatasetWarning)
        table = datasets.load(name)
    return _prepare(table, scaling, max_samples, seed)


def _prepare(
    data: datasets.Dataset | OwnTable, scaling: Scaling, max_samples: int | None, seed: int
) -> tuple[Matrix, IntArray | None]:
    rows = drawn_samples(data.X.shape[0], max_samples, seed)
    X = data.X if isinstance(rows, slice) else data.X[rows]
    y = None
    if data.y is not None:
        y = np.unique(data.y[rows], return_inverse=True)[1].ravel()
    return scaled(X, scaling), y


def reference_clusters(X: Matrix, n_clusters: int, seed: int) -> IntArray:
    """A normalised cut of all columns, for selections to agree with when there are no labels."""
    graph = neighbor_graph(X, min(5, X.shape[0] - 1))
    return normalized_cut(graph, n_clusters, random_state=seed)
