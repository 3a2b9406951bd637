"""The weighted, symmetric graph of neighbours, and graphs from elsewhere."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from tamis._typing import FloatArray, IntArray, Matrix, SparseMatrix
from tamis.graphs._landmark_graph import LandmarkGraph
from tamis.graphs._neighbors import Neighbors, directed_graph, nearest_neighbors
from tamis.graphs._tiles import power_of_two_scale
from tamis.utils.rows import squared_row_norms
from tamis.utils.sparse import is_sparse

Weights = Literal["binary", "heat", "cosine"]


Symmetry = Literal["max", "mean", "min"]


def weighted_graph(
    X: Matrix,
    n_neighbors: int = 5,
    *,
    weights: Weights = "heat",
    bandwidth: float | None = None,
    symmetry: Symmetry = "max",
    neighbors: Neighbors | None = None,
    **search: Any,
) -> SparseMatrix:
    """The symmetric, weighted graph of neighbours; see :func:`tamis.graphs.neighbor_graph`.

    `search` are the options of :func:`nearest_neighbors`. O(nk) beyond it.
    """
    if weights not in ("heat", "binary", "cosine"):
        raise ValueError(f"weights={weights!r} is unknown; use 'heat', 'binary' or 'cosine'.")
    if bandwidth is not None and not bandwidth > 0:
        raise ValueError(f"bandwidth={bandwidth} must be positive, or None for the median.")
    _check_symmetry(symmetry)
    X = sp.csr_array(X) if is_sparse(X) else np.asarray(X)
    n_samples = X.shape[0]
    directed = np.arange(n_samples)  # samples that have a direction, with cosine weights
    if weights == "cosine":
        if neighbors is not None:
            raise ValueError("weights='cosine' has neighbours of its own; leave out neighbors.")
        X, directed = _unit_rows(X)
        if n_neighbors >= len(directed):
            raise ValueError(
                f"n_neighbors={n_neighbors} is too large: weights='cosine' needs rows that are not "
                f"zero, and X has {len(directed)} of them."
            )
    if neighbors is None:
        neighbors = nearest_neighbors(X, n_neighbors, **search)
    if weights == "heat":
        values = _heat(neighbors.distances, bandwidth)
    elif weights == "cosine":
        values = 1 - neighbors.distances**2 / 2
        values[values < 1e-12] = 0  # of right angles only rounding is left
    else:
        values = np.ones_like(neighbors.distances)
    graph = directed_graph(neighbors.indices, values)
    if len(directed) < n_samples:
        edges = sp.coo_array(graph)
        place = tuple(directed[ends] for ends in edges.coords)
        graph = sp.csr_array((edges.data, place), shape=(n_samples, n_samples))
    return symmetrize(graph, symmetry)


def _unit_rows(X: Matrix) -> tuple[Matrix, IntArray]:
    """The rows that are not zero, scaled to unit length in float64, and which they are."""
    X = X.astype(np.float64)
    X = X * power_of_two_scale(max(float(X.max()), -float(X.min())))
    directed = np.flatnonzero(squared_row_norms(X))
    return normalize(X[directed]), directed


def _heat(distances: FloatArray, bandwidth: float | None) -> FloatArray:
    if bandwidth is None:
        bandwidth = float(np.median(distances))
        if bandwidth == 0:  # at least half of the neighbours are duplicates
            bandwidth = float(distances.mean())
        if bandwidth == 0:
            return np.ones_like(distances)
    weights = np.exp(-0.5 * (distances / bandwidth) ** 2)
    if not weights.any():
        raise ValueError(
            f"bandwidth={bandwidth:g} leaves no edge: the nearest neighbours are "
            f"{distances.min():.3g} or more apart; use a larger one, or None for the median."
        )
    return weights


def symmetrize(graph: Any, symmetry: Symmetry = "max") -> SparseMatrix:
    """One weight for both directions of each edge: their maximum, mean or minimum. O(nk).

    Use it on directed graphs from elsewhere, such as scikit-learn's ``kneighbors_graph``, before
    they are passed as ``affinity=``.
    """
    _check_symmetry(symmetry)
    graph = sp.csr_array(graph)
    if symmetry == "max":
        graph = graph.maximum(graph.T)
    elif symmetry == "mean":
        graph = (graph + graph.T) / 2
    else:
        graph = graph.minimum(graph.T)
    graph = sp.csr_array(graph)
    graph.eliminate_zeros()
    return graph


def _check_symmetry(symmetry: str) -> None:
    if symmetry not in ("max", "mean", "min"):
        raise ValueError(f"symmetry={symmetry!r} is unknown; use 'max', 'mean' or 'min'.")


def check_affinity(affinity: Any, n_samples: int) -> Any:
    """A precomputed graph as a CSR array, or an error that says what is wrong with it. O(nnz).

    A landmark graph of so many samples is returned as it is.
    """
    if isinstance(affinity, LandmarkGraph):
        if affinity.shape[0] == n_samples:
            return affinity
        raise ValueError(
            f"affinity is a landmark graph of {affinity.shape[0]} samples, but X has {n_samples}: "
            "it must be computed from the same rows."
        )
    try:
        graph = sp.csr_array(affinity, dtype=np.float64, copy=True)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"affinity must be a sparse or dense matrix of numbers, not "
            f"{type(affinity).__name__}; build one with tamis.graphs.neighbor_graph."
        ) from error
    if graph.shape != (n_samples, n_samples):
        raise ValueError(
            f"affinity has shape {graph.shape}, but X has {n_samples} samples: it must be "
            f"({n_samples}, {n_samples}), computed from the same rows."
        )
    if not np.isfinite(graph.data).all():
        raise ValueError("affinity contains NaN or infinity; its weights must be finite.")
    if (graph.data < 0).any():
        raise ValueError("affinity contains negative weights; they must be at least zero.")
    asymmetry = abs(graph - graph.T)
    if asymmetry.nnz and asymmetry.max() > 1e-10 * graph.max():
        raise ValueError(
            "affinity is not symmetric; pass tamis.graphs.symmetrize(affinity) instead."
        )
    if not graph.data.any():
        raise ValueError("affinity has no edge of positive weight.")
    graph.eliminate_zeros()
    return graph
