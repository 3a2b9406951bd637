"""Columns that a user names, by name or by index."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from numbers import Integral
from typing import Any

import numpy as np

from tamis._typing import BoolArray
from tamis.utils.messages import did_you_mean


def column_mask(
    wanted: Iterable[Any] | None, parameter: str, n_features: int, names: Any = None
) -> BoolArray:
    """The mask of the columns that a parameter lists, by name, by pattern or by index from 0.

    A text that is not the name of a column and has one of ``*?[`` is a pattern of the shell, which
    lists all columns that it matches: ``"id_*"``.

    Parameters
    ----------
    wanted : iterable of str or int, or None
        None lists no column.
    parameter : str
        Its name, for the message of what is refused.
    n_features : int
    names : array-like of shape (n_features,) or None, default=None
        Names of the columns; without them columns are listed by index.
    """
    mask = np.zeros(n_features, dtype=bool)
    for column in () if wanted is None else wanted:
        if isinstance(column, str):
            if names is None:
                raise ValueError(
                    f"{parameter} lists the column {column!r}, but the columns of X have no names; "
                    "list indices."
                )
            mask |= _named(column, parameter, names)
        elif isinstance(column, Integral) and not isinstance(column, bool | np.bool_):
            if not 0 <= int(column) < n_features:
                raise ValueError(
                    f"{parameter} lists column {column}, but X has {n_features} features; use "
                    f"indices from 0 to {n_features - 1}."
                )
            mask[int(column)] = True
        else:
            raise ValueError(
                f"{parameter} lists {column!r}, which is neither the name nor the index of a "
                "column."
            )
    return mask


def _named(wanted: str, parameter: str, names: Any) -> BoolArray:
    """The columns of that name or, where there are none, those that match it as a pattern."""
    found: BoolArray = np.asarray(names) == wanted
    if found.any():
        return found
    if any(sign in wanted for sign in "*?["):
        found = np.array([fnmatchcase(str(name), wanted) for name in names], dtype=bool)
        if not found.any():
            raise ValueError(
                f"{parameter} lists the pattern {wanted!r}, but it matches no column of X."
            )
        return found
    raise ValueError(
        f"{parameter} lists the column {wanted!r}, but X has no column of that name"
        f"{did_you_mean(wanted, map(str, names))}."
    )
