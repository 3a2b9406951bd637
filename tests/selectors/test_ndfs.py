"""NDFS: the paper's objective, blocks that descend, and labels that are found with the features."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from references.spectral import ndfs_objective, normalized_laplacian
from references.tables import planted_groups
from references.tables import three_levels as table
from sklearn.preprocessing import scale

from tamis import NDFS
from tamis.graphs import neighbor_graph
from tamis.graphs import normalized_laplacian as sparse_laplacian
from tamis.metrics import clustering_accuracy
from tamis.selectors._pseudo_labels import labels_as_factor, pseudo_labels
from tamis.selectors.ndfs import SpectralLabels
from tamis.solvers.nonnegative_factor import nonnegative_factor
from tamis.solvers.row_norms import row_norms, smoothing_of
from tamis.solvers.table_operator import TableOperator

FORMS = [np.asarray, sp.csr_array]
SHAPES = {"more samples": (60, 15), "more features": (25, 50)}


def first_labels(X):
    graph = neighbor_graph(X, 5)
    return graph, labels_as_factor(pseudo_labels(X, graph, 3, "spectral", 0), 3)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("weights", [(1.0, 0.1, 10.0), (0.3, 0.5, 1.0)])
def test_the_last_objective_is_that_of_the_definition(weights, shape, form):
    X = table(*shape)
    alpha, beta, orthogonality = weights
    settings = {"alpha": alpha, "beta": beta, "orthogonality": orthogonality}
    model = NDFS(n_clusters=3, max_iter=6, tol=0, **settings).fit(form(X))
    graph, first = first_labels(X)
    centred = X - X.mean(axis=0)
    target = first - first.mean(axis=0)
    assert model.penalty_ == pytest.approx(beta * 2 * row_norms(centred.T @ target).max())
    alone = centred.T @ target / (centred**2).sum(axis=0)[:, None]
    smoothing = smoothing_of(1e-16, row_norms(alone).max())
    expected = ndfs_objective(
        centred,
        normalized_laplacian(graph.toarray()),
        model.embedding_,
        model.coef_,
        model.intercept_,
        alpha,
        model.penalty_,
        orthogonality,
        smoothing,
    )
    assert model.objective_[-1] == pytest.approx(expected, rel=1e-8)
    assert (np.diff(model.objective_) <= 1e-9 * model.objective_[0]).all()
    assert model.embedding_.min() >= 0
    np.testing.assert_array_equal(model.labels_, model.embedding_.argmax(axis=1))


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("orthogonality", [0.0, 1.0, 1e4])
def test_no_block_ever_raises_the_objective(orthogonality, shape):
    X = table(*shape)
    settings = NDFS(n_clusters=3, orthogonality=orthogonality)
    settings.penalty_ = 0.5
    graph, first = first_labels(X)
    model = SpectralLabels(settings, TableOperator.centred(X), sparse_laplacian(graph), first)
    values = [model.objective()]
    for _ in range(5):
        model.F = nonnegative_factor(model.labels_problem(), model.F).solution
        values.append(model.objective())
        model.update_coef(1)
        values.append(model.objective())
    assert (np.diff(values) <= 1e-9 * abs(values[0])).all()
    assert values[-1] < values[0]


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_at_the_end_no_block_can_move(shape):
    X = table(*shape)
    model = NDFS(n_clusters=3, tol=1e-9, max_iter=3000, beta=0.3).fit(X)
    centred = X - X.mean(axis=0)
    F, W, b = model.embedding_, model.coef_, model.intercept_
    np.testing.assert_allclose(b, F.mean(axis=0), rtol=1e-8)
    pull = 2 * centred.T @ (F - b - centred @ W)
    norms = row_norms(W)
    support = norms > 1e-4 * norms.max()
    slope = pull[support] - model.penalty_ * W[support] / norms[support, None]
    assert row_norms(slope).max() < 0.02 * model.penalty_
    assert row_norms(pull[~support]).max(initial=0) < 1.02 * model.penalty_
    L = normalized_laplacian(first_labels(X)[0].toarray())
    slope = 2 * L @ F + 2 * (F - centred @ W - b) + 40 * F @ (F.T @ F - np.eye(3))
    assert np.abs(slope[F > 1e-6]).max() < 0.02
    assert slope[F <= 1e-6].min() > -0.02


@pytest.mark.parametrize("init", ["spectral", "kmeans"])
def test_planted_groups_are_found_with_their_columns(init):
    X, groups = planted_groups()
    model = NDFS(6, n_clusters=3, init=init).fit(scale(X))
    assert model.get_support(indices=True).tolist() == [0, 1, 2, 3, 4, 5]
    assert clustering_accuracy(groups, model.labels_) == 1
    assert model.orthogonality_ < 0.2


@pytest.mark.slow
def test_a_heavy_orthogonality_freezes_the_labels():
    X = table(30, 8)
    _, first = first_labels(X)
    free = NDFS(n_clusters=3, orthogonality=1.0).fit(X)
    frozen = NDFS(n_clusters=3, orthogonality=1e8, max_iter=200).fit(X)
    assert frozen.orthogonality_ < 1e-6 < free.orthogonality_
    np.testing.assert_array_equal(frozen.labels_, first.argmax(axis=1))


@pytest.mark.slow
@pytest.mark.parametrize("factor", [1e20])
def test_the_scores_follow_the_unit(factor):
    X = table(30, 8)
    plain, scaled = NDFS(n_clusters=3).fit(X), NDFS(n_clusters=3).fit(factor * X)
    largest = plain.scores_.max()
    np.testing.assert_allclose(factor * scaled.scores_, plain.scores_, atol=1e-6 * largest)


def test_too_few_iterations_warn_and_zero_tolerance_does_not():
    X = table(60, 15)
    with pytest.warns(UserWarning, match="did not converge in max_iter=2"):
        NDFS(n_clusters=3, max_iter=2, tol=1e-12).fit(X)
    assert NDFS(n_clusters=3, max_iter=2, tol=0).fit(X).n_iter_ == 2


@pytest.mark.slow
def test_a_real_table_with_few_samples(benchmark_set):
    X, y = benchmark_set("lung_small")
    model = NDFS(30, n_clusters=7).fit(scale(X))
    assert (np.diff(model.objective_) <= 1e-9 * model.objective_[0]).all()
    assert clustering_accuracy(y, model.labels_) > 0.6
