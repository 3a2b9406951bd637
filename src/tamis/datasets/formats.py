"""Sets in .npz, .mat, .h5 and .csv files, read as :mod:`tamis.io` reads them."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np
import scipy.sparse as sp

from tamis import io
from tamis.datasets.contents import label_codes
from tamis.datasets.records import DatasetError, Entry, Raw
from tamis.datasets.variables import table_and_classes
from tamis.utils.columns import columns_not_finite
from tamis.utils.sparse import is_sparse

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
    except io.TableError as error:
        text = str(error)
        raise DatasetError(text if str(path) in text else f"{path}: {text}") from error
    except (io.ArrayFileError, DatasetError) as error:
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
    X = sp.csr_array(X) if is_sparse(X) else X
    columns, _ = columns_not_finite(X)
    if columns.size:
        raise DatasetError(
            f"{columns.size} column(s) hold NaN or infinite values, the first is column "
            f"{columns[0]} counted from 0"
        )
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise DatasetError("the classes hold NaN or infinite values")
    return Raw(X, label_codes(y), names)


def _read_arrays(path: Path, entry: Entry | None) -> Raw:
    with io.named_arrays(path) as arrays:
        return table_and_classes(dict(arrays), entry)


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
    named = [name for name in _CLASS_COLUMNS if name in lowered]
    class_column = header[lowered.index(named[0]) if named else -1]
    with warnings.catch_warnings():
        # Columns that look like row numbers: of a set that is known the checksum tells.
        warnings.simplefilter("ignore", io.TableWarning)
        table = io.read(path, format="csv", labels=class_column, header=True)
    assert table.labels is not None
    y = table.labels.astype(str) if table.labels.dtype == object else table.labels
    empty = np.flatnonzero(np.char.strip(y.astype(str)) == "")
    if empty.size:
        raise DatasetError(
            f"column {class_column!r} has no class in row {empty[0]}, counted from 0 after the "
            "header"
        )
    return Raw(table.X, y, tuple(table.feature_names.tolist()))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


_READERS: Mapping[str, Callable[[Path, Entry | None], Raw]] = MappingProxyType(
    {".npz": _read_arrays, ".mat": _read_arrays, ".h5": _read_arrays, ".csv": _read_csv}
)

SUFFIXES = tuple(_READERS)
"""Endings of files that can be read, the preferred one first."""
