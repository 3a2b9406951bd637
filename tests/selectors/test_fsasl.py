"""FSASL: the paper's objective, and blocks that descend on it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from references.spectral import fsasl_objective
from references.tables import planted_groups
from references.tables import three_levels as table
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from tamis import FSASL
from tamis.graphs import WEIGHT_SMOOTHING, CandidateEdges, nearest_neighbors, neighbor_graph
from tamis.selectors.fsasl import AdaptiveStructure

FORMS = [np.asarray, sp.csr_array]
SHAPES = {"more samples": (40, 12), "more features": (20, 40)}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("beta", [0.0, 1.0])
def test_the_objective_is_that_of_the_definition_and_never_rises(beta, shape, form):
    X = table(*shape)
    settings = FSASL(n_components=3, beta=beta, gamma=0.3)
    edges = CandidateEdges(nearest_neighbors(X, 12), len(X))
    model = AdaptiveStructure(settings, form(X), edges)
    centred = X - X.mean(axis=0)
    centred *= np.sqrt(shape[1]) / np.linalg.norm(centred)
    path = []
    for _ in range(5):
        model.update()
        path.append(model.objective())
        S, P = edges.directed(model.S).toarray(), edges.directed(model.P).toarray()
        np.testing.assert_allclose(S.sum(axis=1), 1)
        np.testing.assert_allclose(P.sum(axis=1), 1)
        assert P.min() >= 0
        expected = fsasl_objective(
            centred,
            model.W,
            S,
            P,
            model.alpha,
            beta,
            model.mu,
            0.3,
            0.1 + 0.2 * beta,
            WEIGHT_SMOOTHING,
            1e-9,
        )
        assert path[-1] == pytest.approx(expected, rel=1e-4)
        T = centred.T @ centred + 0.1 * np.eye(shape[1])
        np.testing.assert_allclose(model.W.T @ T @ model.W, np.eye(3), atol=1e-7)
    assert (np.diff(path) <= 1e-9 * abs(path[0])).all()
    assert path[-1] < path[0]


def test_the_columns_of_planted_groups_come_first():
    X, _ = planted_groups()
    model = FSASL(6, n_components=2).fit(scale(X))
    assert model.get_support(indices=True).tolist() == [0, 1, 2, 3, 4, 5]


def test_a_larger_alpha_leaves_fewer_weights():
    X = scale(load_wine().data)
    edges = CandidateEdges(nearest_neighbors(X, 15), len(X))
    counts = []
    for alpha in (1e-3, 0.1):
        model = AdaptiveStructure(FSASL(alpha=alpha), X, edges)
        for _ in range(10):
            model.update()
        counts.append((np.abs(model.S[0]) > 1e-4).sum())
    assert counts[1] < counts[0]


@pytest.mark.slow
def test_the_unit_plays_no_part():
    X = table(40, 12)
    plain, scaled = FSASL().fit(X), FSASL().fit(1e20 * X)
    np.testing.assert_allclose(scaled.scores_, plain.scores_, atol=1e-6 * plain.scores_.max())


def test_a_large_penalty_tells_that_few_rows_are_left():
    with pytest.warns(UserWarning, match="gamma=3 leaves only . rows"):
        FSASL(8, n_components=2, gamma=3).fit(scale(load_wine().data))


def test_a_given_graph_and_too_few_iterations():
    X = table(40, 12)
    with pytest.warns(UserWarning, match="did not converge in max_iter=1"):
        FSASL(max_iter=1, affinity=neighbor_graph(X, 4)).fit(X)


@pytest.mark.slow
def test_a_real_table_with_few_samples(benchmark_set):
    X, _ = benchmark_set("lung_small")
    model = FSASL(30).fit(scale(X))
    assert (np.diff(model.objective_) <= 1e-9 * model.objective_[0]).all()
