"""Collect a table that arrives row by row, holding it in memory once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tamis._typing import FloatArray
from tamis.columns import BLOCK_SIZE
from tamis.io._errors import TableError
from tamis.io._table import Table, make_table, refuse_text, set_aside

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "#n/a"})
_TRUTH = {"true": 1.0, "false": 0.0}


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
    """

    def __init__(
        self,
        path: Path,
        format: str,
        names: Sequence[str],
        labels: str | None,
        ids: str | None,
        notes: Sequence[str] = (),
    ) -> None:
        self.path, self.format, self.names, self.notes = path, format, names, notes
        self.features, self.label, self.id = set_aside(path, names, labels, ids)
        self.all_features = len(self.features) == len(names)
        self.rows_per_block = max(1, BLOCK_SIZE // max(1, len(names)))
        self._labels: list[Any] = []
        self._ids: list[Any] = []
        self._X = np.empty((self.rows_per_block, len(self.features)))
        self._n_rows = 0
        self._text: dict[str, str] = {}

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
            raise TableError(
                f"{self.path}: {where} has {len(cells)} cells, but there are {len(self.names)} "
                "columns; correct that row."
            )
        if self.label is not None:
            self._labels.append(cells[self.label])
        if self.id is not None:
            self._ids.append(cells[self.id])
        if not self.all_features:
            cells = [cells[j] for j in self.features]
        try:
            # float() would read the date or code 2021_03 as the number 202103.
            if any(type(cell) is str and "_" in cell for cell in cells):
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
        text = str(cell).strip()
        folded = text.casefold()
        if folded in MISSING:
            return np.nan
        if folded in _TRUTH:
            return _TRUTH[folded]
        try:
            if "_" in text:
                raise ValueError
            return float(text)
        except ValueError:
            self._text.setdefault(self.names[self.features[feature]], text)
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
        self._X.resize((self._n_rows, len(self.features)), refcheck=False)
        return make_table(
            self.path,
            self.format,
            self._X,
            [self.names[j] for j in self.features],
            labels=None if self.label is None else row_values(self._labels),
            ids=None if self.id is None else np.array(_texts(self._ids), dtype=object),
            labels_name=None if self.label is None else self.names[self.label],
            ids_name=None if self.id is None else self.names[self.id],
            notes=self.notes,
        )


def _texts(values: Sequence[Any]) -> list[str]:
    """The cells as text; one without a value is empty, as in a text file."""
    return ["" if value is None else str(value) for value in values]


def row_values(values: Sequence[Any]) -> FloatArray:
    """Labels as integers or floats where all of them are written as such, else as text."""
    text = _texts(values)
    for kind in (int, float):
        try:
            numbers = [kind(value) for value in text]
        except ValueError:
            continue
        if [str(number) for number in numbers] == text:
            return np.array(numbers)
    return np.array(text, dtype=object)
