"""Whether files belong together as one table, and which of their columns are read."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from tamis.io._errors import TableError, TableWarning, close_matches
from tamis.utils.messages import describe_columns

if TYPE_CHECKING:
    from tamis.io._lazy import Part


def refuse_other_columns(parts: Sequence[Part]) -> None:
    """Refuse a file whose columns are not those of the first."""
    first = parts[0]
    for part in parts[1:]:
        if len(part.kinds) != len(first.kinds) or part.names != first.names:
            own, others = part.names or [], first.names or []
            extra = [name for name in own if name not in others]
            missing = [name for name in others if name not in own]
            what = f"{len(part.kinds)} columns instead of {len(first.kinds)}"
            if extra or missing:
                what += "".join(
                    f"; {word} {describe_columns(range(len(names)), names)}"
                    for word, names in (("without", missing), ("with", extra))
                    if names
                )
            elif len(part.kinds) == len(first.kinds):
                what = "the same columns in another order"
            raise TableError(
                f"{part.path} has other columns than {first.path}: {what}; leave it out, or write "
                "it with the same columns."
            )


def chosen_columns(
    parts: Sequence[Part], drop: Sequence[str], numeric_only: bool
) -> tuple[list[int], list[str]]:
    """The columns to read; refuses those that hold no numbers, unless they are left out."""
    first = parts[0]
    names = first.names or [str(j) for j in range(len(first.kinds))]
    dropped: set[int] = set()
    for pattern in drop:
        found = {j for j, name in enumerate(names) if name == pattern}
        found = found or {j for j, name in enumerate(names) if fnmatchcase(name, pattern)}
        if not found:
            near = close_matches(pattern, names)
            raise TableError(f"{first.path}: there is no column {pattern!r} to drop; {near}")
        dropped |= found
    others: dict[int, tuple[str, Part]] = {}
    for part in parts:
        for j, kind in enumerate(part.kinds):
            if isinstance(kind, str) and j not in dropped:
                others.setdefault(j, (kind, part))
    if others and not numeric_only:
        kind, part = others[min(others)]
        bad = sorted(others)
        columns = describe_columns(bad, names)
        raise TableError(
            f"{part.path}: {columns} {'hold' if len(bad) > 1 else 'holds'} {kind}, not numbers; "
            f"leave {'them' if len(bad) > 1 else 'it'} out with drop=…, or all such columns with "
            "numeric_only=True."
        )
    columns_left = [j for j in range(len(names)) if j not in dropped and j not in others]
    if not columns_left:
        raise TableError(f"{first.path}: no column of numbers is left.")
    return columns_left, [names[j] for j in sorted(others)]


def warn_of_gaps(paths: Sequence[Path]) -> None:
    """Warn of a number that is missing among numbered files."""
    import re

    found = [re.findall(r"\d+", path.name) for path in paths]
    widths = {len(numbers) for numbers in found}
    if len(paths) < 2 or widths == {0} or len(widths) != 1:
        return
    for place in range(widths.pop()):
        numbers = sorted({int(one[place]) for one in found})
        if len(numbers) != len(paths):
            continue
        gaps = sorted(set(range(numbers[0], numbers[-1])) - set(numbers))
        if gaps and len(gaps) < len(paths):
            warnings.warn(
                f"The files are numbered from {numbers[0]} to {numbers[-1]}, but "
                f"{', '.join(map(str, gaps[:5]))} {'is' if len(gaps) == 1 else 'are'} missing; "
                "if the table is not whole, put the file back.",
                TableWarning,
                stacklevel=4,
            )
        return
