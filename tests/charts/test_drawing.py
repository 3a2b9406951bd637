"""Figures alone, as a page puts them in."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np

from tamis.charts import drawing, grids
from tamis.charts.numbers import curve_chart, map_chart, span_chart
from tamis.inspection import NumberCurve, Span

COUNTS = np.array([1, 3, 10])
RISING = np.array([0.2, 0.5, 0.9])


def test_names_in_a_figure_are_text():
    names = ["<script>alert(1)</script>", '"><b>']
    text = drawing.svg(grids.heat_grid(np.eye(2), names), "heat")
    root = ElementTree.fromstring(text)
    assert root.tag == "svg"
    assert root.get("class") == "cells heat"
    titles = [title.text for title in root.iter("title")]
    assert f"{names[0]} and {names[1]}: r = 0.00" in titles
    assert not list(root.iter("script"))


def test_an_axis_up_to_a_number_marks_none():
    span = Span(RISING, RISING / 2, RISING)
    curve = NumberCurve(COUNTS, RISING, RISING / 3, 3, 3)
    for marked, unmarked in (
        (span_chart(COUNTS, span, 3, "x"), span_chart(COUNTS, span, 3, "x", reach=100)),
        (curve_chart(curve), curve_chart(curve, reach=100)),
    ):
        assert marked.marks
        assert unmarked.marks == ()
        assert unmarked.x_ticks[-1].label == "100"
        assert unmarked.x_ticks[-1].at == 100
        ten = next(tick for tick in unmarked.x_ticks if tick.label == "10")
        assert ten.at == 50  # the axis is logarithmic
        assert ElementTree.fromstring(drawing.svg(unmarked)).get("role") == "img"


def test_a_map_is_as_high_as_it_has_rows():
    rows = [
        {"column": "a", "kept": True, "rank": 1, "nearest": None, "correlation": None},
        {"column": "b", "kept": False, "rank": None, "nearest": "a", "correlation": 0.9},
    ]
    root = ElementTree.fromstring(drawing.svg(map_chart(rows), "map", height=86))
    assert root.get("height") == "86"
    assert "b: r = 0.90 with a" in [title.text for title in root.iter("title")]


def test_the_style_has_both_colour_schemes():
    assert "prefers-color-scheme: dark" in drawing.style()
