"""Axes to draw on, and the colours that the plots share."""

from __future__ import annotations

from typing import Any

KEPT = "#0b6e69"
LEFT = "#b9b6ad"
KNEE = "#b4490b"


def pyplot() -> Any:
    """``matplotlib.pyplot``, or one line that says how to get it."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError(
            "tamis.plots needs matplotlib; install it with: pip install 'tamis[plot]'"
        ) from None
    return pyplot


def axes_or_new(ax: Any) -> Any:
    """The given axes, or those of a new figure."""
    if ax is not None:
        return ax
    return pyplot().subplots(layout="constrained")[1]
