"""How many columns: near a tenth, as many as show the groups of the table best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tamis._typing import FloatArray, IntArray, Matrix
from tamis.auto._candidates import standardised_columns
from tamis.auto._reasons import COPY
from tamis.auto._shape import Shape
from tamis.clustering import kmeans
from tamis.metrics import normalized_mutual_information

# Numbers of columns that are tried, evenly on a logarithmic scale.
N_COUNTS = 16
# Random starts of K-means at each number, and the samples that are clustered, at most.
N_STARTS = 3
MOST_ROWS = 1500
# What a number e times as large as the usual one, or as small, has to show more, as a share of what
# the best shows: e² times, four times that.
RELUCTANCE = 0.15
# Numbers that are as good but for this are equal, and the smallest is taken.
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
        NMI of the partition of the middle resolution with K-means clusters on that many columns, in
        the mean over the starts.
    chance : ndarray of shape (n_counts,)
        The same with each of the columns shuffled, from one start.
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
    n_usual: int,
    order: IntArray,
    random_state: np.random.RandomState,
) -> CountCurve:
    """Try numbers of columns, and choose the one that shows most, not far from the usual one.

    What a number shows is the agreement of K-means with the groups, from random starts, less that
    of shuffled columns, as a share of what the best number shows. From this 0.15 times the squared
    logarithm of the ratio to the usual number is taken away: curves are flat and their tops noisy,
    and far from the usual number more evidence is asked for. Copies, which come last, show nothing
    more.

    Parameters
    ----------
    X : {ndarray, CSR} of shape (n_samples, n_features)
    best_first : ndarray of int
        The columns that may be kept, the best first.
    shape : Shape
        Its partition of the middle resolution is what columns are to show.
    n_usual : int
        The number that is taken where all show the same.
    order : ndarray of shape (n_samples,)
        The samples in an order that their values decide, from which those that are clustered are
        drawn evenly, and in which they are shuffled.
    random_state : RandomState instance
        For the shuffled copies and the starts.

    Notes
    -----
    Four runs of K-means per number, on 1500 samples at most, and O(nk²) for k columns to find
    copies.
    """
    columns = standardised_columns(X, best_first)
    most = _n_without_copies(columns)
    counts = np.union1d(numbers_to_try(most), min(n_usual, most))
    random = np.random.default_rng(random_state.randint(2**31))
    rows = _evenly(order, MOST_ROWS)
    columns = columns[rows, :most]
    shuffled = random.permuted(columns, axis=0)
    labels = shape.typical[rows]
    starts = random.integers(2**31, size=N_STARTS).tolist()
    agreement = np.array([_agreement(columns[:, :count], labels, starts) for count in counts])
    chance = np.array([_agreement(shuffled[:, :count], labels, starts[:1]) for count in counts])
    gain = agreement - chance.mean()
    chosen = _chosen(counts, gain, n_usual) if gain.max() > LEAST_GAIN else None
    return CountCurve(counts, agreement, chance, chosen)


def _chosen(counts: IntArray, gain: FloatArray, n_usual: int) -> int:
    distance = np.log(counts / n_usual)
    merit = gain / gain.max() - RELUCTANCE * distance**2
    return int(counts[(merit >= merit.max() - ROUNDING).argmax()])


def _n_without_copies(columns: FloatArray) -> int:
    """How many of some standardised columns are no copies of one before. O(nk²) for k columns."""
    correlation = np.abs(columns.T @ columns) / len(columns)
    return len(correlation) - int((np.triu(correlation, 1) >= COPY).any(axis=0).sum())


def _evenly(order: IntArray, most: int) -> IntArray:
    """At most so many samples, evenly over an order."""
    if len(order) <= most:
        return order
    return order[np.linspace(0, len(order) - 1, most).round().astype(np.intp)]


def _agreement(columns: FloatArray, labels: IntArray, starts: list[int]) -> float:
    """NMI of groups with as many K-means clusters, in the mean over random starts."""
    n_clusters = min(int(labels.max()) + 1, len(labels))
    found = [kmeans(columns, n_clusters, n_init=1, random_state=seed).labels for seed in starts]
    return float(np.mean([normalized_mutual_information(labels, other) for other in found]))


def numbers_to_try(most: int) -> IntArray:
    """Numbers from 1 to `most`, evenly on a logarithmic scale."""
    return np.unique(np.geomspace(1, most, N_COUNTS).round().astype(np.intp))
