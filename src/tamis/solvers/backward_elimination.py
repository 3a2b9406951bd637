"""Backward elimination: columns leave a ridge regression, each time the one that costs least."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tamis._typing import FloatArray, IntArray
from tamis.solvers.dense import cholesky, eigh
from tamis.solvers.eigen import SIDE_MAX
from tamis.solvers.table_operator import TableOperator

__all__ = ["Elimination", "backward_elimination"]

# Eliminations after which what rounding has left in the recursions is computed anew.
REFRESH = 200
# Columns whose costs differ by less than this share of the largest cost the same.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Elimination:
    """The order in which columns have left, and what each cost.

    Attributes
    ----------
    order : ndarray of shape (n_features,)
        The first to leave first.
    costs : ndarray of shape (n_features,)
        By how much the penalised misfit rose when the column of that place left.
    """

    order: IntArray
    costs: FloatArray


def backward_elimination(X: TableOperator, Y: FloatArray, ridge: float) -> Elimination:
    """Eliminate columns from ``min_W ‖XW − Y‖² + μ‖W‖²``, always the one whose loss costs least.

    The cost of column l is ``‖w_l‖²/((XᵀX + μI)⁻¹)_ll``, exactly the rise of the minimum. Both it
    and the inverse follow a column that leaves by rank-one formulas; with more columns than samples
    they are those of ``μI + XXᵀ``. Of columns that cost the same the last leaves.

    Parameters
    ----------
    X : TableOperator
    Y : ndarray of shape (n_samples, n_targets)
    ridge : float
        μ, positive.

    Notes
    -----
    O(md) for each of the d columns, with m = min(n, d), less as columns leave; O(md) memory.
    """
    columns, targets = _reduced(X, Y)
    n_features = columns.shape[1]
    left = np.arange(n_features)
    order, costs = np.empty(n_features, dtype=np.intp), np.empty(n_features)
    state = _State(columns, targets, ridge)
    for step in range(n_features):
        if step % REFRESH == 0 and step:
            state = _State(columns[:, left], targets, ridge)
        utilities = state.utilities()
        cheap = utilities <= utilities.min() + ROUNDING * utilities.max()
        place = int(np.flatnonzero(cheap)[-1])
        order[step], costs[step] = left[place], utilities[place]
        state.remove(place)
        left = np.delete(left, place)
    return Elimination(order, costs)


class _State:
    """The columns A that are left, ``B = (μI + AAᵀ)⁻¹A``, its diagonal with A, and ``AᵀB_Y``."""

    def __init__(self, columns: FloatArray, targets: FloatArray, ridge: float) -> None:
        self.A, self.targets, self.ridge = columns, targets, ridge
        system = columns @ columns.T
        system[np.diag_indices_from(system)] += ridge
        factor = cholesky(system)
        self.B = factor.solve(columns)
        self.shares = np.einsum("ij,ij->j", columns, self.B)  # h_l = 1 − μ((XᵀX + μI)⁻¹)_ll
        self.coef = self.B.T @ targets

    def utilities(self) -> FloatArray:
        """What each column costs."""
        left = (1 - self.shares).clip(min=np.finfo(float).eps)
        return self.ridge * np.einsum("ij,ij->i", self.coef, self.coef) / left

    def remove(self, place: int) -> None:
        """Take a column out of all of it."""
        b, coef = self.B[:, place].copy(), self.coef[place].copy()
        pivot = max(1 - self.shares[place], np.finfo(float).eps)
        self.A = np.delete(self.A, place, axis=1)
        # (S − aaᵀ)⁻¹ = S⁻¹ + bbᵀ/(1 − h) with b = S⁻¹a.
        inner = b @ self.A
        self.B = np.delete(self.B, place, axis=1) + np.outer(b, inner / pivot)
        self.shares = np.delete(self.shares, place) + inner**2 / pivot
        self.coef = np.delete(self.coef, place, axis=0) + np.outer(inner / pivot, coef)


def _reduced(X: TableOperator, Y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A table of min(n, d) rows with the products of X, and the targets that go with it."""
    n_samples, n_features = X.shape
    if min(X.shape) > SIDE_MAX:
        raise ValueError(
            f"X has shape {X.shape}: its smaller side exceeds {SIDE_MAX}, too large for an "
            "elimination; use MCFS or MRSF, or fewer samples."
        )
    if n_samples <= n_features:
        return X.columns(np.arange(n_features)), Y
    values, vectors = eigh(X.gram_of_features())
    kept = values > values[-1] * n_features * np.finfo(float).eps
    roots = np.sqrt(values[kept])
    rotated = vectors[:, kept].T
    return roots[:, None] * rotated, (rotated @ X.transposed_times(Y)) / roots[:, None]
