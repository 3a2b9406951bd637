"""The landmark graph of a table, and how well landmarks keep its true neighbours together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.preprocessing import normalize
from sklearn.utils import check_random_state

from tamis._typing import IntArray, Matrix
from tamis.graphs._hubness import hubness
from tamis.graphs._landmark_graph import LandmarkGraph
from tamis.graphs._landmarks import Landmarks, choose_landmarks
from tamis.graphs._method import GraphReport
from tamis.graphs._weights import Weights
from tamis.utils.blocks import row_blocks
from tamis.utils.rows import squared_row_norms
from tamis.utils.sparse import is_sparse

# Samples whose exact neighbours tell how good a landmark graph is.
N_JUDGED = 100


def graph_by_landmarks(
    X: Matrix,
    n_nearest: int,
    weights: Weights,
    bandwidth: float | None,
    n_landmarks: int | None,
    random_state: int | np.random.RandomState | None,
    why: str,
) -> tuple[LandmarkGraph, GraphReport]:
    """The landmark graph of a table, and its report. O(n·m·d) with m landmarks."""
    rng = check_random_state(random_state)
    if weights == "cosine":
        X = normalize(X)
    landmarks = weighted_landmarks(
        X, n_nearest, weights, bandwidth, n_landmarks=n_landmarks, random_state=rng
    )
    graph = LandmarkGraph.from_landmarks(X, landmarks)
    report = GraphReport(
        "landmarks",
        why,
        n_landmarks=graph.n_landmarks,
        recall=_common_ties(X, graph, n_nearest, rng),
        hubness=hubness(graph),
    )
    return graph, report


def weighted_landmarks(
    X: Matrix,
    n_nearest: int,
    weights: Weights = "heat",
    bandwidth: float | None = None,
    *,
    n_landmarks: int | None = None,
    random_state: int | np.random.RandomState | None = 0,
) -> Landmarks:
    """Landmarks whose ties weigh as edges of a graph do; "cosine" wants rows of unit length."""
    landmarks = choose_landmarks(X, n_landmarks, n_nearest=n_nearest, random_state=random_state)
    if weights == "binary":
        return replace(landmarks, bandwidth=np.inf)
    return landmarks if bandwidth is None else replace(landmarks, bandwidth=bandwidth)


def _common_ties(
    X: Matrix, graph: LandmarkGraph, n_neighbors: int, rng: np.random.RandomState
) -> float:
    """The share of its ties that a sample has in common with a true neighbour, on some rows."""
    n_samples = X.shape[0]
    n_neighbors = min(n_neighbors, n_samples - 1)
    judged = np.sort(rng.choice(n_samples, min(N_JUDGED, n_samples), replace=False))
    nearest = _nearest_of(X, judged, n_neighbors)
    own = graph.ties[np.repeat(judged, n_neighbors)]
    return float(own.minimum(graph.ties[nearest.ravel()]).sum() / nearest.size)


def _nearest_of(X: Matrix, judged: IntArray, n_neighbors: int) -> IntArray:
    """The nearest other samples of some samples. O(nd) for each."""
    n_samples = X.shape[0]
    origin = np.zeros(X.shape[1]) if is_sparse(X) else X[judged].mean(axis=0)
    targets = (X[judged].toarray() if is_sparse(X) else X[judged] - origin).T
    found = np.empty((len(judged), 0), dtype=np.intp)
    squared = np.empty((len(judged), 0))
    for rows in row_blocks(n_samples, max(X.shape[1], len(judged)), block_size=1 << 21):
        block = X[rows] if is_sparse(X) else X[rows] - origin
        distances = squared_row_norms(block)[:, None] - 2 * (block @ targets)
        mine = (judged >= rows.start) & (judged < rows.stop)
        distances[judged[mine] - rows.start, np.flatnonzero(mine)] = np.inf  # itself
        squared = np.hstack([squared, distances.T])
        numbers = np.arange(rows.start, rows.stop)
        found = np.hstack([found, np.broadcast_to(numbers, (len(judged), len(numbers)))])
        if squared.shape[1] > n_neighbors:
            kept = np.argpartition(squared, n_neighbors - 1, axis=1)[:, :n_neighbors]
            squared = np.take_along_axis(squared, kept, axis=1)
            found = np.take_along_axis(found, kept, axis=1)
    return found
