"""DGUFS: the two dependences by n × n kernels, and steps that are the best of their block."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from references.spectral import dgufs_dependence, dgufs_objective
from references.tables import planted_groups
from references.tables import three_levels as table
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from tamis import DGUFS
from tamis.graphs import neighbor_graph, spectral_embedding
from tamis.selectors.dgufs import Dependence
from tamis.utils.columns import centred_unit_columns

FORMS = [np.asarray, sp.csr_array]
SHAPES = {"more samples": (40, 12), "more features": (20, 40)}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("beta", [0.0, 0.5, 1.0])
def test_scores_and_objective_are_those_of_the_definition(beta, shape, form):
    X = table(*shape)
    model = DGUFS(5, n_clusters=3, beta=beta).fit(form(X))
    values, Y = spectral_embedding(neighbor_graph(X, 5), 3)
    E = centred_unit_columns(Y) * np.sqrt(1 - values)
    np.testing.assert_allclose(model.embedding_, E, atol=1e-8)
    expected = dgufs_dependence(X, model.labels_)
    largest = (np.var(X, axis=0) * len(X)).max()
    np.testing.assert_allclose(model.scores_, expected / largest, rtol=1e-8, atol=1e-12)
    chosen = model.get_support(indices=True)
    last = dgufs_objective(X, E @ E.T, model.labels_, chosen, beta)
    assert model.objective_[-1] == pytest.approx(last)
    assert (np.diff(model.objective_) <= 1e-12).all()


def test_the_columns_are_the_best_of_all_subsets_for_their_labels():
    X = scale(load_wine().data)
    model = DGUFS(3, n_clusters=3).fit(X)
    dependence = dgufs_dependence(X, model.labels_)
    best = max(combinations(range(13), 3), key=lambda subset: dependence[list(subset)].sum())
    assert best == tuple(model.get_support(indices=True))
    S = model.embedding_ @ model.embedding_.T
    value = dgufs_objective(X, S, model.labels_, list(best), 0.5)
    assert value == pytest.approx(model.objective_[-1])


def test_labels_move_only_where_the_dependence_rises():
    X = scale(load_wine().data)
    E = DGUFS(3, n_clusters=3).fit(X).embedding_
    problem = Dependence(X, E, 0.5, 4, np.zeros(13, dtype=bool))
    labels = np.random.default_rng(0).integers(0, 3, len(X))
    chosen = problem.best_columns(labels)
    before = dgufs_objective(X, E @ E.T, labels, chosen, 0.5)
    better = problem.better_labels(labels, chosen)
    assert dgufs_objective(X, E @ E.T, better, chosen, 0.5) < before
    again = problem.better_labels(better, chosen)
    np.testing.assert_array_equal(again, better)


def test_the_number_of_columns_is_part_of_the_objective():
    X = scale(load_wine().data)
    model = DGUFS(3).fit(X).set_params(n_features_to_select=4)
    with pytest.raises(ValueError, match="the number is part of its objective; call fit again"):
        model.get_support()


def test_kept_columns_take_part_in_the_labels():
    X, _ = planted_groups()
    free, kept = DGUFS(7, n_clusters=3), DGUFS(7, n_clusters=3, keep=[20])
    assert kept.fit(scale(X)).get_support(indices=True).tolist() == [0, 1, 2, 3, 4, 5, 20]
    assert kept.objective_[-1] > free.fit(scale(X)).objective_[-1]


def test_planted_groups_are_found_with_their_columns():
    X, groups = planted_groups()
    model = DGUFS(6, n_clusters=3).fit(scale(X))
    assert model.get_support(indices=True).tolist() == [0, 1, 2, 3, 4, 5]
    assert len(set(zip(model.labels_.tolist(), groups.tolist(), strict=True))) == 3


@pytest.mark.parametrize("factor", [1e-20, 1e90])
def test_the_unit_plays_no_part(factor):
    X = table(40, 12)
    np.testing.assert_allclose(DGUFS().fit(factor * X).scores_, DGUFS().fit(X).scores_)


def test_too_few_iterations_are_told():
    X = table(60, 30)
    with pytest.warns(UserWarning, match="did not converge in max_iter=1"):
        DGUFS(3, beta=0.0, max_iter=1).fit(X)


def test_a_real_table_with_few_samples(benchmark_set):
    X, y = benchmark_set("lung_small")
    model = DGUFS(30, n_clusters=7).fit(scale(X))
    assert (np.diff(model.objective_) <= 1e-12).all()
    within = [np.bincount(y[model.labels_ == k]).max() for k in np.unique(model.labels_)]
    assert sum(within) > 0.6 * len(y)
