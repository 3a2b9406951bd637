"""The one error of reading and writing tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tamis.utils.messages import close_names


class TableError(ValueError):
    """A table that cannot be read or written: one line that says what is wrong and what to do."""

    __module__ = "tamis.io"  # as users import it

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


class UnusableError(TableError):
    """A table that was read, but cannot be ranked as it is: gaps, one column, repeated names.

    Attributes
    ----------
    table : Table
    """

    __module__ = "tamis.io"

    def __init__(self, message: str, table: Any) -> None:
        super().__init__(message)
        self.table = table


class TableWarning(UserWarning):
    """What may be wrong with a table that was read or written, and what to do."""

    __module__ = "tamis.io"  # as users import it


def close_matches(name: str, candidates: Iterable[str], most: int = 5) -> str:
    """The end of a message about a wrong name: the likely ones, or the first few there are."""
    known = [str(candidate) for candidate in candidates]
    near = close_names(name, known, most=most)
    if near:
        return "did you mean " + " or ".join(map(repr, near)) + "?"
    if not known:
        return "there are none."
    more = f", … ({len(known) - most} more)" if len(known) > most else ""
    return "there are " + ", ".join(map(repr, known[:most])) + more + "."
