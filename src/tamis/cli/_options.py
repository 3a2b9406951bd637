"""The options that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import typer

from tamis.cli._completion import format_names, table_names
from tamis.cli._failures import CommandError
from tamis.utils.counts import (
    FEWEST_BY_DEFAULT,
    MOST_BY_DEFAULT,
    number_by_default,
    share_of,
)

__all__ = [
    "AsJson",
    "CheckpointFile",
    "Decimal",
    "Encoding",
    "File",
    "Format",
    "Header",
    "Ids",
    "Jobs",
    "Key",
    "Labels",
    "Layer",
    "MaxRows",
    "Memory",
    "Na",
    "Number",
    "ReadingOptions",
    "Scheduler",
    "Seed",
    "Sep",
    "Sheet",
    "Thousands",
    "number_to_keep",
    "read_number",
]


def check_jobs(jobs: int) -> int:
    """Refuse no processes at all."""
    if jobs == 0:
        raise CommandError("--jobs 0 does no work; give a number from 1 on, or -1 for every core.")
    return jobs


File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="A table: samples in rows, columns of any kind. Or a registered data set, as "
        "dataset:NAME (see tamis datasets). Or a folder or pattern of large files.",
        autocompletion=table_names,
        show_default=False,
    ),
]
Number = Annotated[
    str | None,
    typer.Option(
        "-k",
        "--number",
        metavar="N",
        help="How many columns to keep: a number, or a fraction such as 0.2 or 20%.",
        show_default="found out by auto; by other methods a tenth of the columns, 10 to 100, at "
        "most half",
    ),
]
Labels = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="A column of labels: set aside, never used for the selection."
    ),
]
Ids = Annotated[
    list[str] | None,
    typer.Option(
        "--id",
        metavar="COLUMN",
        help="A column that names the samples: set aside; may be repeated.",
    ),
]
Sep = Annotated[
    str | None,
    typer.Option(
        metavar="SIGN",
        help="What parts the cells of a text file: one sign, or tab or space.",
        show_default="found out",
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(metavar="SIGN", help="The decimal sign: . or ,", show_default="found out"),
]
Thousands = Annotated[
    str | None,
    typer.Option(metavar="SIGN", help="The sign between thousands.", show_default="found out"),
]
Encoding = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Of a text file, such as latin-1.", show_default="found out"),
]
Sheet = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The sheet of a workbook, by name or number from 1.",
        show_default="the first",
    ),
]
Na = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CELL",
        help="What stands for a missing value, beside NA and the like; may be repeated.",
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The format of FILE, where its name does not tell.",
        autocompletion=format_names,
    ),
]
Layer = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The layer of FILE to take instead of X (h5ad, Zarr)."),
]
Key = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="The array or the sheet in FILE, where it holds several (.npz, .xlsx)."
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line of a text file or sheet names the columns.",
        show_default="found out",
    ),
]
MaxRows = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=2,
        help="Rank on at most so many rows, drawn at random.",
        show_default="all; 20,000 for methods that compare every row with every other",
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Read FILE, a folder or a pattern such as 'big/*.parquet' in blocks of rows, and take "
        "no more memory than this, such as 2GB, beside the program itself.",
        show_default="the whole table is read; several files in blocks, with 1GB",
    ),
]
CheckpointFile = Annotated[
    Path | None,
    typer.Option(
        "--checkpoint",
        metavar="FILE",
        help="Where a table in blocks keeps what is done after each block: the same command goes "
        "on from it after an interruption.",
        show_default="a file of its own in the current folder",
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Read FILE in blocks on a running Dask cluster, such as tcp://host:8786, whose "
        "workers see the same files.",
    ),
]
Seed = Annotated[int, typer.Option(metavar="N", min=0, help="Seeds whatever is random.")]
Jobs = Annotated[
    int,
    typer.Option(
        metavar="N", callback=check_jobs, help="Processes or threads; -1 uses every core."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")]


@dataclass(frozen=True)
class ReadingOptions:
    """What options say of how a file is read; as for :func:`tamis.io.read_columns`.

    Attributes
    ----------
    labels, format, key, sep, decimal, thousands, encoding, sheet : str or None
    header : bool or None
    na, ids : sequence of str or None
    """

    labels: str | None = None
    format: str | None = None
    key: str | None = None
    header: bool | None = None
    sep: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    na: Sequence[str] | None = None
    ids: Sequence[str] | None = None

    def given(self) -> dict[str, Any]:
        """What was said, by the names of :func:`tamis.io.read_columns`; nothing of what was not."""
        said = {one.name: getattr(self, one.name) for one in fields(self)}
        passed_on = ("labels", "format", "key", "header")  # of these also False and empty text
        found = {
            name: value
            for name, value in said.items()
            if value or (name in passed_on and value is not None)
        }
        if self.ids:
            found["ids"] = self.ids[0] if len(self.ids) == 1 else list(self.ids)
        return found


def read_number(text: str | None) -> int | float | None:
    """What -k says: a count, or a fraction."""
    if text is None:
        return None
    try:
        if text.endswith("%"):
            value: int | float = float(text[:-1]) / 100
        else:
            value = float(text) if "." in text or "e" in text.lower() else int(text)
    except ValueError:
        raise CommandError(
            f"-k {text} is not a number; give how many columns to keep, or a fraction such as 0.2."
        ) from None
    if isinstance(value, float) and not 0 < value <= 1:
        raise CommandError(
            f"-k {text} is not a fraction above 0 and up to 1; 0.2 and 20% keep a fifth."
        )
    if value < 1 and isinstance(value, int):
        raise CommandError(f"-k {text} keeps nothing; give a number from 1 on.")
    return value


def number_to_keep(wanted: int | float | None, n_columns: int, source: str) -> tuple[int, str]:
    """How many columns are kept, and in words why so many."""
    if isinstance(wanted, float):
        return share_of(wanted, n_columns), f"{wanted:.4g} of the columns, as asked for"
    if wanted is not None:
        if wanted > n_columns:
            raise CommandError(
                f"-k {wanted} is more than the {n_columns} columns of {source}; use a number from "
                f"1 to {n_columns}."
            )
        return wanted, "as asked for"
    number = number_by_default(n_columns)
    if number == max(1, n_columns // 2):
        why = "half of the columns"
    elif number == MOST_BY_DEFAULT:
        why = f"the most that is kept unasked, {MOST_BY_DEFAULT}"
    elif number == FEWEST_BY_DEFAULT:
        why = f"the fewest that is kept of a table with 20 columns or more, {FEWEST_BY_DEFAULT}"
    else:
        why = "a tenth of the columns"
    return number, f"{why}; -k sets another number"
