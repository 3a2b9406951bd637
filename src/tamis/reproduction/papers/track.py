"""The experiments of the TRACK paper: Figures 1 to 9, and what it reads from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np

from tamis.evaluation.candidates import Candidate
from tamis.evaluation.protocol import Protocol
from tamis.evaluation.results import Estimate, Results
from tamis.evaluation.runs import selection_tasks
from tamis.evaluation.sweep import Task
from tamis.evaluation.ties import not_less
from tamis.reproduction.assembly import curves
from tamis.reproduction.claims import Claim, claims_table, mean_of, not_below, outcomes_over
from tamis.reproduction.experiment import Experiment
from tamis.reproduction.figures import Curves, Series, draw
from tamis.reproduction.projection import (
    draw_projections,
    projection_tasks,
    separation,
    shown_as,
)
from tamis.reproduction.tables import Cell, PaperTable

__all__ = ["EXPERIMENT"]

SETS = {"msrc_v1": "MSRC-v1", "orl_644": "ORL", "jaffe": "JAFFE", "xm2vts": "XM2VTS"}
FIRST_CLUSTERING, FIRST_SENSITIVITY = 2, 6  # numbers of the figures of the first set
MEASURES = {"kmeans_acc": "ACC", "kmeans_nmi_max": "NMI", "kmeans_purity": "purity"}
COMPETITORS = ("MaxVar", "LS", "SPEC", "MCFS", "ldaKm")
BASELINES = ("All features", "Random subsets")
OURS, PRINTED = "TRACK", "TRACK as printed"  # W of c − 1 columns and a ridge; the paper's own
METHODS = (*COMPETITORS, OURS, PRINTED, *BASELINES)
NUMBERS = (10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
SHOWN = (20, 50, 100)
GAMMAS = (1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4)
PROJECTED, N_PROJECTED = "msrc_v1", 30
INSENSITIVE = 0.05  # what "not very sensitive" is taken to mean
MUCH_BETTER = 0.05  # and "much better", of a silhouette

_SETTINGS = {"n_clusters": "n_classes", "ridge": 1.0}
CANDIDATES = (
    Candidate("MaxVar", "max_variance"),
    Candidate("LS", "laplacian_score"),
    Candidate("SPEC", "spec", parameters={"style": 1}),
    Candidate("MCFS", "mcfs", parameters={"n_clusters": "n_classes"}),
    Candidate("ldaKm", "lda_km", parameters=_SETTINGS, grid={"gamma": GAMMAS}),
    Candidate(OURS, "track", parameters=_SETTINGS, grid={"gamma": GAMMAS}),
    Candidate(
        PRINTED,
        "track",
        parameters={**_SETTINGS, "n_components": "paper", "ridge": 0.0},
        grid={"gamma": GAMMAS},
    ),
)
ABOUT = """\
The paper clusters by K-means, 20 times, on 10, 20, ..., 100 features, and takes for TRACK and
ldaKm the best γ of 1e-4, 1e-3, ..., 1e4; NMI is divided by the larger entropy. It prints plots and
no figures: what it says of them in words is counted here over the points of the plots. It names
neither a scaling, nor the start of K-means, nor the neighbours of the graphs, nor the number of
features at which Figures 6 to 9 vary γ. For more features than samples its W has c − 1 + d − n
columns.

Here K-means starts from random samples; values are as they are; graphs have 5 neighbours; γ is the
best of the same grid by the labels, point by point. TRACK has c − 1 columns in W and a ridge of 1
on both scatters, as has ldaKm. "TRACK as printed" has the paper's number of columns and no ridge:
on the sets at hand that is 283 to 1098 columns, for which the ratio can be zero whatever the
clusters are, and W has as many rows at least. A large γ makes that many rows of norm one, which
tells nothing of their order. Of both, steps that would raise the objective are held back. MCFS,
TRACK and ldaKm are given the number of classes. In Figure 1 γ is the one whose plane parts the
classes best. Figures 6 to 9 are of TRACK with c − 1 columns. Random subsets are our addition.
MSRC-v1 has the 1302 CENTRIST features of a public copy."""


def tasks(sets: Sequence[str], protocol: Protocol) -> list[Task]:
    """The work: every candidate on every set, and the planes of Figure 1."""
    work = selection_tasks(sets, CANDIDATES, protocol)
    if PROJECTED in sets:
        work += projection_tasks(PROJECTED, CANDIDATES, N_PROJECTED, protocol)
    return work


# ------------------------------------------------------------------------------------------------
# What the paper says
# ------------------------------------------------------------------------------------------------


def _above(first: str, others: Sequence[str]) -> Callable[[Results, str], list[bool]]:
    """Whether one label is not below others, by every measure at every number of features."""
    return outcomes_over(
        not_below(mean_of(first, measure, number), mean_of(other, measure, number))
        for other, measure, number in product(others, MEASURES, NUMBERS)
    )


def _beats_all_features(label: str) -> Callable[[Results, str], list[bool]]:
    """By each measure, whether a label reaches all features somewhere from 20 to 50 features."""

    def outcomes(results: Results, name: str) -> list[bool]:
        found = []
        for measure in MEASURES:
            reached = outcomes_over(
                not_below(mean_of(label, measure, number), mean_of("All features", measure))
                for number in NUMBERS
                if 20 <= number <= 50
            )(results, name)
            found += [any(reached)] if reached else []
        return found

    return outcomes


def _more_is_better(results: Results, name: str) -> list[bool]:
    """By each measure, whether with most methods the most features are not below the fewest."""
    numbers = [number for number in results.counts(name) if number in NUMBERS]
    found = []
    for measure in MEASURES:
        outcomes = outcomes_over(
            not_below(mean_of(label, measure, numbers[-1]), mean_of(label, measure, numbers[0]))
            for label in (*COMPETITORS, OURS, PRINTED)
            if len(numbers) > 1
        )(results, name)
        found += [2 * sum(outcomes) > len(outcomes)] if outcomes else []
    return found


def _insensitive(label: str) -> Callable[[Results, str], list[bool]]:
    """For each γ, measure and number of Figures 6 to 9, whether a label is near its best γ."""

    def outcomes(results: Results, name: str) -> list[bool]:
        found = []
        for measure, number in product(MEASURES, SHOWN):
            estimates = _over_gamma(results, name, label, measure, number).values()
            means = [estimate.mean for estimate in estimates]
            found += [not_less(mean, max(means) - INSENSITIVE) for mean in means]
        return found

    return outcomes


def _parts_better(
    firsts: Sequence[str], others: Sequence[str], by: float = 0.0
) -> Callable[[Results, str], list[bool]]:
    """Whether the planes of some part the classes better than those of others, by so much."""

    def outcomes(results: Results, name: str) -> list[bool]:
        pairs = [
            (separation(results, name, first), separation(results, name, other))
            for first, other in product(firsts, others)
        ]
        return [
            not_less(one.mean, two.mean + by)
            for one, two in pairs
            if one is not None and two is not None
        ]

    return outcomes


_ALL_SETS = tuple(SETS)


def _claims_of(label: str) -> list[Claim]:
    """What the paper says of its method, of one of the two that are run here."""
    return [
        *(
            Claim(f"{label} not below {other}", _above(label, (other,)), _ALL_SETS)
            for other in COMPETITORS
        ),
        Claim(f"{label} reaches all features with 20 to 50", _beats_all_features(label), _ALL_SETS),
        Claim(f"{label} within 5 points of its best γ", _insensitive(label), _ALL_SETS),
        Claim(
            f"Figure 1: {label} much better than the others",
            _parts_better((label,), (*COMPETITORS, "All features"), MUCH_BETTER),
            (PROJECTED,),
        ),
    ]


CLAIMS = (
    *_claims_of(OURS),
    *_claims_of(PRINTED),
    Claim(
        "MCFS not below MaxVar, LS, SPEC, ldaKm",
        _above("MCFS", [label for label in COMPETITORS if label != "MCFS"]),
        _ALL_SETS,
    ),
    Claim("Most methods are better with the most than with the fewest", _more_is_better, _ALL_SETS),
    Claim(
        "Figure 1: MCFS and ldaKm better than MaxVar, LS, SPEC",
        _parts_better(("MCFS", "ldaKm"), ("MaxVar", "LS", "SPEC")),
        (PROJECTED,),
    ),
)


# ------------------------------------------------------------------------------------------------
# Tables
# ------------------------------------------------------------------------------------------------


def tables(results: Results) -> list[PaperTable]:
    """The paper's words, the planes of Figure 1, and the plots of Figures 2 to 9 as numbers."""
    words = claims_table(
        results,
        CLAIMS,
        SETS,
        title="What the paper says in words: comparisons in which it holds, %",
        note="A comparison is of means, at one of the numbers of features that the protocol "
        "names, by one of ACC, NMI and purity. The thresholds are ours: five points "
        "for 'not very sensitive' to γ; 0.05 of the silhouette for 'much better' in Figure 1.",
    )
    clusterings = [
        _clustering_table(results, name, FIRST_CLUSTERING + place)
        for place, name in enumerate(SETS)
    ]
    sensitivities = [
        _sensitivity_table(results, name, FIRST_SENSITIVITY + place)
        for place, name in enumerate(SETS)
    ]
    return [words, _plane_table(results), *clusterings, *sensitivities]


def _columns() -> dict[str, tuple[str, int]]:
    """Heads of the tables: a measure at a number of features."""
    return {
        f"{word} {number}": (measure, number)
        for (measure, word), number in product(MEASURES.items(), SHOWN)
    }


def _clustering_table(results: Results, name: str, number: int) -> PaperTable:
    return PaperTable(
        f"Figure {number}. K-means on {SETS[name]} by the number of selected features, %",
        tuple(_columns()),
        METHODS,
        {
            (label, column): Cell(
                results.estimate(name, label, measure, n_features=n_features), dataset=name
            )
            for label in METHODS
            for column, (measure, n_features) in _columns().items()
        },
        note="γ of TRACK and ldaKm chosen by the labels, cell by cell.",
        corner="Method",
    )


def _sensitivity_table(results: Results, name: str, number: int) -> PaperTable:
    found = {
        column: _over_gamma(results, name, OURS, measure, n_features)
        for column, (measure, n_features) in _columns().items()
    }
    return PaperTable(
        f"Figure {number}. TRACK on {SETS[name]} over γ, by the number of selected features, %",
        tuple(_columns()),
        tuple(f"{gamma:g}" for gamma in GAMMAS),
        {
            (f"{gamma:g}", column): Cell(found[column].get(gamma), dataset=name)
            for gamma in GAMMAS
            for column in found
        },
        corner="γ",
    )


def _plane_table(results: Results) -> PaperTable:
    head = "silhouette"
    return PaperTable(
        f"Figure 1. How the classes of {SETS[PROJECTED]} part in the plane of two principal "
        f"components of {N_PROJECTED} features",
        (head,),
        tuple(map(shown_as, METHODS)),
        {
            (shown_as(label), head): Cell(separation(results, PROJECTED, label), dataset=PROJECTED)
            for label in METHODS
        },
        note="From -1 to 1; near 0 classes lie over one another. The paper has pictures only.",
        corner="Method",
        scale=1.0,
        decimals=3,
    )


def _over_gamma(
    results: Results, name: str, label: str, measure: str, n_features: int
) -> dict[float, Estimate]:
    """The figure of a label for each γ that was run."""
    found = {}
    for setting in results.settings(name, label):
        values = results.values(name, label, measure, n_features, setting)
        if values is not None and "gamma" in setting:
            found[float(setting["gamma"])] = Estimate.of(values, n_features, setting)
    return found


# ------------------------------------------------------------------------------------------------
# Figures
# ------------------------------------------------------------------------------------------------


def figures(results: Results, folder: Path) -> list[Path]:
    """Figure 1 (planes), 2 to 5 (numbers of features) and 6 to 9 (γ)."""
    files = draw_projections(
        results,
        PROJECTED,
        METHODS,
        f"TRACK, Figure 1: {SETS[PROJECTED]}, two principal components of {N_PROJECTED} features",
        folder,
        "figure_1",
    )
    for place, (name, head) in enumerate(SETS.items()):
        number = FIRST_CLUSTERING + place
        found = [
            curves(results, name, METHODS, measure, title=word, y_label=f"{word}, %")
            for measure, word in MEASURES.items()
        ]
        files += draw(
            found,
            f"TRACK, Figure {number}: K-means on {head}",
            folder,
            f"figure_{number}",
        )
    for place, (name, head) in enumerate(SETS.items()):
        number = FIRST_SENSITIVITY + place
        panels = [_gamma_panel(results, name, measure, word) for measure, word in MEASURES.items()]
        files += draw(
            [panel for panel in panels if panel.series],
            f"TRACK, Figure {number}: {head} over γ",
            folder,
            f"figure_{number}",
        )
    return files


def _gamma_panel(results: Results, name: str, measure: str, word: str) -> Curves:
    lines = []
    for n_features in SHOWN:
        found = sorted(_over_gamma(results, name, OURS, measure, n_features).items())
        if len(found) > 1:
            figures = 100 * np.array([(e.mean, e.low, e.high) for _, e in found])
            gammas = [gamma for gamma, _ in found]
            lines.append(Series(f"{n_features} features", gammas, *figures.T.tolist()))
    return Curves(word, "γ", f"{word}, %", lines, log_x=True)


_FULL = Protocol(scaling="none", n_features=NUMBERS, n_repeats=20, n_random=20, tuning="oracle")

EXPERIMENT = Experiment(
    name="track",
    paper=(
        "D. Wang, F. Nie, H. Huang. Unsupervised feature selection via unified trace ratio "
        "formulation and K-means clustering (TRACK). ECML PKDD 2014."
    ),
    about=ABOUT,
    sets=tuple(SETS),
    protocol=_FULL,
    quick_protocol=replace(_FULL, n_features=SHOWN, n_repeats=5, n_random=5),
    quick_sets=("msrc_v1", "jaffe"),
    tasks=tasks,
    tables=tables,
    figures=figures,
)
