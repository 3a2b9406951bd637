"""Graphs whose weights are learned: each sample spreads a weight of one over its candidates."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from tamis._typing import FloatArray, IntArray, Matrix, SparseMatrix
from tamis.graphs._local_geometry import local_gram, local_sets
from tamis.graphs._neighbors import Neighbors
from tamis.graphs._tiles import pair_distances

__all__ = ["WEIGHT_SMOOTHING", "CandidateEdges", "affine_weights", "simplex_weights"]

# ζ of weights of sum one: those below its root count as zero.
WEIGHT_SMOOTHING = 1e-12


class CandidateEdges:
    """The pairs of samples that may be joined: each sample and its candidates.

    A list with one array per number of candidates that occurs holds what belongs to the pairs, in
    the shape (samples with so many, candidates).

    Parameters
    ----------
    graph : Neighbors or csr_array of shape (n_samples, n_samples)
        The candidates of each sample: its neighbours, or what it is joined with.
    n_samples : int

    Attributes
    ----------
    sets : list of (centres, indices)
    """

    def __init__(self, graph: SparseMatrix | Neighbors, n_samples: int) -> None:
        self.n_samples = n_samples
        self.sets: list[tuple[IntArray, IntArray]] = local_sets(graph)

    def squared_distances(self, X: Matrix) -> list[FloatArray]:
        """Of each sample and its candidates as rows of X. O(nkd)."""
        found = []
        for centres, indices in self.sets:
            left = np.repeat(centres, indices.shape[1])
            found.append(pair_distances(X, left, indices.ravel()).reshape(indices.shape))
        return found

    def ridge_for(self, costs: list[FloatArray], n_neighbors: int) -> float:
        """The α for which :func:`simplex_weights` gives `n_neighbors` weights, on the average.

        The mean, over the samples, of the smallest that gives a sample so many; positive.
        """
        needed = []
        for cost in costs:
            ordered = np.sort(cost, axis=1)
            k = min(n_neighbors, ordered.shape[1] - 1)
            if k > 0:
                needed.append((k * ordered[:, k] - ordered[:, :k].sum(axis=1)) / 2)
        mean = float(np.concatenate(needed).mean()) if needed else 0.0
        largest = max((float(cost.max(initial=0)) for cost in costs), default=0.0)
        return mean or largest or 1.0

    def weights(self, costs: list[FloatArray], ridge: float) -> list[FloatArray]:
        """The weights of each sample that :func:`simplex_weights` gives."""
        return [simplex_weights(-cost / (2 * ridge)) for cost in costs]

    def rebuilding(
        self, Y: FloatArray, start: list[FloatArray], penalty: float, n_steps: int
    ) -> list[FloatArray]:
        """Sparse weights of sum one that rebuild each row of Y; see :func:`affine_weights`."""
        return [
            affine_weights(local_gram(Y, centres, indices), weights, penalty, n_steps)
            for (centres, indices), weights in zip(self.sets, start, strict=True)
        ]

    def directed(self, weights: list[FloatArray]) -> SparseMatrix:
        """S: the weights of each sample in its row. O(nk)."""
        rows = [np.repeat(centres, indices.shape[1]) for centres, indices in self.sets]
        columns = [indices.ravel() for _, indices in self.sets]
        values = [weight.ravel() for weight in weights]
        return sp.csr_array(
            (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))),
            shape=(self.n_samples, self.n_samples),
        )

    def graph(self, weights: list[FloatArray]) -> SparseMatrix:
        """The symmetric graph ``(S + Sᵀ)/2``. O(nk)."""
        directed = self.directed(weights)
        graph = sp.csr_array((directed + directed.T) / 2)
        graph.eliminate_zeros()
        return graph


def affine_weights(
    grams: FloatArray, start: FloatArray, penalty: float, n_steps: int
) -> FloatArray:
    """Descend on ``sᵀGs + penalty·Σ_j sqrt(s_j² + ζ)`` under ``Σ_j s_j = 1``, by reweighting.

    G holds the products of the differences between a sample and its candidates: the first term is
    what s leaves of the sample. Each step minimises a majorant, so that the value never rises.

    Parameters
    ----------
    grams : ndarray of shape (m, k, k)
    start : ndarray of shape (m, k)
        Of sum one.
    penalty : float
        Positive.
    n_steps : int

    Notes
    -----
    O(mk³) per step.
    """
    weights = start
    for _ in range(n_steps):
        root = (weights**2 + WEIGHT_SMOOTHING) ** 0.25
        system = root[:, :, None] * grams * root[:, None, :]
        diagonal = np.arange(weights.shape[1])
        system[:, diagonal, diagonal] += penalty / 2
        found = root * np.linalg.solve(system, root[:, :, None])[:, :, 0]
        weights = found / found.sum(axis=1, keepdims=True)
    return weights


def simplex_weights(points: FloatArray) -> FloatArray:
    """The nearest point of the simplex to each row: non-negative, of sum one. O(mk log k)."""
    ordered = -np.sort(-points, axis=1)
    counts = np.arange(1, points.shape[1] + 1)
    # The mean excess if the largest j were positive; the right j is the last that keeps its own.
    excess = (np.cumsum(ordered, axis=1) - 1) / counts
    last = points.shape[1] - 1 - np.argmax((ordered > excess)[:, ::-1], axis=1)
    threshold = excess[np.arange(len(points)), last][:, None]
    return (points - threshold).clip(min=0)
