"""The table that is open: a file, a registered set, or what a notebook holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse as sp

from tamis import datasets, io
from tamis._typing import Matrix
from tamis.utils.columns import columns_not_finite
from tamis.utils.table_kinds import refuse_other_tables

DATASET = "dataset:"
MEMORY = "your table"


@dataclass(frozen=True, eq=False)
class OpenTable:
    """A table as it was read.

    Attributes
    ----------
    name : str
        As the page calls it, and the command line if it is a file.
    raw : RawTable or None
        The columns of a file of any kind.
    table : Table or None
        Where all columns are complete numbers.
    arrays : mapping of str to ndarray or None
        The columns of a table in memory of mixed types.
    options : dict
        How the file was read.
    path : Path or None
        Of the file, or of the copy that was sent by the page.
    notes : tuple of str
    """

    name: str
    raw: io.RawTable | None = None
    table: io.Table | None = None
    arrays: Mapping[str, Any] | None = None
    options: dict[str, Any] = field(default_factory=dict)
    path: Path | None = None
    notes: tuple[str, ...] = ()

    @property
    def matrix(self) -> Matrix | None:
        """The numbers, where all columns are complete numbers."""
        return None if self.table is None else self.table.X

    @cached_property
    def names(self) -> list[str]:
        """The columns that may be chosen among, in the order of the table."""
        if self.table is not None:
            return [str(name) for name in self.table.feature_names]
        if self.raw is not None:
            return [name for name in self.raw.names if name not in self.raw.aside]
        return list(self.arrays or ())

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        if self.table is not None:
            return int(self.table.X.shape[0])
        return self.raw.n_rows if self.raw is not None else len(next(iter(self.columns.values())))

    @cached_property
    def columns(self) -> Mapping[str, Any]:
        """The columns by name, those set aside too."""
        if self.arrays is not None:
            return self.arrays
        if self.raw is not None:
            return self.raw.columns
        assert self.table is not None
        X, names = self.table.X, self.names
        if sp.issparse(X):
            X = X.tocsc()
            return {n: X[:, [j]].toarray().ravel() for j, n in enumerate(names)}
        return {name: X[:, place] for place, name in enumerate(names)}

    def places(self, names: Sequence[str]) -> Any:
        """Where columns stand among those that may be chosen among."""
        where = {name: place for place, name in enumerate(self.names)}
        return np.array([where[name] for name in names], dtype=np.intp)

    def column(self, name: str) -> Any:
        """The values of one column."""
        if self.table is not None and name in (names := self.names):
            j = names.index(name)
            X = self.table.X
            return X[:, [j]].toarray().ravel() if sp.issparse(X) else X[:, j]
        return self.columns[name]

    @property
    def aside(self) -> tuple[str, ...]:
        """Columns that were set aside: labels and ids."""
        return () if self.raw is None else self.raw.aside

    @property
    def labels(self) -> Any:
        """The labels of the rows, or None."""
        if self.table is not None:
            return self.table.labels
        if self.raw is not None and self.raw.labels_name is not None:
            return self.raw.columns[self.raw.labels_name]
        return None

    @property
    def image_shape(self) -> tuple[int, int] | None:
        """Height and width, where each row is an image."""
        return None if self.table is None else self.table.image_shape

    @property
    def is_file(self) -> bool:
        """Whether the command line can open it, too."""
        return self.name != MEMORY


def read_file(path: Path, name: str | None = None, **options: Any) -> OpenTable:
    """Read a file as :func:`tamis.io.read_columns` does."""
    given = {key: value for key, value in options.items() if value not in (None, [], ())}
    raw = io.read_columns(path, **given)
    return OpenTable(
        name=str(path) if name is None else name,
        raw=raw,
        table=raw.table,
        options=given,
        path=path,
        notes=(*raw.notes, *raw.hints),
    )


def read_dataset(name: str) -> OpenTable:
    """A registered set."""
    data = datasets.load(name)
    shape = data.image_shape
    if shape is not None and data.entry is not None and data.entry.image_order == "F":
        shape = shape[::-1]  # read by rows, a picture that runs by columns lies on its side
    names = data.feature_names or [f"x{column}" for column in range(data.X.shape[1])]
    table = io.Table(
        X=data.X,
        feature_names=np.array(names, dtype=object),
        labels=data.y,
        format="csv",
        image_shape=shape,
    )
    return OpenTable(name=f"{DATASET}{name}", table=table)


def read_memory(
    X: Any,
    labels: Any = None,
    *,
    feature_names: Any = None,
    image_shape: tuple[int, int] | None = None,
) -> OpenTable:
    """A frame or an array; one with gaps or of mixed types is kept by column."""
    refuse_other_tables(X)
    y = None if labels is None else np.asarray(labels)
    arrays = _arrays_of(X, feature_names)
    if isinstance(arrays, dict):
        if y is not None:
            n_rows = len(next(iter(arrays.values())))
            if y.shape != (n_rows,):
                raise ValueError(f"labels has the shape {y.shape}; give one per row, {n_rows}.")
        return OpenTable(name=MEMORY, arrays=arrays)
    matrix, names = arrays
    if y is not None and y.shape != (matrix.shape[0],):
        raise ValueError(f"labels has the shape {y.shape}; give one per row, {matrix.shape[0]}.")
    if image_shape is not None and image_shape[0] * image_shape[1] != matrix.shape[1]:
        raise ValueError(
            f"image_shape={tuple(image_shape)} has {image_shape[0] * image_shape[1]} pixels, but X "
            f"has {matrix.shape[1]} columns."
        )
    table = io.Table(
        X=matrix,
        feature_names=np.array(names, dtype=object),
        labels=y,
        format="csv",
        image_shape=image_shape,
    )
    return OpenTable(name=MEMORY, table=table)


def _arrays_of(X: Any, names: Any) -> Any:
    """A matrix with names where all is numbers without gaps; otherwise a dict of columns."""
    if nw.dependencies.is_into_dataframe(X):
        frame = nw.from_native(X, eager_only=True)
        columns = {str(name): frame[name] for name in frame.columns}
        plain = all(one.dtype.is_numeric() and not one.null_count() for one in columns.values())
        found = {name: series.to_numpy() for name, series in columns.items()}
        if not plain:
            return found
        X, names = np.column_stack(list(found.values())), list(columns)
    elif isinstance(X, Mapping):
        return {str(name): np.asarray(values) for name, values in X.items()}
    if not sp.issparse(X):
        X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"X has the shape {X.shape}; give a table with rows and columns.")
    names = [f"x{j}" for j in range(X.shape[1])] if names is None else [str(n) for n in names]
    if len(names) != X.shape[1]:
        raise ValueError(f"feature_names has {len(names)} names for {X.shape[1]} columns.")
    if sp.issparse(X):
        return sp.csr_array(X), names
    if X.dtype.kind not in "biuf" or len(columns_not_finite(X)[0]):
        return {name: X[:, j] for j, name in enumerate(names)}
    return (X.astype(np.float64) if X.dtype.kind != "f" else X), names
