"""EGCFS: prefers columns in which near samples are joined and clusters lie apart."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval

from tamis._typing import FloatArray, IntArray, Matrix, SparseMatrix
from tamis.base import OBJECTIVE, SOLVER
from tamis.clustering import cluster_means, indicator, kmeans
from tamis.graphs import CandidateEdges, Method, laplacian
from tamis.selectors._graph import NeighborSelector
from tamis.solvers.ratio_trace import scatter_root
from tamis.solvers.refinement import Refinement
from tamis.solvers.row_norms import row_norms
from tamis.solvers.stopping import has_converged
from tamis.solvers.table_operator import TableOperator
from tamis.solvers.weighted_gram import WeightedGram
from tamis.solvers.whitened_l21 import whitened_l21, whitened_norms
from tamis.utils.sparse import is_sparse

# Reweighting steps of the first projection, and of each later one.
FIRST_STEPS, STEPS = 50, 3
# Rows of W below this fraction of the largest are outside its support.
SUPPORT = 1e-4


class EGCFS(NeighborSelector):
    r"""Adaptive graph learning and constraint: a learned graph, and clusters that lie apart.

    In a projection that uses few features near samples are joined, with probabilities P, and the
    scatter between clusters is as large as it can be; graph, clusters and projection are learned
    together. With the scatter :math:`S_w` within the clusters, what is not between them,

    .. math:: \min_{W, P, \text{clusters}} \; \mathrm{tr}(W^T S_w W)
        + \beta \sum_{ij} \left( \|W^T x_i - W^T x_j\|^2 p_{ij} + \mu p_{ij}^2 \right)
        + \gamma \|W\|_{2,1},

    under :math:`W^T X^T X W = I`, with probabilities of sum one in each row. Features are ranked by
    the norms of the rows of W.

    Cost: the neighbour search, then in each iteration O(nkc) for the graph, O(nc²) per step of
    K-means and, for the projection, O(nd² + d³) where d ≤ n, O(n²d + n³) where n < d; memory
    O(nd + nk + min(n, d)²). Sparse input is never densified. Tables with more than 6000 of both
    samples and features are refused.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps half.
    n_clusters : int, default=5
        c.
    n_components : int or None, default=None
        The columns of W; None takes c − 1, in which c clusters can lie apart, and at least one.
    n_neighbors : int, default=5
        Neighbours that a sample keeps in P on the average, itself not counted; three times as many
        are candidates.
    neighbors : {"auto", "exact", "approximate"}, default="auto"
        How they are found. The method needs each sample's own neighbours, so that landmarks do not
        serve it: "auto" is exact up to about 70,000 samples × 784 columns, and approximate beyond
        where pynndescent is installed.
    beta : float, default=1.0
        β, the weight of the graph beside the clusters.
    gamma : float, default=0.1
        γ, the penalty on W, for a table brought to a mean variance of 1/n.
    ridge : float, default=0.1
        δ, added to the diagonal of XᵀX, in units of its mean, and (1 + 2β)δ to that of the form
        in W that is minimised: where X tells nothing, W gains nothing.
    affinity : {sparse, array-like} of shape (n_samples, n_samples) or None, default=None
        A precomputed symmetric graph, whose edges are the candidates.
    max_iter : int, default=200
    tol : float, default=1e-4
        Relative decrease of the objective at which the descent stops; 0 runs `max_iter`
        iterations.
    random_state : int, RandomState instance or None, default=0
        Seed of the K-means starts of the first clusters.
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
        Norms of the rows of W.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    coef_ : ndarray of shape (n_features, n_columns)
        W; zero rows for constant features.
    n_support_ : int
        Rows of W that the penalty has left.
    labels_ : ndarray of shape (n_samples,)
        The clusters, from 0.
    objective_ : ndarray of shape (n_iter_,)
        The objective after each iteration; it never rises.
    n_iter_ : int
    solver_ : str
        The eigensolver that was used, and why.
    graph_ : GraphReport
        How the graph was made, why so, and how good it is; see
        :class:`tamis.graphs.GraphReport`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    The paper's text was not at hand: what it does is read from the program of its authors that
    AutoUFSTool has. Where this departs from that:

    - The constraint is that the projected table is white, WᵀXᵀXW = I; there it is WᵀW = I, under
      which the graph rewards directions that vary little and the clusters those that vary much, so
      that the weight between both decides about variance. With a white projection the scatter
      between the clusters is a constant less the one within, and nothing is unbounded.
    - Clusters are clusters, from K-means in the projection. There the indicators are relaxed to c
      orthonormal vectors: where W has no more columns than that, the scatter between these is the
      whole scatter of the projection, and no cluster is left in the problem.
    - A sample is joined with candidates, its nearest in X, not with any sample; μ is set once, from
      the first projection, such that P keeps `n_neighbors` on the average.
    - The blocks descend on one objective. There the step of W weighs the indicators by λ and the
      objective does not, γ changes with every graph, and it stops at a change below 0.1 of
      whatever unit the objective has.
    - XᵀX has a ridge, and so has the form that is minimised, as in :class:`FSASL`.

    References
    ----------
    R. Zhang, Y. Zhang, X. Li. Unsupervised feature selection via adaptive graph learning and
    constraint. IEEE Transactions on Neural Networks and Learning Systems 33 (2022).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tamis import EGCFS
    >>> X = StandardScaler().set_output(transform="pandas").fit_transform(
    ...     load_wine(as_frame=True).data
    ... )
    >>> EGCFS(n_features_to_select=3, n_clusters=3).fit(X).get_feature_names_out()
    array(['alcohol', 'color_intensity', 'proline'], dtype=object)
    """

    _learned: ClassVar[dict[str, Any]] = {
        **OBJECTIVE,
        **SOLVER,
        "coef_": ("n_features", "_n_columns"),
        "labels_": ("n_samples",),
        "n_support_": 0,
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NeighborSelector._parameter_constraints,
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "n_components": [None, Interval(Integral, 1, None, closed="left")],
        "beta": [Interval(Real, 0, None, closed="neither")],
        "gamma": [Interval(Real, 0, None, closed="neither")],
        "ridge": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_clusters: int = 5,
        n_components: int | None = None,
        n_neighbors: int = 5,
        neighbors: Method = "auto",
        beta: float = 1.0,
        gamma: float = 0.1,
        ridge: float = 0.1,
        affinity: Any = None,
        max_iter: int = 200,
        tol: float = 1e-4,
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
        keep: Sequence[str | int] | None = None,
        drop: Sequence[str | int] | None = None,
    ) -> None:
        super().__init__(n_features_to_select, keep=keep, drop=drop)
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.neighbors = neighbors
        self.beta = beta
        self.gamma = gamma
        self.ridge = ridge
        self.affinity = affinity
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _n_columns(self, n_samples: int, n_features: int) -> int:
        """Columns of W, as far as there are features."""
        return min(self.n_components or max(1, self.n_clusters - 1), max(1, n_features))

    def _fit(self, X: Matrix) -> FloatArray:
        """Graph, clusters and projection in turn."""
        model = GraphAndClusters(self, X, self._candidates(X))
        objective: list[float] = []
        converged = self.tol == 0
        for _ in range(self.max_iter):
            model.update()
            objective.append(model.objective())
            if has_converged(objective, self.tol):
                converged = True
                break
        self.coef_, self.solver_ = np.ascontiguousarray(model.W), model.solver
        self.labels_ = model.labels
        self._set_path(np.array(objective), converged)
        scores = row_norms(self.coef_)
        self.n_support_ = int(np.count_nonzero(scores > SUPPORT * scores.max()))
        self._warn_of_few_rows(self.n_support_, "gamma")
        return scores


class GraphAndClusters:
    """The blocks of the problem, and an update for each that never raises its objective.

    Parameters
    ----------
    settings : EGCFS
    X : {ndarray, CSR} of shape (n_samples, n_features)
    edges : CandidateEdges
    """

    mu: float
    labels: IntArray

    def __init__(self, settings: EGCFS, X: Matrix, edges: CandidateEdges) -> None:
        self.settings, self.edges = settings, edges
        table = TableOperator.centred(X, norm=np.sqrt(X.shape[1]))
        # No term sees an offset: the stored table, whatever of its mean is left, will do.
        self.X = table.stored
        self.root = scatter_root(table, settings.ridge, remedy="use MRSF, or fewer samples")
        self.floor = settings.ridge * (1 + 2 * settings.beta)
        far = edges.squared_distances(self.X)
        self.P = edges.weights(far, edges.ridge_for(far, settings.n_neighbors))
        gram = WeightedGram(self.X, 2 * settings.beta * laplacian(edges.graph(self.P)))
        self.W: FloatArray | None = None
        self.refinement = Refinement()
        self._project(gram, settings._n_columns(*X.shape), FIRST_STEPS)
        assert self.W is not None
        Y = self.X @ self.W
        self.mu = edges.ridge_for(edges.squared_distances(Y), settings.n_neighbors)
        found = kmeans(Y, settings.n_clusters, random_state=settings.random_state)
        self.labels = found.labels

    def update(self) -> None:
        """P, the clusters and W in turn."""
        assert self.W is not None
        Y = self.X @ self.W
        self.P = self.edges.weights(self.edges.squared_distances(Y), self.mu)
        self.labels = kmeans(Y, int(self.labels.max()) + 1, start=self.labels).labels
        self._project(WeightedGram(*self._with_centres()), self.W.shape[1], STEPS)

    def _with_centres(self) -> tuple[Matrix, SparseMatrix]:
        """The samples and, below them, the centres of the clusters, and the Laplacian of both.

        Each sample is joined with its centre: what varies along these edges is the scatter within
        the clusters, of which the matrix of samples has no zeros.
        """
        centres, members = cluster_means(self.X, self.labels), indicator(self.labels)
        joined = 2 * self.settings.beta * self.edges.graph(self.P)
        graph = sp.csr_array(sp.block_array([[joined, members], [members.T, None]]))
        if is_sparse(self.X):
            below: Matrix = sp.vstack([self.X, sp.csr_array(centres)], format="csr")
        else:
            below = np.vstack([self.X, centres])
        return below, laplacian(graph)

    def _project(self, gram: WeightedGram, n_columns: int, n_steps: int) -> None:
        found = whitened_l21(
            gram,
            self.root,
            self.settings.ridge,
            self.floor,
            self.settings.gamma,
            n_columns,
            start=self.W,
            refinement=self.refinement,
            max_iter=n_steps,
            tol=1e-8,
        )
        self.W, self.solver = found.solution, found.solver

    def objective(self) -> float:
        """The objective, with the row norms of W smoothed."""
        assert self.W is not None
        Y = self.X @ self.W
        within = float(np.linalg.norm(Y - cluster_means(Y, self.labels)[self.labels]) ** 2)
        near = self.edges.squared_distances(Y)
        joined = sum(float((p * cost).sum()) for p, cost in zip(self.P, near, strict=True))
        joined += self.mu * sum(float((p**2).sum()) for p in self.P)
        floor = self.floor * float(np.vdot(self.W, self.W))
        norms = whitened_norms(self.W, self.settings.ridge)
        penalty = self.settings.gamma * float(norms.sum())
        return within + self.settings.beta * joined + floor + penalty
