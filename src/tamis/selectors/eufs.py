"""EUFS: prefers the columns that a robust factorization into clusters cannot do without."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from tamis._typing import FloatArray, IntArray, Matrix, SparseMatrix
from tamis.base import OBJECTIVE
from tamis.graphs import Method, Weights, laplacian
from tamis.selectors._graph import EdgeSelector
from tamis.selectors._pseudo_labels import Init, labels_as_factor, pseudo_labels
from tamis.solvers.block_coordinate_descent import block_coordinate_descent
from tamis.solvers.l21 import scores_with_order_of_entry
from tamis.solvers.loadings import (
    loss_smoothing,
    penalised_loadings,
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
from tamis.solvers.row_norms import row_norms
from tamis.utils.norms import squared_norm
from tamis.utils.rows import squared_row_norms

# Steps of the labels in an iteration, at most: they are found exactly, as the loadings are.
LABEL_STEPS = 300


class EUFS(EdgeSelector):
    r"""Embedded unsupervised feature selection: a clustering whose centres use few features.

    The table is factorized into soft cluster labels U and loadings V, one row per feature, so that
    V has few rows, samples that fit badly count little, and U varies little along the sample graph:

    .. math:: \min_{U \ge 0, V} \|X - U V^T\|_{2,1} + \alpha \|V\|_{2,1}
       + \beta \mathrm{Tr}(U^T L U), \qquad U^T U = I

    Features are ranked by the norms of the rows of V.

    The table is divided by the root mean square of its values first, so that β means the same in
    every unit, and not centred: a feature with a large mean has a large row of V, whether or not it
    tells clusters apart. Standardise the columns where their means are of no account.

    Cost: the neighbour search, then O(ndc + nkc) per iteration; memory O(nd + (n + d)c). Sparse
    input is never densified.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps half.
    n_clusters : int, default=10
        c, the number of columns of U.
    alpha : float, default=0.1
        The penalty on V, as a fraction in (0, 1] of the smallest that makes V zero for the first
        labels: free of the scale of the data. Smaller values keep more rows.
    beta : float, default=1.0
        β, the weight of the graph.
    orthogonality : float, default=1.0
        Weight of ‖UᵀU − I‖², as a multiple of ‖X‖₂₁: free of the scale of the data. A large one
        freezes U at its first labels.
    init : {"spectral", "kmeans"}, default="kmeans"
        First labels: K-means of the spectral embedding of the graph, or of the table.
    n_neighbors : int, default=5
        Neighbours of each sample in the graph, itself not counted.
    neighbors : {"auto", "exact", "approximate"}, default="auto"
        How they are found. The method needs each sample's own neighbours, so that landmarks do not
        serve it: "auto" is exact up to about 70,000 samples × 784 columns, and approximate beyond
        where pynndescent is installed.
    weights : {"heat", "binary", "cosine"}, default="heat"
        Weights of the edges; see :func:`tamis.graphs.neighbor_graph`.
    bandwidth : float or None, default=None
        Bandwidth of the heat weights; None takes the median distance between neighbours.
    affinity : {sparse, array-like} of shape (n_samples, n_samples) or None, default=None
        A precomputed symmetric graph, used instead of the neighbours of X.
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
        Norms of the rows of V. Features whose row is zero are ordered below the others, by the
        penalty at which they would enter.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    coef_ : ndarray of shape (n_features, n_clusters)
        V; zero rows for constant features.
    embedding_ : ndarray of shape (n_samples, n_clusters)
        U, non-negative.
    labels_ : ndarray of shape (n_samples,)
        The largest entry of each row of U.
    penalty_ : float
        α of the formula.
    n_support_ : int
        Rows of V that are not zero.
    orthogonality_ : float
        ‖UᵀU − I‖.
    scale_ : float
        What the table is divided by; V and the penalty are those of the divided table.
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
    The objective is the paper's, but for α being a fraction; the algorithm is not. The paper uses
    the alternating direction method of multipliers, whose iterates meet the constraints in the
    limit only.
    Here the loss is majorised by a weighted quadratic, Σ_i ‖x_i − u_iVᵀ‖²/(2 r_i) with r_i =
    sqrt(‖x_i − u_iVᵀ‖² + ζ), of which V is the exact minimiser, a row at a time; ζ^½ is a hundredth
    of the mean row of X. U is found by limited-memory BFGS with bounds. Each iteration starts ahead
    of the last one, by Nesterov's momentum, and is done anew without it where the objective would
    rise. UᵀU = I is a penalty, and what is left of it is reported. Constant features leave the
    problem.

    References
    ----------
    S. Wang, J. Tang, H. Liu. Embedded unsupervised feature selection. AAAI 2015.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from tamis import EUFS
    >>> X = MinMaxScaler().set_output(transform="pandas").fit_transform(
    ...     load_wine(as_frame=True).data
    ... )
    >>> model = EUFS(n_features_to_select=3, n_clusters=3, random_state=0).fit(X)
    >>> model.get_feature_names_out()
    array(['alcohol', 'ash', 'od280/od315_of_diluted_wines'], dtype=object)
    """

    _centres: ClassVar[bool] = False
    _learned: ClassVar[dict[str, Any]] = {
        **OBJECTIVE,
        "coef_": ("n_features", "n_clusters"),
        "embedding_": ("n_samples", "n_clusters"),
        "labels_": ("n_samples",),
        "orthogonality_": 0.0,
        "penalty_": 0.0,
        "n_support_": 0,
        "scale_": 1.0,
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **EdgeSelector._parameter_constraints,
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "alpha": [Interval(Real, 0, 1, closed="right")],
        "beta": [Interval(Real, 0, None, closed="left")],
        "orthogonality": [Interval(Real, 0, None, closed="left")],
        "init": [StrOptions({"spectral", "kmeans"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_clusters: int = 10,
        alpha: float = 0.1,
        beta: float = 1.0,
        orthogonality: float = 1.0,
        init: Init = "kmeans",
        n_neighbors: int = 5,
        neighbors: Method = "auto",
        weights: Weights = "heat",
        bandwidth: float | None = None,
        affinity: Any = None,
        max_iter: int = 1000,
        tol: float = 1e-5,
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
        keep: Sequence[str | int] | None = None,
        drop: Sequence[str | int] | None = None,
    ) -> None:
        super().__init__(
            n_features_to_select,
            n_neighbors=n_neighbors,
            neighbors=neighbors,
            weights=weights,
            bandwidth=bandwidth,
            affinity=affinity,
            n_jobs=n_jobs,
            verbose=verbose,
            keep=keep,
            drop=drop,
        )
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.beta = beta
        self.orthogonality = orthogonality
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _fit(self, X: Matrix) -> FloatArray:
        """Alternate loadings and labels, as the paper does."""
        graph = self._sample_graph(X)
        X = X.astype(np.float64, copy=False)
        self.scale_ = float(np.sqrt(squared_norm(X) / np.prod(X.shape)))
        X = X / self.scale_
        labels = pseudo_labels(X, graph, self.n_clusters, self.init, self.random_state)
        found = block_coordinate_descent(
            EmbeddedModel(self, X, self.beta * laplacian(graph), labels),
            max_iter=self.max_iter,
            tol=self.tol,
        )
        model = found.solution
        model.update_loadings()
        objective = [*found.objective[:-1], model.objective()]

        self.coef_, self.penalty_ = model.V, model.alpha
        self.n_support_ = int(np.count_nonzero(model.V.any(axis=1)))
        self.embedding_, self.labels_ = model.U, model.U.argmax(axis=1)
        self.orthogonality_ = departure_from_orthogonality(model.U)
        self._set_path(np.array(objective), found.converged)
        return model.scores()


class EmbeddedModel:
    """The blocks of the paper's problem, and an update for each that never raises its objective.

    Parameters
    ----------
    settings : EUFS
        The weights of the terms.
    X : {ndarray, CSR} of shape (n_samples, n_features)
        In float64.
    L : csr_array of shape (n_samples, n_samples)
        β times the Laplacian.
    labels : ndarray of shape (n_samples,)
        First labels.
    """

    def __init__(self, settings: EUFS, X: Matrix, L: SparseMatrix, labels: IntArray) -> None:
        self.settings, self.X, self.L = settings, X, L
        self.squared_norms = squared_row_norms(X)
        self.U = labels_as_factor(labels, settings.n_clusters)
        self.V = np.zeros((X.shape[1], settings.n_clusters))
        self.nearness = np.zeros(X.shape[1])
        norms = residual_norms(X, self.U, self.V)
        self.smoothing = loss_smoothing(norms)
        self.penalty = settings.orthogonality * float(norms.sum())
        # Below this V leaves zero, where every sample's residual is the sample itself.
        self.alpha = settings.alpha * 2 * float(row_norms(self._weighted_products()[1]).max())

    def update(self) -> None:
        """V and U in turn."""
        self.update_loadings()
        self.update_labels()

    def extrapolate(self, before: EmbeddedModel, momentum: float) -> None:
        """Move U on; V follows."""
        self.U = np.maximum(self.U + momentum * (self.U - before.U), 0)

    def scores(self) -> FloatArray:
        """Norms of the rows of V, and below them rows that are zero by their order of entry."""
        return scores_with_order_of_entry(row_norms(self.V), self.nearness)

    def update_loadings(self) -> None:
        """V, exactly, for the weights that majorise the loss at the present V."""
        gram, correlation = self._weighted_products()
        self.V = penalised_loadings(gram, correlation, self.alpha)
        self.nearness = 2 * row_norms(correlation) / self.alpha

    def _weighted_products(self) -> tuple[FloatArray, FloatArray]:
        """``Uᵀdiag(w)U`` and ``Xᵀdiag(w)U``."""
        weighted = self.U * self._loss()[1][:, None]
        return self.U.T @ weighted, self.X.T @ weighted

    def update_labels(self) -> None:
        """U."""
        self.U = nonnegative_factor(self.labels_problem(), self.U, max_iter=LABEL_STEPS).solution

    def labels_problem(self) -> FactorObjective:
        """The objective as one of the labels."""
        loss = RowLoss(self.squared_norms, self.X @ self.V, self.V.T @ self.V, self.smoothing)
        return FactorObjective(self.penalty, self.L, losses=(loss,))

    def objective(self) -> float:
        """The whole objective, with the loss smoothed."""
        return float(
            self._loss()[0]
            + self.alpha * row_norms(self.V).sum()
            + roughness(self.L, self.U)
            + self.penalty * departure_from_orthogonality(self.U) ** 2
        )

    def _loss(self) -> tuple[float, FloatArray]:
        return reweighted(residual_norms(self.X, self.U, self.V), self.smoothing)
