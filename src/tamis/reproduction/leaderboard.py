"""The leaderboard: every method as it comes, no labels before judging, on every available set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tamis import datasets, registry
from tamis.evaluation.candidates import Candidate
from tamis.evaluation.protocol import Protocol
from tamis.evaluation.results import Results
from tamis.evaluation.runs import selection_tasks
from tamis.evaluation.sweep import Task
from tamis.preprocessing import Scaling
from tamis.reproduction.experiment import Experiment
from tamis.reproduction.leaderboard_rows import MEASURES, leaderboard_rows, ranks
from tamis.reproduction.leaderboard_tables import (
    means_table,
    set_tables,
    standings_table,
    time_table,
)
from tamis.reproduction.plain_table import PlainTable
from tamis.reproduction.rank_diagram import critical_difference_figure

__all__ = [
    "CLUSTERED",
    "EXPERIMENT",
    "QUICK_CLUSTERED",
    "TOLD_LABEL",
    "candidates",
    "eligible",
    "tables",
    "tasks",
]

# How selections are made and clustered; the experiment on Auto has no more.
CLUSTERED = Protocol(
    scaling="standard",
    n_features=(0.1,),
    max_features=100,
    kmeans_init="k-means++",
    n_repeats=20,
    n_random=20,
    max_samples=1500,
)
QUICK_CLUSTERED = replace(CLUSTERED, n_repeats=5, n_random=5, max_samples=300)
# With 200 classes a hundred trees learn for seven seconds: the forests are small.
PROTOCOL = replace(CLUSTERED, classifiers=("5nn", "rf"), n_trees=15, n_random_classified=5)
QUICK_PROTOCOL = replace(
    QUICK_CLUSTERED, classifiers=("5nn", "rf"), n_trees=5, n_random_classified=2
)
QUICK_SETS = ("digits", "breast_cancer", "sonar", "ionosphere", "lung_small", "umist", "colon")
# Of narrower tables a tenth is no selection.
MIN_COLUMNS = 30
# Processor seconds for a fit; whoever takes longer shares the last place.
TIME_LIMIT = 60.0
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
    """Every registered method with its defaults on its own scale, and Auto told the classes."""
    told = Candidate(TOLD_LABEL, "auto", {"n_clusters": "n_classes"}, scaling=_scale("auto"))
    return [
        *(
            Candidate(method.selector.__name__, name, scaling=_scale(name))
            for name, method in registry.METHODS.items()
            if name != registry.RANDOM_BASELINE
        ),
        told,
    ]


def _scale(method: str) -> Scaling | None:
    """The scale that the method is recommended for, where it is not that of the judging."""
    recommended = registry.get(method).scaling
    return None if recommended == PROTOCOL.scaling else recommended


def tasks(sets: Sequence[str], protocol: Protocol) -> list[Task]:
    """The runs of the leaderboard."""
    return selection_tasks(sets, candidates(), protocol)


def tables(results: Results) -> list[PlainTable]:
    """The leaderboard, its means and its run times, and the figures behind it set by set."""
    if not results.sets:
        return []
    rows = leaderboard_rows(results)
    return [
        standings_table(results, rows),
        means_table(results, rows),
        time_table(results, rows, _scales(results.labels), TIME_LIMIT),
        *set_tables(results, [row.label for row in rows]),
    ]


def _scales(labels: Sequence[str]) -> dict[str, str]:
    """By label, the scale on which a method ranks the columns; whoever joined has the judging's."""
    known = {
        one.label: "own" if one.method == "auto" else registry.get(one.method).scaling
        for one in candidates()
    }
    return {label: known.get(label, PROTOCOL.scaling) for label in labels}


def figures(results: Results, folder: Path) -> list[Path]:
    """A critical difference diagram for each measure."""
    if not results.sets:
        return []
    return [
        path
        for measure in MEASURES
        for path in critical_difference_figure(
            ranks(results, measure.name),
            folder,
            f"critical_difference_{measure.name.removeprefix('kmeans_')}",
        )
    ]


EXPERIMENT = Experiment(
    name="leaderboard",
    paper="Every method that tamis has, as it comes.",
    about=(
        "Every selector has its defaults; no selection sees a label, nor the number of classes, "
        f"before it is judged, but for one row: {TOLD_LABEL} sees the number of classes. Some "
        "defaults were chosen with labels of these sets, being better "
        "on most of them: the ten clusters of MRSF and of EUFS and the ridge of LDAKM; with those "
        "of six sets, the defaults of SSFS, RNE and LLCFS; of EGCFS, one; the rules "
        "of Auto with the labels of half of these sets. Their "
        "places are that much flattered. A tenth of the features, at most 100, is selected by "
        "each method on the scale that it is recommended for (the table of run times names it, "
        "tamis methods explains it), and all selections are judged alike on the standardised "
        "columns: by K-means, by five nearest neighbours and by a random forest. The forest is "
        f"small ({PROTOCOL.n_trees} trees, five folds, once; scikit-learn's default has 100), so "
        "that its accuracies are lower than a larger one's, most of all with many classes; of the "
        f"random subsets the classifiers judge {PROTOCOL.n_random_classified}. All features and "
        "random subsets take part. The fit may take a minute of processor time; judging does not "
        f"count. Sets of fewer than {MIN_COLUMNS} columns are left out, as "
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
    limited_part="fit",
    takes_candidates=True,
)
