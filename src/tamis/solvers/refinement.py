"""Eigenvectors of a matrix that changes little, refined from those of the last one."""

from __future__ import annotations

import numpy as np

from tamis._typing import FloatArray, Operator
from tamis.solvers.dense import cholesky
from tamis.solvers.eigenpairs import Eigenpairs

# Sine of the angle to the true eigenvectors at which a refined subspace is accepted. Objectives
# err by its square.
ANGLE_MAX = 1e-8
# Steps of inverse iteration after which a new start is cheaper.
REFINING_STEPS = 8
# Vectors that are refined beside the wanted ones: they show the gap behind these, and catch an
# eigenvector that the start misses.
GUARDS = 3
# After as many misses in a row as doublings of the pause between them, none is longer.
MOST_DOUBLINGS = 4


class Refinement:
    """What a descent hands on from one eigenproblem to the next: guards, and whether they help.

    Its steps have about the same eigenvectors, and most often a gap opens behind the wanted ones as
    rows vanish. Where there is none yet, the next attempts are likely to be in vain too: after each
    miss twice as many calls pass without one.
    """

    def __init__(self) -> None:
        self._guards: FloatArray | None = None
        self._misses, self._pause = 0, 0

    def __call__(self, solve: Operator, start: FloatArray, solver: str) -> Eigenpairs | None:
        """The largest eigenpairs of what `solve` applies, as those of its inverse, or None."""
        if self._pause > 0:
            self._pause -= 1
            return None
        found = refined(solve, start, self._guards, solver)
        if found is None:
            self._guards = None
            self._pause = 2 ** min(self._misses, MOST_DOUBLINGS)
            self._misses += 1
            return None
        pairs, self._guards = found
        self._misses = 0
        return pairs


def refined(
    solve: Operator, start: FloatArray, guards: FloatArray | None, solver: str
) -> tuple[Eigenpairs, FloatArray] | None:
    """Block inverse iteration with Rayleigh–Ritz; None where the gap is too small for it.

    Beside the eigenpairs it returns guards for the next time: approximate eigenvectors behind the
    wanted ones. Random guards, the first time, need a step more to be of use.
    """
    size, n_pairs = start.shape
    n_guards = min(GUARDS, size - n_pairs)
    if n_guards < 1:
        return None
    first_steps = 2
    if guards is None or guards.shape != (size, n_guards):
        guards = np.random.default_rng(0).standard_normal((size, n_guards))
    else:
        first_steps = 1
    V = np.hstack([start, np.linalg.qr(guards - start @ (start.T @ guards))[0]])
    for step in range(1, REFINING_STEPS + 1):
        image = solve(V)
        inner = V.T @ image
        inverse_values, rotation = np.linalg.eigh((inner + inner.T) / 2)
        inverse_values, rotation = inverse_values[::-1], rotation[:, ::-1]
        V, image = V @ rotation, image @ rotation
        wanted, behind = inverse_values[n_pairs - 1], inverse_values[n_pairs]
        if inverse_values[-1] <= 0:
            return None
        contraction = behind / wanted
        remainder = image[:, :n_pairs] - V[:, :n_pairs] * inverse_values[:n_pairs]
        # The image is a step ahead of the vectors whose residual this is.
        angle = contraction * np.linalg.norm(remainder) / max(wanted - behind, 1e-300)
        image /= inverse_values
        if step >= first_steps and angle <= ANGLE_MAX:
            residual = np.linalg.norm(remainder, axis=0).max() / inverse_values[0]
            pairs = Eigenpairs.found(
                1 / inverse_values[:n_pairs], image[:, :n_pairs], residual, solver
            )
            return pairs, image[:, n_pairs:]
        if angle * contraction ** (REFINING_STEPS - step) > ANGLE_MAX:
            return None
        V = _orthonormal(image)
    return None


def _orthonormal(V: FloatArray) -> FloatArray:
    """An orthonormal basis of columns that are nearly so already."""
    try:
        return cholesky(V.T @ V).solve_half(V.T).T
    except np.linalg.LinAlgError:
        return np.linalg.qr(V)[0]
