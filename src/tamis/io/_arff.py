"""ARFF, dense and sparse, read row by row through liac-arff."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis._typing import FloatArray
from tamis.io._encoding import Encoding, encoding_of_file, open_text
from tamis.io._errors import TableError
from tamis.io._libraries import need
from tamis.io._origin import Origin
from tamis.io._rows import RowCollector, row_values
from tamis.io._table import Table, make_table, refuse_text, set_aside
from tamis.io._text_copy import TypedColumn
from tamis.io._values import MixedColumns, cells_of, texts

_CLASS = "class"
_CELL = re.compile(r"""(?:^|(?<=,))((?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[^,'"])*)(?=,|$)""")


def read_arff(
    path: Path, *, format: str, labels: str | None, ids: str | None, key: str | None
) -> Table:
    """Read numeric attributes; a nominal one called ``class`` is taken as labels."""
    arff = need("arff", "arff")
    sparse = _is_sparse(path)
    with open_text(path) as file:
        kind = arff.LOD_GEN if sparse else arff.DENSE_GEN
        try:
            content = arff.load(file, return_type=kind)
            names = [name for name, _ in content["attributes"]]
            notes = []
            nominal = [name for name, kind in content["attributes"] if not isinstance(kind, str)]
            named_class = [name for name in nominal if name.casefold() == _CLASS and name != ids]
            if labels is None and named_class:
                labels = named_class[0]
                notes.append(f"The nominal attribute {labels!r} is taken as labels.")
            if sparse:
                return _sparse_table(path, format, content, labels, ids, notes)
            layout = _Layout(encoding_of_file(path))
            rows = RowCollector(path, format, names, labels, ids, notes, layout=layout)
            for i, row in enumerate(content["data"], start=1):
                rows.add_row(row, f"row {i} of the data")
            return rows.finish()
        except arff.BadAttributeName as error:
            raise TableError(
                f"{path}: more than one attribute is called the same ({error}); rename them."
            ) from error


def arff_cells(path: Path) -> tuple[list[tuple[str, Any]], list[list[Any]], Any]:
    """Attributes, the values of each, and the layout; what sparse rows leave out is filled in."""
    arff = need("arff", "arff")
    sparse = _is_sparse(path)
    with open_text(path) as file:
        try:
            content = arff.load(file, return_type=arff.LOD_GEN if sparse else arff.DENSE_GEN)
            attributes = list(content["attributes"])
            cells: list[list[Any]] = [[] for _ in attributes]
            left_out = [0 if isinstance(kind, str) else kind[0] for _, kind in attributes]
            for row in content["data"]:
                for j, values in enumerate(cells):
                    values.append(row.get(j, left_out[j]) if sparse else row[j])
        except arff.BadAttributeName as error:
            raise TableError(
                f"{path}: more than one attribute is called the same ({error}); rename them."
            ) from error
    return attributes, cells, _Layout(encoding_of_file(path), sparse=sparse)


def _is_sparse(path: Path) -> bool:
    """Whether the first row of the data is written in braces."""
    with open_text(path) as file:
        in_data = False
        for line in file:
            text = line.strip()
            if in_data and text and not text.startswith("%"):
                return text.startswith("{")
            in_data = in_data or text.casefold().startswith("@data")
    return False


def _sparse_table(
    path: Path, format: str, content: Any, labels: str | None, ids: str | None, notes: list[str]
) -> Table:
    attributes = content["attributes"]
    names = [name for name, _ in attributes]
    features, label, id_column = set_aside(path, names, labels, ids)
    place = {j: k for k, j in enumerate(features)}
    refuse_text(
        path,
        {
            names[j]: kind[0] if not isinstance(kind, str) else "text"
            for j, (_, kind) in enumerate(attributes)
            if j in place and (not isinstance(kind, str) or kind == "STRING")
        },
    )
    data: list[float] = []
    indices: list[int] = []
    indptr = [0]
    beside: dict[int, list[Any]] = {j: [] for j in (label, id_column) if j is not None}
    for row in content["data"]:
        for j, values in beside.items():
            kind = attributes[j][1]
            values.append(row.get(j, 0 if isinstance(kind, str) else kind[0]))
        for j, value in row.items():
            if j in place:
                indices.append(place[j])
                data.append(np.nan if value is None else value)
        indptr.append(len(indices))
    X = sp.csr_array(
        (np.array(data, dtype=np.float64), np.array(indices, dtype=np.int32), indptr),
        shape=(len(indptr) - 1, len(features)),
    )
    layout = _Layout(encoding_of_file(path), sparse=True)
    return make_table(
        path,
        format,
        X,
        [names[j] for j in features],
        origin=Origin.of(path, format, features, id_column, label, layout),
        labels=None if label is None else row_values(beside[label]),
        ids=None if id_column is None else row_values(beside[id_column]),
        labels_name=labels,
        ids_name=ids,
        notes=notes,
    )


@dataclass(frozen=True)
class _Layout:
    """The encoding of a file, and whether its rows are in braces."""

    encoding: Encoding
    sparse: bool = False


def _parts(origin: Origin) -> Iterator[tuple[str, str]]:
    """The lines of a file: each an "attribute", a row of "data", or "other"."""
    in_data = False
    with open_text(origin.path, encoding=origin.layout.encoding) as file:
        for line in file:
            word = line.strip().casefold()
            if in_data:
                yield "other" if not word or word.startswith("%") else "data", line
            else:
                yield "attribute" if word.startswith("@attribute") else "other", line
            in_data = in_data or word.startswith("@data")


def _row(line: str, sparse: bool) -> list[str] | dict[int, str]:
    """The cells of a row as they are written; of a sparse one by their places."""
    text = line.strip()
    if not sparse:
        return [cell.strip() for cell in _CELL.findall(text)]
    pairs = [cell.split(None, 1) for cell in _CELL.findall(text[1:-1]) if cell.strip()]
    return {int(place): value.strip() for place, value in pairs}


def copy_arff(origin: Origin, path: Path, columns: Sequence[int], *, format: str) -> None:
    """Write some attributes of a file, declared and written as they are there."""
    sparse = origin.layout.sparse
    attributes: list[str] = []
    with open_text(path, "w", origin.layout.encoding) as file:
        for kind, line in _parts(origin):
            if kind == "attribute":
                attributes.append(line)
            elif kind == "other":
                if line.strip().casefold().startswith("@data"):
                    file.writelines(attributes[j] for j in columns)
                file.write(line)
            else:
                cells = _row(line, sparse)
                if isinstance(cells, dict):
                    kept = ((k, cells[j]) for k, j in enumerate(columns) if j in cells)
                    text = "{" + ",".join(f"{k} {value}" for k, value in kept) + "}"
                else:
                    text = ",".join([cells[j] for j in columns])
                file.write(text + "\n")


def typed_arff(origin: Origin, columns: Sequence[int]) -> list[FloatArray]:
    """Some columns of a file with dense rows: whole numbers or numbers, as all cells are."""
    cells: list[list[str]] = [[] for _ in columns]
    for kind, line in _parts(origin):
        if kind == "data":
            row = _row(line, sparse=False)
            for j, values in zip(columns, cells, strict=True):
                values.append(row[j].strip("'\""))
    collected = [TypedColumn(None) for _ in columns]
    for column, values in zip(collected, cells, strict=True):
        column.add(values)
    return [column.values() for column in collected]


def write_arff(table: Table, path: Path, *, format: str) -> None:
    """Write ids as text, labels as a nominal or numeric attribute, sparse rows in braces."""
    arff = need("arff", "arff")
    beside = [
        (name, v if v.dtype.kind in "biuf" else np.array(texts(v), dtype=object))
        for name, v in table.beside()
    ]
    attributes: list[tuple[str, Any]] = []
    n_labels = int(table.labels is not None)
    for i, (name, values) in enumerate(beside):
        if values.dtype.kind in "biuf":
            attributes.append((name, "NUMERIC"))
        else:
            is_label = i == len(beside) - n_labels
            attributes.append((name, sorted(set(map(str, values))) if is_label else "STRING"))
    attributes += [(str(name), _kind(table.X, j)) for j, name in enumerate(table.feature_names)]
    _refuse_names(arff, path, attributes)
    content = {"relation": "table", "attributes": attributes, "data": _rows(table, beside)}
    with open_text(path, "w") as file:
        arff.dump(content, file)


def _kind(X: Any, j: int) -> Any:
    """The type of an attribute: numeric; of text, nominal; of other things, text."""
    if not isinstance(X, MixedColumns) or X.columns[j].dtype.kind in "biuf":
        return "NUMERIC"
    values = [value for value in X.columns[j] if value is not None]
    if all(isinstance(value, int | float) for value in values):
        return "NUMERIC"
    if all(isinstance(value, str) for value in values):
        return sorted(set(values))
    return "STRING"


def _rows(table: Table, beside: list[Any]) -> list[Any]:
    first = len(beside)
    rows: list[Any] = []
    if not sp.issparse(table.X):
        for i, row in enumerate(cells_of(table)):
            rows.append([*(values[i] for _, values in beside), *map(_numeric, row)])
        return rows
    for i in range(table.X.shape[0]):
        part = slice(table.X.indptr[i], table.X.indptr[i + 1])
        cells = dict(enumerate(values[i] for _, values in beside))
        columns = (table.X.indices[part] + first).tolist()
        cells.update(zip(columns, table.X.data[part].tolist(), strict=True))
        rows.append(cells)
    return rows


def _numeric(value: Any) -> Any:
    """Truth values as 0 and 1: the format has no type for them."""
    if isinstance(value, bool):
        return int(value)
    return value if value is None or isinstance(value, int | float) else str(value)


def _refuse_names(arff: Any, path: Path, attributes: list[tuple[str, Any]]) -> None:
    """Some names (quotes, line breaks) do not survive this format: refuse, lose nothing."""
    for name, kind in attributes:
        header = {"relation": "table", "attributes": [(name, kind)]}
        try:
            survives = arff.loads(arff.dumps(header))["attributes"][0][0] == name
            # In a file, unlike here, a carriage return ends the line too.
            survives = survives and "\r" not in name
        except (arff.ArffException, ValueError):  # it parses a name of white space by halves
            survives = False
        if not survives:
            raise TableError(
                f"{path}: ARFF cannot hold the column name {name!r}; rename it, or write another "
                "format."
            )
