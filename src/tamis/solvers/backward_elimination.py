"""Backward elimination: columns leave a ridge regression, each time the one that costs least."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tamis._typing import BoolArray, FloatArray, IntArray
from tamis.solvers.dense import cholesky, eigh, matmul
from tamis.solvers.eigen import SIDE_MAX
from tamis.solvers.table_operator import TableOperator
from tamis.utils.blocks import row_blocks
from tamis.utils.threads import all_threads

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
# Prepared columns that a batch hands on to the next.
MOST_CARRIED = 512
# Share of columns that have left at which the others are copied.
GONE = 1 / 8
# A sparse table with more than this share of stored values is faster as a dense one.
FILLED = 0.02
# Numbers in a block of columns.
BLOCK_SIZE = 1 << 21
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
    O(md) for each of the d columns, with m = min(n, d), less as columns leave; O(md) memory. Of a
    sparse table, where n ≤ d, O(m² + nnz + d) for each.
    """
    columns, targets = _reduced(X, Y)
    n_features = X.shape[1]
    order, costs = np.empty(n_features, dtype=np.intp), np.empty(n_features)
    state = _State(columns, np.arange(n_features), targets, ridge)
    step = 0
    last_refresh = 0
    prepared: dict[int, FloatArray] = {}
    while step < n_features:
        if step - last_refresh >= max(REFRESH, SHARE * (n_features - last_refresh)):
            state, last_refresh, prepared = state.refreshed(), step, {}
        batch = _Batch(state, prepared)
        while step < n_features and not batch.is_full:
            order[step], costs[step] = batch.eliminate()
            step += 1
        prepared = batch.finish()
    return Elimination(order, costs)


class _State:
    """Columns A, some of which may have left, with the shares and the coefficients of the others.

    The shares are the diagonal of ``AᵀS⁻¹A`` for ``S = μI + AAᵀ``, of the columns that are left:
    that of column l is ``1 − μ((XᵀX + μI)⁻¹)_ll``. The coefficients are ``AᵀS⁻¹Y``.
    """

    def __init__(
        self, columns: TableOperator, names: IntArray, targets: FloatArray, ridge: float
    ) -> None:
        self.A, self.names, self.targets, self.ridge = columns, names, targets, ridge
        self.is_left = np.ones(len(names), dtype=bool)
        self.system = columns.gram_of_samples()
        self.system[np.diag_indices_from(self.system)] += ridge
        factor = cholesky(self.system)
        target = factor.solve_half(targets)
        root = factor.solve_half(np.eye(len(targets)))  # its products with A are cheap if A is thin
        self.shares, self.coef = np.empty(len(names)), np.empty((len(names), targets.shape[1]))
        for some in row_blocks(len(names), len(targets), block_size=BLOCK_SIZE):
            chosen = np.arange(some.start, some.stop)
            half = columns.with_columns(chosen).transposed_times(root.T)
            self.shares[some] = np.einsum("ji,ji->j", half, half)
            self.coef[some] = half @ target

    def refreshed(self) -> _State:
        """The same columns, without what rounding has left of the eliminations."""
        left = self.is_left
        return _State(self.A.with_columns(left), self.names[left], self.targets, self.ridge)

    def utilities(self) -> FloatArray:
        """What each column costs; of those that have left, anything."""
        uncovered = (1 - self.shares).clip(min=np.finfo(float).eps)
        return self.ridge * np.einsum("ij,ij->i", self.coef, self.coef) / uncovered

    def leave_out(self, gone: list[int]) -> BoolArray:
        """Take columns out of S, and out of A once they are many; the columns that A still has."""
        columns = self.A.columns(np.array(gone))
        self.system -= matmul(columns, columns.T)
        left = self.is_left
        if np.count_nonzero(left) > (1 - GONE) * len(left):
            return np.ones(len(left), dtype=bool)
        self.A, self.names, self.is_left = self.A.with_columns(left), self.names[left], left[left]
        self.shares, self.coef = self.shares[left], self.coef[left]
        return left


class _Batch:
    """A few eliminations, during which S is that of before and what they add to its inverse.

    `prepared` has AᵀS⁻¹a of some columns a, as the last batch hands them on.
    """

    def __init__(self, state: _State, prepared: dict[int, FloatArray]) -> None:
        self.state = state
        self._gone: list[int] = []
        self._factor = cholesky(state.system)
        # AᵀS⁻¹a of the columns that have left, as each left, and what the inverse divides by.
        self._inners = np.empty((len(state.names), TOGETHER), order="F")
        self._pivots = np.empty(TOGETHER)
        self._prepared = dict(prepared)
        self._costs = self._present_costs()
        self._prepare(_cheapest(self._costs, TOGETHER))

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
            others = costs.copy()
            others[list(self._prepared)] = np.inf
            self._prepare(np.union1d(_cheapest(others, NEXT), [column]))
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

    def finish(self) -> dict[int, FloatArray]:
        """Bring S up to date, and what is prepared of the columns that are left."""
        costs = self._costs
        known = [column for column in self._prepared if self.state.is_left[column]]
        known = sorted(known, key=costs.__getitem__)[:MOST_CARRIED]
        has_stayed = self.state.leave_out(self._gone)
        if not known:
            return {}
        before = self._inners[:, : len(self._gone)]
        weights = before[known] / self._pivots[: len(self._gone)]
        products = np.array([self._prepared[column] for column in known])
        products = (products + matmul(weights, before.T))[:, has_stayed]
        places = np.cumsum(has_stayed) - 1
        return dict(zip(places[known].tolist(), products, strict=True))

    def _present_costs(self) -> FloatArray:
        return np.where(self.state.is_left, self.state.utilities(), np.inf)

    def _prepare(self, some: IntArray) -> None:
        """``AᵀS⁻¹a`` for some columns a, where it is not known, with S as the batch began."""
        new = np.array([column for column in some if column not in self._prepared], dtype=np.intp)
        if len(new) == 0:
            return
        A = self.state.A
        solved = self._factor.solve(A.columns(new))
        with all_threads(2 * solved.size * A.shape[1]):
            products = np.ascontiguousarray(A.transposed_times(solved).T)
        self._prepared.update(zip(new.tolist(), products, strict=True))


def _cheapest(costs: FloatArray, number: int) -> IntArray:
    """The columns of least cost, the last of those that cost the same; infinite costs left out."""
    possible = np.flatnonzero(np.isfinite(costs))
    if len(possible) <= number:
        return possible
    finite = costs[possible]
    same = ROUNDING * finite.max()
    bound = np.partition(finite, number - 1)[number - 1]
    surely = possible[finite < bound - same]
    perhaps = possible[(finite >= bound - same) & (finite <= bound + same)]
    return np.union1d(surely, perhaps[len(perhaps) - (number - len(surely)) :])


def _reduced(X: TableOperator, Y: FloatArray) -> tuple[TableOperator, FloatArray]:
    """A table of min(n, d) rows with the products of X, and the targets that go with it."""
    n_samples, n_features = X.shape
    if min(X.shape) > SIDE_MAX:
        raise ValueError(
            f"X has shape {X.shape}: its smaller side exceeds {SIDE_MAX}, too large for an "
            "elimination; use MCFS or MRSF, or fewer samples."
        )
    if n_samples <= n_features:
        is_thin = X.is_sparse and X.n_stored <= FILLED * n_samples * n_features
        return X if is_thin else TableOperator.of_root(X.columns(np.arange(n_features))), Y
    values, vectors = eigh(X.gram_of_features())
    kept = values > values[-1] * n_features * np.finfo(float).eps
    roots = np.sqrt(values[kept])
    rotated = vectors[:, kept].T
    targets = (rotated @ X.transposed_times(Y)) / roots[:, None]
    return TableOperator.of_root(roots[:, None] * rotated), targets
