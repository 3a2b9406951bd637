"""How good a selection is without labels: what it keeps of the table, and how much it repeats."""

from __future__ import annotations

import numpy as np

from tamis._typing import IntArray, Matrix
from tamis.inspection import subset_loss
from tamis.metrics import redundancy

__all__ = ["label_free_scores"]


def label_free_scores(
    X: Matrix, columns: IntArray, n_kept: int, seed: int
) -> dict[str, list[float]]:
    """Every measure of some columns that needs no labels, one value each.

    Parameters
    ----------
    X : matrix of shape (n_samples, n_features)
    columns : ndarray of int
        The selected columns.
    n_kept : int
        How many columns the compared selections have: they are measured on the same rows.
    seed : int

    Returns
    -------
    dict of str to list of float
        "redundancy", "variance", "noise", "reconstruction" and "neighbors"; see
        :class:`tamis.inspection.Loss`.
    """
    loss = subset_loss(X, columns, n_kept, seed)
    return {
        "redundancy": [redundancy(X[:, np.sort(columns)])],
        "variance": [loss.variance.selected],
        "noise": [loss.noise],
        "reconstruction": [loss.reconstruction.selected],
        "neighbors": [loss.neighbors.selected],
    }
