"""NPY and NPZ, dense and in the two usual sparse layouts; nothing is ever unpickled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis.io._arrays import (
    ID_KEYS,
    LABEL_KEYS,
    NAME_KEYS,
    plain,
    side_key,
    side_values,
    table_key,
)
from tamis.io._errors import TableError
from tamis.io._table import Table, make_table

_PARTS = ("data", "indices", "indptr", "shape")


def read_npy(
    path: Path, *, format: str, labels: str | None, ids: str | None, key: str | None
) -> Table:
    """Read one array; NPY holds neither names nor labels."""
    for what, wanted in (("labels", labels), ("ids", ids)):
        if wanted is not None:
            raise TableError(
                f"{path}: an NPY file holds one array and no {what}; use NPZ, or leave {what} out."
            )
    return make_table(
        path, format, _unpickled(path, lambda: np.load(path, allow_pickle=False)), None
    )


def read_npz(
    path: Path, *, format: str, labels: str | None, ids: str | None, key: str | None
) -> Table:
    """Read ``X`` (dense or sparse) with ``y``, ``ids`` and ``feature_names`` where they are."""
    # Opened here, since numpy leaves the file open where it is damaged.
    with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
        keys = list(file.keys())

        def array(name: str) -> Any:
            return _unpickled(path, lambda: file[name], name)

        if {"format", "shape", "data"} <= set(keys):  # as scipy.sparse.save_npz writes it
            X, used = sp.csr_array(sp.load_npz(path)), {*_PARTS, "format", "_is_array"}
        else:
            prefix = key if key is not None else "X"
            if {f"{prefix}_{part}" for part in _PARTS} <= set(keys):
                used = {f"{prefix}_{part}" for part in _PARTS}
                data, indices, indptr, shape = (array(f"{prefix}_{part}") for part in _PARTS)
                X = sp.csr_array((data, indices, indptr), shape=tuple(shape.tolist()))
                X.check_format(full_check=True)
            else:
                chosen = table_key(path, keys, key, lambda name: array(name).shape)
                X, used = array(chosen), {chosen}
        rest = [name for name in keys if name not in used]
        label_key = side_key(path, rest, labels, LABEL_KEYS, "labels")
        id_key = side_key(path, rest, ids, ID_KEYS, "ids")
        name_key = side_key(path, rest, None, NAME_KEYS, "names")
        return make_table(
            path,
            format,
            X,
            None if name_key is None else array(name_key).ravel().astype(str).tolist(),
            labels=None if label_key is None else side_values(array(label_key)),
            ids=None if id_key is None else side_values(array(id_key)),
            labels_name=label_key,
            ids_name=id_key,
        )


def _unpickled(path: Path, load: Any, name: str | None = None) -> Any:
    try:
        return load()
    except ValueError as error:
        if "allow_pickle" not in str(error):
            raise
        what = "the array" if name is None else f"the array {name!r}"
        raise TableError(
            f"{path}: {what} holds Python objects, which could run code and are not loaded; save "
            "it as numbers or text."
        ) from error


def write_npy(table: Table, path: Path, *, format: str) -> None:
    """Write the features alone, dense."""
    X = table.X.toarray() if sp.issparse(table.X) else table.X
    with open(path, "wb") as file:
        np.save(file, X, allow_pickle=False)


def write_npz(table: Table, path: Path, *, format: str) -> None:
    """Write ``X`` (or its sparse parts), ``y``, ``ids`` and ``feature_names``."""
    arrays: dict[str, Any] = {"feature_names": plain(table.feature_names)}
    if sp.issparse(table.X):
        for part in _PARTS:
            arrays[f"X_{part}"] = np.asarray(getattr(table.X, part))
    else:
        arrays["X"] = table.X
    if table.labels is not None:
        arrays["y"] = plain(table.labels)
    if table.ids is not None:
        arrays["ids"] = plain(table.ids)
    with open(path, "wb") as file:
        np.savez(file, **arrays)
