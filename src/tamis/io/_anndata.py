"""AnnData files (h5ad) and Zarr stores, through h5py and zarr alone.

Both keep the same tree: ``X``, the rows' table ``obs``, the columns' table ``var``. A selection is
written into ``var`` of a copy, so that layers, embeddings and all else stay as they are.
"""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis._typing import FloatArray
from tamis.io._array_files import checked_sparse
from tamis.io._errors import TableError, close_matches
from tamis.io._libraries import need
from tamis.io._table import Table, make_table
from tamis.io._values import matrix, texts
from tamis.utils.messages import close_names
from tamis.utils.sparse import is_sparse

_SPARSE = {"csr_matrix": sp.csr_array, "csc_matrix": sp.csc_array}
_EMPTY_GROUPS = ("layers", "obsm", "varm", "obsp", "varp", "uns")


@contextmanager
def opened_tree(path: Path, format: str, mode: str) -> Iterator[Any]:
    if format == "h5ad":
        with need("h5py", "anndata").File(path, mode) as file:
            yield file
        return
    zarr = need("zarr", "anndata")
    if mode == "w":
        yield zarr.open_group(path, mode="w", zarr_format=2)
    elif mode == "r":
        yield zarr.open(path, mode="r")
    else:
        # A summary of the whole tree would not know of what is added: leave it, then renew it.
        summarised = zarr.open_group(path, mode="r").metadata.consolidated_metadata is not None
        yield zarr.open_group(path, mode="r+", use_consolidated=False)
        if summarised:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # Zarr 3 calls its own summary experimental
                zarr.consolidate_metadata(path)


def names_of_var(path: Path, tree: Any) -> list[str] | None:
    """The names of the columns; None where the tree is an array or has no table of them."""
    if hasattr(tree, "shape") or "var" not in tree:
        return None
    var = _frame(path, tree["var"], "var")
    return [str(name) for name in _column(var, var.attrs["_index"])]


def read_anndata(
    path: Path, *, format: str, labels: str | None, ids: str | None, key: str | None
) -> Table:
    """Read ``X``, or the array that `key` names (``layers/counts``), with the names in ``var``."""
    with opened_tree(path, format, "r") as tree:
        if hasattr(tree, "shape"):
            return make_table(path, format, np.asarray(tree[...]), None)
        where = key or "X"
        if where.startswith("layers/") and where not in tree:
            name, layers = where.removeprefix("layers/"), list(tree.get("layers", ()))
            near = " or ".join(map(repr, close_names(name, layers)))
            hint = f" (did you mean {near}?)" if near else ""
            known = f"its layers are {', '.join(map(repr, layers))}" if layers else "it has none"
            raise TableError(f"{path}: there is no layer {name!r}{hint}; {known}.")
        if where not in tree:
            raise TableError(f"{path}: there is no {where!r} in it; {close_matches(where, tree)}")
        X = _matrix(path, tree[where])
        if "var" not in tree or "obs" not in tree:
            if labels is not None or ids is not None:
                raise TableError(
                    f"{path}: without a table obs there are no labels or ids to take; leave "
                    "labels and ids out."
                )
            return make_table(path, format, X, None)
        obs, var = _frame(path, tree["obs"], "obs"), _frame(path, tree["var"], "var")
        return make_table(
            path,
            format,
            X,
            _column(var, var.attrs["_index"]).tolist(),
            labels=None if labels is None else _obs_column(path, obs, labels, "labels"),
            ids=_column(obs, obs.attrs["_index"])
            if ids is None
            else _obs_column(path, obs, ids, "ids"),
            labels_name=labels,
            ids_name=ids,
        )


def _matrix(path: Path, node: Any) -> Any:
    if hasattr(node, "shape"):
        return np.asarray(node[...])
    kind = node.attrs.get("encoding-type")
    if kind not in _SPARSE:
        raise TableError(f"{path}: a matrix stored as {kind!r} is not read; save it as CSR.")
    parts = tuple(np.asarray(node[part][...]) for part in ("data", "indices", "indptr"))
    return checked_sparse(_SPARSE[kind](parts, shape=tuple(int(n) for n in node.attrs["shape"])))


def _frame(path: Path, node: Any, name: str) -> Any:
    if "_index" not in node.attrs:
        raise TableError(
            f"{path}: {name} is stored as by AnnData before 0.7; read and write it once with a "
            "newer anndata."
        )
    return node


def _obs_column(path: Path, obs: Any, name: str, what: str) -> FloatArray:
    if name == obs.attrs["_index"]:
        return _column(obs, name)
    known = [str(column) for column in obs.attrs["column-order"]]
    if name not in known:
        raise TableError(
            f"{path}: obs has no column {name!r} to take as {what}; {close_matches(name, known)}"
        )
    return _column(obs, name)


def _column(frame: Any, name: str) -> FloatArray:
    """A column as numbers or Python strings; what is missing of a category is ''."""
    node = frame[name]
    if hasattr(node, "shape"):
        return _values(node)
    if "categories" in node:
        categories = _values(node["categories"])
        codes = np.asarray(node["codes"][...])
        if (codes >= 0).all():
            return categories[codes]
        return np.array(["" if c < 0 else str(categories[c]) for c in codes], dtype=object)
    values, mask = _values(node["values"]), np.asarray(node["mask"][...])
    if not mask.any():
        return values
    return np.array(["" if m else str(v) for v, m in zip(values, mask, strict=True)], dtype=object)


def _values(node: Any) -> FloatArray:
    text = node.asstr()[...] if hasattr(node, "asstr") and node.dtype.kind == "O" else node[...]
    values = np.asarray(text)
    if values.dtype.kind in "biuf":
        return values
    return np.array([str(value) for value in values], dtype=object)


def write_anndata(table: Table, path: Path, *, format: str, var: Mapping[str, FloatArray]) -> None:
    """Write all features, with the columns of `var` beside their names.

    A table that was read from the same format is copied whole, with everything else it holds.
    """
    if table.format == format and table.path is not None and _is_anndata(table.path, format):
        if format == "h5ad":
            shutil.copyfile(table.path, path)
        else:
            shutil.copytree(table.path, path, dirs_exist_ok=True)
        mode = "r+"
    else:
        with opened_tree(path, format, "w") as tree:
            _write_tree(tree, table)
        mode = "r+"
    with opened_tree(path, format, mode) as tree:
        frame = tree["var"]
        order = [str(column) for column in frame.attrs["column-order"]]
        for name, values in var.items():
            if name in order:
                del frame[name]
            else:
                order.append(name)
            _write_array(frame, name, values)
        _set_order(frame, order)


def _is_anndata(path: Path, format: str) -> bool:
    with opened_tree(path, format, "r") as tree:
        return not hasattr(tree, "shape") and "var" in tree and "_index" in tree["var"].attrs


def _mark(node: Any, kind: str, version: str) -> None:
    node.attrs["encoding-type"] = kind
    node.attrs["encoding-version"] = version


def _write_array(group: Any, name: str, values: FloatArray) -> None:
    is_text = values.dtype.kind not in "biuf"
    values = np.array(texts(values), dtype=object) if is_text else values
    if hasattr(group, "create_array"):
        values = np.array(values.tolist(), dtype=np.dtypes.StringDType()) if is_text else values
        node = group.create_array(name, data=values)
    elif is_text:
        text = need("h5py", "anndata").string_dtype()
        node = group.create_dataset(name, data=values.astype(object), dtype=text)
    else:
        node = group.create_dataset(name, data=values)
    _mark(node, "string-array" if is_text else "array", "0.2.0")


def _set_order(frame: Any, order: list[str]) -> None:
    if hasattr(frame, "create_array"):
        frame.attrs["column-order"] = order
    else:
        text = need("h5py", "anndata").string_dtype()
        frame.attrs.create("column-order", np.array(order, dtype=object), dtype=text)


def _write_tree(tree: Any, table: Table) -> None:
    _mark(tree, "anndata", "0.1.0")
    X = matrix(table.X)
    if is_sparse(X):
        group = tree.create_group("X")
        _mark(group, "csr_matrix", "0.1.0")
        group.attrs["shape"] = [int(n) for n in X.shape]
        for part in ("data", "indices", "indptr"):
            _write_array(group, part, getattr(X, part))
    else:
        _write_array(tree, "X", X)
    n_samples = X.shape[0]
    ids = table.ids if table.ids is not None else np.arange(n_samples)
    columns = {} if table.labels is None else {table.labels_name or "label": table.labels}
    for name, index, content in (
        ("obs", ids, columns),
        ("var", table.feature_names, {}),
    ):
        frame = tree.create_group(name)
        _mark(frame, "dataframe", "0.2.0")
        frame.attrs["_index"] = "_index"
        _write_array(frame, "_index", np.array(texts(index), dtype=object))
        for column, values in content.items():
            _write_array(frame, column, values)
        _set_order(frame, list(content))
    for name in _EMPTY_GROUPS:
        _mark(tree.create_group(name), "dict", "0.1.0")
