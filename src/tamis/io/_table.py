"""A table in memory, and the checks that every reader ends with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from tamis._typing import FloatArray, IntArray
from tamis.io._errors import TableError, UnusableError, close_matches
from tamis.io._origin import Origin
from tamis.io._running import running_number_hints
from tamis.utils.columns import columns_not_finite
from tamis.utils.messages import describe_columns, refuse_repeated_columns


@dataclass(frozen=True, eq=False)
class Table:
    """Numbers with the names of their columns, and the labels and ids of their rows.

    Attributes
    ----------
    X : {ndarray, CSR array} of shape (n_samples, n_features)
        Numeric and finite; sparse if the file is.
    feature_names : ndarray of str, of shape (n_features,)
    labels, ids : ndarray of shape (n_samples,) or None
        The columns set aside, or what the format itself keeps for each row.
    path : Path or None
        Where it was read from.
    format : str
        A name of :func:`tamis.io.formats`.
    image_shape : tuple of int or None
        Height and width, where each row is an image.
    labels_name, ids_name : str or None
        Names of the columns set aside, used again on writing.
    notes : tuple of str
        What the reader decided by itself, one sentence each.
    hints : tuple of str
        What may be wrong with it, one sentence each; :func:`tamis.io.read` warns of them.
    origin : Origin or None
        The file, from which the columns are written as they are there.
    stored_dtype : dtype or None
        Of the values in the file, where X has another: truth values, half precision.
    """

    X: Any  # a Matrix, or MixedColumns while it is written
    feature_names: FloatArray
    labels: FloatArray | None = None
    ids: FloatArray | None = None
    path: Path | None = None
    format: str = ""
    image_shape: tuple[int, int] | None = None
    labels_name: str | None = None
    ids_name: str | None = None
    notes: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    origin: Origin | None = field(default=None, repr=False)
    stored_dtype: Any = None

    def take(self, columns: IntArray) -> Self:
        """The same rows with only these columns, in this order."""
        X, names, origin = self.X[:, columns], self.feature_names[columns], self.origin
        if origin is not None:
            origin = replace(origin, features=origin.features[columns])
            origin = origin.made_into(X, names, self.labels, self.ids)
        return replace(self, X=X, feature_names=names, image_shape=None, origin=origin)

    def beside(self) -> list[tuple[str, FloatArray]]:
        """Ids and labels as named columns, under names that no feature has."""
        taken = set(self.feature_names.tolist())
        columns = []
        for name, default, values in (
            (self.ids_name, "id", self.ids),
            (self.labels_name, "label", self.labels),
        ):
            if values is not None:
                name = name or default
                while name in taken:
                    name += "_"
                taken.add(name)
                columns.append((name, values))
        return columns


def default_names(n_features: int) -> list[str]:
    """``column0``, ``column1``, … for a table whose file names no columns."""
    return [f"column{j}" for j in range(n_features)]


def set_aside(
    path: Path, names: Sequence[str], labels: str | None, ids: str | None
) -> tuple[list[int], int | None, int | None]:
    """Indices of the features, of the label column and of the id column.

    Refuses names that occur twice, and names that do not occur.
    """
    refuse_repeated_columns(names, f"{path}: the table", TableError)
    found: list[int | None] = []
    for what, wanted in (("labels", labels), ("ids", ids)):
        if wanted is not None:
            wanted = spelt_name(wanted, names)
        if wanted is not None and wanted not in names:
            raise TableError(
                f"{path}: there is no column {wanted!r} to take as {what}; "
                f"{close_matches(wanted, names)}"
            )
        found.append(None if wanted is None else list(names).index(wanted))
    if found[0] is not None and found[0] == found[1]:
        raise TableError(
            f"{path}: {labels!r} is named both as labels and as ids; name two columns."
        )
    return [j for j in range(len(names)) if j not in found], found[0], found[1]


def spelt_name(wanted: str, names: Sequence[str]) -> str:
    """The name as the file spells it: spaces around it need not be given."""
    if wanted in names:
        return wanted
    alike = [name for name in names if name.strip() == wanted.strip()]
    return alike[0] if len(alike) == 1 else wanted


def spaces_note(wanted: str | None, found: str | None, what: str) -> list[str]:
    """A note where a column was found by its name without the spaces around it."""
    if wanted is None or found is None or wanted == found:
        return []
    return [f"The {what} are the column {found!r}, whose name has spaces around it."]


def refuse_text(path: Path, examples: dict[str, str]) -> None:
    """Name the columns that hold no numbers, given one value of each."""
    if not examples:
        return
    names = list(examples)
    first = examples[names[0]]
    shown = first if len(first) <= 30 else first[:29] + "…"
    raise TableError(
        f"{path}: not numbers in {describe_columns(range(len(names)), names)} "
        f"(for example {shown!r}); drop them, encode them as numbers, or name them as labels or "
        "ids."
    )


def refuse_missing_columns(
    path: Path, columns: IntArray, names: Sequence[str], n_rows: int, n_samples: int
) -> None:
    """Name the columns with missing or infinite values, if there are any."""
    if len(columns):
        raise TableError(
            f"{path}: missing, NaN or infinite values in {describe_columns(columns, names)}, in "
            f"{n_rows} of {n_samples} rows; fill them in, or drop those columns or rows."
        )


def make_table(
    path: Path,
    format: str,
    X: Any,
    names: Sequence[str] | None,
    *,
    labels: FloatArray | None = None,
    ids: FloatArray | None = None,
    labels_name: str | None = None,
    ids_name: str | None = None,
    notes: Sequence[str] = (),
    hints: Sequence[str] = (),
    origin: Origin | None = None,
) -> Table:
    """The table that a reader returns, after the checks that all of them share."""
    if sp.issparse(X):
        X = sp.csr_array(X)
        X.sum_duplicates()
    if X.ndim != 2:
        raise TableError(
            f"{path}: an array of shape {X.shape} is no table; save one with rows (samples) and "
            "columns (features)."
        )
    if X.dtype.kind not in "biuf":
        raise TableError(
            f"{path}: the values are not numbers (type {X.dtype}); encode them as numbers."
        )
    stored = X.dtype
    if X.dtype == bool:
        X = X.astype(np.uint8)
    elif X.dtype == np.float16 or X.dtype.itemsize > 8:
        X = X.astype(np.float64)
    elif not X.dtype.isnative:
        X = X.astype(X.dtype.newbyteorder("="))
    if stored.itemsize > 8:
        notes = [*notes, f"Values of type {stored} are taken, and written, in double precision."]
        stored = X.dtype
    n_samples, n_features = X.shape
    if n_samples == 0:
        raise TableError(f"{path}: the table has columns but no rows; nothing can be learned.")
    kept_names = default_names(n_features) if names is None else [str(name) for name in names]
    if len(kept_names) != n_features:
        raise TableError(
            f"{path}: {len(kept_names)} column names for {n_features} columns; write one per "
            "column."
        )
    for what, values in (("labels", labels), ("ids", ids)):
        if values is not None and len(values) != n_samples:
            raise TableError(
                f"{path}: {len(values)} {what} for {n_samples} rows; write one per row."
            )
    feature_names = np.array(kept_names, dtype=object)
    if origin is not None:
        origin = origin.made_into(X, feature_names, labels, ids)
    table = Table(
        X=X,
        feature_names=feature_names,
        labels=labels,
        ids=ids,
        path=path,
        format=format,
        labels_name=labels_name,
        ids_name=ids_name,
        notes=tuple(notes),
        origin=origin,
        stored_dtype=None if stored == X.dtype else stored,
    )
    try:
        _check_usable(table, path)
    except TableError as error:
        raise UnusableError(str(error), table) from error
    running = running_number_hints(X, kept_names, ids is not None)
    return replace(table, hints=(*hints, *running))


def _check_usable(table: Table, path: Path) -> None:
    """Refuse a table without two columns, with gaps, or with names that occur twice."""
    n_samples, n_features = table.X.shape
    if n_features < 2:
        raise TableError(
            f"{path}: the table has {n_features or 'no'} numeric "
            f"column{'' if n_features == 1 else 's'}; there is nothing to select from. Check the "
            "separator (comma, semicolon or tab), and which columns are set aside."
        )
    set_aside(path, table.feature_names.tolist(), None, None)
    columns, n_rows = columns_not_finite(table.X)
    refuse_missing_columns(path, columns, table.feature_names.tolist(), n_rows, n_samples)
