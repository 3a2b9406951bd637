"""MATLAB files: version 5 to 7 by scipy, version 7.3 (HDF5) by h5py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

from tamis._typing import FloatArray
from tamis.io._arrays import table_of_arrays
from tamis.io._libraries import need
from tamis.io._table import Table
from tamis.io._values import matrix, texts
from tamis.utils.array_files import LazyArrays, hdf5_sparse, is_hdf5, matlab_variables

_CLASSES = {
    "double": np.dtype(np.float64),
    "single": np.dtype(np.float32),
    "logical": np.dtype(bool),
}


def read_mat(
    path: Path, *, format: str, labels: str | None, ids: str | None, key: str | None
) -> Table:
    """Read the matrix ``X`` (or ``fea``, ``data``, or the only one) and the labels beside it."""
    if is_hdf5(path):
        with need("h5py", "hdf5").File(path, "r") as file:
            names = [name for name in file if not name.startswith("#")]
            arrays = LazyArrays(names, lambda name: _hdf5_value(file, name))
            return table_of_arrays(path, format, arrays, labels=labels, ids=ids, key=key)
    variables = matlab_variables(path)
    arrays = LazyArrays(variables, lambda name: _cells(variables[name]))
    # MATLAB stores doubles that are small whole numbers, and truth values, as bytes.
    dtypes = {name: _CLASSES[kind] for name, _, kind in scipy.io.whosmat(path) if kind in _CLASSES}
    return table_of_arrays(path, format, arrays, labels=labels, ids=ids, key=key, dtypes=dtypes)


def _cells(value: Any) -> Any:
    """A matrix as it is; a cell array of text as an array of strings."""
    if sp.issparse(value) or value.dtype != object:
        return value
    return np.array([str(np.ravel(cell)[0]) if np.size(cell) else "" for cell in value.ravel()])


def _hdf5_value(file: Any, name: str) -> Any:
    """A variable of version 7.3, where columns come first and text is an array of code units."""
    node = file[name]
    matrix = hdf5_sparse(node)
    if matrix is not None:
        return matrix
    values = node[()]
    if values.dtype == object:
        text = [file[reference][()] for reference in values.ravel()]
        return np.array([t.astype("<u2").tobytes().decode("utf-16-le") for t in text])
    return values.T


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
