"""``Tr(Wᵀ(M + φI)W)`` with an l2,1 penalty, for a W in which the table is white."""

from __future__ import annotations

import numpy as np

from tamis._typing import FloatArray, Operator
from tamis.solvers.eigen import SIDE_MAX, largest_of_inverse
from tamis.solvers.refinement import Refinement
from tamis.solvers.result import SolverResult
from tamis.solvers.row_norms import RATIO_SMOOTHING, smoothed_norms, smoothing_of
from tamis.solvers.stopping import has_converged, stationarity
from tamis.solvers.weighted_gram import WeightedGram

__all__ = ["whitened_l21", "whitened_norms"]


def whitened_norms(W: FloatArray, ridge: float) -> FloatArray:
    """The smoothed row norms; no row of a feasible W is longer than δ^-½."""
    return smoothed_norms(W, smoothing_of(RATIO_SMOOTHING, ridge**-0.5))


def whitened_l21(
    M: WeightedGram,
    root: Operator,
    ridge: float,
    floor: float,
    gamma: float,
    n_columns: int,
    *,
    start: FloatArray | None = None,
    refinement: Refinement | None = None,
    max_iter: int,
    tol: float,
) -> SolverResult[FloatArray]:
    """Minimise ``Tr(Wᵀ(M + φI)W) + γ Σ_i sqrt(‖w_i‖² + ζ)`` under ``WᵀTW = I``, by reweighting.

    Each step takes the smallest generalised eigenvectors of ``M + φI + γ diag(1/(2 sqrt(‖w_i‖² +
    ζ)))`` and T, which minimise a majorant: the objective never rises.

    Parameters
    ----------
    M : WeightedGram
    root : callable
        Applies the symmetric root of ``T = XᵀX + δI``, as
        :func:`tamis.solvers.ratio_trace.scatter_root` gives it.
    ridge : float
        δ, positive.
    floor : float
        φ, positive. In the null space of X, where M is zero and T is δ, a direction costs φ/δ: more
        than those that are to be found.
    gamma : float
        γ, positive.
    n_columns : int
    start : ndarray of shape (n_features, n_columns) or None, default=None
        A feasible W: the objective ends no higher than there. None weighs all features alike.
    refinement : Refinement or None, default=None
        That of an alternation, of which this is one block; None for a new one.
    max_iter : int
    tol : float

    Returns
    -------
    SolverResult
        W, of which the optimality is the gradient along the constraint, relative to the whole.

    Notes
    -----
    An inverse of M and about 35 applications of it and of the root per step; a few applications to
    all columns at once where the last eigenvectors can be refined.
    """
    W = start
    refinement = refinement or Refinement()
    norms = np.full(M.size, ridge**-0.5) if W is None else whitened_norms(W, ridge)
    objective: list[float] = []
    converged = False
    solver = "none: no step was taken"
    for _ in range(max_iter):
        inverse = M.inverse(floor + gamma / (2 * norms))
        pairs = largest_of_inverse(
            _between(root, inverse),
            M.size,
            n_columns,
            None if W is None else root(W),
            "Lanczos on the whitened inverse",
            affordable=M.size <= SIDE_MAX,
            refinement=refinement,
        )
        # P⁻¹RZ/μ equals R⁻¹Z, but rows that the penalty pushes down keep their relative order.
        W, solver = inverse(root(pairs.solution)) * pairs.values, pairs.solver
        norms = whitened_norms(W, ridge)
        objective.append(float(np.vdot(W, M @ W + floor * W) + gamma * norms.sum()))
        converged = has_converged(objective, tol)
        if converged:
            break
    assert W is not None
    gradient = M @ W + floor * W + gamma / 2 * W / norms[:, None]
    return SolverResult(
        solution=W,
        objective=np.array(objective),
        optimality=stationarity(gradient, W, root(root(W))),
        converged=converged,
        solver=solver,
    )


def _between(root: Operator, inverse: Operator) -> Operator:
    return lambda v: root(inverse(root(v)))
