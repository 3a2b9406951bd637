"""Which graph a table gets: exact, approximate or by landmarks, on all columns or on components."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any, Literal, overload

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize
from sklearn.utils import check_random_state

from tamis._typing import IntArray, Matrix, SparseMatrix
from tamis.graphs._hubness import Hubness, hubness
from tamis.graphs._landmark_graph import Graph, LandmarkGraph
from tamis.graphs._landmarks import Landmarks, choose_landmarks
from tamis.graphs._neighbors import KD_TREE_MIN_SAMPLES, Neighbors, nearest_neighbors
from tamis.graphs._weights import Symmetry, Weights, weighted_graph
from tamis.utils.blocks import row_blocks
from tamis.utils.rows import squared_row_norms
from tamis.utils.sparse import is_sparse

Method = Literal["auto", "exact", "approximate", "landmarks"]

# Multiplications that exact neighbours may cost: about a minute of one core.
EXACT_MAX = 2.5e12
# What a pair of samples costs beside its columns, in multiplications.
PAIR_COST = 32
# Samples whose exact neighbours tell how good a landmark graph is.
N_JUDGED = 100


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


def _explicit_method(X: Matrix) -> tuple[Method, str]:
    """Whether "exact" or "approximate", where each sample's own neighbours are needed."""
    method, why = affordable_method(X)
    if method == "exact":
        return method, why
    if find_spec("pynndescent") is None:
        return "exact", f"{why}, but cheaper ones need pynndescent (tamis[approximate])"
    return "approximate", why


def sample_neighbors(
    X: Matrix,
    n_neighbors: int = 5,
    *,
    method: Method = "auto",
    random_state: int | np.random.RandomState | None = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> tuple[Neighbors, GraphReport]:
    """An explicit list of neighbours, and how it was found.

    Parameters
    ----------
    X, n_neighbors, random_state, n_jobs, verbose
        As in :func:`nearest_neighbors`.
    method : {"auto", "exact", "approximate"}, default="auto"
        "auto" is exact where that is affordable, else approximate; without pynndescent, which the
        approximate search needs, it is exact in any case.

    Returns
    -------
    Neighbors, GraphReport

    Notes
    -----
    As :func:`nearest_neighbors`.
    """
    why = "asked for"
    if method == "landmarks":
        raise ValueError(
            "method='landmarks' gives no list of neighbours; use 'exact' or 'approximate'."
        )
    if method == "auto":
        method, why = _explicit_method(X)
    found = nearest_neighbors(
        X,
        n_neighbors,
        approximate=method == "approximate",
        random_state=random_state,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    return found, GraphReport(method, why, recall=found.recall, hubness=hubness(found))


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
        those of smallest angle. The angles are taken from zero: centre a table whose zero means
        nothing, a sparse one by its principal components.
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
    if neighbors is None and method in ("auto", "landmarks") and not approximate:
        graph, _ = sample_graph(
            X,
            n_neighbors,
            method=method,
            weights=weights,
            bandwidth=bandwidth,
            symmetry=symmetry,
            n_landmarks=n_landmarks,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        return graph
    _check_method(method)
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


def sample_graph(
    X: Matrix,
    n_neighbors: int = 5,
    *,
    method: Method = "auto",
    explicit: bool = False,
    weights: Weights = "heat",
    bandwidth: float | None = None,
    symmetry: Symmetry = "max",
    n_landmarks: int | None = None,
    random_state: int | np.random.RandomState | None = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> tuple[Graph, GraphReport]:
    """The graph of a table by the method that its size asks for, and how it was made.

    Parameters
    ----------
    X : {array-like, sparse} of shape (n_samples, n_features)
    n_neighbors : int, default=5
        Neighbours of each sample; of a landmark graph, the landmarks that it is tied to.
    method : {"auto", "exact", "approximate", "landmarks"}, default="auto"
        "auto" takes exact neighbours up to 2.5e12 multiplications, about a minute of one core, and
        landmarks beyond.
    explicit : bool, default=False
        Whether the edges themselves are needed: "auto" then takes approximate neighbours in place
        of landmarks, or, without pynndescent, exact ones.
    weights, bandwidth, symmetry
        As in :func:`neighbor_graph`. On landmarks they weigh the ties: "binary" ties to all alike,
        and "cosine" looks for landmarks among the directions of the rows.
    n_landmarks : int or None, default=None
        See :func:`choose_landmarks`.
    random_state : int, RandomState instance or None, default=0
        Of the approximate search, of the landmarks, and of the rows on which they are judged.
    n_jobs, verbose
        As in :func:`nearest_neighbors`.

    Returns
    -------
    graph : csr_array or LandmarkGraph
    report : GraphReport

    Notes
    -----
    Landmarks: O(n·m·d) for m of them, linear in n. Otherwise as :func:`neighbor_graph`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from tamis.graphs import sample_graph, spectral_embedding
    >>> graph, report = sample_graph(load_digits().data, method="landmarks", n_landmarks=200)
    >>> report.method, report.n_landmarks, round(report.recall, 2)
    ('landmarks', 200, 0.7)
    >>> spectral_embedding(graph, 3)[1].shape
    (1797, 3)
    """
    _check_method(method)
    why = "asked for"
    X = sp.csr_array(X) if is_sparse(X) else np.asarray(X)
    if method == "auto":
        method, why = _explicit_method(X) if explicit else affordable_method(X)
    if method == "landmarks":
        return _landmark_graph(X, n_neighbors, weights, bandwidth, n_landmarks, random_state, why)
    options: dict[str, Any] = {
        "approximate": method == "approximate",
        "random_state": random_state,
        "n_jobs": n_jobs,
        "verbose": verbose,
    }
    form: dict[str, Any] = {"weights": weights, "bandwidth": bandwidth, "symmetry": symmetry}
    if weights == "cosine":  # these have neighbours of their own
        graph = weighted_graph(X, n_neighbors, **form, **options)
        recall = None if method == "approximate" else 1.0
        return graph, GraphReport(method, why, recall=recall, hubness=hubness(graph))
    found = nearest_neighbors(X, n_neighbors, **options)
    graph = weighted_graph(X, neighbors=found, **form)
    return graph, GraphReport(method, why, recall=found.recall, hubness=hubness(found))


def _check_method(method: str) -> None:
    if method not in ("auto", "exact", "approximate", "landmarks"):
        raise ValueError(
            f"method={method!r} is unknown; use 'auto', 'exact', 'approximate' or 'landmarks'."
        )


def _landmark_graph(
    X: Matrix,
    n_nearest: int,
    weights: Weights,
    bandwidth: float | None,
    n_landmarks: int | None,
    random_state: int | np.random.RandomState | None,
    why: str,
) -> tuple[LandmarkGraph, GraphReport]:
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
