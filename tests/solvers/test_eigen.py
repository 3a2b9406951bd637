"""Smallest eigenpairs against dense solvers in extended precision, by every path."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from references.spectral import precise_smallest
from references.tables import off_centre as table
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence

from tamis.graphs import laplacian, neighbor_graph
from tamis.solvers import eigen
from tamis.solvers.centred import Centred
from tamis.solvers.eigen import EmbeddingMatrix, WeightedGram, largest_of_inverse

SHAPES = {"more samples": (60, 25), "more features": (20, 45)}


def problem(n_samples, n_features, decades=8, seed=0):
    """A table, a Laplacian, a diagonal that spans many orders of magnitude."""
    X = table(n_samples, n_features, seed)
    A = laplacian(neighbor_graph(X, 4))
    g = 10 ** np.random.default_rng(seed + 1).uniform(0, decades, n_features)
    return X, A, g


def smallest_angle_cosine(V, W):
    return np.linalg.svd(V.T @ W)[1].min()


def force(monkeypatch, path):
    """Make the module take one of its paths on small tables."""
    if path in ("lanczos", "implicit"):
        monkeypatch.setattr(eigen, "DENSE_MAX", 0)
    if path == "implicit":
        monkeypatch.setattr(eigen, "SIDE_MAX", 0)


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
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(n_pairs), atol=1e-9)
    assert smallest_angle_cosine(found.vectors, vectors) > 1 - 1e-12
    assert found.residual < 1e-9
    # Row by row: the small rows, which rank the features that a penalty has pushed out, too.
    rows = np.linalg.norm(vectors, axis=1)
    assert rows.min() < 1e-5 * rows.max()
    np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=1), rows, rtol=1e-6)


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
    assert method in pairs.method
    assert reason in pairs.reason


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
    for start in (cold.vectors, np.eye(shape[1])[:, :3]):
        warm = gram.smallest(g, 3, start=start)
        np.testing.assert_allclose(warm.values, cold.values, rtol=1e-10)
        assert smallest_angle_cosine(warm.vectors, cold.vectors) > 1 - 1e-12


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


def raise_arpack(*args, **kwargs):
    raise ArpackError(-9999)


def raise_no_convergence(*args, **kwargs):
    raise ArpackNoConvergence("no convergence", np.empty(0), np.empty((0, 0)))


def return_nonsense(operator, k, **kwargs):
    rng = np.random.default_rng(0)
    return np.ones(k), np.linalg.qr(rng.standard_normal((operator.shape[0], k)))[0]


@pytest.mark.parametrize("failure", [raise_arpack, raise_no_convergence, return_nonsense])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_a_dense_solver_takes_over_where_lanczos_fails(monkeypatch, shape, failure):
    force(monkeypatch, "lanczos")
    monkeypatch.setattr(eigen, "eigsh", failure)
    X, A, g = problem(*shape)
    values, _ = precise_smallest(np.diag(g) + X.T @ A @ X, 3)
    pairs = WeightedGram(X, A).smallest(g, 3)
    np.testing.assert_allclose(pairs.values, values, rtol=1e-9)
    assert pairs.method == "dense"
    assert "did not converge" in pairs.reason


@pytest.mark.parametrize("failure", [raise_arpack, return_nonsense])
def test_where_a_dense_matrix_is_too_large_failure_is_an_error(monkeypatch, failure):
    force(monkeypatch, "implicit")
    monkeypatch.setattr(eigen, "eigsh", failure)
    X, A, g = problem(60, 25)
    with pytest.raises(np.linalg.LinAlgError, match="try fewer clusters"):
        WeightedGram(X, A).smallest(g, 3)


def test_conjugate_gradients_that_fail_are_an_error(monkeypatch):
    force(monkeypatch, "implicit")
    monkeypatch.setattr(eigen, "cg", lambda operator, v, **options: (v, 1))
    X, A, g = problem(60, 25)
    with pytest.raises(np.linalg.LinAlgError, match="larger penalty"):
        WeightedGram(X, A).smallest(g, 3)


def test_the_dense_solver_has_a_second_driver(monkeypatch):
    calls = []
    exact = eigen.scipy.linalg.eigh

    def without_evr(matrix, *args, driver=None, **kwargs):
        calls.append(driver)
        if driver == "evr":
            raise np.linalg.LinAlgError("Internal Error.")
        return exact(matrix, *args, driver=driver, **kwargs)

    X, A, g = problem(60, 25)
    expected = WeightedGram(X, A).smallest(g, 3)
    monkeypatch.setattr(eigen.scipy.linalg, "eigh", without_evr)
    found = WeightedGram(X, A).smallest(g, 3)
    assert calls == ["evr", "evd"]
    np.testing.assert_allclose(found.values, expected.values, rtol=1e-12)


def test_repeated_eigenvalues_are_all_found(monkeypatch):
    force(monkeypatch, "lanczos")
    diagonal = np.repeat([1.0, 2.0, 50.0], [4, 4, 92])
    pairs = largest_of_inverse(
        lambda v: (v.T / diagonal).T, 100, 6, None, "Lanczos", "", affordable=True
    )
    np.testing.assert_allclose(pairs.values, [1, 1, 1, 1, 2, 2], rtol=1e-10)
    np.testing.assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(6), atol=1e-10)


# --- L + β(I + X diag(e) Xᵀ)⁻¹ ----------------------------------------------------------------


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
    "LU": (0, 10_000, np.asarray, "sparse LU"),
    "too long for LU": (0, 0, np.asarray, "Lanczos"),
    "sparse": (0, 10_000, sp.csr_array, "Lanczos"),
}


@pytest.mark.parametrize("branch", BRANCHES.values(), ids=BRANCHES.keys())
@pytest.mark.parametrize("beta", [1e-3, 1.0, 1e3])
def test_the_embedding_and_its_ridge_are_those_of_the_formula(monkeypatch, beta, branch):
    dense_max, lu_max, form, method = branch
    monkeypatch.setattr(eigen, "DENSE_MAX", dense_max)
    monkeypatch.setattr(eigen, "LU_MAX", lu_max)
    X, L, e = embedding_problem(90, 12)
    T, ridge = embedding_matrix(X, L, e, beta)
    values, vectors = np.linalg.eigh(T)
    pairs, W = EmbeddingMatrix(Centred(form(X)), L, beta).smallest(e, 4)
    assert method in pairs.method
    assert pairs.reason
    np.testing.assert_allclose(pairs.values, values[:4], rtol=1e-8, atol=1e-13 * values[-1])
    np.testing.assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(4), atol=1e-9)
    assert smallest_angle_cosine(pairs.vectors, vectors[:, :4]) > 1 - 1e-8
    np.testing.assert_allclose(W, ridge @ pairs.vectors, rtol=1e-7, atol=1e-11)
    assert pairs.residual < 1e-8


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_embedding_where_there_are_more_features_than_samples(form):
    X, L, e = embedding_problem(20, 50)
    T, ridge = embedding_matrix(X, L, e, 0.5)
    pairs, W = EmbeddingMatrix(Centred(form(X)), L, 0.5).smallest(e, 4)
    np.testing.assert_allclose(pairs.values, np.linalg.eigvalsh(T)[:4], rtol=1e-10)
    np.testing.assert_allclose(W, ridge @ pairs.vectors, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_constant_vector_has_the_eigenvalue_beta(form):
    X, L, e = embedding_problem(40, 6)
    pairs, W = EmbeddingMatrix(Centred(form(X)), L, 0.25).smallest(e, 40)
    share = np.abs(pairs.vectors.sum(axis=0)) / np.sqrt(40)
    constant = share.argmax()
    assert share[constant] == pytest.approx(1)
    assert pairs.values[constant] == pytest.approx(0.25)
    np.testing.assert_allclose(W[:, constant], 0, atol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_all_eigenvectors_of_an_embedding_can_be_asked_for(monkeypatch, form):
    monkeypatch.setattr(eigen, "DENSE_MAX", 0)
    X, L, e = embedding_problem(30, 6)
    T, _ = embedding_matrix(X, L, e, 1.0)
    pairs, _ = EmbeddingMatrix(Centred(form(X)), L, 1.0).smallest(e, 30)
    np.testing.assert_allclose(pairs.values, np.linalg.eigvalsh(T), rtol=1e-8)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("failure", [raise_arpack, raise_no_convergence])
def test_a_dense_solver_takes_over_the_embedding_too(monkeypatch, failure, form):
    monkeypatch.setattr(eigen, "DENSE_MAX", 0)
    monkeypatch.setattr(eigen, "eigsh", failure)
    X, L, e = embedding_problem(90, 12)
    T, _ = embedding_matrix(X, L, e, 1.0)
    pairs, _ = EmbeddingMatrix(Centred(form(X)), L, 1.0).smallest(e, 4)
    np.testing.assert_allclose(pairs.values, np.linalg.eigvalsh(T)[:4], rtol=1e-8)
    assert pairs.method == "dense"


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_an_embedding_too_large_for_a_dense_solver_fails_with_advice(monkeypatch, form):
    monkeypatch.setattr(eigen, "DENSE_MAX", 0)
    monkeypatch.setattr(eigen, "SIDE_MAX", 20)
    monkeypatch.setattr(eigen, "eigsh", raise_no_convergence)
    X, L, e = embedding_problem(90, 12)
    with pytest.raises(np.linalg.LinAlgError, match="try fewer"):
        EmbeddingMatrix(Centred(form(X)), L, 1.0).smallest(e, 4)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_a_table_with_two_long_sides_is_refused(monkeypatch, shape):
    monkeypatch.setattr(eigen, "SIDE_MAX", 10)
    monkeypatch.setattr(eigen, "DENSE_MAX", 0)
    X, L, _ = embedding_problem(*shape)
    with pytest.raises(ValueError, match=r"its smaller side exceeds 10.*use MRSF"):
        EmbeddingMatrix(Centred(X), L, 1.0)


def test_a_start_changes_the_way_but_not_the_embedding(monkeypatch):
    monkeypatch.setattr(eigen, "DENSE_MAX", 0)
    X, L, e = embedding_problem(90, 12)
    for form in (np.asarray, sp.csr_array):
        T = EmbeddingMatrix(Centred(form(X)), L, 1.0)
        cold, _ = T.smallest(e, 4)
        warm, _ = T.smallest(e, 4, start=cold.vectors)
        np.testing.assert_allclose(warm.values, cold.values, rtol=1e-8)
        assert smallest_angle_cosine(warm.vectors, cold.vectors) > 1 - 1e-9


def test_a_solver_that_finds_too_few_eigenpairs_is_not_believed(monkeypatch):
    rng = np.random.default_rng(0)
    M = rng.standard_normal((20, 20))
    M = M + M.T
    original = scipy.linalg.eigh

    def too_few(matrix, **options):
        values, vectors = original(matrix, **options)
        return (values[:-2], vectors[:, :-2]) if options["driver"] == "evr" else (values, vectors)

    monkeypatch.setattr(scipy.linalg, "eigh", too_few)
    values, vectors = eigen.dense_eigenpairs(M, (0, 4))
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

    found = largest_of_inverse(solve, size, 10, None, "Lanczos", "a test", affordable=True)
    assert found.method == "dense"
    assert found.reason == "Lanczos did not converge"
    assert applied < 10 * size
    np.testing.assert_allclose(found.values[0], 0.5, rtol=1e-12)
