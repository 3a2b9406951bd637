"""SOGFS: the paper's objective, blocks that are each at their optimum, and separate groups."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp
from references.spectral import sogfs_objective
from references.tables import planted_groups
from references.tables import three_levels as table
from scipy.sparse.csgraph import connected_components
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from tamis import SOGFS
from tamis.graphs import CandidateEdges, nearest_neighbors, neighbor_graph
from tamis.selectors.sogfs import StructuredGraph

FORMS = [np.asarray, sp.csr_array]
SHAPES = {"more samples": (40, 12), "more features": (20, 40)}


def model_of(X, dense, **parameters):
    settings = SOGFS(n_clusters=3, **parameters)
    edges = CandidateEdges(nearest_neighbors(dense, 12), len(dense))
    return StructuredGraph(settings, X, edges)


def directed(model):
    """S, dense."""
    ((centres, indices),) = model.edges.sets
    S = np.zeros((len(centres), len(centres)))
    np.put_along_axis(S, indices, model.weights[0], axis=1)
    return S


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("gamma", [0.01, 0.3])
def test_the_objective_is_that_of_the_definition_and_never_rises(gamma, shape, form):
    X = table(*shape)
    model = model_of(form(X), X, gamma=gamma)
    path = []
    for _ in range(5):
        model.update()
        path.append(model.objective())
        S = directed(model)
        np.testing.assert_allclose(S.sum(axis=1), 1)
        expected = sogfs_objective(
            X, S, model.W, model.F, model.alpha, model.penalty, model.structure
        )
        assert path[-1] == pytest.approx(expected, rel=1e-9)
        np.testing.assert_allclose(model.W.T @ model.W, np.eye(3), atol=1e-8)
        np.testing.assert_allclose(model.F.T @ model.F, np.eye(model.F.shape[1]), atol=1e-8)
    assert (np.diff(path) <= 1e-9 * abs(path[0])).all()


def test_the_weights_of_a_sample_are_the_best_for_its_costs():
    X = table(20, 6)
    model = model_of(X, X)
    near, apart = (model.edges.squared_distances(Y)[0] for Y in (X @ model.W, model.F))
    cost = near + model.structure * apart
    model.update()
    for i in range(3):
        found = model.edges.weights([cost], model.alpha)[0][i]
        best = scipy.optimize.minimize(
            lambda s, c=cost[i]: c @ s + model.alpha * s @ s,
            np.full(12, 1 / 12),
            bounds=[(0, 1)] * 12,
            constraints={"type": "eq", "fun": lambda s: s.sum() - 1},
            options={"ftol": 1e-14},
        )
        assert cost[i] @ found + model.alpha * found @ found <= best.fun * (1 + 1e-7)


def test_the_columns_of_planted_groups_come_first():
    X, _ = planted_groups()
    model = SOGFS(6, n_clusters=3).fit(scale(X))
    assert model.n_graph_components_ >= 3
    assert model.get_support(indices=True).tolist() == [0, 1, 2, 3, 4, 5]


def test_the_graph_gets_as_many_components_as_asked_for():
    X = scale(load_wine().data)
    for wanted in (2, 4):
        model = SOGFS(n_clusters=wanted).fit(X)
        assert model.n_graph_components_ >= wanted
        assert connected_components(model.learned_graph_)[0] == model.n_graph_components_
        assert model.structure_ >= model.alpha_


@pytest.mark.slow
@pytest.mark.parametrize("factor", [1e20])
def test_the_unit_plays_no_part(factor):
    X = table(40, 12)
    plain, scaled = SOGFS(n_clusters=3).fit(X), SOGFS(n_clusters=3).fit(factor * X)
    np.testing.assert_allclose(scaled.scores_, plain.scores_, atol=1e-6)


def test_a_given_graph_holds_the_candidates():
    X = table(40, 12)
    graph = neighbor_graph(X, 4)
    model = SOGFS(n_clusters=3, affinity=graph).fit(X)
    outside = (model.learned_graph_.toarray() > 0) & (graph.toarray() == 0)
    assert not outside.any()


def test_a_large_penalty_tells_that_few_rows_are_left():
    with pytest.warns(UserWarning, match="gamma=100 leaves only 3 rows"):
        SOGFS(8, n_clusters=3, gamma=100).fit(scale(load_wine().data))


def test_too_few_iterations_warn():
    with pytest.warns(UserWarning, match="did not converge in max_iter=1"):
        SOGFS(max_iter=1).fit(table(40, 12))


@pytest.mark.slow
def test_a_real_table_with_few_samples(benchmark_set):
    X, _ = benchmark_set("lung_small")
    model = SOGFS(30, n_clusters=7).fit(scale(X))
    assert model.n_graph_components_ >= 7
    assert (np.diff(model.objective_) <= 1e-9 * model.objective_[0]).all()
