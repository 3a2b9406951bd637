"""Neighbours, graphs and Laplacians as their definitions say: dense, slow, loop by loop."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from tamis.graphs._neighbors import nearest_neighbors

TIE = 1e-10


def brute_neighbors(X, n_neighbors):
    """Indices and distances of the nearest other rows, equal distances by `content_order`."""
    X = np.asarray(X, dtype=np.float64)
    squared = cdist(X, X, "sqeuclidean")
    np.fill_diagonal(squared, np.inf)
    rank = {row: place for place, row in enumerate(content_order(X))}
    indices = []
    for i, to in enumerate(squared):
        order = np.argsort(to)
        order = order[order != i]
        ends = np.flatnonzero(to[order[1:]] > to[order[:-1]] * (1 + TIE)) + 1
        n_whole = np.searchsorted(ends, n_neighbors)  # runs of equal distances before the last
        runs = np.split(order, ends[: n_whole + 1])[: n_whole + 1]
        chosen = [j for run in runs for j in sorted(run, key=rank.get)]
        indices.append(chosen[:n_neighbors])
    indices = np.array(indices)
    return indices, np.sqrt(np.take_along_axis(squared, indices, axis=1))


def assert_brute_neighbors(X, n_neighbors, found=None, reference=None):
    """The neighbours of X are those of a brute force, and so are their distances."""
    if found is None:
        found = nearest_neighbors(X, n_neighbors)
    if reference is None:
        reference = X.toarray() if sp.issparse(X) else X
    indices, distances = brute_neighbors(reference, n_neighbors)
    np.testing.assert_array_equal(found.indices, indices)
    np.testing.assert_allclose(found.distances, distances, rtol=1e-12)
    assert found.recall == 1
    return found


def split(items, apart):
    """Runs of items; `apart` says of each pair that follow each other whether a run ends."""
    runs = [[items[0]]]
    for item, ends in zip(items[1:], apart, strict=True):
        if ends:
            runs.append([])
        runs[-1].append(item)
    return runs


def content_order(X):
    """The rows: farthest from the mean first, then longest tails, then along a direction."""
    unit = np.abs(X).max() or 1
    Z = (X - X.mean(axis=0)) / unit
    third = (Z**3).mean(axis=0)
    third[np.abs(third) <= 1e-6 * (np.abs(Z) ** 3).mean(axis=0)] = 0
    direction = np.random.default_rng(0).standard_normal(X.shape[1])
    radius, size = np.linalg.norm(Z, axis=1), np.linalg.norm(X / unit, axis=1)
    error = TIE * radius + 1e-14 * np.sqrt((size**2).mean())
    keys = [
        (radius**2, (radius + error) ** 2 - radius**2),
        (Z @ third, error * np.linalg.norm(third)),
        (X @ direction / unit, TIE * size * np.linalg.norm(direction)),
    ]

    def ordered(rows, keys):
        if len(rows) < 2 or not keys:
            return sorted(rows)
        (key, error), *rest = keys
        rows = sorted(rows, key=lambda i: -key[i])
        apart = [key[i] - key[j] > max(error[i], error[j]) for i, j in pairwise(rows)]
        return [i for run in split(rows, apart) for i in ordered(run, rest)]

    return ordered(range(len(X)), keys)


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
