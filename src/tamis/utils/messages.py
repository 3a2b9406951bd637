"""What messages share: lists of columns by name, and names that come close to a wrong one."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

__all__ = ["close_names", "describe_columns", "did_you_mean", "refuse_repeated_columns", "repeated"]

Name = TypeVar("Name", bound=Hashable)


def describe_columns(columns: Any, names: Any = None, most: int = 5) -> str:
    """A short list of columns for a message: by name where they have one, else by index."""
    shown = [repr(str(names[j])) if names is not None else str(j) for j in columns[:most]]
    if len(columns) > most:
        shown.append(f"… ({len(columns) - most} more)")
    return ("column " if len(columns) == 1 else "columns ") + ", ".join(shown)


def close_names(
    name: str,
    names: Iterable[str],
    *,
    most: int = 3,
    fold: Callable[[str], str] = lambda text: text.strip().casefold(),
) -> list[str]:
    """The names that are spelt almost like a wrong one, the closest first.

    Parameters
    ----------
    name : str
    names : iterable of str
    most : int, default=3
        How many at the most.
    fold : callable, default: without case and surrounding spaces
        What is compared of a name.

    Examples
    --------
    >>> from tamis.utils.messages import close_names
    >>> close_names("Laplacian", ["laplacian_score", "mcfs"])
    ['laplacian_score']
    """
    folded = {fold(known): known for known in reversed(list(names))}
    return [folded[near] for near in difflib.get_close_matches(fold(name), folded, n=most)]


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """A hint for a name that does not exist: " (did you mean …?)", or nothing.

    >>> from tamis.utils.messages import did_you_mean
    >>> did_you_mean("udf", ["udfs", "mcfs"])
    ' (did you mean udfs?)'
    """
    near = close_names(name, names)
    return f" (did you mean {' or '.join(near)}?)" if near else ""


def repeated(names: Iterable[Name]) -> list[Name]:
    """The names that occur more than once, each once, in their order."""
    return [name for name, count in Counter(names).items() if count > 1]


def refuse_repeated_columns(
    names: Iterable[str], table: str, error: type[Exception] = ValueError
) -> None:
    """Refuse a table of which two columns have the same name.

    Parameters
    ----------
    names : iterable of str
    table : str
        What the message calls the table.
    error : type, default=ValueError
        Of the refusal.
    """
    twice = repeated(names)
    if twice:
        columns = describe_columns(range(len(twice)), twice)
        raise error(
            f"{table} has more than one column of the same name: {columns}; rename them, so that "
            "every name occurs once."
        )
