"""What ``tamis compare`` measures of one method: a task of a sweep, and the table of all."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tamis import registry
from tamis._typing import IntArray, Matrix
from tamis.cli._screen import one_line
from tamis.evaluation.candidates import ALL_FEATURES, RANDOM
from tamis.evaluation.protocol import Protocol
from tamis.evaluation.results import Estimate, Record
from tamis.evaluation.scoring import clustering_values
from tamis.evaluation.seeds import seed_groups
from tamis.evaluation.stopwatch import part
from tamis.inspection import Choice, Loss, draw_sample, measure_loss
from tamis.metrics import jaccard, redundancy
from tamis.utils.columns import extent

__all__ = ["MEASURES", "Judge", "judge_method", "overlap", "summary"]

# What is printed of each method, with its head. Those by labels come last.
MEASURES = {
    "redundancy": "redundancy",
    "variance": "variance kept",
    "noise": "noise level",
    "reconstruction": "rebuilding error",
    "neighbors": "neighbours kept",
    "agreement": "agreement",
    "kmeans_acc": "ACC",
    "kmeans_nmi": "NMI",
}


@dataclass(frozen=True)
class Judge:
    """What every selection is judged by.

    Attributes
    ----------
    X : matrix of shape (n_samples, n_features)
        The table, scaled.
    labels : ndarray or None
        Codes of the classes; they judge, and no method sees them.
    reference : ndarray
        A clustering of all columns, which a selection should still show.
    n_clusters : int
    n_kept : int
        Columns that each method keeps.
    protocol : Protocol
        Repeats, random subsets and the seed.
    """

    X: Matrix
    labels: IntArray | None
    reference: IntArray
    n_clusters: int
    n_kept: int
    protocol: Protocol

    def measure(self, chosen: IntArray, seeds: range) -> dict[str, list[float]]:
        """Every measure of the chosen columns."""
        table = self.X[:, np.sort(chosen)]
        loss = self._loss(chosen)
        return {
            "redundancy": [redundancy(table)],
            "variance": [loss.variance.selected],
            "noise": [loss.noise],
            "reconstruction": [loss.reconstruction.selected],
            "neighbors": [loss.neighbors.selected],
            **clustering_values(
                table, self.labels, self.n_clusters, self.protocol, seeds, self.reference
            ),
        }

    def _loss(self, chosen: IntArray) -> Loss:
        """What the chosen columns lose, on rows that are the same for every choice."""
        lowest, highest = extent(self.X)
        first = Choice(self.X, np.arange(self.n_kept), lowest == highest)
        sample = draw_sample(first, np.random.RandomState(self.protocol.seed))
        return measure_loss(replace(first, kept=chosen), replace(sample, subsets=(chosen,)))


def judge_method(
    judge: Judge, X: Matrix, method: str, parameters: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Fit a method to X, and judge what it selects.

    Returns
    -------
    list of dict
        Rows of "n_features", "measure" and "values"; "selected" has the columns, the best first,
        "warnings" what the method said.
    """
    n_features = X.shape[1] if method == ALL_FEATURES else judge.n_kept
    values: dict[str, list[Any]] = {}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for columns, seeds in _selections(judge, X, method, parameters):
            if method not in (ALL_FEATURES, RANDOM):
                values["selected"] = [int(column) for column in columns]
            for measure, some in judge.measure(columns, seeds).items():
                values.setdefault(measure, []).extend(some)
    texts = [one_line(str(w.message)) for w in said if issubclass(w.category, UserWarning)]
    values["warnings"] = list(dict.fromkeys(texts))
    return [
        {"n_features": n_features, "measure": measure, "values": some}
        for measure, some in values.items()
    ]


def _selections(
    judge: Judge, X: Matrix, method: str, parameters: Mapping[str, Any]
) -> Iterator[tuple[IntArray, range]]:
    """Selections, each with the seeds of the clusterings that judge it: several random ones."""
    for seeds, model_seed in seed_groups(method, judge.protocol):
        if method == ALL_FEATURES:
            yield np.arange(X.shape[1]), seeds
            continue
        model = registry.get(method).selector(judge.n_kept, **parameters)
        if "random_state" in model.get_params():
            model.set_params(random_state=model_seed)
        with part("fit"):
            model.fit(X)
        yield np.argsort(model.ranking_)[: judge.n_kept], seeds


def summary(record: Record) -> dict[str, Any]:
    """A method's line: means and deviations of its measures, its time, its columns, its failure."""
    values = {row["measure"]: row["values"] for row in record.rows}
    figures: dict[str, Any] = {}
    for measure in MEASURES:
        if values.get(measure):
            estimate = Estimate.of(np.array(values[measure]), None, {})
            n = len(estimate.values)
            sd = estimate.sd if n > 1 else None  # of one value there is none
            figures[measure] = {"mean": estimate.mean, "sd": sd, "n": n}
    return {
        "method": record.key["label"],
        "parameters": record.key["parameters"],
        "n_columns": record.rows[0]["n_features"] if record.rows else None,
        "fit_seconds": None if record.too_long else record.seconds.get("fit"),
        "over_time_limit": record.too_long,
        "measures": figures,
        "selected": values.get("selected"),
        "warnings": values.get("warnings", []),
        "error": None if record.too_long else record.error,
    }


def overlap(lines: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[float]]]:
    """The methods that have one selection, and the Jaccard index of each pair."""
    selections = {line["method"]: line["selected"] for line in lines if line["selected"]}
    return list(selections), [
        [jaccard(one, other) for other in selections.values()] for one in selections.values()
    ]
