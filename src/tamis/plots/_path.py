"""What a method went through: the objective over its iterations, or the numbers it tried."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamis.inspection import NumberCurve, check_fitted, read_curve
from tamis.plots._axes import KEPT, KNEE, LEFT, axes_or_new


def plot_path(selector: Any, *, ax: Any = None, **line: Any) -> Any:
    """The objective of a fitted selector after each iteration, or the numbers of columns it tried.

    Of :class:`tamis.Auto` it is the curve by which the number of columns is chosen: how much of
    the groups the best columns show, beside the same columns shuffled, with the chosen number.

    Parameters
    ----------
    selector : Selector
        Fitted, by a method that has an `objective_` or a `curve_`.
    ax : matplotlib axes or None, default=None
        None makes a new figure.
    **line
        Options of the curve, for ``Axes.plot``.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import UDFS, Auto
    >>> from tamis.plots import plot_path
    >>> X = load_iris().data
    >>> plot_path(UDFS(2, n_clusters=3).fit(X)).get_xlabel()
    'iteration'
    >>> plot_path(Auto().fit(X)).get_xlabel()
    'columns, the best of the ranking'
    """
    selector = check_fitted(selector)
    name = type(selector).__name__
    curve, objective = read_curve(selector), getattr(selector, "objective_", None)
    if curve is None and objective is None:
        raise ValueError(f"{name} does not iterate: it has no objective_ to plot.")
    ax = axes_or_new(ax)
    if curve is not None:
        _plot_numbers(ax, curve, line)
    else:
        _plot_objective(ax, np.asarray(objective), line)
    ax.set_title(name)
    return ax


def _plot_objective(ax: Any, objective: Any, line: dict[str, Any]) -> None:
    iterations = np.arange(1, len(objective) + 1)
    marker = "o" if len(objective) <= 60 else None
    ax.plot(iterations, objective, **({"color": KEPT, "marker": marker, "markersize": 4} | line))
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set(xlabel="iteration", ylabel="objective")


def _plot_numbers(ax: Any, curve: NumberCurve, line: dict[str, Any]) -> None:
    style = {"color": KEPT, "marker": "o", "markersize": 4, "label": "the best columns"} | line
    ax.plot(curve.counts, curve.agreement, **style)
    ax.plot(curve.counts, curve.chance, color=LEFT, linestyle="--", label="each shuffled")
    ax.axvline(curve.n_kept, color=KEPT, label=f"kept: {curve.n_kept}")
    if curve.found not in (None, curve.n_kept):
        ax.axvline(curve.found, color=KNEE, linestyle="--", label=f"found: {curve.found}")
    ax.set_xscale("log")
    ax.set_xticks(curve.counts, [str(count) for count in curve.counts])
    ax.minorticks_off()
    ax.set(xlabel="columns, the best of the ranking", ylabel="agreement with the groups")
    ax.legend(frameon=False)
