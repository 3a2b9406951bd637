"""How often subsamples keep each column."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from tamis._typing import BoolArray
from tamis.inspection import Stability, read_selection, subsample_selections
from tamis.plots._axes import KEPT, LEFT, axes_or_new

MOST_SHOWN = 200


class StabilityDisplay:
    """How often refits on subsamples keep each column.

    Parameters
    ----------
    stability : tamis.inspection.Stability
        The selections of the refits.
    support : ndarray of bool of shape (n_features,)
        What the selector itself keeps.
    name : str
        Of the method.

    Attributes
    ----------
    ax_ : matplotlib axes
    """

    def __init__(self, stability: Stability, support: BoolArray, name: str) -> None:
        self.stability = stability
        self.support = support
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        selector: Any,
        X: Any,
        *,
        n_subsamples: int = 10,
        fraction: float = 0.8,
        random_state: int | np.random.RandomState | None = 0,
        ax: Any = None,
        **bars: Any,
    ) -> Self:
        """Refit copies of a fitted selector on subsamples of the rows of X, and plot."""
        selection = read_selection(selector, X)
        if n_subsamples < 2 or not 0 < fraction < 1:
            raise ValueError(
                f"n_subsamples={n_subsamples} and fraction={fraction}: stability compares at "
                "least 2 subsamples that hold a part of the rows."
            )
        stability = subsample_selections(
            selection, n_subsamples=n_subsamples, fraction=fraction, random_state=random_state
        )
        if stability.value is None:
            raise ValueError(stability.note)
        display = cls(stability, selector.get_support(), type(selector).__name__)
        return display.plot(ax=ax, **bars)

    def plot(self, *, ax: Any = None, **bars: Any) -> Self:
        """Plot the shares, largest first, at most 200; `bars` goes to ``Axes.bar``."""
        self.ax_ = ax = axes_or_new(ax)
        frequencies = self.stability.frequencies
        order = np.lexsort((~self.support, -frequencies))
        order = order[: max(20, np.count_nonzero(frequencies))][:MOST_SHOWN]
        for kept, colour, label in ((True, KEPT, "kept"), (False, LEFT, "not kept")):
            places = np.flatnonzero(self.support[order] == kept)
            look = {"width": 0.85, "color": colour, "label": label} | bars
            ax.bar(places + 1, frequencies[order[places]], **look)
        ax.set(
            xlabel="columns, those kept most often first",
            ylabel=f"share of {len(self.stability.masks)} subsamples that keep it",
            title=f"{self.name}: stability {self.stability.value:.2f}",
            ylim=(0, 1.02),
        )
        ax.legend(frameon=False)
        return self


def plot_stability(
    selector: Any,
    X: Any,
    *,
    n_subsamples: int = 10,
    fraction: float = 0.8,
    random_state: int | np.random.RandomState | None = 0,
    ax: Any = None,
    **bars: Any,
) -> Any:
    """How often copies of a selector, refitted on subsamples, keep each column.

    The title gives :func:`tamis.metrics.nogueira_stability` of their selections.

    Parameters
    ----------
    selector : Selector
        Fitted.
    X : {array-like, sparse, pandas or polars frame} of shape (n_samples, n_features)
        The table it was fitted on.
    n_subsamples : int, default=10
    fraction : float, default=0.8
        Share of the rows in a subsample.
    random_state : int, RandomState or None, default=0
    ax : matplotlib axes or None, default=None
        None makes a new figure.
    **bars
        Options of the bars, for ``Axes.bar``.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import MaxVariance
    >>> from tamis.plots import plot_stability
    >>> X = load_iris().data
    >>> plot_stability(MaxVariance(2).fit(X), X).get_title()
    'MaxVariance: stability 1.00'
    """
    return StabilityDisplay.from_estimator(
        selector,
        X,
        n_subsamples=n_subsamples,
        fraction=fraction,
        random_state=random_state,
        ax=ax,
        **bars,
    ).ax_
