"""Clustering: K-means that does not depend on the order of the samples, normalised cut, and
maximum margin.

>>> from sklearn.datasets import load_digits
>>> from tamis.clustering import MaximumMarginClustering
>>> from tamis.metrics import clustering_accuracy
>>> X, y = load_digits(n_class=2, return_X_y=True)
>>> float(clustering_accuracy(y, MaximumMarginClustering(random_state=0).fit_predict(X / 16)))
1.0
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClusterMixin, _fit_context
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import ThreadpoolController

from tamis._ties import content_ranks
from tamis._typing import FloatArray, IntArray, Matrix, SparseMatrix
from tamis.columns import canonical_csr, extent, variances, weighted_moments
from tamis.graphs import spectral_embedding
from tamis.solvers.centred import Centred
from tamis.solvers.curvature import NoCurvature, Samples
from tamis.solvers.margin import Order, margin_clusters
from tamis.solvers.principal import principal_components

__all__ = [
    "Clusters",
    "MaximumMarginClustering",
    "between_root",
    "cluster_means",
    "indicator",
    "kmeans",
    "margin_starts",
    "normalized_cut",
    "with_short_indices",
]

# The balance l / n of the separating functions: see MaximumMarginClustering.
TWO_CLASS_BALANCE, MULTI_CLASS_BALANCE = 0.03, 0.01


@dataclass(frozen=True)
class Clusters:
    """A partition of the samples.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,)
        From 0, without gaps.
    centres : ndarray of shape (n_found, n_features)
        Fewer than were asked for where there are fewer distinct samples.
    inertia : float
        Sum of squared distances to the centres.
    """

    labels: IntArray
    centres: FloatArray
    inertia: float


def kmeans(
    X: Matrix,
    n_clusters: int,
    *,
    n_init: int = 10,
    start: IntArray | None = None,
    max_iter: int = 300,
    random_state: int | np.random.RandomState | None = None,
) -> Clusters:
    """K-means, from several random starts or from given labels.

    scikit-learn's, with two guarantees added. The random starts are drawn among the samples in the
    order of their distance from the mean, so that neither the order of the samples nor that of the
    columns matters. And it runs on one thread: on several, sums are added up in the order in which
    the threads finish, and the last digits differ from run to run.

    Parameters
    ----------
    X : {ndarray, CSR} of shape (n_samples, n_features)
    n_clusters : int
    n_init : int, default=10
        Random starts (k-means++), of which the one of least inertia is kept.
    start : ndarray of shape (n_samples,) or None, default=None
        Labels to start from instead; the result is never worse than they are.
    max_iter : int, default=300
    random_state : int, RandomState instance or None, default=None

    Notes
    -----
    O(n·d·n_clusters) an iteration.
    """
    order = _outwards(X)
    X = with_short_indices(X[order])
    init: str | FloatArray = "k-means++"
    if start is not None:
        start = _without_gaps(start[order])
        init = cluster_means(X, start)
        n_clusters, n_init = len(init), 1
    model = KMeans(
        n_clusters,
        init=init,
        n_init=n_init,
        max_iter=max_iter,
        tol=0,  # until no label changes: where it stops must not hang on rounding
        random_state=random_state,
    )
    with warnings.catch_warnings(), _pools().limit(limits=1, user_api="openmp"):
        # Fewer distinct samples than clusters: the result says so by its number of centres.
        warnings.filterwarnings("ignore", "Number of distinct clusters", ConvergenceWarning)
        found = model.fit_predict(X)
    candidates = [_clusters_of(X, _without_gaps(found))]
    if start is not None:
        candidates.append(_clusters_of(X, start))
    best = min(candidates, key=lambda clusters: clusters.inertia)
    labels = np.empty_like(best.labels)
    labels[order] = best.labels
    return Clusters(labels, best.centres, best.inertia)


def normalized_cut(
    affinity: SparseMatrix,
    n_clusters: int,
    *,
    n_init: int = 10,
    random_state: int | np.random.RandomState | None = None,
) -> IntArray:
    """Clusters of a graph with few edges between them, relative to their sizes (Shi and Malik).

    The relaxed problem is solved exactly: its solution is the spectral embedding, whose rows
    K-means then groups.

    Parameters
    ----------
    affinity : csr_array of shape (n_samples, n_samples)
        Symmetric and non-negative, such as :func:`tamis.graphs.neighbor_graph` returns.
    n_clusters : int
    n_init : int, default=10
        Starts of K-means.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    ndarray of shape (n_samples,)
        From 0; fewer clusters than asked for where fewer rows of the embedding are distinct.

    Notes
    -----
    O(nnz(affinity)) a Lanczos step and O(nc²) an iteration of K-means.

    References
    ----------
    .. [1] J. Shi and J. Malik (2000). Normalized cuts and image segmentation. IEEE Transactions
       on Pattern Analysis and Machine Intelligence 22, 888-905.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.clustering import normalized_cut
    >>> from tamis.graphs import neighbor_graph
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    >>> normalized_cut(neighbor_graph(X, 2), 2, random_state=0)
    array([1, 1, 1, 0, 0, 0])
    """
    # The constant eigenvector tells nothing: c of them are c − 1 others.
    embedding = spectral_embedding(affinity, max(1, n_clusters - 1))[1]
    return kmeans(embedding, n_clusters, n_init=n_init, random_state=random_state).labels


def indicator(labels: IntArray) -> sp.csr_array:
    """The indicator matrix G: a one in the column of each sample's cluster."""
    n_samples = len(labels)
    return sp.csr_array(
        (np.ones(n_samples), labels, np.arange(n_samples + 1)),
        shape=(n_samples, int(labels.max()) + 1),
    )


def cluster_means(X: Matrix, labels: IntArray) -> FloatArray:
    """Means of the clusters, dense: ``(GᵀG)⁻¹GᵀX``."""
    sums = indicator(labels).T @ X
    sums = sums.toarray() if sp.issparse(sums) else sums
    return sums / np.bincount(labels)[:, None]


def between_root(X: Centred, labels: IntArray) -> FloatArray:
    """A root B of the scatter between clusters, ``BᵀB = XᵀG(GᵀG)⁻¹GᵀX``: sizes^½ times means."""
    sizes = np.bincount(labels)
    return (X.transposed_times(indicator(labels).toarray()) / np.sqrt(sizes)).T


def with_short_indices(X: Matrix) -> Matrix:
    """A sparse table with 32-bit indices, if they suffice: scikit-learn's K-means takes no others.

    Slices of a table have 64-bit ones where scipy wants to be safe.
    """
    if not sp.issparse(X) or max(X.nnz, *X.shape) > np.iinfo(np.int32).max:
        return X
    indices, indptr = (part.astype(np.int32, copy=False) for part in (X.indices, X.indptr))
    return sp.csr_array((X.data, indices, indptr), shape=X.shape)


@cache
def _pools() -> ThreadpoolController:
    """The pools of threads, looked for once: that takes longer than to cluster a few samples."""
    return ThreadpoolController()


def _without_gaps(labels: IntArray) -> IntArray:
    return np.unique(labels, return_inverse=True)[1].astype(np.intp)


def _outwards(X: Matrix) -> IntArray:
    """The samples by their distance from the mean, those equally far by their values too."""
    return np.argsort(content_ranks(X))[::-1]


def _clusters_of(X: Matrix, labels: IntArray) -> Clusters:
    centres = cluster_means(X, labels)
    if sp.issparse(X):
        within = X.multiply(X).sum() - np.bincount(labels) @ (centres**2).sum(axis=1)
        return Clusters(labels, centres, max(0.0, float(within)))
    deviations = X - centres[labels]
    return Clusters(labels, centres, float(np.einsum("ij,ij->", deviations, deviations)))


# ------------------------------------------------------------------------------------------------
# Maximum margin
# ------------------------------------------------------------------------------------------------


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
    part nothing else. O(n·d·n_clusters) an iteration of K-means; made one by one, as asked for.
    """
    yield kmeans(X, n_clusters, n_init=n_init, random_state=random_state).labels
    if n_clusters == 2:
        spread = np.sqrt(variances(X))
        standardised = X * np.divide(1, spread, out=np.zeros_like(spread), where=spread > 0)
        if sp.issparse(X):
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
    """One function decides between two clusters, one a cluster between more."""
    return 1 if n_clusters == 2 else n_clusters


def decided_labels(decision: FloatArray) -> IntArray:
    """The sign of one function as 0 and 1, or the largest of several."""
    if decision.shape[1] == 1:
        return (decision[:, 0] > 0).astype(np.intp)
    return decision.argmax(axis=1)


class MaximumMarginClustering(ClusterMixin, BaseEstimator):
    r"""Clusters that linear functions separate with the largest margin.

    A support vector machine whose labels are unknown too (equation 1 of the paper): for two
    clusters

    .. math:: \min_{v, b} \tfrac12 \|v\|^2 + \frac Cn \sum_i \max(0, 1 - |v^T x_i + b|)

    with the mean of the function held near zero, so that not all samples fall on one side; for
    more clusters one function a cluster, of which the largest wins. Columns should have comparable
    scales.

    Cost: K-means for the initial labels, then O(nd) a cut and O(J²d + J³) an iteration of the
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
        Whether labels are settled for all cuts at once, or anew after each cut as in the papers.
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
        One function for two clusters, one a cluster for more.
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
        samples = Samples(X, centre=self.n_clusters == 2)
        found = margin_clusters(
            samples,
            margin_starts(X, self.n_clusters, n_init=self.n_init, random_state=self.random_state),
            n_clusters=self.n_clusters,
            C=self.C,
            n_selected=X.shape[1],
            limit=balance_limit(self.balance, self.n_clusters),
            epsilon=self.epsilon,
            curvature=NoCurvature(X.shape[1], n_blocks),
            order=self.order,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        self.coef_ = found.V
        self.intercept_ = found.b - samples.origin @ found.V
        self.objective_, self.n_iter_ = found.objective, len(found.objective)
        self.n_cuts_ = found.n_cuts
        self.labels_ = decided_labels(self._decision(X))
        for what, category in (
            (found.failure(self.max_iter), ConvergenceWarning),
            (found.shortage(self.n_clusters), UserWarning),
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
        return canonical_csr(table) if sp.issparse(table) else table

    def _decision(self, X: Matrix) -> FloatArray:
        return X @ self.coef_ + self.intercept_
