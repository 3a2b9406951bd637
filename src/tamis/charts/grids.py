"""Figures of cells: correlations, images and barcodes, as paths that the template draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tamis._typing import BoolArray, FloatArray
from tamis.charts.curves import Shape, _number, signed

SHADES = 16


@dataclass(frozen=True)
class Grid:
    """A figure of cells: `width` × `height` units."""

    description: str
    width: int
    height: int
    shapes: tuple[Shape, ...] = ()
    cells: tuple[tuple[int, int, Shape, str], ...] = field(default=())


def heat_grid(correlations: FloatArray, names: Sequence[str]) -> Grid:
    """Correlations as cells of two colours, stronger where they are larger."""
    side = len(correlations)
    description = f"Correlations of {side} selected columns, in the order of their rank."
    levels = np.ceil(np.abs(correlations) * SHADES - 1e-9).astype(int)
    signs = ("positive", "negative")
    if side <= 30:  # few enough for every cell to say what it is
        cells = tuple(
            (
                column,
                row,
                Shape(signs[int(correlations[row, column] < 0)], "", _shade(levels[row, column])),
                f"{names[row]} and {names[column]}: r = {signed(correlations[row, column])}",
            )
            for row in range(side)
            for column in range(side)
        )
        return Grid(description, side, side, cells=cells)
    shapes = [
        Shape(sign, _runs((levels == level) & ((correlations < 0) == negative)), _shade(level))
        for negative, sign in enumerate(signs)
        for level in range(1, SHADES + 1)
    ]
    return Grid(description, side, side, tuple(shape for shape in shapes if shape.path))


def pixel_grid(mask: BoolArray, mean: FloatArray | None) -> Grid:
    """The kept pixels over the mean image, if it is given."""
    height, width = mask.shape
    shapes = []
    if mean is not None:
        low, high = float(mean.min()), float(mean.max())
        shares = (mean - low) / (high - low) if high > low else np.zeros(mean.shape)
        levels = np.rint(shares * SHADES).astype(int)
        shapes = [
            Shape("ink", _runs(levels == level), 0.75 * _shade(level))
            for level in range(1, SHADES + 1)
        ]
    kept = int(np.count_nonzero(mask))
    return Grid(
        f"Image of {height} × {width} pixels, of which {kept:,} are kept.",
        width,
        height,
        (*(shape for shape in shapes if shape.path), Shape("pixel", _runs(mask, inset=0.1))),
    )


def _shade(level: int) -> float:
    return round(level / SHADES, 3)


def _runs(mask: BoolArray, inset: float = 0.0) -> str:
    """The true cells of a grid as rectangles, each row's neighbours joined unless inset."""
    parts = []
    for row, line in enumerate(mask):
        padded = np.concatenate(([0], line.astype(np.int8), [0]))
        starts, stops = (np.flatnonzero(np.diff(padded) == sign) for sign in (1, -1))
        if inset:
            starts = np.flatnonzero(line)
            stops = starts + 1
        for start, stop in zip(starts, stops, strict=True):
            parts.append(
                f"M{_number(start + inset)} {_number(row + inset)}"
                f"h{_number(stop - start - 2 * inset)}v{_number(1 - 2 * inset)}"
                f"h{_number(-(stop - start - 2 * inset))}z"
            )
    return "".join(parts)


def barcode_grid(kept: BoolArray) -> Grid:
    """The columns in the order of the table, the kept ones dark; bins where there are many."""
    n_features = len(kept)
    n_bins = min(n_features, 300)
    edges = np.linspace(0, n_features, n_bins + 1).astype(int)
    shares = np.add.reduceat(kept.astype(float), edges[:-1]) / np.diff(edges)
    levels = np.ceil(shares / shares.max() * SHADES).astype(int)
    shapes = [
        Shape("pixel", _runs((levels == level)[None, :]), _shade(level))
        for level in range(1, SHADES + 1)
    ]
    return Grid(
        f"Where the {np.count_nonzero(kept):,} kept columns stand among all {n_features:,}.",
        n_bins,
        1,
        tuple(shape for shape in shapes if shape.path),
    )
