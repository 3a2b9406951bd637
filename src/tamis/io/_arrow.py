"""Parquet and Feather (Arrow IPC): read batch by batch into one array."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis._typing import FloatArray
from tamis.io._header import name_columns
from tamis.io._libraries import need
from tamis.io._origin import Origin, objects
from tamis.io._rows import row_values
from tamis.io._table import (
    Table,
    make_table,
    refuse_missing_columns,
    refuse_text,
    set_aside,
    spaces_note,
)
from tamis.io._values import column, texts
from tamis.utils.messages import describe_columns

# Numbers that are decoded at once, beside the table itself.
_PART_SIZE = 1 << 20


def read_arrow(
    path: Path, *, format: str, labels: str | None, ids: str | None, key: str | None
) -> Table:
    """Read Parquet by parts of row groups, Feather by batches; X is held once, and one part."""
    if format == "parquet":
        with need("pyarrow.parquet", "arrow").ParquetFile(path) as file:
            n_samples = file.metadata.num_rows
            return _assemble(
                path, format, file.schema_arrow, n_samples, _parquet(file), labels, ids
            )
    pyarrow = need("pyarrow", "arrow")
    with pyarrow.memory_map(str(path)) as source:
        file = pyarrow.ipc.open_file(source)
        return _assemble(
            path, format, file.schema, _feather_rows(pyarrow, source), _feather(file), labels, ids
        )


def _parquet(file: Any) -> Iterator[tuple[int, Any]]:
    """Parts of row groups, a few columns at a time, with the row at which each starts."""
    names = file.schema_arrow.names
    start = 0
    for group in range(file.num_row_groups):
        n_rows = file.metadata.row_group(group).num_rows
        width = max(1, _PART_SIZE // max(1, n_rows))
        for first in range(0, len(names), width):
            part = names[first : first + width]
            yield start, file.read_row_group(group, columns=part, use_threads=False)
        start += n_rows


def _feather(file: Any) -> Iterator[tuple[int, Any]]:
    start = 0
    for i in range(file.num_record_batches):
        batch = file.get_batch(i)
        yield start, batch
        start += batch.num_rows


def _feather_rows(pyarrow: Any, source: Any) -> int:
    """The number of rows, which only the batches tell: one column of each is enough."""
    options = pyarrow.ipc.IpcReadOptions(included_fields=[0])
    file = pyarrow.ipc.open_file(source, options=options)
    return sum(file.get_batch(i).num_rows for i in range(file.num_record_batches))


def _assemble(
    path: Path,
    format: str,
    schema: Any,
    n_samples: int,
    parts: Iterator[tuple[int, Any]],
    labels: str | None,
    ids: str | None,
) -> Table:
    # Both are built anew at every access.
    names, arrow_types = schema.names, schema.types
    notes = []
    index = [c for c in (schema.pandas_metadata or {}).get("index_columns", []) if c in names]
    if ids is None and len(index) == 1 and index[0] != labels:
        ids = index[0]
        notes.append(f"The index of the pandas frame, {ids!r}, is taken as row ids.")
    elif ids is None and names[:1] != [labels]:
        _, ids, more = name_columns(names[:1], None)
        notes += more
    features, label, id_column = set_aside(path, names, labels, ids)
    label_name = None if label is None else names[label]
    id_name = None if id_column is None else names[id_column]
    notes += [*spaces_note(labels, label_name, "labels"), *spaces_note(ids, id_name, "ids")]
    types = [_numpy_type(arrow_types[j]) for j in features]
    text = {
        names[j]: f"of type {arrow_types[j]}"
        for j, kind in zip(features, types, strict=True)
        if kind is None
    }
    refuse_text(path, text)
    dtype = np.result_type(*types) if types else np.dtype(np.float64)
    X = np.empty((n_samples, len(features)), dtype=dtype)
    beside: dict[str, list[Any]] = {name: [] for name in (label_name, id_name) if name is not None}
    place = {names[j]: k for k, j in enumerate(features)}
    missing = np.zeros(len(features), dtype=bool)
    incomplete = np.zeros(n_samples, dtype=bool)
    for start, part in parts:
        rows = slice(start, start + part.num_rows)
        for name, values in zip(part.schema.names, part.columns, strict=True):
            if name not in place:
                beside[name] += values.to_pylist()
            elif values.null_count:
                missing[place[name]] = True
                incomplete[rows] |= values.is_null().to_numpy(zero_copy_only=False)
            else:
                X[rows, place[name]] = values.to_numpy(zero_copy_only=False)
    feature_names = [names[j] for j in features]
    n_incomplete = int(np.count_nonzero(incomplete))
    refuse_missing_columns(path, np.flatnonzero(missing), feature_names, n_incomplete, n_samples)
    return make_table(
        path,
        format,
        X,
        feature_names,
        labels=None if label_name is None else row_values(beside[label_name]),
        ids=None if id_name is None else row_values(beside[id_name]),
        labels_name=label_name,
        ids_name=id_name,
        notes=notes,
        origin=Origin.of(path, format, features, id_column, label, None),
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


def _array(pyarrow: Any, values: FloatArray) -> Any:
    """An Arrow column; of values that have no common type, as text."""
    if values.dtype != object:
        return pyarrow.array(values)
    try:
        return pyarrow.array(values.tolist())
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError):
        return pyarrow.array(texts(values))


def _batches(origin: Origin, columns: Sequence[int]) -> Iterator[Any]:
    """Record batches of some columns of a file, in the order given."""
    if origin.format == "parquet":
        with need("pyarrow.parquet", "arrow").ParquetFile(origin.path) as file:
            schema = file.schema_arrow
            names = [schema.names[j] for j in columns]
            size = max(1, _PART_SIZE // max(1, len(names)))
            for batch in file.iter_batches(size, columns=names, use_threads=False):
                yield batch.select(names).replace_schema_metadata(schema.metadata)
        return
    pyarrow = need("pyarrow", "arrow")
    with pyarrow.memory_map(str(origin.path)) as source:
        file = pyarrow.ipc.open_file(source)
        for i in range(file.num_record_batches):
            batch = file.get_batch(i)
            yield batch.select(list(columns)).replace_schema_metadata(file.schema.metadata)


def copy_arrow(origin: Origin, path: Path, columns: Sequence[int], *, format: str) -> None:
    """Write some columns of a Parquet or Feather file, of the types that they have there."""
    pyarrow = need("pyarrow", "arrow")
    batches = _batches(origin, columns)
    if format == "feather":
        frame = pyarrow.Table.from_batches(list(batches))
        need("pyarrow.feather", "arrow").write_feather(frame, str(path))
        return
    first = next(batches)  # a table has at least one row
    with need("pyarrow.parquet", "arrow").ParquetWriter(path, first.schema) as writer:
        writer.write_batch(first)
        for batch in batches:
            writer.write_batch(batch)


def typed_arrow(origin: Origin, columns: Sequence[int]) -> list[FloatArray]:
    """Some columns of a file as arrays; those that numpy has no type for, as objects."""
    frame = need("pyarrow", "arrow").Table.from_batches(list(_batches(origin, columns)))
    types = need("pyarrow.types", "arrow")
    arrays = []
    for values in frame.columns:
        plain = _numpy_type(values.type) is not None and not types.is_decimal(values.type)
        if plain and not values.null_count:
            arrays.append(values.to_numpy())
        else:
            arrays.append(objects(values.to_pylist()))
    return arrays


def write_arrow(table: Table, path: Path, *, format: str) -> None:
    """Write ids, labels and features as columns."""
    pyarrow = need("pyarrow", "arrow")
    X = table.X.tocsc() if sp.issparse(table.X) else table.X
    arrays, names = [], []
    for name, values in table.beside():
        arrays.append(_array(pyarrow, values))
        names.append(name)
    for j, name in enumerate(table.feature_names):
        arrays.append(_array(pyarrow, column(X, j)))
        names.append(str(name))
    frame = pyarrow.Table.from_arrays(arrays, names=names)
    if format == "parquet":
        need("pyarrow.parquet", "arrow").write_table(frame, path)
    else:
        need("pyarrow.feather", "arrow").write_feather(frame, str(path))


def arrow_columns(
    path: Path, format: str
) -> tuple[list[str], list[FloatArray], str | None, list[str]]:
    """Names and arrays of all columns, the index of the pandas frame, and what was decided."""
    pyarrow = need("pyarrow", "arrow")
    if format == "parquet":
        with need("pyarrow.parquet", "arrow").ParquetFile(path) as file:
            frame = file.read(use_threads=False)
    else:
        with pyarrow.memory_map(str(path)) as source:
            frame = pyarrow.ipc.open_file(source).read_all()
    names, notes = frame.schema.names, []
    index = [c for c in (frame.schema.pandas_metadata or {}).get("index_columns", []) if c in names]
    if len(index) == 1:
        notes.append(f"The index of the pandas frame, {index[0]!r}, is taken as row ids.")
    arrays = []
    other: list[int] = []
    for j, values in enumerate(frame.columns):
        array = _mixed_array(pyarrow, values)
        if array is None:
            other.append(j)
            array = objects([None if v is None else str(v) for v in values.to_pylist()])
        arrays.append(array)
    if other:
        notes.append(
            f"Neither numbers, text nor dates in {describe_columns(other, names)}: read as text."
        )
    return names, arrays, index[0] if len(index) == 1 else None, notes


def _mixed_array(pyarrow: Any, values: Any) -> FloatArray | None:
    """A column as an array of its own kind, gaps as NaN, NaT or None; None for other kinds."""
    types = need("pyarrow.types", "arrow")
    if types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    kind = values.type
    dtype = _numpy_type(kind)
    if dtype is not None and dtype != np.dtype(bool):
        dtype = (
            np.dtype(np.float64) if values.null_count or dtype == np.dtype(np.float16) else dtype
        )
        if types.is_decimal(kind):
            values = values.cast(pyarrow.float64())
        array: FloatArray = values.to_numpy().astype(dtype, copy=False)
        return array
    if dtype == np.dtype(bool) and not values.null_count:
        return np.asarray(values.to_numpy(), dtype=bool)
    if types.is_timestamp(kind) or types.is_date(kind):
        try:
            return np.asarray(values.cast(pyarrow.timestamp("us")).to_numpy(), "datetime64[us]")
        except pyarrow.ArrowInvalid:  # beyond the years that microseconds reach
            return None
    text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    if not (text or dtype == np.dtype(bool) or types.is_null(kind)):
        return None
    cells = (None if v is None else str(v).strip() for v in values.to_pylist())
    return objects([cell or None for cell in cells])


def only_numbers(path: Path, format: str, aside: set[str | None]) -> bool:
    """Whether all columns but those set aside are declared as numbers, and none as truth values."""
    if format == "parquet":
        schema = need("pyarrow.parquet", "arrow").read_schema(path)
    else:
        pyarrow = need("pyarrow", "arrow")
        with pyarrow.memory_map(str(path)) as source:
            schema = pyarrow.ipc.open_file(source).schema
    index = [
        c for c in (schema.pandas_metadata or {}).get("index_columns", ()) if c in schema.names
    ]
    types = [
        _numpy_type(kind)
        for name, kind in zip(schema.names, schema.types, strict=True)
        if name not in aside and name not in index
    ]
    return all(kind is not None and kind != np.dtype(bool) for kind in types)
