"""What the methods with a graph of samples share."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, StrOptions

from tamis._typing import Matrix, SparseMatrix
from tamis.base import Selector
from tamis.graphs import Weights, check_affinity, neighbor_graph


class GraphSelector(Selector):
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
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Selector._parameter_constraints,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "weights": [StrOptions({"heat", "binary", "cosine"})],
        "bandwidth": [None, Interval(Real, 0, None, closed="neither")],
        "affinity": [None, "array-like", "sparse matrix"],
        "n_jobs": [None, Integral],
        "verbose": ["verbose"],
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
    ) -> None:
        super().__init__(n_features_to_select)
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.bandwidth = bandwidth
        self.affinity = affinity
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _sample_graph(self, X: Matrix) -> SparseMatrix:
        """The precomputed `affinity`, checked, or the neighbour graph of X."""
        if self.affinity is not None:
            return check_affinity(self.affinity, X.shape[0])
        return neighbor_graph(
            X,
            self.n_neighbors,
            weights=self.weights,
            bandwidth=self.bandwidth,
            n_jobs=self.n_jobs,
            verbose=bool(self.verbose),
        )
