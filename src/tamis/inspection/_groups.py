"""Groups of samples, to colour them by."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from tamis._typing import FloatArray, IntArray
from tamis.base import Selector
from tamis.clustering import kmeans
from tamis.inspection._views import principal_coordinates

MOST_GROUPS = 10
QUANTILES = 5
# Principal coordinates that K-means looks at.
COORDINATES = 20


@dataclass(frozen=True)
class Groups:
    """A group for each sample.

    Attributes
    ----------
    source : str
        Where they come from, in words.
    names : tuple of str
    codes : ndarray of int
        Index into `names` for each sample.
    ordered : bool
        Whether the names have an order, as ranges of a number do.
    """

    source: str
    names: tuple[str, ...]
    codes: IntArray
    ordered: bool = False


def check_labels(labels: Any, n_samples: int) -> np.ndarray[Any, Any]:
    """The labels as a vector, one for each sample."""
    values = np.asarray(labels.to_numpy() if hasattr(labels, "to_numpy") else labels)
    if values.shape != (n_samples,):
        raise ValueError(
            f"labels has the shape {values.shape}, but X has {n_samples} rows; give one label a "
            "row."
        )
    return values


def find_groups(
    selector: Selector,
    rows: IntArray,
    gram: FloatArray,
    *,
    labels: np.ndarray[Any, Any] | None = None,
    n_samples: int,
    random_state: np.random.RandomState,
    columns: str = "all columns",
) -> Groups:
    """The given labels of some rows, else the selector's clusters, else those of K-means.

    K-means looks at the inner products `gram` of the rows; `columns` says in words of what.
    """
    if labels is not None:
        return group_labels(labels[rows])
    found = getattr(selector, "labels_", None)
    if found is not None and len(found) == n_samples:
        name = type(selector).__name__
        return _cluster_groups(np.asarray(found)[rows], f"the clusters that {name} found")
    wanted = getattr(selector, "n_clusters", None) or 5
    n_clusters = max(1, min(wanted, MOST_GROUPS, len(rows)))
    points = principal_coordinates(gram, min(COORDINATES, len(rows)))
    clusters = kmeans(points, n_clusters, random_state=random_state)
    return _cluster_groups(clusters.labels, f"clusters that K-means found in {columns}")


def _cluster_groups(codes: IntArray, source: str) -> Groups:
    names = np.array([f"cluster {code + 1}" for code in range(int(codes.max()) + 1)], dtype=object)
    return _commonest(names, codes, source)


def class_codes(labels: np.ndarray[Any, Any]) -> IntArray | None:
    """Labels as codes from 0, missing ones as -1; None where they are no classes.

    Classes are at least two and have two rows each on average; fractions are measured numbers as
    soon as there are more than ten different ones.
    """
    known = np.array([not (label is None or label != label) for label in labels], dtype=bool)
    codes = np.full(len(labels), -1, dtype=np.intp)
    text = np.array([str(label) for label in labels[known]], dtype=object)
    names, codes[known] = np.unique(text, return_inverse=True)
    measured = labels.dtype.kind == "f" and len(names) > MOST_GROUPS
    if measured or not 2 <= len(names) <= np.count_nonzero(known) / 2:
        return None
    return codes


def group_labels(labels: np.ndarray[Any, Any]) -> Groups:
    """Labels as at most ten groups: ranges of a measured number, else the commonest labels."""
    if labels.dtype.kind == "f" and len(np.unique(labels[np.isfinite(labels)])) > MOST_GROUPS:
        return _ranges(labels)
    text = np.array([str(label) for label in labels], dtype=object)
    names, codes = np.unique(text, return_inverse=True)
    if labels.dtype.kind in "iuf":  # in the order of the numbers, not of their digits
        order = np.argsort([float(name) for name in names], kind="stable")
        names, codes = names[order], np.argsort(order)[codes]
    return _commonest(names, codes, "the labels")


def _ranges(values: FloatArray) -> Groups:
    known = np.isfinite(values)
    edges = np.unique(np.quantile(values[known], np.linspace(0, 1, QUANTILES + 1)))
    codes = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
    names = [f"{low:.3g} to {high:.3g}" for low, high in pairwise(edges)]
    if not known.all():
        codes[~known] = len(names)
        names.append("missing")
    return Groups("the labels, in ranges", tuple(names), codes, ordered=True)


def _commonest(names: Any, codes: IntArray, source: str) -> Groups:
    """Keep the order of the groups; beyond the most that colours can tell, the rarest are one."""
    if len(names) <= MOST_GROUPS:
        return Groups(source, tuple(names), codes)
    counts = np.bincount(codes, minlength=len(names))
    large = np.sort(np.argsort(-counts, kind="stable")[: MOST_GROUPS - 1])
    place = np.full(len(names), MOST_GROUPS - 1)
    place[large] = np.arange(len(large))
    others = f"{len(names) - len(large)} others"
    return Groups(source, (*names[large], others), place[codes])
