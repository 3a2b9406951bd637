"""Numbers, truth values and dates that are written as text."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tamis._typing import FloatArray

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
INFINITY = re.compile(r"([+-]?)inf(inity)?", re.IGNORECASE)
GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")
DECIMAL_COMMA = re.compile(r"[+-]?\d{1,3}(\.\d{3})+,\d+|[+-]?\d*,\d+([eE][+-]?\d+)?")
CODE = re.compile(r"0\d+")
SYMBOLS = "%€$£¥"

# What counts as true and as false, without case.
TRUE_FALSE = (("true", "false"), ("yes", "no"), ("y", "n"), ("t", "f"), ("on", "off"))

# How dates are written, the first that reads nearly all values is taken.
DATE_FORMATS = (
    "iso",
    "%Y/%m/%d",
    "%Y-%m",
    "%m/%d/%Y",
    "%d/%m/%Y",
    "%d.%m.%Y",
    "%d-%m-%Y",
    "%m/%d/%y",
    "%d/%m/%y",
    "%d.%m.%y",
    "%d %b %Y",
    "%d %B %Y",
    "%d-%b-%Y",
    "%d-%b-%y",
    "%b %d, %Y",
    "%B %d, %Y",
    "%b %Y",
    "%B %Y",
    "%Y/%m/%d %H:%M:%S",
    "%m/%d/%Y %H:%M",
    "%d/%m/%Y %H:%M",
    "%m/%d/%Y %H:%M:%S",
    "%d/%m/%Y %H:%M:%S",
    "%d.%m.%Y %H:%M",
    "%d.%m.%Y %H:%M:%S",
)
# Years outside of these are placeholders, such as 9999-12-31, or slips.
FIRST_YEAR, LAST_YEAR = 1000, 2999


@dataclass(frozen=True)
class NumberNotation:
    """How numbers are written.

    Attributes
    ----------
    comma : {"none", "thousands", "decimal"}
        What a comma means.
    symbols : bool
        Whether signs such as % and $ stand beside the numbers.
    """

    comma: str = "none"
    symbols: bool = False

    def read(self, texts: Sequence[str]) -> FloatArray:
        """The numbers; NaN where a text is none."""
        return np.array([self._read(text) for text in texts], dtype=np.float64)

    def _read(self, text: str) -> float:
        if self.symbols:
            text = text.strip(SYMBOLS).strip()
        if self.comma == "thousands" and GROUPED.fullmatch(text):
            text = text.replace(",", "")
        elif self.comma == "decimal":
            if DECIMAL_COMMA.fullmatch(text):
                text = text.replace(".", "").replace(",", ".")
            elif "." in text:
                return np.nan
        if NUMBER.fullmatch(text):
            return float(text)
        infinite = INFINITY.fullmatch(text)
        return float(infinite[1] + "inf") if infinite else np.nan

    def described(self) -> str:
        """What was guessed of the notation, for a note; empty for plain numbers."""
        meant = {
            "none": "",
            "thousands": "the comma read as the separator of thousands",
            "decimal": "the comma read as the decimal sign",
        }[self.comma]
        signs = "signs such as % and $ left out" if self.symbols else ""
        return ", ".join(part for part in (meant, signs) if part)


PLAIN = NumberNotation()
NOTATIONS = tuple(
    NumberNotation(comma, symbols)
    for symbols in (False, True)
    for comma in ("none", "thousands", "decimal")
)


def truth_words(texts: Sequence[str]) -> tuple[str, str] | None:
    """The words for true and false, if the texts are two such words, else None."""
    folded = {text.casefold() for text in texts}
    return next((pair for pair in TRUE_FALSE if folded == set(pair)), None)


def read_dates(texts: Sequence[str], form: str) -> np.ndarray:
    """The dates that are written in a form, NaT where a text is none.

    Parameters
    ----------
    texts : sequence of str
    form : str
        One of :data:`DATE_FORMATS`.
    """
    return np.array([_read_date(text, form) for text in texts], dtype="datetime64[us]")


def _read_date(text: str, form: str) -> datetime.datetime | None:
    if len(text) < 6 or text.isdigit():  # a number, which ISO 8601 could be too
        return None
    try:
        if form == "iso":
            moment = datetime.datetime.fromisoformat(text)
        else:
            moment = datetime.datetime.strptime(text, form)
        if moment.tzinfo is not None:
            moment = moment.astimezone(datetime.UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None
    return moment


def out_of_range(dates: np.ndarray) -> np.ndarray:
    """Which dates lie outside of the years that a date of a table can have."""
    years = dates.astype("datetime64[Y]").astype(np.int64) + 1970
    return ~np.isnat(dates) & ((years < FIRST_YEAR) | (years > LAST_YEAR))
