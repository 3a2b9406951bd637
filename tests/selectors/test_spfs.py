"""SPFS: every step against least squares on the n² entries of the kernel."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from references.scores import gaussian_kernel, similarity_misfit, similarity_search
from references.tables import planted_groups
from references.tables import three_levels as table
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from tamis import SPFS

FORMS = [np.asarray, sp.csr_array]
SHAPES = {"more samples": (40, 12), "more features": (12, 25)}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("bandwidth", [None, 1.5])
def test_columns_are_taken_in_the_order_of_the_definition(bandwidth, shape, form):
    X = table(*shape)
    K = gaussian_kernel(X, bandwidth)
    model = SPFS(6, bandwidth=bandwidth).fit(form(X))
    expected = similarity_search(K, X, 6)
    assert model.order_.tolist() == expected
    assert np.argsort(model.ranking_)[:6].tolist() == expected
    for k, cosine in enumerate(model.alignment_, start=1):
        misfit = similarity_misfit(K, X, expected[:k]) / np.linalg.norm(K) ** 2
        assert 1 - cosine**2 == pytest.approx(misfit)


@pytest.mark.parametrize("form", FORMS)
def test_the_others_are_ranked_by_what_they_would_bring(form):
    X = table(40, 12)
    model = SPFS(4).fit(form(X))
    K = gaussian_kernel(X)
    others = np.argsort(model.ranking_)[4:]
    misfits = [similarity_misfit(K, X, [*model.order_, j]) for j in others]
    assert (np.diff(misfits) > -1e-9).all()


def test_the_search_starts_with_the_columns_to_keep():
    X = table(40, 12)
    model = SPFS(6, keep=[3, 9]).fit(X)
    assert model.order_.tolist() == similarity_search(gaussian_kernel(X), X, 6, include=[3, 9])
    free = SPFS(6).fit(X)
    assert model.alignment_[-1] < free.alignment_[-1]


def test_a_column_that_repeats_others_comes_late():
    X, _ = planted_groups()
    X = scale(X)
    model = SPFS(6).fit(np.hstack([X, X[:, :1], X[:, :1]]))
    assert len({0, 26, 27} & set(model.order_[:4].tolist())) == 1


def test_one_column_of_each_planted_group_comes_before_all_others():
    X, _ = planted_groups()
    order = SPFS(6).fit(scale(X)).order_
    assert sorted(order[:3] // 2) == [0, 1, 2]


def test_the_search_is_nested():
    X = scale(load_wine().data)
    few, many = SPFS(3).fit(X), SPFS(9).fit(X)
    assert few.order_.tolist() == many.order_[:3].tolist()
    np.testing.assert_allclose(few.alignment_, many.alignment_[:3])


@pytest.mark.parametrize("factor", [1e-20, 1e90])
def test_the_unit_plays_no_part(factor):
    X = table(40, 12)
    plain, scaled = SPFS(bandwidth=2.0).fit(X), SPFS(bandwidth=2.0 * factor).fit(factor * X)
    np.testing.assert_allclose(scaled.scores_, plain.scores_)
    np.testing.assert_allclose(SPFS().fit(factor * X).scores_, SPFS().fit(X).scores_)


def test_a_real_table_with_few_samples(benchmark_set):
    X, _ = benchmark_set("lung_small")
    X = scale(X)
    model = SPFS(10).fit(X)
    misfit = similarity_misfit(gaussian_kernel(X), X, model.order_)
    drawn = np.random.default_rng(0)
    subsets = [drawn.choice(X.shape[1], 10, replace=False) for _ in range(20)]
    assert misfit < min(similarity_misfit(gaussian_kernel(X), X, some) for some in subsets)
