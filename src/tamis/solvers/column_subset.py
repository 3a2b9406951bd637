"""Column subset selection: the columns from which all others are best rebuilt, in least squares."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tamis._typing import BoolArray, FloatArray, IntArray
from tamis.solvers.column_span import TIE, ColumnSpan, empty_span
from tamis.solvers.result import SolverResult
from tamis.solvers.table_operator import TableOperator

# An exchange must raise the share of the variance that is rebuilt by more: less is rounding.
RISE = 1e-9


@dataclass(frozen=True, kw_only=True)
class ColumnSubsetResult(SolverResult[IntArray]):
    """The columns that were chosen; variances are shares of the total variance.

    The solution are the columns, those that had to be first; the others in the order in which each
    adds most. They are fewer than asked for where they rebuild everything. The objective is the
    variance that is not rebuilt after the greedy search and after each pass of exchanges; the
    optimality is what the last pass has gained: 0 where there is nothing to gain, NaN where no pass
    was allowed. It has converged where no single exchange would rebuild more, as far as exchanges
    were allowed.

    Attributes
    ----------
    gains : ndarray of shape (len(solution),)
        The variance that each rebuilds beyond those before it.
    n_included : int
        How many of them had to be chosen.
    left : float
        The variance that they do not rebuild.
    next_gains : ndarray of shape (n_features,)
        The variance that each column would rebuild beyond them: 0 for those that were chosen and
        those that are linear combinations of them.
    alone : ndarray of shape (n_features,)
        The variance that each column rebuilds by itself.
    n_swaps : int
        How many columns were exchanged.
    """

    gains: FloatArray
    n_included: int
    left: float
    next_gains: FloatArray
    alone: FloatArray
    n_swaps: int

    @property
    def explained(self) -> FloatArray:
        """The variance that the first 1, 2, … of the chosen columns rebuild; it never falls."""
        return np.cumsum(self.gains).clip(max=1)

    @property
    def scores(self) -> FloatArray:
        """A number per column that puts them in order, larger first.

        Of a chosen column the variance that those before it do not rebuild, and 1 more if it had
        to be chosen; of another the variance that it would rebuild beyond them; columns that add
        nothing come last, by what each rebuilds alone.
        """
        scores = np.minimum(self.next_gains, self.left)
        # Summed from the smallest, so that each is larger than the next.
        scores[self.solution] = self.left + np.cumsum(self.gains[::-1])[::-1]
        scores[self.solution[: self.n_included]] += 1
        idle = scores == 0
        lowest = scores[~idle].min(initial=1.0)
        scores[idle] = lowest / 2 * self.alone[idle]
        return scores


def column_subset(
    table: FloatArray | TableOperator,
    n_columns: int,
    *,
    include: Iterable[int] = (),
    exclude: Iterable[int] = (),
    max_passes: int = 0,
) -> ColumnSubsetResult:
    r"""Choose the columns S with the largest :math:`\|P_S X\|_F^2`, greedily and by exchanges.

    P_S projects on the span of the chosen columns. Each step takes the column that adds most to
    those before it. A pass of exchanges then takes out one column after the other and puts the best
    one in its place, where this rebuilds more.

    Parameters
    ----------
    table : ndarray of shape (n_features, n_features) or TableOperator
        A covariance matrix, or any multiple of it, or the table itself.
    n_columns : int
        How many columns to choose, at least those of `include`.
    include : iterable of int, default=()
        Columns that have to be chosen; the others are chosen given them.
    exclude : iterable of int, default=()
        Columns that must not be chosen. They are to be rebuilt like all others.
    max_passes : int, default=0
        How many passes of exchanges are made, at most.

    Returns
    -------
    ColumnSubsetResult

    Notes
    -----
    Each step and each exchange that is tried costs O(d² + dp) from the covariance with p columns
    chosen and O(n(d + p)) from the table. The steps are those of [1]_; the exchanges are those of
    [2]_, from formulas of their own.

    References
    ----------
    .. [1] A. K. Farahat, A. Ghodsi, M. S. Kamel. Efficient greedy feature selection for
       unsupervised learning. Knowledge and Information Systems 35 (2013).
    .. [2] B. Ordozgoiti, S. Gómez Canaval, A. Mozo. Iterative column subset selection. Knowledge
       and Information Systems 54 (2018).
    """
    span = empty_span(table, n_columns)
    total = span.left
    if total == 0:
        raise ValueError("The table has no variance to rebuild.")
    included, free = _as_mask(include, span), ~_as_mask(exclude, span)
    if (included & ~free).any():
        raise ValueError("A column is both included and excluded.")
    if included.sum() > n_columns:
        raise ValueError(f"{included.sum()} columns are included, more than n_columns={n_columns}.")
    alone = span.gains() / total
    gains = _choose(span, included, int(included.sum()))
    idle = np.setdiff1d(np.flatnonzero(included), span.members)
    gains += _choose(span, free & ~included, n_columns - len(idle))
    objective = [total - sum(gains)]
    least = RISE * total
    n_swaps, converged = 0, max_passes == 0 or span.left <= least
    rise = 0.0 if span.left <= least else np.nan
    while not converged and len(objective) <= max_passes:
        n_made, rise = _exchange(span, free & ~included, least)
        n_swaps, converged = n_swaps + n_made, n_made == 0
        objective.append(objective[-1] - rise)
    order = span.members
    if n_swaps:
        order, gains = _inner_order(span, included)
    n_first = int(included[order].sum())
    return ColumnSubsetResult(
        solution=np.array([*order[:n_first], *idle, *order[n_first:]], dtype=np.intp),
        gains=np.array([*gains[:n_first], *np.zeros(len(idle)), *gains[n_first:]]) / total,
        n_included=n_first + len(idle),
        left=span.left / total,
        next_gains=span.gains() / total,
        alone=alone,
        objective=np.array(objective).clip(min=0) / total,
        n_swaps=n_swaps,
        optimality=rise / total,
        converged=converged,
        solver=span.algorithm,
    )


def _choose(span: ColumnSpan, candidates: BoolArray, n_columns: int) -> list[float]:
    """Let the span grow to `n_columns`, by the candidate that adds most; what each has added."""
    gains = []
    while len(span.members) < n_columns and (best := span.best(candidates)) is not None:
        span.add(best)
        gains.append(best.gain)
    return gains


def _exchange(span: ColumnSpan, candidates: BoolArray, least: float) -> tuple[int, float]:
    """One pass of exchanges that each rebuild more than `least` beyond: how many, and how much."""
    n_made, rise = 0, 0.0
    for column in [j for j in span.members if candidates[j]]:
        others = candidates.copy()
        others[span.members] = False
        removal = span.removal(column)
        if span.could_gain(removal, others) <= removal.loss + least:
            continue
        span.remove(removal)
        best = span.best(others)
        if best is None or best.gain <= removal.loss + least:
            best = span.direction(column)
        else:
            n_made += 1
            rise += best.gain - removal.loss
        span.add(best)
    return n_made, rise


def _inner_order(span: ColumnSpan, included: BoolArray) -> tuple[list[int], list[float]]:
    """The chosen columns in the order in which each adds most, and what it adds. O(p³).

    The included columns come first. A column is a row of p numbers, its coordinates in the span.
    """
    columns = np.sort(span.members)
    left = span.shares(columns)
    products = left @ span.gram_of_directions()
    order: list[int] = []
    gains: list[float] = []
    for candidates in (included[columns], ~included[columns]):
        while candidates.any():
            sizes = np.einsum("ij,ij->i", left, left)
            rebuilt = np.einsum("ij,ij->i", left, products)
            gain = np.divide(rebuilt, sizes, out=np.zeros(len(sizes)), where=candidates)
            best = int((gain >= (1 - TIE) * gain.max()).argmax())
            length = np.sqrt(sizes[best])
            shares = left @ left[best] / length
            products = products - np.outer(shares, products[best] / length)
            left = left - np.outer(shares, left[best] / length)
            candidates[best] = False
            order.append(int(columns[best]))
            gains.append(float(gain[best]))
    return order, gains


def _as_mask(columns: Iterable[int], span: ColumnSpan) -> BoolArray:
    mask = np.zeros(len(span.adds), dtype=bool)
    mask[np.fromiter(columns, dtype=np.intp)] = True
    return mask
