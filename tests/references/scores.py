"""Scores of single features as their equations have them: dense, naive, one feature at a time."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.stats import spearmanr


def dense(matrix):
    """A float64 ndarray of a dense or sparse matrix."""
    return np.asarray(matrix.toarray() if sp.issparse(matrix) else matrix, dtype=np.float64)


def laplacian_scores(affinity, X):
    """f̃ᵀLf̃ / f̃ᵀDf̃ with f̃ = f - (fᵀD1 / 1ᵀD1) 1, for each column f of X: small is good."""
    W, X = dense(affinity), dense(X)
    D = np.diag(W.sum(axis=1))
    L = D - W
    one = np.ones(len(W))
    scores = []
    for f in X.T:
        centred = f - (f @ D @ one) / (one @ D @ one) * one
        scores.append((centred @ L @ centred) / (centred @ D @ centred))
    return np.array(scores)


def spec_scores(affinity, X, style, n_clusters=5):
    """The three ranking functions of Zhao and Liu from all eigenpairs of the normalised Laplacian.

    The graph must be connected. Small is good for the styles 1 and 2, large for style 3.
    """
    W, X = dense(affinity), dense(X)
    degree = W.sum(axis=1)
    scale = np.diag(1 / np.sqrt(degree))
    eigenvalues, eigenvectors = np.linalg.eigh(scale @ (np.diag(degree) - W) @ scale)
    assert eigenvalues[1] > 1e-10, "the reference needs a connected graph"
    scores = []
    for f in X.T:
        unit = np.sqrt(degree) * f
        unit = unit / np.linalg.norm(unit)
        squares = (eigenvectors.T @ unit) ** 2
        if style == 1:
            scores.append(eigenvalues @ squares)
        elif style == 2:
            scores.append(eigenvalues[1:] @ squares[1:] / squares[1:].sum())
        else:
            after_trivial = slice(1, n_clusters + 1)
            scores.append((2 - eigenvalues[after_trivial]) @ squares[after_trivial])
    return np.array(scores)


def principal_components(X, n_components):
    """Variances and directions of the leading components, by a singular value decomposition."""
    X = dense(X)
    _, singular, directions = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    return singular[:n_components] ** 2 / len(X), directions[:n_components].T


def pca_scores(X, n_components):
    """Σ_j λ_j v_ij² over the leading components: the variance of feature i that they carry."""
    variances, directions = principal_components(X, n_components)
    scores = []
    for loadings in directions:
        scores.append(sum(variance * v**2 for variance, v in zip(variances, loadings, strict=True)))
    return np.array(scores)


def infinite_scores(X, alpha, factor):
    """Row sums of (I − rA)⁻¹ − I, with A entry by entry and r from its largest eigenvalue."""
    X = dense(X)
    d = X.shape[1]
    sigma = X.std(axis=0) / X.std(axis=0).max()
    A = np.empty((d, d))
    for i in range(d):
        for j in range(d):
            rho = 1.0 if i == j else spearmanr(X[:, i], X[:, j]).statistic
            A[i, j] = alpha * max(sigma[i], sigma[j]) + (1 - alpha) * (1 - abs(rho))
    radius = np.linalg.eigvalsh(A)[-1]
    S = np.linalg.inv(np.eye(d) - factor / radius * A) - np.eye(d)
    return S.sum(axis=1), radius


def gaussian_kernel(X, bandwidth=None):
    """exp(−‖x − y‖²/(2σ²)) pair by pair, centred; without σ, 2σ² is the mean over all pairs."""
    X = dense(X)
    n = len(X)
    squared = np.array([[((x - y) ** 2).sum() for y in X] for x in X])
    width = squared.sum() / (n * (n - 1)) if bandwidth is None else 2 * bandwidth**2
    H = np.eye(n) - 1 / n
    return H @ np.exp(-squared / width) @ H


def similarity_misfit(K, X, columns):
    """min over τ of ‖K − τX_AX_Aᵀ‖², by least squares on the n² entries."""
    X = dense(X) - dense(X).mean(axis=0)
    linear = (X[:, list(columns)] @ X[:, list(columns)].T).ravel()
    scale = (linear @ K.ravel()) / (linear @ linear)
    return ((K.ravel() - scale * linear) ** 2).sum()


def similarity_search(K, X, n_columns, include=()):
    """One column after the other, each the one with which the misfit is smallest."""
    chosen = []
    for _ in range(n_columns):
        first = [j for j in include if j not in chosen]
        others = first or [j for j in range(X.shape[1]) if j not in chosen]
        chosen.append(min(others, key=lambda j: similarity_misfit(K, X, [*chosen, j])))
    return chosen


def farthest_columns(X, first, n_columns, *, signed):
    """One column after the other, each the farthest from the nearest; and these distances."""
    X = dense(X) - dense(X).mean(axis=0)

    def distance(i, j):
        apart = np.linalg.norm(X[:, i] - X[:, j])
        return apart if signed else min(apart, np.linalg.norm(X[:, i] + X[:, j]))

    chosen, distances = [first], [np.linalg.norm(X[:, first])]
    while len(chosen) < n_columns:
        left = {
            i: min(distance(i, j) for j in chosen) for i in range(X.shape[1]) if i not in chosen
        }
        chosen.append(max(left, key=left.get))
        distances.append(left[chosen[-1]])
    return chosen, distances
