"""Which way to a sample graph a table can afford, and the report of the way that was taken."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal

import numpy as np

from tamis._typing import Matrix
from tamis.graphs._hubness import Hubness
from tamis.graphs._neighbors import KD_TREE_MIN_SAMPLES
from tamis.utils.sparse import is_sparse

Method = Literal["auto", "exact", "approximate", "landmarks"]

# Multiplications that exact neighbours may cost: about a minute of one core.
EXACT_MAX = 2.5e12
# What a pair of samples costs beside its columns, in multiplications.
PAIR_COST = 32


@dataclass(frozen=True)
class GraphReport:
    """How a sample graph was made, and how good it is.

    Attributes
    ----------
    method : str
        "exact", "approximate" or "landmarks"; "given" for a graph that was passed, "none" for a
        table without a column that varies.
    why : str
        Why this method.
    n_landmarks : int or None
    n_components : int or None
        Principal components in which the neighbours were sought; None for all columns.
    recall : float or None
        The share of the true nearest neighbours that were found: 1 if exact, measured on some rows
        if approximate. Of a landmark graph, the share of its ties that a sample has in common with
        a true nearest neighbour, measured on some rows: 0 for strangers.
    hubness : Hubness or None
        How unevenly the samples are chosen as neighbours.
    """

    method: str
    why: str
    n_landmarks: int | None = None
    n_components: int | None = None
    recall: float | None = None
    hubness: Hubness | None = None


def affordable_method(X: Matrix) -> tuple[Method, str]:
    """Whether "exact" or "landmarks" fits the size of the table, and why.

    Exact neighbours where their cost is at most 2.5e12 multiplications, about a minute of one core
    (70,000 samples × 784 columns, or 200,000 × 80), or where a k-d tree finds them.
    """
    n_samples, n_features = X.shape
    if not is_sparse(X) and n_features <= np.log2(max(1, n_samples) / KD_TREE_MIN_SAMPLES):
        return "exact", f"a tree finds the neighbours in {n_features} columns"
    per_row = X.nnz / n_samples if is_sparse(X) else n_features
    cost = n_samples**2 * (per_row + PAIR_COST) / 2
    if cost <= EXACT_MAX:
        return "exact", f"exact neighbours cost {cost:.1g} multiplications, which is affordable"
    return "landmarks", (
        f"exact neighbours of {n_samples:,} samples would cost {cost:.1g} multiplications, more "
        f"than {EXACT_MAX:.1g}"
    )


def affordable_search(X: Matrix) -> tuple[Method, str]:
    """Whether "exact" or "approximate", where each sample's own neighbours are needed."""
    method, why = affordable_method(X)
    if method == "exact":
        return method, why
    if find_spec("pynndescent") is None:
        return "exact", f"{why}, but cheaper ones need pynndescent (tamis[approximate])"
    return "approximate", why


def check_method(method: str) -> None:
    """Refuse a method that does not exist."""
    if method not in ("auto", "exact", "approximate", "landmarks"):
        raise ValueError(
            f"method={method!r} is unknown; use 'auto', 'exact', 'approximate' or 'landmarks'."
        )
