"""Excel workbooks, row by row through openpyxl."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis.io._errors import TableError, close_matches
from tamis.io._libraries import need
from tamis.io._rows import RowCollector
from tamis.io._table import Table, default_names

_MOST_ROWS, _MOST_COLUMNS = 1_048_576, 16_384


def read_excel(
    path: Path, *, format: str, labels: str | None, ids: str | None, key: str | None
) -> Table:
    """Read a sheet, the first unless `key` names another; formulas give their last value."""
    openpyxl = need("openpyxl", "excel")
    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    try:
        if key is not None and key not in book.sheetnames:
            raise TableError(
                f"{path}: there is no sheet {key!r}; {close_matches(key, book.sheetnames)}"
            )
        sheet = book[key] if key is not None else book.worksheets[0]
        sheet.reset_dimensions()  # what the file says of its size is often wrong
        return _read_sheet(path, format, sheet, labels, ids)
    finally:
        book.close()


def _read_sheet(path: Path, format: str, sheet: Any, labels: str | None, ids: str | None) -> Table:
    cells = enumerate(sheet.iter_rows(values_only=True), start=1)
    filled = ((i, _trimmed(row)) for i, row in cells)
    rows = ((i, row) for i, row in filled if row)
    first = next(rows, None)
    if first is None:
        raise TableError(f"{path}: the sheet {sheet.title!r} is empty; write a header and rows.")
    notes = []
    is_data = all(isinstance(cell, (int, float)) for cell in first[1])
    if is_data:
        names = default_names(len(first[1]))
        notes.append("The first row holds numbers only: read as data, columns named column0, ….")
    else:
        names = [f"column{j}" if cell is None else str(cell) for j, cell in enumerate(first[1])]
    collector = RowCollector(path, format, names, labels, ids, notes)
    if is_data:
        collector.add_row(first[1], f"row {first[0]}")
    for i, row in rows:
        row += [None] * (len(names) - len(row))  # empty cells at the end are not stored
        collector.add_row(row, f"row {i}")
    return collector.finish()


def _trimmed(row: tuple[Any, ...]) -> list[Any]:
    cells = list(row)
    while cells and cells[-1] is None:
        cells.pop()
    return cells


def write_excel(table: Table, path: Path, *, format: str) -> None:
    """Write one sheet; text stays text, also where it looks like a formula."""
    openpyxl = need("openpyxl", "excel")
    cell_type = need("openpyxl.cell", "excel").WriteOnlyCell
    illegal = need("openpyxl.utils.exceptions", "excel").IllegalCharacterError
    beside = table.beside()
    n_rows, n_columns = table.X.shape[0] + 1, table.X.shape[1] + len(beside)
    if n_rows > _MOST_ROWS or n_columns > _MOST_COLUMNS:
        raise TableError(
            f"{path}: {n_rows} rows and {n_columns} columns do not fit a sheet of {_MOST_ROWS} × "
            f"{_MOST_COLUMNS}; write CSV or Parquet."
        )
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("table")

    def text(value: Any) -> Any:
        try:
            if "\r" in str(value):  # XML would make it a line feed
                raise illegal
            cell = cell_type(sheet, value=str(value))
        except illegal as error:
            raise TableError(
                f"{path}: Excel cannot hold the text {str(value)!r}; rename it, or write CSV."
            ) from error
        cell.data_type = "s"
        return cell

    sheet.append([text(name) for name, _ in beside] + [text(n) for n in table.feature_names])
    for i in range(table.X.shape[0]):
        row = table.X[[i]].toarray()[0] if sp.issparse(table.X) else table.X[i]
        side = [
            v[i] if isinstance(v[i], (int, float, np.number)) else text(v[i]) for _, v in beside
        ]
        sheet.append([v.item() if isinstance(v, np.generic) else v for v in side] + row.tolist())
    with open(path, "wb") as file:
        book.save(file)
