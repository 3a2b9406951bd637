"""The columns ranked once more, for other columns to keep and to drop, by what a fit has found."""

from __future__ import annotations

import numpy as np

from tamis._typing import BoolArray, FloatArray, Matrix
from tamis.auto._candidates import path_scores, regress
from tamis.auto._scales import scaled_table
from tamis.auto._search import PATH_LENGTH
from tamis.auto._selector import Auto
from tamis.solvers.table_operator import TableOperator
from tamis.utils.columns import centred_unit_columns


def scores_again(auto: Auto, X: Matrix, keep: BoolArray, drop: BoolArray) -> FloatArray:
    """Scores of the columns for another list of those to keep and to drop, in a fraction of a fit.

    The scale and the groups stay those that `auto` has found, and the columns are chosen to rebuild
    the groups alone: a fit with the same lists may find other groups, or rank by the eigenvectors
    of the graph too, and so keep a few other columns.

    Parameters
    ----------
    auto : Auto
        Fitted on X.
    X : {ndarray, CSR} of shape (n_samples, n_features)
    keep, drop : ndarray of bool of shape (n_features,)

    Returns
    -------
    ndarray of shape (n_features,)
        Larger is better; those to keep are above all others, those to drop, and those that do not
        vary, below.

    Notes
    -----
    One regression and one path: O(nd) per column that enters.
    """
    constant = auto._set_aside & ~auto._listed("drop")
    seen = ~(constant | drop)
    kept = (keep & seen)[seen]
    scores = np.full(X.shape[1], -1.0)
    if seen.any():
        Z = TableOperator.centred(scaled_table(X[:, seen], auto.scaling_))
        Y = centred_unit_columns(np.eye(auto.n_clusters_)[auto.labels_])
        Y = Y[:, Y.any(axis=0)]
        n_ranked = min(PATH_LENGTH, int(seen.sum()))
        found = regress(Z, Y, n_ranked, auto.scaling_, "groups", kept)
        n_support = int(np.count_nonzero(found.coef.any(axis=1)))
        if n_support > n_ranked:
            scores[seen] = path_scores(Z, found.coef, found.correlation, n_support, kept)
        else:
            scores[seen] = found.scores
    scores[keep & ~seen] = scores.max() + 1  # those that do not vary
    return scores
