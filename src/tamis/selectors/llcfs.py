"""LLCFS: prefers columns from which the neighbours of each sample predict its cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.utils._param_validation import Interval

from tamis._typing import FloatArray, IntArray, Matrix, SparseMatrix
from tamis.base import OBJECTIVE, SOLVER
from tamis.graphs import CandidateEdges, LocalRegressions, Method, mean_spread
from tamis.selectors._graph import NeighborSelector
from tamis.solvers.eigen import smallest_beside
from tamis.solvers.stopping import has_converged
from tamis.solvers.table_operator import TableOperator
from tamis.utils.blocks import row_blocks
from tamis.utils.sparse import is_sparse

# How often a step that raises the objective is halved.
HALVINGS = 4
# Neighbours of one sample at most: those of a hub of the graph would make its rows dense.
MOST = 50


class LLCFS(NeighborSelector):
    r"""Local learning based clustering with feature selection: features that predict locally.

    Each sample's cluster is predicted from its neighbours by a ridge regression on weighted
    features; the clusters Y are those that are predicted best, and the weights of the features
    follow what the regressions use:

    .. math:: \min_{Y, \tau} \sum_i \|y_i - W_i^T x_i - b_i\|^2, \quad Y^T Y = I, \quad
       (W_i, b_i) = \arg\min \sum_{j \in N_i} \|y_j - W^T x_j - b\|^2
       + \lambda \sum_l \frac{\|w_l\|^2}{\tau_l}, \quad
       \tau_l \propto \Big(\sum_i \|w_{il}\|^2\Big)^{1/2}

    The weights τ are non-negative and sum to one. Features are ranked by those that follow from the
    last Y.

    Cost: the neighbour search, then in each step O(nk²d + nk³) for the regressions, O(nkcd) for
    their weights, nnz/n in place of d if sparse, and a sparse factorization for Y; memory
    O(nk² + nd). Sparse input is never densified.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps half.
    n_clusters : int, default=5
        c, the columns of Y, as far as there are samples.
    n_neighbors : int, default=5
        Neighbours of each sample, itself not counted. Those whose neighbour it is are added.
    neighbors : {"auto", "exact", "approximate"}, default="auto"
        How they are found. The method needs each sample's own neighbours, so that landmarks do not
        serve it: "auto" is exact up to about 70,000 samples × 784 columns, and approximate beyond
        where pynndescent is installed.
    ridge : float, default=1.0
        λ, in units of the mean squared distance of a neighbour from the mean of its neighbourhood
        where all weights are equal.
    affinity : {sparse, array-like} of shape (n_samples, n_samples) or None, default=None
        A precomputed symmetric graph, whose edges lead to the neighbours.
    max_iter : int, default=50
    tol : float, default=1e-2
        Relative decrease of the objective at which the descent stops; 0 runs `max_iter`
        iterations.
    n_jobs : int or None, default=None
        Threads of the neighbour search where it uses a tree.
    verbose : bool, default=False
        Whether to show a progress bar, on a terminal.
    keep : list of str or int, or None, default=None
        Columns that are always selected, by name, pattern ("id_*") or index. They come first; the
        others are ranked as without them, since the method does not choose given some.
    drop : list of str or int, or None, default=None
        Columns that are not looked at and never selected.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        τ: how long the weights of the feature are in all regressions of the last Y.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    embedding_ : ndarray of shape (n_samples, n_columns)
        Y: orthonormal, and orthogonal to what is constant on each component of the graph.
    objective_ : ndarray of shape (n_iter_,)
        What the predictions leave of Y, after each iteration; it never rises.
    n_iter_ : int
    solver_ : str
        The eigensolver that was used.
    graph_ : GraphReport
        How the graph was made, why so, and how good it is; see
        :class:`tamis.graphs.GraphReport`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    Where this departs from the paper:

    - Vectors that are constant on each component of the graph are predicted without error by no
      feature at all. The paper's Y contains the constant one, and all of them where the graph falls
      apart: for as many components as clusters nothing is left that could weigh a feature.
    - The neighbours are those in the columns as they come. Found anew among weighted features, as
      in the paper, they change the objective in each iteration, which then rises as often as it
      falls.
    - The weights follow another criterion than the clusters, so that the paper's step need not
      lower what Y minimises. It is taken in full where it does, else in part, in logarithms; where
      no part of it does, the descent has ended.
    - Neighbourhoods are made mutual by adding, not by leaving out, so that each sample has some. A
      sample that is a neighbour of many has the nearest 50.
    - λ, the paper's 1/β, is set in units of the table: free of its scale.

    References
    ----------
    H. Zeng, Y.-M. Cheung. Feature selection and kernel learning for local learning-based
    clustering. IEEE Transactions on Pattern Analysis and Machine Intelligence 33 (2011).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tamis import LLCFS
    >>> X = StandardScaler().set_output(transform="pandas").fit_transform(
    ...     load_wine(as_frame=True).data
    ... )
    >>> LLCFS(n_features_to_select=3, n_clusters=2).fit(X).get_feature_names_out()
    array(['alcohol', 'color_intensity', 'proline'], dtype=object)
    """

    _learned: ClassVar[dict[str, Any]] = {
        **OBJECTIVE,
        **SOLVER,
        "embedding_": ("n_samples", "_n_columns"),
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NeighborSelector._parameter_constraints,
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "ridge": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_clusters: int = 5,
        n_neighbors: int = 5,
        neighbors: Method = "auto",
        ridge: float = 1.0,
        affinity: Any = None,
        max_iter: int = 50,
        tol: float = 1e-2,
        n_jobs: int | None = None,
        verbose: bool = False,
        keep: Sequence[str | int] | None = None,
        drop: Sequence[str | int] | None = None,
    ) -> None:
        super().__init__(n_features_to_select, keep=keep, drop=drop)
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.neighbors = neighbors
        self.ridge = ridge
        self.affinity = affinity
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _n_columns(self, n_samples: int, n_features: int) -> int:
        """Columns of Y, beside the constant one."""
        return min(self.n_clusters, n_samples - 1)

    def _fit(self, X: Matrix) -> FloatArray:
        """Weights in turn with the regressions and clusters that follow from them."""
        model = LocalClusters(self, X, self._neighborhoods(X))
        found = model.start()
        objective: list[float] = []
        converged = self.tol == 0
        for _ in range(self.max_iter):
            following = model.update(found)
            ended = following is None
            found = following or found
            objective.append(found.objective)
            if ended or has_converged(objective, self.tol):
                converged = True
                break
        self.embedding_, self.solver_ = found.Y, found.solver
        self._set_path(np.array(objective), converged)
        wanted = model.wanted_weights(found)
        return found.tau if wanted is None else wanted

    def _neighborhoods(self, X: Matrix) -> list[tuple[IntArray, IntArray]]:
        """The neighbours of each sample and those whose neighbour it is, no more than `MOST`."""
        found = CandidateEdges(self._graph_or_neighbors(X), X.shape[0])
        if not found.sets:
            raise ValueError(
                "LLCFS finds no two samples that affinity joins; give a graph with edges."
            )
        graph = found.graph([np.ones(indices.shape) for _, indices in found.sets])
        mutual = CandidateEdges(graph, X.shape[0])
        most = max(MOST, self.n_neighbors)
        neighborhoods = []
        for (centres, indices), far in zip(mutual.sets, mutual.squared_distances(X), strict=True):
            nearest = np.argsort(far, axis=1, kind="stable")[:, :most]
            neighborhoods.append((centres, np.take_along_axis(indices, nearest, axis=1)))
        return neighborhoods


@dataclass(frozen=True)
class Clusters:
    """The clusters that are predicted best with some weights of the features.

    Attributes
    ----------
    tau : ndarray of shape (n_features,)
    regressions : LocalRegressions
    Y : ndarray of shape (n_samples, n_columns)
    objective : float
        What the predictions leave of Y, squared.
    solver : str
    """

    tau: FloatArray
    regressions: LocalRegressions
    Y: FloatArray
    objective: float
    solver: str


class LocalClusters:
    """The problem of a table and a graph, and a step of the weights that never raises its value.

    Parameters
    ----------
    settings : LLCFS
    X : {ndarray, CSR} of shape (n_samples, n_features)
    sets : list of (centres, indices)
        The neighbours of each sample; see :func:`tamis.graphs.local_sets`.
    """

    def __init__(self, settings: LLCFS, X: Matrix, sets: list[tuple[IntArray, IntArray]]) -> None:
        # Differences between samples count alone: the stored table, whatever of its mean is left.
        self.X = TableOperator.centred(X).stored
        self.sets = sets
        self.constants = component_indicators(sets, X.shape[0])
        n_samples, n_features = X.shape
        self.n_columns = min(settings.n_clusters, n_samples - self.constants.shape[1])
        self.ridge = settings.ridge * mean_spread(self.X, self.sets) / n_features or 1.0

    def start(self) -> Clusters:
        """The clusters with equal weights."""
        n_features = self.X.shape[1]
        return self.clusters(np.full(n_features, 1 / n_features))

    def clusters(self, tau: FloatArray, start: FloatArray | None = None) -> Clusters:
        """The clusters with the given weights."""
        root = np.sqrt(tau)
        weighted = self.X @ sp.diags_array(root) if is_sparse(self.X) else self.X * root
        regressions = LocalRegressions(weighted, self.sets, self.ridge)
        remainder = sp.csr_array(sp.eye_array(self.X.shape[0]) - regressions.predictions)
        found = smallest_beside(
            sp.csr_array(remainder.T @ remainder), self.constants, self.n_columns, start
        )
        left = remainder @ found.solution
        return Clusters(tau, regressions, found.solution, float(np.vdot(left, left)), found.solver)

    def update(self, found: Clusters) -> Clusters | None:
        """After the step of the weights, or a part of it; None if every part raises the value."""
        wanted = self.wanted_weights(found)
        if wanted is None:
            return None
        share = 1.0
        for _ in range(1 + HALVINGS):
            step = found.tau ** (1 - share) * wanted**share
            following = self.clusters(step / step.sum(), found.Y)
            if following.objective <= found.objective:
                return following
            share /= 2
        return None

    def wanted_weights(self, found: Clusters) -> FloatArray | None:
        """τ in proportion to the lengths of the rows of all W; None where no feature is used."""
        weights_map = found.regressions.weights_map(found.Y)
        squares = np.zeros(len(found.tau))
        for rows in row_blocks(weights_map.shape[0], self.X.shape[1]):
            scaled: Any = weights_map[rows] @ self.X
            squares += np.asarray((scaled * scaled).sum(axis=0)).ravel()
        lengths = found.tau * np.sqrt(squares)
        return lengths / lengths.sum() if lengths.any() else None


def component_indicators(sets: list[tuple[IntArray, IntArray]], n_samples: int) -> SparseMatrix:
    """Unit columns, constant on samples that neighbours connect and zero elsewhere. O(nk)."""
    row = np.concatenate([np.repeat(centres, indices.shape[1]) for centres, indices in sets])
    column = np.concatenate([indices.ravel() for _, indices in sets])
    graph = sp.csr_array((np.ones(len(row)), (row, column)), shape=(n_samples, n_samples))
    _, component = connected_components(graph, directed=False)
    values = 1 / np.sqrt(np.bincount(component)[component])
    return sp.csr_array((values, (np.arange(n_samples), component)))
