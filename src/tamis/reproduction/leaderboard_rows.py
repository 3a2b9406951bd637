"""Methods in the order of their mean ranks over the sets, with what speaks for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

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
    "LeaderboardRow",
    "figures_by_set",
    "leaderboard_rows",
    "ranks",
    "sets_in_means",
]

ACCURACY, INFORMATION = "kmeans_acc", "kmeans_nmi"
ALPHA = 0.05


@dataclass(frozen=True)
class LeaderboardRow:
    """A row of the leaderboard.

    Attributes
    ----------
    label : str
    rank, rank_nmi : float
        Mean over the sets, by clustering accuracy and by NMI; 1 is the best.
    accuracy, nmi : float or None
        Means over the sets that every method has finished, but for those that fail on more than a
        quarter of the sets: they have none.
    beats_all, beats_random : tuple of int
        Sets on which it is better, and worse, than all features and than random subsets.
    surely_beats_all, surely_beats_random : tuple of int or None
        The same, counting only differences that Wilcoxon's test at 5 %, corrected by Holm for all
        methods and sets, takes for more than luck. None where there are too few clusterings for
        the test to show anything.
    seconds : float
        Median processor time of a fit.
    failed : int
        Sets on which it raised an error or took too long.
    """

    label: str
    rank: float
    rank_nmi: float
    accuracy: float | None
    nmi: float | None
    beats_all: tuple[int, int]
    beats_random: tuple[int, int]
    surely_beats_all: tuple[int, int] | None
    surely_beats_random: tuple[int, int] | None
    seconds: float
    failed: int

    def as_dict(self) -> dict[str, Any]:
        """The row as JSON has it."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in self.__dict__.items()}


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
    """Over how many sets the means of accuracy and NMI are taken."""
    return int(comparable(figures_by_set(results))[1].sum())


def leaderboard_rows(results: Results) -> list[LeaderboardRow]:
    """The leaderboard, the best mean rank first."""
    accuracy, nmi = figures_by_set(results), figures_by_set(results, INFORMATION)
    steady, complete = comparable(accuracy)

    def mean(figures: FloatArray, j: int) -> float | None:
        if not (steady[j] and complete.any()):
            return None
        return float(figures[complete, j].mean())

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

    order, order_nmi = ranks(results), ranks(results, INFORMATION)
    rows = [
        LeaderboardRow(
            label,
            rank=float(order.ranks[j]),
            rank_nmi=float(order_nmi.ranks[j]),
            accuracy=mean(accuracy, j),
            nmi=mean(nmi, j),
            beats_all=record(j, ALL_FEATURES_LABEL),
            beats_random=record(j, RANDOM_LABEL),
            surely_beats_all=surely(j, ALL_FEATURES_LABEL),
            surely_beats_random=surely(j, RANDOM_LABEL),
            seconds=float(np.median([results.seconds(s, label, "fit") for s in results.sets])),
            failed=int(np.isnan(accuracy[:, j]).sum()),
        )
        for j, label in enumerate(results.labels)
    ]
    return sorted(rows, key=lambda row: row.rank)


def _sure(results: Results, other: str) -> set[tuple[str, str]] | None:
    """Set and label of each difference that is more than luck; None if no test could show one."""
    tests = paired_tests(results, ACCURACY, other)
    needed = fewest_pairs(max(1, len(tests)), ALPHA)
    if not any(test.n_pairs >= needed for test in tests):
        return None
    return {(test.set_name, test.label) for test in tests if test.adjusted < ALPHA}
