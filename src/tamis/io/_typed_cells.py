"""Columns of cells as arrays: numbers, truth values, dates or text, with gaps."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

import numpy as np

from tamis._typing import FloatArray
from tamis.io._notation import COMMA, POINT, Notation
from tamis.io._origin import objects, typed
from tamis.io._reading import Reading
from tamis.io._rows import TRUTH, parse_number
from tamis.utils.messages import describe_columns

# Missing in every column; and those that may be a category of their own, missing among numbers.
_ALWAYS = frozenset(
    {"", "na", "n/a", "nan", "null", "?", "#n/a", "<na>", "#div/0!", "#value!", "#ref!", "#name?"}
    | {"#num!", "#null!"}
)
_AMONG_NUMBERS = frozenset({"-", "--", ".", "none", "..."})


class Cells:
    """The cells of one column, as text or as values of a sheet, and what they can be read as.

    Parameters
    ----------
    cells : sequence of str or of values
    reading : Reading
        What the user says.
    """

    def __init__(self, cells: Sequence[Any], reading: Reading) -> None:
        self.marks: set[str] = set()
        self.values = [self._stripped(cell, reading.na) for cell in cells]
        text = {value for value in self.values if isinstance(value, str)}
        words = {word for word in text if word.casefold() not in _AMONG_NUMBERS}
        truths = {word for word in words if word.casefold() in TRUTH}
        self.plain = not text or all(map(_is_plain, words))
        self.fitting = {
            notation
            for notation in (POINT, COMMA)
            if not truths and all(_reads(word, notation) for word in words)
        }
        self.others = {
            type(value)
            for value in self.values
            if value is not None and not isinstance(value, str | int | float)
        }
        booleans = {value for value in self.values if isinstance(value, bool)}
        numbers = any(type(value) in (int, float) for value in self.values)
        self.is_truth = not self.others and not numbers and bool(truths or booleans)
        self.is_truth = self.is_truth and truths == words and None not in self.values
        self.is_number = (
            not self.others
            and not self.is_truth
            and not booleans
            and bool(self.fitting)
            and (bool(words) or numbers)
        )
        self.example = next((word for word in sorted(words) if not _is_plain(word)), None)
        self.stray = next((word for word in sorted(words) if not _is_plain(word)), None)
        self.n_numbers = sum(map(_is_plain, words)) + numbers

    def _stripped(self, cell: Any, na: frozenset[str]) -> Any:
        if cell is None or (isinstance(cell, float) and np.isnan(cell)):
            return None
        if not isinstance(cell, str):
            return None if str(cell).casefold() in na else cell
        text = cell.strip()
        folded = text.casefold()
        if folded in na or folded in _ALWAYS:
            if text:
                self.marks.add(text)
            return None
        return text

    def array(self, notation: Notation | None) -> FloatArray:
        """The column, its numbers in a notation; None is that of Python."""
        values = self.values
        if self.is_truth:
            return np.array(
                [v if isinstance(v, bool) else bool(TRUTH[v.casefold()]) for v in values]
            )
        if self.is_number:
            return self._numbers(notation)
        if self.others and all(v is None or isinstance(v, datetime | date) for v in values):
            return np.array(
                [None if v is None else _naive(v) for v in values], dtype="datetime64[us]"
            )
        return objects([None if v is None else _text(v) for v in values])

    def _numbers(self, notation: Notation | None) -> FloatArray:
        numbers: list[Any] = []
        for value in self.values:
            if isinstance(value, str) and value.casefold() in _AMONG_NUMBERS:
                self.marks.add(value)
                value = None
            if isinstance(value, str):
                value = _number(value, notation)
            numbers.append(value)
        if None in numbers:
            return np.array([np.nan if v is None else v for v in numbers], dtype=np.float64)
        array = typed(numbers)
        return array.astype(np.float64) if array.dtype == object else array


def _naive(value: datetime | date) -> datetime | date:
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _is_plain(text: str) -> bool:
    if "_" in text:
        return False
    try:
        float(text)
    except ValueError:
        return False
    return True


def _reads(text: str, notation: Notation) -> bool:
    try:
        parse_number(text, notation)
    except ValueError:
        return False
    return True


def _number(text: str, notation: Notation | None) -> int | float:
    plain = None if notation is None else notation.plain(text)
    try:
        return int(text if plain is None else plain)
    except ValueError:
        return parse_number(text, notation)


def typed_columns(
    names: Sequence[str], cells: Sequence[Sequence[Any]], reading: Reading, separator: str | None
) -> tuple[dict[str, FloatArray], list[str], Notation | None]:
    """Columns of cells as arrays, what was decided, and the notation of the numbers.

    Parameters
    ----------
    names : sequence of str
    cells : sequence of sequence
        Column by column: text, or values.
    reading : Reading
    separator : str or None
        Between the cells, where they are text.
    """
    columns = [Cells(column, reading) for column in cells]
    numeric = [column for column in columns if column.is_number]
    notation, notes = reading.notation, []
    marked = [column for column in numeric if not column.plain]
    if notation is None and marked:
        fitting = set.intersection(*(column.fitting for column in marked)) or {POINT}
        sure = {n for column in numeric if len(column.fitting) == 1 for n in column.fitting}
        if len(fitting) == 1:
            (notation,) = fitting
        elif len(sure) == 1:
            (notation,) = sure
        else:
            commas = any("," in (column.example or "") for column in marked)
            notation = COMMA if separator == ";" and commas else POINT
        how = "a decimal comma" if notation == COMMA else "signs between thousands"
        notes.append(
            f"Numbers such as {marked[0].example!r} are read as written with {how}; decimal=… says "
            "otherwise."
        )
    arrays = {}
    other: list[int] = []
    for j, (name, column) in enumerate(zip(names, columns, strict=True)):
        own = notation
        if column.is_number and notation is not None and notation not in column.fitting:
            if reading.notation is not None:
                column.is_number = False
            else:
                (own,) = column.fitting
                other.append(j)
        arrays[name] = column.array(own)
    if other:
        notes.append(
            f"The numbers of {describe_columns(other, names)} are written with another decimal "
            "sign than those of the other columns, and read so."
        )
    notes += _mixed_notes(names, columns, arrays)
    marks = sorted({mark for column in columns for mark in column.marks})
    if marks:
        gaps = [j for j, column in enumerate(columns) if column.marks]
        shown = ", ".join(map(repr, marks[:5])) + (", …" if len(marks) > 5 else "")
        notes.append(f"Taken as missing: {shown} in {describe_columns(gaps, names)}.")
    return arrays, notes, notation


def _mixed_notes(
    names: Sequence[str], columns: Sequence[Cells], arrays: dict[str, FloatArray]
) -> list[str]:
    mixed = [
        j
        for j, (name, column) in enumerate(zip(names, columns, strict=True))
        if arrays[name].dtype == object and column.n_numbers and column.stray is not None
    ]
    if not mixed:
        return []
    stray = columns[mixed[0]].stray or ""
    shown = stray if len(stray) <= 30 else stray[:29] + "…"
    return [
        f"Numbers and text are mixed in {describe_columns(mixed, names)} (for example {shown!r}): "
        "read as text; na=… names cells that are missing."
    ]
