"""How many columns: the fewest that show the groups."""

from __future__ import annotations

import numpy as np
import pytest
from references.tables import planted_groups

from tamis.auto._candidates import standardised_columns
from tamis.auto._count import ENOUGH, count_curve, numbers_to_try
from tamis.auto._scales import scaled_table
from tamis.auto._shape import Shape, shape_of
from tamis.clustering import kmeans
from tamis.metrics import normalized_mutual_information
from tamis.utils.ties import content_ranks


def shape(X):
    return shape_of(scaled_table(X, "standard"), None, np.argsort(content_ranks(X)))


def curve_of(X, best_first, shape):
    order = np.argsort(content_ranks(X))
    return count_curve(X, np.asarray(best_first), shape, order, np.random.RandomState(0))


@pytest.mark.parametrize("most", [1, 2, 5, 20, 400])
def test_numbers_from_one_to_all_are_tried(most):
    counts = numbers_to_try(most)
    assert counts[0] == 1
    assert counts[-1] == most
    assert (np.diff(counts) > 0).all()
    assert len(counts) <= 16


def test_the_smallest_number_is_chosen_that_is_nearly_as_good_as_the_best():
    X, _ = planted_groups()
    found = shape(X)
    curve = curve_of(X, [0, 2, 4, *range(6, 20)], found)
    gain = curve.agreement - curve.chance.mean()
    enough = gain >= ENOUGH * gain.max()
    assert curve.chosen == curve.counts[enough][0]
    assert curve.chosen == 2, "two columns tell three groups apart"
    for count, agreement in zip(curve.counts, curve.agreement, strict=True):
        columns = standardised_columns(X, np.array([0, 2, 4, *range(6, 20)]))[:, :count]
        labels = found.partitions[5]
        clusters = kmeans(columns, labels.max() + 1, start=labels).labels
        expected = normalized_mutual_information(labels, clusters)
        np.testing.assert_allclose(agreement, expected)


def test_noise_before_the_good_columns_is_counted_in():
    X, _ = planted_groups()
    noise_first = [6, 7, 8, 0, 2, 4]
    assert curve_of(X, noise_first, shape(X)).chosen >= 5


def test_chance_rises_with_the_number_of_columns_and_is_taken_away():
    X, _ = planted_groups(n_noise=60)
    curve = curve_of(X, np.arange(66), shape(X))
    assert curve.chance[-1] > curve.chance[0] + 0.1
    assert (curve.agreement > curve.chance).all()


@pytest.mark.parametrize("n_groups", [1, 90])
def test_no_number_is_chosen_where_there_is_nothing_to_show(n_groups):
    """One group, and a group per sample, are shown by any columns."""
    X, _ = planted_groups()
    labels = np.arange(90) % n_groups
    assert curve_of(X, np.arange(6), Shape(shape(X).graph, labels)).chosen is None
