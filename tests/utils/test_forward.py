"""Scores of a search that has stopped."""

from __future__ import annotations

import numpy as np

from tamis.utils.forward import forward_scores


def test_those_taken_come_first_in_their_order_and_the_others_by_what_they_offer():
    scores = forward_scores(np.array([3, 0]), np.array([9.0, 0.5, 2.0, 9.0, 1.0]))
    assert np.argsort(-scores).tolist() == [3, 0, 2, 4, 1]
    np.testing.assert_allclose(scores, [0.8, 0.15, 0.6, 1.0, 0.3])


def test_where_nothing_is_left_to_offer_the_others_are_equal():
    scores = forward_scores(np.array([1]), np.zeros(3))
    assert scores.tolist() == [0.0, 1.0, 0.0]
