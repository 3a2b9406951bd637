"""Methods in the order of their mean ranks over the sets, with what speaks for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tamis._typing import BoolArray, FloatArray
from tamis.evaluation.candidates import ALL_FEATURES_LABEL, RANDOM_LABEL
from tamis.evaluation.results import Results
from tamis.evaluation.statistics import Ranks, fewest_pairs, mean_ranks, paired_tests
from tamis.evaluation.ties import TOLERANCE
from tamis.reproduction.completeness import comparable

__all__ = [
    "ACCURACY",
    "INFORMATION",
    "MEASURES",
    "LeaderboardRow",
    "Measure",
    "figures_by_set",
    "leaderboard_rows",
    "ranks",
    "sets_in_means",
]

ACCURACY, INFORMATION = "kmeans_acc", "kmeans_nmi"
ALPHA = 0.05


class Measure(NamedTuple):
    """A measure as results, the head of a column and the title of a table name it."""

    name: str
    head: str
    title: str
    is_clustering: bool


MEASURES = (
    Measure(ACCURACY, "ACC", "Clustering accuracy", True),
    Measure(INFORMATION, "NMI", "NMI of clusters and classes", True),
    Measure("kmeans_ari", "ARI", "Adjusted Rand index of clusters and classes", True),
    Measure("5nn", "5-NN", "Accuracy of five nearest neighbours", False),
    Measure("rf", "forest", "Accuracy of a random forest", False),
)


@dataclass(frozen=True)
class LeaderboardRow:
    """A row of the leaderboard.

    Attributes
    ----------
    label : str
    rank : float
        What the rows are ordered by: the average of the mean rank by clustering (itself the
        average over its measures) and the mean rank by classification (likewise); 1 is the best.
    ranks : mapping of str to float
        The mean rank over the sets, by the head of each measure.
    means : mapping of str to float or None
        By the head of each measure, the mean over the sets that every method has finished, but for
        those that fail on more than a quarter of the sets: they have none.
    beats_all, beats_random : tuple of int
        Sets on which its clustering accuracy is better, and worse, than that of all features and
        of random subsets.
    surely_beats_all, surely_beats_random : tuple of int or None
        The same, counting only differences that Wilcoxon's test at 5 %, corrected by Holm for all
        methods and sets, takes for more than luck. None where there are too few clusterings for
        the test to show anything.
    seconds, most_seconds : float
        Processor time of a fit: the median over the sets, and the largest.
    slowest_set : str
        The set with the largest.
    too_long, failed : int
        Sets on which it took longer than it may, and on which it raised an error.
    """

    label: str
    rank: float
    ranks: Mapping[str, float]
    means: Mapping[str, float | None]
    beats_all: tuple[int, int]
    beats_random: tuple[int, int]
    surely_beats_all: tuple[int, int] | None
    surely_beats_random: tuple[int, int] | None
    seconds: float
    most_seconds: float
    slowest_set: str
    too_long: int
    failed: int

    def as_dict(self) -> dict[str, Any]:
        """The row as JSON has it."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in {
                **self.__dict__,
                "ranks": dict(self.ranks),
                "means": dict(self.means),
            }.items()
        }


def figures_by_set(
    results: Results,
    measure: str = ACCURACY,
    *,
    sets: Sequence[str] | None = None,
    labels: Sequence[str] | None = None,
) -> FloatArray:
    """Means by set and label, of all or of those named, NaN where a run failed."""
    sets = results.sets if sets is None else sets
    labels = results.labels if labels is None else labels
    table = np.full((len(sets), len(labels)), np.nan)
    for i, set_name in enumerate(sets):
        for j, label in enumerate(labels):
            estimate = results.estimate(set_name, label, measure)
            if estimate is not None:
                table[i, j] = estimate.mean
    return table


def ranks(results: Results, measure: str = ACCURACY) -> Ranks:
    """Mean ranks of all methods, all features and random subsets among them."""
    return mean_ranks(results.labels, figures_by_set(results, measure))


def sets_in_means(results: Results) -> int:
    """Over how many sets the means are taken."""
    return int(comparable(figures_by_set(results))[1].sum())


def leaderboard_rows(results: Results) -> list[LeaderboardRow]:
    """The leaderboard, the best average of mean ranks first."""
    figures = {one.head: figures_by_set(results, one.name) for one in MEASURES}
    accuracy = figures[MEASURES[0].head]
    steady, complete = comparable(accuracy)
    by_head = {head: mean_ranks(results.labels, table).ranks for head, table in figures.items()}
    seconds = np.array(
        [[results.seconds(s, x, "fit") for x in results.labels] for s in results.sets]
    )
    too_long = {(r.key["set"], r.key["label"]) for r in results.records if r.too_long}

    def mean(table: FloatArray, j: int) -> float | None:
        if not (steady[j] and complete.any()):
            return None
        return float(table[complete, j].mean())

    def record(j: int, other: str, counted: BoolArray | None = None) -> tuple[int, int]:
        difference = accuracy[:, j] - accuracy[:, results.labels.index(other)]
        if counted is not None:
            difference = np.where(counted, difference, 0)
        return int((difference > TOLERANCE).sum()), int((difference < -TOLERANCE).sum())

    sure = {other: _sure(results, other) for other in (ALL_FEATURES_LABEL, RANDOM_LABEL)}

    def surely(j: int, other: str) -> tuple[int, int] | None:
        found = sure[other]
        if found is None:
            return None
        counted = [(name, results.labels[j]) in found for name in results.sets]
        return record(j, other, np.array(counted))

    rows = []
    for j, label in enumerate(results.labels):
        n_too_long = sum((name, label) in too_long for name in results.sets)
        rows.append(
            LeaderboardRow(
                label,
                rank=_overall({head: float(found[j]) for head, found in by_head.items()}),
                ranks={head: float(found[j]) for head, found in by_head.items()},
                means={head: mean(table, j) for head, table in figures.items()},
                beats_all=record(j, ALL_FEATURES_LABEL),
                beats_random=record(j, RANDOM_LABEL),
                surely_beats_all=surely(j, ALL_FEATURES_LABEL),
                surely_beats_random=surely(j, RANDOM_LABEL),
                seconds=float(np.median(seconds[:, j])),
                most_seconds=float(seconds[:, j].max()),
                slowest_set=results.sets[int(seconds[:, j].argmax())],
                too_long=n_too_long,
                failed=int(np.isnan(accuracy[:, j]).sum()) - n_too_long,
            )
        )
    return sorted(rows, key=lambda row: row.rank)


def _overall(by_head: Mapping[str, float]) -> float:
    """Clustering and classification count alike, however many measures each has."""
    kinds = [
        [by_head[one.head] for one in MEASURES if one.is_clustering is kind]
        for kind in (True, False)
    ]
    return float(np.mean([np.mean(kind) for kind in kinds]))


def _sure(results: Results, other: str) -> set[tuple[str, str]] | None:
    """Set and label of each difference that is more than luck; None if no test could show one."""
    tests = paired_tests(results, ACCURACY, other)
    needed = fewest_pairs(max(1, len(tests)), ALPHA)
    if not any(test.n_pairs >= needed for test in tests):
        return None
    return {(test.set_name, test.label) for test in tests if test.adjusted < ALPHA}
