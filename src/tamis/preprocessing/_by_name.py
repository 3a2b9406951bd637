"""Columns of any kind of table, taken by name; of arrays, which have no names, by position."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse as sp

from tamis.utils.messages import describe_columns, did_you_mean, refuse_repeated_columns


def names_of(table: Any) -> list[str] | None:
    """The names of the columns; None for an array or a sparse table, whose columns have none."""
    if isinstance(table, Mapping):
        return [str(name) for name in table]
    frame = _frame(table)
    if frame is not None:
        names = [str(name) for name in frame.columns]
        refuse_repeated_columns(names, "the table")
        return names
    shape = np.shape(table)
    if len(shape) != 2:
        raise ValueError(
            f"a {type(table).__name__} of shape {shape} is no table; give a frame, an array with "
            "rows and columns, or a mapping of names to columns."
        )
    return None


def take(table: Any, wanted: Sequence[str], among: Sequence[str]) -> Any:
    """The wanted columns, in this order, as a table of the same kind.

    Parameters
    ----------
    table : frame of pandas, polars or Arrow, mapping of names to columns, array or sparse
    wanted : sequence of str
    among : sequence of str
        The names of all columns that an array stands for, in their order.
    """
    names = names_of(table)
    if names is None:
        _check_width(np.shape(table)[1], among)
        places = {name: place for place, name in enumerate(among)}
        columns = [places[name] for name in wanted]
        return table.tocsr()[:, columns] if sp.issparse(table) else np.asarray(table)[:, columns]
    refuse_missing(wanted, names)
    if isinstance(table, Mapping):
        return {name: table[name] for name in wanted}
    frame = _frame(table)
    spelt = {str(name): name for name in frame.columns}
    return frame.select([spelt[name] for name in wanted]).to_native()


def numbers(table: Any, wanted: Sequence[str], among: Sequence[str]) -> Any:
    """The wanted columns as an array of numbers, of which none is missing.

    Sparse tables stay sparse, and arrays of numbers keep their type.
    """
    chosen = take(table, wanted, among)
    if sp.issparse(chosen):
        return chosen
    if isinstance(chosen, np.ndarray):
        if chosen.dtype.kind not in "biuf":
            columns = zip(wanted, chosen.T, strict=True)
            chosen = np.column_stack([_as_numbers(name, values) for name, values in columns])
    elif isinstance(chosen, Mapping):
        chosen = np.column_stack(
            [_as_numbers(name, np.asarray(values)) for name, values in chosen.items()]
        )
    else:
        frame = _frame(chosen)
        chosen = np.column_stack([_series_as_numbers(frame[name]) for name in frame.columns])
    missing = ~np.isfinite(chosen)
    if missing.any():
        gaps = np.flatnonzero(missing.any(axis=0))
        raise ValueError(
            f"missing or infinite values in {describe_columns(gaps, wanted)}, in "
            f"{np.count_nonzero(missing.any(axis=1))} of {len(chosen)} rows, but the table that "
            "the selection was made on had none; fill them in, or drop those rows."
        )
    return chosen


def refuse_missing(wanted: Sequence[str], names: Sequence[str]) -> None:
    """Name the wanted columns that a table does not have, with those spelt almost so."""
    there = set(names)
    missing = [name for name in wanted if name not in there]
    if not missing:
        return
    left = [name for name in names if name not in set(wanted)]
    hint = did_you_mean(missing[0], left)
    raise ValueError(
        f"the table has no {describe_columns(range(len(missing)), missing)}{hint}; give it the "
        "columns that the selection was made on, under the same names."
    )


def _check_width(width: int, among: Sequence[str]) -> None:
    if width != len(among):
        raise ValueError(
            f"the table has {width} columns without names, but the selection was made on "
            f"{len(among)}; give the same columns in the same order, or a table with names."
        )


def _frame(table: Any) -> Any:
    """The table as a frame of narwhals; None if it is none."""
    frame = nw.from_native(table, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def _series_as_numbers(series: Any) -> Any:
    if not (series.dtype.is_numeric() or series.dtype == nw.Boolean):
        _refuse_type(series.name, str(series.dtype))
    return series.cast(nw.Float64).to_numpy()


def _as_numbers(name: str, values: Any) -> Any:
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    try:
        if values.dtype.kind == "O" and not any(isinstance(value, str) for value in values):
            return values.astype(np.float64)
    except (TypeError, ValueError):
        pass
    return _refuse_type(name, "text" if values.dtype.kind in "OUS" else str(values.dtype))


def _refuse_type(name: str, kind: str) -> Any:
    raise ValueError(
        f"column {name!r} holds {kind}, but numbers when the selection was made; bring it back to "
        "numbers."
    )
