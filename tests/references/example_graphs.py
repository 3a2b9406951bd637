"""Samples and small graphs that the tests of graphs share."""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse as sp

# Edges 0–1 of weight 2 and 1–2 of weight 1.
PATH = np.array([[0.0, 2.0, 0.0], [2.0, 0.0, 1.0], [0.0, 1.0, 0.0]])


def normal(n_samples=60, n_features=4, seed=0):
    return np.random.default_rng(seed).standard_normal((n_samples, n_features))


def random_graph(n_samples, seed=0, density=0.1):
    """A dense, connected, weighted graph: a ring and random chords."""
    rng = np.random.default_rng(seed)
    W = np.triu(rng.random((n_samples, n_samples)) * (rng.random((n_samples,) * 2) < density), 1)
    if n_samples > 1:
        ring = np.arange(n_samples)
        W[ring[:-1], ring[1:]] += 0.5 + rng.random(n_samples - 1)
    return W + W.T


def components(*sizes, seed=0):
    """A graph of connected parts of these sizes, its samples shuffled; size 1: no edge."""
    blocks = [random_graph(size, seed + i) for i, size in enumerate(sizes)]
    order = np.random.default_rng(seed).permutation(sum(sizes))
    return scipy.linalg.block_diag(*blocks)[np.ix_(order, order)]


def stored_zeros():
    """Two edges, 0–1 and 2–3, and a stored zero between 1 and 2."""
    rows, columns = [0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]
    return sp.csr_array(([1.0, 1.0, 0.0, 0.0, 1.0, 1.0], (rows, columns)), shape=(4, 4))
