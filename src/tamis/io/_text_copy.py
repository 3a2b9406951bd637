"""Columns of a text file taken from it once more: as they are written there, or typed."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from tamis._typing import FloatArray
from tamis.io._encoding import open_text
from tamis.io._header import is_number
from tamis.io._notation import COMMA, Notation
from tamis.io._origin import Origin, typed
from tamis.io._rows import TRUTH, parse_number
from tamis.io._text_layout import Layout, data_lines, parsed_cells, written_cells
from tamis.io._text_writing import delimited_writer
from tamis.utils.blocks import BLOCK_SIZE


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
        yield record[len(body) :], written_cells(record, separator), cells


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
    with data_lines(origin.path, layout) as lines, open_text(path, "w", layout.encoding) as file:
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
    return parsed_cells(layout.header[column], layout.separator)[0] if layout.header[column] else ""


def typed_delimited(origin: Origin, columns: Sequence[int]) -> list[FloatArray]:
    """Some columns of a text file: truth values, whole numbers, or numbers, as all cells are."""
    layout: Layout = origin.layout
    collected = [TypedColumn(layout.notation) for _ in columns]
    with data_lines(origin.path, layout) as lines:
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
