"""A table that rebuilds itself from few of its columns: ``min ‖X − XW‖21 + λ‖W‖21``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tamis._typing import FloatArray
from tamis.solvers.dense import solver_of_identity_plus
from tamis.solvers.eigen import SIDE_MAX
from tamis.solvers.result import SolverResult
from tamis.solvers.row_norms import LOSS_SMOOTHING, PENALTY_SMOOTHING, row_norms, smoothing_of
from tamis.solvers.stopping import has_converged
from tamis.solvers.table_operator import TableOperator
from tamis.utils.blocks import row_blocks

__all__ = ["SelfRepresentation"]


@dataclass(frozen=True)
class _Norms:
    """Of a W the norms of its rows, and of those of ``X − XW``: all that the objective needs."""

    rows: FloatArray
    residuals: FloatArray


class SelfRepresentation:
    """``Σ_i sqrt(‖x_i − x_iW‖² + ζ) + λ Σ_j sqrt(‖w_j‖² + ζ')`` over W, by reweighting.

    Each step minimises a quadratic that majorises both sums, so that the objective never rises; it
    is convex, and the steps end at its optimum. W is d × d and formed only where d ≤ n. With
    ``e = 2‖w‖/λ`` and ``s = (2‖x − xW‖)^-½``, a step is ``W = eAᵀ(I + AeAᵀ)⁻¹A`` for ``A = sX``,
    of which the n × n matrix ``(I + AeAᵀ)⁻¹AAᵀ(I + AeAᵀ)⁻¹`` gives all norms.

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
    O(nd² + d³) per step where d ≤ n, O(n²d + n³) where n < d; O(min(n, d)²) memory beside X.
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
        self._gram = X.gram_of_samples() if self._wide else None
        if self._gram is None:
            self._lengths = self._residuals(np.eye(n_features))
        else:
            self._lengths = np.sqrt(self._gram.diagonal().clip(min=0))
        self._smoothing = smoothing_of(LOSS_SMOOTHING, float(self._lengths.mean()))
        A = X.rows_scaled(1 / self._loss_scale(_Norms(np.zeros(n_features), self._lengths)))
        if self._gram is None:
            slopes = row_norms(A.gram_of_features())
        else:
            slopes = _forms(A, A.gram_of_samples())
        self.largest_penalty = 2 * float(slopes.max(initial=0))

    def minimise(self, penalty: float, *, max_iter: int, tol: float) -> SolverResult[FloatArray]:
        """The norms of the rows of W for a positive penalty λ.

        Its optimality is the relative change of the objective in the last step.
        """
        norms = _Norms(np.ones(self.X.shape[1]), self._lengths)
        objective: list[float] = []
        converged = False
        for _ in range(max_iter):
            following = self._step(norms, penalty)
            value = self._value(following, penalty)
            if objective and value > objective[-1]:  # rounding, at the optimum
                value = objective[-1]
            else:
                norms = following
            objective.append(value)
            converged = has_converged(objective, tol)
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
        if self._gram is None:
            return self._by_features(A, e)
        inverse = solver_of_identity_plus(A.gram_of_samples(e))
        half = inverse(self._gram / scale[:, None] / scale)
        Q = inverse(half.T)
        return _Norms(e * _forms(A, Q), scale * np.sqrt(Q.diagonal().clip(min=0)))

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


def _forms(A: TableOperator, Q: FloatArray) -> FloatArray:
    """``sqrt(a_jᵀQa_j)`` for each column of A, of which a few at a time are made dense."""
    found = np.empty(A.shape[1])
    for some in row_blocks(A.shape[1], A.shape[0]):
        columns = A.columns(np.arange(some.start, some.stop))
        found[some] = np.einsum("nd,nd->d", columns, Q @ columns)
    return np.sqrt(found.clip(min=0))
