"""The experiments of the JDLUFS poster: classification, NMI and ACC."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tamis import datasets
from tamis.evaluation.candidates import Candidate
from tamis.evaluation.protocol import Protocol
from tamis.evaluation.results import Estimate, Results
from tamis.evaluation.runs import selection_tasks
from tamis.evaluation.sweep import Task
from tamis.reproduction.assembly import cells_beside, curves
from tamis.reproduction.experiment import Experiment
from tamis.reproduction.figures import draw
from tamis.reproduction.published_tables import Printed, published_table
from tamis.reproduction.tables import PaperTable

__all__ = ["EXPERIMENT", "candidates"]

SETS = {
    "USPS": "usps",
    "COIL20": "coil20",
    "warpPIE10P": "warppie10p",
    "Isolet": "isolet",
    "Lung": "lung",
    "pixraw10P": "pixraw10p",
}
RATIOS = (0.2, 0.4, 0.6, 0.8)
# Codes cost the square of the number of atoms: of larger sets the ratios are of this many samples.
DICTIONARY_SAMPLES = 500
METHODS = (
    "Laplacian",
    "SPEC",
    "RUFS",
    "EUFS",
    "CUFS",
    *(f"JDLUFS ({ratio})" for ratio in RATIOS),
    "Random subsets",
    "All features",
)
CLASSIFICATION = published_table("""
             | USPS        | COIL20      | warpPIE10P | Isolet      | Lung       | pixraw10P
Laplacian    | 94.08±3.65  | 85.94±6.05  | 94.28±3.56 | 76.56±4.82  | 91.78±1.17 | 87.50±15.24
SPEC         | 78.66±23.71 | 57.14±21.19 | 97.19±5.60 | 73.30±8.03  | 89.77±2.25 | 68.00±20.00
RUFS         | 95.41±5.70  | 94.31±11.44 | 99.89±3.56 | 84.04±8.15  | 93.61±1.65 | 97.83±1.78
EUFS         | 95.47±3.53  | 93.01±8.83  | 99.75±0.72 | 80.95±10.15 | 93.13±1.56 | 97.50±4.34
CUFS         | 95.86±1.82  | 93.49±4.52  | 99.91±0.44 | 84.16±3.00  | 91.13±1.40 | 99.00±3.53
JDLUFS (0.2) | 96.01±2.81  | 95.22±3.68  | 99.92±1.90 | 85.63±3.81  | 94.14±1.53 | 99.00±2.80
JDLUFS (0.4) | 96.09±2.88  | 95.06±3.67  | 99.93±1.88 | 86.57±3.02  | 94.14±1.53 | 99.17±2.9
JDLUFS (0.6) | 96.11±2.86  | 95.01±3.61  | 99.95±1.82 | 86.77±3.97  | 94.43±1.56 | 99.00±2.89
JDLUFS (0.8) | 96.10±2.76  | 94.89±3.39  | 99.83±1.83 | 85.03±3.77  | 94.14±1.63 | 99.00±2.33
""")
NMI = published_table("""
             | USPS        | COIL20      | warpPIE10P  | Isolet     | Lung       | pixraw10P
Laplacian    | 61.08±4.88  | 65.68±2.97  | 22.36±2.57  | 70.62±2.77 | 59.78±6.60 | 79.43±13.6
SPEC         | 47.85±23.71 | 50.54±21.19 | 52.77±5.60  | 66.51±8.03 | 59.09±2.25 | 66.13±20.0
RUFS         | 62.55±3.52  | 73.38±6.96  | 42.28±4.21  | 76.62±8.80 | 65.50±5.17 | 87.35±3.60
EUFS         | 62.27±2.52  | 67.61±2.16  | 68.50±12.91 | 70.47±6.37 | 59.11±7.55 | 79.76±4.88
CUFS         | 61.89±1.69  | 71.63±2.47  | 48.23±4.99  | 75.23±3.87 | 59.52±2.61 | 81.95±5.66
JDLUFS (0.2) | 62.98±1.63  | 73.98±2.39  | 44.50±3.30  | 78.14±4.44 | 67.15±2.08 | 90.88±6.22
JDLUFS (0.4) | 63.03±1.73  | 73.87±2.47  | 39.04±3.17  | 77.74±4.49 | 67.38±2.10 | 90.48±6.20
JDLUFS (0.6) | 62.94±1.75  | 73.97±2.49  | 41.23±3.25  | 78.53±4.67 | 66.90±2.20 | 91.42±6.2
JDLUFS (0.8) | 63.02±1.66  | 73.87±2.23  | 41.58±3.22  | 77.63±4.36 | 67.22±2.29 | 90.94±6.73
""")
ACC = published_table("""
             | USPS        | COIL20      | warpPIE10P  | Isolet     | Lung       | pixraw10P
Laplacian    | 64.58±4.28  | 53.19±2.93  | 21.44±1.54  | 55.49±3.12 | 70.49±8.68 | 66.22±17.2
SPEC         | 50.38±12.99 | 35.72±10.04 | 42.98±5.90  | 52.01±4.06 | 64.85±3.29 | 56.95±10.4
RUFS         | 66.43±3.10  | 61.01±7.44  | 34.53±2.31  | 62.03±9.61 | 79.61±4.39 | 81.20±4.43
EUFS         | 66.46±2.98  | 54.46±1.92  | 58.93±10.31 | 56.86±6.66 | 71.71±6.53 | 74.00±5.04
CUFS         | 65.06±2.03  | 60.52±3.23  | 41.42±3.76  | 62.15±5.21 | 69.70±2.46 | 75.97±5.56
JDLUFS (0.2) | 67.74±2.47  | 61.21±3.75  | 37.10±3.04  | 64.26±4.92 | 82.34±3.65 | 83.00±5.35
JDLUFS (0.4) | 67.58±2.70  | 61.24±3.79  | 32.60±3.99  | 64.92±4.01 | 83.15±3.97 | 83.35±5.37
JDLUFS (0.6) | 67.49±2.61  | 61.71±3.74  | 34.37±3.92  | 65.59±4.21 | 79.38±3.89 | 84.22±5.5
JDLUFS (0.8) | 67.67±2.57  | 61.43±3.53  | 35.02±4.02  | 63.46±4.78 | 82.33±3.10 | 83.57±5.10
""")
MEASURES = {
    "Classification accuracy": ("1nn", CLASSIFICATION),
    "Clustering, NMI": ("kmeans_nmi", NMI),
    "Clustering, ACC": ("kmeans_acc", ACC),
}
ABOUT = f"""\
The poster names neither its classifier, nor the start of K-means, nor its numbers of features,
nor how parameters were chosen; its standard deviations are so large that they seem to be over
numbers of features or settings, not over runs. Those of SPEC in the NMI table are those of its
classification table, figure for figure, and RUFS has 99.89 ± 3.56 on warpPIE10P beside 94.28 ±
3.56 of the Laplacian score: both look like slips of the print. "32,60" (JDLUFS 0.4, ACC,
warpPIE10P) is read as 32.60.

Here values are brought to [0, 1] by one scale; EUFS alone is fitted to standardised columns,
since it counts the mean of a feature as if it told clusters apart. Classification is by the
nearest neighbour in stratified folds, clustering by K-means from random samples. A figure is the
mean over the numbers of features that the protocol names, where a set has more. Parameters are
the defaults, and labels tune nothing; only the number of classes is given to RUFS, EUFS and JDLUFS.
The number behind JDLUFS is the size of the dictionary, as a ratio of the samples and at most of
{DICTIONARY_SAMPLES} of them. Random subsets and all features are our additions."""


def candidates(n_samples: int, n_classes: int) -> list[Candidate]:
    """The methods of the poster, with dictionaries for a set of that size."""
    clusters = {"n_clusters": n_classes}
    return [
        Candidate("Laplacian", "laplacian_score"),
        Candidate("SPEC", "spec"),
        Candidate("RUFS", "rufs", parameters=clusters),
        Candidate("EUFS", "eufs", parameters=clusters, scaling="standard"),
        Candidate("CUFS", "cufs"),
        *(
            Candidate(
                f"JDLUFS ({ratio})",
                "jdlufs",
                parameters={
                    **clusters,
                    "n_atoms": max(n_classes, int(ratio * min(n_samples, DICTIONARY_SAMPLES))),
                },
            )
            for ratio in RATIOS
        ),
    ]


def tasks(sets: Sequence[str], protocol: Protocol) -> list[Task]:
    """The work: the candidates of each set on it."""
    work = []
    for name in sets:
        entry = datasets.entry(name)
        n_samples = min(entry.n_samples, protocol.max_samples or entry.n_samples)
        work += selection_tasks([name], candidates(n_samples, entry.n_classes), protocol)
    return work


def tables(results: Results) -> list[PaperTable]:
    """The three tables."""
    return [
        _table(results, f"{title}, %", measure, printed)
        for title, (measure, printed) in MEASURES.items()
    ]


def _table(
    results: Results, title: str, measure: str, printed: Mapping[tuple[str, str], Printed]
) -> PaperTable:
    def ours(row: str, column: str) -> tuple[str, Estimate | None]:
        return SETS[column], results.estimate(SETS[column], row, measure, pick="mean")

    return PaperTable(
        title,
        tuple(SETS),
        METHODS,
        cells_beside(printed, METHODS, tuple(SETS), ours),
        note="Means over the numbers of features; parameters are the defaults.",
        corner="Method",
    )


def figures(results: Results, folder: Path) -> list[Path]:
    """ACC over the number of features, which the poster does not show.

    Of JDLUFS only the smallest dictionary: the others lie on top of it.
    """
    shown = [label for label in METHODS if label not in {f"JDLUFS ({r})" for r in RATIOS[1:]}]
    panels = [
        curves(results, dataset, shown, "kmeans_acc", title=name, y_label="ACC, %")
        for name, dataset in SETS.items()
    ]
    return draw(
        panels,
        "JDLUFS: accuracy of K-means (not in the poster)",
        folder,
        "accuracy",
    )


_FULL = Protocol(
    scaling="unit",
    n_features=(50, 100, 150, 200, 300),
    n_repeats=20,
    n_random=10,
    classifiers=("1nn",),
)

EXPERIMENT = Experiment(
    name="jdlufs",
    paper=(
        "Y. Fan, J. Dai, Q. Zhang, S. Liu. Joint dictionary learning for unsupervised feature "
        "selection. Poster, 2019."
    ),
    about=ABOUT,
    sets=tuple(SETS.values()),
    protocol=_FULL,
    quick_protocol=replace(_FULL, n_features=(50, 150, 300), n_repeats=5),
    quick_sets=("warppie10p", "pixraw10p"),
    tasks=tasks,
    tables=tables,
    figures=figures,
)
