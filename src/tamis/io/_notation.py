"""Numbers as people write them: decimal commas, and signs between thousands."""

from __future__ import annotations

import re
from dataclasses import dataclass

# Spaces of all kinds and apostrophes part thousands in either notation.
_GAPS = " \u00a0\u2009\u202f'\u2019"
_EXPONENT = r"(?:[eE][+-]?\d+)?"


@dataclass(frozen=True)
class Notation:
    """How the decimals and the thousands of numbers are set off.

    Attributes
    ----------
    decimal, thousands : str
        Spaces and apostrophes between thousands are always understood.
    """

    decimal: str
    thousands: str

    def __post_init__(self) -> None:
        decimal, thousands = re.escape(self.decimal), re.escape(self.thousands)
        whole = rf"(?:[1-9]\d{{0,2}}(?:(?:{thousands}\d{{3}})+|(?:[{_GAPS}]\d{{3}})+)|\d+)"
        pattern = rf"[+-]?(?:{whole}(?:{decimal}\d*)?|{decimal}\d+){_EXPONENT}"
        object.__setattr__(self, "_pattern", re.compile(pattern))
        signs = str.maketrans(self.decimal, ".", self.thousands + _GAPS)
        object.__setattr__(self, "_signs", signs)

    def plain(self, text: str) -> str | None:
        """The number as Python writes it, or None if the text is no number of this notation."""
        pattern: re.Pattern[str] = self._pattern  # type: ignore[attr-defined]
        if pattern.fullmatch(text) is None:
            return None
        return text.translate(self._signs)  # type: ignore[attr-defined]


POINT = Notation(".", ",")
COMMA = Notation(",", ".")


class OtherNotationError(Exception):
    """Some cells are numbers only in one of the notations: the table is to be read again.

    Attributes
    ----------
    fitting : set of Notation
        Those in which all of these cells are numbers.
    example : str
        The first of the cells.
    """

    def __init__(self, fitting: set[Notation], example: str) -> None:
        super().__init__(example)
        self.fitting, self.example = fitting, example


class MixedNotationError(Exception):
    """A cell is no number in the notation that others need."""
