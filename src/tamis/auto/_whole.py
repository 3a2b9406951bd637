"""The groups of all samples, where they were found on some of them."""

from __future__ import annotations

import numpy as np

from tamis._typing import FloatArray, IntArray, Matrix
from tamis.graphs import Landmarks
from tamis.utils.blocks import row_blocks
from tamis.utils.sparse import is_sparse


def groups_of_all(X: Matrix, factors: FloatArray, drawn: IntArray, labels: IntArray) -> IntArray:
    """The groups of all samples: of those that were not drawn, the one whose mean is nearest.

    Parameters
    ----------
    X : {ndarray, csr_array} of shape (n_samples, n_features)
    factors : ndarray of shape (n_features,)
        What the columns are multiplied by, before distances are taken.
    drawn : ndarray of int
        The samples whose groups were found.
    labels : ndarray of int
        Their groups, from 0.

    Returns
    -------
    ndarray of shape (n_samples,)

    Notes
    -----
    O(nd) per group.
    """
    groups = np.unique(labels)
    means = np.vstack([np.asarray(X[drawn[labels == g]].mean(axis=0)).ravel() for g in groups])
    centres = Landmarks(means * factors, n_nearest=1, bandwidth=1.0)
    found = np.empty(X.shape[0], dtype=labels.dtype)
    for rows in row_blocks(*X.shape):
        block = X[rows].multiply(factors).tocsr() if is_sparse(X) else X[rows] * factors
        found[rows] = groups[centres.tie(block).indices]
    found[drawn] = labels
    return found
