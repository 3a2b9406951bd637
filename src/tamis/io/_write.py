"""Write columns of a table, as they are in its file where that can be."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis.io._errors import TableError, TableWarning, close_matches
from tamis.io._formats import FORMATS, columns_of_var, format_of
from tamis.io._lazy import LazyTable
from tamis.io._lazy_writing import write_lazy_columns
from tamis.io._origin import Origin
from tamis.io._raw import RawTable
from tamis.io._raw_writing import columns_to_write
from tamis.io._table import Table
from tamis.io._values import MixedColumns
from tamis.io._writing import refuse_input_as_output, writing

__all__ = ["write_columns", "write_table"]


def write_table(
    table: Table,
    columns: Sequence[int] | np.ndarray[Any, Any],
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    selector: Any = None,
) -> None:
    """Write the selected columns, with ids and labels beside them; whole or not at all.

    The columns of a table that was read from a file are written as they are there: text of a text
    file in its encoding and with its separator, types of a Parquet or Excel file. Another format
    gets the types that it knows. A table whose arrays were replaced is written as it is; what was
    done to ``X`` in place is not written.

    h5ad and Zarr get a full copy instead, with ``tamis_selected`` in ``.var`` and, given the
    fitted selector, ``tamis_score`` and ``tamis_rank``.

    Parameters
    ----------
    table : Table
    columns : sequence of int
        Indices of the columns to keep, in the order to write them.
    path : path
        Never that of the table itself.
    format : str or None
        A name of :func:`formats`; None goes by the extension.
    selector : fitted selector or None
        Used by h5ad and Zarr only.
    """
    target = Path(path)
    chosen = format_of(target, format)
    refuse_input_as_output(target, table.path)
    kept = np.asarray(columns, dtype=np.intp)
    n_features = len(table.feature_names)
    if kept.ndim != 1 or not len(kept) or kept.min() < 0 or kept.max() >= n_features:
        raise TableError(
            f"{target}: columns must be indices from 0 to {n_features - 1}, at least 1."
        )
    origin = _origin(table)
    with writing(target, folder=chosen.name == "zarr") as beside:
        if chosen.keeps_all_columns:
            mask = np.zeros(n_features, dtype=bool)
            mask[kept] = True
            whole = _as_stored(table, origin, np.arange(n_features))
            chosen.write(whole, beside, format=chosen.name, var=columns_of_var(selector, mask))
        elif origin is not None and FORMATS[origin.format].copy is chosen.copy:
            assert chosen.copy is not None
            places = [*origin.beside(), *origin.features[kept].tolist()]
            chosen.copy(origin, beside, places, format=chosen.name)
        else:
            chosen.write(_as_stored(table, origin, kept), beside, format=chosen.name)


def write_columns(
    raw: RawTable | LazyTable,
    names: Sequence[str],
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
) -> None:
    """Write some columns of a table as they are in its file; whole or not at all.

    A file of the same kind gets every cell as it is there: text with its separator, decimal sign
    and encoding, Parquet and Excel with their types. Another format gets the types that it knows.
    h5ad and Zarr get a full copy of such a file instead, with ``tamis_selected`` in ``.var``.

    Parameters
    ----------
    raw : RawTable or LazyTable
        A table that is read in blocks is written in blocks, as CSV, TSV, Parquet, Feather or NPY.
    names : sequence of str
        The columns, in the order to write them.
    path : path
        Never that of the table itself.
    format : str or None
        A name of :func:`formats`; None goes by the extension.

    .. versionadded:: 0.1
    """
    target = Path(path)
    chosen = format_of(target, format)
    if not len(names):
        raise TableError(f"{target}: there is no column to write; name at least one.")
    if isinstance(raw, LazyTable):
        for part in raw.parts:
            refuse_input_as_output(target, part.path)
        with writing(target) as beside:
            write_lazy_columns(raw, names, beside, chosen, target)
        return
    refuse_input_as_output(target, raw.path)
    known = raw.names
    place = {name: j for j, name in enumerate(known)}
    for name in names:
        if name not in place:
            raise TableError(
                f"{target}: there is no column {name!r} to write; {close_matches(name, known)}"
            )
    origin = raw.origin
    if origin is not None and not origin.is_unchanged():
        warnings.warn(
            f"{raw.path}: the file is gone, or was changed since it was read: the columns are "
            "written as the values that were read.",
            TableWarning,
            stacklevel=2,
        )
        origin = None
    with writing(target, folder=chosen.name == "zarr") as beside:
        if origin is not None and chosen.copy and FORMATS[origin.format].copy is chosen.copy:
            chosen.copy(origin, beside, [place[name] for name in names], format=chosen.name)
            return
        if chosen.keeps_all_columns:
            features = [name for name in known if name not in raw.aside]
            if raw.format == chosen.name:
                whole = Table(
                    X=None,
                    feature_names=np.array(features, dtype=object),
                    path=raw.path,
                    format=raw.format,
                )
                mask = np.isin(np.array(features, dtype=object), list(names))
            else:
                whole = columns_to_write(raw, names, target, matrix=True)
                mask = np.ones(len(whole.feature_names), dtype=bool)
            chosen.write(whole, beside, format=chosen.name, var=columns_of_var(None, mask))
            return
        table = columns_to_write(raw, names, target, matrix=chosen.raw is None)
        chosen.write(table, beside, format=chosen.name)


def _origin(table: Table) -> Origin | None:
    """The file to take the columns from, unless the table is no longer what was read."""
    origin = table.origin
    if origin is None or not origin.is_of(table):
        return None
    if origin.is_unchanged():
        return origin
    said = f"{origin.path}: the file is gone, or was changed since it was read"
    if table.X is None:
        raise TableError(f"{said}; read it again.")
    warnings.warn(
        f"{said}: the columns are written as the numbers that were read.",
        TableWarning,
        stacklevel=3,
    )
    return None


def _as_stored(table: Table, origin: Origin | None, kept: np.ndarray[Any, Any]) -> Table:
    """The table with some of its columns, of the types that they have in the file."""
    names = table.feature_names[kept]
    read_typed = None if origin is None else FORMATS[origin.format].typed
    if origin is None or read_typed is None or sp.issparse(table.X):
        X = (
            table.X
            if len(kept) == table.X.shape[1] and (np.diff(kept) == 1).all()
            else table.X[:, kept]
        )
        if table.stored_dtype is not None:
            X = X.astype(table.stored_dtype)
        return replace(table, X=X, feature_names=names)
    # Ids and labels of a text file are what its cells say already.
    aside = origin.beside() if origin.format in ("parquet", "feather", "excel") else []
    values = read_typed(origin, [*aside, *origin.features[kept].tolist()])
    beside: dict[int, Any] = dict(zip(aside, values, strict=False))
    return replace(
        table,
        X=MixedColumns(values[len(aside) :]),
        feature_names=names,
        ids=table.ids if origin.ids is None else beside.get(origin.ids, table.ids),
        labels=table.labels if origin.label is None else beside.get(origin.label, table.labels),
    )
