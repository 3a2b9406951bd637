"""Block coordinate descent with momentum, stopped by its objective and by a ranking of features."""

from __future__ import annotations

import copy
from typing import Protocol, Self, TypeVar

import numpy as np

from tamis._typing import FloatArray, IntArray
from tamis.solvers.result import SolverResult
from tamis.solvers.stopping import has_converged

# Iterations, one after the other, in which the objective must change no more.
N_CALM = 3
# Share of the best features that may be exchanged while the number of iterations doubles.
MAX_EXCHANGED = 0.02
# Ratio of the numbers of iterations at which rankings are kept for that comparison.
SPACING = 1.2

Model = TypeVar("Model", bound="BlockProblem")


class BlockProblem(Protocol):
    """A problem in several blocks of variables: what :func:`block_coordinate_descent` needs of it.

    Updates bind new arrays and change none in place, so that a shallow copy is a state to go back
    to.
    """

    def update(self) -> None:
        """Update each block in turn; none raises the objective."""

    def objective(self) -> float:
        """What the updates descend on."""

    def scores(self) -> FloatArray:
        """Scores of the features at the present state."""

    def extrapolate(self, before: Self, momentum: float) -> None:
        """Move the blocks on by `momentum` times their last move, within their constraints."""


def block_coordinate_descent(model: Model, *, max_iter: int, tol: float) -> SolverResult[Model]:
    """Update the blocks in turn, with momentum, until objective and ranking converge.

    An iteration starts ahead of the last state, by Nesterov's share of the last move. One that
    would end above the last objective is done anew without momentum, which then builds up again.
    The last objective is that of the model as it is returned.

    It has converged when the objective changed by no more than `tol`, relative, in each of the
    last ``N_CALM`` iterations, and the ranking of the features is that of half as many iterations,
    but for a share of ``MAX_EXCHANGED``: see :func:`exchanged`. Blocks that creep can leave the
    objective almost still long before the ranking is, and a ranking can rest while the objective
    falls: only both together say that nothing more will come.

    Parameters
    ----------
    model : BlockProblem
        At its first state.
    max_iter : int
    tol : float
        0 asks for `max_iter` iterations, which then count as converged.

    Returns
    -------
    SolverResult
        The model at its last state, which has the lowest objective; the optimality is the relative
        change of the objective in the last iteration.
    """
    path: list[float] = []
    rankings = Rankings()
    converged = False
    before, inertia = model, 0
    for _ in range(max_iter):
        following = copy.copy(model)
        following.extrapolate(before, momentum_share(inertia))
        following.update()
        value = following.objective()
        inertia += 1
        if path and not value <= path[-1]:
            following, inertia = copy.copy(model), 1
            following.update()
            value = following.objective()
        if path and not value <= path[-1]:  # at the optimum, but for rounding
            following, value = model, path[-1]
        before, model = model, following
        path.append(value)
        rankings.add(model.scores())
        converged = has_converged(path, tol, n_calm=N_CALM) and rankings.have_converged()
        if converged:
            break
    change = abs(path[-1] - path[-2]) if len(path) > 1 else np.inf
    return SolverResult(
        solution=model,
        objective=np.array(path),
        optimality=float(change / max(abs(path[-1]), np.finfo(float).tiny)),
        converged=converged or tol == 0,
        solver="block coordinate descent with momentum",
    )


def momentum_share(inertia: int) -> float:
    """Nesterov's share of the last move, after so many iterations with momentum."""
    return max(inertia - 1, 0) / (inertia + 2)


class Rankings:
    """Rankings of the features along the iterations, of which a few per doubling are kept."""

    def __init__(self) -> None:
        self.n_iter = 0
        self._kept: list[tuple[int, IntArray]] = []

    def add(self, scores: FloatArray) -> None:
        """Rank the features after one more iteration."""
        self.n_iter += 1
        self.last = np.argsort(-scores, kind="stable")
        if not self._kept or self.n_iter >= SPACING * self._kept[-1][0]:
            self._kept.append((self.n_iter, self.last))
        while len(self._kept) > 1 and 2 * self._kept[1][0] <= self.n_iter:
            del self._kept[0]

    def have_converged(self) -> bool:
        """Whether the last ranking is that of half as many iterations, up to a few exchanges."""
        n_iter, before = self._kept[0]
        return 2 * n_iter <= self.n_iter and exchanged(before, self.last) <= MAX_EXCHANGED


def exchanged(before: IntArray, after: IntArray) -> float:
    """The mean share of the best k features that are exchanged, over all k up to half of them.

    Parameters
    ----------
    before, after : ndarray of shape (n_features,)
        Features, the best first.
    """
    n_features = len(before)
    places = np.empty((2, n_features), dtype=np.intp)
    places[0, before] = places[1, after] = np.arange(n_features)
    # A feature is among the best k of both rankings as soon as k exceeds both places.
    common = np.cumsum(np.bincount(places.max(axis=0), minlength=n_features))
    k = np.arange(1, max(1, n_features // 2) + 1)
    return float((1 - common[: len(k)] / k).mean())
