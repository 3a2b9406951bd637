"""Writing CSV and TSV."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from tamis.io._encoding import open_text
from tamis.io._header import decide_header
from tamis.io._table import Table
from tamis.io._values import cells_of


def write_delimited(table: Table, path: Path, *, format: str) -> None:
    """Write ids, labels and features; columns of whole numbers are written without a point."""
    separator = "\t" if format == "tsv" else ","
    beside = table.beside()
    header = [name for name, _ in beside] + table.feature_names.tolist()
    ambiguous = header_needs_quotes(header)
    text = [str(value) for _, values in beside if values.dtype.kind == "O" for value in values]
    with open_text(path, "w") as file:
        delimited_writer(file, separator, header, quote=ambiguous).writerow(header)
        writer = delimited_writer(file, separator, text)
        for i, row in enumerate(cells_of(table, short=True)):
            writer.writerow([*(values[i] for _, values in beside), *row])


def header_needs_quotes(header: list[str]) -> bool:
    """Whether a header could pass for data, or its start for a mark of encoding or comment."""
    plain = decide_header(header, [], None) == (True, [], [])
    return not plain or header[0].lstrip().startswith(("\ufeff", "#"))


def delimited_writer(file: Any, separator: str, text: list[str], *, quote: bool = False) -> Any:
    """A writer that quotes what must be, and everything if asked, or if a text needs it.

    Older versions of the standard library do not quote a lone carriage return by themselves.
    """
    if quote or any("\r" in cell for cell in text):
        return csv.writer(file, delimiter=separator, lineterminator="\n", quoting=csv.QUOTE_ALL)
    return csv.writer(file, delimiter=separator, lineterminator="\n")
