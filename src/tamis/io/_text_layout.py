"""How a text file is set out: encoding, separator, header, where the data begin."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from tamis.io._encoding import Encoding, open_text
from tamis.io._errors import TableError
from tamis.io._header import decide_header, is_missing, is_number
from tamis.io._notation import Notation
from tamis.io._reading import Reading

_QUOTED = re.compile(r'"(?:[^"]|"")*"')


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
    runs : bool
        Whether cells are parted by runs of spaces, as in columns that stand under one another.
    """

    encoding: Encoding
    separator: str
    n_lines: int
    comments: tuple[str, ...]
    header: tuple[str, ...] | None
    mark: str
    notation: Notation | None = None
    runs: bool = False


@dataclass(frozen=True)
class Start:
    """The first lines of a text file: comments, and two records."""

    separator: str
    comments: tuple[str, ...]
    first: str
    second: str
    n_lines: int
    is_tsv: bool = False
    runs: bool = False

    @classmethod
    def read(cls, file: IO[str], path: Path, format: str, separator: str | None = None) -> Start:
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
        runs = False
        if separator is None:
            separator = "\t" if format == "tsv" else _separator(first, second)
            single = _single_spaces(first), _single_spaces(second)
            runs = separator == " " and single != (first, second)
            first, second = single if runs else (first, second)
        return cls(separator, tuple(comments), first, second, n_lines, format == "tsv", runs)

    @property
    def n_columns(self) -> int:
        return len(parsed_cells(self.first, self.separator))

    def note(self, reading: Reading) -> str | None:
        """What was found out of the separator, where it is none that the file's name tells."""
        words = {";": "semicolons", "\t": "tabs", "|": "bars", " ": "spaces"}
        if reading.separator is not None or self.separator not in words or self.is_tsv:
            return None
        return f"The cells are parted by {words[self.separator]}."

    def laid_out(
        self, encoding: Encoding, header: bool | None, wanted: set[str | None]
    ) -> tuple[Layout, list[str] | None, list[str], list[str]]:
        """The layout, the names of the columns or None, notes and hints."""
        cells = parsed_cells(self.first, self.separator)
        n_first = sum(1 for _ in io.StringIO(self.first, newline=""))
        comment = self._header_in_comment(cells) if header is not False else None
        if comment is not None:
            mark, rest = comment
            names = parsed_cells(rest, self.separator)
            raw = tuple(written_cells(rest, self.separator))
            note = f"The comment before the data is taken as the names: {names[0]}, …."
            layout = Layout(encoding, self.separator, self.n_lines, self.comments[:-1], raw, mark)
            return replace(layout, runs=self.runs), names, [note], []
        if header is None and (self.first.lstrip().startswith('"') or wanted & set(cells)):
            header = True  # numbers in quotes are names, and so is what the user calls by name
        second = parsed_cells(self.second, self.separator)
        named, notes, hints = decide_header(cells, second, header)
        n_lines = self.n_lines + (n_first if named else 0)
        written = tuple(written_cells(self.first, self.separator)) if named else None
        if named and len(second) == len(cells) + 1 and second[-1].strip():
            # R leaves out the name of the row names.
            cells, written = ["", *cells], ('""', *(written or ()))
        layout = Layout(encoding, self.separator, n_lines, self.comments, written, "")
        return replace(layout, runs=self.runs), cells if named else None, notes, hints

    def _header_in_comment(self, cells: list[str]) -> tuple[str, str] | None:
        """The mark and the rest of a last comment that names the columns of the data under it."""
        if not self.comments or not any(is_number(c) and not is_missing(c) for c in cells):
            return None
        line = self.comments[-1]
        rest = line.lstrip().lstrip("#").lstrip(" ")
        if len(cells) < 2 or len(parsed_cells(rest, self.separator)) != len(cells):
            return None
        return line[: line.index(rest)], rest


def parsed_cells(record: str, separator: str) -> list[str]:
    """The cells of a record, without their quotes."""
    reader = csv.reader(io.StringIO(record, newline=""), delimiter=separator)
    return next(filter(None, reader), [])


def written_cells(record: str, separator: str) -> list[str]:
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
    """Comma, semicolon, tab or bar: the most frequent of those that agree in the first two records.

    Commas may be decimal signs of cells that another separator parts. Where there is none of them,
    spaces, one or more, part cells of which most are numbers.
    """
    counts = {
        separator: [_QUOTED.sub("", record).count(separator) for record in (first, second)]
        for separator in ",;\t|"
    }
    agreed = {s: c for s, c in counts.items() if c[0] > 0 and c[0] == c[1]} or counts
    best = max(agreed, key=lambda separator: agreed[separator][0])
    if not agreed[best][0] and _parted_by_spaces(first, second):
        return " "
    if best == ",":
        for other in agreed:
            cells = second.rstrip("\r\n").split(other)
            if other != "," and len(cells) > 1 and all(map(is_number, cells)):
                return other
    return best


def _parted_by_spaces(first: str, second: str) -> bool:
    names, cells = (parsed_cells(_single_spaces(record), " ") for record in (first, second))
    if len(cells) < 2 or len(cells) - len(names) not in (0, 1) or "" in (*names, *cells):
        return False
    return 2 * sum(map(is_number, cells)) > len(cells)


def _single_spaces(line: str) -> str:
    """A line without spaces at its ends, and with one between cells; in quotes they stay."""
    if '"' in line:
        return re.sub(r'("(?:[^"]|"")*")| +', lambda found: found[1] or " ", line.strip(" "))
    return re.sub(" +", " ", line.strip(" ")).replace(" \n", "\n").replace(" \r", "\r")


@contextmanager
def data_lines(path: Path, layout: Layout) -> Iterator[Iterator[str]]:
    """The lines of data of a text file."""
    with open_text(path, encoding=layout.encoding) as file:
        lines: Iterator[str] = itertools.islice(iter(file), layout.n_lines, None)
        yield map(_single_spaces, lines) if layout.runs else lines
