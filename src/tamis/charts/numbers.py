"""Figures of an automatic selection: the number of columns, and whom one stands for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tamis._typing import FloatArray, IntArray
from tamis.auto import STANDS_FOR
from tamis.charts.curves import SIDE, Chart, Shape, Tick, _Axis, _dots, _polyline, signed
from tamis.charts.words import count, cut
from tamis.inspection import NumberCurve, Span

# Kept columns that a map has room for, and the characters of their names and of those beside.
MOST_MAPPED = 50
LONGEST_MAPPED = 22
LONGEST_BESIDE = 16
# Dots beyond this many do not say whose they are.
MOST_NAMED_DOTS = 1500
# Names of columns that are written beside the one that stands for them.
NAMES_BESIDE = 2
# Percent of a chart's width by which the numbers along it are kept apart.
TICK_GAP = 7.0


def curve_chart(curve: NumberCurve, *, reach: int | None = None) -> Chart:
    """How much of the groups the best columns show, by their number, beside chance.

    With `reach` the axis goes up to that number, and none is marked.
    """
    x_axis, y_axis = _count_axis(curve.counts, reach or curve.n_kept), _Axis(0.0, 1.0)
    xs = x_axis.place(curve.counts) * SIDE
    ys, chance = (SIDE - y_axis.place(v) * SIDE for v in (curve.agreement, curve.chance))
    return Chart(
        f"Agreement of the best columns with the groups for {len(curve.counts)} numbers of "
        f"columns, from {curve.agreement[0]:.2f} for {count(int(curve.counts[0]), 'column')} to "
        f"{curve.agreement[-1]:.2f} for {curve.counts[-1]:,}; {curve.n_kept:,} are kept.",
        (
            Shape("line chance", _polyline(xs, chance)),
            Shape("line strong", _polyline(xs, ys)),
            Shape("dots kept", _dots(xs, ys)),
        ),
        _count_ticks(x_axis, _with(curve.counts, reach)),
        y_axis.ticks(flipped=True),
        "columns, the best of the ranking",
        "agreement",
        () if reach else _count_marks(x_axis, curve.n_kept, curve.found),
    )


def span_chart(
    counts: IntArray,
    span: Span,
    n_kept: int,
    name: str,
    *,
    shares: bool = False,
    reach: int | None = None,
) -> Chart:
    """A measure of the best columns by their number, over the band of random choices.

    With `reach` the axis goes up to that number, and none is marked.
    """
    x_axis = _count_axis(counts, reach or n_kept)
    y_axis = _Axis(min(0.0, float(span.low.min()), float(span.selected.min())), 1.0)
    xs = x_axis.place(counts) * SIDE
    ys, low, high = (SIDE - y_axis.place(v) * SIDE for v in (span.selected, span.low, span.high))
    ticks = y_axis.ticks(flipped=True)
    if shares:
        ticks = tuple(Tick(tick.at, f"{100 * float(tick.label):.0f} %") for tick in ticks)
    return Chart(
        f"{name} for {len(counts)} numbers of columns, from {span.selected[0]:.2f} for "
        f"{count(int(counts[0]), 'column')} to {span.selected[-1]:.2f} for {counts[-1]:,}, over "
        "the band of random choices.",
        (
            Shape("area left", _polyline([*xs, *xs[::-1]], [*low, *high[::-1]]) + "Z"),
            Shape("line strong", _polyline(xs, ys)),
            Shape("dots kept", _dots(xs, ys)),
        ),
        _count_ticks(x_axis, _with(counts, reach)),
        ticks,
        "columns, the best of the ranking",
        name,
        () if reach else _count_marks(x_axis, n_kept, None),
    )


def map_chart(rows: Sequence[dict[str, Any]]) -> Chart | None:
    """The kept columns, one below the other, and beside each the columns that are most like it.

    None where there is no other column to show.

    Parameters
    ----------
    rows : sequence of dict
        The reasons of all columns.
    """
    kept = sorted((row for row in rows if row["kept"]), key=lambda row: row["rank"])[:MOST_MAPPED]
    places = {row["column"]: place for place, row in enumerate(kept)}
    others = [row for row in rows if not row["kept"] and row["nearest"] in places]
    if not others:
        return None
    step = SIDE / len(kept)
    named = len(others) <= MOST_NAMED_DOTS
    dots: dict[str, list[tuple[float, float, str]]] = {"dots kept": [], "dots left": []}
    beside: dict[int, list[tuple[float, str]]] = {}
    for row in others:
        place, strength = places[row["nearest"]], abs(row["correlation"])
        stands = strength >= STANDS_FOR
        dots["dots kept" if stands else "dots left"].append(
            (
                (1 - strength) * SIDE,
                (place + 0.5) * step,
                f"{row['column']}: r = {signed(row['correlation'])} with {row['nearest']}",
            )
        )
        if stands:
            beside.setdefault(place, []).append((strength, row["column"]))
    shapes = [
        shape
        for css, points in dots.items()
        for shape in (
            [Shape(css, _dots([x], [y]), title=title) for x, y, title in points]
            if named
            else [Shape(css, _dots(*zip(*((x, y) for x, y, _ in points), strict=True)))]
            if points
            else []
        )
    ]

    def at(place: int) -> float:
        return (place + 0.5) * step / SIDE * 100

    return Chart(
        f"{count(len(kept), 'kept column')}, each with the columns that are most like it among "
        f"those not kept: {len(others):,}, of which it stands for {len(dots['dots kept']):,}.",
        tuple(shapes),
        tuple(Tick(100 - 100 * r, f"{r:g}") for r in (1, STANDS_FOR, 0.5, 0)),
        tuple(
            Tick(at(place), cut(row["column"], LONGEST_MAPPED)) for place, row in enumerate(kept)
        ),
        "|r| with the kept column",
        marks=((Tick(100 - 100 * STANDS_FOR, ""), "knee"),),
        asides=tuple(Tick(at(place), _names(names)) for place, names in beside.items()),
    )


def _names(columns: list[tuple[float, str]]) -> str:
    """The columns that are most alike, and how many more there are."""
    names = [cut(name, LONGEST_BESIDE) for _, name in sorted(columns, reverse=True)]
    more = len(names) - NAMES_BESIDE
    return ", ".join(names[:NAMES_BESIDE]) + (f" + {more:,}" if more > 0 else "")


def _count_axis(counts: IntArray, n_kept: int) -> _Axis:
    return _Axis(1, max(int(counts[-1]), n_kept), logarithmic=True)


def _with(counts: IntArray, reach: int | None) -> IntArray:
    return counts if reach is None else np.union1d(counts, [reach])


def _count_ticks(axis: _Axis, counts: IntArray) -> tuple[Tick, ...]:
    """The numbers themselves, as many as have room; the last one in any case."""
    places: FloatArray = axis.place(counts) * 100
    ticks: list[Tick] = []
    for at, number in zip(places[::-1], counts[::-1], strict=True):
        if not ticks or ticks[-1].at - at >= TICK_GAP:
            ticks.append(Tick(float(at), f"{number:,}"))
    return tuple(ticks[::-1])


def _count_marks(axis: _Axis, n_kept: int, found: int | None) -> tuple[tuple[Tick, str], ...]:
    def at(number: int) -> float:
        return float(axis.place(np.array(number))) * 100

    if found == n_kept:
        return ((Tick(at(n_kept), f"found, and kept: {n_kept:,}"), "cut"),)
    marks = [(Tick(at(n_kept), f"kept: {n_kept:,}"), "cut")]
    if found is not None:
        marks.append((Tick(at(found), f"found: {found:,}"), "knee"))
    return tuple(marks)
