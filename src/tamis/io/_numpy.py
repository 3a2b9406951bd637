"""NPY and NPZ, dense and in the two usual sparse layouts; nothing is ever unpickled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tamis.io._array_files import csr_parts, load_npy, open_npz
from tamis.io._arrays import plain, table_of_arrays
from tamis.io._errors import TableError
from tamis.io._table import Table, make_table
from tamis.io._values import matrix
from tamis.utils.sparse import is_sparse


def read_npy(
    path: Path, *, format: str, labels: str | None, ids: str | None, key: str | None
) -> Table:
    """Read one array; NPY holds neither names nor labels."""
    for what, wanted in (("labels", labels), ("ids", ids)):
        if wanted is not None:
            raise TableError(
                f"{path}: an NPY file holds one array and no {what}; use NPZ, or leave {what} out."
            )
    return make_table(path, format, load_npy(path), None)


def read_npz(
    path: Path, *, format: str, labels: str | None, ids: str | None, key: str | None
) -> Table:
    """Read ``X`` (dense or sparse) with ``y``, ``ids`` and ``feature_names`` where they are."""
    with open_npz(path) as arrays:
        return table_of_arrays(path, format, arrays, labels=labels, ids=ids, key=key)


def write_npy(table: Table, path: Path, *, format: str) -> None:
    """Write the features alone, dense."""
    X = matrix(table.X)
    X = X.toarray() if is_sparse(X) else X
    with open(path, "wb") as file:
        np.save(file, X, allow_pickle=False)


def write_npz(table: Table, path: Path, *, format: str) -> None:
    """Write ``X`` (or its sparse parts), ``y``, ``ids`` and ``feature_names``."""
    arrays: dict[str, Any] = {"feature_names": plain(table.feature_names)}
    X = matrix(table.X)
    arrays |= csr_parts(X) if is_sparse(X) else {"X": X}
    if table.labels is not None:
        arrays["y"] = plain(table.labels)
    if table.ids is not None:
        arrays["ids"] = plain(table.ids)
    with open(path, "wb") as file:
        np.savez(file, **arrays)
