"""Figures and words of report and studio, one by one."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tamis.charts import curves as charts
from tamis.charts import grids, words
from tamis.charts import numbers as why_charts
from tamis.inspection import Groups, View


def test_the_map_has_room_for_fifty():
    rows = [
        {
            "column": f"column {j}", "kept": j < 60, "rank": j + 1 if j < 60 else None,
            "nearest": f"column {j % 60}", "correlation": -0.9,
        }
        for j in range(3000)
    ]  # fmt: skip
    figure = why_charts.map_chart(rows)
    assert figure is not None
    assert [tick.label for tick in figure.y_ticks] == [f"column {j}" for j in range(50)]
    assert len(figure.shapes) == 1  # one path for all dots, which are too many to be named
    assert figure.asides[0].label == "column 960, column 900 + 47"


class TestWords:
    @pytest.mark.parametrize(
        ("share", "expected"),
        [
            (0, "0 %"),
            (1, "100 %"),
            (0.763, "76 %"),
            (0.992, "99.2 %"),
            (0.9996, "99.96 %"),
            (0.004, "0.4 %"),
            (0.00004, "0.004 %"),
            (1 - 1e-7, "over 99.999 %"),
            (1e-7, "under 0.001 %"),
            (1.2, "120 %"),
        ],
    )
    def test_percent_has_the_digits_that_matter(self, share, expected):
        assert words.percent(share) == expected

    def test_spans_have_digits_that_differ(self):
        assert words.span(0.992, 0.996) == "99.2 % to 99.6 %"
        assert words.span(0.761, 0.764) == "76.1 % to 76.4 %"
        assert words.span(0.2, 0.9) == "20 % to 90 %"
        assert words.span(0.5, 0.5) == "50 %"

    def test_long_names_keep_both_ends(self):
        assert words.cut("short") == "short"
        cut = words.cut("a" * 50 + "-the-end")
        assert len(cut) == words.LONGEST_NAME
        assert cut.startswith("aaaa")
        assert cut.endswith("-the-end")


class TestCharts:
    @pytest.mark.parametrize(
        ("low", "high", "expected"),
        [
            (0, 1, [0, 0.5, 1]),
            (0, 64, [0, 20, 40, 60]),
            (-3, 3, [-2, 0, 2]),
            (5, 5, [5]),
            (0, 1e-12, [0, 5e-13, 1e-12]),
        ],
    )
    def test_ticks_are_round(self, low, high, expected):
        assert charts.nice_ticks(low, high) == pytest.approx(expected)

    def test_cells_are_drawn_once(self):
        mask = np.random.RandomState(0).rand(9, 13) > 0.5
        area = 0.0
        for run in re.findall(r"h([\d.]+)v1", grids._runs(mask)):
            area += float(run)
        assert area == mask.sum()

    def test_the_score_curve_keeps_its_ends(self):
        scores = np.random.RandomState(0).rand(5000) + 1
        chart = charts.score_chart(scores, 100, 50)
        assert chart.x_label == "the best 1,000 of 5,000 columns"
        assert [tick.label for tick, _ in chart.marks] == ["kept: 100", "knee: 50"]
        assert chart.shapes[-1].path.startswith("M0 0L")

    def test_marks_are_apart(self):
        scores = np.linspace(1, 0, 2000)
        for n_kept, bend in ((100, 101), (100, 99), (3, 4)):
            (cut, _), (knee, _) = charts.score_chart(scores, n_kept, bend).marks
            assert abs(cut.at - knee.at) >= 0.8
            assert (cut.at < knee.at) == (n_kept < bend)
        (both,) = charts.score_chart(scores, 100, 100).marks
        assert both[0].label == "kept, and knee: 100"

    def test_few_iterations_make_no_chart(self):
        assert charts.path_chart(np.array([3.0, 2.0, 1.5])) is None
        assert charts.path_chart(np.array([3.0, 2.0, 1.5, 1.4])) is not None

    def test_bars_say_whose_they_are(self):
        frequencies = np.array([0.5, 0.0, 1.0, 0.25])
        kept = np.array([False, False, True, False])
        chart = charts.frequency_chart(frequencies, kept, list("abcd"), 4)
        assert [shape.title for shape in chart.shapes] == [
            "c: kept in 4 of 4",
            "a: kept in 2 of 4",
            "d: kept in 1 of 4",
        ]
        assert [shape.css for shape in chart.shapes] == ["bar kept", "bar left", "bar left"]
        assert [tick.label for tick in chart.x_ticks] == ["1", "2", "3", "4"]
        many = charts.frequency_chart(np.ones(400), np.arange(400) < 9, list("abcd") * 100, 4)
        assert len(many.shapes) == 2

    def test_far_samples_do_not_press_the_others_together(self):
        points = np.random.RandomState(0).normal(size=(200, 2))
        points[:2] = [[1e4, 0], [0, -1e4]]
        groups = Groups("", ("a",), np.zeros(200, dtype=int))
        chart = charts.view_chart(View(points), groups, "")
        assert chart.note == "2 far samples are at the edge."
        places = np.array(re.findall(r"M(\d+) (\d+)h0", chart.shapes[0].path), dtype=float)
        assert places.min() >= 25
        assert places.max() <= 975
        assert places[2:].std(axis=0).min() > 100
        calm = charts.view_chart(View(points[2:]), Groups("", ("a",), groups.codes[2:]), "")
        assert calm.note == ""
