"""The experiments of the JELSR paper: Tables 2 and 3, Figures 1 to 3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tamis.evaluation.candidates import Candidate
from tamis.evaluation.protocol import Protocol
from tamis.evaluation.results import Estimate, Results
from tamis.evaluation.runs import selection_tasks
from tamis.evaluation.sweep import Task
from tamis.reproduction.assembly import PERCENT, cells_beside, curves, parameter_map
from tamis.reproduction.experiment import Experiment
from tamis.reproduction.figures import Bars, draw
from tamis.reproduction.published_tables import Printed, published_table
from tamis.reproduction.tables import PaperTable

__all__ = ["EXPERIMENT"]

SETS = {"UMIST": "umist", "Isolet5": "isolet5", "ORL": "orl", "Sonar": "sonar"}
METHODS = (
    "PCA score",
    "Laplacian score",
    "SPEC",
    "MCFS",
    "MRSF",
    "JELSR",
    "Random subsets",
    "All features",
)
TABLE_2 = published_table(
    """
   | PCA score     | Laplacian score | SPEC          | MCFS          | MRSF          | JELSR
5  | 0.5049±0.0151 | 0.4985±0.0088   | 0.4614±0.0087 | 0.5286±0.0121 | 0.5839±0.0124 | 0.6234±0.0160
15 | 0.5337±0.0122 | 0.5178±0.0147   | 0.5191±0.0145 | 0.6260±0.0182 | 0.6142±0.0124 | 0.6515±0.0187
25 | 0.5450±0.0132 | 0.5271±0.0152   | 0.5268±0.0152 | 0.6418±0.0204 | 0.6535±0.0167 | 0.6888±0.0204
35 | 0.5854±0.0150 | 0.5268±0.0171   | 0.5293±0.0167 | 0.6352±0.0201 | 0.6549±0.0167 | 0.6886±0.0250
45 | 0.6248±0.0131 | 0.5493±0.0172   | 0.5339±0.0150 | 0.6651±0.0195 | 0.6699±0.0186 | 0.6984±0.0193
""",
    scale=1.0,
)
TABLE_3 = published_table(
    """
   | PCA score     | Laplacian score | SPEC          | MCFS          | MRSF          | JELSR
5  | 0.3608±0.0047 | 0.3588±0.0047   | 0.3667±0.0048 | 0.3778±0.0055 | 0.4816±0.0052 | 0.5139±0.0064
15 | 0.3813±0.0077 | 0.4971±0.0076   | 0.4958±0.0078 | 0.5769±0.0083 | 0.5736±0.0094 | 0.6153±0.0152
25 | 0.5110±0.0107 | 0.5035±0.0093   | 0.5401±0.0081 | 0.6612±0.0145 | 0.6561±0.0106 | 0.6900±0.0155
35 | 0.5391±0.0114 | 0.6026±0.0100   | 0.6055±0.0097 | 0.7034±0.0134 | 0.6799±0.0145 | 0.7272±0.0159
45 | 0.5583±0.0115 | 0.6107±0.0099   | 0.6059±0.0098 | 0.6703±0.0146 | 0.6544±0.0107 | 0.7191±0.0151
""",
    scale=1.0,
)
TABLE_NUMBERS = (5, 15, 25, 35, 45)
CUT_NUMBERS = {"UMIST": (10, 50), "Isolet5": (10, 45)}  # of Figure 2
MAP_SET, MAP_NUMBER = "umist", 50  # of Figure 3
# The ends and the middle of the ranges of Figure 3: all of α and β that the paper tells.
PAPER_ALPHAS, PAPER_BETAS = (1.5, 1.95, 2.4), (0.01, 0.055, 0.1)
ALPHAS = (0.01, 0.1, 1.0, *PAPER_ALPHAS, 10.0)
BETAS = (*PAPER_BETAS, 1.0, 10.0)

_CLUSTERS = {"n_clusters": "n_classes"}
CANDIDATES = (
    Candidate("PCA score", "pca_score", grid={"n_components": (1, 5, 20)}),
    Candidate("Laplacian score", "laplacian_score", grid={"bandwidth": (None, 1.0, 1000.0)}),
    Candidate("SPEC", "spec", parameters=_CLUSTERS, grid={"style": (1, 2, 3)}),
    Candidate("MCFS", "mcfs", parameters=_CLUSTERS, grid={"n_nonzero_coefs": (10, 50)}),
    Candidate("MRSF", "mrsf", parameters=_CLUSTERS, grid={"alpha": (0.1, 0.2, 0.4, 0.6)}),
    Candidate(
        "JELSR",
        "jelsr",
        parameters={"n_components": "n_classes"},
        grid={"alpha": ALPHAS, "beta": BETAS},
    ),
)
ABOUT = """\
The paper clusters by K-means, 100 times, and by normalised cut. Parameters are selected "by grid
search in a heuristic way"; neither the grids, nor the number of neighbours, nor the dimension of
the embedding, nor a scaling, nor the kind of NMI are given. Figure 3 varies α from 1.5 to 2.4 and
β from 0.01 to 0.1 on UMIST, at a number of features that is not told.

Here K-means starts from random samples; values are brought to [0, 1] by one scale;
neighbourhoods have 5 samples, and embeddings as many dimensions as there are classes.
Parameters are the best by the labels, cell by cell. For JELSR α is 0.01, 0.1, 1, 10 or, from the
paper's range, 1.5, 1.95 or 2.4, and β 0.01, 0.055 or 0.1, from the paper's range, 1 or 10: these
are {settings} settings, more than any other method is given. For MRSF α is 0.1, 0.2, 0.4 or 0.6 of
the penalty that empties W; the PCA score has 1, 5 or 20 components; the bandwidth of the Laplacian
score is the median distance of neighbours, 1 or 1000; SPEC has each of its three functions; 10 or
50 features enter a regression of MCFS. NMI is divided by the geometric mean of the entropies. The
normalised cut is of the graph of 5 neighbours with heat weights. Figure 3 shows all of JELSR's
grid, at {number} features. Random subsets and all features are our additions."""


def tasks(sets: Sequence[str], protocol: Protocol) -> list[Task]:
    """The work: every candidate on every set."""
    return selection_tasks(sets, CANDIDATES, protocol)


def tables(results: Results) -> list[PaperTable]:
    """Tables 2 and 3."""
    return [
        _table(results, "Table 2. NMI of K-means on UMIST", "umist", TABLE_2),
        _table(results, "Table 3. NMI of K-means on Isolet5", "isolet5", TABLE_3),
    ]


def _table(
    results: Results, title: str, dataset: str, printed: Mapping[tuple[str, str], Printed]
) -> PaperTable:
    def ours(row: str, column: str) -> tuple[str, Estimate | None]:
        number = None if column == "All features" else int(row)
        return dataset, results.estimate(dataset, column, "kmeans_nmi", n_features=number)

    rows = tuple(map(str, TABLE_NUMBERS))
    return PaperTable(
        title,
        METHODS,
        rows,
        cells_beside(printed, rows, METHODS, ours),
        note="Parameters chosen by the labels, cell by cell.",
        corner="Features",
        scale=1.0,
        decimals=3,
    )


def figures(results: Results, folder: Path) -> list[Path]:
    """Figures 1 (curves of K-means), 2 (bars of normalised cut) and 3 (α and β)."""
    return [
        *_accuracy_curves(results, folder),
        *_cut_bars(results, folder),
        *_parameter_maps(results, folder),
    ]


def _accuracy_curves(results: Results, folder: Path) -> list[Path]:
    panels = [
        curves(results, dataset, METHODS, "kmeans_acc", title=name, y_label="ACC, %")
        for name, dataset in SETS.items()
    ]
    return draw(
        panels,
        "JELSR, Figure 1: accuracy of K-means",
        folder,
        "figure_1",
    )


def _cut_bars(results: Results, folder: Path) -> list[Path]:
    panels = []
    for name, numbers in CUT_NUMBERS.items():
        groups: dict[str, dict[str, tuple[float, float]]] = {}
        for number in numbers:
            for label in METHODS:
                at = None if label == "All features" else number
                found = results.estimate(SETS[name], label, "ncut_acc", n_features=at)
                if found is not None:
                    bar = (PERCENT * float(found.mean), PERCENT * float(found.sd))
                    groups.setdefault(f"{number} features", {})[label] = bar
        if groups:
            panels.append(Bars(name, "ACC, %", groups))
    return draw(panels, "JELSR, Figure 2: accuracy of normalised cut", folder, "figure_2")


def _parameter_maps(results: Results, folder: Path) -> list[Path]:
    panels = [
        parameter_map(
            results,
            MAP_SET,
            "JELSR",
            measure,
            across="alpha",
            down="beta",
            n_features=MAP_NUMBER,
            title=f"UMIST, {MAP_NUMBER} features",
            value_label=value_label,
        )
        for measure, value_label in (("kmeans_acc", "ACC, %"), ("kmeans_nmi", "NMI, %"))
    ]
    return draw(
        panels,
        "JELSR, Figure 3: K-means over alpha and beta",
        folder,
        "figure_3",
    )


_FULL = Protocol(
    scaling="unit",
    n_features=(5, 10, 15, 20, 25, 30, 35, 40, 45, 50),
    clusterers=("kmeans", "ncut"),
    n_repeats=20,
    n_random=10,
    tuning="oracle",
)

EXPERIMENT = Experiment(
    name="jelsr",
    paper=(
        "C. Hou, F. Nie, D. Yi, Y. Wu. Feature selection via joint embedding learning and sparse "
        "regression. IJCAI 2011."
    ),
    about=ABOUT.format(number=MAP_NUMBER, settings=len(ALPHAS) * len(BETAS)),
    sets=tuple(SETS.values()),
    protocol=_FULL,
    quick_protocol=replace(_FULL, n_features=(5, 10, 15, 25, 35, 45, 50), n_repeats=3),
    quick_sets=("umist",),
    tasks=tasks,
    tables=tables,
    figures=figures,
)
