"""The embedding matrix: its eigenpairs and its regression by every path, against the formula."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from references.eigen import raise_arpack, raise_no_convergence, smallest_angle_cosine
from references.tables import off_centre as table

from tamis.graphs import laplacian, neighbor_graph
from tamis.solvers import eigen
from tamis.solvers import embedding_matrix as embedding
from tamis.solvers.embedding_matrix import EmbeddingMatrix
from tamis.solvers.table_operator import TableOperator

SHAPES = {"more samples": (60, 25), "more features": (20, 45)}


def embedding_problem(n_samples, n_features, decades=4):
    X = table(n_samples, n_features)
    L = laplacian(neighbor_graph(X, 4))
    e = 10 ** np.random.default_rng(3).uniform(-decades, 1, n_features)
    return X, L, e


def embedding_matrix(X, L, e, beta):
    X = X - X.mean(axis=0)
    inner = np.eye(len(X)) + X @ np.diag(e) @ X.T
    ridge = np.linalg.inv(X.T @ X + np.diag(1 / e))
    return L.toarray() + beta * np.linalg.inv(inner), ridge @ X.T


BRANCHES = {
    "few samples": (400, 10_000, np.asarray, "dense"),
    "few samples, sparse": (400, 10_000, sp.csr_array, "dense"),
    "LU": (0, 10_000, np.asarray, "factors of L"),
    "too long for LU": (0, 0, np.asarray, "Lanczos"),
    "sparse": (0, 10_000, sp.csr_array, "Lanczos"),
}


@pytest.mark.parametrize("branch", BRANCHES.values(), ids=BRANCHES.keys())
@pytest.mark.parametrize("beta", [1e-3, 1.0, 1e3])
def test_the_embedding_and_its_ridge_are_those_of_the_formula(monkeypatch, beta, branch):
    dense_max, lu_max, form, method = branch
    for module in (eigen, embedding):
        monkeypatch.setattr(module, "DENSE_MAX", dense_max)
    monkeypatch.setattr(embedding, "LU_MAX", lu_max)
    X, L, e = embedding_problem(90, 12)
    T, ridge = embedding_matrix(X, L, e, beta)
    values, vectors = np.linalg.eigh(T)
    pairs = EmbeddingMatrix(TableOperator.centred(form(X)), L, beta).smallest(e, 4)
    used, _, reason = pairs.solver.partition(": ")
    assert method in used
    assert reason
    np.testing.assert_allclose(pairs.values, values[:4], rtol=1e-8, atol=1e-13 * values[-1])
    np.testing.assert_allclose(pairs.solution.T @ pairs.solution, np.eye(4), atol=1e-9)
    assert smallest_angle_cosine(pairs.solution, vectors[:, :4]) > 1 - 1e-8
    np.testing.assert_allclose(pairs.coef, ridge @ pairs.solution, rtol=1e-7, atol=1e-11)
    assert pairs.optimality < 1e-8


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_embedding_where_there_are_more_features_than_samples(form):
    X, L, e = embedding_problem(20, 50)
    T, ridge = embedding_matrix(X, L, e, 0.5)
    pairs = EmbeddingMatrix(TableOperator.centred(form(X)), L, 0.5).smallest(e, 4)
    np.testing.assert_allclose(pairs.values, np.linalg.eigvalsh(T)[:4], rtol=1e-10)
    np.testing.assert_allclose(pairs.coef, ridge @ pairs.solution, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_constant_vector_has_the_eigenvalue_beta(form):
    X, L, e = embedding_problem(40, 6)
    pairs = EmbeddingMatrix(TableOperator.centred(form(X)), L, 0.25).smallest(e, 40)
    share = np.abs(pairs.solution.sum(axis=0)) / np.sqrt(40)
    constant = share.argmax()
    assert share[constant] == pytest.approx(1)
    assert pairs.values[constant] == pytest.approx(0.25)
    np.testing.assert_allclose(pairs.coef[:, constant], 0, atol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_all_eigenvectors_of_an_embedding_can_be_asked_for(monkeypatch, form):
    for module in (eigen, embedding):
        monkeypatch.setattr(module, "DENSE_MAX", 0)
    X, L, e = embedding_problem(30, 6)
    T, _ = embedding_matrix(X, L, e, 1.0)
    pairs = EmbeddingMatrix(TableOperator.centred(form(X)), L, 1.0).smallest(e, 30)
    np.testing.assert_allclose(pairs.values, np.linalg.eigvalsh(T), rtol=1e-8)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("failure", [raise_arpack, raise_no_convergence])
def test_a_dense_solver_takes_over_the_embedding_too(monkeypatch, failure, form):
    for module in (eigen, embedding):
        monkeypatch.setattr(module, "DENSE_MAX", 0)
    for module in (eigen, embedding):
        monkeypatch.setattr(module, "eigsh", failure)
    X, L, e = embedding_problem(90, 12)
    T, _ = embedding_matrix(X, L, e, 1.0)
    pairs = EmbeddingMatrix(TableOperator.centred(form(X)), L, 1.0).smallest(e, 4)
    np.testing.assert_allclose(pairs.values, np.linalg.eigvalsh(T)[:4], rtol=1e-8)
    assert pairs.solver.startswith("dense: ")


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_an_embedding_too_large_for_a_dense_solver_fails_with_advice(monkeypatch, form):
    for module in (eigen, embedding):
        monkeypatch.setattr(module, "DENSE_MAX", 0)
    for module in (eigen, embedding):
        monkeypatch.setattr(module, "SIDE_MAX", 20)
    for module in (eigen, embedding):
        monkeypatch.setattr(module, "eigsh", raise_no_convergence)
    X, L, e = embedding_problem(90, 12)
    with pytest.raises(np.linalg.LinAlgError, match="try fewer"):
        EmbeddingMatrix(TableOperator.centred(form(X)), L, 1.0).smallest(e, 4)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_a_table_with_two_long_sides_is_refused(monkeypatch, shape):
    for module in (eigen, embedding):
        monkeypatch.setattr(module, "SIDE_MAX", 10)
    for module in (eigen, embedding):
        monkeypatch.setattr(module, "DENSE_MAX", 0)
    X, L, _ = embedding_problem(*shape)
    with pytest.raises(ValueError, match=r"its smaller side exceeds 10.*use MRSF"):
        EmbeddingMatrix(TableOperator.centred(X), L, 1.0, remedy="use MRSF")


def test_a_start_changes_the_way_but_not_the_embedding(monkeypatch):
    for module in (eigen, embedding):
        monkeypatch.setattr(module, "DENSE_MAX", 0)
    X, L, e = embedding_problem(90, 12)
    for form in (np.asarray, sp.csr_array):
        T = EmbeddingMatrix(TableOperator.centred(form(X)), L, 1.0)
        cold = T.smallest(e, 4)
        warm = T.smallest(e, 4, start=cold.solution)
        np.testing.assert_allclose(warm.values, cold.values, rtol=1e-8)
        assert smallest_angle_cosine(warm.solution, cold.solution) > 1 - 1e-9
