"""M3FS as its equations stand, in CVXPY: slow, dense, and independent of the library's solver."""

from __future__ import annotations

import cvxpy as cp
import numpy as np


def _solved(objective, constraints):
    problem = cp.Problem(cp.Minimize(objective), constraints)
    problem.solve(
        solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10, max_iter=200
    )
    return problem.value


def _regulariser(V, sigma, quadratic_of, H):
    """½ Σ ‖v_k‖² / σ_k + ½ θᵀHθ."""
    objective = sum(cp.quad_over_lin(V[k], sigma[k]) for k in range(V.shape[0])) / 2
    if H is not None:
        values, vectors = np.linalg.eigh(H)
        root = np.sqrt(values.clip(min=0))[:, None] * vectors.T
        objective += cp.sum_squares(root @ quadratic_of) / 2
    return objective


def inner_optimum(cuts, cut_biases, bounds, C, n_selected, limit, balances, H):
    """The optimal value of equation 10 (with a bias) or 17 (with `balances`); H is 2λQ or None.

    With a bias H has its row and column too.
    """
    _, d, n_blocks = cuts.shape
    V, b, slack, sigma = cp.Variable((d, n_blocks)), cp.Variable(), cp.Variable(), cp.Variable(d)
    constraints = [slack >= 0, sigma >= 0, sigma <= 1, cp.sum(sigma) == n_selected]
    if balances is None:
        theta = cp.vstack([V, cp.reshape(b, (1, 1), order="C")])
        constraints.append(cp.abs(b) <= limit)
    else:
        theta = V
        constraints += [cp.abs(cp.sum(cp.multiply(B, V))) <= limit for B in balances]
    for A, a, h in zip(cuts, cut_biases, bounds, strict=True):
        constraints.append(cp.sum(cp.multiply(A, V)) + a * b >= h - slack)
    return _solved(_regulariser(V, sigma, theta, H) + C * slack, constraints)
