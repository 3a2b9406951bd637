"""NDFS: prefers the columns that rebuild non-negative spectral cluster labels."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from tamis._typing import FloatArray, Matrix, SparseMatrix
from tamis.base import OBJECTIVE
from tamis.graphs import Method, Weights, normalized_laplacian
from tamis.selectors._graph import EdgeSelector
from tamis.selectors._pseudo_labels import Init, labels_as_factor, pseudo_labels
from tamis.solvers.block_coordinate_descent import block_coordinate_descent
from tamis.solvers.l21 import alpha_max
from tamis.solvers.nonnegative_factor import (
    FactorObjective,
    departure_from_orthogonality,
    nonnegative_factor,
    roughness,
)
from tamis.solvers.reweighted_regression import ReweightedRegression
from tamis.solvers.row_norms import row_norms
from tamis.solvers.table_operator import TableOperator

# Steps of each block in an iteration. Those of the labels are a limit.
LABEL_STEPS = 300
REGRESSION_STEPS = 2
# Steps of the regression at the end, for the order of its small rows.
LAST_STEPS = 30


class NDFS(EdgeSelector):
    r"""Non-negative discriminative feature selection: spectral labels, regressed on few features.

    Cluster labels F of the samples are smooth on their graph and, being non-negative and orthogonal
    at once, nearly have one entry per sample. They are learned together with a regression that
    rebuilds them from few features:

    .. math:: \min_{F, W, b} \mathrm{Tr}(F^T L F)
       + \alpha (\|X W + 1 b^T - F\|^2 + \beta \|W\|_{2,1}),
       \qquad F \ge 0, \quad F^T F = I

    with L the normalised Laplacian. Features are ranked by the norms of the rows of W.

    Cost: the neighbour search, then in each iteration O(ndc + nkc) and O(d³) for d ≤ n, after
    O(nd²) once, or O(n²d) for n < d; memory O(nd + min(n, d)²). Sparse input is centred implicitly
    and never densified; where both sides exceed 6000 the regression is solved by conjugate
    gradients.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps half.
    n_clusters : int, default=5
        c, the number of columns of F.
    alpha : float, default=1.0
        α, the weight of the regression beside the smoothness of the labels.
    beta : float, default=0.1
        The penalty β, as a fraction in (0, 1] of the smallest that makes W zero for the first
        labels: free of the scale of the data.
    orthogonality : float, default=10.0
        Weight of ‖FᵀF − I‖². A large one freezes F at its first labels.
    init : {"spectral", "kmeans"}, default="spectral"
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
    max_iter : int, default=500
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
    intercept_ : ndarray of shape (n_clusters,)
        b, for the centred table: the mean of F.
    embedding_ : ndarray of shape (n_samples, n_clusters)
        F, non-negative.
    labels_ : ndarray of shape (n_samples,)
        The largest entry of each row of F.
    orthogonality_ : float
        ‖FᵀF − I‖.
    penalty_ : float
        β of the formula.
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
    Where this departs from the paper:

    - The regression has an intercept (equation 6 has none). The columns of F are not negative, so
      that their means are not zero; without an intercept the features with the largest means
      rebuild these means, and an offset changes the ranking.
    - β is a fraction of the penalty that empties W; `penalty_` is the paper's.
    - The paper enforces FᵀF = I by a penalty of 1e8 (γ of equation 8) and updates F by
      ``F ∘ γF / (MF + γFFᵀF)``. So large a γ leaves F at its first labels, whatever the other
      terms; and where γ is not large the fraction turns negative, since M = L + α(I − X(XᵀX +
      βD)⁻¹Xᵀ) has negative entries: the rule is then no descent, and F no longer non-negative.
      Here F descends on the whole objective under F ≥ 0, by limited-memory BFGS with bounds, with
      a weight that lets the labels move, and what is left of ‖FᵀF − I‖ is told.
    - The weights 1/(2 sqrt(‖w‖² + ζ)) are smoothed so that the objective, with row norms smoothed
      alike, never rises.

    References
    ----------
    Z. Li, Y. Yang, J. Liu, X. Zhou, H. Lu. Unsupervised feature selection using nonnegative
    spectral analysis. AAAI 2012.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tamis import NDFS
    >>> X = StandardScaler().set_output(transform="pandas").fit_transform(
    ...     load_wine(as_frame=True).data
    ... )
    >>> NDFS(n_features_to_select=3, n_clusters=3).fit(X).get_feature_names_out()
    array(['flavanoids', 'color_intensity', 'proline'], dtype=object)
    """

    _learned: ClassVar[dict[str, Any]] = {
        **OBJECTIVE,
        "coef_": ("n_features", "n_clusters"),
        "intercept_": ("n_clusters",),
        "embedding_": ("n_samples", "n_clusters"),
        "labels_": ("n_samples",),
        "orthogonality_": 0.0,
        "penalty_": 0.0,
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **EdgeSelector._parameter_constraints,
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "beta": [Interval(Real, 0, 1, closed="right")],
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
        n_clusters: int = 5,
        alpha: float = 1.0,
        beta: float = 0.1,
        orthogonality: float = 10.0,
        init: Init = "spectral",
        n_neighbors: int = 5,
        neighbors: Method = "auto",
        weights: Weights = "heat",
        bandwidth: float | None = None,
        affinity: Any = None,
        max_iter: int = 500,
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
        """Alternate labels and regression, as Algorithm 1 does."""
        graph = self._sample_graph(X)
        labels = pseudo_labels(X, graph, self.n_clusters, self.init, self.random_state)
        F = labels_as_factor(labels, self.n_clusters)
        centred = TableOperator.centred(X)
        self.penalty_ = self.beta * alpha_max(centred, F - F.mean(axis=0))
        start = SpectralLabels(self, centred, normalized_laplacian(graph), F)
        found = block_coordinate_descent(start, max_iter=self.max_iter, tol=self.tol)
        model = found.solution
        model.update_coef(LAST_STEPS)
        self.coef_, self.intercept_ = np.ascontiguousarray(model.W), model.b
        self.embedding_, self.labels_ = model.F, model.F.argmax(axis=1)
        self.orthogonality_ = departure_from_orthogonality(model.F)
        self._set_path(np.array([*found.objective[:-1], model.objective()]), found.converged)
        return model.scores()


class SpectralLabels:
    """The blocks of the paper's problem, and an update for each that never raises its objective.

    Parameters
    ----------
    settings : NDFS
        The weights of the terms, with `penalty_`.
    X : TableOperator
        Centred.
    L : csr_array of shape (n_samples, n_samples)
    F : ndarray of shape (n_samples, n_clusters)
        First labels.
    """

    def __init__(self, settings: NDFS, X: TableOperator, L: SparseMatrix, F: FloatArray) -> None:
        self.settings, self.X, self.L, self.F = settings, X, L, F
        self.b = F.mean(axis=0)
        # A table whose columns all are orthogonal to the labels has no penalty that empties W.
        penalty = settings.penalty_ or float(np.finfo(float).tiny) ** 0.5
        self.regression = ReweightedRegression(X, penalty)
        self.W = self.regression.start(F - self.b)
        self.update_coef(REGRESSION_STEPS)

    def update(self) -> None:
        """F, then b and W."""
        self.F = nonnegative_factor(self.labels_problem(), self.F, max_iter=LABEL_STEPS).solution
        self.update_coef(REGRESSION_STEPS)

    def labels_problem(self) -> FactorObjective:
        """The objective as one of F, up to a constant."""
        alpha = self.settings.alpha
        predicted = self.X.times(self.W) + self.b
        return FactorObjective(self.settings.orthogonality, self.L, alpha * predicted, alpha)

    def update_coef(self, n_steps: int) -> None:
        """The best b, which is the mean of F since X is centred, and W for it."""
        self.b = self.F.mean(axis=0)
        target = self.F - self.b
        self.W = self.regression.descend(target, self.W, max_iter=n_steps, tol=1e-8).solution

    def extrapolate(self, before: SpectralLabels, momentum: float) -> None:
        """Move F on; b and W follow."""
        self.F = np.maximum(self.F + momentum * (self.F - before.F), 0)

    def scores(self) -> FloatArray:
        """Norms of the rows of W."""
        return row_norms(self.W)

    def objective(self) -> float:
        """The whole objective, with the penalty smoothed."""
        misfit = float(np.linalg.norm(self.X.times(self.W) + self.b - self.F) ** 2)
        fit = self.settings.alpha * (misfit + self.regression.penalised(self.W))
        excess = self.settings.orthogonality * departure_from_orthogonality(self.F) ** 2
        return roughness(self.L, self.F) + fit + excess
