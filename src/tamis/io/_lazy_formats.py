"""The files of a table that is read in blocks, by format; NPY, Zarr and h5ad by rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis._typing import FloatArray
from tamis.io._anndata import names_of_var, opened_tree
from tamis.io._errors import TableError
from tamis.io._lazy import Part, Piece, pieces_of_rows
from tamis.io._lazy_columns import ArrowPart, CsvPart, ParquetPart

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
