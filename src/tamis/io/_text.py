"""CSV and TSV, with the standard library's parser for whatever needs care."""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from tamis.io._encoding import UTF_8, Encoding, encoding_of_file, open_text
from tamis.io._errors import TableError
from tamis.io._header import name_columns
from tamis.io._notation import COMMA, Notation
from tamis.io._raw import RawTable
from tamis.io._reading import Reading
from tamis.io._rows import RowCollector, read_in_any_notation
from tamis.io._table import Table, default_names
from tamis.io._text_layout import Start, data_lines

AnyTable = TypeVar("AnyTable", Table, RawTable)

_OTHER_SEPARATOR = re.compile(r"\S[ |:]+\S")

# A cell may be long (a sequence, a text to be set aside); the parser's own limit is 128 KiB.
LONGEST_CELL = 1 << 30

# What is not UTF-8 is most often this; its bytes come out again as they went in.
_OTHER_CODECS = ("cp1252", "latin-1")


def read_delimited(
    path: Path,
    *,
    format: str,
    labels: str | None,
    ids: str | None,
    key: str | None,
    reading: Reading,
) -> Table:
    """Read CSV or TSV: encoding, separator and header are found out, ragged rows refused."""
    csv.field_size_limit(LONGEST_CELL)
    return in_any_encoding(
        path,
        reading.encoding,
        lambda encoding: _read_encoded(path, format, encoding, labels, ids, reading),
    )


def in_any_encoding(
    path: Path, given: Encoding | None, read: Callable[[Encoding], AnyTable]
) -> AnyTable:
    """Read a text file in the encoding that is given, or that is found out."""
    encoding = given or encoding_of_file(path)
    try:
        return read(encoding)
    except UnicodeDecodeError as error:
        if given is not None or encoding != UTF_8:
            remedy = "leave out encoding=…, or name another" if given else "check how it was made"
            raise TableError(
                f"{path}: the text is not {encoding.codec.upper()} throughout (byte {error.start});"
                f" {remedy}."
            ) from error
        where = error.start
    for codec in _OTHER_CODECS:
        try:
            table: AnyTable = read(Encoding(codec))
        except UnicodeDecodeError:
            continue
        note = (
            f"The text is not UTF-8 (byte {where}): read as Western European ({codec}). If names "
            "look wrong, name another with encoding=…."
        )
        return replace(table, notes=(*table.notes, note))
    raise AssertionError("every byte is a letter of Latin-1")


def _read_encoded(
    path: Path,
    format: str,
    encoding: Encoding,
    labels: str | None,
    ids: str | None,
    reading: Reading,
) -> Table:
    start = start_of_text(path, format, encoding, reading)
    layout, names, notes, hints = start.laid_out(encoding, reading.header, {labels, ids})
    if names is None:
        names = default_names(start.n_columns)
    else:
        names, ids, more = name_columns(names, ids)
        notes = [*notes, *more]
    if start.separator == " " and (separator_note := start.note(reading)):
        notes = [*notes, separator_note]

    def read(notation: Notation | None) -> Table:
        how = replace(layout, notation=notation)
        rows = RowCollector(path, format, names, labels, ids, notes, hints, how, notation)
        with data_lines(path, how) as lines:
            _collect(lines, layout.separator, rows, layout.n_lines)
        return rows.finish()

    try:
        return read_in_any_notation(path, read, layout.separator, reading.notation)
    except TableError as error:
        if hints:  # what is wrong may be that the first line was taken for what it is not
            raise TableError(f"{error} {hints[0]}") from error
        raise


def start_of_text(path: Path, format: str, encoding: Encoding, reading: Reading) -> Start:
    """The first lines of a text file, if they have a separator."""
    with open_text(path, encoding=encoding) as file:
        start = Start.read(file, path, format, reading.separator)
    if (
        reading.separator is None
        and start.n_columns == 1
        and _OTHER_SEPARATOR.search(start.first.strip())
    ):
        raise TableError(
            f"{path}: the first line has no comma, semicolon or tab; part the cells by one of "
            "them, or name the separator with sep=…."
        )
    return start


def _collect(lines: Iterator[str], separator: str, rows: RowCollector, line_number: int) -> None:
    """Read block by block: plain numbers by numpy, the rest cell by cell."""
    n_separators = len(rows.names) - 1
    while block := list(itertools.islice(lines, rows.rows_per_block)):
        if any('"' in line for line in block):
            # From here on, a record may be longer than a line.
            _collect_carefully(itertools.chain(block, lines), separator, rows, line_number)
            return
        even = all(line.count(separator) == n_separators for line in block)
        if not (even and _collect_numbers(block, separator, rows)):
            _collect_carefully(block, separator, rows, line_number)
        line_number += len(block)


def _collect_numbers(block: list[str], separator: str, rows: RowCollector) -> bool:
    """Add a block of plain numbers; False, and nothing added, where a cell is something else."""
    beside: dict[int | None, list[str]] = {None: []}
    n_separators = len(rows.names) - 1
    numeric = block
    for j in sorted((j for j in (rows.label, rows.id) if j is not None), reverse=True):
        parts = [_cut(line, separator, j, n_separators) for line in numeric]
        beside[j] = [cell for cell, _ in parts]
        numeric = [rest for _, rest in parts]
        n_separators -= 1
    if rows.notation is COMMA:
        if separator == "," or any("." in line for line in numeric):
            return False
        numeric = [line.replace(",", ".") for line in numeric]
    try:
        numbers = np.loadtxt(numeric, delimiter=separator, comments=None, ndmin=2)
    except ValueError:
        return False
    if len(numbers) != len(block):  # blank lines are left out
        return False
    rows.add_block(numbers, beside[rows.label], beside[rows.id])
    return True


def _cut(line: str, separator: str, column: int, n_separators: int) -> tuple[str, str]:
    """One cell of a line without quotes, and the line without it; split from the nearer end."""
    line = line.rstrip("\r\n")
    if column <= n_separators // 2:
        cells = line.split(separator, column + 1)
        cell = cells.pop(column)
    else:
        cells = line.rsplit(separator, n_separators - column + 1)
        cell = cells.pop(column - n_separators - 1)
    return cell, separator.join(cells)


def _collect_carefully(
    lines: Iterable[str], separator: str, rows: RowCollector, line_number: int
) -> None:
    for record, where in records(rows.path, lines, separator, line_number, len(rows.names)):
        rows.add_row(record, where)


def records(
    path: Path, lines: Iterable[str], separator: str, line_number: int, n_columns: int
) -> Iterator[tuple[list[str], str]]:
    """The cells of every record that is not blank, and where it is."""
    reader = csv.reader(lines, delimiter=separator, strict=True)
    try:
        for record in reader:
            if not _is_blank(record, n_columns):
                yield record, f"line {line_number + reader.line_num}"
    except csv.Error as error:
        raise TableError(
            f"{path}: line {line_number + reader.line_num}: {error}; check its quotes."
        ) from error


def _is_blank(record: Sequence[str], n_columns: int) -> bool:
    return not record or (len(record) == 1 < n_columns and not record[0].strip())
