"""Where the columns of a table come from, so that they can be written as they are there."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from tamis._typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Origin:
    """The file of a table, and which of its columns became what.

    Attributes
    ----------
    path, format
        Of the file.
    features : ndarray of int
        Places of the features among the columns of the file.
    ids, label : int or None
        Places of the columns that were set aside.
    layout : object
        What the format needs to read the file again.
    """

    path: Path
    format: str
    features: IntArray
    ids: int | None
    label: int | None
    layout: Any
    state: tuple[int, ...]
    made: tuple[Any, ...] = ()

    @classmethod
    def of(
        cls,
        path: Path,
        format: str,
        features: Sequence[int],
        ids: int | None,
        label: int | None,
        layout: Any,
    ) -> Self:
        """The origin of a table that was just read."""
        return cls(path, format, np.asarray(features, np.intp), ids, label, layout, _state(path))

    def made_into(
        self, X: Any, names: FloatArray, labels: FloatArray | None, ids: FloatArray | None
    ) -> Self:
        """The same, knowing what was made of the file: X is not kept alive by it."""
        return replace(self, made=(weakref.ref(X), names, labels, ids))

    def is_of(self, table: Any) -> bool:
        """Whether the table is still what was read: X may be let go of, but not replaced."""
        if not self.made:
            return False
        X, *beside = self.made
        same = all(
            a is b
            for a, b in zip(beside, (table.feature_names, table.labels, table.ids), strict=True)
        )
        return same and (table.X is None or table.X is X())

    def is_unchanged(self) -> bool:
        """Whether the file is still there as it was read."""
        try:
            return _state(self.path) == self.state
        except OSError:
            return False

    def beside(self) -> list[int]:
        """Places of the columns set aside, in the order in which they are written."""
        return [place for place in (self.ids, self.label) if place is not None]


def _state(path: Path) -> tuple[int, ...]:
    found = path.stat()
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def typed(values: Sequence[Any]) -> FloatArray:
    """Python values as the narrowest kind of array that holds all of them as they are."""
    kinds = {type(value) for value in values}
    if kinds == {bool}:
        return np.array(values, dtype=bool)
    if kinds and kinds <= {int, bool}:
        for dtype in (np.int64, np.uint64):
            with suppress(OverflowError):
                return np.array(values, dtype=dtype)
    elif kinds and kinds <= {int, float, bool}:
        return np.array(values, dtype=np.float64)
    return objects(values)


def objects(values: Sequence[Any]) -> FloatArray:
    """Python values as they are."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
