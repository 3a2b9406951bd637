"""Backward elimination: columns leave a ridge regression, each time the one that costs least."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tamis._typing import FloatArray, IntArray
from tamis.solvers.dense import cholesky, eigh, matmul
from tamis.solvers.eigen import SIDE_MAX
from tamis.solvers.table_operator import TableOperator
from tamis.utils.blocks import row_blocks

__all__ = ["Elimination", "backward_elimination"]

# Eliminations after which what rounding has left in the recursions is computed anew: so many, or a
# share of the columns.
REFRESH, SHARE = 200, 1 / 4
# Columns that are prepared together, as those that are likely to leave next.
TOGETHER = 64
# Share of columns that have left at which the others are copied.
GONE = 1 / 8
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
    they are those of ``μI + XXᵀ``. What they need of the columns that are likely to leave next is
    one product for many of them. Of columns that cost the same the last leaves.

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
    order, costs = np.empty(n_features, dtype=np.intp), np.empty(n_features)
    state = _State(columns, np.arange(n_features), targets, ridge)
    step = 0
    last_refresh = 0
    while step < n_features:
        if step - last_refresh >= max(REFRESH, SHARE * (n_features - last_refresh)):
            state, last_refresh = state.refreshed(), step
        batch = _Batch(state)
        for _ in range(min(TOGETHER, n_features - step)):
            order[step], costs[step] = batch.eliminate()
            step += 1
        batch.finish()
    return Elimination(order, costs)


class _State:
    """Columns A, some of which may have left, with the shares and the coefficients of the others.

    The shares are the diagonal of ``AᵀS⁻¹A`` for ``S = μI + AAᵀ``, of the columns that are left:
    that of column l is ``1 − μ((XᵀX + μI)⁻¹)_ll``. The coefficients are ``AᵀS⁻¹Y``.
    """

    def __init__(
        self, columns: FloatArray, names: IntArray, targets: FloatArray, ridge: float
    ) -> None:
        self.A, self.names, self.targets, self.ridge = columns, names, targets, ridge
        self.is_left = np.ones(len(names), dtype=bool)
        self.system = matmul(columns, columns.T)
        self.system[np.diag_indices_from(self.system)] += ridge
        factor = cholesky(self.system)
        target = factor.solve_half(targets)
        self.shares, self.coef = np.empty(len(names)), np.empty((len(names), targets.shape[1]))
        for some in row_blocks(len(names), len(targets)):
            half = factor.solve_half(columns[:, some])
            self.shares[some] = np.einsum("ij,ij->j", half, half)
            self.coef[some] = half.T @ target

    def refreshed(self) -> _State:
        """The same columns, without what rounding has left of the eliminations."""
        left = self.is_left
        return _State(self.A[:, left], self.names[left], self.targets, self.ridge)

    def utilities(self) -> FloatArray:
        """What each column costs; of those that have left, anything."""
        uncovered = (1 - self.shares).clip(min=np.finfo(float).eps)
        return self.ridge * np.einsum("ij,ij->i", self.coef, self.coef) / uncovered

    def leave_out(self, gone: list[int]) -> None:
        """Take columns out of S, and out of A once they are many."""
        columns = self.A[:, gone]
        self.system -= matmul(columns, columns.T)
        if np.count_nonzero(self.is_left) <= (1 - GONE) * len(self.is_left):
            left = self.is_left
            self.A, self.names, self.is_left = self.A[:, left], self.names[left], left[left]
            self.shares, self.coef = self.shares[left], self.coef[left]


class _Batch:
    """A few eliminations, during which S is that of before and what they add to its inverse."""

    def __init__(self, state: _State) -> None:
        self.state = state
        self._gone: list[int] = []
        self._factor = cholesky(state.system)
        # AᵀS⁻¹a of the columns that have left, as each left, and what the inverse divides by.
        self._inners = np.empty((len(state.names), TOGETHER), order="F")
        self._pivots = np.empty(TOGETHER)
        costs = np.where(state.is_left, state.utilities(), np.inf)
        likely = np.argsort(costs, kind="stable")[: min(TOGETHER, np.count_nonzero(state.is_left))]
        self._prepared = self._products_with(likely)
        self._place = {int(column): place for place, column in enumerate(likely)}

    def eliminate(self) -> tuple[int, float]:
        """Take the cheapest column out: its name and its cost."""
        state, n_gone = self.state, len(self._gone)
        costs = state.utilities()
        costs[~state.is_left] = np.inf
        largest = costs.max(where=state.is_left, initial=0)
        column = int(np.flatnonzero(costs <= costs.min() + ROUNDING * largest)[-1])
        before = self._inners[:, :n_gone]
        inner = self._product_with(column) + before @ (before[column] / self._pivots[:n_gone])
        pivot = max(1 - state.shares[column], np.finfo(float).eps)
        # (S − aaᵀ)⁻¹ = S⁻¹ + bbᵀ/(1 − h) with b = S⁻¹a.
        state.shares += inner**2 / pivot
        state.coef += np.outer(inner / pivot, state.coef[column])
        self._inners[:, n_gone], self._pivots[n_gone] = inner, pivot
        self._gone.append(column)
        state.is_left[column] = False
        return int(state.names[column]), float(costs[column])

    def finish(self) -> None:
        """Bring S up to date."""
        self.state.leave_out(self._gone)

    def _product_with(self, column: int) -> FloatArray:
        place = self._place.get(column)
        if place is not None:
            return self._prepared[:, place]
        return self._products_with(np.array([column]))[:, 0]

    def _products_with(self, columns: IntArray) -> FloatArray:
        """``AᵀS⁻¹a`` for some columns a, with S as it was when the batch began."""
        A = self.state.A
        return np.asfortranarray(matmul(A.T, self._factor.solve(A[:, columns])))


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
