"""What every solver returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from tamis._typing import FloatArray

SolutionT = TypeVar("SolutionT")


@dataclass(frozen=True, kw_only=True)
class SolverResult(Generic[SolutionT]):
    """A solution, the path to it, and how far it can be trusted.

    Attributes
    ----------
    solution : object
        What was solved for: most often an array.
    objective : ndarray
        The objective along the iterations; its last value is that of the solution.
    optimality : float
        How far the solution is from optimal, by a measure that the solver documents; 0 is optimal.
    converged : bool
    solver : str
        The algorithm that was used and, where there was a choice, why.
    """

    solution: SolutionT
    objective: FloatArray
    optimality: float
    converged: bool
    solver: str


class Problem(Protocol):
    """A problem in W that can tell how far from optimal a W is."""

    def optimality(self, W: FloatArray) -> float:
        """0 is optimal."""
        ...


def descent_result(
    problem: Problem, W: FloatArray, objective: Sequence[float], converged: bool, solver: str
) -> SolverResult[FloatArray]:
    """The result of a descent that ended at W."""
    return SolverResult(
        solution=W,
        objective=np.array(objective),
        optimality=problem.optimality(W),
        converged=converged,
        solver=solver,
    )
