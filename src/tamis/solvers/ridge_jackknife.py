"""Ridge regressions of many targets, and how their coefficients change if a sample is left out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tamis._typing import FloatArray
from tamis.solvers.dense import eigh
from tamis.solvers.eigen import SIDE_MAX
from tamis.solvers.table_operator import TableOperator

# Directions with less than this share of the largest eigenvalue are rounding.
ROUNDING = 1e-13


@dataclass(frozen=True)
class JackknifedRidge:
    """Coefficients of ridge regressions with a free intercept, and their instability.

    Attributes
    ----------
    coef : ndarray of shape (n_features, n_targets)
        W, which minimises ``‖XW + 1bᵀ − Y‖² + μ‖W‖²``.
    instability : ndarray of shape (n_targets,)
        Jackknife variance of the coefficients, relative to their squared length:
        ``Σ_i ‖w − w_(i)‖² / ‖w‖²``, where w_(i) is the solution without sample i.
    """

    coef: FloatArray
    instability: FloatArray


def jackknifed_ridge(X: TableOperator, Y: FloatArray, ridge: float) -> JackknifedRidge:
    """Regressions of the columns of Y on a centred table, exactly, by one decomposition.

    With ``X = UΣVᵀ`` the solution is ``W = XᵀU(Σ² + μ)⁻¹UᵀY``, and without sample i it is
    ``w − (XᵀX + μI)⁻¹x_i r_i / (1 − h_i)``, where r_i is what the regression leaves of y_i and h_i
    is its own share in its prediction, that of the intercept included.

    Parameters
    ----------
    X : TableOperator
        Centred.
    Y : ndarray of shape (n_samples, n_targets)
    ridge : float
        μ, in units of the mean eigenvalue of XᵀX, each weighted with itself: ``Σλ²/Σλ``; positive.
        Neither the unit of the table nor copies of all its rows or columns change what it does.

    Notes
    -----
    O(nd·s + s³) for the smaller side s of the table; memory O(ns + s²). Sparse tables stay sparse.
    Tables with more than 6000 of both samples and features are refused.
    """
    n_samples, n_features = X.shape
    if min(X.shape) > SIDE_MAX:
        raise ValueError(
            f"A regression on {n_samples} samples and {n_features} features decomposes a matrix of "
            f"the smaller side, which exceeds {SIDE_MAX}; use MCFS or MRSF, or fewer samples."
        )
    values, left = _left_singular(X)
    penalty = ridge * float((values**2).sum() / values.sum())
    Y = Y - Y.mean(axis=0)
    inner = left.T @ Y
    coef = X.transposed_times(left @ (inner / (values + penalty)[:, None]))
    residual = Y - left @ (inner * (values / (values + penalty))[:, None])
    squares = left**2
    own_share = squares @ (values / (values + penalty)) + 1 / n_samples
    lengths = squares @ (values / (values + penalty) ** 2)
    changes = (residual / (1 - own_share)[:, None]) ** 2
    norms = np.einsum("ij,ij->j", coef, coef)
    total = lengths @ changes
    instability = np.divide(total, norms, out=np.full_like(total, np.inf), where=norms > 0)
    return JackknifedRidge(coef, instability)


def _left_singular(X: TableOperator) -> tuple[FloatArray, FloatArray]:
    """The eigenvalues of XXᵀ that are more than rounding, and their vectors."""
    by_samples = X.shape[0] <= X.shape[1]
    values, vectors = eigh(X.gram_of_samples() if by_samples else X.gram_of_features())
    kept = values > ROUNDING * values[-1]
    values, vectors = values[kept], vectors[:, kept]
    return values, vectors if by_samples else X.times(vectors) / np.sqrt(values)
