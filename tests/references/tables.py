"""Small tables to fit: what is in them, and how much of it is zero."""

from __future__ import annotations

import numpy as np


def _some_zero(X, share, rng):
    X[rng.random(X.shape) < share] = 0
    return X


def non_negative_clusters(n_samples, n_features, seed=0):
    """Three clusters in the first six columns, values within [0, 1], a third of them zero."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_samples, n_features)) / 2
    X[:, :6] += np.eye(3)[np.arange(n_samples) % 3].repeat(2, axis=1) / 2
    return _some_zero(X, 0.3, rng)


def three_levels(n_samples, n_features, seed=0, *, zeros=0.3):
    """Noise around 0, 1 or 2, one level per sample."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_features)) + rng.integers(0, 3, (n_samples, 1))
    return _some_zero(X, zeros, rng)


def off_centre(n_samples, n_features, seed=0, *, offset=0.3, zeros=0.3, dtype=np.float64):
    """Noise around one number: nothing in it is centred."""
    rng = np.random.default_rng(seed)
    X = (offset + rng.standard_normal((n_samples, n_features))).astype(dtype)
    return _some_zero(X, zeros, rng)


def clusters_in_noise(n_samples, n_features, seed=0):
    """Three clusters in the first five columns, noise of several scales in all; no zeros."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_features)) * rng.uniform(0.5, 2, n_features)
    X[:, :5] += 4 * rng.standard_normal((3, 5))[rng.integers(3, size=n_samples)]
    return X


def planted_groups(n_samples=90, n_noise=20, seed=0):
    """Three groups of equal size, each told apart by two columns of the first six, and noise.

    Returns the table and the groups.
    """
    rng = np.random.default_rng(seed)
    groups = np.arange(n_samples) % 3
    X = rng.standard_normal((n_samples, 6 + n_noise))
    X[:, :6] += 6 * np.eye(3)[groups].repeat(2, axis=1)
    return X, groups


def planted_groups_with_a_copy(n_samples=60, n_noise=40):
    """Planted groups, without values below -0.5, in which column 9 nearly repeats column 0."""
    X, groups = planted_groups(n_samples, n_noise)
    X = np.where(X > -0.5, X, 0)
    X[:, 9] = 2 * X[:, 0] + 1e-3 * X[:, 8]
    return X, groups


def overlapping_clusters(n_samples, n_features, n_clusters=2, seed=0):
    """Non-negative, some zeros, with clusters that overlap. Returns the table and the clusters."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n_samples) % n_clusters
    centres = 1.5 * rng.standard_normal((n_clusters, n_features))
    X = np.abs(rng.standard_normal((n_samples, n_features)) + centres[labels])
    return _some_zero(X, 0.2, rng), labels


def distinct_components(shape, offset=0.0, seed=0):
    """Spread over four digits: no two principal components carry the same variance."""
    rng = np.random.default_rng(seed)
    side = min(shape)
    left = np.linalg.qr(rng.standard_normal((shape[0], side)))[0]
    right = np.linalg.qr(rng.standard_normal((shape[1], side)))[0]
    return left * np.logspace(2, -1, side) @ right.T + offset


def positive_of_three_factors(n_samples=40, n_features=9, seed=0):
    """Sizes of what three factors make: correlated columns without a zero."""
    rng = np.random.RandomState(seed)
    return np.abs(rng.normal(size=(n_samples, 3)) @ rng.normal(size=(3, n_features))) + 0.1


def correlated(n_samples, n_features, seed=0):
    """Columns that all depend on each other, each with a mean of its own."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(n_samples, n_features))
    return noise @ rng.normal(size=(n_features, n_features)) + rng.normal(size=n_features)


def growing_spread(n_samples, n_features, seed=0):
    """Noise that is wider from column to column."""
    noise = np.random.RandomState(seed).normal(size=(n_samples, n_features))
    return noise * np.arange(1, n_features + 1)


def groups_with_copies(n_noise=6):
    """Four groups in three columns, copies of two of them, a constant, and noise."""
    rng = np.random.RandomState(0)
    centres = 8 * rng.normal(size=(4, 3))
    told = centres[np.repeat(range(4), 25)] + rng.normal(size=(100, 3))
    near = told[:, [0]] + 0.5 * rng.normal(size=(100, 1))
    X = np.c_[told, 2 * told[:, [0]], -told[:, [1]], near, np.ones(100)]
    X = np.c_[X, 5 * rng.normal(size=(100, n_noise))]
    names = ["a", "b", "c", "copy of a", "minus b", "near a", "flat"]
    return X, [*names, *(f"noise {j}" for j in range(n_noise))]
