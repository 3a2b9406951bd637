"""When an iteration has converged, and how far from stationary it then is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tamis._typing import FloatArray


def has_converged(objective: Sequence[float], tol: float, *, n_calm: int = 1) -> bool:
    """Whether the objective changed by no more than `tol`, relative, in the last iterations.

    Parameters
    ----------
    objective : sequence of float
        One value per iteration so far.
    tol : float
        0 never stops.
    n_calm : int, default=1
        Iterations, one after the other, in which the change must have been small. With momentum
        one is not enough: the objective can stand still for a moment.
    """
    if tol == 0 or len(objective) <= n_calm:
        return False
    last = np.asarray(objective[-n_calm - 1 :])
    return bool((np.abs(np.diff(last)) <= tol * np.abs(last[1:])).all())


def stationarity(gradient: FloatArray, W: FloatArray, normal: FloatArray | None = None) -> float:
    """Size of the gradient along ``WᵀTW = I``, relative to the whole gradient.

    Parameters
    ----------
    gradient, W : ndarray of shape (n_features, n_columns)
        W on the constraint.
    normal : ndarray of shape (n_features, n_columns) or None, default=None
        ``TW``; None where T is the identity.
    """
    along = gradient - (W if normal is None else normal) @ (W.T @ gradient)
    return float(np.linalg.norm(along) / np.linalg.norm(gradient))
