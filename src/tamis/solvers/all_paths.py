"""Sums over all paths of a graph, ``Σ_l (rA)ˡb``, with r set by the largest eigenvalue of A."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from tamis._typing import FloatArray, Operator
from tamis.solvers.result import SolverResult

__all__ = ["AllPaths", "all_paths"]


@dataclass(frozen=True, kw_only=True)
class AllPaths(SolverResult[FloatArray]):
    """The sum over all paths of at least one step.

    Its objective is the relative residual after each product, its optimality the last of them.

    Attributes
    ----------
    radius : float
        The largest eigenvalue of A.
    """

    radius: float


def all_paths(
    apply: Operator,
    b: FloatArray,
    factor: float,
    *,
    negligible: float = 0.0,
    tol: float = 1e-13,
    max_iter: int = 1000,
) -> AllPaths:
    """``Σ_{l ≥ 1} rˡAˡb = ((I − rA)⁻¹ − I)b`` with ``r = factor/λ`` for the largest eigenvalue λ.

    Lanczos from b gives both at once: the eigenvalue, to the square of its residual, and what
    conjugate gradients would find, from the same products. The basis is kept orthogonal, since
    there are few steps where one eigenvalue dominates.

    Parameters
    ----------
    apply : callable
        Applies A, symmetric and without a negative entry, to a vector.
    b : ndarray of shape (size,)
        Positive: the eigenvector that belongs to λ then has a part in it.
    factor : float
        In (0, 1).
    negligible : float, default=0.0
        An A that makes b no longer than this, relative, is zero but for rounding.
    tol : float, default=1e-13
        Norm of the residual of ``(I − rA)x = b``, relative to b, and of ``Av = λv``, relative to
        the root of `tol` times λ, at which it stops.
    max_iter : int, default=1000

    Notes
    -----
    A product and O(k·size) for the k-th step; memory O(k·size).
    """
    size = len(b)
    length = float(np.linalg.norm(b))
    basis = [b / length]
    diagonal: list[float] = []
    beside: list[float] = []
    path: list[float] = []
    while True:
        image = apply(basis[-1])
        diagonal.append(float(basis[-1] @ image))
        V = np.array(basis)
        for _ in range(2):  # once more, against what rounding has left
            image = image - V.T @ (V @ image)
        next_length = float(np.linalg.norm(image))
        values, vectors = scipy.linalg.eigh_tridiagonal(diagonal, beside)
        radius = float(values[-1])
        # Of the tridiagonal T, (I − rT)⁻¹e₁ for the length of b.
        r = factor / radius if radius > 0 else 0.0
        inner = length * vectors @ (vectors[0] / (1 - r * values))
        path.append(r * next_length * abs(float(inner[-1])) / length)
        misfit = next_length * abs(float(vectors[-1, -1]))
        converged = path[-1] <= tol and misfit <= np.sqrt(tol) * radius
        converged |= len(basis) == 1 and np.hypot(diagonal[0], next_length) <= negligible
        if converged or len(basis) == min(max_iter, size):
            break
        basis.append(image / next_length)
        beside.append(next_length)
    # rAx for x = Vᵀ·inner: what is common to (I − rA)⁻¹b and b is never subtracted.
    T_inner = (vectors * values) @ (vectors.T @ inner)
    return AllPaths(
        solution=r * (V.T @ T_inner + inner[-1] * image),
        objective=np.array(path),
        optimality=path[-1],
        converged=bool(converged) or len(basis) == size,
        solver="Lanczos from the right-hand side",
        radius=radius,
    )
