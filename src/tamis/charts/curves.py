"""Figures as geometry: paths in a square of side 1000, ticks and marks in percent.

The template draws them as SVG whose plane stretches with the page while texts and strokes keep
their size, so that a figure is as readable on a phone as on a screen. Colours are left to CSS.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

import numpy as np

from tamis._typing import BoolArray, FloatArray
from tamis.inspection import Groups, View

SIDE = 1000

# Points of a curve; a screen has no more.
MOST_POINTS = 500

# Percent of a chart's width by which two marks are kept apart.
MARK_GAP = 0.8

# Iterations from which on there is a curve to look at.
FEWEST_ITERATIONS = 4

# Bars that are wide enough to point at.
MOST_BARS = 120


@dataclass(frozen=True)
class Shape:
    """One SVG path and how to draw it."""

    css: str
    path: str
    opacity: float | None = None
    title: str = ""


@dataclass(frozen=True)
class Tick:
    """A label at a place along an axis, in percent."""

    at: float
    label: str


@dataclass(frozen=True)
class Chart:
    """A figure with axes."""

    description: str
    shapes: tuple[Shape, ...]
    x_ticks: tuple[Tick, ...] = ()
    y_ticks: tuple[Tick, ...] = ()
    x_label: str = ""
    y_label: str = ""
    marks: tuple[tuple[Tick, str], ...] = ()
    note: str = ""
    asides: tuple[Tick, ...] = ()


def _number(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")


def _polyline(xs: Iterable[float], ys: Iterable[float]) -> str:
    return "M" + "L".join(f"{_number(x)} {_number(y)}" for x, y in zip(xs, ys, strict=True))


def nice_ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers between two bounds, at most `most` of them."""
    if not high > low:
        return [low]
    rough = (high - low) / max(1, most - 1)
    scale = 10.0 ** floor(log10(rough))
    step = next(factor * scale for factor in (1, 2, 5, 10) if factor * scale >= rough * 0.999)
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [index * step for index in range(first, last + 1)]


def short(value: float) -> str:
    """A number in few characters."""
    if value == 0:
        return "0"
    if 1 <= abs(value) < 1e5 and value == round(value):
        return f"{value:,.0f}".replace("-", "−")
    return f"{value:.3g}".replace("-", "−")


def signed(value: float) -> str:
    """A correlation, with the minus sign that texts have."""
    return f"{value:.2f}".replace("-", "−")


@dataclass(frozen=True)
class _Axis:
    low: float
    high: float
    logarithmic: bool = False

    def place(self, values: FloatArray) -> FloatArray:
        """Positions in [0, 1]."""
        low, high, values = self.low, self.high, np.asarray(values, dtype=np.float64)
        if self.logarithmic:
            low, high, values = np.log10(low), np.log10(high), np.log10(values)
        width = high - low
        return (values - low) / width if width > 0 else np.full(values.shape, 0.5)

    def ticks(self, *, flipped: bool = False) -> tuple[Tick, ...]:
        if self.logarithmic:
            powers = range(ceil(log10(self.low)), floor(log10(self.high)) + 1)
            step = max(1, len(powers) // 4)
            values = [10.0**power for power in powers][::step]
        else:
            values = nice_ticks(self.low, self.high)
        places = self.place(np.array(values)) * 100
        return tuple(
            Tick(float(100 - at if flipped else at), short(value))
            for at, value in zip(places, values, strict=True)
        )


def score_chart(scores: FloatArray, n_kept: int, bend: int | None) -> Chart:
    """The sorted scores with the cut and the knee; only the head of a very long curve."""
    falling = np.sort(scores)[::-1]
    n_shown = min(len(falling), max(60, 10 * max(n_kept, bend or 0)))
    falling = falling[:n_shown]
    # A plateau a feature, so that a handful of features reads as bars.
    edges = np.unique(np.linspace(0, n_shown, min(n_shown, MOST_POINTS) + 1).astype(int))
    edges = np.unique(np.append(edges, min(n_kept, n_shown)))
    heights = falling[edges[:-1]]
    x_axis = _Axis(0, n_shown)
    y_axis = _Axis(min(0.0, float(falling[-1])), max(float(falling[0]), 1e-300))
    xs = np.repeat(x_axis.place(edges), 2)[1:-1] * SIDE
    ys = SIDE - np.repeat(y_axis.place(heights), 2) * SIDE
    zero = SIDE - float(y_axis.place(np.array(0.0))) * SIDE
    split = int(np.searchsorted(edges, min(n_kept, n_shown))) * 2

    def area(part: slice) -> str:
        x, y = xs[part], ys[part]
        return _polyline([x[0], *x, x[-1]], [zero, *y, zero]) + "Z" if len(x) else ""

    marks = _score_marks(x_axis, n_kept, bend)
    shown = f"the best {n_shown:,} of {len(scores):,}" if n_shown < len(scores) else "all"
    return Chart(
        f"Scores of {shown} columns, best first; {n_kept:,} are kept"
        + (f", the curve bends after {bend:,}." if bend is not None else "."),
        (
            Shape("area left", area(slice(split, None))),
            Shape("area kept", area(slice(0, split))),
            Shape("line", _polyline(xs, ys)),
        ),
        x_axis.ticks(),
        y_axis.ticks(flipped=True),
        "columns, best first" if n_shown == len(scores) else f"{shown} columns",
        "score",
        marks,
    )


def _score_marks(x_axis: _Axis, n_kept: int, bend: int | None) -> tuple[tuple[Tick, str], ...]:
    """The cut and the knee: one mark where they are the same, else two that can be told apart."""
    cut = float(x_axis.place(np.array(n_kept)) * 100)
    if bend == n_kept:
        return ((Tick(cut, f"kept, and knee: {n_kept:,}"), "cut"),)
    marks = [(Tick(cut, f"kept: {n_kept:,}"), "cut")]
    if bend is not None:
        knee = float(x_axis.place(np.array(bend)) * 100)
        if abs(knee - cut) < MARK_GAP:
            knee = cut + (MARK_GAP if bend > n_kept else -MARK_GAP)
        marks.append((Tick(knee, f"knee: {bend:,}"), "knee"))
    return tuple(marks)


def path_chart(objective: FloatArray) -> Chart | None:
    """The objective after each iteration; logarithmic where it falls by orders of magnitude.

    None where there are too few iterations for a curve.
    """
    values = np.asarray(objective, dtype=np.float64)
    if len(values) < FEWEST_ITERATIONS:
        return None
    logarithmic = bool(values.min() > 0 and values.max() / values.min() > 1e3)
    x_axis = _Axis(1, max(2, len(values)))
    y_axis = _Axis(float(values.min()), float(values.max()), logarithmic)
    chosen = np.unique(np.linspace(0, len(values) - 1, min(len(values), MOST_POINTS)).astype(int))
    xs = x_axis.place(chosen + 1) * SIDE
    ys = SIDE - y_axis.place(values[chosen]) * SIDE
    shapes = [Shape("line strong", _polyline(xs, ys))]
    if len(chosen) <= 60:
        shapes.append(Shape("dots kept", _dots(xs, ys)))
    iterations = [tick for tick in x_axis.ticks() if "." not in tick.label]
    return Chart(
        f"Objective over {len(values):,} iterations, from {short(values[0])} to "
        f"{short(values[-1])}.",
        tuple(shapes),
        tuple(iterations),
        y_axis.ticks(flipped=True),
        "iteration",
        "objective" + (", logarithmic" if logarithmic else ""),
    )


def frequency_chart(
    frequencies: FloatArray, kept: BoolArray, names: Sequence[str], n_runs: int
) -> Chart:
    """How often subsamples keep each column, most often first; bars say whose they are."""
    order = np.lexsort((~kept, -frequencies))
    order = order[: max(20, int(np.count_nonzero(frequencies)))][:MOST_POINTS]
    width = SIDE / len(order)
    gap = width * 0.12 if len(order) <= MOST_BARS else 0.0

    def bar(place: int) -> Shape:
        column = order[place]
        return Shape(
            "bar kept" if kept[column] else "bar left",
            f"M{_number(place * width + gap)} {SIDE}V{_number(SIDE * (1 - frequencies[column]))}"
            f"H{_number((place + 1) * width - gap)}V{SIDE}Z",
            title=f"{names[column]}: kept in {frequencies[column] * n_runs:.0f} of {n_runs}",
        )

    bars = [bar(place) for place in range(len(order)) if frequencies[order[place]] > 0]
    if len(order) > MOST_BARS:
        bars = [
            Shape(css, "".join(shape.path for shape in bars if shape.css == css))
            for css in ("bar kept", "bar left")
        ]
    places = [tick for tick in nice_ticks(1, len(order), 7) if tick == round(tick) and tick >= 1]
    return Chart(
        f"Share of {n_runs} subsamples in which each column is kept; "
        f"{np.count_nonzero(frequencies == 1):,} columns are kept in all.",
        tuple(bars),
        tuple(Tick((place - 0.5) * width / SIDE * 100, f"{place:,.0f}") for place in places),
        tuple(Tick(100 - share, f"{share} %") for share in (0, 50, 100)),
        f"the {len(order):,} columns kept most often",
        "subsamples that keep it",
    )


def strip_chart(
    selected: float,
    random: FloatArray,
    description: str,
    *,
    level: float | None = None,
    shares: bool = True,
) -> Chart:
    """A figure of the selection on the scale from 0 to 1, over those of random subsets.

    `level` is drawn as a line to compare with; without `shares` the scale is no percentage.
    """
    top = max(1.0, selected, float(random.max(initial=0.0)))
    places = random.clip(min=0) / top * SIDE
    ticks = "".join(f"M{_number(place)} 200V800" for place in places)
    return Chart(
        description,
        (
            Shape("rail", f"M0 500H{SIDE}"),
            Shape("random", ticks),
            Shape(
                "level", "" if level is None else f"M{_number(max(0, level) / top * SIDE)} 0V1000"
            ),
            Shape("dots chosen", f"M{_number(max(0.0, selected) / top * SIDE)} 500h0"),
        ),
        tuple(
            Tick(100 * share / top, f"{100 * share:.0f} %" if shares else short(share))
            for share in (0, 0.5, 1)
        ),
    )


def view_chart(view: View, groups: Groups, description: str) -> Chart:
    """Samples in the plane, one path a group; both axes have one scale.

    Far outliers, which would press all others into a spot, are drawn at the edge.
    """
    points = view.points - np.median(view.points, axis=0)
    distances = np.abs(points).max(axis=1)
    usual = 1.6 * float(np.quantile(distances, 0.975))
    outside = distances > usual if usual > 0 else np.zeros(len(points), dtype=bool)
    shown = points[~outside]
    middle = (shown.max(axis=0) + shown.min(axis=0)) / 2
    reach = float(np.abs(shown - middle).max()) or 1.0
    places = SIDE / 2 + np.clip((points - middle) / reach, -1, 1) * (SIDE / 2 - 25)
    n_outside = int(np.count_nonzero(outside))
    note = ""
    if n_outside:
        note = f"{n_outside:,} far {'sample is' if n_outside == 1 else 'samples are'} at the edge."
    css = "range" if groups.ordered else "group"
    return Chart(
        description,
        tuple(
            Shape(f"dots {css}{code}", _dots(*places[groups.codes == code].T))
            if (groups.codes == code).any()
            else Shape("", "")
            for code in range(len(groups.names))
        ),
        note=note,
    )


def _dots(xs: Iterable[float], ys: Iterable[float]) -> str:
    """Points as strokes of no length, which round caps make into discs of any width."""
    return "".join(f"M{x:.0f} {y:.0f}h0" for x, y in zip(xs, ys, strict=True))
