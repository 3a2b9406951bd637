"""The files of a table that is read in blocks: NPY, Parquet, Arrow, CSV, Zarr, h5ad."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis._typing import FloatArray
from tamis.io._anndata import names_of_var, opened_tree
from tamis.io._errors import TableError
from tamis.io._lazy import Part, Piece, piece_sizes, pieces_of_rows
from tamis.io._libraries import need

__all__ = ["LAZY_FORMATS"]


class NpyPart(Part):
    """An NPY file, read by plain reads: a file that is cut while it is mapped ends the process."""

    def __init__(self, path: Path, key: str | None = None) -> None:
        self.path, self.names = path, None
        with path.open("rb") as file:
            version = np.lib.format.read_magic(file)
            read = np.lib.format.read_array_header_1_0
            if version != (1, 0):
                read = np.lib.format.read_array_header_2_0
            shape, self._by_column, self._type = read(file)
            self._start = file.tell()
        if len(shape) != 2:
            raise TableError(f"{path}: an array of {len(shape)} dimensions is no table.")
        self.n_rows, n_columns = shape
        self.kinds = [self._type if self._type.kind in "fiub" else "objects or text"] * n_columns
        whole = self._start + self.n_rows * n_columns * self._type.itemsize
        if self._type.kind in "fiub" and path.stat().st_size < whole:
            raise TableError(
                f"{path}: the file is cut short: {path.stat().st_size:,} of {whole:,} bytes."
            )

    def pieces(self, most_rows: int) -> list[Piece]:
        return pieces_of_rows(self.n_rows, most_rows)

    def read(
        self, most_rows: int, first: int, columns: Sequence[int], dtype: Any
    ) -> Iterator[FloatArray]:
        n_columns = len(self.kinds)
        everything = list(columns) == list(range(n_columns))
        for start in range(first * most_rows, self.n_rows, most_rows):
            n_rows = min(most_rows, self.n_rows - start)
            with self.path.open("rb") as file:
                if self._by_column:
                    rows = np.empty((n_rows, len(columns)), dtype=dtype, order="F")
                    for i, j in enumerate(columns):
                        rows[:, i] = self._numbers(file, j * self.n_rows + start, n_rows)
                    yield rows
                    continue
                numbers = self._numbers(file, start * n_columns, n_rows * n_columns)
            rows = numbers.reshape(n_rows, n_columns)
            yield (rows if everything else rows[:, columns]).astype(dtype, copy=False)

    def _numbers(self, file: Any, start: int, count: int) -> FloatArray:
        file.seek(self._start + start * self._type.itemsize)
        found = np.fromfile(file, dtype=self._type, count=count)
        if len(found) < count:
            raise ValueError("the file ends too early")
        return found


class ParquetPart(Part):
    """A Parquet file, read one row group after the other, in pieces where a group is large."""

    def __init__(self, path: Path, key: str | None = None) -> None:
        self.path = path
        with self._opened() as file:
            schema, metadata = file.schema_arrow, file.metadata
            self._groups = [metadata.row_group(g).num_rows for g in range(metadata.num_row_groups)]
        self.n_rows = sum(self._groups)
        self.names, self.kinds = list(schema.names), [_arrow_kind(kind) for kind in schema.types]

    def _opened(self) -> Any:
        # Without a buffer ahead, no more than the columns' pages of one piece are held.
        return need("pyarrow.parquet", "arrow").ParquetFile(self.path, pre_buffer=False)

    def pieces(self, most_rows: int) -> list[Piece]:
        return [
            Piece(f"row group {group}", size)
            for group, n_rows in enumerate(self._groups)
            for size in piece_sizes(n_rows, most_rows)
        ]

    def read(
        self, most_rows: int, first: int, columns: Sequence[int], dtype: Any
    ) -> Iterator[FloatArray]:
        assert self.names is not None
        names = [self.names[j] for j in columns]
        before = 0
        with self._opened() as file:
            for group, n_rows in enumerate(self._groups):
                sizes = piece_sizes(n_rows, most_rows)
                skipped = min(max(0, first - before), len(sizes))
                before += len(sizes)
                if skipped == len(sizes):
                    continue
                batches = file.iter_batches(
                    batch_size=max(sizes), row_groups=[group], columns=names, use_threads=False
                )
                yield from islice(_of_sizes(batches, sizes, names, dtype), skipped, None)


class ArrowPart(Part):
    """An Arrow file (Feather), read one record batch after the other."""

    def __init__(self, path: Path, key: str | None = None) -> None:
        self.path = path
        pyarrow = need("pyarrow", "arrow")
        options = pyarrow.ipc.IpcReadOptions(included_fields=[0])
        with pyarrow.OSFile(str(path)) as source:
            schema = pyarrow.ipc.open_file(source).schema
            file = pyarrow.ipc.open_file(source, options=options)
            self._batches = [file.get_batch(i).num_rows for i in range(file.num_record_batches)]
        self.n_rows = sum(self._batches)
        self.names, self.kinds = list(schema.names), [_arrow_kind(kind) for kind in schema.types]

    def pieces(self, most_rows: int) -> list[Piece]:
        return [
            Piece(f"record batch {number}", size)
            for number, n_rows in enumerate(self._batches)
            for size in piece_sizes(n_rows, most_rows)
        ]

    def read(
        self, most_rows: int, first: int, columns: Sequence[int], dtype: Any
    ) -> Iterator[FloatArray]:
        assert self.names is not None
        names = [self.names[j] for j in columns]
        pyarrow = need("pyarrow", "arrow")
        options = pyarrow.ipc.IpcReadOptions(included_fields=sorted(columns))
        before = 0
        with pyarrow.OSFile(str(self.path)) as source:
            file = pyarrow.ipc.open_file(source, options=options)
            for number, n_rows in enumerate(self._batches):
                sizes = piece_sizes(n_rows, most_rows)
                skipped = min(max(0, first - before), len(sizes))
                before += len(sizes)
                if skipped < len(sizes):
                    batches = iter([file.get_batch(number)])
                    yield from islice(_of_sizes(batches, sizes, names, dtype), skipped, None)


def _of_sizes(
    batches: Iterator[Any], sizes: Sequence[int], names: Sequence[str], dtype: Any
) -> Iterator[FloatArray]:
    """The rows of record batches, cut into pieces of the given sizes."""
    held: list[Any] = []
    for size in sizes:
        while sum(batch.num_rows for batch in held) < size:
            batch = next(batches, None)
            if batch is None:
                raise ValueError("the rows end too early")
            held.append(batch)
        rows = np.empty((size, len(names)), dtype=dtype, order="F")
        filled = 0
        while filled < size:
            batch = held.pop(0)
            taken = min(size - filled, batch.num_rows)
            for j, name in enumerate(names):
                rows[filled : filled + taken, j] = _numbers(batch.column(name)[:taken])
            if taken < batch.num_rows:
                held.insert(0, batch.slice(taken))
            filled += taken
        yield rows


def _numbers(column: Any) -> FloatArray:
    """An Arrow column as numbers, NaN where there is none."""
    if not column.null_count:
        return column.to_numpy(zero_copy_only=False)
    pyarrow = need("pyarrow", "arrow")
    return column.cast(pyarrow.float64()).to_numpy(zero_copy_only=False)


def _arrow_kind(kind: Any) -> np.dtype[Any] | str:
    """The type of numbers that an Arrow column holds, or a word for what it holds."""
    types = need("pyarrow.types", "arrow")
    if types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind):
        return np.dtype(kind.to_pandas_dtype())
    if types.is_temporal(kind):
        return "dates or times"
    return "text" if types.is_string(kind) or types.is_large_string(kind) else f"{kind} values"


class CsvPart(Part):
    """A text file of numbers, read some megabytes at a time; the first pass counts its rows."""

    def __init__(self, path: Path, key: str | None = None) -> None:
        self.path = path
        csv = need("pyarrow.csv", "arrow")
        with path.open(encoding="utf-8", errors="replace") as file:
            head = file.readline()
        if not head.strip():
            raise TableError(f"{path}: the file is empty, or its first line is.")
        self._separator = max("\t;,", key=head.count)
        cells = [cell.strip().strip('"') for cell in head.rstrip("\r\n").split(self._separator)]
        self._has_names = not all(_is_number(cell) for cell in cells)
        self._options: dict[str, Any] = {}
        with self._opened(csv) as reader:
            schema = reader.schema
            self.kinds = [
                np.dtype(np.float64) if _is_text_of_numbers(kind) else _arrow_kind(kind)
                for kind in schema.types
            ]
        self._all_names = list(schema.names)
        self.names = self._all_names if self._has_names else None
        self._options = {
            name: "float64"
            for name, kind in zip(self._all_names, self.kinds, strict=True)
            if not isinstance(kind, str)
        }
        with self._opened(csv, [self._all_names[0]]) as reader:
            self.n_rows = sum(batch.num_rows for batch in reader)

    def _opened(self, csv: Any, columns: Sequence[str] | None = None) -> Any:
        pyarrow = need("pyarrow", "arrow")
        types = {name: pyarrow.type_for_alias(kind) for name, kind in self._options.items()}
        missing = ["", "NA", "NaN", "nan", "N/A", "null", "NULL", "?"]
        return csv.open_csv(
            self.path,
            read_options=csv.ReadOptions(
                autogenerate_column_names=not self._has_names, use_threads=False
            ),
            parse_options=csv.ParseOptions(delimiter=self._separator),
            convert_options=csv.ConvertOptions(
                column_types=types, include_columns=list(columns or ()), null_values=missing
            ),
        )

    def pieces(self, most_rows: int) -> list[Piece]:
        return pieces_of_rows(self.n_rows, most_rows)

    def read(
        self, most_rows: int, first: int, columns: Sequence[int], dtype: Any
    ) -> Iterator[FloatArray]:
        names = [self._all_names[j] for j in columns]
        sizes = [piece.n_rows for piece in self.pieces(most_rows)]
        with self._opened(need("pyarrow.csv", "arrow"), names) as reader:
            yield from islice(_of_sizes(iter(reader), sizes, names, dtype), first, None)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _is_text_of_numbers(kind: Any) -> bool:
    types = need("pyarrow.types", "arrow")
    # A column of nothing but gaps at its start may hold numbers further down.
    return types.is_integer(kind) or types.is_floating(kind) or types.is_null(kind)


class TreePart(Part):
    """The matrix of an h5ad file or a Zarr store, dense or CSR, read by rows."""

    def __init__(self, path: Path, key: str | None, format: str) -> None:
        self.path, self._format, self._key = path, format, key or "X"
        with opened_tree(path, format, "r") as tree:
            node = self._node(tree)
            kind = node.attrs.get("encoding-type", "array")
            if kind == "csc_matrix":
                raise TableError(
                    f"{path}: its matrix is kept by columns; write it by rows (CSR) to read it in "
                    "blocks."
                )
            self._is_sparse = kind == "csr_matrix"
            held = node["data"] if self._is_sparse else node
            shape = node.attrs["shape"] if self._is_sparse else node.shape
            if len(shape) != 2:
                raise TableError(f"{path}: an array of {len(shape)} dimensions is no table.")
            self.n_rows, n_columns = int(shape[0]), int(shape[1])
            dtype = np.dtype(held.dtype)
            self.names = names_of_var(path, tree)
        self.kinds = [dtype if dtype.kind in "fiub" else "objects or text"] * n_columns

    def _node(self, tree: Any) -> Any:
        if hasattr(tree, "shape"):
            return tree
        if self._key not in tree:
            raise TableError(f"{self.path}: there is no {self._key!r} in it.")
        return tree[self._key]

    def pieces(self, most_rows: int) -> list[Piece]:
        return pieces_of_rows(self.n_rows, most_rows)

    def read(
        self, most_rows: int, first: int, columns: Sequence[int], dtype: Any
    ) -> Iterator[FloatArray]:
        everything = list(columns) == list(range(len(self.kinds)))
        with opened_tree(self.path, self._format, "r") as tree:
            node = self._node(tree)
            for start in range(first * most_rows, self.n_rows, most_rows):
                stop = min(start + most_rows, self.n_rows)
                rows = self._rows(node, start, stop)
                yield (rows if everything else rows[:, columns]).astype(dtype, copy=False)

    def _rows(self, node: Any, start: int, stop: int) -> FloatArray:
        if not self._is_sparse:
            return np.asarray(node[start:stop])
        pointers = np.asarray(node["indptr"][start : stop + 1])
        held = slice(int(pointers[0]), int(pointers[-1]))
        parts = np.asarray(node["data"][held]), np.asarray(node["indices"][held])
        table = sp.csr_array(
            (*parts, pointers - pointers[0]), shape=(stop - start, len(self.kinds))
        )
        return table.toarray()


def _h5ad(path: Path, key: str | None = None) -> Part:
    return TreePart(path, key, "h5ad")


def _zarr(path: Path, key: str | None = None) -> Part:
    return TreePart(path, key, "zarr")


LAZY_FORMATS: Mapping[str, Callable[[Path, str | None], Part]] = {
    "npy": NpyPart,
    "parquet": ParquetPart,
    "feather": ArrowPart,
    "csv": CsvPart,
    "tsv": CsvPart,
    "h5ad": _h5ad,
    "zarr": _zarr,
}
