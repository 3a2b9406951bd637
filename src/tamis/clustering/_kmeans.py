"""K-means that depends neither on the order of the samples nor on the number of threads."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import ThreadpoolController

from tamis._typing import FloatArray, IntArray, Matrix
from tamis.solvers.table_operator import TableOperator
from tamis.utils.sparse import is_sparse, with_short_indices
from tamis.utils.ties import content_ranks


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
    O(n·d·n_clusters) per iteration.
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
        tol=0,  # until no label changes: where it stops must not depend on rounding
        random_state=random_state,
    )
    with warnings.catch_warnings(), _pools().limit(limits=1, user_api="openmp"):
        # Fewer distinct samples than clusters: the result says so by its number of centres.
        warnings.filterwarnings("ignore", "Number of distinct clusters", ConvergenceWarning)
        found = model.fit_predict(X)
    best = _clusters_of(X, _without_gaps(found))
    if start is not None:
        given = _clusters_of(X, start)
        # Less by rounding alone is not less: labels that tell equal samples apart would win.
        values: Any = X.data if is_sparse(X) else X
        rounding = 10 * np.finfo(best.centres.dtype).eps * float(np.vdot(values, values))
        if given.inertia < best.inertia - rounding:
            best = given
    labels = np.empty_like(best.labels)
    labels[order] = best.labels
    return Clusters(labels, best.centres, best.inertia)


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
    sums = sums.toarray() if is_sparse(sums) else sums
    return sums / np.bincount(labels)[:, None]


def between_root(X: TableOperator, labels: IntArray) -> FloatArray:
    """A root B of the scatter between clusters, ``BᵀB = XᵀG(GᵀG)⁻¹GᵀX``: sizes^½ times means."""
    sizes = np.bincount(labels)
    return (X.transposed_times(indicator(labels).toarray()) / np.sqrt(sizes)).T


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
    if is_sparse(X):
        within = X.multiply(X).sum() - np.bincount(labels) @ (centres**2).sum(axis=1)
        return Clusters(labels, centres, max(0.0, float(within)))
    deviations = X - centres[labels]
    return Clusters(labels, centres, float(np.einsum("ij,ij->", deviations, deviations)))
