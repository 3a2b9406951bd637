"""The columns of a table as numbers and codes of levels, each read as its kind is."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tamis._typing import BoolArray, IntArray, Matrix
from tamis.preprocessing._column import Column
from tamis.preprocessing._gaps import gaps_per_column, without_infinity
from tamis.preprocessing._kinds import NEARLY_ALL, example
from tamis.preprocessing._readings import BooleanReading, NumberReading, Reading, is_category
from tamis.preprocessing._source import Source

_PLURAL = {
    "number": "numbers",
    "boolean": "truth values",
    "date": "dates",
    "category": "categories",
}


def read_numbers(
    source: Source,
    readings: Mapping[str, Reading],
    positions: Sequence[int],
    fitted_kinds: Mapping[str, str] | None = None,
) -> tuple[Matrix, list[IntArray], bool]:
    """Numbers with gaps, codes of categories, and whether the numbers are a copy.

    Parameters
    ----------
    source : Source
    readings : mapping of str to Reading
        How each column is read.
    positions : sequence of int
        Where each of these columns stands in the source.
    fitted_kinds : mapping of str to str or None
        Of a table other than the fitted one: the kinds that its columns must have. A column of
        another kind is refused, and a warning tells of single values that are.
    """
    plain = all(one == NumberReading() for one in readings.values())
    if source.matrix is not None and plain:
        matrix, own = source.matrix, False
        if list(positions) != list(range(matrix.shape[1])):
            matrix, own = matrix[:, positions], True
        matrix, own = without_infinity(matrix, own)
        return matrix, [], own
    dtype: Any = np.float32
    columns: list[Any] = []
    codes: list[IntArray] = []
    for (name, reading), position in zip(readings.items(), positions, strict=True):
        column = source.column(position)
        read = reading.read(column)
        if fitted_kinds is not None:
            _answer_wrong(name, fitted_kinds[name], column, read.wrong)
        if is_category(reading):
            codes.append(read.values)
        else:
            columns.append(read.values)
            narrow = isinstance(reading, BooleanReading) or read.values.dtype == np.float32
            dtype = dtype if narrow else np.float64
    only_flags = not any(one.dtype == np.float32 for one in columns)
    dtype = np.float64 if only_flags else dtype
    numbers = np.empty((source.n_rows, len(columns)), dtype=dtype)
    for j in range(len(columns)):
        numbers[:, j] = columns[j]
        columns[j] = None
    return numbers, codes, True


def missing_shares(
    readings: Mapping[str, Reading], numbers: Matrix, codes: Sequence[IntArray]
) -> dict[str, float]:
    """The share of the rows in which each column has no value."""
    counts = iter(gaps_per_column(numbers) / max(1, numbers.shape[0]))
    categories = iter(codes)
    return {
        name: float(np.mean(next(categories) < 0) if is_category(one) else next(counts))
        for name, one in readings.items()
    }


def columns_with_gaps(
    readings: Mapping[str, Reading], numbers: Matrix, codes: Sequence[IntArray]
) -> list[str]:
    """The columns that lack a value; a level that was not there when fitted is a value."""
    shares = missing_shares(readings, numbers, codes)
    categories = [name for name, one in readings.items() if is_category(one)]
    code_of = dict(zip(categories, codes, strict=True))
    return [
        name
        for name, share in shares.items()
        if share and (name not in code_of or (code_of[name] == -1).any())
    ]


def _answer_wrong(name: str, kind: str, column: Column, wrong: BoolArray) -> None:
    """Refuse a column of another kind; tell of single values that are."""
    n_wrong = int(np.count_nonzero(wrong))
    if n_wrong == 0:
        return
    n_values = int(np.count_nonzero(~column.missing()))
    shown = example(column, wrong)
    if kind == "category":
        if n_wrong == n_values and not column.is_text:
            raise ValueError(
                f"Column {name!r} held categories when fitted, and now holds other values "
                f"such as {shown!r}; give it the values that it had."
            )
        message = (
            f"Column {name!r} has levels that were not there when fitted, such as {shown!r}: "
            "none of its columns is 1 for them."
        )
    elif n_wrong > (1 - NEARLY_ALL) * n_values:
        raise ValueError(
            f"Column {name!r} held {_PLURAL[kind]} when fitted, and now holds "
            f"{shown!r}; give it values of the same kind."
        )
    else:
        message = (
            f"Column {name!r} holds {n_wrong} values that are no "
            f"{_PLURAL[kind]}, such as {shown!r}: counted as missing."
        )
    warnings.warn(message, UserWarning, stacklevel=6)
