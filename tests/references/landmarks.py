"""The landmark graph from its definition: dense, row by row."""

from __future__ import annotations

import numpy as np


def ties(X, centres, n_nearest, bandwidth):
    """Heat weights of the nearest centres of each row, scaled to a sum of one."""
    Z = np.zeros((len(X), len(centres)))
    for i, x in enumerate(X):
        squared = np.array([np.sum((x - centre) ** 2) for centre in centres])
        nearest = np.argsort(squared, kind="stable")[:n_nearest]
        weights = np.exp(-squared[nearest] / (2 * bandwidth**2))
        Z[i, nearest] = weights / weights.sum()
    return Z


def affinity(Z):
    """W = ZΛ⁻¹Zᵀ, samples × samples."""
    return Z @ np.diag(1 / Z.sum(axis=0)) @ Z.T
