"""How near the spans of eigenvectors are, and eigensolvers that fail."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence


def smallest_angle_cosine(V, W):
    return np.linalg.svd(V.T @ W)[1].min()


def raise_arpack(*args, **kwargs):
    raise ArpackError(-9999)


def raise_no_convergence(*args, **kwargs):
    raise ArpackNoConvergence("no convergence", np.empty(0), np.empty((0, 0)))


def return_nonsense(operator, k, **kwargs):
    rng = np.random.default_rng(0)
    return np.ones(k), np.linalg.qr(rng.standard_normal((operator.shape[0], k)))[0]
