"""The figures of the experiments: curves, bars and heat maps, as PNG and SVG.

Figures are drawn without pyplot, so that nothing is left behind and no window opens. The same
results give the same files, byte for byte, on one installation.
"""

from __future__ import annotations

import io
import itertools
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tamis.utils.files import write_atomically

__all__ = ["Bars", "Curves", "HeatMap", "Series", "draw", "require_matplotlib", "save"]

# The palette of Okabe and Ito, told apart by every kind of colour vision; markers and dashes tell
# the lines apart in print.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8A8A8A")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_DASHES: tuple[Any, ...] = ("-", "--", "-.", ":")
_STYLE = {
    "svg.hashsalt": "tamis",
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "legend.fontsize": 8.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
_PANEL_WIDTH, _PANEL_HEIGHT = 4.2, 3.3  # inches
_PNG_DPI = 130
_ALPHA = 0.1  # of a band
_TITLE_LETTERS = 48  # in a line of the title, for each panel beside another
_MOST_BANDS = 8  # more of them hide the lines
# Numbers into the palette that belong to a label, in all experiments: the baselines, and the
# methods that several papers compare with, by whatever name.
_RESERVED = {
    "All features": 6,
    "Random subsets": 7,
    **dict.fromkeys(("Laplacian score", "Laplacian", "LS"), 0),
    "SPEC": 1,
    "MCFS": 2,
}
_BASELINES = {6, 7}  # black and grey are nobody else's


@dataclass(frozen=True)
class Series:
    """One line of a panel of curves.

    Attributes
    ----------
    label : str
        As in the legend.
    x, mean : sequence of float
        The points; a single point is drawn as a level line over the whole panel.
    low, high : sequence of float or None
        The 95 % confidence interval of each point, drawn as a band unless a panel has too many
        lines. NaN is no interval.
    """

    label: str
    x: Sequence[float]
    mean: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None


@dataclass(frozen=True)
class Curves:
    """A panel of lines over a common axis.

    Attributes
    ----------
    title, x_label, y_label : str
        What is shown.
    series : sequence of Series
        The lines, in the order of the legend.
    log_x : bool
        Whether the horizontal axis is logarithmic.
    """

    title: str
    x_label: str
    y_label: str
    series: Sequence[Series]
    log_x: bool = False

    @property
    def bands(self) -> Mapping[str, tuple[Sequence[float], Sequence[float]]]:
        """The intervals to draw, by label: none where there would be too many."""
        if len(self.series) > _MOST_BANDS:
            return {}
        return {
            line.label: (line.low, line.high)
            for line in self.series
            if line.low is not None and line.high is not None and np.isfinite(line.low).any()
        }

    def paint(self, axes: Any, colours: Mapping[str, int]) -> None:
        """Draw on matplotlib axes."""
        for line in self.series:
            style = colours[line.label]
            colour = _COLOURS[style % len(_COLOURS)]
            dashes = _DASHES[style // len(_COLOURS) % len(_DASHES)]
            if len(line.x) == 1:
                axes.axhline(line.mean[0], color=colour, linestyle="--", lw=1.2, label=line.label)
                if line.label in self.bands:
                    (low,), (high,) = self.bands[line.label]
                    axes.axhspan(low, high, color=colour, alpha=_ALPHA, lw=0)
                continue
            axes.plot(
                line.x,
                line.mean,
                color=colour,
                linestyle=dashes,
                marker=_MARKERS[style % len(_MARKERS)],
                markersize=4,
                linewidth=1.4,
                label=line.label,
            )
            if line.label in self.bands:
                axes.fill_between(line.x, *self.bands[line.label], color=colour, alpha=_ALPHA, lw=0)
        if self.log_x:
            axes.set_xscale("log")
        axes.set_title(self.title)
        axes.set_xlabel(self.x_label)
        axes.set_ylabel(self.y_label)
        axes.grid(True, alpha=0.25, linewidth=0.6)


@dataclass(frozen=True)
class Bars:
    """A panel of grouped bars.

    Attributes
    ----------
    title, y_label : str
        What is shown.
    groups : mapping
        Name of a group to its bars: label to (mean, sd); NaN is no deviation. A label that a group
        lacks takes no room in it.
    """

    title: str
    y_label: str
    groups: Mapping[str, Mapping[str, tuple[float, float]]]

    def paint(self, axes: Any, colours: Mapping[str, int]) -> None:
        """Draw on matplotlib axes."""
        labels = list(dict.fromkeys(label for bars in self.groups.values() for label in bars))
        width = 0.84 / max((len(bars) for bars in self.groups.values()), default=1)
        # The bars of a group, in the order of all labels, about its tick.
        places = {
            (group, label): group + (place - (len(bars) - 1) / 2) * width
            for group, bars in enumerate(self.groups.values())
            for place, label in enumerate(label for label in labels if label in bars)
        }
        for label in labels:
            at = [
                (places[group, label], *bars[label])
                for group, bars in enumerate(self.groups.values())
                if label in bars
            ]
            axes.bar(
                [x for x, _, _ in at],
                [mean for _, mean, _ in at],
                width,
                yerr=[sd for _, _, sd in at],
                color=_COLOURS[colours[label] % len(_COLOURS)],
                edgecolor="white",
                linewidth=0.5,
                error_kw={"elinewidth": 0.8, "ecolor": "#444444"},
                label=label,
            )
        axes.set_xticks(range(len(self.groups)), list(self.groups))
        axes.set_title(self.title)
        axes.set_ylabel(self.y_label)
        axes.grid(True, axis="y", alpha=0.25, linewidth=0.6)
        axes.set_axisbelow(True)


@dataclass(frozen=True)
class HeatMap:
    """A panel that shows a measure over two parameters, with the figures in it.

    Attributes
    ----------
    title, x_label, y_label, value_label : str
        What is shown.
    x, y : sequence of str
        Names of the columns and rows.
    values : ndarray of shape (len(y), len(x))
        What to show; NaN stays white.
    decimals : int
        Digits after the point.
    """

    title: str
    x_label: str
    y_label: str
    value_label: str
    x: Sequence[str]
    y: Sequence[str]
    values: np.ndarray = field(compare=False)
    decimals: int = 1

    def paint(self, axes: Any, colours: Mapping[str, int]) -> None:
        """Draw on matplotlib axes."""
        values = np.ma.masked_invalid(self.values)
        image = axes.imshow(values, cmap="cividis", aspect="auto", origin="lower")
        bar = axes.figure.colorbar(image, ax=axes)
        bar.set_label(self.value_label)
        bar.outline.set_visible(False)
        middle = float(np.mean([values.min(), values.max()])) if values.count() else 0.0
        for (row, column), value in np.ndenumerate(self.values):
            if np.isfinite(value):
                axes.text(
                    column,
                    row,
                    f"{value:.{self.decimals}f}",
                    ha="center",
                    va="center",
                    fontsize=7.5,
                    color="black" if value > middle else "white",
                )
        axes.set_xticks(range(len(self.x)), list(self.x))
        axes.set_yticks(range(len(self.y)), list(self.y))
        axes.set_title(self.title)
        axes.set_xlabel(self.x_label)
        axes.set_ylabel(self.y_label)


Panel = Curves | Bars | HeatMap


def require_matplotlib() -> None:
    """Raise an error that says what to install where matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ImportError(
            "Figures need matplotlib, which is not installed: pip install 'tamis[plot]'."
        ) from None


def draw(panels: Sequence[Panel | None], title: str, folder: Path, name: str) -> list[Path]:
    """Draw panels side by side, at most two in a row, with one legend, and save them.

    Parameters
    ----------
    panels : sequence of Curves, Bars, HeatMap or None
        What to draw; None, of which there are no results, is left out.
    title : str
        Above all panels.
    folder, name : Path and str
        The files are ``name.png`` and ``name.svg`` in this folder.

    Returns
    -------
    list of Path
        The files.
    """
    shown = [panel for panel in panels if panel is not None]
    if not shown:
        return []
    require_matplotlib()
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    columns = min(len(shown), 2)
    rows = -(-len(shown) // columns)
    with rc_context(_STYLE):
        figure = Figure(
            figsize=(_PANEL_WIDTH * columns, _PANEL_HEIGHT * rows + 0.9), layout="constrained"
        )
        grid = figure.subplots(rows, columns, squeeze=False).ravel()
        colours = _colour_numbers(shown)
        handles: dict[str, Any] = {}
        for axes, panel in zip(grid, shown, strict=False):
            panel.paint(axes, colours)
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
                handles.setdefault(label, handle)
        for axes in grid[len(shown) :]:
            axes.set_visible(False)
        if any(isinstance(panel, Curves) and panel.bands for panel in panels):
            handles["95 % interval"] = Patch(color="#444444", alpha=2 * _ALPHA)
        if handles:
            figure.legend(
                list(handles.values()),
                list(handles),
                loc="outside lower center",
                ncols=min(len(handles), 2 * columns + 1),
                frameon=False,
            )
        figure.suptitle(textwrap.fill(title, _TITLE_LETTERS * columns), fontsize=11)
        return save(figure, folder, name)


def save(figure: Any, folder: Path, name: str) -> list[Path]:
    """Write a matplotlib figure as PNG and SVG, without dates, each in one piece.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        What to write.
    folder, name : Path and str
        The files are ``name.png`` and ``name.svg`` in this folder.

    Returns
    -------
    list of Path
        The files.
    """
    from matplotlib import rc_context

    files = []
    with rc_context(_STYLE):
        for kind, metadata in (("png", {"Software": None}), ("svg", {"Date": None})):
            buffer = io.BytesIO()
            figure.savefig(buffer, format=kind, dpi=_PNG_DPI, metadata=metadata)
            path = folder / f"{name}.{kind}"
            write_atomically(path, buffer.getvalue())
            files.append(path)
    return files


def _colour_numbers(panels: Sequence[Panel]) -> dict[str, int]:
    """A number for each label, the same in every panel; some have theirs in every figure."""
    names: list[str] = []
    for panel in panels:
        if isinstance(panel, Curves):
            names += [line.label for line in panel.series]
        elif isinstance(panel, Bars):
            names += [label for bars in panel.groups.values() for label in bars]
    names = list(dict.fromkeys(names))
    taken = {_RESERVED[name] for name in names if name in _RESERVED} | _BASELINES
    free = (number for number in itertools.count() if number not in taken)
    return {name: _RESERVED[name] if name in _RESERVED else next(free) for name in names}
