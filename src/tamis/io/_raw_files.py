"""Files of mixed columns, format by format: text, workbooks, Arrow, ARFF."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tamis._typing import FloatArray
from tamis.io._arff import arff_cells
from tamis.io._arrow import arrow_columns
from tamis.io._errors import TableError
from tamis.io._excel import SheetLayout, sheet_rows, start_of_sheet
from tamis.io._header import name_columns
from tamis.io._origin import Origin, objects
from tamis.io._raw import RawTable, unique_names
from tamis.io._reading import Reading
from tamis.io._table import default_names, set_aside, spaces_note
from tamis.io._text import LONGEST_CELL, in_any_encoding, records, start_of_text
from tamis.io._text_layout import Layout, data_lines
from tamis.io._typed_cells import typed_columns


def raw_delimited(
    path: Path,
    *,
    format: str,
    labels: str | None,
    ids: Sequence[str],
    key: str | None,
    reading: Reading,
) -> RawTable:
    """Read CSV or TSV."""
    csv.field_size_limit(LONGEST_CELL)

    def read(encoding: Any) -> RawTable:
        start = start_of_text(path, format, encoding, reading)
        layout, given, notes, hints = start.laid_out(encoding, reading.header, {labels, *ids})
        names, row_names, more = _named(given, start.n_columns)
        layout = replace(layout, header=_header(layout, given, names))
        rows: list[list[str]] = []
        with data_lines(path, layout) as lines:
            for record, where in records(path, lines, layout.separator, layout.n_lines, len(names)):
                if len(record) != len(names):
                    raise TableError(
                        f"{path}: {where} has {len(record)} cells, but there are {len(names)} "
                        "columns; correct that row, or name the separator with sep=…."
                    )
                rows.append(record)
        if separator_note := start.note(reading):
            notes = [*notes, separator_note]
        return _table(
            path, format, names, rows, layout, labels, ids, row_names, [*notes, *more], hints,
            reading, layout.separator,
        )  # fmt: skip

    return in_any_encoding(path, reading.encoding, read)


def raw_excel(
    path: Path,
    *,
    format: str,
    labels: str | None,
    ids: Sequence[str],
    key: str | None,
    reading: Reading,
) -> RawTable:
    """Read a sheet."""
    title, cells, named, notes, hints = start_of_sheet(
        path, key, reading.header, {labels, *ids} - {None}
    )
    names, row_names, more = _named(cells if named else None, len(cells))
    layout = SheetLayout(title, named, len(names), None, tuple(names) if named else None)
    rows = [row for _, row in sheet_rows(path, layout)]
    wide = max(map(len, rows), default=0)
    if wide > len(names):
        extra = default_names(wide)[len(names) :]
        more = [*more, f"{len(extra)} columns at the end have no name: called {extra[0]}, …."]
        names, _ = unique_names([*names, *extra])
        header = tuple(names) if named else None
        layout = replace(layout, n_columns=wide, names=header)
        rows = [[*row, *[None] * (wide - len(row))] for row in rows]
    return _table(
        path, format, names, rows, layout, labels, ids, row_names, [*notes, *more], hints,
        reading, None,
    )  # fmt: skip


def raw_arrow(
    path: Path,
    *,
    format: str,
    labels: str | None,
    ids: Sequence[str],
    key: str | None,
    reading: Reading,
) -> RawTable:
    """Read Parquet or Feather: the types are those of the file."""
    given, arrays, index, notes = arrow_columns(path, format)
    names, more = unique_names(given)
    row_names = index
    if row_names is None and names[:1] != [labels]:
        _, row_names, first = name_columns(names[:1], None)
        more = [*more, *first]
    arrays = [_without(values, reading) for values in arrays]
    return _assembled(
        path, format, dict(zip(names, arrays, strict=True)), None, labels, ids, row_names,
        [*notes, *more], (),
    )  # fmt: skip


def raw_arff(
    path: Path,
    *,
    format: str,
    labels: str | None,
    ids: Sequence[str],
    key: str | None,
    reading: Reading,
) -> RawTable:
    """Read ARFF: numeric attributes as numbers, all others as text; sparse rows are filled in."""
    attributes, cells, layout = arff_cells(path)
    names, more = unique_names([name for name, _ in attributes])
    notes = list(more)
    nominal = [name for name, kind in attributes if not isinstance(kind, str)]
    named_class = [name for name in nominal if name.casefold() == "class" and name not in ids]
    if labels is None and named_class:
        labels = named_class[0]
        notes.append(f"The nominal attribute {labels!r} is taken as labels.")
    columns: dict[str, FloatArray] = {}
    for name, (_, kind), values in zip(names, attributes, cells, strict=True):
        if isinstance(kind, str) and kind.upper() in ("NUMERIC", "REAL", "INTEGER"):
            columns[name] = np.array([np.nan if v is None else v for v in values], np.float64)
        else:
            columns[name] = objects([None if v is None else str(v) for v in values])
        columns[name] = _without(columns[name], reading)
    return _assembled(path, format, columns, layout, labels, ids, None, notes, ())


def _named(given: Sequence[Any] | None, n_columns: int) -> tuple[list[str], str | None, list[str]]:
    """Unique names, the one of the row names if there are any, and what was decided."""
    if given is None:
        return default_names(n_columns), None, []
    names, row_names, notes = name_columns(given, None)
    names, more = unique_names(names)
    return names, row_names, [*notes, *more]


def _header(
    layout: Layout, given: Sequence[str] | None, names: Sequence[str]
) -> tuple[str, ...] | None:
    """The header to write: as it is in the file, but for names that were made unique."""
    if layout.header is None or given is None:
        return None
    return tuple(
        written if j == 0 or old == new or len(layout.header) != len(names) else _quoted(new)
        for j, (written, old, new) in enumerate(zip(layout.header, given, names, strict=True))
    )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _without(values: FloatArray, reading: Reading) -> FloatArray:
    """A column without what the user says is missing."""
    if not reading.na:
        return values
    gone = np.array([str(value).strip().casefold() in reading.na for value in values.tolist()])
    if not gone.any():
        return values
    if values.dtype.kind in "iuf":
        return np.where(gone, np.nan, values)
    kept = values.copy() if values.dtype.kind == "M" else objects(list(map(str, values)))
    kept[gone] = np.datetime64("NaT") if values.dtype.kind == "M" else None
    if values.dtype == object:
        kept[np.array([value is None for value in values])] = None
    return kept


def _table(
    path: Path,
    format: str,
    names: Sequence[str],
    rows: list[list[Any]],
    layout: Any,
    labels: str | None,
    ids: Sequence[str],
    row_names: str | None,
    notes: Sequence[str],
    hints: Sequence[str],
    reading: Reading,
    separator: str | None,
) -> RawTable:
    cells = [[row[j] for row in rows] for j in range(len(names))]
    rows.clear()  # it is not held beside its columns
    columns, more, notation = typed_columns(names, cells, reading, separator)
    layout = replace(layout, notation=notation)
    return _assembled(path, format, columns, layout, labels, ids, row_names, [*notes, *more], hints)


def _assembled(
    path: Path,
    format: str,
    columns: dict[str, FloatArray],
    layout: Any,
    labels: str | None,
    ids: Sequence[str],
    row_names: str | None,
    notes: Sequence[str],
    hints: Sequence[str],
) -> RawTable:
    names = list(columns)
    if not names or not len(columns[names[0]]):
        raise TableError(f"{path}: the table has columns but no rows; nothing can be learned.")
    found, notes = [], list(notes)
    for wanted in ids:
        place = set_aside(path, names, labels, wanted)[2]
        assert place is not None
        found.append(names[place])
        notes += spaces_note(wanted, names[place], "ids")
    label = set_aside(path, names, labels, None)[1]
    labels_name = None if label is None else names[label]
    notes += spaces_note(labels, labels_name, "labels")
    first = [row_names] if row_names is not None and row_names != labels_name else []
    aside = dict.fromkeys([*first, *found, *([] if labels_name is None else [labels_name])])
    return RawTable(
        path=path,
        format=format,
        notes=tuple(notes),
        hints=tuple(hints),
        aside=tuple(aside),
        labels_name=labels_name,
        origin=Origin.of(path, format, range(len(names)), None, None, layout),
        typed=columns,
    )
