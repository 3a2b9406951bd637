from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.image import imread

from tamis.evaluation.results import Record, Results
from tamis.reproduction.assembly import curves, parameter_map
from tamis.reproduction.figures import (
    Bars,
    Curves,
    HeatMap,
    Series,
    draw,
    require_matplotlib,
)


def panels() -> list[Curves | Bars | HeatMap]:
    return [
        Curves(
            "curves",
            "number",
            "ACC",
            [Series("A", [5, 10], [50, 60], [49, 58], [51, 62]), Series("all", [64], [55])],
        ),
        Bars("bars", "ACC", {"10": {"A": (50, 1), "B": (40, 2)}, "50": {"B": (45, 1)}}),
        HeatMap("map", "x", "y", "ACC", ["1", "2"], ["a"], np.array([[1.0, np.nan]])),
    ]


def test_figures_are_written_as_png_and_svg(tmp_path: Path) -> None:
    files = draw(panels(), "A title", tmp_path / "new", "figure_1")
    assert [path.name for path in files] == ["figure_1.png", "figure_1.svg"]
    image = imread(files[0])
    assert min(image.shape[:2]) > 300
    assert image[..., :3].std() > 0.01  # something is drawn
    assert ElementTree.parse(files[1]).getroot().tag.endswith("svg")
    assert sorted(path.name for path in files[0].parent.iterdir()) == [p.name for p in files]


@pytest.mark.slow
def test_the_same_results_give_the_same_files(tmp_path: Path) -> None:
    first = draw(panels(), "A title", tmp_path / "a", "figure")
    second = draw(panels(), "A title", tmp_path / "b", "figure")
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_a_label_has_one_colour_in_all_panels(tmp_path: Path) -> None:
    from matplotlib.figure import Figure

    from tamis.reproduction.figures import _colour_numbers

    lines = [Series("A", [1, 2], [1, 2]), Series("B", [1, 2], [2, 1])]
    two = [Curves("1", "x", "y", lines), Curves("2", "x", "y", lines[::-1])]
    axes = Figure().subplots(1, 2)
    for place, panel in zip(axes, two, strict=True):
        panel.paint(place, _colour_numbers(two))
    colours = [{line.get_label(): line.get_color() for line in place.lines} for place in axes]
    assert colours[0] == colours[1]
    assert colours[0]["A"] != colours[0]["B"]


@pytest.mark.slow
def test_panels_without_results_are_left_out(tmp_path: Path) -> None:
    whole = draw(panels(), "A title", tmp_path / "a", "figure")
    first, *rest = panels()
    gaps = draw([None, first, None, *rest], "A title", tmp_path / "b", "figure")
    assert [file.read_bytes() for file in whole] == [file.read_bytes() for file in gaps]


def test_a_label_has_one_colour_in_all_experiments() -> None:
    from tamis.reproduction.figures import _colour_numbers

    def numbers(*labels: str) -> dict[str, int]:
        lines = [Series(label, [1, 2], [1, 2]) for label in labels]
        return _colour_numbers([Curves("1", "x", "y", lines)])

    first = numbers(
        "PCA score", "Laplacian score", "SPEC", "MRSF", "Random subsets", "All features"
    )
    second = numbers("MaxVar", "LS", "SPEC", "TRACK", "All features", "Random subsets")
    for label in ("All features", "Random subsets", "SPEC"):
        assert first[label] == second[label]
    assert first["Laplacian score"] == second["LS"]
    many = numbers("All features", "Random subsets", "MCFS", *"abcdefg")
    assert len(set(many.values())) == len(many)


def test_bars_stand_over_their_ticks() -> None:
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    groups = {"1": {"iris": (0.5, np.nan)}, "2": {"noise": (0.2, np.nan)}}
    Bars("b", "y", groups).paint(axes, {"iris": 0, "noise": 1})
    assert [bar.get_x() + bar.get_width() / 2 for bar in axes.patches] == pytest.approx([0, 1])

    axes = Figure().subplots()
    groups = {"10": {"A": (1, 0.1), "B": (2, 0.1)}, "50": {"A": (1, 0.1), "B": (2, 0.1)}}
    Bars("b", "y", groups).paint(axes, {"A": 0, "B": 1})
    centres = [bar.get_x() + bar.get_width() / 2 for bar in axes.patches]
    assert centres == pytest.approx([-0.21, 0.79, 0.21, 1.21])


@pytest.mark.parametrize(("n_lines", "n_bands"), [(8, 8), (9, 0)])
def test_curves_have_bands_unless_there_are_too_many(n_lines: int, n_bands: int) -> None:
    from matplotlib.collections import PolyCollection
    from matplotlib.figure import Figure

    from tamis.reproduction.figures import _colour_numbers

    lines = [Series(f"{i}", [1, 2], [1, 2], [0, 1], [2, 3]) for i in range(n_lines)]
    panel = Curves("1", "x", "y", lines)
    axes = Figure().subplots()
    panel.paint(axes, _colour_numbers([panel]))
    bands = [shape for shape in axes.collections if isinstance(shape, PolyCollection)]
    assert len(bands) == n_bands
    assert len(panel.bands) == n_bands


def test_one_value_has_no_band() -> None:
    nothing = [float("nan")] * 2
    assert not Curves("1", "x", "y", [Series("A", [1, 2], [1, 2], nothing, nothing)]).bands


def test_nothing_to_draw_writes_nothing(tmp_path: Path) -> None:
    assert draw([], "A title", tmp_path, "figure") == []
    assert draw([None, None], "A title", tmp_path, "figure") == []
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_the_message_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'tamis\[plot\]'"):
        require_matplotlib()


def record(label: str, method: str, setting: dict[str, float], found: dict[int, float]) -> Record:
    rows = [
        {"n_features": number, "measure": "kmeans_acc", "values": [value, value]}
        for number, value in found.items()
    ]
    key = {"set": "digits", "label": label, "method": method, "parameters": setting}
    return Record(key, rows, {}, None)


@pytest.fixture
def results() -> Results:
    return Results(
        [
            record("All features", "all_features", {}, {64: 0.7}),
            record("UDFS", "udfs", {"gamma": 1.0, "reg": 1.0}, {5: 0.5, 10: 0.6}),
            record("UDFS", "udfs", {"gamma": 1.0, "reg": 9.0}, {5: 0.4, 10: 0.65}),
            record("UDFS", "udfs", {"gamma": 1e-3, "reg": 1.0}, {5: 0.55, 10: 0.3}),
        ],
        {"tuning": "oracle"},
    )


def test_curves_take_the_best_setting_at_each_number(results: Results) -> None:
    labels = ["UDFS", "All features", "not run"]
    panel = curves(results, "digits", labels, "kmeans_acc", title="Digits", y_label="ACC, %")
    assert panel is not None
    method, level = panel.series
    assert list(method.x) == [5, 10]
    assert list(method.mean) == pytest.approx([55, 65])
    assert level.label == "All features"
    assert list(level.mean) == pytest.approx([70])
    assert list(method.low) == list(method.high) == pytest.approx([55, 65])  # no run differs
    assert curves(results, "usps", labels, "kmeans_acc", title="", y_label="") is None


def test_parameter_maps_have_the_best_over_all_else(results: Results) -> None:
    panel = parameter_map(
        results,
        "digits",
        "UDFS",
        "kmeans_acc",
        across="gamma",
        down="n_features",
        title="Digits",
        value_label="ACC, %",
    )
    assert panel is not None
    assert (list(panel.x), list(panel.y)) == (["0.001", "1"], ["5", "10"])
    np.testing.assert_allclose(panel.values, [[55, 50], [30, 65]])


def test_parameter_maps_at_one_number_leave_gaps_blank(results: Results) -> None:
    panel = parameter_map(
        results,
        "digits",
        "UDFS",
        "kmeans_acc",
        across="gamma",
        down="reg",
        n_features=10,
        title="Digits",
        value_label="ACC, %",
    )
    assert panel is not None
    np.testing.assert_allclose(panel.values, [[30, 60], [np.nan, 65]])
