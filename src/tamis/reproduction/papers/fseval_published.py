"""The figures that FSEVAL has published, read from the table beside this module."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from tamis.evaluation.candidates import ALL_FEATURES_LABEL

__all__ = ["MEASURES", "METHODS", "SETS", "Measure", "published", "published_figures"]


class Measure(NamedTuple):
    """A measure as FSEVAL's table, our results and a column's head name it."""

    published: str
    ours: str
    head: str
    title: str


MEASURES = (
    Measure("clustering_accuracy", "kmeans_acc", "ACC", "Clustering accuracy"),
    Measure("nmi", "kmeans_nmi_arithmetic", "NMI", "NMI of the clusters and the classes"),
    Measure("forest_accuracy", "rf", "forest", "Accuracy of a random forest"),
)
# FSEVAL's names and ours.
SETS: Mapping[str, str] = {
    "COIL20": "coil20",
    "Isolet": "isolet",
    "ORL": "orl",
    "arcene": "arcene",
    "colon": "colon",
    "leukemia": "leukemia",
    "lung_discrete": "lung_small",
    "madelon": "madelon",
    "pixraw10P": "pixraw10p",
    "warpPIE10P": "warppie10p",
}
METHODS = ("Correlation", "LIDFS", "Laplacian", "MCFS", "SCFS", "VCSDFS", "Variance")


@cache
def published() -> Mapping[tuple[str, str, str], Mapping[float, float]]:
    """By set, measure and method: the figure at every fraction of the features.

    >>> published()["colon", "nmi", "LIDFS"][0.05]
    0.0001
    """
    text = (files(__package__) / "fseval.csv").read_text(encoding="utf-8")
    figures = {}
    for row in csv.DictReader(text.splitlines()):
        key = row.pop("set"), row.pop("measure"), row.pop("method")
        figures[key] = {float(fraction): float(value) for fraction, value in row.items() if value}
    return figures


def published_figures(
    set_name: str, measure: Measure, method: str, fractions: Sequence[float]
) -> list[float]:
    """What FSEVAL gives for a method at each of the fractions; all features are one figure."""
    figures = published()[set_name, measure.published, method]
    return [figures[1.0 if method == ALL_FEATURES_LABEL else share] for share in fractions]
