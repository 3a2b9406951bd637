"""How many columns: near a tenth, as many as show the groups of the table best."""

from __future__ import annotations

import numpy as np
import pytest
from references.tables import planted_groups

from tamis.auto import _count
from tamis.auto._count import RELUCTANCE, count_curve, numbers_to_try
from tamis.auto._scales import scaled_table
from tamis.auto._shape import Shape, shape_of
from tamis.utils.ties import content_ranks

# The columns of the planted table that tell its three groups apart, and all others.
GOOD, NOISE = [0, 2, 4], [*range(6, 20)]


def shape(X):
    return shape_of(scaled_table(X, "standard"), None, np.argsort(content_ranks(X)))


def curve_of(X, best_first, shape, n_usual=3):
    order = np.argsort(content_ranks(X))
    random = np.random.RandomState(0)
    return count_curve(X, np.asarray(best_first), shape, n_usual, order, random)


@pytest.mark.parametrize("most", [1, 2, 5, 20, 400])
def test_numbers_from_one_to_all_are_tried(most):
    counts = numbers_to_try(most)
    assert counts[0] == 1
    assert counts[-1] == most
    assert (np.diff(counts) > 0).all()
    assert len(counts) <= 16


@pytest.mark.parametrize("n_usual", [2, 4, 7])
def test_the_number_shows_most_not_far_from_the_usual_one(n_usual):
    X, _ = planted_groups()
    curve = curve_of(X, GOOD + NOISE, shape(X), n_usual)
    gain = curve.agreement - curve.chance.mean()
    merit = gain / gain.max() - RELUCTANCE * np.log(curve.counts / n_usual) ** 2
    assert curve.chosen == curve.counts[merit.argmax()]
    assert n_usual in curve.counts


def test_where_all_numbers_show_the_same_it_is_the_usual_one():
    X, y = planted_groups()
    rng = np.random.default_rng(0)
    clear = 9.0 * y[:, None] + rng.normal(scale=0.1, size=(len(y), 30))
    known = Shape(shape(X).graph, y)
    for n_usual in (1, 4, 17):
        curve = curve_of(clear, np.arange(30), known, n_usual)
        np.testing.assert_allclose(curve.agreement, curve.agreement[0])
        assert curve.chosen == n_usual


def test_noise_before_the_good_columns_is_counted_in():
    X, _ = planted_groups()
    noise_first = [6, 7, 8, 0, 2, 4]
    assert curve_of(X, noise_first, shape(X)).chosen >= 5


def test_noise_behind_the_good_columns_is_left_out():
    X, _ = planted_groups(n_noise=60)
    curve = curve_of(X, [*GOOD, *range(6, 66)], shape(X), n_usual=20)
    assert curve.agreement[-1] < 0.9 * curve.agreement.max()
    assert curve.chosen < 20


def test_shuffled_columns_show_little_whatever_their_number():
    X, _ = planted_groups(n_noise=60)
    curve = curve_of(X, np.arange(66), shape(X))
    assert curve.chance.max() < 0.15
    assert curve.agreement.max() > 0.5


def test_copies_are_not_counted():
    X, _ = planted_groups()
    best = X[:, GOOD]
    copied = np.hstack([best, -3 * best, best + 1])
    curve = curve_of(copied, np.arange(9), shape(X), n_usual=9)
    np.testing.assert_array_equal(curve.counts, [1, 2, 3])
    assert curve.chosen <= 3


def test_of_many_samples_some_are_clustered_evenly(monkeypatch):
    X, _ = planted_groups()
    whole = curve_of(X, GOOD, shape(X))
    monkeypatch.setattr(_count, "MOST_ROWS", 45)
    half = curve_of(X, GOOD, shape(X))
    assert not np.array_equal(half.chance, whole.chance)
    np.testing.assert_allclose(half.agreement, whole.agreement, atol=0.3)
    order = np.arange(90)[::-1]
    drawn = _count._evenly(order, 45)
    assert len(set(drawn)) == 45
    assert drawn[0] == 89
    assert drawn[-1] == 0


@pytest.mark.parametrize("n_groups", [1, 90])
def test_no_number_is_chosen_where_there_is_nothing_to_show(n_groups):
    """One group, and a group per sample, are shown by any columns."""
    X, _ = planted_groups()
    labels = np.arange(90) % n_groups
    assert curve_of(X, np.arange(6), Shape(shape(X).graph, labels)).chosen is None
