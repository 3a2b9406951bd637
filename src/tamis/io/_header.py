"""Whether the first row of a table holds the names of its columns."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Any

from tamis.io._notation import COMMA, POINT
from tamis.io._table import default_names

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "#n/a"})
# As pandas calls the column of row names that a CSV file has no name for.
_INDEX_NAMES = ("", "Unnamed: 0")
_DECIMAL = re.compile(r"\d[.,]\d")


def is_missing(cell: Any) -> bool:
    """Whether a cell, text or value, holds nothing."""
    return cell is None or (isinstance(cell, str) and cell.strip().casefold() in MISSING)


def is_number(cell: Any) -> bool:
    """Whether a cell, text or value, may be data: a number in any notation, or missing."""
    if not isinstance(cell, str):
        return cell is None or isinstance(cell, int | float)
    if "_" in cell:  # float() would take the month 2021_03 for a number
        return False
    try:
        float(cell)
    except ValueError:
        text = cell.strip()
        return is_missing(cell) or any(n.plain(text) is not None for n in (POINT, COMMA))
    return True


def decide_header(
    first: Sequence[Any], second: Sequence[Any], header: bool | None, what: str = "line"
) -> tuple[bool, list[str], list[str]]:
    """Whether the first row holds names, with a note where that was decided here.

    Parameters
    ----------
    first, second : sequence of str or of values
        The first two rows.
    header : bool or None
        What the user says of it.
    what : str
        What a row is called.

    Returns
    -------
    header : bool
    notes, hints : list of str
        A hint is for a decision that may be wrong.
    """
    if header is not None:
        note = f"Columns are called by their place, {_default(first)}, …."
        return header, [] if header else [note], []
    shown = ", ".join("" if cell is None else str(cell).strip() for cell in first[:3])
    shown = f"The first {what} ({shown}{', …' if len(first) > 3 else ''})"
    numeric = [not is_missing(cell) and is_number(cell) for cell in first]
    if not all(map(is_number, first)):
        if any(n and _DECIMAL.search(str(c)) for c, n in zip(first, numeric, strict=True)):
            return True, [], [f"{shown} holds numbers and is taken as names; is it data? {_NO}"]
        return True, [], []
    if _counts_on(first) and not _counts_on(second):
        return True, [], [f"{shown} goes up like names and is taken as such; is it data? {_NO}"]
    note = f"The first {what} holds numbers only: read as data, columns named column0, …."
    whole = [_whole(cell) for cell in first]
    if (
        None not in whole
        and len(set(whole)) == len(whole)
        and len(second)
        and all(is_number(cell) and _whole(cell) is None for cell in second)
    ):
        return False, [note], [f"{shown} is read as data; does it hold names? {_YES}"]
    return False, [note], []


_NO = "Then say header=False."
_YES = "Then say header=True."


def _default(cells: Sequence[Any]) -> str:
    return ", ".join(default_names(min(2, len(cells))))


def _whole(cell: Any) -> int | None:
    try:
        number = int(str(cell))
    except ValueError:
        return None
    return None if "_" in str(cell) else number


def _counts_on(cells: Sequence[Any]) -> bool:
    """Whether the cells go up as names do: 0, 1, 2, …, years, wavelengths; the first may be empty.

    Three that count on, five in equal steps, or eight that go up are hardly ever data.
    """
    index = bool(cells) and is_missing(cells[0])
    try:
        numbers = [float(cell) for cell in (cells[1:] if index else cells)]
    except (TypeError, ValueError):
        return False
    steps = [after - before for before, after in itertools.pairwise(numbers)]
    if not steps or not min(steps) > 0:
        return False
    even = max(steps) - min(steps) <= 1e-9 * max(map(abs, numbers))
    count = len(numbers) + index
    return count >= (3 if even and steps[0] == 1 else 5 if even else 8)


def name_columns(header: Sequence[Any], ids: str | None) -> tuple[list[str], str | None, list[str]]:
    """Names for the columns, row ids where the first has none, and what was decided.

    A first column without a name is a row counter or row names.
    """
    notes = []
    given = ["" if cell is None else str(cell) for cell in header]
    names = [name or f"column{j}" for j, name in enumerate(given)]
    if given and given[0] in _INDEX_NAMES:
        if ids is None:
            ids = names[0]
            what = "has no name" if not given[0] else f"is called {given[0]!r}"
            notes.append(f"The first column {what}: taken as row ids.")
        given = given[1:]
    if "" in given:
        notes.append("Columns without a name are called by their place: column0, column1, ….")
    return names, ids, notes
