"""EUFS: the paper's objective, blocks that descend, and rows of V that are optimal."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from references.factorization import eufs_objective
from references.memory import with_peak_memory
from references.tables import non_negative_clusters as table
from sklearn.datasets import load_digits, make_blobs
from sklearn.preprocessing import scale

from tamis import EUFS
from tamis.graphs import laplacian, neighbor_graph
from tamis.selectors._pseudo_labels import pseudo_labels
from tamis.selectors.eufs import EmbeddedModel
from tamis.solvers.row_norms import row_norms

FORMS = [np.asarray, sp.csr_array]
SHAPES = {"more samples": (60, 15), "more features": (25, 50)}


def model_of(X, **parameters):
    settings = EUFS(n_clusters=3, **parameters)
    graph = neighbor_graph(X, 5)
    labels = pseudo_labels(X, None, 3, "kmeans", 0)
    return EmbeddedModel(settings, X, settings.beta * laplacian(graph), labels)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize(("alpha", "beta"), [(0.1, 1.0), (0.5, 0.1)])
def test_the_last_objective_is_that_of_the_definition(alpha, beta, shape, form):
    X = table(*shape)
    model = EUFS(n_clusters=3, alpha=alpha, beta=beta, random_state=0, max_iter=8, tol=0)
    model.fit(form(X))
    L = laplacian(neighbor_graph(X, 5)).toarray()
    X = X / np.sqrt((X**2).mean())
    penalty = row_norms(X).sum()
    U, V = model.embedding_, model.coef_
    expected = eufs_objective(X, L, U, V, model.penalty_, beta, penalty)
    assert model.objective_[-1] == pytest.approx(expected, rel=1e-5)
    assert model.n_support_ == np.count_nonzero(V.any(axis=1))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("alpha", [0.01, 0.3])
@pytest.mark.parametrize("orthogonality", [0.0, 0.1, 1.0, 1e4])
def test_no_block_ever_raises_the_objective(orthogonality, alpha, shape, form):
    model = model_of(form(table(*shape)), alpha=alpha, orthogonality=orthogonality)
    values = [model.objective()]
    for _ in range(12):
        for update in (model.update_loadings, model.update_labels):
            update()
            values.append(model.objective())
    values = np.array(values)
    assert (np.diff(values) <= 1e-10 * values[:-1]).all()
    assert model.U.min() >= 0


def test_the_loadings_become_the_minimiser_of_their_convex_problem():
    X = table(60, 15)
    model = model_of(X)
    for _ in range(300):
        model.update_loadings()
    residual = X - model.U @ model.V.T
    norms = np.sqrt(row_norms(residual) ** 2 + model.smoothing)
    pull = residual.T @ (model.U / norms[:, None])
    norms = row_norms(model.V)
    used = norms > 0
    expected = model.alpha * model.V[used] / norms[used, None]
    np.testing.assert_allclose(pull[used], expected, atol=1e-5 * model.alpha)
    assert (row_norms(pull[~used]) <= model.alpha * (1 + 1e-6)).all()


def test_the_labels_problem_is_the_objective_but_for_a_constant():
    X = table(60, 15)
    model = model_of(X)
    model.update_loadings()
    problem, before, U = model.labels_problem(), model.objective(), model.U
    rng = np.random.default_rng(0)
    for size in (1e-3, 0.1, 1.0):
        model.U = U * (1 + size * rng.random(U.shape))
        change = problem.value_and_gradient(model.U)[0] - problem.value_and_gradient(U)[0]
        assert model.objective() - before == pytest.approx(change, rel=1e-8)


def test_alpha_is_the_fraction_of_the_penalty_that_empties_v():
    X = table(60, 15)
    full = EUFS(n_clusters=3, alpha=1.0, random_state=0).fit(X)
    assert full.n_support_ == 0
    assert len(np.unique(full.scores_)) == 15  # in the order of entry
    kept = [EUFS(n_clusters=3, alpha=a, random_state=0).fit(X).n_support_ for a in (0.9, 0.5, 0.01)]
    assert kept == sorted(kept)
    assert kept[-1] == 15
    # α is that of the first labels: a hair below one feature enters.
    model = model_of(X, alpha=0.999)
    model.update_loadings()
    assert np.count_nonzero(model.V.any(axis=1)) == 1


@pytest.mark.parametrize("init", ["spectral", "kmeans"])
def test_clear_clusters_are_found_with_their_features(init):
    X, y = make_blobs(120, 4, centers=4, cluster_std=0.4, random_state=0)
    X = np.hstack([scale(X), np.random.default_rng(0).standard_normal((120, 12)) / 2])
    model = EUFS(4, n_clusters=4, init=init, random_state=0).fit(X)
    assert set(np.flatnonzero(model.get_support())) == {0, 1, 2, 3}
    assert ((model.labels_[:, None] == model.labels_) == (y[:, None] == y)).mean() > 0.95


def assert_sound(model):
    assert (np.diff(model.objective_) <= 1e-9 * model.objective_[0]).all()
    U = model.embedding_
    assert U.min() >= 0
    assert model.orthogonality_ == pytest.approx(np.linalg.norm(U.T @ U - np.eye(U.shape[1])))
    assert model.orthogonality_ < 0.3
    np.testing.assert_array_equal(model.labels_, U.argmax(axis=1))


@pytest.mark.slow
def test_digits_are_learned():
    X = load_digits().data[:600] / 16
    assert_sound(EUFS(n_clusters=10, random_state=0, max_iter=20, tol=0).fit(X))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["warpPIE10P", "Isolet"])
def test_large_real_tables_are_learned(benchmark_set, name):
    X, _ = benchmark_set(name)
    X = (X - X.min()) / np.ptp(X)
    assert_sound(EUFS(n_clusters=10, random_state=0, max_iter=4, tol=0).fit(X))


@pytest.mark.slow
def test_large_tables_need_no_square_of_a_side():
    settings = {"n_clusters": 3, "random_state": 0, "max_iter": 2, "tol": 0}
    for shape in ((40, 4000), (4000, 40)):
        X = np.random.default_rng(0).random(shape)
        _, peak = with_peak_memory(EUFS(**settings).fit, X)
        assert peak < 30 * X.nbytes  # 4000 × 4000 numbers would be 100 times


def test_too_few_iterations_warn():
    with pytest.warns(UserWarning, match="did not converge in max_iter=2"):
        EUFS(max_iter=2, tol=1e-9, random_state=0).fit(table(60, 15))


def test_a_table_of_constants_is_ranked_by_position():
    model = EUFS().fit(np.ones((10, 4)))
    assert model.ranking_.tolist() == [1, 2, 3, 4]
    assert model.n_support_ == model.n_iter_ == 0
