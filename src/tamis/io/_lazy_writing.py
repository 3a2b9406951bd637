"""Columns of a table that is read in blocks, written block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tamis._typing import FloatArray
from tamis.io._encoding import open_text
from tamis.io._errors import TableError, close_matches
from tamis.io._formats import FORMATS, Format, format_of
from tamis.io._lazy import LazyTable
from tamis.io._libraries import need
from tamis.io._origin import objects
from tamis.io._table import Table
from tamis.io._text_writing import delimited_writer, header_needs_quotes
from tamis.io._values import MixedColumns, cells_of
from tamis.utils.messages import describe_columns
from tamis.utils.progress import progress

__all__ = ["check_writable_in_blocks", "write_lazy_columns"]

# Takes the cells of one block.
Writer = Callable[[Any], object]
# Small blocks are written together, up to so many rows and to this share of the memory.
ROWS_OF_A_GROUP = 1 << 16
SHARE_OF_GROUP = 1 / 16


def write_lazy_columns(
    table: LazyTable, names: Sequence[str], path: Path, chosen: Format, target: Path
) -> None:
    """Write some columns, with no more than one block of them in memory.

    Parameters
    ----------
    table : LazyTable
    names : sequence of str
        Of all columns of the files, in the order to write them.
    path : Path
        Written to.
    chosen : Format
    target : Path
        What messages call the file.
    """
    _refuse_unwritable(chosen, target)
    for name in names:
        if name not in table.all_names:
            raise TableError(
                f"{target}: there is no column {name!r} to write; "
                f"{close_matches(name, table.all_names)}"
            )
    text = chosen.name in ("csv", "tsv")
    with _WRITERS[chosen.name](table, names, path) as write:
        blocks = table.cells(names, text=text)
        for _, cells in progress(blocks, len(table.blocks), "writing", table.verbose):
            write(cells)


def check_writable_in_blocks(path: Path, format: str | None = None) -> None:
    """Refuse a file of a format that :func:`write_columns` does not write in blocks.

    Parameters
    ----------
    path : Path
    format : str or None, default=None
        A name of :func:`formats`; None goes by the extension.
    """
    _refuse_unwritable(format_of(path, format), path)


def _refuse_unwritable(chosen: Format, target: Path) -> None:
    """Refuse a format that is not written in blocks."""
    if chosen.name not in _WRITERS:
        known = ", ".join(FORMATS[name].title for name in _WRITERS)
        raise TableError(
            f"{target}: {chosen.title} files are not written in blocks of rows; these are: {known}."
        )


@contextmanager
def _text(table: LazyTable, names: Sequence[str], path: Path, separator: str) -> Iterator[Writer]:
    with open_text(path, "w") as file:
        quote = header_needs_quotes(list(names))
        delimited_writer(file, separator, [], quote=quote).writerow(names)
        writer = delimited_writer(file, separator, [])

        def write(cells: Any) -> None:
            columns = MixedColumns(_columns(cells))
            block = Table(X=columns, feature_names=np.array(names, dtype=object))
            writer.writerows(cells_of(block, short=True))

        yield write


@contextmanager
def _parquet(table: LazyTable, names: Sequence[str], path: Path) -> Iterator[Writer]:
    schema = _schema(table, names)
    parquet = need("pyarrow.parquet", "arrow")
    with (
        parquet.ParquetWriter(path, schema) as writer,
        _gathered(writer.write_table, table.memory) as write,
    ):
        yield lambda cells: write(_arrow(cells, schema))


@contextmanager
def _feather(table: LazyTable, names: Sequence[str], path: Path) -> Iterator[Writer]:
    ipc, schema = need("pyarrow.ipc", "arrow"), _schema(table, names)
    options = ipc.IpcWriteOptions(compression="lz4")
    with (
        ipc.new_file(str(path), schema, options=options) as writer,
        _gathered(writer.write_table, table.memory) as write,
    ):
        yield lambda cells: write(_arrow(cells, schema))


@contextmanager
def _gathered(write: Writer, memory: int) -> Iterator[Writer]:
    """Small blocks are written together, so that the file has no more groups than it needs."""
    n_bytes = memory * SHARE_OF_GROUP
    pyarrow = need("pyarrow", "arrow")
    held: list[Any] = []

    def flush() -> None:
        if held:
            write(pyarrow.concat_tables(held).combine_chunks())
            held.clear()

    def take(cells: Any) -> None:
        held.append(cells)
        full = sum(map(len, held)) >= ROWS_OF_A_GROUP
        if full or sum(some.nbytes for some in held) >= n_bytes:
            flush()

    yield take
    flush()


@contextmanager
def _npy(table: LazyTable, names: Sequence[str], path: Path) -> Iterator[Writer]:
    columns = list(map(table.all_names.index, names))
    kinds = [part.kinds[j] for part in table.parts for j in columns]
    strangers = [j for j in columns if any(isinstance(part.kinds[j], str) for part in table.parts)]
    if strangers:
        raise TableError(
            f"{path.name}: NPY holds numbers only, and there are none in "
            f"{describe_columns(strangers, table.all_names)}; write CSV or Parquet."
        )
    dtype = np.result_type(*kinds)
    header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False}
    with path.open("wb") as file:
        shape = table.shape[0], len(names)
        np.lib.format.write_array_header_1_0(file, {**header, "shape": shape})

        def write(cells: Any) -> None:
            rows = np.empty((len(cells), len(names)), dtype=dtype)
            for j, values in enumerate(_columns(cells)):
                rows[:, j] = values
            rows.tofile(file)

        yield write


def _columns(cells: Any) -> list[FloatArray]:
    """The columns of a block as arrays; of what numpy has no type for, of objects."""
    if isinstance(cells, np.ndarray):
        return list(cells.T)
    return [
        values.to_numpy()
        if _is_number(values.type) and not values.null_count
        else objects(values.to_pylist())
        for values in cells.columns
    ]


def _is_number(kind: Any) -> bool:
    types = need("pyarrow.types", "arrow")
    return types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind)


def _arrow(cells: Any, schema: Any) -> Any:
    """The cells of a block as a table of Arrow, of the types that hold those of all files."""
    if isinstance(cells, np.ndarray):
        pyarrow = need("pyarrow", "arrow")
        arrays = [pyarrow.array(np.ascontiguousarray(column)) for column in cells.T]
        return pyarrow.Table.from_arrays(arrays, schema=schema)
    return cells.replace_schema_metadata(None).cast(schema)


def _schema(table: LazyTable, names: Sequence[str]) -> Any:
    """The names and types of some columns, such as hold those of all files."""
    pyarrow = need("pyarrow", "arrow")
    columns = list(map(table.all_names.index, names))
    found = []
    for part in table.parts:
        types = part.types(columns)
        found.append(pyarrow.schema(list(zip(names, types, strict=True))))
    try:
        return pyarrow.unify_schemas(found, promote_options="permissive")
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError) as error:
        reason = " ".join(str(error).split())
        raise TableError(
            f"{table.name}: the files keep a column by types that no type holds ({reason[:200]}); "
            "write them alike."
        ) from error


_WRITERS: Mapping[
    str, Callable[[LazyTable, Sequence[str], Path], AbstractContextManager[Writer]]
] = {
    "csv": partial(_text, separator=","),
    "tsv": partial(_text, separator="\t"),
    "parquet": _parquet,
    "feather": _feather,
    "npy": _npy,
}
