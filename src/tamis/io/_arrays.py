"""What formats of named arrays (NPZ, MATLAB) share: which array is the table, which the labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from tamis._typing import FloatArray
from tamis.io._errors import TableError, close_matches

TABLE_KEYS = ("X", "fea", "data", "x", "features")
LABEL_KEYS = ("y", "Y", "gnd", "label", "labels")
NAME_KEYS = ("feature_names", "names")
ID_KEYS = ("ids", "id")


def table_key(
    path: Path, keys: Iterable[str], wanted: str | None, shape: Callable[[str], Any]
) -> str:
    """The key of the table: the one asked for, a usual one, or the only two-dimensional one."""
    known = list(keys)
    if wanted is not None:
        return checked_key(path, known, wanted, "the table")
    usual = [key for key in TABLE_KEYS if key in known]
    if usual:
        return usual[0]
    flat = [key for key in known if len(shape(key)) == 2 and min(shape(key)) > 1]
    if len(flat) == 1:
        return flat[0]
    raise TableError(
        f"{path}: which array is the table? Name it with key=…; {close_matches('', known)}"
    )


def checked_key(path: Path, keys: Iterable[str], wanted: str, what: str) -> str:
    """A key that was asked for, if it is there."""
    known = list(keys)
    if wanted not in known:
        raise TableError(
            f"{path}: there is no array {wanted!r} to take as {what}; "
            f"{close_matches(wanted, known)}"
        )
    return wanted


def side_key(
    path: Path, keys: Iterable[str], wanted: str | None, usual: tuple[str, ...], what: str
) -> str | None:
    """The key of labels, ids or names: the one asked for, a usual one, or None."""
    known = list(keys)
    if wanted is not None:
        return checked_key(path, known, wanted, what)
    return next((key for key in usual if key in known), None)


def side_values(array: Any) -> FloatArray:
    """Labels or ids as a flat array: numbers as they are, text as Python strings."""
    flat = np.asarray(array).ravel()
    return flat if flat.dtype.kind in "biuf" else flat.astype(str).astype(object)


def plain(values: FloatArray) -> FloatArray:
    """Labels or ids as an array that numpy stores without pickling: objects become text."""
    return values.astype(str) if values.dtype.kind == "O" else values
