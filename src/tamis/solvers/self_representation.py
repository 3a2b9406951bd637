"""A table that rebuilds itself from few of its columns: ``min ‖X − XW‖21 + λ‖W‖21``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tamis._typing import FloatArray
from tamis.solvers.block_coordinate_descent import momentum_share
from tamis.solvers.column_forms import ColumnForms
from tamis.solvers.dense import solver_of_identity_plus
from tamis.solvers.eigen import SIDE_MAX
from tamis.solvers.result import SolverResult
from tamis.solvers.row_norms import LOSS_SMOOTHING, PENALTY_SMOOTHING, row_norms, smoothing_of
from tamis.solvers.sample_span import SampleSpan
from tamis.solvers.stopping import has_converged
from tamis.solvers.table_operator import TableOperator
from tamis.utils.blocks import row_blocks

__all__ = ["SelfRepresentation"]

# Steps, one after the other, in which the objective must change no more.
N_CALM = 3


@dataclass(frozen=True)
class _Norms:
    """Of a W the norms of its rows, and of those of ``X − XW``: all that the objective needs."""

    rows: FloatArray
    residuals: FloatArray


class SelfRepresentation:
    """``Σ_i sqrt(‖x_i − x_iW‖² + ζ) + λ Σ_j sqrt(‖w_j‖² + ζ')`` over W, by reweighting.

    Each step minimises a quadratic that majorises both sums; the problem is convex, and the steps
    end at its optimum. A step starts from weights that are ahead of the last ones, by Nesterov's
    share of their last move in logarithms: rows that vanish do so by a factor per step. One that
    would raise the objective is done anew without momentum, which then builds up again.

    W is d × d and formed only where d ≤ n. Otherwise rows of X and W have n coordinates at most, in
    the span of the samples, Z. With ``e = 2‖w‖/λ`` and ``s = (2‖x − xW‖)^-½`` a step is
    ``W = eAᵀB`` with ``B = (I + AeAᵀ)⁻¹sZ`` for ``A = sX``, and leaves ``B/s`` of Z: the n × n
    matrix B gives all norms.

    Parameters
    ----------
    X : TableOperator
    remedy : str
        What to do where both sides of the table are too large, for the message that says so.

    Attributes
    ----------
    largest_penalty : float
        The smallest λ at which W is zero.

    Notes
    -----
    O(nd² + d³) per step where d ≤ n, O(n²d + n³) where n < d, of sparse columns O(n·nnz + n³);
    O(min(n, d)²) memory beside X.
    """

    def __init__(self, X: TableOperator, *, remedy: str) -> None:
        self.X = X
        n_samples, n_features = X.shape
        if min(X.shape) > SIDE_MAX:
            raise ValueError(
                f"X has shape {X.shape}: its smaller side exceeds {SIDE_MAX}, too large for a "
                f"regression of the table on itself; {remedy}."
            )
        self._wide = n_samples < n_features
        if self._wide:
            self._coordinates = np.asarray(SampleSpan(X).table.stored)
            self._forms = ColumnForms(X)
            self._lengths = row_norms(self._coordinates)
        else:
            self._lengths = self._residuals(np.eye(n_features))
        self._smoothing = smoothing_of(LOSS_SMOOTHING, float(self._lengths.mean()))
        scale = self._loss_scale(_Norms(np.zeros(n_features), self._lengths))
        if self._wide:
            slopes = self._forms(self._coordinates / scale[:, None] ** 2)
        else:
            slopes = row_norms(X.rows_scaled(1 / scale).gram_of_features())
        self.largest_penalty = 2 * float(slopes.max(initial=0))

    def minimise(self, penalty: float, *, max_iter: int, tol: float) -> SolverResult[FloatArray]:
        """The norms of the rows of W for a positive penalty λ.

        It has converged when the objective changed by no more than `tol`, relative, in each of the
        last ``N_CALM`` steps. Its optimality is that change in the last step.
        """
        norms = before = _Norms(np.ones(self.X.shape[1]), self._lengths)
        objective: list[float] = []
        converged, inertia = False, 0
        for _ in range(max_iter):
            ahead = self._ahead(norms, before, momentum_share(inertia))
            following = self._step(ahead, penalty)
            value = self._value(following, penalty)
            inertia += 1
            if objective and value > objective[-1]:
                following, inertia = self._step(norms, penalty), 1
                value = self._value(following, penalty)
            if objective and value > objective[-1]:  # rounding, at the optimum
                following, value = norms, objective[-1]
            before, norms = norms, following
            objective.append(value)
            converged = has_converged(objective, tol, n_calm=N_CALM)
            if converged:
                break
        change = abs(objective[-1] - objective[-2]) if len(objective) > 1 else np.inf
        side = "samples" if self._wide else "features"
        return SolverResult(
            solution=norms.rows,
            objective=np.array(objective),
            optimality=float(change / max(abs(objective[-1]), np.finfo(float).tiny)),
            converged=converged or tol == 0,
            solver=f"reweighting by a system of the {side}: there are no more of them",
        )

    def _ahead(self, norms: _Norms, before: _Norms, momentum: float) -> _Norms:
        """Norms whose smoothed logarithms have moved on by `momentum` times their last move."""
        if momentum == 0:
            return norms
        return _Norms(
            _moved_on(norms.rows, before.rows, momentum, PENALTY_SMOOTHING),
            _moved_on(norms.residuals, before.residuals, momentum, self._smoothing),
        )

    def _value(self, norms: _Norms, penalty: float) -> float:
        loss = np.sqrt(norms.residuals**2 + self._smoothing).sum()
        return float(loss + penalty * np.sqrt(norms.rows**2 + PENALTY_SMOOTHING).sum())

    def _loss_scale(self, norms: _Norms) -> FloatArray:
        """``1/s``: the root of twice the norm of each residual."""
        return (4 * (norms.residuals**2 + self._smoothing)) ** 0.25

    def _step(self, norms: _Norms, penalty: float) -> _Norms:
        e = 2 * np.sqrt(norms.rows**2 + PENALTY_SMOOTHING) / penalty
        scale = self._loss_scale(norms)
        A = self.X.rows_scaled(1 / scale)
        if not self._wide:
            return self._by_features(A, e)
        solve = solver_of_identity_plus(A.gram_of_samples(e))
        B = solve(self._coordinates / scale[:, None])
        return _Norms(e * self._forms(B / scale[:, None]), scale * row_norms(B))

    def _by_features(self, A: TableOperator, e: FloatArray) -> _Norms:
        gram = A.gram_of_features()
        root = np.sqrt(e)[:, None]
        W = root * solver_of_identity_plus(root * gram * root.T)(root * gram)
        return _Norms(row_norms(W), self._residuals(np.eye(len(W)) - W))

    def _residuals(self, left: FloatArray) -> FloatArray:
        """The norms of the rows of X times `left`."""
        found = np.empty(self.X.shape[0])
        for rows in row_blocks(*self.X.shape):
            found[rows] = row_norms(self.X.rows(rows) @ left)
        return found


def _moved_on(
    norms: FloatArray, before: FloatArray, momentum: float, smoothing: float
) -> FloatArray:
    squares = norms**2 + smoothing
    ahead = squares * (squares / (before**2 + smoothing)) ** momentum
    return np.sqrt((ahead - smoothing).clip(min=0))
