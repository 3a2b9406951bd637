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
TOGETHER = 128
# The same where another one turns out to be cheaper than all of them.
NEXT = 32
# With so many prepared columns a batch ends, however few have left.
MOST_PREPARED = 1024
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
        while step < n_features and not batch.is_full:
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
        self._prepared: dict[int, FloatArray] = {}
        self._costs = self._present_costs()
        self._prepare(TOGETHER)

    @property
    def is_full(self) -> bool:
        """Whether the next elimination is for another batch."""
        return len(self._gone) == TOGETHER or len(self._prepared) >= MOST_PREPARED

    def eliminate(self) -> tuple[int, float]:
        """Take the cheapest column out: its name and its cost."""
        state, n_gone = self.state, len(self._gone)
        costs = self._costs
        largest = costs.max(where=state.is_left, initial=0)
        column = int(np.flatnonzero(costs <= costs.min() + ROUNDING * largest)[-1])
        cost = float(costs[column])
        if column not in self._prepared:
            self._prepare(NEXT, column)
        before = self._inners[:, :n_gone]
        inner = self._prepared[column] + before @ (before[column] / self._pivots[:n_gone])
        pivot = max(1 - state.shares[column], np.finfo(float).eps)
        # (S − aaᵀ)⁻¹ = S⁻¹ + bbᵀ/(1 − h) with b = S⁻¹a.
        state.shares += inner**2 / pivot
        state.coef += np.outer(inner / pivot, state.coef[column])
        self._inners[:, n_gone], self._pivots[n_gone] = inner, pivot
        self._gone.append(column)
        state.is_left[column] = False
        self._costs = self._present_costs()
        return int(state.names[column]), cost

    def finish(self) -> None:
        """Bring S up to date."""
        self.state.leave_out(self._gone)

    def _present_costs(self) -> FloatArray:
        return np.where(self.state.is_left, self.state.utilities(), np.inf)

    def _prepare(self, n_columns: int, wanted: int | None = None) -> None:
        """``AᵀS⁻¹a`` for the cheapest columns a, with S as it was when the batch began."""
        n_columns = min(n_columns, int(np.count_nonzero(self.state.is_left)))
        cheapest = np.argpartition(self._costs, n_columns - 1)[:n_columns]
        some = [int(column) for column in cheapest]
        if wanted is not None and wanted not in some:
            some.append(wanted)
        new = [column for column in some if column not in self._prepared]
        products = matmul(self._factor.solve(self.state.A[:, new]).T, self.state.A)
        self._prepared.update(zip(new, products, strict=True))


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
