"""Tables as a protocol wants them: drawn samples, scaled columns, kept for the next run."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
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
from tamis.evaluation.protocol import Scaling
from tamis.graphs import neighbor_graph

__all__ = [
    "Data",
    "OwnTable",
    "contents_name",
    "drawn_samples",
    "prepared",
    "reference_clusters",
    "scaled",
    "scaler_for",
]


@dataclass(frozen=True)
class OwnTable:
    """A table that is not in the registry.

    Attributes
    ----------
    name : str
    X : {ndarray, sparse} of shape (n_samples, n_features)
    y : array-like of shape (n_samples,) or None
        Labels to judge by. Without them selections are judged by their agreement with a
        clustering of all features.
    n_clusters : int
        Clusters to look for where there are no labels.
    """

    name: str
    X: Matrix
    y: NDArray[Any] | None = None
    n_clusters: int = 5

    @property
    def n_classes(self) -> int:
        """Number of classes, or of clusters to look for."""
        return self.n_clusters if self.y is None else len(np.unique(np.asarray(self.y)))


Data = str | datasets.Dataset | OwnTable


def contents_name(data: Data) -> str:
    """What a table holds, in a few letters: by the registry, or by its bytes."""
    if isinstance(data, str):
        known = datasets.entry(data)
        return known.sha256 or known.name
    if isinstance(data, datasets.Dataset):
        return f"{fingerprint(data.X)} {_label_name(data.y)}"
    return f"{fingerprint(data.X)} {_label_name(data.y)} {data.n_clusters}"


def _label_name(y: NDArray[Any] | None) -> str:
    return "" if y is None else hashlib.blake2b(repr(list(y)).encode(), digest_size=8).hexdigest()


def scaled(X: Matrix, scaling: Scaling) -> Matrix:
    """X in float64 and scaled; sparse tables are never shifted. O(nd)."""
    X = X.astype(np.float64)
    if scaling == "none":
        return X
    if scaling == "unit":
        if sp.issparse(X):
            return X / (abs(X).max() or 1.0)
        return (X - X.min()) / (np.ptp(X) or 1.0)
    scaler = scaler_for(scaling, sp.issparse(X))
    assert scaler is not None
    return scaler.fit_transform(X)


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
        return _prepared_by_name(data, scaling, max_samples, seed)
    return _prepare(data, scaling, max_samples, seed)


@lru_cache(maxsize=2)  # one to fit on, one to judge on
def _prepared_by_name(
    name: str, scaling: Scaling, max_samples: int | None, seed: int
) -> tuple[Matrix, IntArray | None]:
    return _prepare(datasets.load(name), scaling, max_samples, seed)


def _prepare(
    data: datasets.Dataset | OwnTable, scaling: Scaling, max_samples: int | None, seed: int
) -> tuple[Matrix, IntArray | None]:
    rows = drawn_samples(data.X.shape[0], max_samples, seed)
    X = data.X if isinstance(rows, slice) else data.X[rows]
    y = None
    if data.y is not None:
        y = np.unique(np.asarray(data.y)[rows], return_inverse=True)[1].ravel()
    return scaled(X, scaling), y


def reference_clusters(X: Matrix, n_clusters: int, seed: int) -> IntArray:
    """A normalised cut of all columns, for selections to agree with when there are no labels."""
    graph = neighbor_graph(X, min(5, X.shape[0] - 1))
    return normalized_cut(graph, n_clusters, random_state=seed)
