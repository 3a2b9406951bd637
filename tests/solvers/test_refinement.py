"""Eigenvectors refined from those of a matrix like this one, against a dense solver."""

from __future__ import annotations

import numpy as np
import pytest
from references.tables import planted_groups
from sklearn.preprocessing import scale

from tamis.graphs import laplacian, neighbor_graph
from tamis.solvers import eigen
from tamis.solvers.eigen import largest_of_inverse
from tamis.solvers.ratio_trace import scatter_root
from tamis.solvers.refinement import Refinement
from tamis.solvers.table_operator import TableOperator
from tamis.solvers.weighted_gram import WeightedGram
from tamis.solvers.whitened_l21 import whitened_l21

SIZE, N_PAIRS = 450, 3


def with_eigenvalues(values, seed=0):
    basis = np.linalg.qr(np.random.default_rng(seed).standard_normal((SIZE, SIZE)))[0]
    return (basis * values) @ basis.T


def changed(P, share):
    """A matrix like P, and the eigenvectors of P."""
    change = np.random.default_rng(1).standard_normal(P.shape)
    return P + share * (change + change.T), np.linalg.eigh(P)[1][:, :N_PAIRS]


def spread(gap):
    """Three small eigenvalues, and all others beyond the gap."""
    return np.concatenate([[1.0, 1.1, 1.2], 1.2 + gap + np.linspace(0, 5, SIZE - 3)])


def test_beyond_a_gap_the_last_eigenvectors_are_refined():
    P, start = changed(with_eigenvalues(spread(4.0)), 1e-5)
    refinement = Refinement()
    for _ in range(2):  # without guards and with those of the last time
        found = refinement(lambda v: np.linalg.solve(P, v), start, "a test")
        assert found is not None
        values, vectors = np.linalg.eigh(P)
        np.testing.assert_allclose(found.values, values[:N_PAIRS], rtol=1e-12)
        across = found.solution - vectors[:, :N_PAIRS] @ (vectors[:, :N_PAIRS].T @ found.solution)
        assert np.abs(across).max() < 1e-8
        assert found.optimality < 1e-7


def test_without_a_gap_attempts_pause_longer_and_longer():
    P, start = changed(with_eigenvalues(spread(1e-3)), 1e-3)
    refinement = Refinement()
    calls = []

    def solve(v):
        calls.append(len(v))
        return np.linalg.solve(P, v)

    attempted = []
    for _ in range(12):
        before = len(calls)
        assert refinement(solve, start, "a test") is None
        attempted.append(len(calls) > before)
    assert np.flatnonzero(attempted).tolist() == [0, 2, 5, 10]


@pytest.mark.parametrize("gap", [4.0, 1e-3])
def test_the_same_pairs_are_found_with_it(gap):
    P, start = changed(with_eigenvalues(spread(gap)), 1e-5)
    values = np.linalg.eigvalsh(P)[:N_PAIRS]
    found = largest_of_inverse(
        lambda v: np.linalg.solve(P, v),
        SIZE,
        N_PAIRS,
        start,
        "Lanczos: a test",
        affordable=True,
        refinement=Refinement(),
    )
    np.testing.assert_allclose(found.values, values, rtol=1e-9)


@pytest.mark.parametrize(
    ("step", "gamma"), [(1, 0.5), (5, 10.0)], ids=["more samples", "more features"]
)
def test_a_descent_takes_the_same_path_with_it(monkeypatch, step, gamma):
    monkeypatch.setattr(eigen, "DENSE_MAX", 0)
    X = scale(planted_groups()[0][::step])
    gram = WeightedGram(X, laplacian(neighbor_graph(X, 4)))
    root = scatter_root(TableOperator.centred(X), 0.1)
    used = []
    refine = Refinement.__call__

    def recorded(*arguments):
        used.append(refine(*arguments))
        return used[-1]

    def path():
        found = whitened_l21(gram, root, 0.1, 0.3, gamma, 2, max_iter=40, tol=0)
        return found.objective, np.linalg.norm(found.solution, axis=1)

    monkeypatch.setattr(Refinement, "__call__", recorded)
    refined = path()
    assert any(one is not None for one in used)
    monkeypatch.setattr(Refinement, "__call__", lambda *_: None)
    for one, other in zip(refined, path(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-8)
