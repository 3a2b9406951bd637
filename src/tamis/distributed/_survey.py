"""The first pass over a table: moments, and rows drawn to choose landmarks among."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from tamis._typing import BoolArray, FloatArray, IntArray
from tamis.distributed._distinct import DistinctValues
from tamis.distributed._moments import Moments
from tamis.distributed._passes import RowSource
from tamis.io import TableError
from tamis.utils.columns import is_rounding, narrow_columns
from tamis.utils.validation import refuse_unusable_values

__all__ = ["DistinctStep", "MomentsStep", "Survey", "affine_scale", "drawn_rows", "rounding_among"]


@dataclass(frozen=True, eq=False)
class Survey:
    """Moments of some rows, and those of them that were drawn."""

    moments: Moments
    drawn: FloatArray

    def merge(self, other: Self) -> Self:
        """Of the rows of both, which are consecutive."""
        drawn = np.concatenate([self.drawn, other.drawn])
        return type(self)(self.moments.merge(other.moments), drawn)

    def arrays(self) -> dict[str, FloatArray]:
        """All that it holds, by name."""
        return self.moments.arrays() | {"drawn": self.drawn}

    @classmethod
    def from_arrays(cls, held: Mapping[str, FloatArray]) -> Self:
        """What :meth:`arrays` gave."""
        return cls(Moments.from_arrays(held), held["drawn"])


@dataclass(frozen=True, eq=False)
class MomentsStep:
    """What the first pass computes of a block; it refuses values that no method can use.

    Attributes
    ----------
    origin : ndarray of shape (n_features,)
    full : bool
        Whether products of all pairs of columns are wanted, or squares alone.
    wanted : ndarray of int
        The numbers of the rows to draw, ascending.
    names : sequence of str or None
    """

    origin: FloatArray
    full: bool
    wanted: IntArray
    names: Sequence[str] | None
    number: int = 0
    label: str = "means and products"

    def __call__(self, X: FloatArray, start: int, place: str) -> Survey:
        """The survey of a block."""
        moments = Moments.of(X, self.origin, full=self.full)
        try:
            refuse_unusable_values(moments.lowest, moments.highest, self.names)
        except ValueError as error:
            raise TableError(f"{place}: it {str(error).removeprefix('X ')}") from None
        first, last = np.searchsorted(self.wanted, [start, start + len(X)])
        return Survey(moments, np.ascontiguousarray(X[self.wanted[first:last] - start]))

    def restored(self, held: Mapping[str, FloatArray]) -> Survey:
        """The survey from its arrays."""
        return Survey.from_arrays(held)


@dataclass(frozen=True, eq=False)
class DistinctStep:
    """A pass that looks for the distinct values of columns that vary suspiciously little."""

    columns: IntArray
    number: int = 1
    label: str = "distinct values"

    def __call__(self, X: FloatArray, start: int, place: str) -> _Distinct:
        """The distinct values in a block."""
        return _Distinct(DistinctValues.of(X[:, self.columns]))

    def restored(self, held: Mapping[str, FloatArray]) -> _Distinct:
        """Distinct values from their arrays."""
        return _Distinct(DistinctValues(held["values"]))


@dataclass(frozen=True, eq=False)
class _Distinct:
    found: DistinctValues

    def merge(self, other: Self) -> Self:
        return replace(self, found=self.found.merge(other.found))

    def arrays(self) -> dict[str, FloatArray]:
        return {"values": self.found.values}


def drawn_rows(n_rows: int, wanted: int) -> IntArray:
    """Numbers of rows drawn at random, the same each time, ascending: all where they are few."""
    if wanted >= n_rows:
        return np.arange(n_rows)
    drawn = np.random.default_rng(0).choice(n_rows, wanted, replace=False, shuffle=False)
    return np.sort(drawn)


def affine_scale(moments: Moments, scaling: str, constant: BoolArray) -> tuple[Any, Any]:
    """What is subtracted from the columns and what they are divided by, for a way of scaling."""
    shift, scale = np.zeros(len(moments.origin)), np.ones(len(moments.origin))
    lowest, highest = moments.lowest, moments.highest
    if scaling == "standard":
        shift, scale = moments.mean, np.sqrt(moments.variances)
    elif scaling == "columns":
        shift, scale = lowest, highest - lowest
    elif scaling == "unit":
        shift, scale = shift + lowest.min(), scale * (highest.max() - lowest.min())
    return shift, np.where(constant | (scale <= 0), 1.0, scale)


def rounding_among(table: RowSource, moments: Moments, run: Any) -> IntArray:
    """The columns whose values differ by rounding alone; `run` makes a pass if there may be any."""
    own_scale = table.scaling != "none"
    narrow = narrow_columns(moments.lowest, moments.highest, table.dtype, own_scale=own_scale)
    if len(narrow) == 0:
        return narrow
    found = run(DistinctStep(narrow)).found
    rounding = [
        not found.many[i] and is_rounding(found.of_column(i), table.dtype)
        for i in range(len(narrow))
    ]
    return narrow[rounding]
