"""A table as it comes: columns of mixed types, with gaps."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis._typing import FloatArray
from tamis.io._origin import Origin
from tamis.io._table import Table


@dataclass(frozen=True, eq=False)
class RawTable:
    """The columns of a file as it is: numbers, truth values, dates and text, with gaps.

    Attributes
    ----------
    path : Path
    format : str
        A name of :func:`tamis.io.formats`.
    notes : tuple of str
        What the reader decided by itself, one sentence each.
    hints : tuple of str
        What may be wrong with it, one sentence each.
    aside : tuple of str
        Columns that belong to the rows: row names, ids, labels.
    labels_name : str or None
        The one of them that holds the labels.
    table : Table or None
        Where all other columns are complete numbers: the same as one matrix, dense or sparse.
    origin : Origin or None
        The file, from which columns are written as they are there.
    """

    path: Path
    format: str
    notes: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    aside: tuple[str, ...] = ()
    labels_name: str | None = None
    table: Table | None = None
    origin: Origin | None = field(default=None, repr=False)
    typed: dict[str, FloatArray] | None = field(default=None, repr=False)

    @cached_property
    def columns(self) -> dict[str, FloatArray]:
        """Every column by its name, in the order of the file.

        Of a table of numbers these are views of its matrix; of a sparse one they are made dense.
        """
        if self.typed is not None:
            return self.typed
        assert self.table is not None
        return columns_of_table(self.table)

    @property
    def names(self) -> list[str]:
        """The names of all columns, in the order of the file."""
        if self.typed is not None:
            return list(self.typed)
        assert self.table is not None
        return [name for name, _ in _places(self.table)]

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        if self.table is not None:
            return int(self.table.X.shape[0])
        return len(next(iter(self.columns.values())))


def _places(table: Table) -> list[tuple[str, Any]]:
    """Names and values of ids and labels, names and indices of features, in the file's order."""
    beside = table.beside()
    features = list(zip(table.feature_names.tolist(), range(len(table.feature_names)), strict=True))
    origin = table.origin
    if origin is None or len(origin.beside()) != len(beside):
        return [*beside, *features]
    places = [*origin.beside(), *origin.features.tolist()]
    ordered = sorted(zip(places, [*beside, *features], strict=True), key=lambda pair: pair[0])
    return [column for _, column in ordered]


def columns_of_table(table: Table) -> dict[str, FloatArray]:
    """The columns of a table by name."""
    X = table.X.tocsc() if sp.issparse(table.X) else table.X
    columns = {}
    for name, values in _places(table):
        if isinstance(values, int):
            values = X[:, [values]].toarray().ravel() if sp.issparse(X) else X[:, values]
        columns[name] = np.asarray(values)
    return columns


def unique_names(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """The names, those that occur again with a number after them, and a note of that."""
    taken, found, renamed = set(names), set(), []
    unique = []
    for name in names:
        new, number = name, 2
        while new in found or (new != name and new in taken):
            new, number = f"{name}_{number}", number + 1
        if new != name:
            renamed.append(f"{name!r} as {new!r}")
        found.add(new)
        unique.append(new)
    if not renamed:
        return unique, []
    more = f" and {len(renamed) - 5} more" if len(renamed) > 5 else ""
    return unique, [f"Columns of the same name are told apart: {', '.join(renamed[:5])}{more}."]


def raw_of_table(
    table: Table, na: frozenset[str] = frozenset(), *, usable: bool = True
) -> RawTable:
    """A table of numbers as columns.

    Parameters
    ----------
    table : Table
    na : frozenset of str
        Numbers that are missing.
    usable : bool, default=True
        Whether the numbers are complete, and the names unique.
    """
    path, notes, typed = table.path, list(table.notes), None
    assert path is not None
    if not usable or na:
        names, more = unique_names(table.feature_names.tolist())
        notes += more
        table = replace(table, feature_names=np.array(names, dtype=object))
        typed = {name: _gaps(values, na) for name, values in columns_of_table(table).items()}
    aside = tuple(name for name, _ in table.beside())
    return RawTable(
        path=path,
        format=table.format,
        notes=tuple(notes),
        hints=table.hints,
        aside=aside,
        labels_name=None if table.labels is None else aside[-1],
        table=table if typed is None else None,
        origin=_whole(table),
        typed=typed,
    )


def _whole(table: Table) -> Origin | None:
    """The origin of a table whose ids and labels are columns like the others."""
    origin = table.origin
    if origin is None or len(origin.beside()) != len(table.beside()):
        return None
    n_columns = len(origin.features) + len(origin.beside())
    return replace(origin, features=np.arange(n_columns), ids=None, label=None)


def _gaps(values: FloatArray, na: frozenset[str]) -> FloatArray:
    numbers = set()
    for mark in na:
        with suppress(ValueError):
            numbers.add(float(mark))
    if not numbers or values.dtype.kind not in "iuf":
        return values
    gone = np.isin(values, list(numbers))
    return np.where(gone, np.nan, values) if gone.any() else values
