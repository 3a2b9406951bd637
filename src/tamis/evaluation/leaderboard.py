"""The leaderboard: every method as it comes, no labels before judging, on every set at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tamis import datasets, registry
from tamis._typing import FloatArray
from tamis.evaluation.candidates import Candidate
from tamis.evaluation.experiments.base import Experiment
from tamis.evaluation.plain_table import PlainTable
from tamis.evaluation.protocol import Protocol
from tamis.evaluation.results import Results
from tamis.evaluation.runs import selection_tasks
from tamis.evaluation.statistics import Ranks, mean_ranks, paired_tests
from tamis.evaluation.sweep import Task

__all__ = [
    "EXPERIMENT",
    "MEASURE",
    "Standing",
    "candidates",
    "critical_difference_figure",
    "eligible",
    "figures_by_set",
    "ranks",
    "standings",
    "tasks",
]

MEASURE = "kmeans_acc"
PROTOCOL = Protocol(
    scaling="standard",
    n_features=(0.1,),
    max_features=100,
    kmeans_init="k-means++",
    n_repeats=20,
    n_random=20,
    max_samples=1500,
)
QUICK_PROTOCOL = Protocol(
    scaling="standard",
    n_features=(0.1,),
    max_features=100,
    kmeans_init="k-means++",
    n_repeats=5,
    n_random=5,
    max_samples=300,
)
QUICK_SETS = ("digits", "breast_cancer", "sonar", "ionosphere", "lung_small", "umist", "colon")
# Of narrower tables a tenth is no selection.
MIN_COLUMNS = 30
# A method that fails on a larger share of the sets does not narrow the others' means.
MOST_FAILURES = 0.25
# Processor seconds for a fit and its judging; whoever takes longer shares the last place.
TIME_LIMIT = 60.0
ALL, RANDOM = "All features", "Random subsets"
# On standardised columns all variances are equal: this one wants the columns' own scales.
OWN_SCALES = ("max_variance",)


@dataclass(frozen=True)
class Standing:
    """A row of the leaderboard.

    Attributes
    ----------
    label : str
    rank : float
        Mean over the sets; 1 is the best.
    accuracy, nmi : float or None
        Means over the sets that every method has finished, but for those that fail on more than a
        quarter of the sets: they have none.
    beats_all, beats_random : tuple of int
        Sets on which it is better, and worse, than all features and than random subsets.
    surely_beats_all, surely_beats_random : tuple of int
        The same, counting only differences that Wilcoxon's test at 5 %, corrected by Holm for all
        methods and sets, takes for more than luck.
    seconds : float
        Median processor time of a fit.
    failed : int
        Sets on which it raised an error or took too long.
    """

    label: str
    rank: float
    accuracy: float | None
    nmi: float | None
    beats_all: tuple[int, int]
    beats_random: tuple[int, int]
    surely_beats_all: tuple[int, int]
    surely_beats_random: tuple[int, int]
    seconds: float
    failed: int

    def as_dict(self) -> dict[str, Any]:
        """The row as JSON has it."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in self.__dict__.items()}


def eligible(sets: Sequence[str]) -> list[str]:
    """Those sets that are wide enough and not made from another."""
    return [
        name
        for name in sets
        if datasets.entry(name).n_features >= MIN_COLUMNS and datasets.entry(name).recipe is None
    ]


def candidates() -> list[Candidate]:
    """Every registered method with its defaults."""
    return [
        Candidate(
            method.selector.__name__,
            name,
            scaling="unit" if name in OWN_SCALES else None,
        )
        for name, method in registry.METHODS.items()
        if name != "random_subset"
    ]


def tasks(sets: Sequence[str], protocol: Protocol) -> list[Task]:
    """The runs of the leaderboard."""
    return selection_tasks(sets, candidates(), protocol)


def figures_by_set(results: Results, measure: str = MEASURE) -> FloatArray:
    """Means by set and label, NaN where a run failed."""
    table = np.full((len(results.sets), len(results.labels)), np.nan)
    for i, set_name in enumerate(results.sets):
        for j, label in enumerate(results.labels):
            estimate = results.estimate(set_name, label, measure)
            if estimate is not None:
                table[i, j] = estimate.mean
    return table


def ranks(results: Results) -> Ranks:
    """Mean ranks of all methods, all features and random subsets among them."""
    return mean_ranks(results.labels, figures_by_set(results))


def standings(results: Results) -> list[Standing]:
    """The leaderboard, the best mean rank first."""
    accuracy, nmi = figures_by_set(results), figures_by_set(results, "kmeans_nmi")
    steady = np.isnan(accuracy).mean(axis=0) <= MOST_FAILURES
    complete = ~np.isnan(accuracy[:, steady]).any(axis=1)

    def mean(figures: FloatArray, j: int) -> float | None:
        if not (steady[j] and complete.any()):
            return None
        return float(figures[complete, j].mean())

    order = ranks(results)
    sure = {
        other: {
            (c.set_name, c.label)
            for c in paired_tests(results, MEASURE, other)
            if c.adjusted < 0.05
        }
        for other in (ALL, RANDOM)
    }

    def record(j: int, other: str, only: set[tuple[str, str]] | None) -> tuple[int, int]:
        difference = accuracy[:, j] - accuracy[:, results.labels.index(other)]
        if only is not None:
            label = results.labels[j]
            counted = [(name, label) in only for name in results.sets]
            difference = np.where(counted, difference, 0)
        return int((difference > 0).sum()), int((difference < 0).sum())

    rows = [
        Standing(
            label,
            rank=float(order.ranks[j]),
            accuracy=mean(accuracy, j),
            nmi=mean(nmi, j),
            beats_all=record(j, ALL, None),
            beats_random=record(j, RANDOM, None),
            surely_beats_all=record(j, ALL, sure[ALL]),
            surely_beats_random=record(j, RANDOM, sure[RANDOM]),
            seconds=float(np.median([results.seconds(s, label, "fit") for s in results.sets])),
            failed=int(np.isnan(accuracy[:, j]).sum()),
        )
        for j, label in enumerate(results.labels)
    ]
    return sorted(rows, key=lambda row: row.rank)


def critical_difference_figure(results: Results, folder: Path, name: str) -> list[Path]:
    """The critical difference diagram: methods on an axis of mean ranks, as PNG and SVG.

    Methods joined by a bar are closer than the critical difference.
    """
    from tamis.evaluation.figures import require_matplotlib, save

    require_matplotlib()
    from matplotlib.figure import Figure

    found = ranks(results)
    order = np.argsort(found.ranks, kind="stable")
    values, labels = found.ranks[order], [found.labels[i] for i in order]
    half = -(-len(labels) // 2)
    groups = _joined(values, found.critical)
    top = 1.2 + 0.35 * len(groups)
    figure = Figure(
        figsize=(8.5, 0.24 * (half + 3) + 0.2 * len(groups) + 0.8), layout="constrained"
    )
    axes = figure.subplots()
    low, high = np.floor(values.min()), np.ceil(values.max())
    margin = 0.42 * (high - low)
    axes.hlines(0, low, high, color="black", linewidth=1)
    for tick in np.arange(low, high + 1):
        axes.vlines(tick, -0.2, 0, color="black", linewidth=1)
        axes.text(tick, -0.3, f"{tick:g}", ha="center", va="bottom", fontsize=8)
    for i, (value, label) in enumerate(zip(values, labels, strict=True)):
        left = i < half
        depth = top + (i if left else len(labels) - 1 - i)
        end = low - 0.03 * margin if left else high + 0.03 * margin
        axes.plot([value, value, end], [0, depth, depth], color="#555555", linewidth=0.8)
        axes.text(
            end - 0.02 * margin if left else end + 0.02 * margin,
            depth,
            f"{label}  {value:.1f}" if left else f"{value:.1f}  {label}",
            ha="right" if left else "left",
            va="center",
            fontsize=9,
            fontweight="bold" if label in (ALL, RANDOM) else "normal",
        )
    for level, (first, last) in enumerate(groups):
        at = 0.6 + 0.35 * level
        axes.hlines(at, values[first], values[last], color="#D55E00", linewidth=3)
    axes.hlines(-1.3, low, low + found.critical, color="black", linewidth=2)
    axes.text(low, -1.5, f"critical difference {found.critical:.2f}", va="bottom", fontsize=8)
    axes.set_xlim(low - margin, high + margin)
    axes.set_ylim(top + half, -2.4)
    axes.axis("off")
    return save(figure, folder, name)


def _joined(values: FloatArray, critical: float) -> list[tuple[int, int]]:
    """The longest runs of sorted mean ranks that lie within the critical difference."""
    groups: list[tuple[int, int]] = []
    for first in range(len(values)):
        last = int(np.searchsorted(values, values[first] + critical, side="right")) - 1
        if last > first and (not groups or last > groups[-1][1]):
            groups.append((first, last))
    return groups


def tables(results: Results) -> list[PlainTable]:
    """The standings, and the figures behind them set by set."""
    if not results.sets:
        return []
    return [_standings_table(results), _figures_table(results)]


def _standings_table(results: Results) -> PlainTable:
    rows, found = standings(results), ranks(results)
    return PlainTable(
        f"Standings on {found.n_sets} sets",
        (
            "Method",
            "mean rank",
            "ACC %",
            "NMI %",
            "against all features",
            "against random",
            "fit, s",
            "failed",
        ),
        [
            (
                row.label,
                f"{row.rank:.1f}",
                _percent(row.accuracy),
                _percent(row.nmi),
                "" if row.label == ALL else _record_words(row.beats_all, row.surely_beats_all),
                ""
                if row.label == RANDOM
                else _record_words(row.beats_random, row.surely_beats_random),
                f"{row.seconds:.2f}",
                str(row.failed),
            )
            for row in rows
        ],
        note=(
            f"Ranks are by clustering accuracy; mean ranks closer than {found.critical:.2f} are "
            f"not told apart (Nemenyi, 5 %; Friedman's test: p = {found.p_value:.1g}). ACC and "
            "NMI are means over the sets that every method has finished, leaving aside methods "
            "that fail on more than a quarter of them. Against: sets won : lost, in brackets "
            "those where the difference is more than luck (Wilcoxon over the clusterings, 5 %, "
            "corrected by Holm). Fit is the median processor time; a search of neighbours, "
            "shared by the methods, counts for the first that needs it. A method that fails or "
            f"takes more than {TIME_LIMIT:g} s shares the last place of the set."
        ),
        data=[row.as_dict() for row in rows],
    )


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}"


def _record_words(all_sets: tuple[int, int], sure: tuple[int, int]) -> str:
    return f"{all_sets[0]} : {all_sets[1]} ({sure[0]} : {sure[1]})"


def _figures_table(results: Results) -> PlainTable:
    figures = figures_by_set(results)
    order = [results.labels.index(row.label) for row in standings(results)]
    counts = {name: results.counts(name) for name in results.sets}
    return PlainTable(
        "Clustering accuracy, %",
        ("Set", "features", *(results.labels[j] for j in order)),
        [
            (
                name,
                ", ".join(map(str, counts[name])),
                *("–" if np.isnan(row[j]) else f"{100 * row[j]:.1f}" for j in order),
            )
            for name, row in zip(results.sets, figures, strict=True)
        ],
        note="A dash is a run that failed or took too long.",
        data=[
            {
                "set": name,
                "n_features": counts[name],
                **{
                    results.labels[j]: None if np.isnan(row[j]) else round(float(row[j]), 6)
                    for j in order
                },
            }
            for name, row in zip(results.sets, figures, strict=True)
        ],
    )


def figures(results: Results, folder: Path) -> list[Path]:
    """The critical difference diagram."""
    if not results.sets:
        return []
    return critical_difference_figure(results, folder, "critical_difference")


EXPERIMENT = Experiment(
    name="leaderboard",
    paper="Every method that tamis has, as it comes.",
    about=(
        "Every selector has its defaults; nobody sees a label, nor the number of classes, before "
        "the selections are judged. A tenth of the features is selected, at most a hundred, on "
        "standardised columns (max variance: on the columns' own scales), and judged by K-means on "
        "the standardised columns. All features and random subsets take part. Sets of fewer than "
        f"{MIN_COLUMNS} columns are left out, as are those made from others; of larger sets at "
        f"most {PROTOCOL.max_samples} samples are taken, at random. Some sets are kin (isolet and "
        "isolet5, orl and orl_644), so that the tests, which take sets to be independent, are a "
        "little too sure of themselves."
    ),
    sets=tuple(eligible(datasets.names())),
    protocol=PROTOCOL,
    quick_protocol=QUICK_PROTOCOL,
    quick_sets=QUICK_SETS,
    tasks=tasks,
    tables=tables,
    figures=figures,
    time_limit=TIME_LIMIT,
)
