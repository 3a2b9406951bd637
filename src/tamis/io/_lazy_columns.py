"""The files of a table in blocks that are read by columns: Parquet, Arrow, CSV."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from tamis._typing import FloatArray
from tamis.io._errors import TableError
from tamis.io._lazy import Part, Piece, piece_sizes, pieces_of_rows
from tamis.io._libraries import need

__all__ = ["ArrowPart", "CsvPart", "ParquetPart"]


class ColumnarPart(Part):
    """A file that pyarrow reads, as record batches cut into pieces."""

    #: The names of all columns, also of those that the file has none for.
    own_names: list[str]

    @abstractmethod
    def _batches(
        self, most_rows: int, first: int, names: Sequence[str], text: bool = False
    ) -> Iterator[list[Any]]:
        """The record batches of each piece from the `first` on."""

    def read(
        self, most_rows: int, first: int, columns: Sequence[int], dtype: Any
    ) -> Iterator[FloatArray]:
        names = [self.own_names[j] for j in columns]
        for batches in self._batches(most_rows, first, names):
            rows = np.empty((sum(map(len, batches)), len(names)), dtype=dtype, order="F")
            filled = 0
            for batch in batches:
                for j, name in enumerate(names):
                    rows[filled : filled + len(batch), j] = _numbers(batch.column(name))
                filled += len(batch)
            yield rows

    def cells(self, most_rows: int, columns: Sequence[int], *, text: bool = False) -> Iterator[Any]:
        names = [self.own_names[j] for j in columns]
        tables = need("pyarrow", "arrow").Table
        for batches in self._batches(most_rows, 0, names, text):
            yield tables.from_batches(batches).select(names)


class _TypedPart(ColumnarPart):
    """A file that tells the types of its columns."""

    _types: list[Any]

    def types(self, columns: Sequence[int]) -> list[Any]:
        return [self._types[j] for j in columns]


class ParquetPart(_TypedPart):
    """A Parquet file, read one row group after the other, in pieces where a group is large."""

    def __init__(self, path: Path, key: str | None = None) -> None:
        self.path = path
        with self._opened() as file:
            schema, metadata = file.schema_arrow, file.metadata
            self._groups = [metadata.row_group(g).num_rows for g in range(metadata.num_row_groups)]
        self.n_rows = sum(self._groups)
        self.names, self._types = list(schema.names), list(schema.types)
        self.own_names, self.kinds = self.names, list(map(_arrow_kind, self._types))

    def _opened(self) -> Any:
        # Without a buffer ahead, no more than the columns' pages of one piece are held.
        return need("pyarrow.parquet", "arrow").ParquetFile(self.path, pre_buffer=False)

    def pieces(self, most_rows: int) -> list[Piece]:
        return [
            Piece(f"row group {group}", size)
            for group, n_rows in enumerate(self._groups)
            for size in piece_sizes(n_rows, most_rows)
        ]

    def _batches(
        self, most_rows: int, first: int, names: Sequence[str], text: bool = False
    ) -> Iterator[list[Any]]:
        before = 0
        with self._opened() as file:
            for group, n_rows in enumerate(self._groups):
                sizes = piece_sizes(n_rows, most_rows)
                skipped = min(max(0, first - before), len(sizes))
                before += len(sizes)
                if skipped == len(sizes):
                    continue
                batches = file.iter_batches(
                    batch_size=max(sizes),
                    row_groups=[group],
                    columns=list(names),
                    use_threads=False,
                )
                yield from islice(_of_sizes(batches, sizes), skipped, None)


class ArrowPart(_TypedPart):
    """An Arrow file (Feather), read one record batch after the other."""

    def __init__(self, path: Path, key: str | None = None) -> None:
        self.path = path
        pyarrow = need("pyarrow", "arrow")
        options = pyarrow.ipc.IpcReadOptions(included_fields=[0])
        with pyarrow.OSFile(str(path)) as source:
            schema = pyarrow.ipc.open_file(source).schema
            file = pyarrow.ipc.open_file(source, options=options)
            self._sizes = [file.get_batch(i).num_rows for i in range(file.num_record_batches)]
        self.n_rows = sum(self._sizes)
        self.names, self._types = list(schema.names), list(schema.types)
        self.own_names, self.kinds = self.names, list(map(_arrow_kind, self._types))

    def pieces(self, most_rows: int) -> list[Piece]:
        return [
            Piece(f"record batch {number}", size)
            for number, n_rows in enumerate(self._sizes)
            for size in piece_sizes(n_rows, most_rows)
        ]

    def _batches(
        self, most_rows: int, first: int, names: Sequence[str], text: bool = False
    ) -> Iterator[list[Any]]:
        pyarrow = need("pyarrow", "arrow")
        options = pyarrow.ipc.IpcReadOptions(
            included_fields=sorted(map(self.own_names.index, names))
        )
        before = 0
        with pyarrow.OSFile(str(self.path)) as source:
            file = pyarrow.ipc.open_file(source, options=options)
            for number, n_rows in enumerate(self._sizes):
                sizes = piece_sizes(n_rows, most_rows)
                skipped = min(max(0, first - before), len(sizes))
                before += len(sizes)
                if skipped < len(sizes):
                    batches = iter([file.get_batch(number)])
                    yield from islice(_of_sizes(batches, sizes), skipped, None)


def _of_sizes(batches: Iterator[Any], sizes: Sequence[int]) -> Iterator[list[Any]]:
    """Record batches cut into pieces of the given numbers of rows."""
    held: list[Any] = []
    for size in sizes:
        piece: list[Any] = []
        left = size
        while left:
            if not held:
                batch = next(batches, None)
                if batch is None:
                    raise ValueError("the rows end too early")
                held.append(batch)
            batch = held.pop()
            piece.append(batch.slice(0, left))
            if len(batch) > left:
                held.append(batch.slice(left))
            left -= len(piece[-1])
        yield piece


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


class CsvPart(ColumnarPart):
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
        self.own_names = list(schema.names)
        self.names = self.own_names if self._has_names else None
        self._options = {
            name: "float64"
            for name, kind in zip(self.own_names, self.kinds, strict=True)
            if not isinstance(kind, str)
        }
        with self._opened(csv, [self.own_names[0]]) as reader:
            self.n_rows = sum(batch.num_rows for batch in reader)

    def _opened(self, csv: Any, columns: Sequence[str] = (), text: bool = False) -> Any:
        pyarrow = need("pyarrow", "arrow")
        types = {name: pyarrow.type_for_alias(kind) for name, kind in self._options.items()}
        if self._options:  # what is no number is read as it is written
            others = columns if text else [name for name in columns if name not in types]
            types |= dict.fromkeys(others, pyarrow.string())
        missing = ["", "NA", "NaN", "nan", "N/A", "null", "NULL", "?"]
        return csv.open_csv(
            self.path,
            read_options=csv.ReadOptions(
                autogenerate_column_names=not self._has_names, use_threads=False
            ),
            parse_options=csv.ParseOptions(delimiter=self._separator),
            convert_options=csv.ConvertOptions(
                column_types=types, include_columns=list(columns), null_values=missing
            ),
        )

    def types(self, columns: Sequence[int]) -> list[Any]:
        pyarrow = need("pyarrow", "arrow")
        return [
            pyarrow.type_for_alias(self._options.get(self.own_names[j], "string")) for j in columns
        ]

    def pieces(self, most_rows: int) -> list[Piece]:
        return pieces_of_rows(self.n_rows, most_rows)

    def _batches(
        self, most_rows: int, first: int, names: Sequence[str], text: bool = False
    ) -> Iterator[list[Any]]:
        sizes = [piece.n_rows for piece in self.pieces(most_rows)]
        with self._opened(need("pyarrow.csv", "arrow"), names, text) as reader:
            yield from islice(_of_sizes(iter(reader), sizes), first, None)


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
