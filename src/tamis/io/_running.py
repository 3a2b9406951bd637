"""Columns that count or name the rows, and were not said to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis.utils.columns import extent
from tamis.utils.messages import describe_columns

# Of fewer rows, any numbers may go up in equal steps, or differ.
_FEWEST_ROWS = 5
_NAMES = re.compile(
    r"(?:.*[ _.-])?(?:id|ids|uid|guid)|.*[a-z]I[Dd]|index|idx"
    r"|row[ _.-]?(?:nr|no|num|number|names?)?\.?"
    r"|nr\.?|no\.?|#|unnamed: \d+",
)
# Of these even values that repeat, as in a table of several rows per person.
_ID_NAMES = re.compile(r"(?:.*[ _.-])?(?:id|ids|uid|guid)|.*[a-z]I[Dd]")


def running_number_hints(X: Any, names: Sequence[str], has_ids: bool) -> list[str]:
    """A sentence about the columns that look like running numbers or ids, if there are any.

    Where most columns look so, as in a table of ranks, none is worth a word. O(nd).
    """
    found = _running_columns(X) | _id_columns(X, names)
    if not found or 2 * len(found) > X.shape[1]:
        return []
    columns = sorted(found)
    shown = describe_columns(columns, names)
    if len(columns) == 1:
        what = "looks like a running number or an id and is taken as a feature"
        remedy = f"if it only names the rows, set it aside with ids={names[columns[0]]!r}"
        otherwise = "leave it out of the file if it is no measurement"
    else:
        what = "look like running numbers or ids and are taken as features"
        remedy = f"if one only names the rows, set it aside with ids={names[columns[0]]!r}"
        otherwise = "leave them out of the file if they are no measurements"
    return [f"{shown[0].upper()}{shown[1:]} {what}; {otherwise if has_ids else remedy}."]


def _column(X: Any, j: int) -> Any:
    return X[:, [j]].toarray().ravel() if sp.issparse(X) else X[:, j]


def _running_columns(X: Any) -> set[int]:
    """Columns that go up or down in equal steps, or hold 0 … n − 1 or 1 … n in any order."""
    n_samples, n_features = X.shape
    if n_samples < _FEWEST_ROWS:
        return set()
    if sp.issparse(X):
        candidates = np.flatnonzero(np.bincount(X.indices, minlength=n_features) >= n_samples - 1)
    else:
        steps = np.diff(X[:_FEWEST_ROWS].astype(np.float64), axis=0)
        even = (np.abs(steps - steps[0]) <= 1e-9 * np.abs(steps[0])).all(axis=0) & (steps[0] != 0)
        lowest, highest = extent(X)
        counted = ((lowest == 0) | (lowest == 1)) & (highest == lowest + n_samples - 1)
        candidates = np.flatnonzero(even | counted)
    return {int(j) for j in candidates if _is_running(_column(X, int(j)).astype(np.float64))}


def _is_running(values: Any) -> bool:
    steps = np.diff(values)
    if steps[0] != 0 and np.allclose(steps, steps[0], rtol=1e-9, atol=0):
        return True
    ordered = np.sort(values)
    start = ordered[0]
    return start in (0, 1) and np.array_equal(ordered, np.arange(start, start + len(values)))


def _id_columns(X: Any, names: Sequence[str]) -> set[int]:
    """Columns that are called as ids are, and hold whole numbers.

    Where a name may also be that of a count ("index", "no."), the numbers must differ.
    """
    if X.shape[0] < _FEWEST_ROWS:
        return set()
    found = set()
    for j, name in enumerate(names):
        if not (_NAMES.fullmatch(name.strip()) or _NAMES.fullmatch(name.strip().casefold())):
            continue
        values = _column(X, j)
        is_id = any(_ID_NAMES.fullmatch(one) for one in (name.strip(), name.strip().casefold()))
        if np.array_equal(values, np.rint(values)) and (
            is_id or len(np.unique(values)) == len(values)
        ):
            found.add(j)
    return found
