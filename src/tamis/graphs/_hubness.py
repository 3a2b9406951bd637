"""Hubs: samples that are neighbours of very many others, as wide, noisy tables have them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tamis._typing import FloatArray, IntArray
from tamis.graphs._landmark_graph import Graph, LandmarkGraph
from tamis.graphs._neighbors import Neighbors

# A graph in which a sample is a neighbour of so large a share of the others, and of so many, is a
# star: the distances of noisy, wide tables, in which one sample near the mean is everybody's
# neighbour.
STAR_SHARE = 0.2
STAR_DEGREE = 50
# And of so many times as many as the mean sample: with many neighbours each, that is no hub.
STAR_EXCESS = 5


@dataclass(frozen=True)
class Hubness:
    """How unevenly the samples of a graph are chosen as neighbours.

    Attributes
    ----------
    largest : int
        How many others the most popular sample is a neighbour of.
    share : float
        The same as a share of all other samples.
    mean : float
        How many others the mean sample is a neighbour of.
    skewness : float
        Of these numbers over all samples: about 1 or less where neighbours are mutual, 10 and more
        where few samples take all.
    """

    largest: int
    share: float
    mean: float
    skewness: float

    @property
    def is_star(self) -> bool:
        """Whether one sample neighbours a fifth of the others, fifty, and 5 times the mean."""
        least = max(STAR_DEGREE, STAR_EXCESS * self.mean)
        return self.share > STAR_SHARE and self.largest > least


def hubness(graph: Graph | Neighbors) -> Hubness:
    """How popular the most popular sample is, and how skewed popularity is. O(nnz).

    Parameters
    ----------
    graph : csr_array, LandmarkGraph or Neighbors
        Of neighbours, those that name a sample are counted, of a symmetric graph its edges, and of
        a landmark graph the samples that are tied to a landmark.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.graphs import hubness, nearest_neighbors
    >>> X = np.vstack([np.zeros(200), np.eye(200)])  # all equally far apart but for the first
    >>> hubness(nearest_neighbors(X, 1)).share
    1.0
    """
    counts = _counts(graph)
    n_others = max(1, _n_samples(graph) - 1)
    largest = int(counts.max(initial=0))
    deviations = counts - counts.mean()
    spread = np.sqrt(np.mean(deviations**2))
    skewness = float(np.mean(deviations**3) / spread**3) if spread > 0 else 0.0
    return Hubness(largest, min(1.0, largest / n_others), float(counts.mean()), skewness)


def is_star(graph: Graph | Neighbors) -> bool:
    """Whether a sample neighbours a fifth of the others, fifty, and 5 times the mean. O(nnz)."""
    return hubness(graph).is_star


def _counts(graph: Graph | Neighbors) -> IntArray | FloatArray:
    if isinstance(graph, Neighbors):
        return np.bincount(graph.indices.ravel(), minlength=len(graph.indices))
    if isinstance(graph, LandmarkGraph):
        return np.bincount(graph.ties.indices, minlength=graph.n_landmarks)
    return np.diff(graph.indptr)


def _n_samples(graph: Graph | Neighbors) -> int:
    return len(graph.indices) if isinstance(graph, Neighbors) else graph.shape[0]
