"""The kept pixels of an image."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from tamis._typing import FloatArray
from tamis.inspection import check_fitted
from tamis.plots._axes import KEPT, axes_or_new


def plot_selection(
    selector: Any,
    image_shape: tuple[int, int],
    *,
    background: FloatArray | None = None,
    order: Literal["C", "F"] = "C",
    ax: Any = None,
    **mask: Any,
) -> Any:
    """The pixels that a fitted selector keeps, as a mask over an image.

    Parameters
    ----------
    selector : Selector
        Fitted on a table whose columns are the pixels of an image.
    image_shape : (int, int)
        Height and width.
    background : ndarray of shape (n_features,) or None, default=None
        An image to draw beneath, in grey, such as the mean of the table.
    order : {"C", "F"}, default="C"
        Whether the columns run along the rows of the image or, as in MATLAB, down its columns.
    ax : matplotlib axes or None, default=None
        None makes a new figure.
    **mask
        Options of the mask, for ``Axes.imshow``.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from tamis import MaxVariance
    >>> from tamis.plots import plot_selection
    >>> X = load_digits().data
    >>> ax = plot_selection(MaxVariance(16).fit(X), (8, 8), background=X.mean(axis=0))
    >>> ax.get_title()
    'MaxVariance: 16 of 64 pixels'
    """
    selector = check_fitted(selector)
    support = selector.get_support()
    if order not in ("C", "F"):
        raise ValueError(f'order must be "C" or "F", not {order!r}.')
    if len(image_shape) != 2 or int(np.prod(image_shape)) != len(support):
        raise ValueError(
            f"image_shape={tuple(image_shape)} does not hold the {len(support)} columns that the "
            "selector was fitted on; give its height and width."
        )
    ax = axes_or_new(ax)
    from matplotlib.colors import ListedColormap

    if background is not None:
        picture = np.asarray(background, dtype=np.float64).reshape(image_shape, order=order)
        ax.imshow(picture, cmap="Greys")
    kept = np.ma.masked_equal(support.reshape(image_shape, order=order).astype(float), 0)
    look = {"cmap": ListedColormap([KEPT]), "vmin": 0, "vmax": 1}
    look["alpha"] = 1.0 if background is None else 0.75
    ax.imshow(kept, **(look | mask))
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_title(f"{type(selector).__name__}: {support.sum()} of {len(support)} pixels")
    return ax
