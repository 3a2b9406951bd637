"""LLCFS: the paper's regressions, one by one, and a step that never raises what they leave."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from references.regression import local_ridges
from references.tables import planted_groups
from references.tables import three_levels as table
from sklearn.preprocessing import scale

from tamis import LLCFS
from tamis.graphs import LocalRegressions, local_sets, mean_spread, neighbor_graph
from tamis.selectors import llcfs
from tamis.selectors.llcfs import LocalClusters, component_indicators
from tamis.solvers.eigen import smallest_beside

FORMS = [np.asarray, sp.csr_array]
SHAPES = {"more samples": (40, 12), "more features": (20, 40)}


def problem(X, n_neighbors=5):
    graph = neighbor_graph(X, n_neighbors, weights="binary")
    return graph, [row.indices for row in (graph[[i]] for i in range(graph.shape[0]))]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_predictions_and_weights_are_those_of_the_regressions(shape, form):
    X = table(*shape)
    graph, neighbors = problem(X)
    model = LocalClusters(LLCFS(n_clusters=2), form(X), local_sets(graph))
    rng = np.random.default_rng(0)
    found = model.clusters(rng.dirichlet(np.ones(shape[1])))
    for _ in range(2):
        predicted, W = local_ridges(X, neighbors, found.Y, found.tau, model.ridge)
        np.testing.assert_allclose(found.regressions.predictions @ found.Y, predicted, atol=1e-7)
        assert found.objective == pytest.approx(np.linalg.norm(found.Y - predicted) ** 2, rel=1e-5)
        wanted = np.sqrt((W**2).sum(axis=(0, 2)))
        np.testing.assert_allclose(model.wanted_weights(found), wanted / wanted.sum(), atol=1e-7)
        following = model.update(found)
        assert following.objective <= found.objective
        assert following.tau.sum() == pytest.approx(1)
        found = following


def test_the_ridge_has_the_unit_of_the_neighbourhoods():
    X = table(40, 12)
    graph, neighbors = problem(X)
    spreads = [np.sum((X[some] - X[some].mean(axis=0)) ** 2) for some in neighbors]
    expected = sum(spreads) / sum(map(len, neighbors))
    assert mean_spread(X, local_sets(graph)) == pytest.approx(expected)
    model = LocalClusters(LLCFS(ridge=3.0), X, local_sets(graph))
    assert model.ridge == pytest.approx(3 * expected / 12)


def test_the_clusters_are_the_smallest_eigenvectors_beside_constants():
    X = np.vstack([table(25, 6), 100 + table(25, 6, seed=1)])
    graph, _ = problem(X)
    model = LocalClusters(LLCFS(n_clusters=3), X, local_sets(graph))
    assert model.constants.shape[1] == 2
    found = model.start()
    remainder = np.eye(50) - found.regressions.predictions.toarray()
    constants = model.constants.toarray()
    np.testing.assert_allclose(remainder @ constants, 0, atol=1e-9)
    values = scipy.linalg.eigvalsh(remainder.T @ remainder)
    assert found.objective == pytest.approx(values[2:5].sum(), rel=1e-4)
    np.testing.assert_allclose(found.Y.T @ found.Y, np.eye(3), atol=1e-8)
    np.testing.assert_allclose(constants.T @ found.Y, 0, atol=1e-8)


def test_small_and_large_matrices_have_the_same_eigenvectors(monkeypatch):
    X = table(90, 6)
    graph = neighbor_graph(X, 5)
    regressions = LocalRegressions(X, local_sets(graph), 1.0)
    R = sp.csr_array(sp.eye_array(90) - regressions.predictions)
    M, constants = sp.csr_array(R.T @ R), component_indicators(local_sets(graph), 90)
    dense = smallest_beside(M, constants, 4)
    monkeypatch.setattr("tamis.solvers.eigen.DENSE_MAX", 10)
    lanczos = smallest_beside(M, constants, 4)
    assert "Lanczos" in lanczos.solver
    np.testing.assert_allclose(lanczos.values, dense.values, rtol=1e-5)
    np.testing.assert_allclose(np.abs(lanczos.solution.T @ dense.solution), np.eye(4), atol=1e-5)


def test_the_objective_never_rises_and_the_last_clusters_rank():
    X = table(40, 12)
    model = LLCFS(n_clusters=3, tol=0, max_iter=4).fit(X)
    assert (np.diff(model.objective_) <= 0).all()
    assert model.objective_[-1] < model.objective_[0]
    again = LocalClusters(LLCFS(n_clusters=3), X, local_sets(problem(X)[0]))
    found = again.start()
    for _ in range(4):
        found = again.update(found)
    np.testing.assert_allclose(model.scores_, again.wanted_weights(found), atol=1e-9)


def test_where_no_step_lowers_the_objective_the_first_clusters_rank(monkeypatch):
    monkeypatch.setattr(LocalClusters, "update", lambda self, found: None)
    model = LLCFS(n_clusters=3).fit(table(40, 12))
    assert model.n_iter_ == 1
    assert len(np.unique(model.scores_)) == 12


def test_the_columns_of_planted_groups_come_first():
    X, _ = planted_groups()
    model = LLCFS(6, n_clusters=2, n_neighbors=35, max_iter=5, tol=0).fit(scale(X))
    assert model.get_support(indices=True).tolist() == [0, 1, 2, 3, 4, 5]


def test_neighbourhoods_are_mutual_and_those_of_a_hub_are_its_nearest(monkeypatch):
    X = np.vstack([np.zeros(20), 3 * np.eye(20) + 0.01 * table(20, 20)])  # all are nearest to row 0
    near = {}
    for most in (50, 7):
        monkeypatch.setattr(llcfs, "MOST", most)
        sets = LLCFS(n_neighbors=1)._neighborhoods(X)
        near[most] = {
            int(i): set(some)
            for centres, indices in sets
            for i, some in zip(centres, indices, strict=True)
        }
    assert near[50][0] == set(range(1, 21))
    nearest = 1 + np.argsort(np.linalg.norm(X[1:], axis=1))
    assert near[7][0] == set(nearest[:7])
    assert all(near[7][i] == near[50][i] == {0} for i in range(1, 21))


def test_the_unit_plays_no_part():
    X = table(40, 12)
    plain, scaled = LLCFS().fit(X), LLCFS().fit(1e10 * X)
    np.testing.assert_allclose(scaled.scores_, plain.scores_, atol=1e-6 * plain.scores_.max())


def test_a_graph_without_edges_is_refused():
    with pytest.raises(ValueError, match="no two samples that affinity joins"):
        LLCFS(affinity=sp.eye_array(20)).fit(table(20, 6))


def test_too_few_iterations_are_told():
    with pytest.warns(UserWarning, match="did not converge in max_iter=1"):
        LLCFS(max_iter=1).fit(table(40, 12))


@pytest.mark.slow
def test_a_real_table_with_few_samples(benchmark_set):
    X, _ = benchmark_set("lung_small")
    model = LLCFS(30).fit(scale(X))
    assert (np.diff(model.objective_) <= 0).all()
