"""The critical difference diagram: which methods are told apart by their mean ranks."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import numpy as np

from tamis._typing import FloatArray
from tamis.evaluation.candidates import ALL_FEATURES_LABEL, RANDOM_LABEL
from tamis.evaluation.statistics import Ranks
from tamis.reproduction.figures import require_matplotlib, save

__all__ = ["critical_difference_figure"]

# With more ranks on the axis their numbers would run into each other.
MOST_TICKS = 25
BASELINES = (ALL_FEATURES_LABEL, RANDOM_LABEL)


def critical_difference_figure(
    found: Ranks, folder: Path, name: str, *, bold: Collection[str] = BASELINES
) -> list[Path]:
    """The critical difference diagram: methods on an axis of mean ranks, as PNG and SVG.

    Methods joined by a bar are closer than the critical difference.

    Parameters
    ----------
    found : Ranks
    folder, name : Path and str
        The files are ``name.png`` and ``name.svg`` in this folder.
    bold : collection of str, optional
        Labels that stand out; all features and random subsets, unless given.

    Returns
    -------
    list of Path
        The files.
    """
    require_matplotlib()
    from matplotlib.figure import Figure

    order = np.argsort(found.ranks, kind="stable")
    values, labels = found.ranks[order], [found.labels[i] for i in order]
    half = -(-len(labels) // 2)
    groups = _joined(values, found.critical)
    top = 1.2 + 0.35 * len(groups)
    figure = Figure(
        figsize=(8.5, 0.24 * (half + 3) + 0.2 * len(groups) + 0.8), layout="constrained"
    )
    axes = figure.subplots()
    low, high = np.floor(values.min()), np.ceil(values.max())
    margin = 0.42 * (high - low)
    axes.hlines(0, low, high, color="black", linewidth=1)
    step = 1 if high - low <= MOST_TICKS else 5
    for tick in np.arange(-(-low // step) * step, high + 1, step):
        axes.vlines(tick, -0.2, 0, color="black", linewidth=1)
        axes.text(tick, -0.3, f"{tick:g}", ha="center", va="bottom", fontsize=8)
    for i, (value, label) in enumerate(zip(values, labels, strict=True)):
        left = i < half
        depth = top + (i if left else len(labels) - 1 - i)
        end = low - 0.03 * margin if left else high + 0.03 * margin
        axes.plot([value, value, end], [0, depth, depth], color="#555555", linewidth=0.8)
        axes.text(
            end - 0.02 * margin if left else end + 0.02 * margin,
            depth,
            f"{label}  {value:.1f}" if left else f"{value:.1f}  {label}",
            ha="right" if left else "left",
            va="center",
            fontsize=9,
            fontweight="bold" if label in bold else "normal",
        )
    for level, (first, last) in enumerate(groups):
        at = 0.6 + 0.35 * level
        axes.hlines(at, values[first], values[last], color="#D55E00", linewidth=3)
    axes.hlines(-1.3, low, low + found.critical, color="black", linewidth=2)
    axes.text(low, -1.5, f"critical difference {found.critical:.2f}", va="bottom", fontsize=8)
    axes.set_xlim(low - margin, high + margin)
    axes.set_ylim(top + half, -2.4)
    axes.axis("off")
    return save(figure, folder, name)


def _joined(values: FloatArray, critical: float) -> list[tuple[int, int]]:
    """The longest runs of sorted mean ranks that lie within the critical difference."""
    groups: list[tuple[int, int]] = []
    for first in range(len(values)):
        last = int(np.searchsorted(values, values[first] + critical, side="right")) - 1
        if last > first and (not groups or last > groups[-1][1]):
            groups.append((first, last))
    return groups
