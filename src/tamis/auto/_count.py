"""How many columns: the fewest that show the groups of the table as well as any number does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tamis._typing import FloatArray, IntArray, Matrix
from tamis.auto._candidates import clusters_from, standardised_columns
from tamis.auto._shape import Shape
from tamis.metrics import normalized_mutual_information

# Numbers of columns that are tried, evenly on a logarithmic scale.
N_COUNTS = 16
# What the chosen number must show of what the best shows, chance taken away.
ENOUGH = 0.98
# Agreement that differs by less is equal.
ROUNDING = 1e-9
# Gains below this are rounding: no number shows more than chance.
LEAST_GAIN = 1e-9


@dataclass(frozen=True)
class CountCurve:
    """How much of the groups the best columns show, by their number.

    Attributes
    ----------
    counts : ndarray of int
        Numbers of columns, ascending.
    agreement : ndarray of shape (n_counts,)
        NMI of the partition of the middle resolution with K-means clusters on that many columns.
    chance : ndarray of shape (n_counts,)
        The same with each of the columns shuffled.
    chosen : int or None
        The number that was chosen; None where no number shows more than chance, as with one group.
    """

    counts: IntArray
    agreement: FloatArray
    chance: FloatArray
    chosen: int | None


def count_curve(
    X: Matrix,
    best_first: IntArray,
    shape: Shape,
    order: IntArray,
    random_state: np.random.RandomState,
) -> CountCurve:
    """Try numbers of columns, and choose the smallest that is as good as the best but for 2 %.

    Agreement counts above chance, which is what the same columns show once each is shuffled, in the
    mean over all numbers: K-means from the means of the groups finds some of them by chance alone.

    Parameters
    ----------
    X : {ndarray, CSR} of shape (n_samples, n_features)
    best_first : ndarray of int
        The columns that may be kept, the best first.
    shape : Shape
        Its partition of the middle resolution is what columns are to show.
    order : ndarray of shape (n_samples,)
        The samples in an order that their values decide, in which they are shuffled.
    random_state : RandomState instance
        For the shuffled copies.

    Notes
    -----
    Two runs of K-means per number.
    """
    counts = numbers_to_try(len(best_first))
    largest = standardised_columns(X, best_first)
    shuffled = np.empty_like(largest)
    shuffler = np.random.default_rng(random_state.randint(2**31))
    shuffled[order] = shuffler.permuted(largest[order], axis=0)
    agreement, chance = (
        np.array([_agreement(table[:, :count], shape.typical) for count in counts])
        for table in (largest, shuffled)
    )
    gain = agreement - chance.mean()
    enough = gain >= ENOUGH * gain.max() - ROUNDING
    chosen = int(counts[enough.argmax()]) if gain.max() > LEAST_GAIN else None
    return CountCurve(counts, agreement, chance, chosen)


def _agreement(columns: FloatArray, labels: IntArray) -> float:
    """NMI of groups with K-means clusters that start at the means of these groups."""
    return float(normalized_mutual_information(labels, clusters_from(columns, labels)))


def numbers_to_try(most: int) -> IntArray:
    """Numbers from 1 to `most`, evenly on a logarithmic scale."""
    return np.unique(np.geomspace(1, most, N_COUNTS).round().astype(np.intp))
