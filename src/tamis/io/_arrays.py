"""What formats of named arrays (NPZ, MATLAB) share: which array is the table, which the labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tamis._typing import FloatArray
from tamis.io._errors import TableError, close_matches
from tamis.io._table import Table, make_table
from tamis.io._values import texts

# The usual names, in any case, the most usual first.
TABLE_NAMES = ("x", "fea", "data", "features")
LABEL_NAMES = ("y", "gnd", "label", "labels", "class", "classes", "target")
_NAME_KEYS = ("feature_names", "names")
_ID_KEYS = ("ids", "id")


def table_of_arrays(
    path: Path,
    format: str,
    arrays: Mapping[str, Any],
    *,
    labels: str | None,
    ids: str | None,
    key: str | None,
    dtypes: Mapping[str, Any] | None = None,
) -> Table:
    """The table among named arrays, with the labels, ids and column names beside it.

    Parameters
    ----------
    path, format
        Of the table that is returned.
    arrays : mapping
        Read one by one, and only those that are needed.
    labels, ids, key : str or None
        Names of the labels, the ids and the table; None takes the usual ones.
    dtypes : mapping or None
        Types of the arrays by name, where the file has them as others.
    """
    chosen = _table_key(path, arrays, key)
    rest = [name for name in arrays if name != chosen]
    stored = (dtypes or {}).get(chosen)
    label_key = _side_key(path, rest, labels, LABEL_NAMES, "labels")
    id_key = _side_key(path, rest, ids, _ID_KEYS, "ids")
    name_key = _side_key(path, rest, None, _NAME_KEYS, "names")
    table = make_table(
        path,
        format,
        arrays[chosen],
        None if name_key is None else np.ravel(arrays[name_key]).astype(str).tolist(),
        labels=None if label_key is None else _side_values(arrays[label_key]),
        ids=None if id_key is None else _side_values(arrays[id_key]),
        labels_name=label_key,
        ids_name=id_key,
    )
    if stored is None or stored == table.X.dtype:
        return table
    return replace(table, stored_dtype=stored)


def _table_key(path: Path, arrays: Mapping[str, Any], wanted: str | None) -> str:
    """The key of the table: the one asked for, a usual one, or the only two-dimensional one."""
    if wanted is not None:
        return _checked_key(path, arrays, wanted, "the table")
    usual = usual_name(arrays, TABLE_NAMES)
    if usual is not None:
        return usual
    shapes = {key: array.shape for key, array in arrays.items()}
    flat = [key for key, shape in shapes.items() if len(shape) == 2 and min(shape) > 1]
    if len(flat) == 1:
        return flat[0]
    raise TableError(
        f"{path}: which array is the table? Name it with key=…; {close_matches('', arrays)}"
    )


def _checked_key(path: Path, known: Iterable[str], wanted: str, what: str) -> str:
    """A key that was asked for, if it is there."""
    if wanted not in known:
        raise TableError(
            f"{path}: there is no array {wanted!r} to take as {what}; "
            f"{close_matches(wanted, known)}"
        )
    return wanted


def _side_key(
    path: Path, known: list[str], wanted: str | None, usual: tuple[str, ...], what: str
) -> str | None:
    """The key of labels, ids or names: the one asked for, a usual one, or None."""
    if wanted is not None:
        return _checked_key(path, known, wanted, what)
    return usual_name(known, usual)


def usual_name(known: Iterable[str], usual: Sequence[str]) -> str | None:
    """The most usual of the names, in whatever case it is written; None if none is usual."""
    ranked = [(usual.index(name.lower()), name) for name in known if name.lower() in usual]
    return min(ranked)[1] if ranked else None


def _side_values(array: Any) -> FloatArray:
    """Labels or ids as a flat array: numbers as they are, text as Python strings."""
    flat = np.asarray(array).ravel()
    return flat if flat.dtype.kind in "biuf" else flat.astype(str).astype(object)


def plain(values: FloatArray) -> FloatArray:
    """Labels or ids as an array that numpy stores without pickling: objects become text."""
    return np.array(texts(values), dtype=str) if values.dtype.kind == "O" else values
