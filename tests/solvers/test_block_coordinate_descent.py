"""Block coordinate descent: how far momentum takes it, and when it stops."""

from __future__ import annotations

import numpy as np
import pytest

from tamis.solvers.block_coordinate_descent import N_CALM, block_coordinate_descent, exchanged
from tamis.solvers.stopping import has_converged


class Valley:
    """A long valley, ``½xᵀHx + height``, descended by gradient steps: half the scores creep."""

    def __init__(self, n=30, condition=1e4, height=1.0):
        self.H, self.height = np.geomspace(1, 1 / condition, n), height
        self.x, self.n_updates = np.ones(n), []

    def update(self):
        self.n_updates.append(1)
        self.x = self.x - self.H * self.x

    def objective(self):
        return float(self.x @ (self.H * self.x)) / 2 + self.height

    def scores(self):
        # Signed, so that the order of entries that have not converged changes as they do.
        return self.x - np.linspace(0, 1, len(self.x))

    def extrapolate(self, before, momentum):
        self.x = self.x + momentum * (self.x - before.x)


def test_momentum_takes_the_descent_far_in_a_few_iterations_and_it_never_rises():
    plain = Valley()
    for _ in range(300):
        plain.update()
    found = block_coordinate_descent(Valley(), max_iter=300, tol=0)
    assert len(found.objective) == 300
    assert found.converged
    assert (np.diff(found.objective) <= 0).all()
    assert found.objective[-1] - 1 < 0.05 * (plain.objective() - 1)
    assert found.objective[-1] == found.solution.objective()


def test_descent_goes_on_until_the_ranking_has_converged_too():
    found = block_coordinate_descent(Valley(height=1e6), max_iter=2000, tol=1e-5)
    # The objective hardly falls from the start: that alone would stop at once.
    assert has_converged(found.objective[: N_CALM + 1], 1e-5, n_calm=N_CALM)
    assert found.converged
    assert len(found.objective) > 50
    final = np.argsort(
        -block_coordinate_descent(Valley(), max_iter=5000, tol=0).solution.scores(), kind="stable"
    )
    reached = np.argsort(-found.solution.scores(), kind="stable")
    assert exchanged(reached, final) < 0.05
    assert not block_coordinate_descent(Valley(height=1e6), max_iter=20, tol=1e-5).converged


def test_exchanged_is_the_mean_share_over_all_sizes():
    before, after = np.array([0, 1, 2, 3, 4, 5]), np.array([1, 0, 3, 2, 4, 5])
    shares = [1 - len(set(before[:k]) & set(after[:k])) / k for k in (1, 2, 3)]
    assert exchanged(before, after) == pytest.approx(np.mean(shares))
    assert exchanged(before, before) == 0
    assert exchanged(before, before[::-1]) == 1
    assert exchanged(np.array([0]), np.array([0])) == 0
