"""The sorted scores."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from tamis._typing import FloatArray
from tamis.inspection import check_fitted, knee_of, selected_columns
from tamis.plots._axes import KEPT, KNEE, LEFT, axes_or_new


class ScoresDisplay:
    """The scores of a selector, best first, with the cut and the knee.

    Parameters
    ----------
    scores : ndarray of shape (n_features,)
        Best first.
    n_selected : int
    knee : int or None
        How many scores stand before the bend of the curve.
    name : str
        Of the method.

    Attributes
    ----------
    ax_ : matplotlib axes
    """

    def __init__(self, scores: FloatArray, n_selected: int, knee: int | None, name: str) -> None:
        self.scores = scores
        self.n_selected = n_selected
        self.knee = knee
        self.name = name

    @classmethod
    def from_estimator(cls, selector: Any, *, ax: Any = None, **line: Any) -> Self:
        """Take the scores from a fitted selector and plot them."""
        selector = check_fitted(selector)
        by_rank = selector.scores_[np.argsort(selector.ranking_)]
        display = cls(
            by_rank, len(selected_columns(selector)), knee_of(selector), type(selector).__name__
        )
        return display.plot(ax=ax, **line)

    def plot(self, *, ax: Any = None, **line: Any) -> Self:
        """Plot the curve; `line` goes to ``Axes.step``."""
        self.ax_ = ax = axes_or_new(ax)
        # A plateau from j to j + 1 for the feature of rank j + 1.
        edges = np.arange(len(self.scores) + 1)
        heights = np.append(self.scores, self.scores[-1])
        lowest = min(0.0, float(self.scores[-1]))
        for part, colour in ((edges <= self.n_selected, KEPT), (edges >= self.n_selected, LEFT)):
            ax.fill_between(
                edges[part], heights[part], lowest, step="post", color=colour, alpha=0.3, lw=0
            )
        ax.step(edges, heights, **({"where": "post", "color": KEPT} | line))
        ax.axvline(self.n_selected, color=KEPT, label=f"kept: {self.n_selected}")
        if self.knee is not None:
            ax.axvline(self.knee, color=KNEE, linestyle="--", label=f"knee: {self.knee}")
        ax.set(xlabel="columns, best first", ylabel="score", title=self.name)
        ax.margins(x=0)
        ax.legend(frameon=False)
        return self


def plot_scores(selector: Any, *, ax: Any = None, **line: Any) -> Any:
    """The sorted scores of a fitted selector, with the cut and the knee of the curve.

    Parameters
    ----------
    selector : Selector
        Fitted.
    ax : matplotlib axes or None, default=None
        None makes a new figure.
    **line
        Options of the curve, for ``Axes.step``.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import MaxVariance
    >>> from tamis.plots import plot_scores
    >>> ax = plot_scores(MaxVariance(2).fit(load_iris().data))
    >>> ax.get_ylabel()
    'score'
    """
    return ScoresDisplay.from_estimator(selector, ax=ax, **line).ax_
