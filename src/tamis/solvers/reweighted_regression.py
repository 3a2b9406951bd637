"""l2,1 regression within an alternation: a few reweighted steps from the last solution."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tamis._typing import FloatArray
from tamis.solvers.result import SolverResult
from tamis.solvers.row_norms import PENALTY_SMOOTHING, row_norms, smoothed_norms, smoothing_of
from tamis.solvers.stopping import has_converged
from tamis.solvers.table_operator import TableOperator
from tamis.solvers.weighted_ridge import WeightedRidge


@dataclass(frozen=True, kw_only=True)
class Regression(SolverResult[FloatArray]):
    """W, and what it predicts.

    Attributes
    ----------
    predicted : ndarray of shape (n_samples, n_targets)
        XW.
    """

    predicted: FloatArray


class ReweightedRegression:
    """Descends on ``‖XW − Y‖² + penalty·Σ_i sqrt(‖w_i‖² + ζ)`` over W, by reweighting.

    Within an alternation the targets Y move a little at a time: a few steps from the last W do
    what a solution from scratch does at many times the cost. Each step solves the ridge regression
    that majorises the objective, so that it never rises; equal columns keep equal rows. Run to
    convergence it is the optimum of :func:`tamis.solvers.l21.l21_regression`, but for ζ.

    Parameters
    ----------
    X : TableOperator
    penalty : float
        Positive.
    smoothing : float or None, default=None
        ζ; None sets it by the largest row of the first W.
    last : ReweightedRegression or None, default=None
        That of a table like this one, whose factorizations help with this one.

    Notes
    -----
    A step is a :class:`tamis.solvers.weighted_ridge.WeightedRidge`.
    """

    def __init__(
        self,
        X: TableOperator,
        penalty: float,
        smoothing: float | None = None,
        last: ReweightedRegression | None = None,
    ) -> None:
        self.X, self.penalty, self.smoothing = X, penalty, smoothing
        self._ridge: WeightedRidge = WeightedRidge(X, None if last is None else last._ridge)

    def start(self, Y: FloatArray) -> FloatArray:
        """Each feature's own regression, as a first W. O(ndc)."""
        correlation = self.X.transposed_times(Y)
        W = correlation / self.X.squared_column_norms()[:, None]
        if self.smoothing is None:
            self.smoothing = smoothing_of(PENALTY_SMOOTHING, float(row_norms(W).max(initial=0)))
        return W

    def penalised(self, W: FloatArray) -> float:
        """``penalty·Σ_i sqrt(‖w_i‖² + ζ)``."""
        assert self.smoothing is not None
        return float(self.penalty * smoothed_norms(W, self.smoothing).sum())

    def descend(
        self,
        Y: FloatArray,
        W: FloatArray,
        *,
        max_iter: int,
        tol: float,
        predicted: FloatArray | None = None,
    ) -> Regression:
        """Steps from W, until the objective changes by no more than `tol`, relative.

        `predicted` is XW, where it is known. The optimality of the result is the largest gradient
        of a row, as a share of the penalty.
        """
        predicted = self.X.times(W) if predicted is None else predicted
        objective = [self._value(W, predicted - Y)]
        correlation = self.X.transposed_times(Y)
        converged = False
        for _ in range(max_iter):
            # What the solver leaves of an error cannot raise the objective: values are compared.
            e = 2 * self._norms(W) / self.penalty
            following = self._ridge.solve(e, Y, correlation, W, Y - predicted)
            image = self.X.times(following)
            value = self._value(following, image - Y)
            if value <= objective[-1]:
                W, predicted = following, image
            objective.append(min(value, objective[-1]))
            converged = has_converged(objective, tol)
            if converged:
                break
        gradient = correlation - self.X.transposed_times(predicted)
        stationarity = gradient - self.penalty / 2 * W / self._norms(W)[:, None]
        return Regression(
            solution=W,
            objective=np.array(objective),
            optimality=float(2 * row_norms(stationarity).max(initial=0) / self.penalty),
            converged=converged,
            solver="reweighted ridge regression",
            predicted=predicted,
        )

    def _norms(self, W: FloatArray) -> FloatArray:
        assert self.smoothing is not None
        return smoothed_norms(W, self.smoothing)

    def _value(self, W: FloatArray, misfit: FloatArray) -> float:
        return float(np.linalg.norm(misfit) ** 2) + self.penalised(W)
