"""CSV and TSV, with the standard library's parser for whatever needs care."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import itertools
import lzma
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from tamis.io._errors import TableError
from tamis.io._rows import MISSING, RowCollector
from tamis.io._table import Table, default_names

_OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
COMPRESSIONS = tuple(_OPENERS)
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
# A cell may be long (a sequence, a text to be set aside); the parser's own limit is 128 KiB.
_LONGEST_CELL = 1 << 30


def open_binary(path: Path, mode: str = "r") -> IO[bytes]:
    """A file of bytes, decompressed or compressed as its suffix says."""
    return _OPENERS.get(path.suffix.lower(), open)(path, mode + "b")


@contextmanager
def open_text(path: Path, mode: str = "r") -> Iterator[IO[str]]:
    """A UTF-8 text file, decompressed or compressed as its suffix says."""
    encoding = "utf-8-sig" if mode == "r" else "utf-8"
    with open_binary(path, mode) as binary:
        text = io.TextIOWrapper(binary, encoding=encoding, newline="")
        try:
            yield text
        finally:
            text.close()


def read_delimited(
    path: Path, *, format: str, labels: str | None, ids: str | None, key: str | None
) -> Table:
    """Read CSV or TSV: separator and header are found out, ragged rows refused."""
    csv.field_size_limit(_LONGEST_CELL)
    with open_text(path) as file:
        try:
            return _parse(file, path, format, labels, ids)
        except UnicodeDecodeError as error:
            raise TableError(
                f"{path}: the text is not UTF-8 (byte {error.start}); save it as UTF-8, for "
                "example with iconv -f latin1 -t utf-8."
            ) from error


def _parse(file: IO[str], path: Path, format: str, labels: str | None, ids: str | None) -> Table:
    lines = iter(file)
    first, second = _record(lines), _record(lines)
    if not first.strip():
        raise TableError(f"{path}: the file holds no text; write a header and rows.")
    separator = "\t" if format == "tsv" else _separator(first, second)
    header = next(filter(None, csv.reader(io.StringIO(first, newline=""), delimiter=separator)))
    notes = []
    unnamed = not first.lstrip().startswith('"') and all(map(_is_number, header))
    if unnamed and not {labels, ids} & set(header):
        names = default_names(len(header))
        notes.append("The first line holds numbers only: read as data, columns named column0, ….")
        lines = itertools.chain(io.StringIO(first + second, newline=""), lines)
        line_number = 0
    else:
        names, ids, note = _named(header, ids)
        notes += note
        lines = itertools.chain(io.StringIO(second, newline=""), lines)
        line_number = first.count("\n")
    rows = RowCollector(path, format, names, labels, ids, notes)
    _collect(lines, separator, rows, line_number)
    return rows.finish()


def _named(header: list[str], ids: str | None) -> tuple[list[str], str | None, list[str]]:
    """Names for the columns without one; a first one is a row counter or row names."""
    notes = []
    names = [name or f"column{j}" for j, name in enumerate(header)]
    if header and not header[0]:
        if ids is None:
            ids = names[0]
            notes.append("The first column has no name: taken as row ids.")
        header = header[1:]
    if "" in header:
        notes.append("Columns without a name are called by their place: column0, column1, ….")
    return names, ids, notes


def _is_number(cell: str) -> bool:
    if "_" in cell:  # float() would take the month 2021_03 for a number
        return False
    try:
        float(cell)
    except ValueError:
        return cell.strip().casefold() in MISSING
    return True


def _record(lines: Iterator[str]) -> str:
    """The next record that is not blank: more than one line where a quoted cell goes on."""
    record = ""
    for line in lines:
        record += line
        if record.count('"') % 2 == 0 and record.strip("\r\n"):
            break
    return record


def _separator(first: str, second: str) -> str:
    """Comma, semicolon or tab: the most frequent of those that agree in the first two records."""
    counts = {
        separator: [_QUOTED.sub("", record).count(separator) for record in (first, second)]
        for separator in ",;\t"
    }
    agreed = {s: c for s, c in counts.items() if c[0] > 0 and c[0] == c[1]} or counts
    return max(agreed, key=lambda separator: agreed[separator][0])


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


def _collect_carefully(lines: Any, separator: str, rows: RowCollector, line_number: int) -> None:
    reader = csv.reader(lines, delimiter=separator, strict=True)
    try:
        for record in reader:
            if not record or (len(record) == 1 < len(rows.names) and not record[0].strip()):
                continue
            rows.add_row(record, f"line {line_number + reader.line_num}")
    except csv.Error as error:
        raise TableError(
            f"{rows.path}: line {line_number + reader.line_num}: {error}; check its quotes."
        ) from error


def write_delimited(table: Table, path: Path, *, format: str) -> None:
    """Write ids, labels and features; columns of whole numbers are written without a point."""
    separator = "\t" if format == "tsv" else ","
    beside = table.beside()
    header = [name for name, _ in beside] + table.feature_names.tolist()
    # Where a header could pass for data, or its start for a mark of the encoding, quotes tell the
    # reader that it is none.
    ambiguous = all(map(_is_number, header)) or header[0].startswith("\ufeff")
    whole = _whole_columns(table.X)
    text = [str(value) for _, values in beside if values.dtype.kind == "O" for value in values]
    with open_text(path, "w") as file:
        delimited_writer(file, separator, header, quote=ambiguous).writerow(header)
        writer = delimited_writer(file, separator, text)
        for i in range(table.X.shape[0]):
            row = table.X[[i]].toarray()[0] if sp.issparse(table.X) else table.X[i]
            cells = row.tolist() if row.dtype != np.float32 else [str(v) for v in row]
            writer.writerow(
                [values[i] for _, values in beside]
                + [int(float(v)) if w else v for v, w in zip(cells, whole, strict=True)]
            )


def delimited_writer(file: Any, separator: str, text: list[str], *, quote: bool = False) -> Any:
    """A writer that quotes what must be, and everything if asked, or if a text needs it.

    Older versions of the standard library do not quote a lone carriage return by themselves.
    """
    if quote or any("\r" in cell for cell in text):
        return csv.writer(file, delimiter=separator, lineterminator="\n", quoting=csv.QUOTE_ALL)
    return csv.writer(file, delimiter=separator, lineterminator="\n")


def _whole_columns(X: Any) -> list[bool]:
    if X.dtype.kind != "f":
        return [True] * X.shape[1]
    dense = X.toarray() if sp.issparse(X) else X
    return ((dense == np.floor(dense)) & (np.abs(dense) < 2**53)).all(axis=0).tolist()
