"""The shortest message that tells a table by a mixture with feature saliencies, by EM."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tamis.solvers.message_length import MessageLength
from tamis.solvers.mixture import Expectations, Mixture, expectations
from tamis.solvers.mixture_features import settled_features
from tamis.solvers.result import SolverResult
from tamis.solvers.stopping import has_converged
from tamis.solvers.table_operator import TableOperator

# Where a step moves no more than this share of the samples from one component to another, the
# features take more steps before the components of the samples are computed again.
FEW_MOVED = 1e-3
# Those steps end when one gains no more than this share of what the last whole step has gained.
SHARE_OF_GAIN = 0.1
# Tables of fewer stored cells take whole steps only: they are cheap, and of few samples the order
# of the steps can decide which start is best.
SMALL_TABLE = 1 << 18


@dataclass(frozen=True, kw_only=True)
class MixtureResult(SolverResult[Mixture]):
    """A fitted mixture, with the message length after each iteration as its objective.

    The optimality is the relative change of the length in the last iteration.

    Attributes
    ----------
    expectations : Expectations
        Of the mixture: the last E-step.
    """

    expectations: Expectations


def shortest_message(
    table: TableOperator,
    start: Mixture,
    length: MessageLength,
    *,
    max_iter: int,
    tol: float,
    min_components: int,
) -> MixtureResult:
    """EM from a start, then with one component less again and again; the shortest message of all.

    The component that leaves is that of least weight, until `min_components` are left: with those
    of the start, none does. O(ndc) per iteration.
    """
    fit = best = _run(table, start, length, max_iter, tol)
    while fit.solution.n_components > min_components:
        fewer = fit.solution.without(int(fit.solution.weights.argmin()))
        fit = _run(table, fewer, length, max_iter, tol)
        best = shorter(best, fit, tol)
    return best


def shorter(first: MixtureResult | None, second: MixtureResult, tol: float) -> MixtureResult:
    """The first fit, unless the second is clearly shorter: rounding must not decide."""
    if first is None:
        return second
    gain = first.objective[-1] - second.objective[-1]
    return second if gain > tol * abs(first.objective[-1]) else first


def _run(
    table: TableOperator, start: Mixture, length: MessageLength, max_iter: int, tol: float
) -> MixtureResult:
    """EM until the message gets no shorter.

    When a step changes the length by no more than `tol`, relative, the next may set any saliency to
    0 or 1; it is the last if it changes as little.

    The posterior probabilities of the components settle long before the features do, and are most
    of the cost. Once they hardly move, the features go on without them, and the next E-step takes
    all anew. With `tol` 0, and of small tables, each step is a whole one.
    """
    may_hold = tol > 0 and table.n_stored > SMALL_TABLE
    mixture = start
    expected = expectations(table, mixture)
    last = length(mixture, expected.log_likelihood)
    path: list[float] = []
    change, moved = np.inf, 1.0
    calm = converged = False
    while len(path) < max_iter and not converged:
        mixture = length.shortened(mixture, expected, everywhere=calm)
        if may_hold and moved <= FEW_MOVED:
            mixture = settled_features(
                table,
                mixture,
                expected.responsibilities,
                length,
                max_steps=max_iter,
                tol=max(tol * abs(last), SHARE_OF_GAIN * change) / table.shape[1],
            )
        before, expected = expected, expectations(table, mixture)
        path.append(length(mixture, expected.log_likelihood))
        still_calm = has_converged([last, path[-1]], tol)
        converged = still_calm and calm
        change = abs(last - path[-1])
        moved = _share_moved(before, expected)
        calm, last = still_calm, path[-1]
    return MixtureResult(
        solution=mixture,
        objective=np.array(path),
        optimality=change / max(abs(last), np.finfo(float).tiny),
        converged=converged,
        solver="expectation–maximisation",
        expectations=expected,
    )


def _share_moved(before: Expectations, after: Expectations) -> float:
    """The share of the samples that has gone from one component to another."""
    return float(np.abs(after.responsibilities - before.responsibilities).sum(axis=1).mean() / 2)
