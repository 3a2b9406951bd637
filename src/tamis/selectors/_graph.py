"""What the methods with a graph of samples share."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from tamis._typing import FloatArray, Matrix, SparseMatrix
from tamis.base import Selector
from tamis.distributed import (
    CondensedTable,
    TieProducts,
    condensed_embedding,
    condensed_roughness,
)
from tamis.graphs import (
    CandidateEdges,
    GraphReport,
    LandmarkGraph,
    Method,
    Neighbors,
    Weights,
    check_affinity,
    feature_roughness,
    hubness,
    laplacian,
    lle_laplacian,
    sample_graph,
    sample_neighbors,
    spectral_embedding,
)
from tamis.solvers.residual import left_of
from tamis.solvers.table_operator import TableOperator
from tamis.utils.columns import centred_unit_columns

# Candidates of each sample where a graph is learned, in multiples of its neighbours.
CANDIDATES = 3


class NeighborSelector(Selector):
    """A selector that looks at the neighbours of each sample, in X or in a graph that it is given.

    A subclass has the parameters `n_neighbors`, `neighbors`, `affinity`, `n_jobs` and `verbose`,
    and learns `graph_`.
    """

    n_neighbors: int
    neighbors: Method
    affinity: Any
    n_jobs: int | None
    verbose: bool
    graph_: GraphReport
    # Of the ties to landmarks; a method may have parameters of these names.
    weights: Weights = "heat"
    bandwidth: float | None = None

    _learned: ClassVar[dict[str, Any]] = {
        "graph_": GraphReport("none", "all features are constant"),
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Selector._parameter_constraints,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "neighbors": [StrOptions({"auto", "exact", "approximate"})],
        "affinity": [None, "array-like", "sparse matrix"],
        "n_jobs": [None, Integral],
        "verbose": ["verbose"],
    }

    def _unused_parameters(self) -> set[str]:
        unused = super()._unused_parameters()
        return unused if self.affinity is None else unused | {"n_neighbors", "neighbors"}

    def _given_graph(self, n_samples: int) -> Any:
        """The precomputed `affinity`, checked; or None."""
        if self.affinity is None:
            return None
        graph = check_affinity(self.affinity, n_samples)
        n_landmarks = graph.n_landmarks if isinstance(graph, LandmarkGraph) else None
        self.graph_ = GraphReport("given", "affinity", n_landmarks, hubness=hubness(graph))
        return graph

    def _tie_products(self, X: CondensedTable) -> TieProducts:
        """The products of the columns with the ties of the rows to landmarks."""
        ties = X.tie_products(self.n_neighbors, self.weights, self.bandwidth)
        self.graph_ = GraphReport("landmarks", "the table is read in blocks", len(ties.mass))
        return ties

    def _graph_task(self) -> dict[str, Any]:
        if self.neighbors not in ("auto", "landmarks"):
            raise ValueError(
                f"neighbors={self.neighbors!r} needs all rows at once; a table that is read in "
                "blocks ties its rows to landmarks: take 'landmarks', or leave it at 'auto'."
            )
        return {name: getattr(self, name) for name in ("n_neighbors", "weights", "bandwidth")}

    def _candidates(self, X: Matrix) -> CandidateEdges:
        """Whom each sample may be joined with in a learned graph, three times its neighbours."""
        n_candidates = min(CANDIDATES * self.n_neighbors, X.shape[0] - 1)
        return CandidateEdges(self._graph_or_neighbors(X, n_candidates), X.shape[0])

    def _graph_or_neighbors(
        self, X: Matrix, n_neighbors: int | None = None
    ) -> SparseMatrix | Neighbors:
        """The precomputed `affinity`, checked, or the neighbours of each sample of X."""
        graph: SparseMatrix | None = self._given_graph(X.shape[0])
        if graph is not None:
            return graph
        found, self.graph_ = sample_neighbors(
            X,
            n_neighbors or self.n_neighbors,
            method=self.neighbors,
            n_jobs=self.n_jobs,
            verbose=bool(self.verbose),
        )
        self._warn_of_graph()
        return found

    def _warn_of_graph(self) -> None:
        """Warn of neighbours that nobody has asked for: not exact, or not of the columns."""
        hub = self.graph_.hubness
        if self.graph_.n_components is not None:
            self._warn(
                f"takes neighbours by their angles in {self.graph_.n_components} principal "
                f"components: {self.graph_.why}. affinity=neighbor_graph(X) keeps to the columns."
            )
        elif hub is not None and hub.is_star:
            self._warn(
                f"reads a graph in which one sample is a neighbour of {hub.share:.0%} of the "
                "others, which says little of their shape; fewer or other columns, or a graph of "
                "your own as affinity, may say more."
            )
        if self.neighbors == "auto" and self.graph_.method == "landmarks":
            self._warn(
                f"reads the graph from {self.graph_.n_landmarks} landmarks, since "
                f"{self.graph_.why}; neighbors='landmarks' or 'exact' decides it."
            )
        if self.neighbors == "auto" and self.graph_.method == "approximate":
            self._warn(
                f"takes approximate neighbours (recall {self.graph_.recall:.0%}), since "
                f"{self.graph_.why}; neighbors='approximate' or 'exact' decides it."
            )


class GraphSelector(NeighborSelector):
    """A selector that reads the data's shape from a graph of neighbouring samples.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps half.
    n_neighbors : int, default=5
        Neighbours of each sample in the graph, itself not counted.
    neighbors : {"auto", "exact", "approximate", "landmarks"}, default="auto"
        How they are found; "auto" takes landmarks where exact neighbours cost too much.
    weights : {"heat", "binary", "cosine"}, default="heat"
        Weights of the edges; see :func:`tamis.graphs.neighbor_graph`.
    bandwidth : float or None, default=None
        Bandwidth of the heat weights; None takes the median distance between neighbours.
    affinity : {sparse, array-like} of shape (n_samples, n_samples) or None, default=None
        A precomputed symmetric graph, used instead of the neighbours of X.
    n_jobs : int or None, default=None
        Threads of the neighbour search where it uses a tree.
    verbose : bool, default=False
        Whether to show a progress bar, on a terminal.
    keep : list of str or int, or None, default=None
        Columns that are always selected, by name, pattern ("id_*") or index.
    drop : list of str or int, or None, default=None
        Columns that are not looked at and never selected.
    """

    embedding_: FloatArray
    _needs_edges: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NeighborSelector._parameter_constraints,
        "neighbors": [StrOptions({"auto", "exact", "approximate", "landmarks"})],
        "affinity": [None, "array-like", "sparse matrix", LandmarkGraph],
        "weights": [StrOptions({"heat", "binary", "cosine"})],
        "bandwidth": [None, Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_neighbors: int = 5,
        neighbors: Method = "auto",
        weights: Weights = "heat",
        bandwidth: float | None = None,
        affinity: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        keep: Sequence[str | int] | None = None,
        drop: Sequence[str | int] | None = None,
    ) -> None:
        super().__init__(n_features_to_select, keep=keep, drop=drop)
        self.n_neighbors = n_neighbors
        self.neighbors = neighbors
        self.weights = weights
        self.bandwidth = bandwidth
        self.affinity = affinity
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _roughness(self, X: Matrix | CondensedTable, *, centre: bool) -> FloatArray:
        """How much each column varies along the edges of the graph of samples."""
        if isinstance(X, CondensedTable):
            return condensed_roughness(X, self._tie_products(X), centre=centre)
        return feature_roughness(self._sample_graph(X), X, centre=centre)

    def _regression_on_embedding(
        self, X: Matrix | CondensedTable, n_vectors: int
    ) -> tuple[TableOperator, FloatArray]:
        """The centred table, and the spectral embedding of the samples in centred unit columns.

        Of a table that is read in blocks both are replaced by ones with the same products, and no
        row has coordinates: `embedding_` is not set.
        """
        if isinstance(X, CondensedTable):
            embedded = condensed_embedding(X, self._tie_products(X), n_vectors)
            return embedded.table, embedded.targets
        _, Y = spectral_embedding(self._sample_graph(X), n_vectors)
        self.embedding_ = centred_unit_columns(Y)
        return TableOperator.centred(X, copied=False), self.embedding_

    def _left_to_rebuild(self, targets: FloatArray, X: TableOperator) -> FloatArray:
        """The targets of a regression on X, without what the columns to keep explain of them."""
        kept = np.flatnonzero(self._kept)
        return left_of(targets, X.columns(kept)) if len(kept) else targets

    def _sample_graph(self, X: Matrix) -> Any:
        """The precomputed `affinity`, checked, or the graph of X by the method of `neighbors`."""
        graph = self._given_graph(X.shape[0])
        if graph is not None:
            return graph
        graph, self.graph_ = sample_graph(
            X,
            self.n_neighbors,
            method=self.neighbors,
            explicit=self._needs_edges,
            weights=self.weights,
            bandwidth=self.bandwidth,
            n_jobs=self.n_jobs,
            verbose=bool(self.verbose),
        )
        self._warn_of_graph()
        return graph


class EdgeSelector(GraphSelector):
    """A graph selector that needs the edges themselves: landmarks do not serve it."""

    _needs_edges: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GraphSelector._parameter_constraints,
        "neighbors": NeighborSelector._parameter_constraints["neighbors"],
        "affinity": NeighborSelector._parameter_constraints["affinity"],
    }


def local_laplacian(X: Matrix, found: SparseMatrix | Neighbors, reg: float) -> SparseMatrix:
    """``(I − S)ᵀ(I − S)``, S rebuilding samples from neighbours, or the Laplacian of a graph."""
    if isinstance(found, Neighbors):
        return lle_laplacian(X, found, reg)
    return laplacian(found)
