"""Parquet and Feather (Arrow IPC): read batch by batch into one array."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis.columns import BLOCK_SIZE
from tamis.io._libraries import need
from tamis.io._rows import row_values
from tamis.io._table import (
    Table,
    make_table,
    refuse_missing_columns,
    refuse_text,
    set_aside,
)


def read_arrow(
    path: Path, *, format: str, labels: str | None, ids: str | None, key: str | None
) -> Table:
    """Read Parquet by row groups, Feather by record batches; only one batch is held beside X."""
    if format == "parquet":
        file = need("pyarrow.parquet", "arrow").ParquetFile(path, buffer_size=1 << 20)
        with file:
            batches = _parquet_batches(file)
            return _assemble(
                path, format, file.schema_arrow, file.metadata.num_rows, batches, labels, ids
            )
    pyarrow = need("pyarrow", "arrow")
    with pyarrow.memory_map(str(path)) as source:
        file = pyarrow.ipc.open_file(source)
        lengths = [file.get_batch(i).num_rows for i in range(file.num_record_batches)]
        batches = (file.get_batch(i) for i in range(file.num_record_batches))
        return _assemble(path, format, file.schema, sum(lengths), batches, labels, ids)


def _parquet_batches(file: Any) -> Iterator[Any]:
    n_columns = max(1, len(file.schema_arrow.names))
    return iter(file.iter_batches(batch_size=max(1, BLOCK_SIZE // n_columns), use_threads=False))


def _assemble(
    path: Path,
    format: str,
    schema: Any,
    n_samples: int,
    batches: Iterator[Any],
    labels: str | None,
    ids: str | None,
) -> Table:
    names, notes = schema.names, []
    index = [c for c in (schema.pandas_metadata or {}).get("index_columns", []) if c in names]
    if ids is None and len(index) == 1 and index[0] != labels:
        ids = index[0]
        notes.append(f"The index of the pandas frame, {ids!r}, is taken as row ids.")
    features, label, id_column = set_aside(path, names, labels, ids)
    types = [_numpy_type(schema.types[j]) for j in features]
    text = {
        names[j]: f"of type {schema.types[j]}"
        for j, kind in zip(features, types, strict=True)
        if kind is None
    }
    refuse_text(path, text)
    dtype = np.result_type(*types) if types else np.dtype(np.float64)
    X = np.empty((n_samples, len(features)), dtype=dtype)
    beside: dict[int, list[Any]] = {j: [] for j in (label, id_column) if j is not None}
    missing = np.zeros(len(features), dtype=bool)
    n_missing = start = 0
    for batch in batches:
        stop = start + batch.num_rows
        absent = np.zeros(batch.num_rows, dtype=bool)
        for k, j in enumerate(features):
            column = batch.column(j)
            if column.null_count:
                missing[k] = True
                absent |= column.is_null().to_numpy(zero_copy_only=False)
            else:
                X[start:stop, k] = column.to_numpy(zero_copy_only=False)
        for j, values in beside.items():
            values += batch.column(j).to_pylist()
        n_missing += int(np.count_nonzero(absent))
        start = stop
    feature_names = [names[j] for j in features]
    refuse_missing_columns(path, np.flatnonzero(missing), feature_names, n_missing, n_samples)
    return make_table(
        path,
        format,
        X,
        feature_names,
        labels=None if label is None else row_values(beside[label]),
        ids=None if id_column is None else row_values(beside[id_column]),
        labels_name=labels,
        ids_name=ids,
        notes=notes,
    )


def _numpy_type(arrow_type: Any) -> Any:
    """The numpy type of a numeric Arrow column, or None."""
    types = need("pyarrow.types", "arrow")
    if types.is_decimal(arrow_type):
        return np.dtype(np.float64)
    if (
        types.is_boolean(arrow_type)
        or types.is_integer(arrow_type)
        or types.is_floating(arrow_type)
    ):
        return np.dtype(arrow_type.to_pandas_dtype())
    return None


def write_arrow(table: Table, path: Path, *, format: str) -> None:
    """Write ids, labels and features as columns."""
    pyarrow = need("pyarrow", "arrow")
    X = table.X.tocsc() if sp.issparse(table.X) else table.X
    arrays, names = [], []
    for name, values in table.beside():
        arrays.append(pyarrow.array(values.tolist()))
        names.append(name)
    for j, name in enumerate(table.feature_names):
        column = X[:, [j]].toarray().ravel() if sp.issparse(X) else np.ascontiguousarray(X[:, j])
        arrays.append(pyarrow.array(column))
        names.append(str(name))
    frame = pyarrow.Table.from_arrays(arrays, names=names)
    if format == "parquet":
        need("pyarrow.parquet", "arrow").write_table(frame, path)
    else:
        need("pyarrow.feather", "arrow").write_feather(frame, str(path))
