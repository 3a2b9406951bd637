"""RUFS: prefers the columns that rebuild the labels of a robust non-negative factorization."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from tamis._typing import FloatArray, IntArray, Matrix, SparseMatrix
from tamis.base import OBJECTIVE
from tamis.graphs import Method, Neighbors, neighbor_graph
from tamis.selectors._graph import NeighborSelector, local_laplacian
from tamis.selectors._pseudo_labels import Init, labels_as_factor, pseudo_labels
from tamis.solvers.block_coordinate_descent import block_coordinate_descent
from tamis.solvers.loadings import (
    loss_smoothing,
    nonnegative_loadings,
    residual_norms,
    reweighted,
)
from tamis.solvers.nonnegative_factor import (
    FactorObjective,
    RowLoss,
    departure_from_orthogonality,
    nonnegative_factor,
    roughness,
)
from tamis.solvers.reweighted_regression import ReweightedRegression
from tamis.solvers.row_norms import row_norms
from tamis.solvers.table_operator import TableOperator
from tamis.utils.norms import largest_value
from tamis.utils.rows import squared_row_norms
from tamis.utils.sparse import with_zeros_implicit

# Steps of each block in an iteration: enough for the blocks to keep pace with each other. Those of
# the labels are a limit: they end where rounding begins.
LABEL_STEPS = 300
REGRESSION_STEPS = 2
# A dense table is taken as a sparse one if no more than this share of its cells has a value.
MOST_CELLS = 0.1
# Iterations of the regression and its weights at the end, for the order of its small rows.
LAST_REGRESSIONS = 10


class RUFS(NeighborSelector):
    r"""Robust unsupervised feature selection: non-negative labels, robust fits, local learning.

    Soft cluster labels G of the samples come from a non-negative factorization, vary as a local
    regression of the neighbours predicts, and are themselves regressed on few features. Samples
    that fit badly count little in either fit:

    .. math:: \min_{G, F \ge 0, W} \|X - G F\|_{2,1} + \nu \mathrm{Tr}(G^T L G)
       + \alpha \|X W - G\|_{2,1} + \beta \|W\|_{2,1}, \qquad G^T G = I

    Features are ranked by the norms of the rows of W.

    The table should not be negative, since F is not: what is below zero cannot be rebuilt. It is
    divided by its largest absolute value first, so that the weights mean the same in every unit,
    and not centred: bring the columns within [0, 1].

    Cost: the neighbour search and O(nk²d), then in each iteration O(ndc + nk²c) and O(nd² + d³) for
    d ≤ n or O(n²d) for n < d; memory O(nd + min(n, d)²). Sparse input is never densified; where
    both sides exceed 6000 the regression is solved by conjugate gradients.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps half.
    n_clusters : int, default=5
        c, the number of columns of G.
    n_neighbors : int, default=5
        Samples of each local regression, the sample itself not counted.
    neighbors : {"auto", "exact", "approximate"}, default="auto"
        How they are found. The method needs each sample's own neighbours, so that landmarks do not
        serve it: "auto" is exact up to about 70,000 samples × 784 columns, and approximate beyond
        where pynndescent is installed.
    nu : float, default=1.0
        ν, the weight of local learning.
    alpha : float, default=1.0
        α, the weight of the regression of G on the features.
    beta : float, default=1.0
        β, the penalty on W.
    orthogonality : float, default=1.0
        Weight of ‖GᵀG − I‖², as a multiple of ‖X‖₂₁: free of the scale of the data. A large one
        freezes G at its first labels.
    local_reg : float, default=0.1
        Ridge of the local regressions, as a fraction of the trace of the local Gram matrix.
    init : {"spectral", "kmeans"}, default="kmeans"
        First labels: K-means of the spectral embedding of the neighbour graph, or of the table.
    affinity : {sparse, array-like} of shape (n_samples, n_samples) or None, default=None
        A precomputed symmetric graph; L is then its Laplacian D − W.
    max_iter : int, default=1000
        A fit that has not settled by then warns.
    tol : float, default=1e-5
        A fit stops when the objective falls by no more than this, relative, in each of three
        iterations, and the ranking of the features is that of half as many iterations, but for
        2 % of the best ones, whatever their number. 0 runs `max_iter` iterations.
    random_state : int, RandomState instance or None, default=0
        Seed of the K-means that gives the first labels; None for others on every call.
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
    coef_ : ndarray of shape (n_features, n_clusters)
        W; zero rows for constant features.
    loadings_ : ndarray of shape (n_clusters, n_features)
        F; zero columns for constant features.
    embedding_ : ndarray of shape (n_samples, n_clusters)
        G, non-negative.
    labels_ : ndarray of shape (n_samples,)
        The largest entry of each row of G.
    orthogonality_ : float
        ‖GᵀG − I‖.
    scale_ : float
        What the table is divided by; W and F are those of the divided table.
    objective_ : ndarray of shape (n_iter_,)
        The objective, with the orthogonality term, after each iteration; it never rises.
    n_iter_ : int
    graph_ : GraphReport
        How the graph was made, why so, and how good it is; see
        :class:`tamis.graphs.GraphReport`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    The objective is the paper's. Its authors minimise it by (projected) limited-memory BFGS; the
    algorithm here finds F by exact non-negative coordinate descent and W by reweighting, with the
    losses majorised by weighted quadratics, and G by limited-memory BFGS with bounds, none of which
    can raise the objective. Each iteration starts ahead of the last one, by Nesterov's momentum,
    and is done anew without it where the objective would rise. The norms of the two losses are
    smoothed, sqrt(r² + ζ), at a hundredth of the mean row of X and of the first G. GᵀG = I is a
    penalty, and what is left of it is reported.

    L is our reading of local learning: (I − S)ᵀ(I − S), where row i of S predicts the label of
    sample i by a ridge regression, linear and with an intercept, on its neighbours. The weights of
    that prediction are those of locally linear embedding with the same ridge, and computed as such.
    Constant features leave the problem.

    References
    ----------
    M. Qian, C. Zhai. Robust unsupervised feature selection. IJCAI 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from tamis import RUFS
    >>> X = MinMaxScaler().set_output(transform="pandas").fit_transform(
    ...     load_wine(as_frame=True).data
    ... )
    >>> model = RUFS(n_features_to_select=3, n_clusters=3, random_state=0).fit(X)
    >>> model.get_feature_names_out()
    array(['alcalinity_of_ash', 'flavanoids', 'proline'], dtype=object)
    """

    _centres: ClassVar[bool] = False
    _learned: ClassVar[dict[str, Any]] = {
        **OBJECTIVE,
        "coef_": ("n_features", "n_clusters"),
        "loadings_": ("n_clusters", "n_features"),
        "embedding_": ("n_samples", "n_clusters"),
        "labels_": ("n_samples",),
        "orthogonality_": 0.0,
        "scale_": 1.0,
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NeighborSelector._parameter_constraints,
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "nu": [Interval(Real, 0, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "beta": [Interval(Real, 0, None, closed="neither")],
        "orthogonality": [Interval(Real, 0, None, closed="left")],
        "local_reg": [Interval(Real, 0, None, closed="neither")],
        "init": [StrOptions({"spectral", "kmeans"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_clusters: int = 5,
        n_neighbors: int = 5,
        neighbors: Method = "auto",
        nu: float = 1.0,
        alpha: float = 1.0,
        beta: float = 1.0,
        orthogonality: float = 1.0,
        local_reg: float = 0.1,
        init: Init = "kmeans",
        affinity: Any = None,
        max_iter: int = 1000,
        tol: float = 1e-5,
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
        keep: Sequence[str | int] | None = None,
        drop: Sequence[str | int] | None = None,
    ) -> None:
        super().__init__(n_features_to_select, keep=keep, drop=drop)
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.neighbors = neighbors
        self.nu = nu
        self.alpha = alpha
        self.beta = beta
        self.orthogonality = orthogonality
        self.local_reg = local_reg
        self.init = init
        self.affinity = affinity
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit(self, X: Matrix) -> FloatArray:
        """Alternate loadings, labels and regression, as the paper does."""
        graph = self._graph_or_neighbors(X)
        L = local_laplacian(X, graph, self.local_reg)
        labels = self._first_labels(X, graph)
        X = X.astype(np.float64, copy=False)
        self.scale_ = largest_value(X)
        X = X / self.scale_
        found = block_coordinate_descent(
            RobustModel(self, X, self.nu * L, labels), max_iter=self.max_iter, tol=self.tol
        )
        model = found.solution
        for _ in range(LAST_REGRESSIONS):
            model.update_coef()
        objective = [*found.objective[:-1], model.objective()]

        self.coef_, self.loadings_ = np.ascontiguousarray(model.W), model.F
        self.embedding_, self.labels_ = model.G, model.G.argmax(axis=1)
        self.orthogonality_ = departure_from_orthogonality(model.G)
        self._set_path(np.array(objective), found.converged)
        return row_norms(self.coef_)

    def _first_labels(self, X: Matrix, graph: SparseMatrix | Neighbors) -> IntArray:
        """Labels of the table, or of the graph, to start from."""
        affinity = None if isinstance(graph, Neighbors) else graph
        if self.init == "spectral" and isinstance(graph, Neighbors):
            affinity = neighbor_graph(X, neighbors=graph)
        return pseudo_labels(X, affinity, self.n_clusters, self.init, self.random_state)


class RobustModel:
    """The blocks of the paper's problem, and an update for each that never raises its objective.

    Parameters
    ----------
    settings : RUFS
        The weights of the terms.
    X : {ndarray, CSR} of shape (n_samples, n_features)
        In float64.
    L : csr_array of shape (n_samples, n_samples)
        ν times the local-learning matrix.
    labels : ndarray of shape (n_samples,)
        First labels.
    """

    def __init__(self, settings: RUFS, X: Matrix, L: SparseMatrix, labels: IntArray) -> None:
        X = with_zeros_implicit(X, MOST_CELLS)
        self.settings, self.X, self.L = settings, X, L
        self.table = TableOperator(X)
        self.squared_norms = squared_row_norms(X)
        self.G = labels_as_factor(labels, settings.n_clusters)
        self.F = np.zeros((settings.n_clusters, X.shape[1]))
        norms = residual_norms(X, self.G, self.F.T)
        self.smoothing = loss_smoothing(norms)
        self.label_smoothing = loss_smoothing(row_norms(self.G))
        self.penalty = settings.orthogonality * float(norms.sum())
        self.row_smoothing: float | None = None
        self.regression: ReweightedRegression | None = None
        self.W = np.zeros((X.shape[1], settings.n_clusters))
        self.update_coef()

    def update(self) -> None:
        """F, G and W in turn."""
        self.update_loadings()
        self.update_labels()
        self.update_coef()

    def extrapolate(self, before: RobustModel, momentum: float) -> None:
        """Move F and G on; W follows."""
        self.F = np.maximum(self.F + momentum * (self.F - before.F), 0)
        self.G = np.maximum(self.G + momentum * (self.G - before.G), 0)

    def scores(self) -> FloatArray:
        """Norms of the rows of W."""
        return row_norms(self.W)

    def update_loadings(self) -> None:
        """F, for the weights that majorise the first loss at the present F."""
        weighted = self.G * self._table_loss()[1][:, None]
        found = nonnegative_loadings(self.G.T @ weighted, self.X.T @ weighted, self.F.T)
        self.F = found.T

    def update_labels(self) -> None:
        """G."""
        self.G = nonnegative_factor(self.labels_problem(), self.G, max_iter=LABEL_STEPS).solution

    def labels_problem(self) -> FactorObjective:
        """The objective as one of the labels."""
        predicted = self.X @ self.W
        table = RowLoss(self.squared_norms, self.X @ self.F.T, self.F @ self.F.T, self.smoothing)
        labels = RowLoss(
            squared_row_norms(predicted),
            predicted,
            None,
            self.label_smoothing,
            self.settings.alpha,
        )
        return FactorObjective(self.penalty, self.L, losses=(table, labels))

    def update_coef(self) -> None:
        """W, for the weights that majorise the second loss at the present W."""
        scale = np.sqrt(self.settings.alpha * self._label_loss()[1])
        target = scale[:, None] * self.G
        regression = ReweightedRegression(
            self.table.rows_scaled(scale),
            self.settings.beta,
            self.row_smoothing,
            self.regression,
        )
        if self.row_smoothing is None:
            self.W = regression.start(target)
            self.row_smoothing = regression.smoothing
        self.W = regression.descend(target, self.W, max_iter=REGRESSION_STEPS, tol=1e-8).solution
        self.regression, self.penalised = regression, regression.penalised

    def objective(self) -> float:
        """The whole objective, with both losses and the penalty smoothed."""
        return float(
            self._table_loss()[0]
            + roughness(self.L, self.G)
            + self.settings.alpha * self._label_loss()[0]
            + self.penalised(self.W)
            + self.penalty * departure_from_orthogonality(self.G) ** 2
        )

    def _table_loss(self) -> tuple[float, FloatArray]:
        return reweighted(residual_norms(self.X, self.G, self.F.T), self.smoothing)

    def _label_loss(self) -> tuple[float, FloatArray]:
        return reweighted(row_norms(self.X @ self.W - self.G), self.label_smoothing)
