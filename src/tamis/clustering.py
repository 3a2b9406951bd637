"""K-means that gives the same clusters every time, whatever the order of the samples."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from tamis._typing import FloatArray, IntArray, Matrix

__all__ = ["Clusters", "cluster_means", "indicator", "kmeans"]


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
    order = np.argsort(_distances_from_mean(X), kind="stable")
    X = _with_short_indices(X[order])
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
    with warnings.catch_warnings(), threadpool_limits(1, user_api="openmp"):
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


def _with_short_indices(X: Matrix) -> Matrix:
    """A sparse table with 32-bit indices, if they suffice: scikit-learn's K-means takes no others.

    Slices of a table have 64-bit ones where scipy wants to be safe.
    """
    if not sp.issparse(X) or max(X.nnz, *X.shape) > np.iinfo(np.int32).max:
        return X
    indices, indptr = (part.astype(np.int32, copy=False) for part in (X.indices, X.indptr))
    return sp.csr_array((X.data, indices, indptr), shape=X.shape)


def _without_gaps(labels: IntArray) -> IntArray:
    return np.unique(labels, return_inverse=True)[1].astype(np.intp)


def _distances_from_mean(X: Matrix) -> FloatArray:
    mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
    if sp.issparse(X):
        squares = np.asarray(X.multiply(X).sum(axis=1)).ravel()
        return squares - 2 * (X @ mean)
    deviations = X - mean
    return np.einsum("ij,ij->i", deviations, deviations)


def _clusters_of(X: Matrix, labels: IntArray) -> Clusters:
    centres = cluster_means(X, labels)
    if sp.issparse(X):
        within = X.multiply(X).sum() - np.bincount(labels) @ (centres**2).sum(axis=1)
        return Clusters(labels, centres, max(0.0, float(within)))
    deviations = X - centres[labels]
    return Clusters(labels, centres, float(np.einsum("ij,ij->", deviations, deviations)))
