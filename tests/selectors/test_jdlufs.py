"""JDLUFS: every block descends on the objective of the poster; what its λ = 10⁶ makes of it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from references.factorization import jdlufs_objective
from references.memory import with_peak_memory
from references.spectral import nearness
from references.tables import non_negative_clusters as table
from scipy.stats import spearmanr
from sklearn.datasets import load_digits, make_blobs

from tamis import JDLUFS
from tamis.clustering import indicator
from tamis.graphs import laplacian, neighbor_graph
from tamis.selectors._pseudo_labels import labels_as_factor, pseudo_labels
from tamis.selectors.jdlufs import JointModel
from tamis.solvers.dictionary import within_unit_ball
from tamis.solvers.l21 import l21_regression, scores_with_order_of_entry
from tamis.solvers.row_norms import row_norms
from tamis.solvers.table_operator import TableOperator

FORMS = [np.asarray, sp.csr_array]
SHAPES = {"more samples": (60, 15), "more features": (25, 50)}


def model_of(X, n_clusters=3, **parameters):
    settings = JDLUFS(n_clusters=n_clusters, **parameters)
    graph = neighbor_graph(X, 5)
    labels = pseudo_labels(X, graph, n_clusters, "kmeans", 0)
    model = JointModel(settings, X, settings.gamma * laplacian(graph), labels)
    X = X.toarray() if sp.issparse(X) else X
    model.start(within_unit_ball(X[:8].T))
    return model


def fitted_objective(model, X, graph):
    """The objective of a fitted selector, from the definition."""
    X = X / np.ptp(X, axis=0).max()
    return jdlufs_objective(
        X.T,
        laplacian(graph).toarray(),
        model.dictionary_,
        model.label_dictionary_,
        model.codes_,
        model.coef_,
        model.intercept_,
        model.embedding_,
        alpha=model.alpha,
        beta=model.beta,
        gamma=model.gamma,
        delta=model.delta,
        penalty=model.orthogonality,
        coding=model.coding,
    )


def scaled(X):
    return (X - X.min()) / np.ptp(X)


# --- the definition ---------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("coding", ["l1", "ridge"])
def test_the_last_objective_is_that_of_the_definition(coding, shape, form):
    X = table(*shape)
    settings = {"alpha": 2.0, "beta": 0.3, "gamma": 0.5, "delta": 0.7, "orthogonality": 20.0}
    model = JDLUFS(n_clusters=3, coding=coding, random_state=0, max_iter=8, tol=0, **settings)
    model.fit(form(X))
    expected = fitted_objective(model, X, neighbor_graph(X, 5))
    assert model.objective_[-1] == pytest.approx(expected, rel=1e-6)
    assert model.n_iter_ == 8
    np.testing.assert_allclose(model.scores_, row_norms(model.coef_))


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("coding", ["l1", "ridge"])
@pytest.mark.parametrize("orthogonality", [0.0, 1.0, 100.0, 1e6])
def test_no_block_ever_raises_the_objective(orthogonality, coding, shape, form):
    model = model_of(form(table(*shape)), coding=coding, orthogonality=orthogonality)
    values = [model.objective()]
    for _ in range(10):
        for update in (
            model.update_codes,
            model.update_dictionaries,
            model.update_labels,
            lambda: model.update_coef(10),
        ):
            update()
            values.append(model.objective())
    values = np.array(values)
    assert (np.diff(values) <= 1e-10 * values[:-1]).all()
    assert model.U.min() >= 0
    assert np.linalg.norm(model.Dx, axis=0).max() <= 1 + 1e-12
    assert np.linalg.norm(model.Du, axis=0).max() <= 1 + 1e-12
    assert values[-1] < values[0]


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("coding", ["l1", "ridge"])
def test_each_block_does_its_share(coding, shape):
    model = model_of(table(*shape), coding=coding)
    before = model.objective()
    for update in (
        model.update_codes,
        model.update_dictionaries,
        model.update_labels,
        lambda: model.update_coef(10),
    ):
        update()
        after = model.objective()
        assert after < before - 1e-6 * before
        before = after


@pytest.mark.parametrize("orthogonality", [1.0, 100.0])
def test_labels_that_have_settled_have_the_best_size(orthogonality):
    model = model_of(table(60, 15), orthogonality=orthogonality)
    for _ in range(3):
        model.update_codes()
        model.update_dictionaries()
    for _ in range(50):
        model.update_labels()
    U, best = model.U, model.objective()
    for column in range(U.shape[1]):
        for factor in (0.97, 1.03):
            model.U = U.copy()
            model.U[:, column] *= factor
            assert model.objective() > best


def test_ridge_codes_are_the_closed_form_of_algorithm_1():
    X = table(60, 15)
    model = model_of(X, coding="ridge", beta=0.4)
    model.update_codes()
    model.update_dictionaries()
    model.update_codes()
    gram = model.Dx.T @ model.Dx + model.Du.T @ model.Du + 0.4 * np.eye(8)
    expected = np.linalg.inv(gram) @ (model.Dx.T @ X.T + model.Du.T @ model.U.T)
    np.testing.assert_allclose(model.A, expected, atol=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_the_labels_problem_is_the_objective_but_for_a_constant(form):
    X = table(60, 15)
    model = model_of(form(X))
    model.update_codes()
    model.update_dictionaries()
    problem, rng = model.labels_problem(), np.random.default_rng(0)
    W, mean = model.W, X.mean(axis=0)
    b = model.U.mean(axis=0) - mean @ W  # held fixed while U moves

    def whole(U):
        L = laplacian(neighbor_graph(X, 5)).toarray()
        weights = {"alpha": 1.0, "beta": 0.1, "gamma": 1.0, "delta": 1.0, "penalty": 100.0}
        return jdlufs_objective(X.T, L, model.Dx, model.Du, model.A, W, b, U, **weights)

    first, second = rng.random(model.U.shape), rng.random(model.U.shape) / 5
    found = problem.value_and_gradient(first)[0] - problem.value_and_gradient(second)[0]
    assert found == pytest.approx(whole(first) - whole(second), rel=1e-9)


# --- real tables ------------------------------------------------------------------------------


def assert_sound(model):
    assert (np.diff(model.objective_) <= 1e-9 * model.objective_[0]).all()
    assert model.embedding_.min() >= 0
    U = model.embedding_
    assert model.orthogonality_ == pytest.approx(np.linalg.norm(U.T @ U - np.eye(U.shape[1])))
    assert model.orthogonality_ < 0.2
    np.testing.assert_array_equal(model.labels_, U.argmax(axis=1))


@pytest.mark.slow
@pytest.mark.parametrize("coding", ["l1", "ridge"])
def test_digits_are_learned(coding):
    X = load_digits().data[:600] / 16
    model = JDLUFS(n_clusters=10, n_atoms=60, coding=coding, random_state=0, max_iter=6, tol=0)
    assert_sound(model.fit(X))
    assert len(np.unique(model.labels_)) == 10


@pytest.mark.slow
@pytest.mark.parametrize("name", ["warpPIE10P", "Isolet"])
def test_large_real_tables_are_learned(benchmark_set, name):
    X, _ = benchmark_set(name)
    assert_sound(JDLUFS(n_clusters=10, random_state=0, max_iter=4, tol=0).fit(scaled(X)))


@pytest.mark.slow
def test_sparse_and_dense_real_tables_have_the_same_scores(benchmark_set):
    X, _ = benchmark_set("MouseBladder_sc")
    X = X[:200]
    X = X[:, np.sort(np.argsort(-np.diff(X.tocsc().indptr), kind="stable")[:400])]
    X = X / X.max()
    settings = {"random_state": 0, "max_iter": 5, "tol": 0}
    sparse, dense = JDLUFS(**settings).fit(X), JDLUFS(**settings).fit(X.toarray())
    # Sums are taken in another order, and a last digit of the table alone moves the scores by 3e-8.
    np.testing.assert_allclose(sparse.scores_, dense.scores_, atol=1e-6 * dense.scores_.max())


def test_a_wide_table_needs_no_square_of_its_features():
    X = np.random.default_rng(0).random((40, 6000))
    _, peak = with_peak_memory(JDLUFS(random_state=0, max_iter=2, tol=0).fit, X)
    assert peak < 12 * X.nbytes  # 6000 × 6000 numbers would be 150 times


@pytest.mark.slow
def test_many_samples_need_no_square_of_them():
    X = np.random.default_rng(0).random((3000, 10))
    settings = {"n_atoms": 20, "max_iter": 2, "tol": 0, "random_state": 0}
    _, peak = with_peak_memory(JDLUFS(**settings).fit, X)
    assert peak < 60 * X.nbytes  # 3000 × 3000 numbers would be 300 times


# --- what the poster's λ does -----------------------------------------------------------------


@pytest.mark.slow
def test_an_orthogonality_of_a_million_stays_near_a_regression_of_the_first_labels():
    # Algorithm 1 sets λ = 10⁶. UᵀU = I then holds, and U still moves along it, a little.
    X = scaled(load_digits().data[:300])
    X = X[:, X.std(axis=0) > 0]
    labels = pseudo_labels(X, neighbor_graph(X, 5), 5, "spectral", 0)
    Y = indicator(labels).toarray()
    Y = Y / np.linalg.norm(Y, axis=0)
    labelled = l21_regression(TableOperator.centred(X), Y - Y.mean(axis=0), 1.0)
    near = nearness(X - X.mean(axis=0), Y - Y.mean(axis=0), labelled.solution, 1.0)
    expected = scores_with_order_of_entry(row_norms(labelled.solution), near)
    frozen = {"orthogonality": 1e6, "random_state": 0, "max_iter": 20, "tol": 0}
    for settings in (
        {},
        {"n_atoms": 5},
        {"coding": "ridge", "beta": 10.0},
        {"gamma": 0.1},
    ):
        model = JDLUFS(**frozen, **settings).fit(X)
        assert model.orthogonality_ < 1e-3
        assert (model.labels_ != labels).mean() < 0.1
        assert spearmanr(model.scores_, expected).statistic > 0.85
    free = JDLUFS(random_state=0, max_iter=15, tol=0, orthogonality=1.0).fit(X)
    assert (free.labels_ != labels).mean() > 0.1


@pytest.mark.slow
@pytest.mark.parametrize("init", ["spectral", "kmeans"])
def test_clear_clusters_are_found_with_their_features(init):
    X, y = make_blobs(120, 4, centers=4, cluster_std=0.4, random_state=0)
    X = np.hstack([scaled(X), np.random.default_rng(0).random((120, 12)) / 3])
    model = JDLUFS(4, n_clusters=4, init=init, random_state=0).fit(X)
    assert set(np.flatnonzero(model.get_support())) == {0, 1, 2, 3}
    together = model.labels_[:, None] == model.labels_
    np.testing.assert_array_equal(together, y[:, None] == y)


# --- parameters -------------------------------------------------------------------------------


def test_the_dictionary_has_a_fifth_of_the_samples_and_an_atom_a_cluster():
    X = table(60, 15)
    assert JDLUFS(random_state=0, max_iter=1, tol=0).fit(X).dictionary_.shape == (15, 12)
    few = JDLUFS(n_clusters=7, random_state=0, max_iter=1, tol=0).fit(X[:20])
    assert few.dictionary_.shape == (15, 7)
    assert few.codes_.shape == (7, 20)
    assert few.label_dictionary_.shape == (7, 7)
    many = JDLUFS(n_atoms=3, random_state=0, max_iter=1, tol=0).fit(np.tile(X, (20, 1)))
    assert many.dictionary_.shape == (15, 3)


def test_more_atoms_than_samples_are_refused():
    with pytest.raises(ValueError, match="n_atoms=61 is too large for n_samples=60; use at most"):
        JDLUFS(n_atoms=61).fit(table(60, 15))


def test_fewer_distinct_samples_than_atoms_give_fewer_atoms():
    X = np.repeat(table(8, 10), 10, axis=0)
    model = JDLUFS(n_clusters=3, random_state=0, max_iter=3, tol=0).fit(X)
    assert model.dictionary_.shape == (10, 8)
    assert np.isfinite(model.scores_).all()


def test_a_large_delta_empties_w_but_keeps_an_order():
    X = table(60, 15)
    model = JDLUFS(n_clusters=3, delta=1e3, random_state=0).fit(X)
    assert model.scores_.max() < 1e-6
    assert len(np.unique(model.scores_)) == 15
    centred = X - X.mean(axis=0)
    strength = row_norms(centred.T @ (model.embedding_ - model.embedding_.mean(axis=0)))
    assert spearmanr(model.scores_, strength).statistic > 0.99


def test_the_regression_does_not_feel_an_offset_but_the_dictionary_does():
    X = table(60, 15)
    frozen = {"orthogonality": 1e6, "n_clusters": 3, "random_state": 0, "max_iter": 10, "tol": 0}
    plain, moved = JDLUFS(**frozen).fit(X), JDLUFS(**frozen).fit(X + 3)
    np.testing.assert_allclose(moved.scores_, plain.scores_, atol=5e-2 * plain.scores_.max())
    assert moved.objective_[-1] > 1.1 * plain.objective_[-1]


def test_too_few_iterations_warn_and_zero_tolerance_does_not():
    X = table(60, 15)
    with pytest.warns(UserWarning, match="did not converge in max_iter=2"):
        JDLUFS(max_iter=2, tol=1e-9).fit(X)
    assert JDLUFS(max_iter=2, tol=0).fit(X).n_iter_ == 2


def test_a_table_of_constants_is_ranked_by_position():
    model = JDLUFS().fit(np.ones((10, 4)))
    assert model.ranking_.tolist() == [1, 2, 3, 4]
    assert model.n_iter_ == 0
    assert model.embedding_.shape == (10, 5)


# --- first labels -----------------------------------------------------------------------------


def test_labels_become_a_positive_factor_with_unit_columns():
    U = labels_as_factor(np.array([0, 1, 1, 0, 1]), 3)
    assert U.min() > 0
    np.testing.assert_allclose(np.linalg.norm(U, axis=0), 1)
    np.testing.assert_array_equal(U[:, :2].argmax(axis=1), [0, 1, 1, 0, 1])
    np.testing.assert_allclose(U[:, 2], 1 / np.sqrt(5))
