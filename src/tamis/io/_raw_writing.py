"""Columns of mixed types as the writers of the formats take them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import time
from pathlib import Path

import numpy as np

from tamis._typing import FloatArray
from tamis.io._errors import TableError
from tamis.io._origin import objects
from tamis.io._raw import RawTable
from tamis.io._table import Table
from tamis.io._values import MixedColumns
from tamis.utils.messages import describe_columns


def columns_to_write(raw: RawTable, names: Sequence[str], path: Path, *, matrix: bool) -> Table:
    """Some columns as a table for a writer.

    Parameters
    ----------
    raw : RawTable
    names : sequence of str
    path : Path
        Of the target.
    matrix : bool
        Whether the format keeps one matrix of numbers, with ids and labels apart.
    """
    if not matrix:
        values = [cells_to_write(raw.columns[name]) for name in names]
        return Table(X=MixedColumns(values), feature_names=np.array(names, dtype=object))
    label = raw.labels_name if raw.labels_name in names else None
    ids = [name for name in names if name in raw.aside and name != label][:1]
    features = [name for name in names if name not in ids and name != label]
    text = [j for j, name in enumerate(features) if raw.columns[name].dtype.kind not in "biuf"]
    if text:
        raise TableError(
            f"{path}: this format holds numbers only, and there is text or dates in "
            f"{describe_columns(text, features)}; write CSV or Parquet, or leave them out."
        )
    X = MixedColumns([raw.columns[name] for name in features]) if features else np.empty((0, 0))
    return Table(
        X=X,
        feature_names=np.array(features, dtype=object),
        labels=None if label is None else raw.columns[label],
        ids=raw.columns[ids[0]] if ids else None,
        labels_name=label,
        ids_name=ids[0] if ids else None,
    )


def cells_to_write(values: FloatArray) -> FloatArray:
    """A column with None for what is missing; whole numbers and dates as such."""
    if values.dtype.kind == "M":
        moments = values.astype("datetime64[us]").tolist()
        if all(moment is None or moment.time() == time() for moment in moments):
            moments = [None if moment is None else moment.date() for moment in moments]
        return objects(moments)
    if values.dtype.kind != "f" or not np.isnan(values).any():
        return values
    known = values[~np.isnan(values)]
    whole = bool(np.isfinite(known).all() and (known == np.rint(known)).all())
    whole = whole and bool((np.abs(known) < 2**53).all())
    cells = (None if np.isnan(v) else int(v) if whole else v for v in values.tolist())
    return objects(list(cells))
