"""What the methods with a graph of samples share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, TypeVar

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
    Neighbors,
    Weights,
    check_affinity,
    feature_roughness,
    laplacian,
    lle_laplacian,
    neighbor_graph,
    spectral_embedding,
)
from tamis.solvers.residual import left_of
from tamis.solvers.table_operator import TableOperator
from tamis.utils.columns import centred_unit_columns

SearchResult = TypeVar("SearchResult")


class NeighborSelector(Selector):
    """A selector that looks at the neighbours of each sample, in X or in a graph that it is given.

    A subclass has the parameters `n_neighbors`, `affinity`, `n_jobs` and `verbose`.
    """

    n_neighbors: int
    affinity: Any
    n_jobs: int | None
    verbose: bool
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Selector._parameter_constraints,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "affinity": [None, "array-like", "sparse matrix"],
        "n_jobs": [None, Integral],
        "verbose": ["verbose"],
    }

    def _unused_parameters(self) -> set[str]:
        unused = super()._unused_parameters()
        return unused if self.affinity is None else unused | {"n_neighbors"}

    def _affinity_or(
        self, search: Callable[..., SearchResult], X: Matrix, **options: Any
    ) -> SparseMatrix | SearchResult:
        """The precomputed `affinity`, checked, or what `search` finds among the samples."""
        if self.affinity is not None:
            return check_affinity(self.affinity, X.shape[0])
        return search(
            X, self.n_neighbors, n_jobs=self.n_jobs, verbose=bool(self.verbose), **options
        )


class GraphSelector(NeighborSelector):
    """A selector that reads the data's shape from a graph of neighbouring samples.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps half.
    n_neighbors : int, default=5
        Neighbours of each sample in the graph, itself not counted.
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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NeighborSelector._parameter_constraints,
        "weights": [StrOptions({"heat", "binary", "cosine"})],
        "bandwidth": [None, Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_neighbors: int = 5,
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
        return TableOperator.centred(X), self.embedding_

    def _tie_products(self, X: CondensedTable) -> TieProducts:
        return X.tie_products(self.n_neighbors)

    def _graph_task(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("n_neighbors", "weights", "bandwidth")}

    def _left_to_rebuild(self, targets: FloatArray, X: TableOperator) -> FloatArray:
        """The targets of a regression on X, without what the columns to keep explain of them."""
        kept = np.flatnonzero(self._kept)
        return left_of(targets, X.columns(kept)) if len(kept) else targets

    def _sample_graph(self, X: Matrix) -> SparseMatrix:
        """The precomputed `affinity`, checked, or the neighbour graph of X."""
        return self._affinity_or(neighbor_graph, X, weights=self.weights, bandwidth=self.bandwidth)


def local_laplacian(X: Matrix, found: SparseMatrix | Neighbors, reg: float) -> SparseMatrix:
    """``(I − S)ᵀ(I − S)``, S rebuilding samples from neighbours, or the Laplacian of a graph."""
    if isinstance(found, Neighbors):
        return lle_laplacian(X, found, reg)
    return laplacian(found)
