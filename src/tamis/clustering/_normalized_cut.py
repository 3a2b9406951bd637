"""Normalised cut."""

from __future__ import annotations

import numpy as np

from tamis._typing import IntArray, SparseMatrix
from tamis.clustering._kmeans import kmeans
from tamis.graphs import spectral_embedding


def normalized_cut(
    affinity: SparseMatrix,
    n_clusters: int,
    *,
    n_init: int = 10,
    random_state: int | np.random.RandomState | None = None,
) -> IntArray:
    """Clusters of a graph with few edges between them, relative to their sizes (Shi and Malik).

    The relaxed problem is solved exactly: its solution is the spectral embedding, whose rows
    K-means then groups.

    Parameters
    ----------
    affinity : csr_array of shape (n_samples, n_samples)
        Symmetric and non-negative, such as :func:`tamis.graphs.neighbor_graph` returns.
    n_clusters : int
    n_init : int, default=10
        Starts of K-means.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    ndarray of shape (n_samples,)
        From 0; fewer clusters than asked for where fewer rows of the embedding are distinct.

    Notes
    -----
    O(nnz(affinity)) per Lanczos step and O(nc²) per iteration of K-means.

    References
    ----------
    .. [1] J. Shi and J. Malik (2000). Normalized cuts and image segmentation. IEEE Transactions
       on Pattern Analysis and Machine Intelligence 22, 888-905.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.clustering import normalized_cut
    >>> from tamis.graphs import neighbor_graph
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    >>> normalized_cut(neighbor_graph(X, 2), 2, random_state=0)
    array([1, 1, 1, 0, 0, 0])
    """
    # The constant eigenvector tells nothing: c of them are c − 1 others.
    embedding = spectral_embedding(affinity, max(1, n_clusters - 1))[1]
    return kmeans(embedding, n_clusters, n_init=n_init, random_state=random_state).labels
