"""Categories and dates as columns of numbers, and the scale of all columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

from tamis._typing import FloatArray, IntArray, Matrix
from tamis.preprocessing._readings import (
    BooleanReading,
    CategoryReading,
    DateReading,
    NumberReading,
    Reading,
)
from tamis.utils.sparse import is_sparse


def expanded(
    readings: Sequence[Reading], numbers: Matrix, codes: Sequence[IntArray], n_outputs: int
) -> Matrix:
    """Every output column; the numbers themselves where nothing has to be encoded.

    Parameters
    ----------
    readings : sequence of Reading
        Of the source columns.
    numbers : {ndarray, CSR}
        A column for each source column that is no category.
    codes : sequence of ndarray of int
        The levels of each category.
    n_outputs : int
    """
    if all(isinstance(one, NumberReading | BooleanReading) for one in readings):
        return numbers
    out = np.empty((numbers.shape[0], n_outputs), dtype=numbers.dtype)
    categories, singles, start = iter(codes), iter(range(numbers.shape[1])), 0
    for reading in readings:
        if isinstance(reading, CategoryReading):
            levels = [list(range(reading.n_outputs))]
            encoder = OneHotEncoder(categories=levels, handle_unknown="ignore", sparse_output=False)
            block = encoder.fit(np.zeros((1, 1), int)).transform(next(categories)[:, None])
        elif isinstance(reading, DateReading):
            block = reading.outputs(numbers[:, next(singles)])
        else:
            block = numbers[:, [next(singles)]]
        out[:, start : start + block.shape[1]] = block
        start += block.shape[1]
    return out


def offsets_and_factors(
    out: Matrix, readings: Sequence[Reading], sizes: Sequence[int], scaling: str
) -> tuple[FloatArray, FloatArray]:
    """What is taken from each output column, and what it is multiplied by then.

    All outputs of one source column together count as one.

    Parameters
    ----------
    out : {ndarray, CSR}
        Output columns, complete.
    readings : sequence of Reading
        Of the source columns.
    sizes : sequence of int
        How many outputs each source column has.
    scaling : {"standard", "columns"}
    """
    sparse = is_sparse(out)
    if scaling == "standard":
        scaler = StandardScaler(with_mean=not sparse).fit(out)
        offset = np.zeros(out.shape[1]) if sparse else scaler.mean_
        deviation = np.sqrt(scaler.var_)
    else:
        low = out.min(axis=0).toarray().ravel() if sparse else MinMaxScaler().fit(out).data_min_
        high = out.max(axis=0).toarray().ravel() if sparse else out.max(axis=0)
        offset = np.zeros(out.shape[1]) if sparse else low
        deviation = np.maximum(np.abs(low), np.abs(high)) if sparse else high - low
    deviation = np.where(deviation > 0, deviation, 1.0).astype(np.float64)
    start = 0
    for reading, size in zip(readings, sizes, strict=True):
        group = slice(start, start + size)
        if isinstance(reading, CategoryReading):
            whole = np.sqrt((deviation[group] ** 2).sum())
            deviation[group] = whole if scaling == "standard" else np.sqrt(2.0)
        elif size > 1:
            deviation[group] *= np.sqrt(size)
        start = group.stop
    return np.asarray(offset, dtype=np.float64), 1 / deviation
