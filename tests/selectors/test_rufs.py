"""RUFS: the paper's objective, blocks that descend, and local learning as it is defined."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from references.factorization import (
    l21,
    local_learning_matrix,
    rufs_objective,
    smallest_over,
)
from references.graphs import brute_neighbors
from references.memory import with_peak_memory
from references.tables import non_negative_clusters as table
from sklearn.datasets import load_digits, make_blobs

from tamis import RUFS
from tamis.graphs import laplacian, neighbor_graph
from tamis.selectors import rufs
from tamis.selectors._pseudo_labels import labels_as_factor, pseudo_labels
from tamis.selectors.rufs import RobustModel
from tamis.solvers.row_norms import row_norms

FORMS = [np.asarray, sp.csr_array]
SHAPES = {"more samples": (60, 15), "more features": (25, 50)}


def model_of(X, dense, **parameters):
    settings = RUFS(n_clusters=3, **parameters)
    L = local_learning_matrix(dense, brute_neighbors(dense, 5)[0], settings.local_reg)
    labels = pseudo_labels(X, None, 3, "kmeans", 0)
    return RobustModel(settings, X, settings.nu * sp.csr_array(L), labels)


def fitted_objective(model, X, L, init="kmeans", graph=None):
    first = labels_as_factor(pseudo_labels(X, graph, 3, init, 0), 3)
    X = X / np.abs(X).max()
    return rufs_objective(
        X,
        L,
        model.embedding_,
        model.loadings_,
        model.coef_,
        model.nu,
        model.alpha,
        model.beta,
        model.orthogonality * row_norms(X).sum(),
        first,
    )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("weights", [(1.0, 1.0, 1.0), (5.0, 0.5, 0.2)])
def test_the_last_objective_is_that_of_the_definition(weights, shape, form):
    X = table(*shape)
    nu, alpha, beta = weights
    settings = {"nu": nu, "alpha": alpha, "beta": beta, "max_iter": 6, "tol": 0}
    model = RUFS(n_clusters=3, random_state=0, **settings).fit(form(X))
    L = local_learning_matrix(X, brute_neighbors(X, 5)[0], 0.1)
    assert model.objective_[-1] == pytest.approx(fitted_objective(model, X, L), rel=1e-5)
    assert (np.diff(model.objective_) <= 1e-9 * model.objective_[0]).all()
    assert model.loadings_.min() >= 0


def test_a_graph_gives_its_laplacian():
    X = table(60, 15)
    graph = neighbor_graph(X, 4)
    for init in ("kmeans", "spectral"):
        model = RUFS(n_clusters=3, init=init, affinity=graph, random_state=0, max_iter=5, tol=0)
        model.fit(X)
        expected = fitted_objective(model, X, laplacian(graph).toarray(), init, graph)
        assert model.objective_[-1] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("orthogonality", [0.0, 0.1, 1.0, 1e4])
def test_no_block_ever_raises_the_objective(orthogonality, shape, form):
    X = table(*shape)
    model = model_of(form(X), X, orthogonality=orthogonality)
    values = [model.objective()]
    for _ in range(12):
        for update in (model.update_loadings, model.update_labels, model.update_coef):
            update()
            values.append(model.objective())
    values = np.array(values)
    assert (np.diff(values) <= 1e-10 * values[:-1]).all()
    assert model.G.min() >= 0
    assert model.F.min() >= 0


@pytest.mark.slow
def test_the_coefficients_become_the_minimiser_of_their_convex_problem():
    X = table(60, 15)
    model = model_of(X, X, beta=3.0)
    for _ in range(300):
        model.update_coef()

    def value(W):
        return l21(X @ W - model.G, model.label_smoothing) + 3.0 * l21(W, 1e-14)

    reached = value(model.W)
    assert smallest_over(value, model.W) > reached * (1 - 1e-4)  # convex: one start will do
    norms = row_norms(model.W)
    assert 0 < np.count_nonzero(norms > 1e-3 * norms.max()) < 15


def test_the_labels_problem_is_the_objective_but_for_a_constant():
    X = table(60, 15)
    model = model_of(X, X)
    model.update_loadings()
    problem, before, G = model.labels_problem(), model.objective(), model.G
    rng = np.random.default_rng(0)
    for size in (1e-3, 0.1, 1.0):
        model.G = G * (1 + size * rng.random(G.shape))
        change = problem.value_and_gradient(model.G)[0] - problem.value_and_gradient(G)[0]
        assert model.objective() - before == pytest.approx(change, rel=1e-8)


@pytest.mark.parametrize("init", ["spectral", "kmeans"])
def test_clear_clusters_are_found_with_their_features(init):
    X, y = make_blobs(120, 4, centers=4, cluster_std=0.4, random_state=0)
    X = np.hstack([(X - X.min()) / np.ptp(X), np.random.default_rng(0).random((120, 12)) / 3])
    model = RUFS(4, n_clusters=4, init=init, beta=10.0, random_state=0).fit(X)
    assert set(np.flatnonzero(model.get_support())) == {0, 1, 2, 3}
    assert ((model.labels_[:, None] == model.labels_) == (y[:, None] == y)).mean() > 0.95


def test_negative_values_cannot_be_rebuilt():
    X = -table(60, 15)
    model = RUFS(n_clusters=3, random_state=0, max_iter=5, tol=0).fit(X)
    assert not model.loadings_.any()
    assert np.isfinite(model.scores_).all()


def assert_sound(model):
    assert (np.diff(model.objective_) <= 1e-9 * model.objective_[0]).all()
    G = model.embedding_
    assert G.min() >= 0
    assert model.orthogonality_ == pytest.approx(np.linalg.norm(G.T @ G - np.eye(G.shape[1])))
    assert model.orthogonality_ < 0.3
    np.testing.assert_array_equal(model.labels_, G.argmax(axis=1))


@pytest.mark.slow
def test_digits_are_learned():
    X = load_digits().data[:600] / 16
    assert_sound(RUFS(n_clusters=10, random_state=0, max_iter=10, tol=0).fit(X))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["warpPIE10P", "Isolet"])
def test_large_real_tables_are_learned(benchmark_set, name):
    X, _ = benchmark_set(name)
    X = (X - X.min()) / np.ptp(X)
    assert_sound(RUFS(n_clusters=10, random_state=0, max_iter=4, tol=0).fit(X))


@pytest.mark.slow
def test_large_tables_need_no_square_of_the_larger_side():
    settings = {"n_clusters": 3, "random_state": 0, "max_iter": 2, "tol": 0}
    for shape in ((40, 4000), (4000, 40)):
        X = np.random.default_rng(0).random(shape)
        _, peak = with_peak_memory(RUFS(**settings).fit, X)
        assert peak < 30 * X.nbytes  # 4000 × 4000 numbers would be 100 times


def test_too_few_iterations_warn():
    with pytest.warns(UserWarning, match="did not converge in max_iter=2"):
        RUFS(max_iter=2, tol=1e-9, random_state=0).fit(table(60, 15))


def test_a_table_of_constants_is_ranked_by_position():
    model = RUFS().fit(np.ones((10, 4)))
    assert model.ranking_.tolist() == [1, 2, 3, 4]
    assert model.n_iter_ == 0


def test_a_table_of_zeros_is_ranked_as_a_sparse_one(monkeypatch):
    random = np.random.default_rng(0)
    X = random.random((60, 40)) * (random.random((60, 40)) < 0.08)
    X[:20, :3] += 1
    settings = {"n_clusters": 2, "max_iter": 20, "tol": 0}
    as_sparse = RUFS(**settings).fit(X)
    monkeypatch.setattr(rufs, "MOST_CELLS", 0)
    as_dense = RUFS(**settings).fit(X)
    np.testing.assert_allclose(as_sparse.objective_, as_dense.objective_, rtol=1e-6)
    largest = as_dense.scores_.max()
    np.testing.assert_allclose(as_sparse.scores_, as_dense.scores_, atol=1e-3 * largest)
