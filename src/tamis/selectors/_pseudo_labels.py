"""Cluster labels to start from, for methods that learn labels and a selection together."""

from __future__ import annotations

from typing import Literal

import numpy as np

from tamis._typing import FloatArray, IntArray, Matrix, SparseMatrix
from tamis.clustering import indicator, kmeans, normalized_cut

__all__ = ["Init", "labels_as_factor", "pseudo_labels"]

Init = Literal["spectral", "kmeans"]

# What is added to 0/1 labels. Multiplicative steps never leave zero: without it no sample could
# change its cluster.
LABEL_OFFSET = 0.2


def pseudo_labels(
    X: Matrix,
    affinity: SparseMatrix | None,
    n_clusters: int,
    init: Init,
    random_state: int | np.random.RandomState | None = None,
) -> IntArray:
    """Labels of the samples: K-means of the spectral embedding of their graph, or of the table.

    Parameters
    ----------
    X : {ndarray, CSR} of shape (n_samples, n_features)
    affinity : csr_array of shape (n_samples, n_samples) or None
        Only "spectral" needs it.
    n_clusters : int
    init : {"spectral", "kmeans"}
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    ndarray of shape (n_samples,)
        From 0; fewer clusters than asked for where fewer samples are distinct.

    Notes
    -----
    O(nnz(affinity)) per Lanczos step and O(nc²) per iteration of K-means, or O(ndc) for "kmeans".
    """
    if init == "spectral":
        assert affinity is not None
        return normalized_cut(affinity, n_clusters, random_state=random_state)
    return kmeans(X, n_clusters, random_state=random_state).labels


def labels_as_factor(labels: IntArray, n_columns: int) -> FloatArray:
    """Labels as a positive factor with unit columns: 0/1, plus an offset, scaled. O(nc)."""
    U = np.full((len(labels), n_columns), LABEL_OFFSET)
    G = indicator(labels)
    U[:, : G.shape[1]] += G.toarray()
    return U / np.linalg.norm(U, axis=0)
