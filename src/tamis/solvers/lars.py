"""Least angle regression of several targets on one table, by shared columns of its Gram matrix."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from tamis._typing import FloatArray
from tamis.solvers.centred import Centred


class GramColumns:
    """Columns of ``XᵀX``, computed when first asked for and then kept: O(nd) each."""

    def __init__(self, X: Centred) -> None:
        self._X = X
        self._kept: dict[int, FloatArray] = {}

    def __getitem__(self, j: int) -> FloatArray:
        if j not in self._kept:
            column = self._X.columns(np.array([j]))[:, 0]
            self._kept[j] = self._X.transposed_times(column)
        return self._kept[j]


def least_angle_regression(
    gram: GramColumns, correlation: FloatArray, n_steps: int
) -> tuple[FloatArray, FloatArray]:
    """Coefficients of one target after `n_steps` features have entered.

    Parameters
    ----------
    gram : GramColumns
    correlation : ndarray of shape (n_features,)
        ``Xᵀy``.
    n_steps : int
        How many features may enter; fewer do when the residual vanishes or all others depend on
        those that have entered.

    Returns
    -------
    coef : ndarray of shape (n_features,)
    nearness : ndarray of shape (n_features,)
        ``|xᵢᵀr|`` of the last residual, relative to that of the features that have entered: how
        close a feature is to entering.

    Notes
    -----
    O(dp) a step with p features entered, beside the Gram columns.

    References
    ----------
    B. Efron, T. Hastie, I. Johnstone, R. Tibshirani. Least angle regression. Annals of Statistics
    32 (2004).
    """
    n_features = len(correlation)
    coef = np.zeros(n_features)
    remaining = correlation.astype(np.float64)
    limit = 1e-12 * np.abs(correlation).max(initial=0.0)
    candidates = np.ones(n_features, dtype=bool)
    active: list[int] = []
    columns = np.empty((n_features, n_steps), order="F")
    factor = np.zeros((n_steps, n_steps))  # lower Cholesky factor of the active Gram matrix
    level = np.abs(remaining).max(initial=0.0)
    nearness = np.zeros(n_features)
    while len(active) < n_steps and level > limit and candidates.any():
        entering = int(np.where(candidates, np.abs(remaining), -1.0).argmax())
        # A step that rounding has cut short, at a feature that could not enter, leaves all others
        # below the level: go on in the same direction.
        if np.abs(remaining[entering]) > (1 - 1e-9) * level:
            candidates[entering] = False
            column = gram[entering]
            p = len(active)
            row = scipy.linalg.solve_triangular(factor[:p, :p], column[active], lower=True)
            pivot = column[entering] - row @ row
            if pivot <= 1e-10 * column[entering]:
                continue  # it depends on the active features, and can only stand in for them
            factor[p, :p], factor[p, p] = row, np.sqrt(pivot)
            columns[:, p] = column
            active.append(entering)

        p = len(active)
        nearness = np.abs(remaining) / level
        signs = np.sign(remaining[active])
        direction = scipy.linalg.cho_solve((factor[:p, :p], True), signs)
        change = columns[:, :p] @ direction  # of the correlations; `signs` on the active ones
        step = level
        for side in (1.0, -1.0):
            slope = 1 - side * change[candidates]
            distance = level - side * remaining[candidates]
            steps = distance[slope > 1e-12] / slope[slope > 1e-12]
            step = min(step, steps.clip(min=0).min(initial=np.inf))
        coef[active] += step * direction
        remaining -= step * change
        level -= step
    if level > limit:
        nearness = np.abs(remaining) / level
    # Else the fit is perfect. All features depend on those that have entered, and kept their share
    # of the level on the last step: what remains of it is rounding.
    return coef, nearness
