"""Conjugate gradients for many right-hand sides at once."""

from __future__ import annotations

import numpy as np

from tamis._typing import FloatArray, Operator
from tamis.solvers.dense import scale_rows
from tamis.solvers.result import SolverResult

# Relative residual and number of steps of an inverse that is applied within another iteration.
INVERSE_TOL = 1e-12
INVERSE_STEPS = 2000


def conjugate_gradients(
    apply: Operator,
    Y: FloatArray,
    *,
    precondition: Operator | None = None,
    start: FloatArray | None = None,
    tol: float,
    max_iter: int,
) -> SolverResult[FloatArray]:
    """Solve ``AS = Y`` for a positive definite A; each product serves all columns.

    Parameters
    ----------
    apply : callable
        Applies A to columns.
    Y : ndarray of shape (size, n_columns)
    precondition : callable or None, default=None
        Applies about the inverse of A to columns; None is the identity.
    start : ndarray of shape (size, n_columns) or None, default=None
        About S. A column that is worse than zero begins at zero, as all do with None.
    tol : float
        Norm of the residual of a column, relative to that of its right-hand side, at which it is
        left as it is.
    max_iter : int

    Returns
    -------
    SolverResult
        Its objective is the largest relative residual at the start and after each step, its
        optimality the last of them.
    """
    precondition = (lambda R: R) if precondition is None else precondition
    size = np.linalg.norm(Y, axis=0)
    if start is None:
        S, R = np.zeros_like(Y), Y
    else:
        S, R = start, Y - apply(start)
        worse_than_zero = np.linalg.norm(R, axis=0) > size
        S, R = np.where(worse_than_zero, 0, S), np.where(worse_than_zero, Y, R)
    Z = precondition(R)
    direction, slope = Z, _column_products(R, Z)
    path: list[float] = []
    while True:
        norms = np.linalg.norm(R, axis=0)
        path.append(float(np.divide(norms, size, out=np.zeros_like(size), where=size > 0).max()))
        going_on = norms > tol * size
        if not going_on.any() or len(path) > max_iter:
            break
        image = apply(direction)
        curvature = _column_products(direction, image)
        step = np.divide(slope, curvature, out=np.zeros_like(slope), where=going_on)
        S, R = S + step * direction, R - step * image
        Z = precondition(R)
        previous, slope = slope, _column_products(R, Z)
        ratio = np.divide(slope, previous, out=np.zeros_like(slope), where=going_on)
        direction = Z + ratio * direction
    return SolverResult(
        solution=S,
        objective=np.array(path),
        optimality=path[-1],
        converged=not going_on.any(),
        solver="conjugate gradients",
    )


def inverse_by_conjugate_gradients(apply: Operator, preconditioner: FloatArray) -> Operator:
    """Applies the inverse of a positive definite operator to a vector or to columns.

    Parameters
    ----------
    apply : callable
        The operator, on columns.
    preconditioner : ndarray of shape (size,)
        About the inverse of its diagonal.
    """

    def solve(V: FloatArray) -> FloatArray:
        if V.ndim == 1:
            return solve(V[:, None])[:, 0]
        found = conjugate_gradients(
            apply,
            V,
            precondition=lambda R: scale_rows(R, preconditioner),
            tol=INVERSE_TOL,
            max_iter=INVERSE_STEPS,
        )
        if not found.converged:
            raise np.linalg.LinAlgError(
                "conjugate gradients did not converge; try a larger penalty."
            )
        return found.solution

    return solve


def _column_products(A: FloatArray, B: FloatArray) -> FloatArray:
    return np.einsum("ij,ij->j", A, B)
