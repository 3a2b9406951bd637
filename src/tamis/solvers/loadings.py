"""Loadings: the factor of a table with one row per feature, and the robust loss of its fit."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from tamis._typing import FloatArray, Matrix
from tamis.solvers.row_norms import LOSS_SMOOTHING, row_norms, smoothing_of
from tamis.utils.blocks import row_blocks
from tamis.utils.rows import squared_row_norms
from tamis.utils.sparse import is_sparse


def residual_norms(X: Matrix, U: FloatArray, V: FloatArray) -> FloatArray:
    """``‖x_i − u_iVᵀ‖`` for each row. O(ndc), or O(nnz·c + (n + d)c²) for sparse X.

    Dense tables are read in blocks of rows. The residual of a sparse one is dense; only its norms
    are computed, by expanding the square, to half of the digits of ‖x_i‖.
    """
    if is_sparse(X):
        squares = squared_row_norms(X) - np.einsum("ij,ij->i", U, 2 * (X @ V) - U @ (V.T @ V))
        return np.sqrt(squares.clip(min=0))
    norms = np.empty(X.shape[0])
    for rows in row_blocks(*X.shape):
        norms[rows] = row_norms(X[rows] - U[rows] @ V.T)
    return norms


def reweighted(norms: FloatArray, smoothing: float) -> tuple[float, FloatArray]:
    """The l2,1 loss ``Σ sqrt(r² + ζ)`` and the weights of the quadratic that majorises it."""
    smoothed = np.sqrt(norms**2 + smoothing)
    return float(smoothed.sum()), 1 / (2 * smoothed)


def loss_smoothing(norms: FloatArray) -> float:
    """ζ for residuals of a table with such row norms: small beside a row."""
    return smoothing_of(LOSS_SMOOTHING, float(norms.mean()))


def penalised_loadings(gram: FloatArray, correlation: FloatArray, penalty: float) -> FloatArray:
    """Minimise ``vHvᵀ − 2⟨r, v⟩ + penalty·‖v‖`` for each row r of `correlation`, exactly.

    With ``t = ‖v‖`` the optimum is ``v = (H + penalty/(2t)·I)⁻¹r``, or zero where ``2‖r‖`` is at
    most the penalty. In the eigenbasis of H, t solves ``(Σ_k r_k²/(h_k t + penalty/2)²)^-½ = 1``,
    whose left side is concave and rises: Newton's method from below converges without a safeguard.

    Parameters
    ----------
    gram : ndarray of shape (n_columns, n_columns)
        H, positive semi-definite; the rows of `correlation` lie in its range.
    correlation : ndarray of shape (n_features, n_columns)
    penalty : float
        Positive.

    Notes
    -----
    O(dc² + c³).
    """
    values, vectors = scipy.linalg.eigh(gram)
    kept = values > values[-1] * len(values) * np.finfo(float).eps
    values, vectors = values[kept], vectors[:, kept]
    rotated = correlation @ vectors
    V = np.zeros_like(rotated)
    active = 2 * row_norms(rotated) > penalty * (1 + 1e-12)
    if not active.any():
        return V @ vectors.T
    r, half = rotated[active], penalty / 2
    t = (row_norms(r) - half) / values[-1]
    for _ in range(100):
        y = values * t[:, None] + half
        terms = (r / y) ** 2
        total = terms.sum(axis=1)
        # φ = total^-½ and its slope: t ← t + (1 − φ)/φ'.
        step = (np.sqrt(total) - 1) * total / (terms * values / y).sum(axis=1)
        t = t + step.clip(min=0)
        if (step <= 1e-14 * t).all():
            break
    V[active] = r * (t[:, None] / (values * t[:, None] + half))
    return V @ vectors.T


def nonnegative_loadings(
    gram: FloatArray, correlation: FloatArray, start: FloatArray, *, max_iter: int = 10
) -> FloatArray:
    """Minimise ``Tr(VHVᵀ) − 2⟨R, V⟩`` over V ≥ 0, one column after the other, each exactly.

    Parameters
    ----------
    gram : ndarray of shape (n_columns, n_columns)
        H.
    correlation : ndarray of shape (n_features, n_columns)
        R.
    start : ndarray of shape (n_features, n_columns)
        Non-negative.
    max_iter : int, default=10
        Sweeps over the columns, O(dc²) each.
    """
    V = start.copy()
    for _ in range(max_iter):
        for k in np.flatnonzero(np.diag(gram) > 0):
            pull = correlation[:, k] - V @ gram[:, k]
            V[:, k] = np.maximum(V[:, k] + pull / gram[k, k], 0)
    return V
