"""Sparse K-means: prefers the columns whose variance lies between clusters found with them."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from tamis._typing import FloatArray, Matrix
from tamis.base import OBJECTIVE, Selector
from tamis.clustering import WeightedClusters, kmeans, sparse_kmeans
from tamis.solvers.l21 import scores_with_order_of_entry
from tamis.solvers.result import SolverResult
from tamis.utils.columns import extent, variances
from tamis.utils.shuffles import ColumnShuffler

# The smallest bound that is tried: less than one and a half columns of equal weight.
SMALLEST_BOUND = 1.2
# Iterations at most of each of the many fits that choose the bound.
GAP_ITERATIONS = 10


class SparseKMeans(Selector):
    r"""Sparse K-means: clusters, and few columns whose scatter between them is large.

    .. math:: \max_{w,\; \text{clusters}} \sum_j w_j \, a_j, \qquad
       \|w\|_2 \le 1, \quad \|w\|_1 \le s, \quad w \ge 0

    :math:`a_j` is the scatter of column j between the clusters (equation 7). Without the bound s
    every column has a weight; a small one leaves few. Features are ranked by their weights.

    Cost: O(nd) and a K-means of the columns with a weight per iteration; the choice of s takes as
    many such fits as `n_bounds` times one more than `n_permutations`. Memory O(nd). Sparse input is
    never densified as a whole.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps half.
    n_clusters : int, default=5
        c, the number of clusters.
    bound : float or None, default=None
        s, at least 1: about the root of the number of columns with a weight. None chooses it by
        the gap between the objective and those of tables whose columns are shuffled.
    n_bounds : int, default=8
        Bounds to choose from, between 1.2 and the root of the number of features.
    n_permutations : int, default=5
        Shuffled tables.
    n_init : int, default=10
        Starts of the first K-means of each table.
    max_iter : int, default=50
        Iterations at most; those of the fits that choose s are 10.
    tol : float, default=1e-6
        The descent stops when the objective falls by no more than this, relative, or the clusters
        stay. 0 runs `max_iter` iterations.
    random_state : int, RandomState instance or None, default=0
        Seed of K-means and of the shuffled tables; None for others on every call.
    keep : list of str or int, or None, default=None
        Columns that are always selected, by name, pattern ("id_*") or index. They come first; the
        others are ranked as without them, since the method does not choose given some.
    drop : list of str or int, or None, default=None
        Columns that are not looked at and never selected.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The weights w. Columns without a weight are ordered below the others, by their scatter
        between the clusters.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    weights_ : ndarray of shape (n_features,)
        w.
    labels_ : ndarray of shape (n_samples,)
        The clusters.
    bound_ : float
        s.
    n_support_ : int
        Columns with a weight.
    bounds_ : ndarray of shape (n_tried,)
        The bounds that were tried; empty where `bound` is given.
    gaps_ : ndarray of shape (n_tried,)
        How much larger the logarithm of the objective is than its mean over shuffled tables.
    objective_ : ndarray of shape (n_iter_,)
        1 − Σ w_j a_j / ‖t‖ after each iteration, t the variances times n; it never rises.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    The paper's permutation approach (its section 3.3) takes the s of the largest gap, as here. The
    shuffled tables are drawn such that neither the order of the samples and columns nor the sign
    or the offset of a column changes them. Ten bounds and 25 tables, as in the authors' package,
    cost six times as much.

    Clusters start from K-means of all columns, as in the paper's step 1, which is where all w_j are
    equal; every bound starts from the same clusters.

    References
    ----------
    D. M. Witten, R. Tibshirani. A framework for feature selection in clustering. JASA 105 (2010).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tamis import SparseKMeans
    >>> X = StandardScaler().set_output(transform="pandas").fit_transform(
    ...     load_wine(as_frame=True).data
    ... )
    >>> model = SparseKMeans(n_features_to_select=3, n_clusters=3).fit(X)
    >>> model.get_feature_names_out()
    array(['flavanoids', 'od280/od315_of_diluted_wines', 'proline'],
          dtype=object)
    """

    _learned: ClassVar[dict[str, Any]] = {
        **OBJECTIVE,
        "weights_": ("n_features",),
        "labels_": ("n_samples",),
        "bound_": 1.0,
        "n_support_": 0,
        "bounds_": ("n_iter_",),
        "gaps_": ("n_iter_",),
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Selector._parameter_constraints,
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "bound": [None, Interval(Real, 1, None, closed="left")],
        "n_bounds": [Interval(Integral, 1, None, closed="left")],
        "n_permutations": [Interval(Integral, 1, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_clusters: int = 5,
        bound: float | None = None,
        n_bounds: int = 8,
        n_permutations: int = 5,
        n_init: int = 10,
        max_iter: int = 50,
        tol: float = 1e-6,
        random_state: int | np.random.RandomState | None = 0,
        keep: Sequence[str | int] | None = None,
        drop: Sequence[str | int] | None = None,
    ) -> None:
        super().__init__(n_features_to_select, keep=keep, drop=drop)
        self.n_clusters = n_clusters
        self.bound = bound
        self.n_bounds = n_bounds
        self.n_permutations = n_permutations
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _fit(self, X: Matrix) -> FloatArray:
        lowest, highest = extent(X)
        X = X.astype(np.float64, copy=False) / (highest - lowest).max()
        self._seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        if self.bound is None:
            self._choose_bound(X)
        else:
            self.bound_ = float(self.bound)
            self.bounds_, self.gaps_ = np.empty(0), np.empty(0)
        found = self._paths(X, [self.bound_], self.max_iter)[0]
        total = float(np.linalg.norm(variances(X) * X.shape[0]))
        self._set_path(1 + found.objective / total, found.converged)
        clusters = found.solution
        self.labels_, self.weights_ = clusters.labels, clusters.weights
        self.n_support_ = int(np.count_nonzero(clusters.weights))
        nearness = clusters.between / max(clusters.between.max(), np.finfo(float).tiny)
        return scores_with_order_of_entry(clusters.weights, nearness)

    def _choose_bound(self, X: Matrix) -> None:
        """The bound whose objective exceeds that of shuffled tables most."""
        largest = np.sqrt(X.shape[1])
        self.bounds_ = np.geomspace(min(SMALLEST_BOUND, largest), largest, self.n_bounds)
        shuffler = ColumnShuffler(X)
        by_chance = [
            self._logarithms(shuffler.shuffled(self._seed + number))
            for number in range(self.n_permutations)
        ]
        self.gaps_ = self._logarithms(X) - np.mean(by_chance, axis=0)
        self.bound_ = float(self.bounds_[self.gaps_.argmax()])

    def _logarithms(self, X: Matrix) -> FloatArray:
        """The logarithm of the objective at each bound."""
        fits = self._paths(X, self.bounds_, GAP_ITERATIONS)
        ends = np.array([-fit.objective[-1] for fit in fits])
        return np.log(np.maximum(ends, np.finfo(float).tiny))

    def _paths(
        self, X: Matrix, bounds: Sequence[float] | FloatArray, max_iter: int
    ) -> list[SolverResult[WeightedClusters]]:
        """The fits for each bound, all from the same K-means of all columns."""
        first = kmeans(X, self.n_clusters, n_init=self.n_init, random_state=self._seed).labels
        return [sparse_kmeans(X, first, bound, max_iter=max_iter, tol=self.tol) for bound in bounds]
