"""The objective over the iterations."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamis.inspection import check_fitted
from tamis.plots._axes import KEPT, axes_or_new


def plot_path(selector: Any, *, ax: Any = None, **line: Any) -> Any:
    """The objective of a fitted selector after each iteration.

    Parameters
    ----------
    selector : Selector
        Fitted, by a method that has an `objective_`.
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
    >>> from tamis import UDFS
    >>> from tamis.plots import plot_path
    >>> ax = plot_path(UDFS(2, n_clusters=3).fit(load_iris().data))
    >>> ax.get_xlabel()
    'iteration'
    """
    selector = check_fitted(selector)
    name = type(selector).__name__
    objective = getattr(selector, "objective_", None)
    if objective is None:
        raise ValueError(f"{name} does not iterate: it has no objective_ to plot.")
    ax = axes_or_new(ax)
    iterations = np.arange(1, len(objective) + 1)
    marker = "o" if len(objective) <= 60 else None
    ax.plot(iterations, objective, **({"color": KEPT, "marker": marker, "markersize": 4} | line))
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set(xlabel="iteration", ylabel="objective", title=name)
    return ax
