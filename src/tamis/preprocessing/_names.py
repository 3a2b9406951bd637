"""Names of columns: asked for, looked for in a new table, and given to outputs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tamis.preprocessing._kinds import CHOOSABLE
from tamis.preprocessing._readings import BooleanReading, NumberReading, Reading
from tamis.utils.messages import describe_columns, did_you_mean


def wanted_kinds(kinds: Mapping[str, str] | None, names: Sequence[str]) -> dict[str, str]:
    """What columns are to be taken for; one that X does not have, or no kind, is refused."""
    wanted = dict(kinds or {})
    for name, kind in wanted.items():
        if name not in names:
            near = did_you_mean(str(name), names)
            raise ValueError(f"kinds names the column {name!r}, which X does not have{near}.")
        if kind not in CHOOSABLE:
            raise ValueError(
                f"kinds says that {name!r} is {kind!r}; use one of {', '.join(CHOOSABLE)}."
            )
    return wanted


def places_by_name(
    wanted: Iterable[str], names: Sequence[str], fitted: Sequence[str]
) -> dict[str, int]:
    """Where the columns of a new table stand; one that is wanted and not there is refused.

    Parameters
    ----------
    wanted : iterable of str
    names : sequence of str
        All columns of the new table.
    fitted : sequence of str
        All columns of the fitted one.
    """
    where = {name: j for j, name in enumerate(names)}
    absent = [name for name in wanted if name not in where]
    if absent:
        near = did_you_mean(absent[0], [name for name in names if name not in fitted])
        raise ValueError(
            f"X lacks {describe_columns(range(len(absent)), absent)}, which the fitted table "
            f"had{near}; rename or add the columns."
        )
    return where


def output_names(readings: Mapping[str, Reading]) -> dict[str, list[str]]:
    """What the outputs of each source column are called, each name once."""
    groups = {}
    taken: set[str] = set()
    for name, reading in readings.items():
        plain = isinstance(reading, NumberReading | BooleanReading)
        wanted = [name] if plain else reading.output_names(name)  # type: ignore[union-attr]
        unique = []
        for output in wanted:
            while output in taken or (output in readings and output != name):
                output += "'"
            taken.add(output)
            unique.append(output)
        groups[name] = unique
    return groups


def renamed_outputs(
    groups: Mapping[str, Sequence[str]], names: Sequence[str], given: Sequence[Any]
) -> list[str]:
    """The outputs as they are called where the source columns get other names.

    Parameters
    ----------
    groups : mapping of str to sequence of str
        The outputs of each source column.
    names : sequence of str
        The source columns as they were called.
    given : sequence
        Their other names.
    """
    new = dict(zip(names, given, strict=True))
    return [
        str(new[name]) + output.removeprefix(name)
        for name, outputs in groups.items()
        for output in outputs
    ]
