"""Readers of .npz, .mat, .h5 and .csv. None of them runs what a file contains."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis.datasets.contents import label_codes
from tamis.datasets.records import DatasetError, Entry, Raw
from tamis.datasets.variables import table_and_classes
from tamis.utils.array_files import (
    ArrayFileError,
    csr_from_parts,
    hdf5_sparse,
    is_hdf5,
    matlab_variables,
    open_npz,
    part_names,
)
from tamis.utils.columns import columns_not_finite

__all__ = ["SUFFIXES", "read"]

_CLASS_COLUMNS = ("class", "label", "y", "target")


def read(path: Path, entry: Entry | None = None) -> Raw:
    """Read a set from a file; the ending tells the format. Classes come coded from 0.

    Parameters
    ----------
    path : Path
        A file ending in one of ``SUFFIXES``.
    entry : Entry, optional
        What the file should hold: helps to tell which of several variables is meant.

    Raises
    ------
    DatasetError
        One line with the file's name: unreadable, cut off, not a table of finite numbers.
    """
    try:
        raw = _READERS[path.suffix.lower()](path, entry)
        return _checked(raw)
    except (ArrayFileError, DatasetError) as error:
        raise DatasetError(f"{path} cannot be used: {error}.") from error
    except MemoryError:
        raise
    except Exception as error:
        # Parsers of damaged bytes fail in every way there is: zlib, zip, struct, key, type errors.
        reason = " ".join(str(error).split()) or type(error).__name__
        raise DatasetError(
            f"{path} cannot be read, it is damaged or cut off ({reason}); delete it or get it anew."
        ) from error


def _checked(raw: Raw) -> Raw:
    X, y, names = raw
    if X.ndim != 2 or 0 in X.shape:
        raise DatasetError(f"the table has shape {X.shape} where samples × features is needed")
    if X.dtype.kind not in "buif":
        raise DatasetError(f"the table holds {X.dtype} values where real numbers are needed")
    if y.shape != (X.shape[0],):
        raise DatasetError(f"there are {y.size} classes for {X.shape[0]} samples")
    X = sp.csr_array(X) if sp.issparse(X) else X
    columns, _ = columns_not_finite(X)
    if columns.size:
        raise DatasetError(
            f"{columns.size} column(s) hold NaN or infinite values, the first is column "
            f"{columns[0]} counted from 0"
        )
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise DatasetError("the classes hold NaN or infinite values")
    return Raw(X, label_codes(y), names)


def _read_npz(path: Path, entry: Entry | None) -> Raw:
    with open_npz(path) as arrays:
        variables = dict(arrays)
    X = csr_from_parts(variables)
    if X is not None:
        for part in part_names("X"):
            del variables[part]
        variables["X"] = X
    return table_and_classes(variables, entry)


def _read_mat(path: Path, entry: Entry | None) -> Raw:
    if is_hdf5(path):
        return _read_hdf5(path, entry)
    return table_and_classes(matlab_variables(path), entry)


def _read_hdf5(path: Path, entry: Entry | None) -> Raw:
    try:
        import h5py
    except ImportError:
        raise DatasetError(
            "it is an HDF5 file (.h5 or MATLAB 7.3), which needs h5py; pip install h5py, or save "
            "it in MATLAB with -v7"
        ) from None
    variables: dict[str, Any] = {}
    with h5py.File(path, "r") as file:
        for name, item in file.items():
            # MATLAB writes its arrays by columns, so that they come out turned.
            by_columns = "MATLAB_class" in item.attrs
            if isinstance(item, h5py.Group):
                matrix = hdf5_sparse(item)
                if matrix is not None:
                    variables[name] = matrix
            elif item.dtype.kind in "buif":
                variables[name] = item[()].T if by_columns else item[()]
            elif h5py.check_string_dtype(item.dtype) is not None:
                variables[name] = np.asarray(item.asstr()[()]).astype(str)
    return table_and_classes(variables, entry)


def _read_csv(path: Path, entry: Entry | None) -> Raw:
    with open(path, newline="", encoding="utf-8-sig") as file:
        lines = csv.reader(file)
        header = [name.strip() for name in next(lines, [])]
        has_rows = any(lines)
    if len(header) < 2:
        raise DatasetError("it has no header line with at least two columns separated by commas")
    if all(_is_number(name) for name in header):
        raise DatasetError("its first line is numbers; it needs a header line with column names")
    if not has_rows:
        raise DatasetError("it has a header line, but no rows")
    lowered = [name.lower() for name in header]
    named = [lowered.index(name) for name in _CLASS_COLUMNS if name in lowered]
    class_column = named[0] if named else len(header) - 1
    columns = [column for column in range(len(header)) if column != class_column]
    options: dict[str, Any] = {
        "delimiter": ",",
        "skiprows": 1,
        "quotechar": '"',
        "comments": None,
        "encoding": "utf-8-sig",
    }
    try:
        X = np.loadtxt(path, usecols=columns, ndmin=2, **options)
    except ValueError as error:
        reason = str(error).split(";")[0].rstrip(".")
        raise DatasetError(
            f"{reason} (rows and columns are counted from 0 after the header)"
        ) from (error)
    y = np.loadtxt(path, usecols=[class_column], ndmin=1, dtype=str, **options)
    empty = np.flatnonzero(np.char.strip(y) == "")
    if empty.size:
        raise DatasetError(
            f"column {header[class_column]!r} has no class in row {empty[0]}, counted from 0 after "
            "the header"
        )
    return Raw(X, y, tuple(header[column] for column in columns))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


_READERS: Mapping[str, Callable[[Path, Entry | None], Raw]] = MappingProxyType(
    {".npz": _read_npz, ".mat": _read_mat, ".h5": _read_hdf5, ".csv": _read_csv}
)

SUFFIXES = tuple(_READERS)
"""Endings of files that can be read, the preferred one first."""
