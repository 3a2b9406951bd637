"""Whether a file holds nothing but numbers, as far as its start tells."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tamis.io._arrow import only_numbers
from tamis.io._encoding import encoding_of_file
from tamis.io._header import is_number
from tamis.io._reading import Reading
from tamis.io._text import start_of_text
from tamis.io._text_layout import data_lines

_N_ROWS = 100


def may_be_numbers(
    path: Path,
    format: Any,
    labels: str | None,
    ids: Sequence[str],
    key: str | None,
    reading: Reading,
) -> bool:
    """Whether reading the file as one matrix is worth trying: no text or gap where it begins."""
    if reading.na:
        return False
    if format.name in ("parquet", "feather"):
        return only_numbers(path, format.name, {labels, *ids})
    if format.name not in ("csv", "tsv"):
        return False
    encoding = reading.encoding or encoding_of_file(path)
    try:
        start = start_of_text(path, format.name, encoding, reading)
        layout, names, _, _ = start.laid_out(encoding, reading.header, {labels, *ids})
        aside = {j for j, name in enumerate(names or ()) if name in (labels, *ids)}
        if names and names[0] in ("", "Unnamed: 0"):
            aside.add(0)
        with data_lines(path, layout) as lines:
            rows = csv.reader(itertools.islice(lines, _N_ROWS), delimiter=layout.separator)
            return all(
                is_number(cell) and any(c.isdigit() for c in cell)
                for row in rows
                for j, cell in enumerate(row)
                if j not in aside
            )
    except (UnicodeDecodeError, csv.Error):
        return False
