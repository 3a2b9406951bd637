"""CSV and TSV, with the standard library's parser for whatever needs care."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from tamis._typing import FloatArray
from tamis.io._encoding import UTF_8, Encoding, encoding_of_file, open_text
from tamis.io._errors import TableError
from tamis.io._header import decide_header, is_missing, is_number, name_columns
from tamis.io._notation import COMMA, Notation
from tamis.io._origin import Origin, typed
from tamis.io._rows import TRUTH, RowCollector, parse_number, read_in_any_notation
from tamis.io._table import Table, default_names
from tamis.io._values import cells_of
from tamis.utils.blocks import BLOCK_SIZE

_OTHER_SEPARATOR = re.compile(r"\S[ |:]+\S")
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
# A cell may be long (a sequence, a text to be set aside); the parser's own limit is 128 KiB.
_LONGEST_CELL = 1 << 30
# What is not UTF-8 is most often this; its bytes come out again as they went in.
_OTHER_CODECS = ("cp1252", "latin-1")


@dataclass(frozen=True)
class Layout:
    """How a text file is set out.

    Attributes
    ----------
    encoding : Encoding
    separator : str
    n_lines : int
        Lines before the data: blank ones, comments, header.
    comments : tuple of str
        The comments among them, as lines.
    header : tuple of str or None
        The cells of the header as they are written, quotes and all.
    mark : str
        What stands before the header, where that is a comment.
    notation : Notation or None
        Of the numbers.
    """

    encoding: Encoding
    separator: str
    n_lines: int
    comments: tuple[str, ...]
    header: tuple[str, ...] | None
    mark: str
    notation: Notation | None = None


def read_delimited(
    path: Path,
    *,
    format: str,
    labels: str | None,
    ids: str | None,
    key: str | None,
    header: bool | None = None,
) -> Table:
    """Read CSV or TSV: encoding, separator and header are found out, ragged rows refused."""
    csv.field_size_limit(_LONGEST_CELL)
    encoding = encoding_of_file(path)
    try:
        return _read_encoded(path, format, encoding, labels, ids, header)
    except UnicodeDecodeError as error:
        if encoding != UTF_8:
            raise TableError(
                f"{path}: the text is not {encoding.codec.upper()} throughout (byte {error.start});"
                " check how it was made or copied."
            ) from error
        where = error.start
    for codec in _OTHER_CODECS:
        try:
            table = _read_encoded(path, format, Encoding(codec), labels, ids, header)
        except UnicodeDecodeError:
            continue
        note = (
            f"The text is not UTF-8 (byte {where}): read as Western European ({codec}). If names "
            "look wrong, save it as UTF-8."
        )
        return replace(table, notes=(*table.notes, note))
    raise AssertionError("every byte is a letter of Latin-1")


def _read_encoded(
    path: Path,
    format: str,
    encoding: Encoding,
    labels: str | None,
    ids: str | None,
    header: bool | None,
) -> Table:
    with open_text(path, encoding=encoding) as file:
        start = _Start.read(file, path, format)
    if start.n_columns == 1 and _OTHER_SEPARATOR.search(start.first.strip()):
        raise TableError(
            f"{path}: the first line has no comma, semicolon or tab; part the cells by one of them."
        )
    layout, names, notes, hints = start.laid_out(encoding, header, {labels, ids})
    if names is None:
        names = default_names(start.n_columns)
    else:
        names, ids, more = name_columns(names, ids)
        notes = [*notes, *more]

    def read(notation: Notation | None) -> Table:
        how = replace(layout, notation=notation)
        rows = RowCollector(path, format, names, labels, ids, notes, hints, how, notation)
        with _data(path, how) as lines:
            _collect(lines, layout.separator, rows, layout.n_lines)
        return rows.finish()

    try:
        return read_in_any_notation(path, read, layout.separator)
    except TableError as error:
        if hints:  # what is wrong may be that the first line was taken for what it is not
            raise TableError(f"{error} {hints[0]}") from error
        raise


@dataclass(frozen=True)
class _Start:
    """The first lines of a text file: comments, and two records."""

    separator: str
    comments: tuple[str, ...]
    first: str
    second: str
    n_lines: int

    @classmethod
    def read(cls, file: IO[str], path: Path, format: str) -> _Start:
        lines = iter(file)
        comments: list[str] = []
        n_lines = 0
        first = ""
        for line in lines:
            if line.lstrip().startswith("#"):
                comments.append(line)
            elif line.strip("\r\n"):
                first = _record(itertools.chain([line], lines))
                break
            n_lines += 1
        second = _record(lines)
        if not first.strip() and comments:
            raise TableError(
                f"{path}: every line begins with #, as comments do; write a header and rows."
            )
        if not first.strip():
            raise TableError(f"{path}: the file holds no text; write a header and rows.")
        separator = "\t" if format == "tsv" else _separator(first, second)
        return cls(separator, tuple(comments), first, second, n_lines)

    @property
    def n_columns(self) -> int:
        return len(_cells(self.first, self.separator))

    def laid_out(
        self, encoding: Encoding, header: bool | None, wanted: set[str | None]
    ) -> tuple[Layout, list[str] | None, list[str], list[str]]:
        """The layout, the names of the columns or None, notes and hints."""
        cells = _cells(self.first, self.separator)
        n_first = sum(1 for _ in io.StringIO(self.first, newline=""))
        comment = self._header_in_comment(cells) if header is not False else None
        if comment is not None:
            mark, rest = comment
            names = _cells(rest, self.separator)
            raw = tuple(raw_cells(rest, self.separator))
            note = f"The comment before the data is taken as the names: {names[0]}, …."
            layout = Layout(encoding, self.separator, self.n_lines, self.comments[:-1], raw, mark)
            return layout, names, [note], []
        if header is None and (self.first.lstrip().startswith('"') or wanted & set(cells)):
            header = True  # numbers in quotes are names, and so is what the user calls by name
        second = _cells(self.second, self.separator)
        named, notes, hints = decide_header(cells, second, header)
        n_lines = self.n_lines + (n_first if named else 0)
        written = tuple(raw_cells(self.first, self.separator)) if named else None
        layout = Layout(encoding, self.separator, n_lines, self.comments, written, "")
        return layout, cells if named else None, notes, hints

    def _header_in_comment(self, cells: list[str]) -> tuple[str, str] | None:
        """The mark and the rest of a last comment that names the columns of the data under it."""
        if not self.comments or not any(is_number(c) and not is_missing(c) for c in cells):
            return None
        line = self.comments[-1]
        rest = line.lstrip().lstrip("#").lstrip(" ")
        if len(cells) < 2 or len(_cells(rest, self.separator)) != len(cells):
            return None
        return line[: line.index(rest)], rest


def _cells(record: str, separator: str) -> list[str]:
    reader = csv.reader(io.StringIO(record, newline=""), delimiter=separator)
    return next(filter(None, reader), [])


def raw_cells(record: str, separator: str) -> list[str]:
    """The cells of a record as they are written, quotes and spaces and all."""
    body = record.rstrip("\r\n")
    if '"' not in body:
        return body.split(separator)
    apart = re.escape(separator)
    return re.findall(rf'(?:^|{apart})("(?:[^"]|"")*"[^{apart}]*|[^{apart}]*)', body)


def _record(lines: Iterator[str]) -> str:
    """The next record that is not blank: more than one line where a quoted cell goes on."""
    record = ""
    for line in lines:
        record += line
        if record.count('"') % 2 == 0 and record.strip("\r\n"):
            break
    return record


def _separator(first: str, second: str) -> str:
    """Comma, semicolon or tab: the most frequent of those that agree in the first two records.

    Commas may be decimal signs of cells that another separator parts.
    """
    counts = {
        separator: [_QUOTED.sub("", record).count(separator) for record in (first, second)]
        for separator in ",;\t"
    }
    agreed = {s: c for s, c in counts.items() if c[0] > 0 and c[0] == c[1]} or counts
    best = max(agreed, key=lambda separator: agreed[separator][0])
    if best == ",":
        for other in agreed:
            cells = second.rstrip("\r\n").split(other)
            if other != "," and len(cells) > 1 and all(map(is_number, cells)):
                return other
    return best


@contextmanager
def _data(path: Path, layout: Layout) -> Iterator[Iterator[str]]:
    """The lines of data of a text file."""
    with open_text(path, encoding=layout.encoding) as file:
        yield itertools.islice(iter(file), layout.n_lines, None)


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
    reader = csv.reader(lines, delimiter=separator, strict=True)
    try:
        for record in reader:
            if _is_blank(record, len(rows.names)):
                continue
            rows.add_row(record, f"line {line_number + reader.line_num}")
    except csv.Error as error:
        raise TableError(
            f"{rows.path}: line {line_number + reader.line_num}: {error}; check its quotes."
        ) from error


def _is_blank(record: Sequence[str], n_columns: int) -> bool:
    return not record or (len(record) == 1 < n_columns and not record[0].strip())


def _records(lines: Iterator[str], separator: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """Every record that is not blank: its line end, its cells as they are written, and as read."""
    for line in lines:
        body = line.rstrip("\r\n")
        end = line[len(body) :]
        if '"' not in line:
            if body.strip() or separator in body:
                written = body.split(separator)
                yield end, written, written
            continue
        taken: list[str] = []

        def taking(line: str = line, taken: list[str] = taken) -> Iterator[str]:
            for part in itertools.chain([line], lines):
                taken.append(part)
                yield part

        cells = next(csv.reader(taking(), delimiter=separator, strict=True))
        record = "".join(taken)
        body = record.rstrip("\r\n")
        yield record[len(body) :], raw_cells(record, separator), cells


def copy_delimited(origin: Origin, path: Path, columns: Sequence[int], *, format: str) -> None:
    """Write some columns of a text file, each cell as it is written there.

    Encoding, comments and line ends are those of the file, and so is the separator unless the name
    of the target asks for tabs, or no longer does.
    """
    layout: Layout = origin.layout
    separator = layout.separator
    if format != origin.format:
        separator = "\t" if format == "tsv" else ";" if layout.notation is COMMA else ","
    same = separator == layout.separator
    with _data(origin.path, layout) as lines, open_text(path, "w", layout.encoding) as file:
        file.writelines(layout.comments)
        records = _records(lines, layout.separator)
        first = next(records)  # a table has at least one row
        end = first[0] or "\n"
        if same and layout.header is not None:
            names = [layout.header[j] for j in columns]
            if all(map(is_number, names)):  # quotes tell the reader that it is no data
                names = [f'"{name}"' for name in names]
            file.write(layout.mark + separator.join(names) + end)
        else:
            names = [_name(layout, j) for j in columns]
            file.write(layout.mark)
            quote = all(map(is_number, names))
            delimited_writer(file, separator, names, quote=quote).writerow(names)
        writer = csv.writer(file, delimiter=separator, lineterminator=end)
        for line_end, written, cells in itertools.chain([first], records):
            if same and len(written) == len(cells):
                chosen = separator.join([written[j] for j in columns])
                # A lone empty cell would be a blank line.
                file.write((chosen or '""') + (line_end or end))
            else:
                writer.writerow([cells[j] for j in columns])


def _name(layout: Layout, column: int) -> str:
    if layout.header is None:
        return f"column{column}"
    return _cells(layout.header[column], layout.separator)[0] if layout.header[column] else ""


def typed_delimited(origin: Origin, columns: Sequence[int]) -> list[FloatArray]:
    """Some columns of a text file: truth values, whole numbers, or numbers, as all cells are."""
    layout: Layout = origin.layout
    collected = [TypedColumn(layout.notation) for _ in columns]
    with _data(origin.path, layout) as lines:
        records = _records(lines, layout.separator)
        size = max(1, BLOCK_SIZE // max(1, len(columns)))
        while block := [cells for *_, cells in itertools.islice(records, size)]:
            for j, column in zip(columns, collected, strict=True):
                column.add([cells[j].strip() for cells in block])
    return [column.values() for column in collected]


class TypedColumn:
    """Blocks of cells as truth values while all are, then as whole numbers, then as numbers."""

    def __init__(self, notation: Notation | None) -> None:
        self._notation = notation
        self._blocks: list[FloatArray] = []

    def add(self, cells: list[str]) -> None:
        block = self._plain(cells) if self._notation is None else None
        if block is None:
            block = typed([self._value(cell) for cell in cells])
        if block.dtype == object:  # whole numbers beyond 64 bits
            block = block.astype(np.float64)
        self._blocks.append(block)

    def _plain(self, cells: list[str]) -> FloatArray | None:
        """Cells that are all whole numbers, or all numbers, as Python writes them."""
        with suppress(ValueError):
            return typed(list(map(int, cells)))
        with suppress(ValueError):
            return np.array(list(map(float, cells)))
        return None

    def _value(self, cell: str) -> bool | int | float:
        truth = TRUTH.get(cell.casefold())
        if truth is not None:
            return bool(truth)
        plain = None if self._notation is None else self._notation.plain(cell)
        try:
            return int(cell if plain is None else plain)
        except ValueError:
            return parse_number(cell, self._notation)

    def values(self) -> FloatArray:
        """The whole column, after all cells."""
        blocks, self._blocks = self._blocks, []  # they are not held beside it
        return np.concatenate(blocks)


def write_delimited(table: Table, path: Path, *, format: str) -> None:
    """Write ids, labels and features; columns of whole numbers are written without a point."""
    separator = "\t" if format == "tsv" else ","
    beside = table.beside()
    header = [name for name, _ in beside] + table.feature_names.tolist()
    # Where a header could pass for data, or its start for a mark of the encoding or of a comment,
    # quotes tell the reader that it is none.
    ambiguous = decide_header(header, [], None) != (True, [], []) or header[0].lstrip().startswith(
        ("\ufeff", "#")
    )
    text = [str(value) for _, values in beside if values.dtype.kind == "O" for value in values]
    with open_text(path, "w") as file:
        delimited_writer(file, separator, header, quote=ambiguous).writerow(header)
        writer = delimited_writer(file, separator, text)
        for i, row in enumerate(cells_of(table, short=True)):
            writer.writerow([*(values[i] for _, values in beside), *row])


def delimited_writer(file: Any, separator: str, text: list[str], *, quote: bool = False) -> Any:
    """A writer that quotes what must be, and everything if asked, or if a text needs it.

    Older versions of the standard library do not quote a lone carriage return by themselves.
    """
    if quote or any("\r" in cell for cell in text):
        return csv.writer(file, delimiter=separator, lineterminator="\n", quoting=csv.QUOTE_ALL)
    return csv.writer(file, delimiter=separator, lineterminator="\n")
