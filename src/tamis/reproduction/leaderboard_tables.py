"""The leaderboard's tables: places, means and run times on one page, figures by set on another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from tamis.evaluation.candidates import ALL_FEATURES_LABEL, RANDOM_LABEL
from tamis.evaluation.rendering import percent
from tamis.evaluation.results import Results
from tamis.reproduction.leaderboard_rows import (
    MEASURES,
    LeaderboardRow,
    Measure,
    figures_by_set,
    ranks,
    sets_in_means,
)
from tamis.reproduction.plain_table import PlainTable

__all__ = ["means_table", "set_tables", "standings_table", "time_table"]

# As many columns as a page has room for.
SETS_PER_TABLE = 10


def standings_table(results: Results, rows: Sequence[LeaderboardRow]) -> PlainTable:
    """Mean ranks by every measure, and sets won and lost against the two baselines."""
    heads = [one.head for one in MEASURES]
    return PlainTable(
        f"Standings on {len(results.sets)} sets",
        (
            "Method",
            "mean rank",
            *(f"by {head}" for head in heads),
            "against all features",
            "against random",
            "not finished",
        ),
        [
            (
                row.label,
                f"{row.rank:.1f}",
                *(f"{row.ranks[head]:.1f}" for head in heads),
                ""
                if row.label == ALL_FEATURES_LABEL
                else _record_words(row.beats_all, row.surely_beats_all),
                ""
                if row.label == RANDOM_LABEL
                else _record_words(row.beats_random, row.surely_beats_random),
                str(row.too_long + row.failed),
            )
            for row in rows
        ],
        note=_standings_note(results, rows),
        data=[row.as_dict() for row in rows],
    )


def _standings_note(results: Results, rows: Sequence[LeaderboardRow]) -> str:
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
    found = {one.head: ranks(results, one.name) for one in MEASURES}
    p_values = ", ".join(f"{head} {one.p_value:.1g}" for head, one in found.items())
    critical = found[MEASURES[0].head].critical
    return (
        "Mean rank is the average of the mean rank by clustering (the average of those by ACC, NMI "
        "and ARI, of K-means with as many clusters as there are classes) and of the mean rank by "
        "classification (5-NN, a random forest): K-means alone does not decide. On a set with one "
        "large class accuracy rewards lopsided clusters, NMI and ARI hardly. In one column, mean "
        f"ranks closer than {critical:.2f} are not told apart (Nemenyi, 5 %; Friedman's test: p by "
        f"{p_values}). Against: sets won : lost by ACC, {brackets}. A method that fails or takes "
        "too long on a set shares the last place there; not finished says on how many."
    )


def _record_words(all_sets: tuple[int, int], sure: tuple[int, int] | None) -> str:
    brackets = "–" if sure is None else f"{sure[0]} : {sure[1]}"
    return f"{all_sets[0]} : {all_sets[1]} ({brackets})"


def means_table(results: Results, rows: Sequence[LeaderboardRow]) -> PlainTable:
    """Means over the sets, by every measure."""
    heads = [one.head for one in MEASURES]
    return PlainTable(
        "Means over the sets, %",
        ("Method", *heads),
        [(row.label, *(percent(row.means[head]) for head in heads)) for row in rows],
        note=(
            f"Means over the {sets_in_means(results)} of {len(results.sets)} sets that every "
            "method has finished, leaving aside methods that fail on more than a quarter of them. "
            "ACC, NMI and ARI are of K-means, 5-NN and forest are accuracies in five folds."
        ),
        data=[{"label": row.label, **row.means} for row in rows],
    )


def time_table(
    results: Results, rows: Sequence[LeaderboardRow], scales: Mapping[str, str], limit: float
) -> PlainTable:
    """The scale and the run time of each method.

    Parameters
    ----------
    results : Results
    rows : sequence of LeaderboardRow
    scales : mapping
        By label, the scale on which columns are ranked.
    limit : float
        Processor seconds that a fit may take.
    """
    timed = [row for row in rows if row.label not in (ALL_FEATURES_LABEL, RANDOM_LABEL)]
    n_runs = len(timed) * len(results.sets)
    n_too_long = sum(row.too_long for row in timed)
    share = f" ({100 * n_too_long / n_runs:.1f} %)" if n_runs else ""
    return PlainTable(
        "Run times",
        (
            "Method",
            "scale",
            "median fit, s",
            "largest fit, s",
            "on",
            f"over {limit:g} s",
            "errors",
        ),
        [
            (
                row.label,
                scales[row.label],
                f"{row.seconds:.2f}",
                f"over {limit:g}" if row.most_seconds >= limit else f"{row.most_seconds:.2f}",
                row.slowest_set,
                str(row.too_long),
                str(row.failed),
            )
            for row in sorted(timed, key=lambda row: row.seconds)
        ],
        note=(
            "Processor time of a fit on one thread: the median and the largest over the sets, and "
            "the set that took the largest. A search of neighbours, shared by the methods, counts "
            f"for the first that needs it. {n_too_long} of {n_runs} runs{share} took longer than "
            f"{limit:g} s and were stopped."
        ),
        data=[
            {
                "label": row.label,
                "scale": scales[row.label],
                "median_seconds": row.seconds,
                "largest_seconds": row.most_seconds,
                "slowest_set": row.slowest_set,
                "too_long": row.too_long,
                "failed": row.failed,
            }
            for row in timed
        ],
    )


def set_tables(results: Results, labels: Sequence[str]) -> Iterator[PlainTable]:
    """Every measure on every set, a few sets per table, the methods in the order of `labels`."""
    for measure in MEASURES:
        for first in range(0, len(results.sets), SETS_PER_TABLE):
            sets = results.sets[first : first + SETS_PER_TABLE]
            yield _set_table(results, measure, sets, labels)


def _set_table(
    results: Results, measure: Measure, sets: Sequence[str], labels: Sequence[str]
) -> PlainTable:
    figures = figures_by_set(results, measure.name, sets=sets, labels=labels)
    counts = {name: results.counts(name) for name in sets}
    return PlainTable(
        f"{measure.title}, %: {sets[0]} to {sets[-1]}"
        if len(sets) > 1
        else f"{measure.title}, %: {sets[0]}",
        ("Method", *sets),
        [
            ("features selected", *(", ".join(map(str, counts[name])) for name in sets)),
            *(
                (label, *(percent(value) for value in column))
                for label, column in zip(labels, figures.T, strict=True)
            ),
        ],
        note="A dash is a run that failed or took too long.",
        data=[
            {
                "set": name,
                "measure": measure.name,
                "n_features": counts[name],
                **{
                    label: None if np.isnan(value) else round(float(value), 6)
                    for label, value in zip(labels, row, strict=True)
                },
            }
            for name, row in zip(sets, figures, strict=True)
        ],
        on_second_page=True,
    )
