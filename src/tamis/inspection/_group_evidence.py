"""Whether the groups that K-means finds in a selection are found again in other rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from tamis._typing import FloatArray, IntArray
from tamis.clustering import kmeans
from tamis.inspection._groups import class_codes
from tamis.inspection._loss import Loss, Measure
from tamis.inspection._sample import Sample
from tamis.inspection._selection import Choice, Selection
from tamis.inspection._views import principal_coordinates
from tamis.metrics import (
    adjusted_rand_index,
    clustering_accuracy,
    normalized_mutual_information,
)

# Rows that are clustered, and times that they are cut into halves.
MOST_ROWS = 500
N_SPLITS = 4
N_STARTS = 3
# Random choices of columns, and clouds without groups, to compare with.
MOST_RANDOM = 10
N_CLOUDS = 3
# Numbers of clusters that are tried where nothing says how many there are.
USUAL_NUMBERS = (2, 3, 5, 8)
# Rows that each half must have for each cluster.
ROWS_PER_CLUSTER = 2
# Numbers of clusters that repeat as well as the best but for this: the largest says most.
TIE = 0.02
# Differences of adjusted Rand indices that are more than the luck of the halves, and much more.
CLEARLY, MUCH = 0.1, 0.25


@dataclass(frozen=True)
class Compared:
    """A figure of the kept columns beside random choices and all columns.

    Attributes
    ----------
    measure : Measure
        Of the kept columns and of at most ten random choices of as many.
    everything : float
        Of all columns.
    """

    measure: Measure
    everything: float


@dataclass(frozen=True)
class GroupEvidence:
    """How well groups repeat, and how well they agree with labels.

    Attributes
    ----------
    repeat : Compared or None
        Adjusted Rand index of the groups of two halves of the rows: 1 is the same groups, 0 is
        chance. None where there are too few rows.
    cloud : float
        The same, on average, of three normal samples with the covariance of the kept columns,
        which have no groups: K-means cuts any long cloud at the same places.
    numbers : tuple of int
        The numbers of clusters that were tried; of several, the one that repeats best counts, for
        every choice of columns by itself.
    n_clusters : int
        The number that counts for the kept columns.
    n_rows : int
        The rows that were cut into halves.
    nmi, accuracy : Compared or None
        Normalised mutual information and accuracy of K-means against the labels, with as many
        clusters as there are classes; None where there are no labels that are classes.
    n_classes : int
    note : str
        Why there is no `repeat`, or "".
    """

    repeat: Compared | None = None
    cloud: float = 0.0
    numbers: tuple[int, ...] = ()
    n_clusters: int = 0
    n_rows: int = 0
    nmi: Compared | None = None
    accuracy: Compared | None = None
    n_classes: int = 0
    note: str = ""

    @property
    def found(self) -> bool:
        """Whether the kept columns show groups: clearly beyond a cloud and random choices."""
        if self.repeat is None or not len(self.repeat.measure.random):
            return False
        measure = self.repeat.measure
        rival = max(self.cloud, float(np.median(measure.random)))
        return measure.n_beaten >= 0.9 * len(measure.random) and (
            measure.selected >= rival + CLEARLY
        )

    @property
    def uncovered(self) -> bool:
        """Whether the kept columns show groups that repeat much better than those of all."""
        return (
            self.found
            and self.repeat is not None
            and self.repeat.measure.selected >= self.repeat.everything + MUCH
        )


def measure_groups(
    selection: Selection,
    sample: Sample,
    loss: Loss,
    *,
    labels: np.ndarray[Any, Any] | None = None,
    random_state: np.random.RandomState,
) -> GroupEvidence:
    """Cluster halves of the rows in the kept columns, in all columns and in random choices.

    K-means finds groups in one half. The rows of the other half are given to the nearest of its
    centres, and compared with the groups that K-means finds in that half itself. The mean is taken
    over both directions and four cuts into halves, the same for every choice of columns.

    There are as many clusters as the selector's `n_clusters` says or as it found, else as the
    labels have classes, else 2, 3, 5 and 8 are tried.

    Parameters
    ----------
    selection : Selection
    sample : Sample
        Its first 500 rows are used.
    loss : Loss
        Of the same sample; its Gram matrix stands for all columns.
    labels : ndarray of shape (n_samples,) or None, default=None
    random_state : RandomState
        Cuts the halves and starts K-means.

    Returns
    -------
    GroupEvidence

    Notes
    -----
    O(s·m·min(m, k)·c) per iteration of K-means for m rows, s choices of k columns, c clusters.
    """
    rows = sample.rows[:MOST_ROWS]
    n_rows = len(rows)
    seed = int(random_state.randint(np.iinfo(np.int32).max))
    subsets = sample.subsets[: MOST_RANDOM + 1]
    tables = [_points(selection.columns(rows, subset)) for subset in subsets]
    part = slice(0, n_rows)
    tables.append(principal_coordinates(loss.gram[part, part], min(n_rows, selection.X.shape[1])))
    classes = None if labels is None else class_codes(labels[rows])
    by_labels: dict[str, Any] = {}
    if classes is not None:
        by_labels = _agreement(tables, classes, seed)

    wanted = getattr(selection.selector, "n_clusters", None)
    if wanted is None:
        wanted = getattr(selection.selector, "n_clusters_", None)
    if wanted is None and classes is not None:
        wanted = by_labels["n_classes"]
    tried = USUAL_NUMBERS if wanted is None else (int(wanted),)
    numbers = tuple(c for c in tried if 1 < c <= (n_rows // 2) / ROWS_PER_CLUSTER)
    if not numbers:
        note = "A single cluster has nothing to repeat."
        if wanted is None or wanted > 1:
            needed = 2 * ROWS_PER_CLUSTER * (wanted or min(USUAL_NUMBERS))
            note = (
                f"Whether {wanted or min(USUAL_NUMBERS)} clusters repeat can be seen in no fewer "
                f"than {needed} rows; there are {n_rows}."
            )
        return GroupEvidence(note=note, n_rows=n_rows, **by_labels)
    generator = np.random.RandomState(seed)
    halves = [_cut(n_rows, generator) for _ in range(N_SPLITS)]
    tables += [_cloud(tables[0], generator) for _ in range(N_CLOUDS)]
    found = np.array([_repeats(points, numbers, halves, seed) for points in tables])
    best = found.max(axis=1)
    n_random = len(subsets) - 1
    return GroupEvidence(
        Compared(Measure(float(best[0]), best[1 : n_random + 1], True), float(best[n_random + 1])),
        float(best[n_random + 2 :].mean()),
        numbers,
        max(c for c, value in zip(numbers, found[0], strict=True) if value > best[0] - TIE),
        n_rows,
        **by_labels,
    )


def measure_repeats(
    selection: Choice, sample: Sample, n_clusters: int, n_splits: int, seed: int
) -> Measure | None:
    """Only how well the groups repeat, of each choice of columns of a sample.

    None for a single cluster, and where there are too few rows.
    """
    n_rows = len(sample.rows)
    if not 1 < n_clusters <= (n_rows // 2) / ROWS_PER_CLUSTER:
        return None
    generator = np.random.RandomState(seed)
    halves = [_cut(n_rows, generator) for _ in range(n_splits)]
    tables = [_points(selection.columns(sample.rows, subset)) for subset in sample.subsets]
    found = np.array([_repeats(points, (n_clusters,), halves, seed)[0] for points in tables])
    return Measure(float(found[0]), found[1:], True)


def _points(columns: FloatArray) -> FloatArray:
    """Rows with the same distances in no more coordinates than there are rows."""
    if columns.shape[1] <= len(columns):
        return columns
    centred = columns - columns.mean(axis=0)
    return principal_coordinates(centred @ centred.T, len(columns))


def _cut(n_rows: int, generator: np.random.RandomState) -> tuple[IntArray, IntArray]:
    order = generator.permutation(n_rows)
    return order[: n_rows // 2], order[n_rows // 2 :]


def _cloud(points: FloatArray, generator: np.random.RandomState) -> FloatArray:
    """Normal rows with just the covariance of the points; turned, which K-means does not see."""
    lengths = scipy.linalg.svdvals(points - points.mean(axis=0))
    drawn = generator.normal(size=(len(points), len(lengths)))
    left, _, right = scipy.linalg.svd(drawn - drawn.mean(axis=0), full_matrices=False)
    cloud: FloatArray = (left @ right) * lengths
    return cloud


def _repeats(
    points: FloatArray,
    numbers: Sequence[int],
    halves: Sequence[tuple[IntArray, IntArray]],
    seed: int,
) -> list[float]:
    """The mean adjusted Rand index for each number of clusters."""
    means = []
    for n_clusters in numbers:
        found = []
        for half in halves:
            both = [
                kmeans(points[rows], n_clusters, n_init=N_STARTS, random_state=seed)
                for rows in half
            ]
            for (one, other), rows in zip((both, both[::-1]), half[::-1], strict=True):
                given = _nearest(points[rows], one.centres)
                # One cluster only agrees with anything: that is no group.
                single = min(len(one.centres), len(other.centres)) < 2
                found.append(0.0 if single else adjusted_rand_index(other.labels, given))
        means.append(float(np.mean(found)))
    return means


def _nearest(points: FloatArray, centres: FloatArray) -> IntArray:
    squares = np.einsum("ij,ij->i", centres, centres)
    return np.argmin(squares - 2 * points @ centres.T, axis=1)


def _agreement(tables: Sequence[FloatArray], classes: IntArray, seed: int) -> dict[str, Any]:
    """NMI and accuracy of K-means against the classes, for every table; the last is the whole."""
    n_classes, known = int(classes.max()) + 1, classes >= 0
    found = [
        kmeans(points, n_classes, n_init=N_STARTS, random_state=seed).labels for points in tables
    ]

    def compared(score: Any) -> Compared:
        values = np.array([score(classes[known], groups[known]) for groups in found])
        return Compared(Measure(float(values[0]), values[1:-1], True), float(values[-1]))

    return {
        "nmi": compared(normalized_mutual_information),
        "accuracy": compared(clustering_accuracy),
        "n_classes": n_classes,
    }
