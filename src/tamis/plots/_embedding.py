"""The samples in the plane, before and after."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from sklearn.utils import check_random_state

from tamis._typing import FloatArray, Matrix
from tamis.graphs import neighbor_graph, spectral_embedding
from tamis.inspection import (
    Groups,
    Selection,
    View,
    aligned,
    centred_gram,
    check_labels,
    find_groups,
    principal_view,
    read_selection,
)
from tamis.plots._axes import pyplot

Method = Literal["pca", "spectral"]


class EmbeddingDisplay:
    """The samples in the plane, in all columns and in the selected ones.

    Parameters
    ----------
    before, after : tamis.inspection.View
    groups : tamis.inspection.Groups
        What the samples are coloured by.
    n_features, n_selected : int
    coordinate : str, default="principal component"
        What the two axes are.

    Attributes
    ----------
    axes_ : ndarray of two matplotlib axes
    """

    def __init__(
        self,
        before: View,
        after: View,
        groups: Groups,
        n_features: int,
        n_selected: int,
        coordinate: str = "principal component",
    ) -> None:
        self.before = before
        self.after = after
        self.groups = groups
        self.n_features = n_features
        self.n_selected = n_selected
        self.coordinate = coordinate

    @classmethod
    def from_estimator(
        cls,
        selector: Any,
        X: Any,
        *,
        labels: Any = None,
        method: Method = "pca",
        n_neighbors: int = 5,
        max_samples: int = 2000,
        random_state: int | np.random.RandomState | None = 0,
        ax: Any = None,
        **points: Any,
    ) -> Self:
        """Embed the samples of X with all columns and with the selected ones, and plot."""
        selection = read_selection(selector, X)
        n_samples, n_features = selection.X.shape
        if method not in ("pca", "spectral"):
            raise ValueError(f'method must be "pca" or "spectral", not {method!r}.')
        if labels is not None:
            labels = check_labels(labels, n_samples)
        generator: np.random.RandomState = check_random_state(random_state)
        rows = np.sort(generator.permutation(n_samples)[:max_samples])
        table = selection.X[rows]
        gram = centred_gram(table)
        groups = find_groups(
            selection.selector,
            rows,
            gram,
            labels=labels,
            n_samples=n_samples,
            random_state=generator,
        )
        before, after = _views(selection, table, gram, method, n_neighbors)
        coordinate = "principal component" if method == "pca" else "Laplacian eigenvector"
        after = aligned(after, before)
        display = cls(before, after, groups, n_features, len(selection.kept), coordinate)
        return display.plot(ax=ax, **points)

    def plot(self, *, ax: Any = None, **points: Any) -> Self:
        """Plot both views, on two axes; `points` goes to ``Axes.scatter``."""
        if ax is None:
            ax = pyplot().subplots(1, 2, figsize=(9, 4.6), layout="constrained")[1]
        elif np.size(ax) != 2:
            raise ValueError(f"ax must be two axes, for before and after, not {np.size(ax)}.")
        self.axes_ = axes = np.ravel(ax)
        from matplotlib import colormaps

        n_groups = len(self.groups.names)
        colours = (
            colormaps["viridis"](np.linspace(0.95, 0.1, n_groups))
            if self.groups.ordered
            else colormaps["tab10"](np.arange(n_groups))
        )
        titles = (f"all {self.n_features} columns", f"the {self.n_selected} selected")
        for axis, view, title in zip(axes, (self.before, self.after), titles, strict=True):
            for code, name in enumerate(self.groups.names):
                chosen = view.points[self.groups.codes == code]
                look = {"s": 9, "alpha": 0.75, "linewidths": 0, "color": colours[code]} | points
                axis.scatter(*chosen.T, label=name, **look)
            axis.set_aspect("equal", adjustable="datalim")
            axis.set(xticks=[], yticks=[], title=title)
        axes[0].set(xlabel=f"first {self.coordinate}", ylabel=f"second {self.coordinate}")
        axes[1].set(xlabel="the plane of its own two, turned towards the other picture")
        axes[1].legend(
            title=self.groups.source, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False
        )
        return self


def _views(
    selection: Selection, table: Matrix, gram: FloatArray, method: Method, n_neighbors: int
) -> tuple[View, View]:
    kept = table[:, selection.kept]
    if method == "pca":
        return principal_view(gram), principal_view(centred_gram(kept))
    most = table.shape[0] - 1
    before, after = (
        View(spectral_embedding(neighbor_graph(part, min(n_neighbors, most)), 2)[1])
        for part in (table, kept)
    )
    return before, after


def plot_embedding(
    selector: Any,
    X: Any,
    *,
    labels: Any = None,
    method: Method = "pca",
    n_neighbors: int = 5,
    max_samples: int = 2000,
    random_state: int | np.random.RandomState | None = 0,
    ax: Any = None,
    **points: Any,
) -> Any:
    """The samples in the plane, in all columns and in the selected ones.

    The second picture is turned, or mirrored, towards the first.

    Parameters
    ----------
    selector : Selector
        Fitted.
    X : {array-like, sparse, pandas or polars frame} of shape (n_samples, n_features)
        The table it was fitted on.
    labels : array-like of shape (n_samples,) or None, default=None
        Colours of the samples; None takes the clusters the selector found, else K-means.
    method : {"pca", "spectral"}, default="pca"
        Two principal components, or two Laplacian eigenvectors of the neighbour graph.
    n_neighbors : int, default=5
        Of that graph.
    max_samples : int, default=2000
        More samples are drawn from at random.
    random_state : int, RandomState or None, default=0
    ax : two matplotlib axes or None, default=None
        None makes a new figure.
    **points
        Options of the points, for ``Axes.scatter``.

    Returns
    -------
    ndarray of two matplotlib axes

    Notes
    -----
    O(m²d) for m samples.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import MaxVariance
    >>> from tamis.plots import plot_embedding
    >>> X, y = load_iris(return_X_y=True)
    >>> before, after = plot_embedding(MaxVariance(2).fit(X), X, labels=y)
    >>> after.get_title()
    'the 2 selected'
    """
    return EmbeddingDisplay.from_estimator(
        selector,
        X,
        labels=labels,
        method=method,
        n_neighbors=n_neighbors,
        max_samples=max_samples,
        random_state=random_state,
        ax=ax,
        **points,
    ).axes_
