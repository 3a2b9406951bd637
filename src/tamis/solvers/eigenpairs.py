"""Eigenvalues and eigenvectors, as every eigensolver here returns them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from tamis._typing import FloatArray
from tamis.solvers.result import SolverResult


@dataclass(frozen=True, kw_only=True)
class Eigenpairs(SolverResult[FloatArray]):
    """Eigenpairs in ascending order: its solution are the orthonormal eigenvectors, as columns.

    The objective is the sum of the eigenvalues, the optimality the largest residual
    ``‖P⁻¹v − v/λ‖·λ_min``, relative to the largest eigenvalue of the inverse, or ``‖Pv − λv‖``
    relative to the size of P where P itself is given.

    Attributes
    ----------
    values : ndarray of shape (n_pairs,)
    """

    values: FloatArray

    @classmethod
    def found(
        cls, values: FloatArray, vectors: FloatArray, residual: float, solver: str
    ) -> Eigenpairs:
        """Eigenpairs of a residual that has been accepted."""
        return cls(
            solution=vectors,
            objective=np.array([values.sum()]),
            optimality=float(residual),
            converged=True,
            solver=solver,
            values=values,
        )

    def less(self, shift: float) -> Self:
        """The eigenpairs of the matrix less `shift` times the identity."""
        values = self.values - shift
        return replace(self, values=values, objective=np.array([values.sum()]))
