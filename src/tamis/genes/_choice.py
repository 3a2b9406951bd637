"""From the order of genes in each batch to one order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tamis._typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Chosen:
    """The genes that are chosen of all.

    Attributes
    ----------
    order : ndarray of int of shape (n_genes,)
        The best first.
    selected : ndarray of bool of shape (n_genes,)
    rank : ndarray of shape (n_genes,)
        From 0; over several batches the median of the ranks in those that the gene has won. NaN
        where it is not selected.
    n_batches : ndarray of int of shape (n_genes,)
        In how many batches a gene is among the best.
    """

    order: IntArray
    selected: BoolArray
    rank: FloatArray
    n_batches: IntArray


@dataclass(frozen=True)
class Choice:
    """What is chosen, and what is told of it.

    Attributes
    ----------
    chosen : Chosen
    score : ndarray of shape (n_genes,)
        Larger is better, finite.
    columns : dict of str to ndarray of shape (n_genes,)
        More columns of ``var``.
    told : dict
        For ``uns["tamis"]``.
    """

    chosen: Chosen
    score: FloatArray
    columns: dict[str, FloatArray] = field(default_factory=dict)
    told: dict[str, Any] = field(default_factory=dict)


def by_median_rank(
    costs: FloatArray, n_top: int, *, tie: FloatArray, batches_first: bool = True
) -> Chosen:
    """Sort by the number of batches won, then by the median rank in those, then by `tie`.

    Parameters
    ----------
    costs : ndarray of shape (n_batches, n_genes)
        Smaller for better genes.
    n_top : int
        A gene wins a batch if it is among as many of the best there.
    tie : ndarray of shape (n_genes,)
    batches_first : bool, default=True
        False sorts by the median rank before the number of batches.
    """
    n_batches, n_genes = costs.shape
    ranks = np.full((n_batches, n_genes), np.nan, dtype=np.float32)
    by_tie = np.argsort(tie, kind="stable")
    for rank, cost in zip(ranks, costs, strict=True):
        ranked = by_tie[cost[by_tie] < np.inf]
        best = ranked[np.argsort(cost[ranked], kind="stable")[:n_top]]
        rank[best] = np.arange(len(best))
    won = np.count_nonzero(~np.isnan(ranks), axis=0)
    median = np.full(n_genes, np.nan)
    seen = won > 0
    ordered = np.sort(ranks.T[seen], axis=1)  # NaN comes last
    gene, n_won = np.arange(len(ordered)), won[seen]
    median[seen] = (ordered[gene, (n_won - 1) // 2] + ordered[gene, n_won // 2]) / 2
    last = np.where(seen, median, np.inf)
    keys = (tie, last, -won) if batches_first else (tie, -won, last)
    return _first(np.lexsort(keys), n_top, median, won)


def by_mean(statistic: FloatArray, seen: BoolArray, n_top: int) -> Chosen:
    """Sort by the number of batches won, then by the mean of the statistic over the batches.

    Parameters
    ----------
    statistic : ndarray of shape (n_batches, n_genes)
        Larger for better genes, NaN where it is not defined.
    seen : ndarray of bool of shape (n_batches, n_genes)
        Where a gene is expressed at all; elsewhere its statistic counts as 0, and it does not win.
    n_top : int
    """
    won = np.zeros(statistic.shape[1], dtype=np.intp)
    for values, expressed in zip(statistic, seen, strict=True):
        candidates = np.flatnonzero(expressed & ~np.isnan(values))
        best = candidates[np.argsort(-values[candidates], kind="stable")[:n_top]]
        won[best] += 1
    mean = mean_where_defined(np.where(seen, statistic, 0.0))
    order = np.lexsort((np.where(np.isnan(mean), np.inf, -mean), -won))
    places = np.empty(len(order))
    places[order] = np.arange(len(order))
    return _first(order, n_top, places, won)


def mean_where_defined(statistic: FloatArray) -> FloatArray:
    """Means over the batches, NaN left out; NaN where all are."""
    defined = ~np.isnan(statistic)
    total = np.where(defined, statistic, 0.0).sum(axis=0)
    with np.errstate(invalid="ignore"):
        mean: FloatArray = total / defined.sum(axis=0)
    return mean


def _first(order: IntArray, n_top: int, rank: FloatArray, won: IntArray) -> Chosen:
    selected = np.zeros(len(order), dtype=bool)
    selected[order[:n_top]] = True
    return Chosen(order, selected, np.where(selected, rank, np.nan), won)
