"""Tables of which eigenpairs are asked, a measure of what is found, and eigensolvers that fail."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence


def table(n_samples, n_features, seed=0):
    rng = np.random.default_rng(seed)
    X = 0.3 + rng.standard_normal((n_samples, n_features))
    X[rng.random(X.shape) < 0.3] = 0
    return X


def smallest_angle_cosine(V, W):
    return np.linalg.svd(V.T @ W)[1].min()


def raise_arpack(*args, **kwargs):
    raise ArpackError(-9999)


def raise_no_convergence(*args, **kwargs):
    raise ArpackNoConvergence("no convergence", np.empty(0), np.empty((0, 0)))


def return_nonsense(operator, k, **kwargs):
    rng = np.random.default_rng(0)
    return np.ones(k), np.linalg.qr(rng.standard_normal((operator.shape[0], k)))[0]
