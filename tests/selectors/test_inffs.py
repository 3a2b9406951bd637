"""Infinite feature selection against the inverse of its paper."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from references.scores import infinite_scores
from references.tables import planted_groups
from references.tables import three_levels as table
from scipy.stats import spearmanr
from sklearn.datasets import load_wine
from sklearn.preprocessing import minmax_scale, scale

from tamis import InfFS
from tamis.selectors import inffs
from tamis.solvers import rank_correlation

FORMS = [np.asarray, sp.csr_array]
SHAPES = {"more samples": (60, 12), "more features": (12, 30)}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize(("alpha", "factor"), [(0.5, 0.9), (0.0, 0.5), (1.0, 0.99)])
def test_random_tables_have_the_scores_of_the_inverse(alpha, factor, shape, form):
    X = table(*shape)
    model = InfFS(alpha=alpha, factor=factor).fit(form(X))
    expected, radius = infinite_scores(X, alpha, factor)
    np.testing.assert_allclose(model.scores_, expected, rtol=1e-8)
    assert model.radius_ == pytest.approx(radius)


@pytest.mark.parametrize("form", FORMS)
def test_blocks_of_a_wide_table_give_the_same(monkeypatch, form):
    X = table(40, 30)
    expected = InfFS().fit(X).scores_
    monkeypatch.setattr(rank_correlation, "SIDE_MAX", 0)
    monkeypatch.setattr(rank_correlation, "BLOCK_SIZE", 7 * 40)
    np.testing.assert_allclose(InfFS().fit(form(X)).scores_, expected, rtol=1e-9)


def test_it_is_the_sum_over_all_paths():
    X = minmax_scale(load_wine().data)
    model = InfFS(factor=0.5).fit(X)
    graph = inffs.FeatureGraph(
        rank_correlation.RankCorrelation(X), X.std(axis=0) / X.std(axis=0).max(), 0.5
    )
    A = graph.times(np.eye(13))
    np.testing.assert_allclose(A, A.T, atol=1e-12)
    power, total = np.ones(13), np.zeros(13)
    for _ in range(60):
        power = 0.5 / model.radius_ * (A @ power)
        total += power
    np.testing.assert_allclose(model.scores_, total, rtol=1e-12)


def test_noise_comes_first_where_columns_vary_alike():
    X, _ = planted_groups()
    ranking = InfFS().fit(scale(X)).ranking_
    assert ranking[:6].min() > 20  # what the page says


def test_columns_that_vary_alike_are_told_apart_by_correlation_alone():
    X = scale(load_wine().data)
    first, *others = (InfFS(alpha=alpha).fit(X).scores_ for alpha in (0.0, 0.5, 0.9))
    for scores in others:
        assert spearmanr(scores, first).statistic > 0.95


@pytest.mark.filterwarnings("ignore:.*the same score")
def test_copies_of_one_column_have_no_path_without_variation():
    X = np.repeat(table(30, 1), 4, axis=1)
    np.testing.assert_allclose(InfFS(alpha=0.0).fit(X).scores_, 0)


@pytest.mark.parametrize("factor", [1e-20, 1e20])
def test_the_unit_plays_no_part(factor):
    X = table(60, 12)
    np.testing.assert_allclose(InfFS().fit(factor * X).scores_, InfFS().fit(X).scores_, rtol=1e-9)


def test_on_a_real_table_the_score_is_the_mean_edge_but_for_little(benchmark_set):
    X = minmax_scale(benchmark_set("lung_small")[0])
    model = InfFS().fit(X)
    sigma = X.std(axis=0) / X.std(axis=0).max()
    graph = inffs.FeatureGraph(rank_correlation.RankCorrelation(X), sigma, 0.5)
    edges = graph.times(np.ones((X.shape[1], 1)))[:, 0]
    assert spearmanr(model.scores_, edges).statistic > 0.99
