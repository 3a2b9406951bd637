"""One column of a table as it comes: an array of numbers or dates, or levels and their codes."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from tamis._typing import BoolArray, FloatArray, IntArray

# Cells of text that say that there is no value.
NO_VALUE = frozenset({"", "na", "n/a", "nan", "null", "none", "nil", "?", "<na>", "nat", "#n/a"})


@dataclass(frozen=True)
class Column:
    """One column, its missing values marked.

    Attributes
    ----------
    values : ndarray of shape (n_rows,) or None
        Numbers, booleans or dates; NaN and NaT are missing. None for text.
    levels : tuple of str
        Of text: the different values.
    codes : ndarray of int of shape (n_rows,)
        Of text: which level each row has, -1 where there is none.
    said_missing : tuple of str
        The words that were read as "no value", such as "NA".
    is_category : bool
        Whether the table itself says that the column holds categories.
    """

    values: Any = None
    levels: tuple[str, ...] = ()
    codes: Any = None
    said_missing: tuple[str, ...] = ()
    is_category: bool = False

    @property
    def is_text(self) -> bool:
        """Whether the column holds text."""
        return self.values is None

    def __len__(self) -> int:
        return len(self.codes if self.is_text else self.values)

    def missing(self) -> BoolArray:
        """Which rows have no value."""
        if self.is_text:
            return self.codes < 0
        kind = self.values.dtype.kind
        if kind == "f":
            return np.isnan(self.values)
        if kind == "M":
            return np.isnat(self.values)
        return np.zeros(len(self.values), dtype=bool)

    def counts(self) -> IntArray:
        """How many rows have each level of text."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.levels))

    def as_levels(self) -> Column:
        """The same column with its numbers, booleans or dates as text."""
        if self.is_text:
            return self
        missing = self.missing()
        different, inverse = np.unique(self.values[~missing], return_inverse=True)
        codes = np.full(len(self.values), -1, dtype=np.intp)
        codes[~missing] = inverse
        return Column(levels=tuple(map(written, different)), codes=codes)


def written(value: Any) -> str:
    """A value as text; a whole number has no decimal point, whichever type holds it."""
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if (
        isinstance(value, float | np.floating)
        and float(value).is_integer()
        and abs(float(value)) < 1e15
    ):
        return str(int(value))
    return str(value)


def column_of(values: Any, *, is_category: bool = False) -> Column:
    """Read one array, whatever it holds.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        Of numbers, booleans, dates, text, or objects of any of these.
    is_category : bool, default=False
        Whether the table says that these are categories.
    """
    kind = values.dtype.kind
    if kind in "biufM":
        column = Column(values.astype("datetime64[us]") if kind == "M" else values)
    elif kind == "m":
        column = Column(_seconds(values))
    else:
        column = _column_of_objects(values.tolist())
    if is_category:
        column = column.as_levels()
        return Column(None, column.levels, column.codes, column.said_missing, True)
    return column


def _seconds(durations: Any) -> FloatArray:
    seconds = durations / np.timedelta64(1, "s")
    return np.where(np.isnat(durations), np.nan, seconds)


def _column_of_objects(cells: list[Any]) -> Column:
    """Numbers, booleans or dates where all objects are such, else their text as levels."""
    numbered: dict[Any, int] = {}
    codes = np.empty(len(cells), dtype=np.intp)
    for row, cell in enumerate(cells):
        if isinstance(cell, bool):
            cell = _Flag(cell)  # True is not the number 1
        try:
            codes[row] = numbered.setdefault(cell, len(numbered))
        except TypeError:  # a list, a dict: known by its text
            codes[row] = numbered.setdefault(str(cell), len(numbered))
    present = [(cell, code) for cell, code in numbered.items() if not _is_missing(cell)]
    array = _array_of([cell for cell, _ in present])
    complete = len(present) == len(numbered)
    if array is not None and (complete or array.dtype.kind != "b"):
        # Of booleans with gaps, which no array of them holds, the text says that they are booleans.
        table = np.empty(len(numbered), dtype=array.dtype)
        if not complete:
            table[:] = np.datetime64("NaT") if array.dtype.kind == "M" else np.nan
        table[[code for _, code in present]] = array
        return Column(table[codes])
    return _column_of_text(present, len(numbered), codes)


def _column_of_text(present: list[tuple[Any, int]], n_cells: int, codes: IntArray) -> Column:
    """Levels of text, without the words for "no value"; two spellings of a number are one."""
    levels: dict[str, int] = {}
    said: dict[str, None] = {}
    to_level = np.full(n_cells, -1, dtype=np.intp)
    for cell, code in present:
        text = (cell.text() if isinstance(cell, _Flag) else written(cell)).strip()
        if text.casefold() in NO_VALUE:
            said[text] = None
        else:
            to_level[code] = levels.setdefault(text, len(levels))
    return Column(None, tuple(levels), to_level[codes], tuple(said))


@dataclass(frozen=True)
class _Flag:
    """A truth value among objects, which Python would take for the number 0 or 1."""

    value: bool

    def text(self) -> str:
        return str(self.value)


def _is_missing(cell: Any) -> bool:
    if cell is None:
        return True
    try:
        return bool(cell != cell)  # NaN and NaT
    except (TypeError, ValueError):  # pandas.NA has no truth value
        return type(cell).__name__ == "NAType"


def _array_of(cells: Iterable[Any]) -> Any:
    """Cells of one kind as an array of it; None for text and mixtures."""
    cells = list(cells)
    if all(isinstance(cell, _Flag) for cell in cells):
        return np.array([cell.value for cell in cells], dtype=bool) if cells else np.zeros(0)
    if all(isinstance(cell, Real | Decimal) for cell in cells):
        return np.array([float(cell) for cell in cells])
    if all(isinstance(cell, datetime.date | np.datetime64) for cell in cells):
        return np.array([_moment(cell) for cell in cells], dtype="datetime64[us]")
    return None


def _moment(cell: Any) -> Any:
    if isinstance(cell, datetime.datetime) and cell.tzinfo is not None:
        return cell.astimezone(datetime.UTC).replace(tzinfo=None)
    return cell
