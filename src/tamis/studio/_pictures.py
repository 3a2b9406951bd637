"""The figures of the page: those of the report, drawn by the same code."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tamis.auto import Auto
from tamis.base import Selector
from tamis.charts import curves, grids, numbers, words
from tamis.charts.drawing import svg
from tamis.inspection import (
    Choice,
    Groups,
    NumberEvidence,
    Selection,
    View,
    aligned,
    as_chosen,
    centred_gram,
    draw_sample,
    find_groups,
    group_labels,
    measure_numbers,
    measure_redundancy,
    principal_view,
    read_curve,
    read_decisions,
    read_selection,
)
from tamis.studio._choice import Chosen

# Columns of the picture of all correlations.
MOST_BEFORE = 60
# Without groups of its own, a method is judged by so many.
USUAL_GROUPS = 5


@dataclass(frozen=True)
class Figure:
    """A figure of the page.

    Attributes
    ----------
    title, svg, caption : str
    reach : int
        Of a figure over numbers of columns: the number at its right edge, on a logarithmic scale
        that begins with 1; otherwise 0.
    key : tuple of (str, str)
        Colours and what they mean.
    """

    title: str
    svg: str
    caption: str
    reach: int = 0
    key: tuple[tuple[str, str], ...] = ()

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "title": self.title,
            "svg": self.svg,
            "caption": self.caption,
            "reach": self.reach,
            "key": [list(pair) for pair in self.key],
        }


def selection_of(chosen: Chosen) -> Selection:
    """The selection as the report reads it, by the numbers that the method was given."""
    return read_selection(chosen.model, chosen.X, chosen.numbers.outputs)


def cut_to(selection: Selection, chosen: Chosen, number: int) -> Selection:
    """The same with another number of columns of the table kept."""
    starts, sizes = chosen.numbers.starts, chosen.numbers.sizes
    kept = [
        output
        for source in chosen.order[:number]
        for output in range(starts[source], starts[source] + sizes[source])
    ]
    return replace(selection, kept=np.array(kept, dtype=np.intp))


def curve_figures(chosen: Chosen, evidence: NumberEvidence | None) -> dict[str, Figure]:
    """What the number of columns is chosen by."""
    reach = len(chosen.numbers.sources)
    figures = {}
    band = (("kept", "the best columns"), ("left", "random choices of as many"))
    if evidence is not None:
        on = f" On {evidence.n_rows:,} rows; grey is the range of five random choices."
        chart = numbers.span_chart(
            evidence.counts, evidence.variance, reach, "variance kept", shares=True, reach=reach
        )
        figures["variance"] = Figure(
            "Held-out rows", svg(chart), f"{words.VARIANCE_SPAN}{on}", reach, band
        )
        if evidence.groups is not None:
            chart = numbers.span_chart(
                evidence.counts, evidence.groups, reach, "agreement of halves", reach=reach
            )
            n_clusters = _n_clusters(chosen.model)
            figures["groups"] = Figure(
                "Groups that repeat", svg(chart), words.group_span(n_clusters), reach, band
            )
    curve = read_curve(chosen.model)
    if curve is not None:
        chart = numbers.curve_chart(curve, reach=reach)
        figures["agreement"] = Figure(
            "Groups shown",
            svg(chart),
            words.AGREEMENT_CURVE,
            reach,
            (("kept", "the best columns"), ("chance", "the same columns, each shuffled")),
        )
    return figures


def number_evidence(chosen: Chosen) -> NumberEvidence:
    """Held-out loss and groups that repeat, by the number of columns, beside random choices."""
    judged = as_chosen(selection_of(chosen))
    return measure_numbers(judged, _n_clusters(chosen.model), np.random.RandomState(0))


def _n_clusters(model: Selector) -> int:
    found = getattr(model, "n_clusters_", None) or getattr(model, "n_clusters", None)
    return int(found or USUAL_GROUPS)


def score_figure(chosen: Chosen) -> Figure:
    """The sorted scores."""
    chart = curves.score_chart(chosen.scores, chosen.number, None)
    return Figure("Scores", svg(replace(chart, marks=())), chart.description)


def map_figure(rows: list[dict[str, Any]]) -> Figure | None:
    """The kept columns and what they represent."""
    chart = numbers.map_chart(rows)
    if chart is None:
        return None
    height = 26 * len(chart.y_ticks) + 60
    return Figure("Whom each stands for", svg(chart, "map", height=height), words.MAP_CAPTION)


def correlation_figures(chosen: Chosen, selection: Selection) -> dict[str, Figure]:
    """Correlations of the columns before and after."""
    random = np.random.RandomState(0)
    sample = draw_sample(selection, random)
    after = measure_redundancy(selection, sample, random)
    varying = np.flatnonzero(~selection.constant)
    places = np.linspace(0, len(varying) - 1, min(MOST_BEFORE, len(varying)))
    some = varying[np.unique(places.round().astype(np.intp))]
    before = measure_redundancy(replace(selection, kept=some), sample, random)
    key = (("positive", "rise together"), ("negative", "one rises, one falls"))
    names = selection.names
    all_columns = len(some) == len(varying)
    shown = "All columns that vary" if all_columns else f"{len(some)} columns, evenly spread,"
    return {
        "correlation before": Figure(
            "All columns",
            svg(grids.heat_grid(before.correlations, list(names[before.columns])), "heat"),
            f"{shown} in the order of the table. Mean |r| of all: {after.before:.2f}.",
            key=key,
        ),
        "correlation after": Figure(
            "Kept columns",
            svg(grids.heat_grid(after.correlations, list(names[after.columns])), "heat"),
            f"The kept columns by rank. Mean |r|: {after.after:.2f}.",
            key=key,
        ),
    }


@dataclass(frozen=True, eq=False)
class Planes:
    """The samples in the plane, seen in all columns and in the kept ones.

    Attributes
    ----------
    rows : ndarray of int
        Of those that the method was given.
    before, after : View
    found : Groups
        Those that the method found, else K-means.
    """

    rows: Any
    before: View
    after: View
    found: Groups


def planes_of(
    chosen: Chosen, selection: Selection, before: tuple[Any, Any, View] | None = None
) -> tuple[Planes, tuple[Any, Any, View]]:
    """Principal planes; what does not depend on the kept columns is given back, to be used again.

    Parameters
    ----------
    chosen : Chosen
    selection : Selection
    before : tuple or None, default=None
        What an earlier call has given back, of the same table.
    """
    judged = as_chosen(selection)
    if before is None:
        rows = draw_sample(Choice(judged.X, judged.kept[:1], judged.constant), _random()).rows
        gram = centred_gram(judged.X[rows])
        before = (rows, gram, principal_view(gram))
    rows, gram, view = before
    kept = judged.columns(rows, judged.kept)
    after = aligned(principal_view(centred_gram(kept)), view)
    found = find_groups(
        chosen.model, rows, gram, n_samples=judged.X.shape[0], random_state=_random()
    )
    return Planes(rows, view, after, found), before


def plane_figures(planes: Planes, number: int, labels: Any, source: str) -> dict[str, Figure]:
    """The two planes, coloured by the found groups or by the values of `labels`."""
    groups = planes.found if labels is None else replace(group_labels(labels), source=source)
    css = "range" if groups.ordered else "group"
    key = tuple((f"{css}{code}", name) for code, name in enumerate(groups.names))
    figures = {}
    for name, title, view in (
        ("plane before", "All columns", planes.before),
        ("plane after", f"The {number:,} kept", planes.after),
    ):
        chart = curves.view_chart(view, groups, f"{len(view.points):,} samples: {title}.")
        share = "" if view.variance is None else words.percent(view.variance)
        caption = f"{len(view.points):,} rows, coloured by {groups.source}. The plane shows "
        figures[name] = Figure(
            title,
            svg(chart, "square"),
            f"{caption}{share} of their variance. {chart.note}".strip(),
            key=key,
        )
    return figures


def pixel_figure(shape: tuple[int, int], kept: Any, mean: Any) -> Figure:
    """The kept pixels over the mean image."""
    mask = np.zeros(shape[0] * shape[1], dtype=bool)
    mask[kept] = True
    figure = grids.pixel_grid(mask.reshape(shape), mean)
    return Figure("Pixels", svg(figure, "pixels"), figure.description)


def decided(chosen: Chosen) -> tuple[list[str], list[dict[str, Any]]]:
    """What a method decided by itself, a sentence each, and its reasons, output by output."""
    decisions = read_decisions(chosen.model, chosen.numbers.outputs)
    return ([], []) if decisions is None else (list(decisions.sentences), decisions.reasons)


def finds_itself(model: Selector) -> bool:
    """Whether a method gives reasons."""
    return isinstance(model, Auto)


def _random() -> np.random.RandomState:
    return np.random.RandomState(0)
