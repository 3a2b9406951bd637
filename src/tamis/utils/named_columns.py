"""Columns that a user names, by name or by index."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np

from tamis._typing import BoolArray


def column_mask(
    wanted: Iterable[Any] | None, parameter: str, n_features: int, names: Any = None
) -> BoolArray:
    """The mask of the columns that a parameter lists, by name or by index from 0.

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
            found = np.asarray(names) == column
            if not found.any():
                raise ValueError(
                    f"{parameter} lists the column {column!r}, but X has no column of that name."
                )
            mask |= found
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
