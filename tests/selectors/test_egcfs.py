"""EGCFS: the objective sample by sample, and blocks that descend on it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from references.spectral import egcfs_objective
from references.tables import planted_groups
from references.tables import three_levels as table
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from tamis import EGCFS
from tamis.graphs import CandidateEdges, nearest_neighbors, neighbor_graph
from tamis.selectors.egcfs import GraphAndClusters

FORMS = [np.asarray, sp.csr_array]
SHAPES = {"more samples": (40, 12), "more features": (20, 40)}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("beta", [0.1, 1.0])
def test_the_objective_is_that_of_the_definition_and_never_rises(beta, shape, form):
    X = table(*shape)
    settings = EGCFS(n_clusters=3, beta=beta, gamma=0.3)
    edges = CandidateEdges(nearest_neighbors(X, 12), len(X))
    model = GraphAndClusters(settings, form(X), edges)
    centred = X - X.mean(axis=0)
    centred *= np.sqrt(shape[1]) / np.linalg.norm(centred)
    T = centred.T @ centred + 0.1 * np.eye(shape[1])
    path = []
    for _ in range(5):
        model.update()
        path.append(model.objective())
        P = edges.directed(model.P).toarray()
        np.testing.assert_allclose(P.sum(axis=1), 1)
        assert P.min() >= 0
        expected = egcfs_objective(
            centred, model.W, P, model.labels, beta, model.mu, 0.3, 0.1 + 0.2 * beta, 1e-9
        )
        assert path[-1] == pytest.approx(expected, rel=1e-4)
        np.testing.assert_allclose(model.W.T @ T @ model.W, np.eye(2), atol=1e-7)
    assert (np.diff(path) <= 1e-9 * abs(path[0])).all()
    assert path[-1] < path[0]


@pytest.mark.parametrize("form", FORMS)
def test_centres_beside_the_samples_give_the_scatter_within_the_clusters(form):
    X = table(40, 12)
    edges = CandidateEdges(nearest_neighbors(X, 12), len(X))
    model = GraphAndClusters(EGCFS(n_clusters=3, beta=0.7), form(X), edges)
    below, L = model._with_centres()
    below = below.toarray() if sp.issparse(below) else below
    centred, n = below[:40] - below[:40].mean(axis=0), len(X)
    within = sum(
        np.cov(centred[model.labels == k].T, bias=True) * (model.labels == k).sum()
        for k in range(model.labels.max() + 1)
    )
    P = edges.directed(model.P).toarray()
    P = (P + P.T) / 2
    graph = 2 * 0.7 * centred.T @ (np.diag(P.sum(axis=1)) - P) @ centred
    np.testing.assert_allclose(below.T @ L @ below, within + graph, atol=1e-9)
    assert below.shape == (n + model.labels.max() + 1, 12)


def test_the_columns_of_planted_groups_come_first():
    X, groups = planted_groups()
    model = EGCFS(6, n_clusters=3).fit(scale(X))
    assert model.get_support(indices=True).tolist() == [0, 1, 2, 3, 4, 5]
    assert len(set(zip(model.labels_.tolist(), groups.tolist(), strict=True))) == 3


@pytest.mark.slow
def test_the_unit_plays_no_part():
    X = table(40, 12)
    plain, scaled = EGCFS().fit(X), EGCFS().fit(1e20 * X)
    np.testing.assert_allclose(scaled.scores_, plain.scores_, atol=1e-6 * plain.scores_.max())


def test_a_large_penalty_tells_that_few_rows_are_left():
    with pytest.warns(UserWarning, match="gamma=3 leaves only . rows"):
        EGCFS(8, n_clusters=3, gamma=3).fit(scale(load_wine().data))


def test_a_given_graph_and_too_few_iterations():
    X = table(40, 12)
    with pytest.warns(UserWarning, match="did not converge in max_iter=1"):
        EGCFS(max_iter=1, affinity=neighbor_graph(X, 4)).fit(X)


@pytest.mark.slow
def test_a_real_table_with_few_samples(benchmark_set):
    X, _ = benchmark_set("lung_small")
    model = EGCFS(30).fit(scale(X))
    assert (np.diff(model.objective_) <= 1e-9 * model.objective_[0]).all()
