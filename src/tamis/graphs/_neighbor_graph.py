"""The neighbour graph of a table, as it is asked for."""

from __future__ import annotations

from typing import Literal, overload

import numpy as np

from tamis._typing import Matrix, SparseMatrix
from tamis.graphs._landmark_graph import Graph
from tamis.graphs._method import Method, check_method
from tamis.graphs._neighbors import Neighbors
from tamis.graphs._sample_graph import leading_scores, sample_graph
from tamis.graphs._weights import Symmetry, Weights, weighted_graph


@overload
def neighbor_graph(
    X: Matrix,
    n_neighbors: int = ...,
    *,
    method: Literal["exact", "approximate"] = ...,
    weights: Weights = ...,
    bandwidth: float | None = ...,
    symmetry: Symmetry = ...,
    neighbors: Neighbors | None = ...,
    approximate: bool = ...,
    n_components: int | None = ...,
    n_landmarks: int | None = ...,
    random_state: int | np.random.RandomState | None = ...,
    n_jobs: int | None = ...,
    verbose: bool = ...,
) -> SparseMatrix: ...
@overload
def neighbor_graph(
    X: Matrix,
    n_neighbors: int = ...,
    *,
    method: Method,
    weights: Weights = ...,
    bandwidth: float | None = ...,
    symmetry: Symmetry = ...,
    neighbors: Neighbors | None = ...,
    approximate: bool = ...,
    n_components: int | None = ...,
    n_landmarks: int | None = ...,
    random_state: int | np.random.RandomState | None = ...,
    n_jobs: int | None = ...,
    verbose: bool = ...,
) -> Graph: ...
def neighbor_graph(
    X: Matrix,
    n_neighbors: int = 5,
    *,
    method: Method = "exact",
    weights: Weights = "heat",
    bandwidth: float | None = None,
    symmetry: Symmetry = "max",
    neighbors: Neighbors | None = None,
    approximate: bool = False,
    n_components: int | None = None,
    n_landmarks: int | None = None,
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> Graph:
    """The symmetric, weighted graph of each sample and its nearest neighbours.

    Parameters
    ----------
    X : {array-like, sparse} of shape (n_samples, n_features)
    n_neighbors : int, default=5
        Neighbours of each sample, itself not counted; less than `n_samples`. Of a landmark graph,
        the landmarks that each sample is tied to.
    method : {"exact", "approximate", "landmarks", "auto"}, default="exact"
        "auto" chooses between exact neighbours and landmarks by the size of the table;
        :func:`sample_graph` also tells which, why, and how good the graph is.
    weights : {"heat", "binary", "cosine"}, default="heat"
        Weight of the edge between two neighbours at distance r: ``exp(-r²/(2·bandwidth²))``, 1, or
        the cosine of their angle (negative ones count as 0). With "cosine" the neighbours too are
        those of smallest angle. The angles are taken from zero: where that means nothing, as for
        counts of genes, take them from the mean, with `n_components`.
    bandwidth : float or None, default=None
        Of the heat weights. None takes the median distance between neighbours, which makes the
        weights free of the data's scale.
    symmetry : {"max", "mean", "min"}, default="max"
        How the two directions of an edge become one: "max" keeps an edge that either end chose,
        "min" one that both chose, "mean" halves an edge that only one end chose.
    neighbors : Neighbors or None, default=None
        Already known Euclidean neighbours, for heat and binary weights; `n_neighbors` is then
        unused.
    approximate : bool, default=False
        The same as ``method="approximate"``.
    n_components : int or None, default=None
        Seek the neighbours in so many leading principal components, of the centred table; None
        takes the columns as they are.
    n_landmarks : int or None, default=None
        See :func:`choose_landmarks`.
    random_state, n_jobs, verbose
        As in :func:`nearest_neighbors`.

    Returns
    -------
    csr_array of shape (n_samples, n_samples) or LandmarkGraph
        Symmetric, non-negative, zero diagonal, float64; or the landmark graph in place of it.

    Notes
    -----
    The cost is that of :func:`nearest_neighbors` and O(nk), or O(n·m·d) with m landmarks.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.graphs import neighbor_graph
    >>> neighbor_graph(np.array([[0.0], [1.0], [3.0]]), 1, weights="binary").toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    check_method(method)
    if neighbors is None and n_components is not None:
        X = leading_scores(X, n_components)
    if neighbors is None and method in ("auto", "landmarks") and not approximate:
        graph, _ = sample_graph(
            X,
            n_neighbors,
            method=method,
            weights=weights,
            bandwidth=bandwidth,
            symmetry=symmetry,
            n_components=None,
            n_landmarks=n_landmarks,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        return graph
    return weighted_graph(
        X,
        n_neighbors,
        weights=weights,
        bandwidth=bandwidth,
        symmetry=symmetry,
        neighbors=neighbors,
        approximate=approximate or method == "approximate",
        random_state=random_state,
        n_jobs=n_jobs,
        verbose=verbose,
    )
