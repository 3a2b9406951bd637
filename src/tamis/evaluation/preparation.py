"""Tables as a protocol wants them: drawn samples, scaled columns, kept for the next run."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis import datasets
from tamis._typing import IntArray, Matrix
from tamis.clustering import normalized_cut
from tamis.datasets.loading import Origin
from tamis.evaluation.fingerprints import description, digest
from tamis.evaluation.mixed import MixedTable
from tamis.graphs import neighbor_graph
from tamis.preprocessing import Scaling, drawn_samples, scaled
from tamis.utils.fingerprint import fingerprint

__all__ = ["Data", "contents_name", "differences", "prepared", "reference_clusters"]


Data = str | datasets.Dataset | MixedTable

# Neighbours in the graph of a normalised cut.
N_NEIGHBORS = 5


def contents_name(data: Data) -> str:
    """What a table holds, in a few letters: of a set by name, the checksum of the local copy.

    A set that is not available, or cannot be read, has the name of the registry's copy: that is
    what a download gives, or nothing.
    """
    if isinstance(data, str):
        try:
            copy = datasets.local_copy(data)
        except datasets.DatasetError:
            known = datasets.entry(data)
            return known.sha256 or known.name
        if copy.difference:
            warnings.warn(
                f"the local copy of {data!r} {copy.difference}; results may not compare with "
                "others'.",
                datasets.DatasetWarning,
                stacklevel=2,
            )
        return copy.sha256
    if isinstance(data, MixedTable):
        return digest(description([data.X, data.y, data.preparation, data.n_clusters]))
    return f"{fingerprint(data.X)} {_label_name(data.y)} {data.n_clusters}"


def differences(names: Iterable[str]) -> dict[str, str]:
    """Those of the sets whose local copy is not the registry's, each with how it differs."""
    found = {}
    for name in names:
        with suppress(datasets.DatasetError):  # what cannot be read is told by the runs that fail
            difference = datasets.local_copy(name).difference
            if difference:
                found[name] = difference
    return found


def _label_name(y: NDArray[Any] | None) -> str:
    return "" if y is None else hashlib.blake2b(repr(list(y)).encode(), digest_size=8).hexdigest()


def prepared(
    data: Data, scaling: Scaling, max_samples: int | None, seed: int
) -> tuple[Matrix, IntArray | None]:
    """The table and its labels, as codes from 0. Registered sets are kept for the next call."""
    if isinstance(data, str):
        return _prepared_by_name(data, datasets.origin(data), scaling, max_samples, seed)
    if isinstance(data, MixedTable):
        X, labels, preparation, _ = data.prepared(max_samples, seed)
        y = None if labels is None else np.unique(labels, return_inverse=True)[1].ravel()
        return scaled(X, scaling, preparation.get_feature_names_out()), y
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
    data: datasets.Dataset, scaling: Scaling, max_samples: int | None, seed: int
) -> tuple[Matrix, IntArray | None]:
    rows = drawn_samples(data.X.shape[0], max_samples, seed)
    X = data.X if isinstance(rows, slice) else data.X[rows]
    y = None
    if data.y is not None:
        y = np.unique(data.y[rows], return_inverse=True)[1].ravel()
    return scaled(X, scaling, data.feature_names), y


# The clusters that were found last: every run on a table is compared with the same.
_last_reference: dict[tuple[str, int, int], IntArray] = {}


def reference_clusters(X: Matrix, n_clusters: int, seed: int) -> IntArray:
    """A normalised cut of all columns, for selections to agree with when there are no labels."""
    key = (fingerprint(X), n_clusters, seed)
    if key not in _last_reference:
        graph = neighbor_graph(X, min(N_NEIGHBORS, X.shape[0] - 1))
        found = normalized_cut(graph, n_clusters, random_state=seed)
        _last_reference.clear()
        _last_reference[key] = found
    return _last_reference[key]
