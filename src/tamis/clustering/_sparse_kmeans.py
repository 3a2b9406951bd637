"""Sparse K-means: clusters and weights of the columns, few of which are not zero."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.optimize

from tamis._typing import FloatArray, IntArray, Matrix
from tamis.clustering._kmeans import cluster_means, kmeans
from tamis.solvers.result import SolverResult
from tamis.solvers.stopping import has_converged
from tamis.utils.columns import weighted_moments
from tamis.utils.sparse import is_sparse

__all__ = ["WeightedClusters", "between_scatter", "bounded_weights", "sparse_kmeans"]


@dataclass(frozen=True)
class WeightedClusters:
    """Clusters, and the weights of the columns in them.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,)
    weights : ndarray of shape (n_features,)
    between : ndarray of shape (n_features,)
        The scatter of each column between the clusters.
    """

    labels: IntArray
    weights: FloatArray
    between: FloatArray


def sparse_kmeans(
    X: Matrix, labels: IntArray, bound: float, *, max_iter: int, tol: float
) -> SolverResult[WeightedClusters]:
    """Maximise ``Σ_j w_j a_j`` over clusters and w ≥ 0 with ``‖w‖ ≤ 1`` and ``‖w‖₁ ≤ bound``.

    a_j is the scatter of column j between the clusters. Weights for given clusters are exact, and
    K-means of the columns times ``√w``, from the last clusters, is never worse than these: the
    objective, ``−Σ_j w_j a_j``, never rises.

    Parameters
    ----------
    X : {ndarray, CSR} of shape (n_samples, n_features)
    labels : ndarray of shape (n_samples,)
        First clusters.
    bound : float
        At least 1.
    max_iter : int
    tol : float

    Notes
    -----
    O(nd) and a K-means of the columns with a weight per iteration.
    """
    n_clusters = int(labels.max()) + 1
    between = between_scatter(X, labels)
    weights = bounded_weights(between, bound)
    objective = [-float(weights @ between)]
    converged = False
    while not converged and len(objective) < max_iter:
        active = np.flatnonzero(weights)
        found = kmeans(_weighted(X, active, weights), n_clusters, start=labels).labels
        following = between_scatter(X, found)
        better = bounded_weights(following, bound)
        value = -float(better @ following)
        unchanged = np.array_equal(found, labels)
        if value <= objective[-1]:
            labels, between, weights = found, following, better
        objective.append(min(value, objective[-1]))
        converged = tol > 0 and (unchanged or has_converged(objective, tol))
    return SolverResult(
        solution=WeightedClusters(labels, weights, between),
        objective=np.array(objective),
        optimality=abs(objective[-1] - objective[max(0, len(objective) - 2)]),
        converged=converged or tol == 0,
        solver="K-means and weights in turn",
    )


def between_scatter(X: Matrix, labels: IntArray) -> FloatArray:
    """The scatter of each column between the clusters: ``Σ_k n_k (m_kj − m_j)²``. O(nd)."""
    mean, _ = weighted_moments(X, np.ones(X.shape[0]))
    means = cluster_means(X, labels)
    return np.bincount(labels) @ (means - mean) ** 2


def bounded_weights(values: FloatArray, bound: float) -> FloatArray:
    """The w ≥ 0 with ``‖w‖ ≤ 1`` and ``‖w‖₁ ≤ bound`` that has the largest product with `values`.

    It is ``(a − Δ)₊``, of unit length, for the smallest Δ ≥ 0 that keeps the bound. Where more
    equal values are the largest than the bound has room for, they share it.

    Parameters
    ----------
    values : ndarray of shape (n_features,)
        Non-negative.
    bound : float
        At least 1.
    """
    largest = values.max(initial=0)
    if largest == 0:
        return np.full(len(values), min(1 / np.sqrt(len(values)), bound / len(values)))
    values = values / largest
    equal = values >= 1 - 1e-12
    n_equal = int(np.count_nonzero(equal))
    if bound**2 <= n_equal:
        return np.where(equal, bound / n_equal, 0.0)

    def excess(threshold: float) -> float:
        left = (values - threshold).clip(min=0)
        return float(left.sum() - bound * np.linalg.norm(left))

    threshold = 0.0
    if excess(0.0) > 0:
        threshold = scipy.optimize.brentq(excess, 0.0, values[~equal].max(), xtol=1e-15, rtol=1e-14)
    weights = (values - threshold).clip(min=0)
    return weights / np.linalg.norm(weights)


def _weighted(X: Matrix, active: IntArray, weights: FloatArray) -> Matrix:
    """The columns with a weight, times its root."""
    columns, roots = X[:, active], np.sqrt(weights[active])
    if not is_sparse(columns):
        return columns * roots
    scaled = columns.copy()
    scaled.data = scaled.data * roots[scaled.indices]
    return scaled
