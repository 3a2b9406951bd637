"""Figures printed in papers, kept as the text they were printed as."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from tamis.reproduction.tables import Cell

if TYPE_CHECKING:
    from tamis.evaluation.results import Estimate

__all__ = ["NOTHING", "Printed", "published_table"]

_FIGURE = re.compile(r"(?P<mean>\d+(?:\.(?P<digits>\d+))?)(?:\s*±\s*(?P<sd>\d+(?:\.\d+)?))?")


@dataclass(frozen=True)
class Printed:
    """A figure as a paper prints it.

    Attributes
    ----------
    mean, sd : float or None
        Brought to the unit of our measures; None if not printed.
    resolution : float
        Half the last digit of the mean.
    """

    mean: float | None = None
    sd: float | None = None
    resolution: float = 0.0

    def beside(
        self, ours: Estimate | None, *, dataset: str = "", larger_is_better: bool = True
    ) -> Cell:
        """A cell with our figure and this one."""
        return Cell(ours, self.mean, self.sd, self.resolution, larger_is_better, dataset)


NOTHING = Printed()  #: a method or number that the paper does not report


def published_table(text: str, *, scale: float = 100.0) -> Mapping[tuple[str, str], Printed]:
    """Read a table written with bars between columns.

    Parameters
    ----------
    text : str
        The first line holds the column heads (before the first bar: nothing), each further line a
        row name and its figures, ``mean`` or ``mean±sd``; an empty place is no figure.
    scale : float
        Printed figures are divided by this (100: they are per cent).

    Returns
    -------
    mapping
        ``(row, column)`` to :class:`Printed`.

    Examples
    --------
    >>> table = published_table('''
    ...        | A        | B
    ... first  | 50.0±2.5 | 61
    ... ''')
    >>> table["first", "A"]
    Printed(mean=0.5, sd=0.025, resolution=0.0005)
    >>> table["first", "B"].sd is None
    True
    """
    head, *lines = [line.split("|") for line in text.strip("\n").splitlines() if line.strip()]
    columns = [name.strip() for name in head[1:]]
    figures: dict[tuple[str, str], Printed] = {}
    for row, *entries in lines:
        if len(entries) != len(columns):
            raise ValueError(
                f"The row {row.strip()!r} has {len(entries)} figures under {len(columns)} heads."
            )
        for column, entry in zip(columns, entries, strict=True):
            figures[row.strip(), column] = _figure(entry.strip(), scale)
    return figures


def _figure(entry: str, scale: float) -> Printed:
    if not entry:
        return NOTHING
    match = _FIGURE.fullmatch(entry)
    if match is None:
        raise ValueError(f"{entry!r} is no printed figure; expected 'mean' or 'mean±sd'.")
    # In decimals: 3.6 per cent is 0.036, not the nearest thing to a binary quotient.
    unit, sd = Decimal(scale), match["sd"]
    return Printed(
        mean=float(Decimal(match["mean"]) / unit),
        sd=None if sd is None else float(Decimal(sd) / unit),
        resolution=float(Decimal(5).scaleb(-1 - len(match["digits"] or "")) / unit),
    )
