"""Scores of a forward search that has stopped."""

from __future__ import annotations

import numpy as np

from tamis._typing import FloatArray, IntArray


def forward_scores(order: IntArray, following: FloatArray) -> FloatArray:
    """A number per feature that puts them in the order of a search, larger first.

    Parameters
    ----------
    order : ndarray of shape (n_chosen,)
        The features that were taken, the first first: they get 1, 1 − 1/d, 1 − 2/d …
    following : ndarray of shape (n_features,)
        What is better the larger, not negative: the others get their share of the largest, scaled
        to lie below.
    """
    n_features = len(following)
    left = np.ones(n_features, dtype=bool)
    left[order] = False
    largest = following[left].max(initial=0.0)
    share = following / largest if largest > 0 else np.zeros(n_features)
    scores = share * (1 - len(order) / n_features)
    scores[order] = 1 - np.arange(len(order)) / n_features
    return scores
