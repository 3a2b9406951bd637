"""How the values of one column become numbers, or codes of levels: fitted, and applied again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tamis._typing import FloatArray, IntArray
from tamis.preprocessing._column import Column
from tamis.preprocessing._notation import PLAIN, NumberNotation, out_of_range, read_dates

SECONDS_PER_DAY = 86400.0
# The year has its mean length, so that the cycle does not slip over decades.
CYCLES = {"year": 365.2425, "week": 7.0, "day": 1.0}
UNKNOWN = -2


@dataclass(frozen=True)
class Read:
    """A column that has been read.

    Attributes
    ----------
    values : ndarray of shape (n_rows,)
        Numbers, NaN where there is none; or codes of levels, -1 where there is none.
    wrong : ndarray of bool of shape (n_rows,)
        The rows whose value is not of the kind that was expected.
    """

    values: Any
    wrong: Any


@dataclass(frozen=True)
class NumberReading:
    """Numbers, also those written as text."""

    notation: NumberNotation = PLAIN

    def read(self, column: Column) -> Read:
        """The numbers of a column; infinite ones are missing."""
        if column.is_text:
            values = _of_levels(self.notation.read(column.levels), column.codes)
            wrong = np.isnan(values) & (column.codes >= 0)
            values[np.isinf(values)] = np.nan
            return Read(values, wrong)
        if column.values.dtype.kind == "M":
            return Read(np.full(len(column), np.nan), ~column.missing())
        values = column.values
        if values.dtype not in (np.float64, np.float32):
            values = values.astype(np.float64)
        infinite = np.isinf(values)
        if infinite.any():
            values = np.where(infinite, np.nan, values)
        return Read(values, np.zeros(len(column), dtype=bool))


@dataclass(frozen=True)
class BooleanReading:
    """Truth values as 1 and 0.

    Attributes
    ----------
    true, false : str
        The words, without case.
    """

    true: str = "true"
    false: str = "false"

    def read(self, column: Column) -> Read:
        """1 for true, 0 for false."""
        if not column.is_text and column.values.dtype.kind != "M":
            values = column.values.astype(np.float64)
            wrong = ~np.isin(values, (0.0, 1.0)) & ~np.isnan(values)
            return Read(np.where(wrong, np.nan, values), wrong)
        column = column.as_levels()
        numbers = {self.true: 1.0, self.false: 0.0}
        levels = [numbers.get(level.casefold(), np.nan) for level in column.levels]
        values = _of_levels(np.array(levels, dtype=np.float64), column.codes)
        return Read(values, np.isnan(values) & (column.codes >= 0))


@dataclass(frozen=True)
class DateReading:
    """Dates as days since the first one, and as cycles.

    Attributes
    ----------
    form : str
        How dates that come as text are written, "iso" for dates that were no text.
    origin : float
        Days from 1970-01-01 to the first date.
    cycles : tuple of str
        Of "year", "week" and "day", those in which the dates vary.
    """

    form: str = "iso"
    origin: float = 0.0
    cycles: tuple[str, ...] = ()

    def read(self, column: Column) -> Read:
        """Days since the first date; dates out of range are missing."""
        if column.is_text:
            dates = read_dates(column.levels, self.form)
            dates = np.append(dates, np.datetime64("NaT"))[column.codes]
            wrong = np.isnat(dates) & (column.codes >= 0)
        elif column.values.dtype.kind == "M":
            dates, wrong = column.values, np.zeros(len(column), dtype=bool)
        else:
            return Read(np.full(len(column), np.nan), ~column.missing())
        return Read(days_of(dates) - self.origin, wrong)

    def outputs(self, days: FloatArray) -> FloatArray:
        """The columns of a date: days, and a sine and a cosine for each cycle."""
        columns = [days]
        for cycle in self.cycles:
            angle = 2 * np.pi * ((days + self.origin) / CYCLES[cycle])
            columns += [np.sin(angle), np.cos(angle)]
        return np.column_stack(columns)

    def output_names(self, name: str) -> list[str]:
        """The names of what :meth:`outputs` gives."""
        waves = [f"{name} ({cycle} {wave})" for cycle in self.cycles for wave in ("sin", "cos")]
        return [f"{name} (days)", *waves]


@dataclass(frozen=True)
class CategoryReading:
    """Levels, the rare ones together, one column each.

    Attributes
    ----------
    levels : tuple of str
        Those that have a column of their own.
    rare : tuple of str
        Those that share the last column.
    """

    levels: tuple[str, ...] = ()
    rare: tuple[str, ...] = ()

    def read(self, column: Column) -> Read:
        """The code of each row's level: -1 for no value, -2 for a level that was not seen."""
        column = column.as_levels()
        code = {level: number for number, level in enumerate(self.levels)}
        code |= dict.fromkeys(self.rare, len(self.levels))
        known = np.array([code.get(level, UNKNOWN) for level in column.levels] + [-1])
        codes = known[column.codes]
        return Read(codes, codes == UNKNOWN)

    @property
    def n_outputs(self) -> int:
        """The number of columns."""
        return len(self.levels) + bool(self.rare)

    def output_names(self, name: str) -> list[str]:
        """The names of the columns, one for each level and one for the rare levels."""
        return [f"{name}={level}" for level in self.levels] + [f"{name}=(rare)"] * bool(self.rare)


Reading = NumberReading | BooleanReading | DateReading | CategoryReading


def is_category(reading: Reading) -> bool:
    """Whether a column is read as codes of levels, not as numbers."""
    return isinstance(reading, CategoryReading)


def _of_levels(numbers: FloatArray, codes: IntArray) -> FloatArray:
    """The number of each row's level; NaN for -1, which counts from the end."""
    return np.append(numbers, np.nan)[codes]


def days_of(dates: np.ndarray) -> FloatArray:
    """Days since 1970-01-01; NaN for NaT and for dates that are out of range."""
    since = (dates - np.datetime64(0, "us")) / np.timedelta64(1, "s")
    return np.where(np.isnat(dates) | out_of_range(dates), np.nan, since / SECONDS_PER_DAY)


def cycles_of(days: FloatArray) -> tuple[str, ...]:
    """The cycles that dates go through: at least once round, in steps of less than half of it."""
    different = np.unique(days[~np.isnan(days)])
    if len(different) < 3:
        return ()
    step = float(np.median(np.diff(different)))
    span = float(different[-1] - different[0])
    return tuple(name for name, period in CYCLES.items() if span >= period and step < period / 2)
