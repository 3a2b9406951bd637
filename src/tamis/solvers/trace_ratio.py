"""Trace ratio problems with an l2,1 penalty, under WᵀW = I."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tamis._typing import FloatArray
from tamis.solvers.indefinite import IndefiniteGram
from tamis.solvers.result import SolverResult, descent_result
from tamis.solvers.row_norms import RATIO_SMOOTHING, smoothed_norms
from tamis.solvers.stopping import has_converged, stationarity

# A scatter below this is rounding, of a table whose Frobenius norm is one.
NOTHING = 1e-13
# A rise of this relative size is rounding.
ROUNDING = 1e-12
# A safeguarded step is held back four times harder, this often, before it counts as stationary.
HOLDING_STEPS = 20


@dataclass(frozen=True)
class TraceRatio:
    """``Tr(Wᵀ(S_w + δI)W) / Tr(Wᵀ(S_t + δI)W) + γ Σ_i sqrt(‖w_i‖² + ζ)`` for given clusters.

    Attributes
    ----------
    gram : IndefiniteGram
        Of the centred table X; ``S_t = XᵀX``.
    B : ndarray of shape (n_clusters, n_features)
        A root of the scatter between the clusters: ``S_t − S_w = BᵀB``.
    gamma : float
    ridge : float
        δ.
    """

    gram: IndefiniteGram
    B: FloatArray
    gamma: float
    ridge: float

    def parts(self, W: FloatArray) -> tuple[float, float, FloatArray]:
        """The ratio, its denominator, and the smoothed row norms of W."""
        between = float(np.linalg.norm(self.B @ W) ** 2)
        total = float(np.einsum("ij,ij->", W, self.gram.gram_times(W)))
        total += self.ridge * W.shape[1]
        # Without a ridge W may lie where the table does not vary: nothing is separated there.
        ratio = max(0.0, 1 - between / total) if total > NOTHING else 1.0
        return ratio, max(total, NOTHING), smoothed_norms(W, RATIO_SMOOTHING)

    def ratio(self, W: FloatArray) -> float:
        """The share of the scatter of XW that lies within the clusters."""
        return self.parts(W)[0]

    def objective(self, W: FloatArray) -> float:
        """The objective at an orthonormal W."""
        ratio, _, norms = self.parts(W)
        return float(ratio + self.gamma * norms.sum())

    def optimality(self, W: FloatArray) -> float:
        """Size of the gradient along the constraint, relative to the whole gradient."""
        ratio, total, norms = self.parts(W)
        MW = (1 - ratio) * self.gram.gram_times(W) - self.B.T @ (self.B @ W)
        MW += (self.ridge * (1 - ratio) + self.gamma * total / (2 * norms))[:, None] * W
        return stationarity(MW, W)


def trace_ratio_l21(
    problem: TraceRatio,
    start: FloatArray,
    *,
    safeguard: bool = True,
    max_iter: int = 100,
    tol: float = 1e-6,
) -> SolverResult[FloatArray]:
    """Descend the penalised trace ratio from an orthonormal W.

    With r the ratio and t its denominator at the current W, a step takes the smallest eigenvectors
    of ``M = S_w + δI − r(S_t + δI) + γ t diag(1/(2 sqrt(‖w_i‖² + ζ)))``. The gradient at W is
    ``(2/t)MW``, but M does not majorise the ratio: the step can rise. Safeguarded, it then takes
    those of ``M − κWWᵀ``, which are closer to W the larger κ is, with κ raised until the objective
    does not rise.

    Parameters
    ----------
    problem : TraceRatio
    start : ndarray of shape (n_features, n_columns)
    safeguard : bool, default=True
        False takes every step, rising or not.
    max_iter : int, default=100
    tol : float, default=1e-6
        Relative change of the objective at which to stop; 0 takes `max_iter` steps.

    Returns
    -------
    SolverResult
        W, with the objective at the start, too. The optimality is the gradient along the
        constraint, relative to the whole gradient.

    Notes
    -----
    An iteration costs as much as its eigenproblem, see :class:`IndefiniteGram`, or a few of them.
    """
    W = start
    objective = [problem.objective(W)]
    hold = 0.0
    solver = "none: no step was taken"
    converged = False
    for _ in range(max_iter):
        ratio, total, norms = problem.parts(W)
        diagonal = problem.ridge * (1 - ratio) + problem.gamma * total / (2 * norms)
        for attempt in range(HOLDING_STEPS):
            U = problem.B.T if hold == 0 else np.hstack([problem.B.T, np.sqrt(hold) * W])
            pairs = problem.gram.smallest(diagonal, 1 - ratio, U, W.shape[1], start=W)
            value = problem.objective(pairs.solution)
            rises = value > objective[-1] * (1 + ROUNDING)
            if not (safeguard and rises):
                break
            if attempt == 0 and hold == 0:
                hold = 0.1 * float(np.abs(pairs.values).max())
            else:
                hold *= 4
        solver = pairs.solver
        if safeguard and rises:
            converged = True  # no step descends: W is stationary up to rounding
            break
        W = pairs.solution
        # An easy step is held back less next time, and not at all after a few of them.
        hold = hold / 4 if attempt == 0 and hold > 1e-3 * np.abs(pairs.values).max() else 0.0
        objective.append(value)
        converged = has_converged(objective, tol)
        if converged:
            break
    return descent_result(problem, W, objective, converged, solver)


def first_directions(problem: TraceRatio, n_columns: int) -> FloatArray:
    """Orthonormal directions to start from: those along which the clusters lie apart.

    Where more are wanted than the clusters span, the rest comes from a first step of the descent,
    with rows weighted by the scatter of their feature: equal weights would leave the directions in
    which the table does not vary undetermined. O(n_features·n_clusters²), or an eigenproblem.
    """
    _, spread, directions = np.linalg.svd(problem.B, full_matrices=False)
    if n_columns <= np.count_nonzero(spread > 1e-8 * spread.max(initial=1e-300)):
        return np.ascontiguousarray(directions[:n_columns].T)
    scatter = problem.gram.diagonal + problem.ridge
    norms = np.sqrt(scatter * n_columns / scatter.sum())
    share = n_columns / problem.gram.size
    total = share * float(scatter.sum())
    ratio = 1 - float(np.linalg.norm(problem.B) ** 2 / scatter.sum())
    diagonal = problem.ridge * (1 - ratio) + problem.gamma * total / (2 * norms)
    return problem.gram.smallest(diagonal, 1 - ratio, problem.B.T, n_columns).solution
