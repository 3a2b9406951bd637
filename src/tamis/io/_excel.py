"""Excel workbooks, row by row through openpyxl."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tamis._typing import FloatArray
from tamis.io._errors import TableError, close_matches
from tamis.io._header import decide_header, name_columns
from tamis.io._libraries import need
from tamis.io._notation import Notation
from tamis.io._origin import Origin, typed
from tamis.io._reading import Reading
from tamis.io._rows import RowCollector, parse_number, read_in_any_notation
from tamis.io._table import Table, default_names
from tamis.io._values import cells_of, is_plain

_MOST_ROWS, _MOST_COLUMNS = 1_048_576, 16_384


@dataclass(frozen=True)
class SheetLayout:
    """Which sheet a table is on, whether it has a header, and how numbers in text are written."""

    sheet: str
    header: bool
    n_columns: int
    notation: Notation | None
    names: tuple[str, ...] | None = None


def read_excel(
    path: Path,
    *,
    format: str,
    labels: str | None,
    ids: str | None,
    key: str | None,
    reading: Reading,
) -> Table:
    """Read a sheet, the first unless `key` names another; formulas give their last value."""
    title, cells, named, notes, hints = start_of_sheet(path, key, reading.header, {labels, ids})
    n_sheet_notes = int(bool(notes) and notes[0].startswith("Of "))
    names = default_names(len(cells))
    if named:
        names, ids, more = name_columns(cells, ids)
        notes = [*notes, *more]

    def read(notation: Notation | None) -> Table:
        layout = SheetLayout(title, named, len(names), notation)
        collector = RowCollector(path, format, names, labels, ids, notes, hints, layout, notation)
        for i, row in sheet_rows(path, layout):
            collector.add_row(row, f"row {i}")
        return collector.finish()

    try:
        return read_in_any_notation(path, read, None, reading.notation)
    except TableError as error:
        advice = [*hints, *notes[:n_sheet_notes]]
        if advice:  # what is wrong may be that another sheet, or no header, was meant
            raise TableError(" ".join([str(error), *advice])) from error
        raise


def start_of_sheet(
    path: Path, key: str | None, header: bool | None, wanted: set[str | None]
) -> tuple[str, list[Any], bool, list[str], list[str]]:
    """The sheet's title, its first row, whether that holds names, notes and hints."""
    with _workbook(path) as book:
        titles = book.sheetnames
        if key is not None and key not in titles and key.isdigit():
            if not 1 <= int(key) <= len(titles):
                raise TableError(
                    f"{path}: there is no sheet number {key}; there are {len(titles)}, counted "
                    "from 1."
                )
            key = titles[int(key) - 1]
        if key is not None and key not in titles:
            raise TableError(f"{path}: there is no sheet {key!r}; {close_matches(key, titles)}")
        title = key if key is not None else book.worksheets[0].title
        start = [row for _, row in itertools.islice(_rows(book[title]), 2)]
    notes = []
    if key is None and len(titles) > 1:
        others = ", ".join(repr(other) for other in titles if other != title)
        notes.append(f"Of {len(titles)} sheets, {title!r} is taken; key=… names another: {others}.")
    if not start:
        said = " ".join(["write a header and rows.", *notes])
        raise TableError(f"{path}: the sheet {title!r} is empty; {said}")
    cells, second = start[0], start[1] if len(start) > 1 else []
    # Text over numbers names them, also where it is the text of a number.
    text = any(isinstance(cell, str) for cell in cells)
    if header is None and (
        (text and not all(isinstance(cell, str) for cell in second))
        or wanted & {str(cell) for cell in cells if cell is not None}
    ):
        header = True
    named, more, hints = decide_header(cells, second, header, "row")
    return title, cells, named, [*notes, *more], hints


@contextmanager
def _workbook(path: Path) -> Iterator[Any]:
    book = need("openpyxl", "excel").load_workbook(path, read_only=True, data_only=True)
    try:
        yield book
    finally:
        book.close()


def _rows(sheet: Any, *, values: bool = True) -> Iterator[tuple[int, list[Any]]]:
    """The rows of a sheet that are not blank, with their numbers, without empty cells at the end.

    Cells come as their values, or as cells of openpyxl.
    """
    sheet.reset_dimensions()  # what the file says of its size is often wrong
    for i, row in enumerate(sheet.iter_rows(values_only=values), start=1):
        cells = list(row)
        while cells and (cells[-1] if values else cells[-1].value) is None:
            cells.pop()
        if cells:
            yield i, cells


def sheet_rows(path: Path, layout: SheetLayout) -> Iterator[tuple[int, list[Any]]]:
    """The rows of data; empty cells at the end, which are not stored, are None."""
    with _workbook(path) as book:
        for i, row in itertools.islice(_rows(book[layout.sheet]), int(layout.header), None):
            yield i, [*row, *[None] * (layout.n_columns - len(row))]


def copy_excel(origin: Origin, path: Path, columns: Sequence[int], *, format: str) -> None:
    """Write some columns of a sheet, each cell with its type and number format."""
    layout: SheetLayout = origin.layout
    book, sheet = _new_sheet(layout.sheet)
    make_cell = need("openpyxl.cell", "excel").WriteOnlyCell

    def copied(cell: Any) -> Any:
        if cell is None or cell.value is None:
            return None
        if isinstance(cell.value, str):
            return _text_cell(sheet, path, cell.value)
        value = _exact(sheet, cell.value)
        new = value if hasattr(value, "number_format") else make_cell(sheet, value=value)
        new.number_format = cell.number_format
        return new

    if not layout.header:
        sheet.append([_text_cell(sheet, path, f"column{j}") for j in columns])
    elif layout.names is not None:
        sheet.append([_text_cell(sheet, path, layout.names[j]) for j in columns])
    with _workbook(origin.path) as source:
        rows = _rows(source[layout.sheet], values=False)
        for _, row in itertools.islice(rows, int(layout.names is not None), None):
            sheet.append([copied(row[j] if j < len(row) else None) for j in columns])
    with open(path, "wb") as file:
        book.save(file)


def typed_excel(origin: Origin, columns: Sequence[int]) -> list[FloatArray]:
    """Some columns of a sheet; text among the features is numbers."""
    layout: SheetLayout = origin.layout
    features = set(origin.features.tolist())
    collected: list[list[Any]] = [[] for _ in columns]
    for _, row in sheet_rows(origin.path, layout):
        for j, values in zip(columns, collected, strict=True):
            value = row[j]
            if isinstance(value, str) and j in features:
                value = parse_number(value.strip(), layout.notation)
            values.append(value)
    return [typed(values) for values in collected]


def _new_sheet(title: str) -> tuple[Any, Any]:
    book = need("openpyxl", "excel").Workbook(write_only=True)
    return book, book.create_sheet(title)


def _text_cell(sheet: Any, path: Path, value: Any) -> Any:
    """Text that stays text, also where it looks like a formula."""
    illegal = need("openpyxl.utils.exceptions", "excel").IllegalCharacterError
    try:
        if "\r" in str(value):  # XML would make it a line feed
            raise illegal
        cell = need("openpyxl.cell", "excel").WriteOnlyCell(sheet, value=str(value))
    except illegal as error:
        raise TableError(
            f"{path}: Excel cannot hold the text {str(value)!r}; rename it, or write CSV."
        ) from error
    cell.data_type = "s"
    return cell


def _exact(sheet: Any, value: Any) -> Any:
    """A value that is written with all its digits: openpyxl by itself writes 16 of a number."""
    if type(value) not in (int, float) or float(f"{value:.16g}") == value:
        return value
    cell = need("openpyxl.cell", "excel").WriteOnlyCell(sheet, value=repr(value))
    cell.data_type = "n"
    return cell


def write_excel(table: Table, path: Path, *, format: str) -> None:
    """Write one sheet: numbers, truth values and dates as such, all else as text."""
    beside = table.beside()
    n_rows, n_columns = table.X.shape[0] + 1, table.X.shape[1] + len(beside)
    if n_rows > _MOST_ROWS or n_columns > _MOST_COLUMNS:
        raise TableError(
            f"{path}: {n_rows} rows and {n_columns} columns do not fit a sheet of {_MOST_ROWS} × "
            f"{_MOST_COLUMNS}; write CSV or Parquet."
        )
    book, sheet = _new_sheet("table")

    def cell(value: Any) -> Any:
        if value is None:
            return None
        # A sheet knows no time zones.
        if is_plain(value) and getattr(value, "tzinfo", None) is None:
            return _exact(sheet, value.item() if isinstance(value, np.generic) else value)
        return _text_cell(sheet, path, value)

    names = [name for name, _ in beside] + table.feature_names.tolist()
    sheet.append([_text_cell(sheet, path, name) for name in names])
    for i, row in enumerate(cells_of(table)):
        sheet.append([*(cell(values[i]) for _, values in beside), *map(cell, row)])
    with open(path, "wb") as file:
        book.save(file)
