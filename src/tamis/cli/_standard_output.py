"""The selected columns on standard output: ``-o -``."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

from tamis.cli._failures import CommandError

__all__ = ["STANDARD_OUTPUT", "format_on_stdout", "sent_to_stdout"]

STANDARD_OUTPUT = Path("-")
_TEXT = ("csv", "tsv", "arff", "libsvm")


def format_on_stdout(output: Path | None, format: str | None, as_json: bool) -> str | None:
    """The format of the output: of standard output CSV, unless another is named."""
    if output != STANDARD_OUTPUT:
        return format
    if as_json:
        raise CommandError(
            "-o - and --json both write to standard output; leave one out, or name a file with -o."
        )
    format = format or "csv"
    if format == "zarr":
        raise CommandError("a Zarr store is a folder; name it with -o instead of -.")
    if format not in _TEXT and sys.stdout.isatty():
        raise CommandError(
            f"-o - would write {format}, which is no text, to the terminal; name a file with -o, "
            "or send standard output to one."
        )
    return format


@contextmanager
def sent_to_stdout(paths: dict[str, Path]) -> Iterator[None]:
    """Write to standard output what -o - asks for; what is printed goes to standard error.

    Parameters
    ----------
    paths : dict of option to path
        "--output" is led to a file that is sent when everything inside has gone well.
    """
    if paths.get("--output") != STANDARD_OUTPUT:
        yield
        return
    with tempfile.TemporaryDirectory(prefix="tamis-") as folder:
        kept = paths["--output"] = Path(folder) / "selected"
        with redirect_stdout(sys.stderr):
            yield
        with kept.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
            sys.stdout.buffer.flush()
