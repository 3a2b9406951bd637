"""The leaderboard: every method as it comes, no labels before judging, on every available set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from tamis import datasets, registry
from tamis.evaluation.candidates import ALL_FEATURES_LABEL, RANDOM_LABEL, Candidate
from tamis.evaluation.protocol import Protocol
from tamis.evaluation.rendering import percent
from tamis.evaluation.results import Results
from tamis.evaluation.runs import selection_tasks
from tamis.evaluation.sweep import Task
from tamis.preprocessing import Scaling
from tamis.reproduction.experiment import Experiment
from tamis.reproduction.leaderboard_rows import (
    INFORMATION,
    LeaderboardRow,
    figures_by_set,
    leaderboard_rows,
    ranks,
    sets_in_means,
)
from tamis.reproduction.plain_table import PlainTable
from tamis.reproduction.rank_diagram import critical_difference_figure

__all__ = ["EXPERIMENT", "TOLD_LABEL", "candidates", "eligible", "tables", "tasks"]

PROTOCOL = Protocol(
    scaling="standard",
    n_features=(0.1,),
    max_features=100,
    kmeans_init="k-means++",
    n_repeats=20,
    n_random=20,
    max_samples=1500,
)
QUICK_PROTOCOL = replace(PROTOCOL, n_repeats=5, n_random=5, max_samples=300)
QUICK_SETS = ("digits", "breast_cancer", "sonar", "ionosphere", "lung_small", "umist", "colon")
# Of narrower tables a tenth is no selection.
MIN_COLUMNS = 30
# Processor seconds for a fit and its judging; whoever takes longer shares the last place.
TIME_LIMIT = 60.0
# On standardised columns all variances are equal, and one method finds the scale itself: these get
# the columns' own scales.
OWN_SCALES: Mapping[str, Scaling] = {"max_variance": "unit", "auto": "none"}
# The one row that sees the number of classes.
TOLD_LABEL = "Auto, told c"


def eligible(sets: Sequence[str]) -> list[str]:
    """Those sets that are wide enough and not made from another."""
    return [
        name
        for name in sets
        if datasets.entry(name).n_features >= MIN_COLUMNS and datasets.entry(name).recipe is None
    ]


def candidates() -> list[Candidate]:
    """Every registered method with its defaults, and Auto told the number of classes."""
    told = Candidate(TOLD_LABEL, "auto", {"n_clusters": "n_classes"}, scaling=OWN_SCALES["auto"])
    return [
        *(
            Candidate(method.selector.__name__, name, scaling=OWN_SCALES.get(name))
            for name, method in registry.METHODS.items()
            if name != "random_subset"
        ),
        told,
    ]


def tasks(sets: Sequence[str], protocol: Protocol) -> list[Task]:
    """The runs of the leaderboard."""
    return selection_tasks(sets, candidates(), protocol)


def tables(results: Results) -> list[PlainTable]:
    """The leaderboard, and the figures behind it set by set."""
    if not results.sets:
        return []
    rows = leaderboard_rows(results)
    return [_rows_table(results, rows), _figures_table(results, rows)]


def _rows_table(results: Results, rows: Sequence[LeaderboardRow]) -> PlainTable:
    return PlainTable(
        f"Standings on {len(results.sets)} sets",
        (
            "Method",
            "mean rank",
            "by NMI",
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
                f"{row.rank_nmi:.1f}",
                percent(row.accuracy),
                percent(row.nmi),
                ""
                if row.label == ALL_FEATURES_LABEL
                else _record_words(row.beats_all, row.surely_beats_all),
                ""
                if row.label == RANDOM_LABEL
                else _record_words(row.beats_random, row.surely_beats_random),
                f"{row.seconds:.2f}",
                str(row.failed),
            )
            for row in rows
        ],
        note=_rows_note(results, rows),
        data=[row.as_dict() for row in rows],
    )


def _rows_note(results: Results, rows: Sequence[LeaderboardRow]) -> str:
    by_accuracy, by_nmi = ranks(results), ranks(results, INFORMATION)
    brackets = (
        "in brackets those where the difference is more than the luck of K-means starts and random "
        "subsets (Wilcoxon over the clusterings, 5 %, corrected by Holm); how the methods would do "
        "on other samples of the data it does not tell"
    )
    if any(row.surely_beats_all is None or row.surely_beats_random is None for row in rows):
        brackets += (
            ". A dash in the brackets: with so few clusterings the smallest p-value that the test "
            "can give, once corrected, is above 5 %"
        )
    return (
        "Mean rank is by clustering accuracy, beside it the one by NMI: on a set with one large "
        "class accuracy rewards lopsided clusters, NMI hardly. Mean ranks closer than "
        f"{by_accuracy.critical:.2f} are not told apart (Nemenyi, 5 %; Friedman's test: "
        f"p = {by_accuracy.p_value:.1g}, by NMI p = {by_nmi.p_value:.1g}). ACC and NMI are means "
        f"over the {sets_in_means(results)} of {len(results.sets)} sets that every method has "
        "finished, leaving aside methods that fail on more than a quarter of them. Against: sets "
        f"won : lost, {brackets}. Fit is the median processor time; a search of neighbours, shared "
        "by the methods, counts for the first that needs it. A method that fails or takes more "
        f"than {TIME_LIMIT:g} s shares the last place of the set."
    )


def _record_words(all_sets: tuple[int, int], sure: tuple[int, int] | None) -> str:
    brackets = "–" if sure is None else f"{sure[0]} : {sure[1]}"
    return f"{all_sets[0]} : {all_sets[1]} ({brackets})"


def _figures_table(results: Results, rows: Sequence[LeaderboardRow]) -> PlainTable:
    figures = figures_by_set(results)
    order = [results.labels.index(row.label) for row in rows]
    counts = {name: results.counts(name) for name in results.sets}
    return PlainTable(
        "Clustering accuracy, %",
        ("Set", "features", *(results.labels[j] for j in order)),
        [
            (
                name,
                ", ".join(map(str, counts[name])),
                *(percent(row[j]) for j in order),
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
    return critical_difference_figure(ranks(results), folder, "critical_difference")


EXPERIMENT = Experiment(
    name="leaderboard",
    paper="Every method that tamis has, as it comes.",
    about=(
        "Every selector has its defaults; no selection sees a label, nor the number of classes, "
        f"before it is judged, but for one row: {TOLD_LABEL} sees the number of classes. Three "
        "defaults were chosen with labels of these sets, being better "
        "on most of them: the ten clusters of MRSF and of EUFS and the ridge of LDAKM; the rules "
        "of Auto were chosen with the labels of half of these sets. Their "
        "places are that much flattered. A tenth of the features is selected, at most a hundred, "
        "on standardised columns (max variance and Auto, which scales by itself: on the columns' "
        "own scales), and judged by K-means on the standardised columns. All features "
        f"and random subsets take part. Sets of fewer than {MIN_COLUMNS} columns are left out, as "
        "are those made from others; of large sets some samples are taken, at random: the "
        "protocol says how many. Some sets are kin (isolet and isolet5, orl and orl_644), so that "
        "the tests, which take sets to be independent, are a little too sure of themselves."
    ),
    sets=tuple(eligible(datasets.names())),
    protocol=PROTOCOL,
    quick_protocol=QUICK_PROTOCOL,
    quick_sets=QUICK_SETS,
    tasks=tasks,
    tables=tables,
    figures=figures,
    time_limit=TIME_LIMIT,
    takes_candidates=True,
)
