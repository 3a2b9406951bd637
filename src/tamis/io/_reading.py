"""What a user says of a file, instead of leaving it to be found out."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from tamis.io._encoding import Encoding, encoding_of_file
from tamis.io._errors import TableError
from tamis.io._header import is_missing
from tamis.io._notation import COMMA, POINT, Notation

_SEPARATORS = {
    "tab": "\t",
    "\\t": "\t",
    "comma": ",",
    "semicolon": ";",
    "space": " ",
    "pipe": "|",
    "colon": ":",
}
_THOUSANDS = (",", ".", " ", "'", "\u00a0", "\u2009", "\u202f", "\u2019")


@dataclass(frozen=True)
class Reading:
    """What was said of a file; None is to be found out.

    Attributes
    ----------
    separator : str or None
        Between the cells of a text file.
    notation : Notation or None
        Of the numbers.
    encoding : Encoding or None
        Of a text file.
    header : bool or None
        Whether the first row names the columns.
    na : frozenset of str
        Cells that are missing beside the usual ones, in lower case.
    """

    separator: str | None = None
    notation: Notation | None = None
    encoding: Encoding | None = None
    header: bool | None = None
    na: frozenset[str] = frozenset()

    @classmethod
    def checked(
        cls,
        path: Path,
        format: Any,
        *,
        sep: str | None,
        decimal: str | None,
        thousands: str | None,
        encoding: str | None,
        header: bool | None,
        sheet: str | int | None,
        na: str | Sequence[str] | None,
    ) -> Self:
        """The same, refusing what is no separator, no encoding, or nothing for the format."""
        text, numbers = format.name in ("csv", "tsv"), format.has_header
        for what, value, fits, why in (
            ("sep", sep, text, "have no separator to choose"),
            ("encoding", encoding, text, "tell their encoding themselves"),
            ("decimal", decimal, numbers, "hold numbers as numbers"),
            ("thousands", thousands, numbers, "hold numbers as numbers"),
            ("header", header, numbers, "keep names apart from the data"),
            ("sheet", sheet, format.name == "excel", "have no sheets"),
        ):
            if value is not None and not fits:
                raise TableError(f"{path}: {format.title} files {why}; leave out {what}=….")
        separator = None if sep is None else _separator(sep)
        notation = _notation(decimal, thousands)
        if separator is not None and separator == decimal:
            raise TableError(
                f"sep={sep!r} and decimal={decimal!r} are the same sign; give two different ones."
            )
        markers = [na] if isinstance(na, str) else list(na or ())
        return cls(
            separator,
            notation,
            None if encoding is None else _encoding(path, encoding),
            header,
            frozenset(marker.strip().casefold() for marker in markers),
        )

    def is_missing(self, cell: Any) -> bool:
        """Whether a cell holds nothing, in a column of whatever kind."""
        if isinstance(cell, str) and cell.strip().casefold() in self.na:
            return True
        return is_missing(cell)


def _separator(sep: str) -> str:
    separator = _SEPARATORS.get(sep.casefold(), sep)
    if len(separator) != 1 or separator in "\"'\r\n" or separator.isalnum():
        raise TableError(
            f"sep={sep!r} is no separator; give one sign, such as ',' or ';', or the word 'tab', "
            "'space' or 'pipe'."
        )
    return separator


def _notation(decimal: str | None, thousands: str | None) -> Notation | None:
    if decimal not in (None, ".", ","):
        raise TableError(f"decimal={decimal!r} is no decimal sign; give '.' or ','.")
    if thousands is not None and thousands not in _THOUSANDS:
        raise TableError(
            f"thousands={thousands!r} is no sign between thousands; give ',', '.', ' ' or an "
            "apostrophe."
        )
    if decimal is not None and decimal == thousands:
        raise TableError(
            f"decimal={decimal!r} and thousands={thousands!r} are the same sign; give two "
            "different ones."
        )
    if decimal is None and thousands not in (",", "."):
        return None if thousands is None else POINT
    return COMMA if decimal == "," or (decimal is None and thousands == ".") else POINT


def _encoding(path: Path, name: str) -> Encoding:
    try:
        found = codecs.lookup(name)
        "a".encode(found.name)
    except (LookupError, UnicodeError, TypeError) as error:
        raise TableError(
            f"encoding={name!r} is no encoding of text; give utf-8, latin-1, cp1252 or utf-16."
        ) from error
    codec = found.name
    if codec == "utf-8-sig":
        codec = "utf-8"
    marked = encoding_of_file(path) if path.is_file() else Encoding()
    if marked.mark and marked.codec.startswith(codec):
        return marked
    if codec in ("utf-16", "utf-32"):  # without a mark
        return Encoding(f"{codec}-le")
    return Encoding(codec)
