"""A non-negative, nearly orthogonal factor: ``U ≥ 0`` and, by a penalty, ``UᵀU ≈ I``.

Its rows are soft cluster labels of the samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.optimize

from tamis._typing import FloatArray, SparseMatrix
from tamis.solvers.result import SolverResult
from tamis.solvers.table_operator import TableOperator

# The status of scipy's L-BFGS-B where it was stopped before it was done.
OUT_OF_ITERATIONS = 1


@dataclass(frozen=True)
class RowLoss:
    """A robust loss of U, ``weight·Σ_i sqrt(‖y_i − u_iBᵀ‖² + ζ)``, from products alone.

    Attributes
    ----------
    squares : ndarray of shape (n_samples,)
        ``‖y_i‖²``.
    products : ndarray of shape (n_samples, n_columns)
        ``YB``.
    gram : ndarray of shape (n_columns, n_columns), or None
        ``BᵀB``; None stands for the identity.
    smoothing : float
        ζ.
    weight : float
    """

    squares: FloatArray
    products: FloatArray
    gram: FloatArray | None
    smoothing: float
    weight: float = 1.0

    def value_and_gradient(self, U: FloatArray) -> tuple[float, FloatArray]:
        """The loss at U and its gradient. O(nc²)."""
        image = U if self.gram is None else U @ self.gram
        squares = self.squares + np.einsum("ij,ij->i", U, image - 2 * self.products)
        norms = np.sqrt(squares.clip(min=0) + self.smoothing)
        gradient = (image - self.products) * (self.weight / norms)[:, None]
        return float(self.weight * norms.sum()), gradient


@dataclass(frozen=True)
class EntryLoss:
    """Absolute values that U leaves in each entry, ``Σ_ij sqrt((RXU)_ij² + ζ)``.

    Attributes
    ----------
    left : csr_array of shape (n_rows, n_rows)
        R.
    table : TableOperator of shape (n_rows, n_samples)
        X.
    smoothing : float
        ζ.
    """

    left: SparseMatrix
    table: TableOperator
    smoothing: float

    def value_and_gradient(self, U: FloatArray) -> tuple[float, FloatArray]:
        """The loss at U and its gradient. O(nnz(R)·c + nnz(X)·c)."""
        image = self.left @ self.table.times(U)
        sizes = np.sqrt(image**2 + self.smoothing)
        gradient = self.table.transposed_times(self.left.T @ (image / sizes))
        return float(sizes.sum()), gradient


class Loss(Protocol):
    """A loss of U that tells its slope."""

    def value_and_gradient(self, U: FloatArray) -> tuple[float, FloatArray]:
        """The loss at U and its gradient."""
        ...


@dataclass(frozen=True)
class FactorObjective:
    """What is minimised over U ≥ 0, with the other blocks held fixed.

    ``q‖U‖² − 2⟨P, U⟩ + Tr(UᵀLU) + λ‖UᵀU − I‖²``, plus robust losses.

    Attributes
    ----------
    orthogonality : float
        λ, non-negative.
    laplacian : csr_array, or None
        L, symmetric and positive semi-definite.
    linear : ndarray of shape (n_samples, n_columns), or None
        P.
    diagonal : float
        q, non-negative.
    losses : tuple of RowLoss or EntryLoss
    """

    orthogonality: float
    laplacian: SparseMatrix | None = None
    linear: FloatArray | None = None
    diagonal: float = 0.0
    losses: tuple[Loss, ...] = ()

    def value_and_gradient(self, U: FloatArray) -> tuple[float, FloatArray]:
        """The objective at U and its gradient. O(nnz(L)·c + nc²)."""
        excess = U.T @ U - np.eye(U.shape[1])
        value = self.orthogonality * float(np.vdot(excess, excess))
        gradient = 4 * self.orthogonality * (U @ excess)
        # Half the gradient of the quadratic terms, and their value.
        half = self.diagonal * U
        if self.laplacian is not None:
            half += self.laplacian @ U
        value += float(np.vdot(half, U))
        if self.linear is not None:
            value -= 2 * float(np.vdot(self.linear, U))
            half = half - self.linear
        gradient += 2 * half
        for loss in self.losses:
            one, slope = loss.value_and_gradient(U)
            value += one
            gradient += slope
        return value, gradient


def nonnegative_factor(
    problem: FactorObjective, start: FloatArray, *, max_iter: int = 300
) -> SolverResult[FloatArray]:
    """Descend over U ≥ 0 by limited-memory BFGS with bounds, until rounding is all that is left.

    Such steps multiply rounding on their way and lose it again where they arrive: stopped early
    they would give other answers for another order of the samples.

    Parameters
    ----------
    problem : FactorObjective
    start : ndarray of shape (n_samples, n_columns)
        Non-negative.
    max_iter : int, default=300

    Returns
    -------
    SolverResult
        U, with the objective at the start and at the end, which never rises. The optimality is the
        largest slope along which U could move and stay non-negative: a stationary point has zero.

    Notes
    -----
    O(nnz(L)·c + nc²) per step, O(nc) memory.
    """
    first, slope = problem.value_and_gradient(start)
    # In units of its first value or slope, so that the tolerance is relative.
    scale = max(abs(first), float(np.abs(slope).max(initial=0))) or 1.0

    def scaled(u: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = problem.value_and_gradient(u.reshape(start.shape))
        return value / scale, gradient.ravel() / scale

    found = scipy.optimize.minimize(
        scaled,
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        bounds=scipy.optimize.Bounds(0, np.inf),
        options={"maxiter": max_iter, "maxfun": 2 * max_iter, "ftol": 0, "gtol": 1e-10},
    )
    U = found.x.reshape(start.shape) if found.fun <= first / scale else start
    value, gradient = problem.value_and_gradient(U)
    free = np.where(U > 0, np.abs(gradient), np.maximum(-gradient, 0))
    return SolverResult(
        solution=U,
        objective=np.array([first, min(first, value)]),
        optimality=float(free.max(initial=0)),
        converged=found.status != OUT_OF_ITERATIONS,
        solver="limited-memory BFGS with bounds",
    )


def departure_from_orthogonality(U: FloatArray) -> float:
    """``‖UᵀU − I‖``. O(nc²)."""
    return float(np.linalg.norm(U.T @ U - np.eye(U.shape[1])))


def roughness(laplacian: SparseMatrix, U: FloatArray) -> float:
    """``Tr(UᵀLU)``. O(nnz·c)."""
    return float(np.vdot(U, laplacian @ U))
