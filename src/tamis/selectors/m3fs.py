"""M3FS: prefers the columns that separate clusters with the largest margin."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from tamis._typing import FloatArray, IntArray, Matrix, SparseMatrix
from tamis.base import OBJECTIVE
from tamis.clustering import (
    ManifoldGraph,
    balance_limit,
    decided_labels,
    is_complete,
    manifold_laplacian,
    margin_failure,
    margin_shortage,
    margin_starts,
    n_functions,
)
from tamis.graphs import GraphReport, LandmarkGraph, Method, sample_graph
from tamis.selectors._graph import NeighborSelector
from tamis.solvers.margin import MarginResult, Order, margin_clusters
from tamis.solvers.margin_hessian import (
    Hessian,
    NoHessian,
    manifold_hessian,
)
from tamis.solvers.margin_problem import scale_factors
from tamis.solvers.table_operator import TableOperator
from tamis.utils.columns import variances

# Scale factors below this are zero but for the precision of the solver.
SUPPORT = 1e-6
# Standard deviation, in units of the median one, with which one column rules all others.
LARGEST_SCALE_RATIO = 100.0


class M3FS(NeighborSelector):
    r"""Maximum margin feature selection with manifold regularisation.

    Finds clusters, the linear functions that separate them with the largest margin, and scale
    factors σ for the features under the budget Σσ = m, all at once. For two clusters (equation 6)

    .. math:: \min_{v, b, \sigma} \tfrac12 \sum_k \frac{v_k^2}{\sigma_k}
       + \frac Cn \sum_i \max(0, 1 - |f(x_i)|) + \lambda f^T L f, \qquad f(x) = v^T x + b,
       \quad 0 \le \sigma \le 1, \quad \sum_k \sigma_k = m

    with the mean of f held near zero and L the normalised Laplacian of a sample graph; for more
    clusters one function per cluster, without bias, of which the largest wins (equation 14). m is
    `n_features_to_select`. The features should have comparable scales, such as [0, 1].

    Cost: K-means for the initial labels and O(nd) per cut; the number J of cuts, some dozens, does
    not grow with n. Each iteration of the inner solver takes O(J²d + J³) for λ = 0, and one dense
    factorization of side d, or n·n_clusters if that is less, for λ > 0. The complete graph costs
    O(n²d + nd²) once, in memory O(d²). Sparse input is never densified.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        m: number or fraction of features to keep; None keeps half. It is part of the objective:
        after a change, `fit` again.
    n_clusters : int, default=2
        With 1 there is nothing to separate, and all scores are zero.
    C : float, default=10.0
        Weight of the mean hinge loss. Smaller values give wider margins and ask less of the
        features; with many noisy features try 0.3 or 1.
    lam : float, default=0.01
        λ, the weight of the manifold term; 0 leaves it out. The term is a sum over the samples:
        for the same effect on ten times the samples take a tenth.
    balance : float or None, default=None
        l / n: how far from zero the mean of f may be; for more than two clusters, the difference
        of the means of any two functions. None takes 0.03 for two clusters and 0.01 for more. Where
        a cluster stays empty, a tenth and then a hundredth of it are tried too.
    epsilon : float, default=0.01
        Precision of the mean hinge loss at which no more cuts are made.
    graph : {"auto", "full", "knn"}, default="auto"
        "full" connects all samples by Gaussian weights, as in the paper; "knn" connects each to
        its nearest neighbours; "auto" is "full" up to 3000 samples.
    n_neighbors : int, default=5
        Neighbours of each sample in the graph, itself not counted.
    neighbors : {"auto", "exact", "approximate"}, default="auto"
        How they are found. The method needs each sample's own neighbours, so that landmarks do not
        serve it: "auto" is exact up to about 70,000 samples × 784 columns, and approximate beyond
        where pynndescent is installed.
    bandwidth : float or None, default=None
        ρ of the Gaussian weights. None takes half of the root mean square distance between samples
        for the complete graph, the median distance between neighbours for the other.
    affinity : {sparse, array-like} of shape (n_samples, n_samples) or None, default=None
        A precomputed symmetric graph, used instead.
    init : array-like of shape (n_samples,) or None, default=None
        Labels from 0 to start from. None takes those of K-means and, for two clusters, the signs
        of the first principal component of the standardised data; the run that ends with the
        lower objective counts. For more clusters, should the first run leave one of them empty,
        a second starts from K-means of the directions x/‖x‖.
    n_init : int, default=10
        K-means runs, of which the best gives initial labels.
    order : {"labels", "cuts"}, default="labels"
        "labels" solves for all cuts before the labels change; "cuts" is the order of the paper:
        the labels are settled anew after each cut, and the outcome is then refined like the other.
    max_iter : int, default=50
        Labellings.
    tol : float, default=1e-4
        Relative decrease of the objective at which to stop. It also stops where the labels, or
        the objective, stay as they are.
    random_state : int, RandomState instance or None, default=0
        Seed of K-means; None for another on every call.
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
        In the order of σ. A feature with σ = 1 has ``1 + ‖v_k‖/t``, at least 2, where t is the
        size of v at which σ reaches 1; one with σ between has ``1 + σ``; one with σ = 0 has
        ``‖w_k‖/t``, at most 1: how close it is to entering.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    sigma_ : ndarray of shape (n_features,)
        σ, the scale factors: in [0, 1], with sum m. They need not be 0 or 1.
    coef_ : ndarray of shape (n_features, n_functions)
        v: one function for two clusters, one per cluster for more.
    intercept_ : ndarray of shape (n_functions,)
        b; zero for more than two clusters.
    labels_ : ndarray of shape (n_samples,)
        The clusters. A warning tells if fewer than `n_clusters` have samples.
    objective_ : ndarray of shape (n_iter_,)
        The objective of the formula, with the hinge loss of every sample, after each labelling
        that lowered it; it never rises.
    n_iter_ : int
    n_cuts_ : int
        Cutting planes that were made in the run that counts.
    graph_ : GraphReport
        How the graph was made, why so, and how good it is; see
        :class:`tamis.graphs.GraphReport`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    Where this departs from the paper:

    - The second order cone program (10) is solved by an interior point method of its own, in which
      a manifold term costs one factorization by features instead of a cone of n dimensions.
    - By default the labels change only when no cut is violated for the present ones. In the paper's
      order they follow solutions that know few cuts, which with several clusters often go astray.
    - v = 0 is stationary: the search must begin from labels, which the paper does not give.
    - A labelling is accepted only if it lowers the objective and empties no cluster; solutions are
      exact to C·epsilon.
    - Constant features leave the problem.

    References
    ----------
    B. Zhao, J. Kwok, F. Wang, C. Zhang. Unsupervised maximum margin feature selection with
    manifold regularization. CVPR 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from tamis import M3FS
    >>> X = MinMaxScaler().set_output(transform="pandas").fit_transform(
    ...     load_wine(as_frame=True).data
    ... )
    >>> selector = M3FS(n_features_to_select=3, n_clusters=3, random_state=0).fit(X)
    >>> selector.get_feature_names_out()
    array(['color_intensity', 'od280/od315_of_diluted_wines', 'proline'],
          dtype=object)
    """

    _learned: ClassVar[dict[str, Any]] = {
        **OBJECTIVE,
        "sigma_": ("n_features",),
        "coef_": ("n_features", "_n_functions"),
        "intercept_": ("_n_functions",),
        "labels_": ("n_samples",),
        "n_cuts_": 0,
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NeighborSelector._parameter_constraints,
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "C": [Interval(Real, 0, None, closed="neither")],
        "lam": [Interval(Real, 0, None, closed="left")],
        "balance": [None, Interval(Real, 0, None, closed="neither")],
        "epsilon": [Interval(Real, 0, None, closed="neither")],
        "graph": [StrOptions({"auto", "full", "knn"})],
        "bandwidth": [None, Interval(Real, 0, None, closed="neither")],
        "init": [None, "array-like"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "order": [StrOptions({"labels", "cuts"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_clusters: int = 2,
        C: float = 10.0,
        lam: float = 0.01,
        balance: float | None = None,
        epsilon: float = 0.01,
        graph: ManifoldGraph = "auto",
        n_neighbors: int = 5,
        neighbors: Method = "auto",
        bandwidth: float | None = None,
        affinity: Any = None,
        init: Any = None,
        n_init: int = 10,
        order: Order = "labels",
        max_iter: int = 50,
        tol: float = 1e-4,
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
        keep: Sequence[str | int] | None = None,
        drop: Sequence[str | int] | None = None,
    ) -> None:
        super().__init__(n_features_to_select, keep=keep, drop=drop)
        self.n_clusters = n_clusters
        self.C = C
        self.lam = lam
        self.balance = balance
        self.epsilon = epsilon
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.neighbors = neighbors
        self.bandwidth = bandwidth
        self.affinity = affinity
        self.init = init
        self.n_init = n_init
        self.order = order
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def _count_is_fitted(self) -> bool:
        return True

    def _n_functions(self, n_samples: int, n_features: int) -> int:
        return n_functions(self.n_clusters)

    def _fit(self, X: Matrix) -> FloatArray:
        """Labels, functions and scale factors at once, by cutting planes (Section 4)."""
        n_blocks = n_functions(self.n_clusters)
        n_selected = min(self._n_fitted, X.shape[1])
        if self.n_clusters == 1:
            return self._keep_one_cluster(X, n_selected)
        self._warn_of_scales(X)
        samples = TableOperator.centred(X) if self.n_clusters == 2 else TableOperator(X)
        found = margin_clusters(
            samples,
            self._starts(X),
            n_clusters=self.n_clusters,
            C=self.C,
            n_selected=n_selected,
            limit=balance_limit(self.balance, self.n_clusters),
            epsilon=self.epsilon,
            hessian=self._hessian(X, samples, n_blocks),
            order=self.order,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        self.sigma_, self.coef_ = _scales_and_weights(found, n_selected)
        self.intercept_ = found.b - samples.origin @ self.coef_
        self.labels_ = decided_labels(self._decision(X))
        self.n_cuts_ = found.n_cuts
        failure = margin_failure(found, self.max_iter)
        self._set_path(found.objective, failure is None, failure)
        shortage = margin_shortage(found, self.n_clusters)
        if shortage is not None:
            self._warn(shortage)
        return _scores(self.sigma_, self.coef_, found.prices, n_selected)

    def _keep_one_cluster(self, X: Matrix, n_selected: int) -> FloatArray:
        """What one cluster leaves to learn: nothing."""
        n_samples, n_features = X.shape
        self.graph_ = GraphReport("none", "one cluster needs none")
        self.sigma_ = np.full(n_features, n_selected / n_features)
        self.coef_, self.intercept_ = np.zeros((n_features, 1)), np.zeros(1)
        self.labels_, self.n_cuts_ = np.zeros(n_samples, dtype=np.intp), 0
        self._set_path(np.zeros(0), converged=True)
        return np.zeros(n_features)

    def predict(self, X: Any) -> IntArray:
        """The cluster of each sample, seen or unseen (Section 4.4). O(nd)."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        return decided_labels(self._decision(X))

    def _decision(self, X: Matrix) -> FloatArray:
        return X @ self.coef_ + self.intercept_

    def _starts(self, X: Matrix) -> Iterable[IntArray]:
        if self.init is None:
            return margin_starts(
                X, self.n_clusters, n_init=self.n_init, random_state=self.random_state
            )
        labels = np.asarray(self.init)
        usable = labels.shape == (X.shape[0],) and np.isin(labels, np.arange(self.n_clusters)).all()
        if not usable:
            raise ValueError(
                f"init must hold a label from 0 to {self.n_clusters - 1} for each of the "
                f"{X.shape[0]} samples."
            )
        return [labels.astype(np.intp)]

    def _hessian(self, X: Matrix, samples: TableOperator, n_blocks: int) -> Hessian:
        """The manifold term: λ fᵀLf as a quadratic form of the coefficients."""
        graph = self._given_graph(X.shape[0])
        if self.lam == 0:
            if graph is None:
                self.graph_ = GraphReport("none", "lam=0 needs none")
            return NoHessian(X.shape[1], n_blocks)
        if graph is None:
            graph = self._manifold(X)
        laplacian = manifold_laplacian(X, graph, self.n_neighbors, bandwidth=self.bandwidth)
        return manifold_hessian(
            samples,
            laplacian,
            self.lam,
            n_blocks,
            remedy="set lam=0, or fit on fewer features or samples",
        )

    def _manifold(self, X: Matrix) -> ManifoldGraph | SparseMatrix:
        """The complete graph, by name, or that of the neighbours."""
        if is_complete(self.graph, X.shape[0]):
            self.graph_ = GraphReport("complete", f"graph={self.graph!r}")
            return "full"
        graph, self.graph_ = sample_graph(
            X,
            self.n_neighbors,
            method=self.neighbors,
            explicit=True,
            bandwidth=self.bandwidth,
            n_jobs=self.n_jobs,
            verbose=bool(self.verbose),
        )
        self._warn_of_graph()
        assert not isinstance(graph, LandmarkGraph)  # it was asked for edges
        return graph

    def _warn_of_scales(self, X: Matrix) -> None:
        spread = np.sqrt(variances(X))
        usual, largest = float(np.median(spread)), int(spread.argmax())
        if spread[largest] > LARGEST_SCALE_RATIO * usual:
            self._warn(
                f"finds that the standard deviation of {self._describe_columns([largest])} is "
                f"{spread[largest] / usual:.1g} times the median one: margins will depend on it "
                "alone; scale the columns, for example with sklearn.preprocessing.MinMaxScaler."
            )


def _scales_and_weights(found: MarginResult, n_selected: int) -> tuple[FloatArray, FloatArray]:
    """σ and v, with zeros where the solver leaves traces."""
    sigma = scale_factors(np.linalg.norm(found.solution, axis=1), n_selected)
    V = np.where(sigma[:, None] < SUPPORT, 0, found.solution)
    return scale_factors(np.linalg.norm(V, axis=1), n_selected), V


def _scores(sigma: FloatArray, V: FloatArray, prices: FloatArray, n_selected: int) -> FloatArray:
    """σ, with ties at 1 broken by the size of v, ties at 0 by the distance from entering."""
    sizes, distances = np.linalg.norm(V, axis=1), np.linalg.norm(prices, axis=1)
    # Where 0 < σ < 1, ‖w‖ has one value, t; above it σ = 1, below it σ = 0.
    level = np.sort(distances)[-n_selected]
    if level == 0:
        return sigma
    outside = np.where(sizes > 0, 1, np.minimum(1, distances / level))
    return np.where(
        (sigma == 1) & (sizes > 0), 1 + np.maximum(1, sizes / level), sigma * (sizes > 0) + outside
    )
