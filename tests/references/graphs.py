"""Neighbours, graphs and Laplacians as their definitions say: dense, slow, loop by loop."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist


def brute_neighbors(X, n_neighbors):
    """Indices and distances of the nearest other rows, equal distances by index."""
    X = np.asarray(X, dtype=np.float64)
    squared = cdist(X, X, "sqeuclidean")
    np.fill_diagonal(squared, np.inf)
    indices = np.argsort(squared, axis=1, kind="stable")[:, :n_neighbors]
    return indices, np.sqrt(np.take_along_axis(squared, indices, axis=1))


def neighbor_graph(X, n_neighbors, weight, combine):
    """Weight of every chosen edge by `weight(x, y, distance)`, the directions by `combine`."""
    n_samples = len(X)
    indices, distances = brute_neighbors(X, n_neighbors)
    directed = np.zeros((n_samples, n_samples))
    for i in range(n_samples):
        for j, distance in zip(indices[i], distances[i], strict=True):
            directed[i, j] = weight(X[i], X[j], distance)
    return combine(directed, directed.T)


def laplacian(W):
    """D − W."""
    return np.diag(W.sum(axis=1)) - W


def normalized_laplacian(W):
    """D^-½ (D − W) D^-½, entry by entry; zero where a sample has no edge."""
    degree = W.sum(axis=1)
    L = laplacian(W)
    result = np.zeros_like(L)
    for i in np.flatnonzero(degree):
        for j in np.flatnonzero(degree):
            result[i, j] = L[i, j] / np.sqrt(degree[i] * degree[j])
    return result


def dirichlet_energy(W, f):
    """Half of the sum over all ordered pairs of w_ij (f_i − f_j)²."""
    return 0.5 * sum(
        W[i, j] * (f[i] - f[j]) ** 2 for i in range(len(f)) for j in range(len(f)) if W[i, j]
    )


def roughness(W, f, centre):
    """f̃ᵀLf̃ / f̃ᵀDf̃, where f̃ is f or f less its weighted mean."""
    degree = W.sum(axis=1)
    if centre:
        f = f - (degree @ f) / degree.sum()
    return (f @ laplacian(W) @ f) / (f @ (degree * f))


def component_labels(W):
    """The component of each sample, numbered by first sample, by a flood from each."""
    labels = np.full(len(W), -1)
    for start in range(len(W)):
        if labels[start] >= 0:
            continue
        label = labels.max() + 1
        frontier = [start]
        while frontier:
            i = frontier.pop()
            if labels[i] < 0:
                labels[i] = label
                frontier.extend(np.flatnonzero(W[i]))
    return labels


def lle_weights(X, indices, reg):
    """Weights of sum one that rebuild each row from its neighbours, by the local Gram matrix."""
    weights = np.zeros((len(X), len(X)))
    for i, neighbors in enumerate(indices):
        Z = X[neighbors] - X[i]
        C = Z @ Z.T
        trace = np.trace(C)
        C = C + np.eye(len(neighbors)) * (reg * trace if trace > 0 else reg)
        w = np.linalg.solve(C, np.ones(len(neighbors)))
        weights[i, neighbors] = w / w.sum()
    return weights


def smooth_eigenpairs(W, n_vectors, drop_constant):
    """Smallest eigenvalues of the normalised Laplacian and the projector on their eigenvectors.

    Samples without an edge are left out. The constant vector D^½1 is moved to eigenvalue 3, beyond
    all others, to be dropped.
    """
    degree = W.sum(axis=1)
    connected = np.flatnonzero(degree)
    L = normalized_laplacian(W)[np.ix_(connected, connected)]
    if drop_constant:
        constant = np.sqrt(degree[connected] / degree.sum())
        L = L + 3 * np.outer(constant, constant)
    values, vectors = np.linalg.eigh(L)
    padded = np.zeros((len(W), n_vectors))
    padded[connected] = vectors[:, :n_vectors]
    return values[:n_vectors], padded @ padded.T
