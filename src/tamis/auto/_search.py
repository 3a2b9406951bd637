"""Which columns: rankings on the scales that may suit the table, chosen by what speaks for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tamis._typing import BoolArray, FloatArray, IntArray, Matrix
from tamis.auto._candidates import (
    Evidence,
    Regression,
    evidence,
    path_scores,
    regress,
    standardised_columns,
    targets_of,
)
from tamis.auto._scales import Scale, scaled_table
from tamis.auto._shape import Shape, common_shape, shape_of
from tamis.solvers.table_operator import TableOperator

# Rankings are compared by their best columns: a tenth of all, from three to a hundred.
SHARE_COMPARED = 0.1
LEAST_COMPARED, MOST_COMPARED = 3, 100
# Of tables with more columns than samples, most columns are noise that standardising makes as loud
# as the rest, and the groups of all columns have it in them too: by so much closer to these does a
# ranking of standardised columns have to come.
LEAD = 0.05
# Evidence that differs by less is equal: it is rounding, and the first ranking is taken.
DIGITS = 9
# Columns that the chosen ranking orders by the path of its regression, at most.
PATH_LENGTH = 300


@dataclass(frozen=True)
class Found:
    """The rankings that were tried.

    Attributes
    ----------
    rankings : list of Regression
    evidence : list of Evidence
        One per ranking, of its best columns.
    chosen : int
        Which ranking has the strongest evidence.
    n_compared : int
        By how many columns they were compared.
    shape : Shape
        What all scales see together: the groups that selections should show.
    shapes : dict of str to Shape
        What each scale sees.
    """

    rankings: list[Regression]
    evidence: list[Evidence]
    chosen: int
    n_compared: int
    shape: Shape
    shapes: dict[Scale, Shape]


def search(
    X: Matrix,
    scales: tuple[Scale, ...],
    n_clusters: int | None,
    kept: BoolArray,
    order: IntArray,
    *,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> Found:
    """Rank the columns on every scale, and choose.

    Parameters
    ----------
    X : {ndarray, CSR} of shape (n_samples, n_features)
        Every column varies.
    scales : tuple of {"standard", "pareto", "none"}
    n_clusters : int or None
        The number of groups, if it is known.
    kept : ndarray of bool
        Columns that are kept in any case.
    order : ndarray of shape (n_samples,)
        The samples in an order that their values decide.
    n_jobs, verbose
        As in :func:`tamis.graphs.neighbor_graph`.
    """
    n_compared = max(number_compared(X.shape[1]), int(np.count_nonzero(kept)))
    shapes: dict[Scale, Shape] = {}
    rankings: list[Regression] = []
    for scale in scales:
        Z = scaled_table(X, scale)
        shape = shapes[scale] = shape_of(Z, n_clusters, order, n_jobs=n_jobs, verbose=verbose)
        target, Y = targets_of(shape)
        rankings.append(regress(TableOperator.centred(Z), Y, n_compared, scale, target, kept))
    shape = common_shape(list(shapes.values()), n_clusters, order)
    found = [
        evidence(standardised_columns(X, np.sort(ranking.best(n_compared))), shape)
        for ranking in rankings
    ]
    chosen = _chosen(rankings, found, wide=X.shape[1] > X.shape[0])
    return Found(rankings, found, chosen, n_compared, shape, shapes)


def _chosen(rankings: Sequence[Regression], found: Sequence[Evidence], *, wide: bool) -> int:
    """The ranking with the strongest evidence; of wide tables, standardised ones have to lead."""

    def merit(i: int) -> tuple[bool, float, float, int]:
        lead = LEAD if wide and rankings[i].scale != "standard" else 0.0
        return (
            # With one group, all agree; a ranking that tells no two columns apart comes last.
            bool(np.ptp(rankings[i].scores)),
            round(found[i].agreement + lead, DIGITS),
            round(found[i].modularity, DIGITS),
            -i,
        )

    return max(range(len(found)), key=merit)


def number_compared(n_features: int) -> int:
    """A tenth of the columns, from three to a hundred, at most all."""
    tenth = round(SHARE_COMPARED * n_features)
    return min(n_features, max(LEAST_COMPARED, min(tenth, MOST_COMPARED)))


def full_ranking(X: Matrix, found: Found, kept: BoolArray) -> FloatArray:
    """The scores of the chosen ranking, ordered by its path as far as that goes."""
    chosen = found.rankings[found.chosen]
    table = TableOperator.centred(scaled_table(X, chosen.scale))
    n_support = int(np.count_nonzero(chosen.coef.any(axis=1)))
    n_ranked = n_support + PATH_LENGTH
    return path_scores(table, chosen.coef, chosen.correlation, n_ranked, kept)
