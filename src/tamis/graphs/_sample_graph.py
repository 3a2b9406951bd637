"""Which graph a table gets: exact, approximate or by landmarks, on all columns or on components."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from tamis._typing import FloatArray, Matrix
from tamis.graphs._hubness import hubness
from tamis.graphs._landmark_graph import Graph
from tamis.graphs._landmark_search import graph_by_landmarks
from tamis.graphs._method import (
    GraphReport,
    Method,
    affordable_method,
    affordable_search,
    check_method,
)
from tamis.graphs._neighbors import Neighbors, nearest_neighbors
from tamis.graphs._weights import Symmetry, Weights, weighted_graph
from tamis.solvers.principal import principal_components
from tamis.solvers.table_operator import TableOperator
from tamis.utils.sparse import canonical_csr, is_sparse

# Principal components and weights for tables in whose columns one sample neighbours all others.
N_COMPONENTS = 50
WITHOUT_HUB: Weights = "cosine"
# They are taken where they are less than this share of the columns: of fewer little noise is shed.
WIDE = 0.1


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
        method, why = affordable_search(X)
    found = nearest_neighbors(
        X,
        n_neighbors,
        approximate=method == "approximate",
        random_state=random_state,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    return found, GraphReport(method, why, recall=found.recall, hubness=hubness(found))


def sample_graph(
    X: Matrix,
    n_neighbors: int = 5,
    *,
    method: Method = "auto",
    n_components: int | Literal["auto"] | None = "auto",
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
    n_components : int, "auto" or None, default="auto"
        Principal components in which the neighbours are sought; None takes the columns as they are.
        "auto" takes the columns too, but where there are more than 500 and their graph is a star
        (see :func:`is_star`) it takes the angles in 50 components, if these have less of a hub.
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
    check_method(method)
    X = sp.csr_array(X) if is_sparse(X) else np.asarray(X)
    options: dict[str, Any] = {
        "bandwidth": bandwidth,
        "symmetry": symmetry,
        "n_landmarks": n_landmarks,
        "random_state": random_state,
        "n_jobs": n_jobs,
        "verbose": verbose,
    }
    if isinstance(n_components, int):
        seen = leading_scores(X, n_components)
        method, why = _chosen(seen, method, explicit)
        graph, report = _graph_of(seen, n_neighbors, method, why, weights, **options)
        return graph, replace(report, n_components=seen.shape[1])
    chosen, why = _chosen(X, method, explicit)
    graph, report = _graph_of(X, n_neighbors, chosen, why, weights, **options)
    if n_components is None or report.hubness is None or not report.hubness.is_star:
        return graph, report
    if WIDE * X.shape[1] <= N_COMPONENTS:
        return graph, report
    seen = leading_scores(X, N_COMPONENTS)
    chosen, _ = _chosen(seen, method, explicit)
    options["bandwidth"] = None
    why = (
        f"one sample is a neighbour of {report.hubness.share:.0%} of the others in all columns, "
        "whose noise outweighs what tells the samples apart"
    )
    other, other_report = _graph_of(seen, n_neighbors, chosen, why, WITHOUT_HUB, **options)
    assert other_report.hubness is not None
    if other_report.hubness.share >= report.hubness.share:
        return graph, report
    return other, replace(other_report, n_components=seen.shape[1])


def leading_scores(X: Matrix, n_components: int = N_COMPONENTS) -> FloatArray:
    """The samples in the leading principal components of a table, which is centred for it.

    Parameters
    ----------
    X : {ndarray, sparse} of shape (n_samples, n_features)
        Sparse input is centred implicitly and never densified.
    n_components : int, default=50
        As far as the table has them.

    Returns
    -------
    ndarray of shape (n_samples, n_components)

    Notes
    -----
    O(nd·min(n, d)) for a dense table with a side of at most 2000, otherwise O(nd) per Lanczos step.
    """
    X = canonical_csr(X) if is_sparse(X) else X
    _, directions = principal_components(X, min(n_components, *X.shape))
    return TableOperator.centred(X, copied=False).times(directions)


def _chosen(X: Matrix, method: Method, explicit: bool) -> tuple[Method, str]:
    if method != "auto":
        return method, "asked for"
    return affordable_search(X) if explicit else affordable_method(X)


def _graph_of(
    X: Matrix,
    n_neighbors: int,
    method: Method,
    why: str,
    weights: Weights,
    *,
    bandwidth: float | None,
    symmetry: Symmetry,
    n_landmarks: int | None,
    random_state: int | np.random.RandomState | None,
    n_jobs: int | None,
    verbose: bool,
) -> tuple[Graph, GraphReport]:
    """The graph by one method, of the table as it is."""
    if method == "landmarks":
        return graph_by_landmarks(
            X, n_neighbors, weights, bandwidth, n_landmarks, random_state, why
        )
    search: dict[str, Any] = {
        "approximate": method == "approximate",
        "random_state": random_state,
        "n_jobs": n_jobs,
        "verbose": verbose,
    }
    form: dict[str, Any] = {"weights": weights, "bandwidth": bandwidth, "symmetry": symmetry}
    if weights == "cosine":  # these have neighbours of their own
        graph = weighted_graph(X, n_neighbors, **form, **search)
        recall = None if method == "approximate" else 1.0
        return graph, GraphReport(method, why, recall=recall, hubness=hubness(graph))
    found = nearest_neighbors(X, n_neighbors, **search)
    graph = weighted_graph(X, neighbors=found, **form)
    return graph, GraphReport(method, why, recall=found.recall, hubness=hubness(graph))
