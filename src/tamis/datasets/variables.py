"""Which variable of a file is the table, and which the classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._typing import Matrix
from tamis.datasets.records import DatasetError, Entry, Raw
from tamis.io import LABEL_NAMES, TABLE_NAMES
from tamis.utils.sparse import is_sparse

__all__ = ["table_and_classes"]


def table_and_classes(variables: Mapping[str, Any], entry: Entry | None) -> Raw:
    """Pick the table and the classes among the named variables of a file.

    Usual names come first (X, fea, data; Y, gnd, label, target). With an entry, a variable of the
    right shape, or number of classes, is preferred to one with the right name alone. A table
    stored features × samples is turned, classes stored as one-hot rows are read.
    """
    tables = [
        (name, table)
        for name, value in variables.items()
        for table in _tables(value)
        if min(table.shape) > 1 or name.lower() in TABLE_NAMES
    ]
    tables.sort(key=lambda named: _rank(named[0], TABLE_NAMES))
    if entry is not None:
        wanted = (entry.n_samples, entry.n_features)
        tables.sort(key=lambda named: named[1].shape not in (wanted, wanted[::-1]))
    found = ", ".join(variables) or "nothing"
    if not tables:
        raise DatasetError(f"it holds no table of numbers (found {found}); name it X")
    table_name, X = tables[0]
    known_shape = entry is not None and X.shape in (wanted, wanted[::-1])
    if not known_shape and table_name.lower() not in TABLE_NAMES and len(tables) > 1:
        raise DatasetError(f"it is unclear which variable is the table (found {found}); name it X")

    others = {name: value for name, value in variables.items() if name != table_name}
    y = _classes(others, X.shape, entry)
    if y is None:
        raise DatasetError(
            f"it holds no classes for the {X.shape[0]} rows or {X.shape[1]} columns of "
            f"{table_name} (found {found}); name them y"
        )
    turned = X.shape[0] != y.size or (
        entry is not None and X.shape != wanted and X.shape == wanted[::-1]
    )
    return Raw(X.T if turned else X, y)


def _rank(name: str, usual: tuple[str, ...]) -> int:
    return usual.index(name.lower()) if name.lower() in usual else len(usual)


def _tables(value: Any) -> Iterator[Matrix]:
    """The matrices of numbers in a variable, those in the cells of a cell array included."""
    if is_sparse(value):
        yield value
    elif isinstance(value, np.ndarray) and value.dtype == object:
        for cell in value.flat:
            yield from _tables(cell)
    elif isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype.kind in "buif":
        yield value


def _classes(
    variables: Mapping[str, Any], shape: tuple[int, int], entry: Entry | None
) -> NDArray[Any] | None:
    candidates = []
    for name, value in variables.items():
        labels = _label_vector(value, shape)
        if labels is not None:
            right_number = entry is not None and np.unique(labels).size == entry.n_classes
            rank = _rank(name, LABEL_NAMES)
            if right_number or rank < len(LABEL_NAMES):
                candidates.append((not right_number, rank, name, labels))
    return min(candidates, key=lambda found: found[:3])[3] if candidates else None


def _label_vector(value: Any, lengths: tuple[int, int]) -> NDArray[Any] | None:
    """A variable as one label per sample, or None if it cannot be that."""
    if is_sparse(value) and value.shape[0] * value.shape[1] < 50 * max(lengths):
        value = value.toarray()
    if isinstance(value, np.ndarray) and value.dtype == object and value.size in lengths:
        cells = [np.asarray(cell) for cell in value.flat]  # a cell array of names?
        if all(cell.size == 1 and cell.dtype.kind == "U" for cell in cells):
            value = np.array([cell.item() for cell in cells])
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "buifSU":
        return None
    if value.size == max(value.shape, default=0):
        return value.ravel() if value.size in lengths else None
    if value.ndim != 2 or value.dtype.kind not in "buif" or not np.isin(value, (0, 1)).all():
        return None
    for one_hot in (value, value.T):
        if one_hot.shape[0] in lengths and (one_hot.sum(axis=1) == 1).all():
            return one_hot.argmax(axis=1)
    return None
