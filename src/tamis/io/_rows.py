"""Collect a table that arrives row by row, holding it in memory once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tamis._typing import FloatArray
from tamis.io._errors import TableError
from tamis.io._header import MISSING
from tamis.io._notation import (
    COMMA,
    POINT,
    MixedNotationError,
    Notation,
    OtherNotationError,
)
from tamis.io._origin import Origin
from tamis.io._table import Table, make_table, refuse_text, set_aside, spaces_note
from tamis.io._values import texts
from tamis.utils.blocks import BLOCK_SIZE

TRUTH = {"true": 1.0, "false": 0.0}


class RowCollector:
    """Rows of cells, as numbers in blocks, with the label and id columns set aside.

    Parameters
    ----------
    path, format
        Of the table that `finish` returns.
    names : sequence of str
        All columns of the file.
    labels, ids : str or None
        The columns to set aside.
    notes, hints : sequence of str
        Of the table.
    layout : object
        What the format needs to read the file once more, or None where it cannot.
    notation : Notation or None
        How numbers are written; None takes them as Python writes them, and tells by
        `OtherNotationError` at the end where another notation is needed.
    """

    def __init__(
        self,
        path: Path,
        format: str,
        names: Sequence[str],
        labels: str | None,
        ids: str | None,
        notes: Sequence[str] = (),
        hints: Sequence[str] = (),
        layout: Any = None,
        notation: Notation | None = None,
    ) -> None:
        self.path, self.format, self.names, self.hints = path, format, names, hints
        self.layout, self.notation = layout, notation
        self.features, self.label, self.id = set_aside(path, names, labels, ids)
        self.notes = [
            *notes,
            *spaces_note(labels, None if self.label is None else names[self.label], "labels"),
            *spaces_note(ids, None if self.id is None else names[self.id], "ids"),
        ]
        self.all_features = len(self.features) == len(names)
        self.rows_per_block = max(1, BLOCK_SIZE // max(1, len(names)))
        self._labels: list[Any] = []
        self._ids: list[Any] = []
        self._X = np.empty((self.rows_per_block, len(self.features)))
        self._n_rows = 0
        self._text: dict[str, str] = {}
        self._fitting = {POINT, COMMA}
        self._marked: str | None = None

    def add_block(self, block: FloatArray, labels: Sequence[Any], ids: Sequence[Any]) -> None:
        """Features that are numbers already, and the cells set aside."""
        self._make_room(len(block))
        self._X[self._n_rows : self._n_rows + len(block)] = block
        self._n_rows += len(block)
        self._labels += labels
        self._ids += ids

    def add_row(self, cells: Sequence[Any], where: str) -> None:
        """One row of cells, text or values; `where` names it in messages."""
        if len(cells) != len(self.names):
            comment = bool(cells) and isinstance(cells[0], str) and cells[0].startswith("#")
            remedy = "remove comments among the data" if comment else "correct that row"
            raise TableError(
                f"{self.path}: {where} has {len(cells)} cells, but there are {len(self.names)} "
                f"columns; {remedy}."
            )
        if self.label is not None:
            self._labels.append(cells[self.label])
        if self.id is not None:
            self._ids.append(cells[self.id])
        if not self.all_features:
            cells = [cells[j] for j in self.features]
        try:
            # float() would read the date or code 2021_03 as the number 202103.
            if self.notation is COMMA or any(type(cell) is str and "_" in cell for cell in cells):
                raise ValueError
            row = list(map(float, cells))
        except (ValueError, TypeError):
            row = [self._number(cell, j) for j, cell in enumerate(cells)]
        self._make_room(1)
        self._X[self._n_rows] = row
        self._n_rows += 1

    def _number(self, cell: Any, feature: int) -> float:
        if cell is None:
            return np.nan
        if isinstance(cell, int | float):
            return float(cell)
        text = str(cell).strip()
        folded = text.casefold()
        if folded in MISSING:
            return np.nan
        if folded in TRUTH:
            return TRUTH[folded]
        try:
            return parse_number(text, self.notation)
        except ValueError:
            pass
        fitting = {notation for notation in (POINT, COMMA) if notation.plain(text) is not None}
        if not fitting:
            self._text.setdefault(self.names[self.features[feature]], text)
        elif self.notation is not None:
            raise MixedNotationError(text)
        if self._marked is None or ({",", "."} & set(text) and not {",", "."} & set(self._marked)):
            self._marked = text
        self._fitting &= fitting or self._fitting
        return np.nan

    def _make_room(self, n_rows: int) -> None:
        """Grow in place, by little: where the system can move pages, nothing is held twice."""
        capacity = len(self._X)
        if self._n_rows + n_rows > capacity:
            capacity = max(self._n_rows + n_rows, capacity + capacity // 8)
            self._X.resize((capacity, len(self.features)), refcheck=False)

    def finish(self) -> Table:
        """The table, after all rows."""
        refuse_text(self.path, self._text)
        if self._marked is not None:
            raise OtherNotationError(self._fitting, self._marked)
        self._X.resize((self._n_rows, len(self.features)), refcheck=False)
        return make_table(
            self.path,
            self.format,
            self._X,
            [self.names[j] for j in self.features],
            labels=None if self.label is None else row_values(self._labels),
            ids=None if self.id is None else np.array(texts(self._ids), dtype=object),
            labels_name=None if self.label is None else self.names[self.label],
            ids_name=None if self.id is None else self.names[self.id],
            notes=self.notes,
            hints=self.hints,
            origin=None
            if self.layout is None
            else Origin.of(self.path, self.format, self.features, self.id, self.label, self.layout),
        )


def parse_number(text: str, notation: Notation | None) -> float:
    """The number that a cell holds, or ValueError."""
    plain = None if notation is None else notation.plain(text)
    if plain is not None:
        return float(plain)
    if "_" in text or (notation is COMMA and "." in text):
        raise ValueError
    return float(text)


def read_in_any_notation(
    path: Path,
    read: Callable[[Notation | None], Table],
    separator: str | None,
    given: Notation | None = None,
) -> Table:
    """Read a table whose numbers may have decimal commas, or signs between thousands.

    Parameters
    ----------
    path : Path
    read : callable
        Reads the table in a notation; None is Python's.
    separator : str or None
        Of the cells, where the table is text.
    given : Notation or None
        The notation that the user says; None finds out.
    """
    if given is not None:
        try:
            return read(given)
        except (MixedNotationError, OtherNotationError) as error:
            raise TableError(
                f"{path}: {str(error)!r} is no number with the decimal sign {given.decimal!r}; "
                "leave out decimal=… and thousands=…, or give others."
            ) from error
    try:
        return read(None)
    except OtherNotationError as error:
        fitting, example = error.fitting, error.example
    if not fitting:
        raise _mixed(path, example)
    if len(fitting) == 1:
        (notation,) = fitting
    elif separator == "," or not {",", "."} & set(example):
        notation = POINT  # who parts cells by commas has no decimal commas
    else:
        notation = _only_notation(path, read, example)
    try:
        table = read(notation)
    except MixedNotationError as error:
        raise _mixed(path, example, str(error)) from error
    except OtherNotationError as error:
        raise _mixed(path, example, error.example) from error
    how = "a decimal comma" if notation is COMMA else "signs between thousands"
    note = f"Numbers such as {example!r} are read as written with {how}."
    return replace(table, notes=(*table.notes, note))


def _only_notation(path: Path, read: Callable[[Notation | None], Table], example: str) -> Notation:
    """The notation of a file whose marked numbers fit both: that of the others, if it tells."""
    try:
        read(COMMA)
    except (MixedNotationError, OtherNotationError):
        return POINT
    raise TableError(
        f"{path}: {example!r} may be {POINT.plain(example)} or {COMMA.plain(example)}; write "
        "thousands without a sign between them, and decimals with a point."
    )


def _mixed(path: Path, *examples: str) -> TableError:
    shown = " and ".join(map(repr, examples))
    return TableError(
        f"{path}: some numbers are written with a decimal comma, others with a decimal point (see "
        f"{shown}); write all of them with a point."
    )


def row_values(values: Sequence[Any]) -> FloatArray:
    """Labels as integers or floats where all of them are written as such, else as text."""
    text = texts(values)
    for kind in (int, float):
        try:
            numbers = [kind(value) for value in text]
        except ValueError:
            continue
        if [str(number) for number in numbers] == text:
            return np.array(numbers)
    return np.array(text, dtype=object)
