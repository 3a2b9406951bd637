"""MATLAB files: version 5 to 7 by scipy, version 7.3 (HDF5) by h5py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

from tamis._typing import FloatArray
from tamis.io._array_files import LazyArrays, is_hdf5, open_matlab
from tamis.io._arrays import table_of_arrays
from tamis.io._table import Table
from tamis.io._values import matrix, texts

_CLASSES = {
    "double": np.dtype(np.float64),
    "single": np.dtype(np.float32),
    "logical": np.dtype(bool),
}


def read_mat(
    path: Path, *, format: str, labels: str | None, ids: str | None, key: str | None
) -> Table:
    """Read the matrix ``X`` (or ``fea``, ``data``, or the only one) and the labels beside it."""
    with open_matlab(path) as arrays:
        plain = LazyArrays(arrays, lambda name: _text_cells(arrays[name]))
        # MATLAB stores doubles that are small whole numbers, and truth values, as bytes.
        dtypes = {}
        if not is_hdf5(path):
            kinds = ((name, kind) for name, _, kind in scipy.io.whosmat(path))
            dtypes = {name: _CLASSES[kind] for name, kind in kinds if kind in _CLASSES}
        return table_of_arrays(path, format, plain, labels=labels, ids=ids, key=key, dtypes=dtypes)


def _text_cells(value: Any) -> Any:
    """A matrix as it is; a cell array of text as an array of strings."""
    if sp.issparse(value) or value.dtype != object:
        return value
    return np.array([str(np.ravel(cell)[0]) if np.size(cell) else "" for cell in value.ravel()])


def write_mat(table: Table, path: Path, *, format: str) -> None:
    """Write ``X``, ``y``, ``ids`` and ``feature_names`` (cells of text)."""
    X = matrix(table.X)
    variables: dict[str, Any] = {
        "X": sp.csc_matrix(X) if sp.issparse(X) else X,
        "feature_names": table.feature_names,
    }
    if table.labels is not None:
        variables["y"] = _column(table.labels)
    if table.ids is not None:
        variables["ids"] = _column(table.ids)
    with open(path, "wb") as file:
        scipy.io.savemat(file, variables, do_compression=True)


def _column(values: FloatArray) -> FloatArray:
    if values.dtype.kind not in "biuf":
        values = np.array(texts(values), dtype=object)
    return values.reshape(-1, 1)
