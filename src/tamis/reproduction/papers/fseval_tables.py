"""The tables of FSEVAL's benchmark: our methods and the published ones in one order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tamis._typing import FloatArray
from tamis.evaluation.candidates import ALL_FEATURES_LABEL, RANDOM_LABEL
from tamis.evaluation.protocol import Protocol
from tamis.evaluation.rendering import percent
from tamis.evaluation.results import Estimate, Results
from tamis.evaluation.statistics import Ranks, mean_ranks
from tamis.evaluation.ties import TOLERANCE
from tamis.reproduction.assembly import cells_beside
from tamis.reproduction.completeness import comparable
from tamis.reproduction.papers.fseval_published import (
    MEASURES,
    METHODS,
    SETS,
    Measure,
    published_figures,
)
from tamis.reproduction.plain_table import PlainTable
from tamis.reproduction.published_tables import Printed
from tamis.reproduction.tables import PaperTable

__all__ = [
    "Standings",
    "check_table",
    "other_sets",
    "other_sets_table",
    "set_table",
    "shares_table",
    "standings",
    "standings_table",
]

# Ours and FSEVAL's names of what both have measured.
COMMON: Mapping[str, str] = {
    ALL_FEATURES_LABEL: "All features",
    RANDOM_LABEL: "Random",
    "MaxVariance": "Variance",
    "LaplacianScore": "Laplacian",
    "MCFS": "MCFS",
}
RESOLUTION = 0.5e-4  # the published figures have four digits


@dataclass(frozen=True)
class Standings:
    """Figures of our methods and of the published ones, in the order of printing.

    Attributes
    ----------
    labels : tuple of str
        The published ones say so; the best first.
    sets : tuple of str
        FSEVAL's names of the sets that were run.
    fractions : tuple of float
    figures : mapping of str to ndarray of shape (n_sets, n_fractions, n_labels)
        By the measure's head; NaN where a run failed.
    ranks : mapping of str to Ranks
        By the measure's head, of the means over the fractions.
    fit_seconds : mapping of str to float
        By the label of ours, the median over the sets.
    """

    labels: tuple[str, ...]
    sets: tuple[str, ...]
    fractions: tuple[float, ...]
    figures: Mapping[str, FloatArray]
    ranks: Mapping[str, Ranks]
    fit_seconds: Mapping[str, float]

    def by_set(self, measure: Measure) -> FloatArray:
        """Means over the fractions, by set and label."""
        return np.asarray(self.figures[measure.head].mean(axis=1))

    def means(self, measure: Measure) -> FloatArray:
        """Means over the sets, by fraction and label; NaN for a method that fails too often."""
        methods, sets = comparable(self.by_set(measure))
        means = np.full((len(self.fractions), len(self.labels)), np.nan)
        if sets.any():
            means[:, methods] = self.figures[measure.head][sets][..., methods].mean(axis=0)
        return means

    @property
    def n_sets_in_means(self) -> int:
        """Over how many sets the means are taken."""
        return int(comparable(self.by_set(MEASURES[0]))[1].sum())


def standings(results: Results) -> Standings:
    """Our figures and the published ones at the fractions that were judged.

    The order is that of the average of the three mean ranks.
    """
    fractions = tuple(results.header["n_features"])
    sets = tuple(theirs for theirs, ours in SETS.items() if ours in results.sets)
    labels = (*results.labels, *(f"{method} (published)" for method in METHODS))
    figures = {}
    for measure in MEASURES:
        ours = [
            [_ours(results, SETS[name], label, measure) for label in results.labels]
            for name in sets
        ]
        theirs = [
            [published_figures(name, measure, method, fractions) for method in METHODS]
            for name in sets
        ]
        table = np.concatenate([np.array(ours, dtype=float), np.array(theirs)], axis=1)
        figures[measure.head] = table.transpose(0, 2, 1)
    ranks = {head: mean_ranks(labels, table.mean(axis=1)) for head, table in figures.items()}
    order = np.argsort(np.mean([found.ranks for found in ranks.values()], axis=0), kind="stable")
    return Standings(
        labels=tuple(labels[j] for j in order),
        sets=sets,
        fractions=fractions,
        figures={head: table[..., order] for head, table in figures.items()},
        ranks=ranks,
        fit_seconds={
            label: float(np.median([results.seconds(SETS[name], label, "fit") for name in sets]))
            for label in results.labels
        },
    )


def _ours(results: Results, name: str, label: str, measure: Measure) -> list[float]:
    """Our figure at each fraction, NaN where the run failed; the set has our name."""
    whole = results.estimate(name, ALL_FEATURES_LABEL, measure.ours)
    figures = []
    for share in results.header["n_features"]:
        found = None
        if whole is not None and whole.n_features is not None:
            protocol = Protocol(n_features=(share,), rounding=results.header["rounding"])
            (count,) = protocol.counts(whole.n_features)
            found = results.estimate(name, label, measure.ours, n_features=count)
        figures.append(np.nan if found is None else found.mean)
    return figures


def standings_table(found: Standings) -> PlainTable:
    """Means, mean ranks and sets won against all features."""
    means = {measure.head: found.means(measure).mean(axis=0) for measure in MEASURES}
    ranks = {
        head: dict(zip(one.labels, one.ranks.tolist(), strict=True))
        for head, one in found.ranks.items()
    }
    won = {measure.head: _won(found, measure) for measure in MEASURES}
    failed = np.isnan(found.by_set(MEASURES[0])).sum(axis=0)
    data: list[dict[str, Any]] = [
        {
            "label": label,
            "means": {head: _number(values[j]) for head, values in means.items()},
            "ranks": {head: of[label] for head, of in ranks.items()},
            "against_all_features": {head: list(records[j]) for head, records in won.items()},
            "fit_seconds": found.fit_seconds.get(label),
            "failed": int(failed[j]) if label in found.fit_seconds else None,
        }
        for j, label in enumerate(found.labels)
    ]
    heads = [measure.head for measure in MEASURES]
    return PlainTable(
        f"Standings on {len(found.sets)} sets",
        (
            "Method",
            *(f"{head} %" for head in heads),
            *(f"rank by {head}" for head in heads),
            *(f"{head} against all" for head in heads),
            "fit, s",
            "failed",
        ),
        [
            (
                row["label"],
                *(percent(row["means"][head]) for head in heads),
                *(f"{row['ranks'][head]:.1f}" for head in heads),
                *(
                    ""
                    if row["label"] == ALL_FEATURES_LABEL
                    else "{} : {}".format(*row["against_all_features"][head])
                    for head in heads
                ),
                "" if row["fit_seconds"] is None else f"{row['fit_seconds']:.2f}",
                "" if row["failed"] is None else str(row["failed"]),
            )
            for row in data
        ],
        note=_standings_note(found),
        data=data,
    )


def _standings_note(found: Standings) -> str:
    critical = found.ranks[MEASURES[0].head].critical
    p_values = ", ".join(
        f"{measure.head} {found.ranks[measure.head].p_value:.1g}" for measure in MEASURES
    )
    return (
        f"Means are over {_shares(found.fractions)} of the features and over the "
        f"{found.n_sets_in_means} of {len(found.sets)} sets that every method has finished, "
        "leaving aside methods that fail on more than a quarter of them. Methods marked as "
        "published have FSEVAL's figures, all others are measured here. The order is by the "
        f"average of the three mean ranks; mean ranks closer than {critical:.2f} are not told "
        f"apart (Nemenyi, 5 %; Friedman's test: p by {p_values}). Against all: sets won : lost "
        "against all features as measured here. Fit is the median processor time; a search of "
        "neighbours, shared by the methods, counts for the first that needs it. A method that "
        "fails or takes too long shares the last place of the set."
    )


def _won(found: Standings, measure: Measure) -> list[tuple[int, int]]:
    by_set = found.by_set(measure)
    difference = by_set - by_set[:, [found.labels.index(ALL_FEATURES_LABEL)]]
    above, below = (difference > TOLERANCE).sum(axis=0), (difference < -TOLERANCE).sum(axis=0)
    return list(zip(above.tolist(), below.tolist(), strict=True))


def shares_table(found: Standings) -> PlainTable:
    """Means over the sets at each fraction of the features."""
    means = [found.means(measure) for measure in MEASURES]
    return PlainTable(
        "By the share of features selected, %",
        (
            "Method",
            *(f"{one.head}, {100 * share:g} %" for one in MEASURES for share in found.fractions),
        ),
        [
            (label, *(percent(value) for table in means for value in table[:, j]))
            for j, label in enumerate(found.labels)
        ],
        note="Means over the same sets as above.",
        data=[
            {
                "label": label,
                **{
                    measure.head: [_number(value) for value in table[:, j]]
                    for measure, table in zip(MEASURES, means, strict=True)
                },
            }
            for j, label in enumerate(found.labels)
        ],
    )


def set_table(found: Standings, measure: Measure) -> PlainTable:
    """The mean of a measure over the fractions, set by set."""
    by_set = found.by_set(measure)
    return PlainTable(
        f"{measure.title} set by set, %",
        ("Method", *found.sets),
        [
            (label, *(percent(value) for value in by_set[:, j]))
            for j, label in enumerate(found.labels)
        ],
        note=(
            f"Means over {_shares(found.fractions)} of the features. A dash is a run that failed "
            "or took too long."
        ),
        data=[
            {
                "label": label,
                "sets": {
                    name: [_number(value) for value in found.figures[measure.head][i, :, j]]
                    for i, name in enumerate(found.sets)
                },
            }
            for j, label in enumerate(found.labels)
        ],
    )


def other_sets(results: Results) -> list[str]:
    """Sets that were run beside those of which figures are published."""
    return [name for name in results.sets if name not in SETS.values()]


def other_sets_table(results: Results, measure: Measure) -> PlainTable:
    """The mean of a measure over the fractions, on sets of which no figures are published."""
    sets = other_sets(results)
    figures = np.array(
        [[np.mean(_ours(results, s, label, measure)) for s in sets] for label in results.labels]
    )
    order = np.argsort(mean_ranks(results.labels, figures.T).ranks, kind="stable")
    fractions = results.header["n_features"]
    return PlainTable(
        f"{measure.title} on other sets, %",
        ("Method", *sets),
        [(results.labels[j], *(percent(value) for value in figures[j])) for j in order],
        note=(
            f"Means over {_shares(fractions)} of the features, the best mean rank first. No "
            "figures are published of these sets here, and they count nowhere else. A dash is a "
            "run that failed or took too long."
        ),
        data=[
            {
                "label": results.labels[j],
                "sets": dict(zip(sets, map(_number, figures[j]), strict=True)),
            }
            for j in order
        ],
    )


def check_table(results: Results, measure: Measure) -> PaperTable:
    """What both have measured, ours beside FSEVAL's: whether the protocol is the same."""
    fractions = results.header["n_features"]
    printed = {
        (name, ours): Printed(
            float(np.mean(published_figures(name, measure, theirs, fractions))),
            resolution=RESOLUTION,
        )
        for name in SETS
        for ours, theirs in COMMON.items()
    }

    def ours(row: str, column: str) -> tuple[str, Estimate | None]:
        return SETS[row], results.estimate(SETS[row], column, measure.ours, pick="mean")

    return PaperTable(
        title=f"{measure.title}, what both have measured, %",
        columns=list(COMMON),
        rows=list(SETS),
        cells=cells_beside(printed, list(SETS), list(COMMON), ours),
        corner="set",
        note=f"Means over {_shares(fractions)} of the features.",
        decimals=2,
    )


def _shares(fractions: Sequence[float]) -> str:
    return ", ".join(f"{100 * share:g}" for share in fractions) + " %"


def _number(value: float) -> float | None:
    return None if np.isnan(value) else round(float(value), 6)
