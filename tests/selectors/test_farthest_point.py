"""Farthest point sampling against all distances of columns."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from references.scores import farthest_columns, principal_components
from references.tables import three_levels as table
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from tamis import FarthestPointSampling

FORMS = [np.asarray, sp.csr_array]
SHAPES = {"more samples": (40, 12), "more features": (12, 25)}


def radius(X, columns):
    """The largest distance of a column from the nearest of some, up to sign."""
    X = X - X.mean(axis=0)
    apart = [
        np.minimum(
            np.linalg.norm(X - X[:, [j]], axis=0),
            np.linalg.norm(X + X[:, [j]], axis=0),
        )
        for j in columns
    ]
    return np.min(apart, axis=0).max()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("signed", [False, True])
def test_columns_are_taken_in_the_order_of_the_definition(signed, shape, form):
    X = table(*shape)
    model = FarthestPointSampling(7, signed=signed).fit(form(X))
    first = int(np.abs(principal_components(X, 1)[1][:, 0]).argmax())
    order, distances = farthest_columns(X, first, 7, signed=signed)
    assert model.order_.tolist() == order
    np.testing.assert_allclose(model.distances_, distances, rtol=1e-9)
    assert np.argsort(model.ranking_)[:7].tolist() == order


def test_of_standardised_columns_the_next_is_the_least_correlated():
    X = scale(load_wine().data)
    model = FarthestPointSampling(5).fit(X)
    correlation = np.abs(np.corrcoef(X.T))
    for k in range(1, 5):
        nearest = correlation[:, model.order_[:k]].max(axis=1)
        assert nearest.argmin() == model.order_[k]


def test_no_choice_covers_the_columns_within_half_of_the_distance_that_is_left():
    X = table(30, 11)
    for m in (2, 3, 4):
        model = FarthestPointSampling(m).fit(X)
        best = min(radius(X, some) for some in combinations(range(11), m))
        assert best <= radius(X, model.order_) <= 2 * best
        assert model.distances_[1:].min() >= radius(X, model.order_) - 1e-12


def test_distances_never_grow():
    model = FarthestPointSampling(13).fit(scale(load_wine().data))
    assert (np.diff(model.distances_[1:]) <= 1e-12).all()


def test_a_column_and_its_negative_are_one_point_unless_signed():
    X = scale(load_wine().data)
    both = np.hstack([X, -X])
    order = FarthestPointSampling(13).fit(both).order_
    assert sorted(order % 13) == list(range(13))
    signed = FarthestPointSampling(13, signed=True).fit(both).order_
    assert len(set(signed % 13)) < 13


def test_the_sampling_starts_with_the_columns_to_keep():
    X = table(40, 12)
    model = FarthestPointSampling(5, keep=[4]).fit(X)
    order, distances = farthest_columns(X, 4, 5, signed=False)
    assert model.order_.tolist() == order
    np.testing.assert_allclose(model.distances_, distances)


@pytest.mark.parametrize("factor", [1e-20, 1e90])
def test_the_unit_plays_no_part(factor):
    X = table(40, 12)
    plain, scaled = FarthestPointSampling().fit(X), FarthestPointSampling().fit(factor * X)
    np.testing.assert_array_equal(scaled.ranking_, plain.ranking_)
    np.testing.assert_allclose(scaled.distances_, factor * plain.distances_)


def test_a_real_table_with_few_samples(benchmark_set):
    X, _ = benchmark_set("lung_small")
    X = scale(X)
    model = FarthestPointSampling(10).fit(X)
    drawn = np.random.default_rng(0)
    subsets = [drawn.choice(X.shape[1], 10, replace=False) for _ in range(20)]
    assert radius(X, model.order_) < np.mean([radius(X, some) for some in subsets])
