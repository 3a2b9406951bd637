"""The smallest eigenpairs of diag(g) + a XᵀX − UUᵀ, in every form and from every start."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from references.memory import with_peak_memory

from tamis.solvers import eigen, indefinite
from tamis.solvers.indefinite import IndefiniteGram
from tamis.solvers.table_operator import TableOperator

FORMS = {"dense": (60, 30), "wide": (20, 90)}


@pytest.fixture
def small_is_large(monkeypatch):
    """Small matrices take the algorithms of large ones."""
    monkeypatch.setattr(eigen, "DENSE_MAX", 5)
    monkeypatch.setattr(indefinite, "DENSE_MAX", 5)


def problem(n_samples, n_features, n_low_rank=4, seed=0, spread=3.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_features)) * (rng.random((n_samples, n_features)) < 0.5)
    X += rng.standard_normal(n_features)
    diagonal = 10 ** rng.uniform(-spread, spread, n_features)
    U = rng.standard_normal((n_features, n_low_rank))
    return X, diagonal, 0.3, U


def formed(X, diagonal, weight, U):
    X = X - X.mean(axis=0)
    return np.diag(diagonal) + weight * X.T @ X - U @ U.T


def assert_smallest(pairs, M, n_pairs):
    values, vectors = np.linalg.eigh(M)
    scale = np.abs(values[:n_pairs]).max()
    np.testing.assert_allclose(pairs.values, values[:n_pairs], atol=1e-8 * scale)
    expected = vectors[:, :n_pairs] @ vectors[:, :n_pairs].T
    np.testing.assert_allclose(pairs.solution @ pairs.solution.T, expected, atol=1e-6)
    np.testing.assert_allclose(pairs.solution.T @ pairs.solution, np.eye(n_pairs), atol=1e-10)


@pytest.mark.usefixtures("small_is_large")
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("shape", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("started", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_equals_a_full_decomposition(shape, form, started, seed):
    X, diagonal, weight, U = problem(*shape, seed=seed)
    M = formed(X, diagonal, weight, U)
    start = None
    if started:
        rng = np.random.default_rng(seed)
        near = np.linalg.eigh(M)[1][:, :4] + 0.02 * rng.standard_normal((len(M), 4))
        start = np.linalg.qr(near)[0]
    gram = IndefiniteGram(TableOperator.centred(form(X)))
    for _ in range(6):
        assert_smallest(gram.smallest(diagonal, weight, U, 4, start), M, 4)


@pytest.mark.usefixtures("small_is_large")
@pytest.mark.parametrize("shape", FORMS.values(), ids=FORMS)
def test_a_near_start_is_refined_where_there_is_a_gap(shape):
    X, diagonal, weight, U = problem(*shape)
    diagonal[diagonal > 0.1] = 1e3
    M = formed(X, diagonal, weight, U)
    start = np.linalg.eigh(M)[1][:, :3]
    gram = IndefiniteGram(TableOperator.centred(X))
    assert not gram.smallest(diagonal, weight, U, 3, start).solver.startswith("subspace iteration")
    for _ in range(2):  # with random guards, and with those that are left behind
        pairs = gram.smallest(diagonal, weight, U, 3, start)
        assert pairs.solver.startswith("subspace iteration")
        assert_smallest(pairs, M, 3)


@pytest.mark.usefixtures("small_is_large")
@pytest.mark.parametrize("shape", FORMS.values(), ids=FORMS)
def test_a_start_that_misses_an_eigenvector_finds_it(shape):
    X, diagonal, weight, U = problem(*shape)
    M = formed(X, diagonal, weight, U)
    start = np.linalg.eigh(M)[1][:, 1:4]  # the smallest is orthogonal to all of these
    gram = IndefiniteGram(TableOperator.centred(X))
    for _ in range(3):
        assert_smallest(gram.smallest(diagonal, weight, U, 3, start), M, 3)


@pytest.mark.usefixtures("small_is_large")
@pytest.mark.parametrize("shape", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("seed", range(5))
def test_a_random_start_does_no_harm(shape, seed):
    X, diagonal, weight, U = problem(*shape, seed=seed)
    M = formed(X, diagonal, weight, U)
    rng = np.random.default_rng(seed)
    start = np.linalg.qr(rng.standard_normal((len(M), 3)))[0]
    gram = IndefiniteGram(TableOperator.centred(X))
    for _ in range(8):
        assert_smallest(gram.smallest(diagonal, weight, U, 3, start), M, 3)


@pytest.mark.usefixtures("small_is_large")
@pytest.mark.parametrize("shape", FORMS.values(), ids=FORMS)
def test_no_weight_and_nothing_subtracted(shape):
    X, diagonal, _, U = problem(*shape)
    M = np.diag(diagonal)
    pairs = IndefiniteGram(TableOperator.centred(X)).smallest(diagonal, 0.0, U[:, :0], 3)
    assert_smallest(pairs, M, 3)


def test_conjugate_gradients_where_both_sides_are_large(monkeypatch):
    for module in (eigen, indefinite):
        monkeypatch.setattr(module, "DENSE_MAX", 5)
        monkeypatch.setattr(module, "SIDE_MAX", 10)
    X, diagonal, weight, U = problem(40, 60, spread=1.0)
    M = formed(X, diagonal, weight, U)
    gram = IndefiniteGram(TableOperator.centred(sp.csr_array(X)))
    pairs = gram.smallest(diagonal, weight, U, 3)
    assert "conjugate gradients" in pairs.solver
    assert_smallest(pairs, M, 3)
    again = gram.smallest(diagonal, weight, U, 3, pairs.solution)
    assert_smallest(again, M, 3)


@pytest.mark.parametrize("shape", FORMS.values(), ids=FORMS)
def test_the_inverse_inverts(shape):
    X, diagonal, weight, U = problem(*shape)
    diagonal += np.linalg.norm(U, 2) ** 2
    M = formed(X, diagonal, weight, U)
    solve = IndefiniteGram(TableOperator.centred(X)).inverse(diagonal, weight, U)
    V = np.random.default_rng(0).standard_normal((len(M), 3))
    np.testing.assert_allclose(M @ solve(V), V, atol=1e-8)
    np.testing.assert_allclose(M @ solve(V[:, 0]), V[:, 0], atol=1e-8)


@pytest.mark.parametrize("shape", FORMS.values(), ids=FORMS)
def test_there_is_no_inverse_of_an_indefinite_matrix(shape):
    X, diagonal, weight, U = problem(*shape)
    gram = IndefiniteGram(TableOperator.centred(X))
    assert gram.inverse(diagonal, weight, 100 * U) is None
    assert gram.inverse(diagonal - diagonal.max(), 0.0, U[:, :0]) is None


def test_a_wide_table_makes_no_square_matrix():
    X, diagonal, weight, U = problem(30, 5000)

    def solve():
        gram = IndefiniteGram(TableOperator.centred(X))
        return gram.smallest(diagonal, weight, U, 3)

    _, peak = with_peak_memory(solve)
    assert peak < 5000 * 5000 * 8 / 10
