"""Maximum margin clustering."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClusterMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from tamis._typing import FloatArray, IntArray, Matrix
from tamis.clustering._kmeans import kmeans
from tamis.solvers import margin
from tamis.solvers.margin import MarginResult, Order, margin_clusters
from tamis.solvers.margin_hessian import NoHessian
from tamis.solvers.principal import principal_components
from tamis.solvers.table_operator import TableOperator
from tamis.utils.columns import extent, variances, weighted_moments
from tamis.utils.sparse import canonical_csr, is_sparse

# The balance l / n of the separating functions: see MaximumMarginClustering.
TWO_CLASS_BALANCE, MULTI_CLASS_BALANCE = 0.03, 0.01


def margin_starts(
    X: Matrix,
    n_clusters: int,
    *,
    n_init: int = 10,
    random_state: int | np.random.RandomState | None = None,
) -> Iterator[IntArray]:
    """Labels from which to look for large margins: K-means, then those of a second view.

    For two clusters the second are the signs of the first principal component of the standardised
    columns. For more they are K-means of the samples' directions x/‖x‖: functions without a bias
    part nothing else. O(n·d·n_clusters) per iteration of K-means; made one by one, as asked for.
    """
    yield kmeans(X, n_clusters, n_init=n_init, random_state=random_state).labels
    if n_clusters == 2:
        spread = np.sqrt(variances(X))
        standardised = X * np.divide(1, spread, out=np.zeros_like(spread), where=spread > 0)
        if is_sparse(X):
            standardised = sp.csr_array(standardised)
        direction = principal_components(standardised, 1)[1][:, 0]
        mean = weighted_moments(standardised, np.ones(X.shape[0]))[0]
        yield (standardised @ direction > mean @ direction).astype(np.intp)
    else:
        directions = normalize(X)
        yield kmeans(directions, n_clusters, n_init=n_init, random_state=random_state).labels


def balance_limit(balance: float | None, n_clusters: int) -> float:
    """`balance`, or its default for the number of clusters."""
    if balance is not None:
        return balance
    return TWO_CLASS_BALANCE if n_clusters == 2 else MULTI_CLASS_BALANCE


def n_functions(n_clusters: int) -> int:
    """One function decides between two clusters, one per cluster between more."""
    return 1 if n_clusters == 2 else n_clusters


def decided_labels(decision: FloatArray) -> IntArray:
    """The sign of one function as 0 and 1, or the largest of several."""
    if decision.shape[1] == 1:
        return (decision[:, 0] > 0).astype(np.intp)
    return decision.argmax(axis=1)


def margin_shortage(found: MarginResult, n_clusters: int) -> str | None:
    """How many clusters are missing and what to do, for a warning; None if none is missing."""
    if found.n_used == n_clusters:
        return None
    sizes = ", ".join(str(size) for size in np.bincount(found.labels) if size)
    return (
        f"found {found.n_used} of n_clusters={n_clusters} clusters (sizes: {sizes}), since "
        "fewer have a larger margin; scale the columns, for example with "
        "sklearn.preprocessing.MinMaxScaler, raise C, lower balance, or ask for fewer clusters."
    )


def margin_failure(found: MarginResult, max_iter: int) -> str | None:
    """What did not converge and what to do, for a warning; None if all did."""
    return {
        "labellings": f"did not converge in max_iter={max_iter} labellings; raise max_iter, or "
        "tol.",
        "cuts": f"did not reach epsilon with {margin.MOST_CUTS} cuts; raise epsilon, or lower C.",
        "precision": "could not solve for its weights to the precision of epsilon: numbers "
        "differ too much in size; scale the columns, for example with "
        "sklearn.preprocessing.MinMaxScaler, or lower C.",
    }.get(found.outcome)


class MaximumMarginClustering(ClusterMixin, BaseEstimator):
    r"""Clusters that linear functions separate with the largest margin.

    A support vector machine whose labels are unknown too (equation 1 of the paper): for two
    clusters

    .. math:: \min_{v, b} \tfrac12 \|v\|^2 + \frac Cn \sum_i \max(0, 1 - |v^T x_i + b|)

    with the mean of the function held near zero, so that not all samples fall on one side; for
    more clusters one function per cluster, of which the largest wins. Columns should have
    comparable scales.

    Cost: K-means for the initial labels, then O(nd) per cut and O(J²d + J³) per iteration of the
    solver with J cuts, some dozens whatever n is. Sparse input is never densified.

    Parameters
    ----------
    n_clusters : int, default=2
        With 1 there is nothing to separate, and all samples have the label 0.
    C : float, default=10.0
        Weight of the mean hinge loss against the margin.
    balance : float or None, default=None
        How far from zero the mean of the function may be; for more than two clusters, the
        difference of the means of any two functions. None takes 0.03 for two clusters and 0.01
        for more. Where a cluster stays empty, a tenth and then a hundredth of it are tried too.
    epsilon : float, default=0.01
        Precision of the mean hinge loss at which no more cuts are made.
    order : {"labels", "cuts"}, default="labels"
        Whether labels are found for all cuts at once, or anew after each cut as in the papers.
    n_init : int, default=10
        K-means runs, of which the best gives the initial labels.
    max_iter : int, default=50
        Labellings.
    tol : float, default=1e-4
        Relative decrease of the objective at which to stop.
    random_state : int, RandomState instance or None, default=None
        Of K-means.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
    coef_ : ndarray of shape (n_features, n_functions)
        One function for two clusters, one per cluster for more.
    intercept_ : ndarray of shape (n_functions,)
    objective_ : ndarray of shape (n_iter_,)
        The objective after each labelling that lowered it; it never rises.
    n_iter_ : int
    n_cuts_ : int
        Cutting planes that were made.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    L. Xu, J. Neufeld, B. Larson, D. Schuurmans. Maximum margin clustering. NIPS 2005.

    B. Zhao, F. Wang, C. Zhang. Efficient multiclass maximum margin clustering. ICML 2008.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis.clustering import MaximumMarginClustering
    >>> X = load_iris().data[:100]
    >>> labels = MaximumMarginClustering(random_state=0).fit_predict(X)
    >>> sorted([int(labels[:50].sum()), int(labels[50:].sum())])
    [0, 50]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "C": [Interval(Real, 0, None, closed="neither")],
        "balance": [None, Interval(Real, 0, None, closed="neither")],
        "epsilon": [Interval(Real, 0, None, closed="neither")],
        "order": [StrOptions({"labels", "cuts"})],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        C: float = 10.0,
        balance: float | None = None,
        epsilon: float = 0.01,
        order: Order = "labels",
        n_init: int = 10,
        max_iter: int = 50,
        tol: float = 1e-4,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.C = C
        self.balance = balance
        self.epsilon = epsilon
        self.order = order
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find labels of large margin; `y` is ignored."""
        X = self._table(X, ensure_min_samples=2)
        if self.n_clusters > X.shape[0]:
            raise ValueError(
                f"n_clusters={self.n_clusters} is too large for n_samples={X.shape[0]}; use at "
                f"most {X.shape[0]}."
            )
        lowest, highest = extent(X)
        n_blocks = n_functions(self.n_clusters)
        self.coef_ = np.zeros((X.shape[1], n_blocks))
        self.intercept_ = np.zeros(n_blocks)
        self.objective_, self.n_iter_, self.n_cuts_ = np.zeros(0), 0, 0
        if self.n_clusters == 1 or (lowest == highest).all():  # nothing to separate
            self.labels_ = decided_labels(self._decision(X))
            return self
        samples = TableOperator.centred(X) if self.n_clusters == 2 else TableOperator(X)
        found = margin_clusters(
            samples,
            margin_starts(X, self.n_clusters, n_init=self.n_init, random_state=self.random_state),
            n_clusters=self.n_clusters,
            C=self.C,
            n_selected=X.shape[1],
            limit=balance_limit(self.balance, self.n_clusters),
            epsilon=self.epsilon,
            hessian=NoHessian(X.shape[1], n_blocks),
            order=self.order,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        self.coef_ = found.solution
        self.intercept_ = found.b - samples.origin @ found.solution
        self.objective_, self.n_iter_ = found.objective, len(found.objective)
        self.n_cuts_ = found.n_cuts
        self.labels_ = decided_labels(self._decision(X))
        for what, category in (
            (margin_failure(found, self.max_iter), ConvergenceWarning),
            (margin_shortage(found, self.n_clusters), UserWarning),
        ):
            if what is not None:
                warnings.warn(f"MaximumMarginClustering {what}", category, stacklevel=2)
        return self

    def predict(self, X: Any) -> IntArray:
        """The cluster of each sample, seen or unseen."""
        check_is_fitted(self)
        return decided_labels(self._decision(self._table(X, reset=False)))

    def _table(self, X: Any, **options: Any) -> Matrix:
        table = validate_data(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], **options
        )
        return canonical_csr(table) if is_sparse(table) else table

    def _decision(self, X: Matrix) -> FloatArray:
        return X @ self.coef_ + self.intercept_
