"""Reading sets of features: indices, names or masks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.metrics._vector import vector


def _read_features(features: Any, name: str) -> tuple[str, NDArray[Any]]:
    """Read one feature set; tell whether it is a mask, indices, names, or empty."""
    if isinstance(features, str | bytes) or not isinstance(features, Iterable):
        raise TypeError(f"{name} must be a collection of features, not {features!r}.")
    if not hasattr(features, "__array__"):
        features = list(features)  # numpy does not read sets and iterators
    array = vector(features, name)
    if array.dtype == bool:
        return "mask", array
    if array.size == 0:
        return "empty", array
    if array.dtype.kind in "iu":
        if array.min() < 0:
            raise ValueError(f"{name} has the negative index {array.min()}; count features from 0.")
        kind = "indices"
    elif array.dtype == object and all(isinstance(feature, str) for feature in array):
        kind = "names"
    else:
        raise TypeError(f"{name} must hold integer indices only, names only, or a boolean mask.")
    feature, count = Counter(array.tolist()).most_common(1)[0]
    if count > 1:
        raise ValueError(
            f"{name} repeats {feature!r}; list each feature once, or pass booleans for a mask."
        )
    return kind, array


def feature_sets(
    selections: Sequence[Any], names: Sequence[str], n_features: int | None
) -> tuple[list[frozenset[Any]], int | None]:
    """Read feature sets of one kind; return them with the number of features, if it is known."""
    if n_features is not None:
        if not isinstance(n_features, Integral) or n_features < 0:
            raise ValueError(f"n_features must be a non-negative integer, not {n_features!r}.")
        n_features = int(n_features)  # a small numpy integer would overflow
    read = [
        _read_features(features, name) for features, name in zip(selections, names, strict=True)
    ]
    kinds = {kind for kind, _ in read} - {"empty"}
    if len(kinds) > 1:
        raise TypeError(
            f"{names[0]} to {names[-1]} mix {' and '.join(sorted(kinds))}; pass feature sets of "
            "one kind."
        )
    for (kind, array), name in zip(read, names, strict=True):
        if kind == "mask":
            if n_features is None:
                n_features = array.size
            elif array.size != n_features:
                raise ValueError(
                    f"{name} is a mask of length {array.size}, but there are {n_features} "
                    "features; pass one boolean per feature."
                )
        elif kind == "indices" and n_features is not None and array.max() >= n_features:
            raise ValueError(
                f"{name} has the index {array.max()}, but there are {n_features} features; "
                "count features from 0."
            )
    sets = [
        frozenset((np.flatnonzero(array) if kind == "mask" else array).tolist())
        for kind, array in read
    ]
    if "names" in kinds and n_features is not None:
        n_named = len(frozenset().union(*sets))
        if n_named > n_features:
            raise ValueError(
                f"{n_named} different features are named, but there are {n_features} features; "
                "check the names."
            )
    return sets, n_features
