"""Eigenpairs of a matrix that is known by its inverse, and what happens where Lanczos is slow."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from tamis.solvers import eigen
from tamis.solvers.dense import eigenpairs_in_range
from tamis.solvers.eigen import largest_of_inverse


def test_repeated_eigenvalues_are_all_found(monkeypatch):
    monkeypatch.setattr(eigen, "DENSE_MAX", 0)
    diagonal = np.repeat([1.0, 2.0, 50.0], [4, 4, 92])
    pairs = largest_of_inverse(
        lambda v: (v.T / diagonal).T, 100, 6, None, "Lanczos", affordable=True
    )
    np.testing.assert_allclose(pairs.values, [1, 1, 1, 1, 2, 2], rtol=1e-10)
    np.testing.assert_allclose(pairs.solution.T @ pairs.solution, np.eye(6), atol=1e-10)


def test_a_solver_that_finds_too_few_eigenpairs_is_not_believed(monkeypatch):
    rng = np.random.default_rng(0)
    M = rng.standard_normal((20, 20))
    M = M + M.T
    original = scipy.linalg.eigh

    def too_few(matrix, **options):
        values, vectors = original(matrix, **options)
        return (values[:-2], vectors[:, :-2]) if options["driver"] == "evr" else (values, vectors)

    monkeypatch.setattr(scipy.linalg, "eigh", too_few)
    values, vectors = eigenpairs_in_range(M, (0, 4))
    np.testing.assert_allclose(M @ vectors, vectors * values, atol=1e-10)
    assert vectors.shape == (20, 5)


def test_where_eigenvalues_crowd_lanczos_gives_way_to_a_dense_solver():
    size, applied = 450, 0
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(size, size)))[0]
    inverse = (basis * (2 - np.linspace(1, 0, size) ** 4)) @ basis.T

    def solve(v):
        nonlocal applied
        applied += v.shape[1] if v.ndim == 2 else 1
        return inverse @ v

    found = largest_of_inverse(solve, size, 10, None, "Lanczos: a test", affordable=True)
    assert found.solver == "dense: Lanczos did not converge"
    assert applied < 10 * size
    np.testing.assert_allclose(found.values[0], 0.5, rtol=1e-12)
