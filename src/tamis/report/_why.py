"""Why these columns and why so many: what the page shows of an automatic selection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tamis.charts import words
from tamis.charts.curves import Chart
from tamis.charts.numbers import MOST_MAPPED, curve_chart, map_chart, span_chart
from tamis.inspection import Decisions, Selection, measure_numbers, read_decisions

# Columns whose reasons are listed: the kept ones first, then those that would have come next.
MOST_REASONS = 1000


@dataclass(frozen=True)
class Why:
    """The decisions, their reasons and the figures.

    Attributes
    ----------
    decisions : Decisions
    rows : list of dict
        The reasons that are listed, the best columns first.
    n_left_out : int
        How many are not listed.
    map : Chart or None
    most_mapped : int
        Kept columns that the map has room for.
    curve : Chart or None
        What the number was chosen by.
    spans : list of tuple
        A title, a chart and a sentence per measure.
    n_rows : int
        The rows on which these are measured.
    """

    decisions: Decisions
    rows: list[dict[str, Any]]
    n_left_out: int
    map: Chart | None
    most_mapped: int
    curve: Chart | None
    spans: list[tuple[str, Chart, str]]
    n_rows: int


def explain(
    selection: Selection, judged: Selection, random_state: np.random.RandomState
) -> Why | None:
    """Gather it; None of methods that decide nothing by themselves.

    Parameters
    ----------
    selection : Selection
    judged : Selection
        With the table on the scale on which it is measured.
    random_state : RandomState
    """
    selector = selection.selector
    decisions = read_decisions(selector, list(selection.names))
    if decisions is None:
        return None
    order = np.argsort(selector.ranking_, kind="stable")
    ranked = [decisions.reasons[column] for column in order] if decisions.reasons else []
    spans, n_rows = [], 0
    if decisions.curve is not None:
        n_clusters = selector.n_clusters_
        numbers = measure_numbers(judged, n_clusters, random_state)
        n_rows, n_kept = numbers.n_rows, decisions.curve.n_kept
        chart = span_chart(numbers.counts, numbers.variance, n_kept, "variance kept", shares=True)
        spans.append(("Held-out rows", chart, words.VARIANCE_SPAN))
        if numbers.groups is not None:
            chart = span_chart(numbers.counts, numbers.groups, n_kept, "agreement of halves")
            spans.append(("Groups that repeat", chart, words.group_span(n_clusters)))
    return Why(
        decisions,
        ranked[:MOST_REASONS],
        max(0, len(ranked) - MOST_REASONS),
        map_chart(decisions.reasons),
        MOST_MAPPED,
        None if decisions.curve is None else curve_chart(decisions.curve),
        spans,
        n_rows,
    )
