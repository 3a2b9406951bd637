"""Smallest eigenpairs of diag(g) + XᵀAX, by every path, against extended precision."""

from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from references.eigen import (
    raise_arpack,
    raise_no_convergence,
    return_nonsense,
    smallest_angle_cosine,
)
from references.spectral import precise_smallest
from references.tables import off_centre as table

from tamis.graphs import laplacian, neighbor_graph
from tamis.solvers import conjugate_gradients, eigen, weighted_gram
from tamis.solvers.weighted_gram import WeightedGram

SHAPES = {"more samples": (60, 25), "more features": (20, 45)}


def problem(n_samples, n_features, decades=8, seed=0):
    """A table, a Laplacian, a diagonal that spans many orders of magnitude."""
    X = table(n_samples, n_features, seed)
    A = laplacian(neighbor_graph(X, 4))
    g = 10 ** np.random.default_rng(seed + 1).uniform(0, decades, n_features)
    return X, A, g


def force(monkeypatch, path):
    """Make the module take one of its paths on small tables."""
    if path in ("lanczos", "implicit"):
        monkeypatch.setattr(eigen, "DENSE_MAX", 0)
    if path == "implicit":
        for module in (eigen, weighted_gram):
            monkeypatch.setattr(module, "SIDE_MAX", 0)


# --- diag(g) + XᵀAX ---------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["dense", "lanczos", "implicit"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("n_pairs", [1, 5])
def test_smallest_eigenpairs_for_a_diagonal_of_eight_decades(
    monkeypatch, n_pairs, shape, form, path
):
    force(monkeypatch, path)
    X, A, g = problem(*shape)
    values, vectors = precise_smallest(np.diag(g) + X.T @ A @ X, n_pairs)
    found = WeightedGram(form(X), A).smallest(g, n_pairs)
    np.testing.assert_allclose(found.values, values, rtol=1e-9)
    np.testing.assert_allclose(found.solution.T @ found.solution, np.eye(n_pairs), atol=1e-9)
    assert smallest_angle_cosine(found.solution, vectors) > 1 - 1e-12
    assert found.optimality < 1e-9
    # Row by row: the small rows, which rank the features that a penalty has pushed out, too.
    rows = np.linalg.norm(vectors, axis=1)
    assert rows.min() < 1e-5 * rows.max()
    np.testing.assert_allclose(np.linalg.norm(found.solution, axis=1), rows, rtol=1e-6)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("implicit", [False, True])
def test_products_and_diagonal_are_those_of_the_dense_matrix(monkeypatch, implicit, shape, form):
    force(monkeypatch, "implicit" if implicit else "dense")
    X, A, _ = problem(*shape)
    M = X.T @ A @ X
    gram = WeightedGram(form(X), A)
    V = np.random.default_rng(2).standard_normal((shape[1], 3))
    np.testing.assert_allclose(gram @ V, M @ V, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(gram @ V[:, 0], M @ V[:, 0], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(gram.diagonal, np.diag(M), rtol=1e-9)
    assert (gram.diagonal >= 0).all()


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_single_precision_tables_are_solved_in_double(form):
    X, A, g = problem(40, 10)
    X = X.astype(np.float32)
    exact = X.astype(np.float64)
    values, _ = precise_smallest(np.diag(g) + exact.T @ A @ exact, 3)
    np.testing.assert_allclose(WeightedGram(form(X), A).smallest(g, 3).values, values, rtol=1e-9)


def test_an_offset_of_the_columns_plays_no_part():
    X, A, g = problem(40, 10)
    plain = WeightedGram(X, A).smallest(g, 3)
    shifted = WeightedGram(X + 1e6, A).smallest(g, 3)
    np.testing.assert_allclose(shifted.values, plain.values, rtol=1e-8)


@pytest.mark.parametrize(
    ("shape", "n_pairs", "forced", "method", "reason"),
    [
        ((60, 25), 3, "dense", "dense", "small"),
        ((60, 25), 9, "lanczos", "dense", "small"),  # a third of all pairs is a dense problem
        ((60, 25), 3, "lanczos", "Cholesky", "no more features than samples"),
        ((20, 45), 3, "lanczos", "Woodbury", "fewer samples than features"),
        ((60, 25), 3, "implicit", "conjugate gradients", "both sides"),
    ],
)
def test_the_method_and_its_reason_are_told(monkeypatch, shape, n_pairs, forced, method, reason):
    force(monkeypatch, forced)
    X, A, g = problem(*shape)
    pairs = WeightedGram(X, A).smallest(g, n_pairs)
    assert method in pairs.solver.partition(":")[0]
    assert reason in pairs.solver.partition(":")[2]


def test_all_eigenpairs_can_be_asked_for_but_not_more():
    X, A, g = problem(20, 6, decades=1)
    gram = WeightedGram(X, A)
    expected = np.linalg.eigvalsh(np.diag(g) + X.T @ A @ X)
    np.testing.assert_allclose(gram.smallest(g, 6).values, expected, rtol=1e-9)
    with pytest.raises(ValueError, match="7 eigenvectors were asked of a matrix of size 6"):
        gram.smallest(g, 7)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_a_start_changes_the_way_but_not_the_result(monkeypatch, shape):
    force(monkeypatch, "lanczos")
    X, A, g = problem(*shape)
    gram = WeightedGram(X, A)
    cold = gram.smallest(g, 3)
    for start in (cold.solution, np.eye(shape[1])[:, :3]):
        warm = gram.smallest(g, 3, start=start)
        np.testing.assert_allclose(warm.values, cold.values, rtol=1e-10)
        assert smallest_angle_cosine(warm.solution, cold.solution) > 1 - 1e-12


# --- singular or not --------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_singular_matrices_are_recognised_whatever_the_units_of_the_columns(form):
    X, A, _ = problem(60, 10)
    units = 10.0 ** np.linspace(-4, 4, 10)
    assert not WeightedGram(form(X), A).is_singular()
    assert not WeightedGram(form(X * units), A).is_singular()
    repeated = X.copy()
    repeated[:, 7] = X[:, 2]
    assert WeightedGram(form(repeated), A).is_singular()
    assert WeightedGram(form(repeated * units), A).is_singular()
    assert WeightedGram(form(X[:10]), laplacian(neighbor_graph(X[:10], 4))).is_singular()


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_column_that_no_neighbourhood_sees_makes_it_singular(form):
    X = table(60, 10)
    X[:, 3] = np.repeat([0.1, 1000.3], 30)
    A = laplacian(neighbor_graph(X, 4))
    gram = WeightedGram(form(X), A)
    assert gram.is_singular()
    assert gram.diagonal[3] == 0


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_the_implicit_form_goes_by_the_shape(monkeypatch, shape):
    force(monkeypatch, "implicit")
    X, A, _ = problem(*shape)
    assert WeightedGram(X, A).is_singular() == (shape[0] <= shape[1])


# --- when Lanczos fails -----------------------------------------------------------------------


@pytest.mark.parametrize("failure", [raise_arpack, raise_no_convergence, return_nonsense])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_a_dense_solver_takes_over_where_lanczos_fails(monkeypatch, shape, failure):
    force(monkeypatch, "lanczos")
    monkeypatch.setattr(eigen, "eigsh", failure)
    X, A, g = problem(*shape)
    values, _ = precise_smallest(np.diag(g) + X.T @ A @ X, 3)
    pairs = WeightedGram(X, A).smallest(g, 3)
    np.testing.assert_allclose(pairs.values, values, rtol=1e-9)
    assert re.fullmatch("dense: .*did not converge", pairs.solver)


@pytest.mark.parametrize("failure", [raise_arpack, return_nonsense])
def test_where_a_dense_matrix_is_too_large_failure_is_an_error(monkeypatch, failure):
    force(monkeypatch, "implicit")
    monkeypatch.setattr(eigen, "eigsh", failure)
    X, A, g = problem(60, 25)
    with pytest.raises(np.linalg.LinAlgError, match="try fewer clusters"):
        WeightedGram(X, A).smallest(g, 3)


def test_conjugate_gradients_that_fail_are_an_error(monkeypatch):
    force(monkeypatch, "implicit")
    monkeypatch.setattr(conjugate_gradients, "INVERSE_STEPS", 1)
    X, A, g = problem(60, 25)
    with pytest.raises(np.linalg.LinAlgError, match="larger penalty"):
        WeightedGram(X, A).smallest(g, 3)


def test_the_dense_solver_has_a_second_driver(monkeypatch):
    calls = []
    exact = scipy.linalg.eigh

    def without_evr(matrix, *args, driver=None, **kwargs):
        calls.append(driver)
        if driver == "evr":
            raise np.linalg.LinAlgError("Internal Error.")
        return exact(matrix, *args, driver=driver, **kwargs)

    X, A, g = problem(60, 25)
    expected = WeightedGram(X, A).smallest(g, 3)
    monkeypatch.setattr(scipy.linalg, "eigh", without_evr)
    found = WeightedGram(X, A).smallest(g, 3)
    assert calls == ["evr", "evd"]
    np.testing.assert_allclose(found.values, expected.values, rtol=1e-12)
