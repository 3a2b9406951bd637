r"""Read a table of any usual format; write the selection and the ranking.

>>> import tempfile
>>> from pathlib import Path
>>> from tamis import io
>>> folder = tempfile.TemporaryDirectory()
>>> path = Path(folder.name) / "flowers.csv"
>>> _ = path.write_text("name,length,width,kind\na,5.1,3.5,0\nb,4.9,3,1\n")
>>> table = io.read(path, labels="kind", ids="name")
>>> table.feature_names, table.labels
(array(['length', 'width'], dtype=object), array([0, 1]))
>>> folder.cleanup()
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis.io._array_files import ArrayFileError, csr_parts, named_arrays
from tamis.io._arrays import LABEL_NAMES, TABLE_NAMES
from tamis.io._errors import TableError, TableWarning, UnusableError, close_matches
from tamis.io._formats import FORMATS, Format, check_content, columns_of_var, format_of, formats
from tamis.io._lazy import Block, LazyTable
from tamis.io._opening import open_table as open
from tamis.io._origin import Origin
from tamis.io._raw import RawTable, raw_of_table
from tamis.io._raw_writing import columns_to_write
from tamis.io._reading import Reading
from tamis.io._sniffing import may_be_numbers
from tamis.io._table import Table
from tamis.io._text_writing import delimited_writer
from tamis.io._values import MixedColumns
from tamis.io._writing import check_replaceable, refuse_input_as_output, writing

__all__ = [
    "LABEL_NAMES",
    "TABLE_NAMES",
    "ArrayFileError",
    "Block",
    "LazyTable",
    "RawTable",
    "Table",
    "TableError",
    "TableWarning",
    "check_replaceable",
    "csr_parts",
    "format_of",
    "formats",
    "named_arrays",
    "open",
    "read",
    "read_columns",
    "write_columns",
    "write_ranking",
    "write_table",
]


def read(
    path: str | os.PathLike[str],
    *,
    labels: str | None = None,
    ids: str | None = None,
    format: str | None = None,
    key: str | None = None,
    header: bool | None = None,
    sep: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    encoding: str | None = None,
    sheet: str | int | None = None,
) -> Table:
    """Read a table.

    Parameters
    ----------
    path : path
        A file, or the folder of a Zarr store.
    labels, ids : str or None
        Name of the column (array, column of ``obs``) to set aside as labels or as row ids. NPZ,
        MATLAB, libsvm and ARFF files whose labels have a usual name need none.
    format : str or None
        A name of :func:`formats`; None goes by the extension.
    key : str or None
        Which array of an NPZ or MATLAB file, which sheet of a workbook, which matrix of an AnnData
        file (``"layers/counts"``); None takes the usual one.
    header : bool or None
        Whether the first line of a text file, or row of a sheet, names the columns; None finds out.
    sep : str or None
        What parts the cells of a text file, one sign or a word such as ``"tab"``; None finds out.
    decimal, thousands : str or None
        The decimal sign, ``"."`` or ``","``, and the sign between thousands; None finds out.
    encoding : str or None
        Of a text file, such as ``"latin-1"``; None finds out.
    sheet : str, int or None
        Which sheet of a workbook, by name or by number from 1; None takes the first.

    Returns
    -------
    Table

    Warns
    -----
    TableWarning
        Of what may be wrong with the table: a running number among the features, a first line that
        may be names or data.

    Raises
    ------
    TableError
        One line: what is wrong, where, and what to do.
    """
    source = Path(path)
    chosen = format_of(source, format)
    with _told(source, chosen):
        reading = Reading.checked(
            source,
            chosen,
            sep=sep,
            decimal=decimal,
            thousands=thousands,
            encoding=encoding,
            header=header,
            sheet=sheet,
            na=None,
        )
        check_content(source, chosen, encoded=encoding is not None)
        table = _numbers(source, chosen, labels, ids, _key(key, sheet), reading)
    for hint in table.hints:
        warnings.warn(f"{source}: {hint}", TableWarning, stacklevel=2)
    return table


@contextmanager
def _told(source: Path, chosen: Format) -> Iterator[None]:
    """Whatever goes wrong on reading, as one line."""
    try:
        yield
    except TableError:
        raise
    except ArrayFileError as error:
        raise TableError(f"{source}: {error}.") from error
    except FileNotFoundError as error:
        raise TableError(f"{source}: there is no such file; check the name.") from error
    except PermissionError as error:
        raise TableError(f"{source}: reading is not permitted; change its rights.") from error
    except MemoryError as error:
        raise TableError(f"{source}: the table does not fit into memory; split it.") from error
    except Exception as error:  # parsers fail in many ways on damaged files; the cause is kept
        reason = str(error).strip() or type(error).__name__
        raise TableError(
            f"{source}: damaged, cut short, or not {chosen.title} ({reason[:200]}); check how it "
            "was made or copied."
        ) from error


def _numbers(
    source: Path,
    chosen: Format,
    labels: str | None,
    ids: str | None,
    key: str | None,
    reading: Reading,
) -> Table:
    options = {"reading": reading} if chosen.has_header else {}
    return chosen.read(source, format=chosen.name, labels=labels, ids=ids, key=key, **options)


def _key(key: str | None, sheet: str | int | None) -> str | None:
    if sheet is None:
        return key
    if key is not None and str(sheet) != key:
        raise TableError(f"sheet={sheet!r} and key={key!r} both name a sheet; leave one out.")
    return str(sheet)


def read_columns(
    path: str | os.PathLike[str],
    *,
    sep: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    sheet: str | int | None = None,
    na: str | Sequence[str] | None = None,
    format: str | None = None,
    key: str | None = None,
    labels: str | None = None,
    ids: str | Sequence[str] | None = None,
) -> RawTable:
    r"""Read a table as it comes: mixed types, gaps and all.

    Numbers, truth values and dates are recognised as such; everything else is text. In text files
    and sheets, cells such as ``NA``, ``?`` and empty ones are missing; so are ``-`` and ``.`` where
    the others are numbers. Whatever is found out is told in the notes.

    Parameters
    ----------
    path : path
        A file, or the folder of a Zarr store.
    sep : str or None
        What parts the cells of a text file, one sign or a word such as ``"tab"``; None finds out.
    decimal, thousands : str or None
        The decimal sign, ``"."`` or ``","``, and the sign between thousands; None finds out.
    encoding : str or None
        Of a text file, such as ``"latin-1"``; None finds out.
    header : bool or None
        Whether the first line of a text file, or row of a sheet, names the columns; None finds out.
    sheet : str, int or None
        Which sheet of a workbook, by name or by number from 1; None takes the first.
    na : str, sequence of str or None
        Cells that are missing, too, such as ``"-999"``.
    format, key : str or None
        As for :func:`read`.
    labels : str or None
        The column of the labels.
    ids : str, sequence of str or None
        Columns that name the rows.

    Returns
    -------
    RawTable

    Raises
    ------
    TableError
        One line: what is wrong, where, and what to do.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from tamis import io
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "flats.csv"
    >>> _ = path.write_text("town;rent;pets\nTours;640,5;true\nMetz;-;false\n")
    >>> raw = io.read_columns(path)
    >>> for name, values in raw.columns.items():
    ...     print(name, values.tolist())
    town ['Tours', 'Metz']
    rent [640.5, nan]
    pets [True, False]
    >>> for note in raw.notes:
    ...     print(note)
    The cells are parted by semicolons.
    Numbers such as '640,5' are read as written with a decimal comma; decimal=… says otherwise.
    Taken as missing: '-' in column 'rent'.
    >>> folder.cleanup()

    .. versionadded:: 0.1
    """
    source = Path(path)
    chosen = format_of(source, format)
    wanted = [ids] if isinstance(ids, str) else list(dict.fromkeys(ids or ()))
    with _told(source, chosen):
        reading = Reading.checked(
            source,
            chosen,
            sep=sep,
            decimal=decimal,
            thousands=thousands,
            encoding=encoding,
            header=header,
            sheet=sheet,
            na=na,
        )
        check_content(source, chosen, encoded=encoding is not None)
        place = _key(key, sheet)
        if chosen.raw is None:
            return _matrix_columns(source, chosen, labels, wanted, place, reading)
        if len(wanted) <= 1 and may_be_numbers(source, chosen, labels, wanted, place, reading):
            with suppress(TableError):
                one = wanted[0] if wanted else None
                table = _numbers(source, chosen, labels, one, place, reading)
                return raw_of_table(table)
        return chosen.raw(
            source, format=chosen.name, labels=labels, ids=wanted, key=place, reading=reading
        )


def _matrix_columns(
    source: Path,
    chosen: Format,
    labels: str | None,
    ids: list[str],
    key: str | None,
    reading: Reading,
) -> RawTable:
    """The columns of a file of numbers, which may have gaps."""
    if len(ids) > 1:
        raise TableError(
            f"{source}: {chosen.title} files keep one array of ids; name one, not {len(ids)}."
        )
    one = ids[0] if ids else None
    try:
        return raw_of_table(_numbers(source, chosen, labels, one, key, reading), reading.na)
    except UnusableError as error:
        return raw_of_table(error.table, reading.na, usable=False)


def write_table(
    table: Table,
    columns: Sequence[int] | np.ndarray[Any, Any],
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    selector: Any = None,
) -> None:
    """Write the selected columns, with ids and labels beside them; whole or not at all.

    The columns of a table that was read from a file are written as they are there: text of a text
    file in its encoding and with its separator, types of a Parquet or Excel file. Another format
    gets the types that it knows. A table whose arrays were replaced is written as it is; what was
    done to ``X`` in place is not written.

    h5ad and Zarr get a full copy instead, with ``tamis_selected`` in ``.var`` and, given the
    fitted selector, ``tamis_score`` and ``tamis_rank``.

    Parameters
    ----------
    table : Table
    columns : sequence of int
        Indices of the columns to keep, in the order to write them.
    path : path
        Never that of the table itself.
    format : str or None
        A name of :func:`formats`; None goes by the extension.
    selector : fitted selector or None
        Used by h5ad and Zarr only.
    """
    target = Path(path)
    chosen = format_of(target, format)
    refuse_input_as_output(target, table.path)
    kept = np.asarray(columns, dtype=np.intp)
    n_features = len(table.feature_names)
    if kept.ndim != 1 or not len(kept) or kept.min() < 0 or kept.max() >= n_features:
        raise TableError(
            f"{target}: columns must be indices from 0 to {n_features - 1}, at least 1."
        )
    origin = _origin(table)
    with writing(target, folder=chosen.name == "zarr") as beside:
        if chosen.keeps_all_columns:
            mask = np.zeros(n_features, dtype=bool)
            mask[kept] = True
            whole = _as_stored(table, origin, np.arange(n_features))
            chosen.write(whole, beside, format=chosen.name, var=columns_of_var(selector, mask))
        elif origin is not None and FORMATS[origin.format].copy is chosen.copy:
            assert chosen.copy is not None
            places = [*origin.beside(), *origin.features[kept].tolist()]
            chosen.copy(origin, beside, places, format=chosen.name)
        else:
            chosen.write(_as_stored(table, origin, kept), beside, format=chosen.name)


def write_columns(
    raw: RawTable,
    names: Sequence[str],
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
) -> None:
    """Write some columns of a table as they are in its file; whole or not at all.

    A file of the same kind gets every cell as it is there: text with its separator, decimal sign
    and encoding, Parquet and Excel with their types. Another format gets the types that it knows.
    h5ad and Zarr get a full copy of such a file instead, with ``tamis_selected`` in ``.var``.

    Parameters
    ----------
    raw : RawTable
    names : sequence of str
        The columns, in the order to write them.
    path : path
        Never that of the table itself.
    format : str or None
        A name of :func:`formats`; None goes by the extension.

    .. versionadded:: 0.1
    """
    target = Path(path)
    chosen = format_of(target, format)
    refuse_input_as_output(target, raw.path)
    known = raw.names
    place = {name: j for j, name in enumerate(known)}
    for name in names:
        if name not in place:
            raise TableError(
                f"{target}: there is no column {name!r} to write; {close_matches(name, known)}"
            )
    if not names:
        raise TableError(f"{target}: there is no column to write; name at least one.")
    origin = raw.origin
    if origin is not None and not origin.is_unchanged():
        warnings.warn(
            f"{raw.path}: the file is gone, or was changed since it was read: the columns are "
            "written as the values that were read.",
            TableWarning,
            stacklevel=2,
        )
        origin = None
    with writing(target, folder=chosen.name == "zarr") as beside:
        if origin is not None and chosen.copy and FORMATS[origin.format].copy is chosen.copy:
            chosen.copy(origin, beside, [place[name] for name in names], format=chosen.name)
            return
        if chosen.keeps_all_columns:
            features = [name for name in known if name not in raw.aside]
            if raw.format == chosen.name:
                whole = Table(
                    X=None,
                    feature_names=np.array(features, dtype=object),
                    path=raw.path,
                    format=raw.format,
                )
                mask = np.isin(np.array(features, dtype=object), list(names))
            else:
                whole = columns_to_write(raw, names, target, matrix=True)
                mask = np.ones(len(whole.feature_names), dtype=bool)
            chosen.write(whole, beside, format=chosen.name, var=columns_of_var(None, mask))
            return
        table = columns_to_write(raw, names, target, matrix=chosen.raw is None)
        chosen.write(table, beside, format=chosen.name)


def _origin(table: Table) -> Origin | None:
    """The file to take the columns from, unless the table is no longer what was read."""
    origin = table.origin
    if origin is None or not origin.is_of(table):
        return None
    if origin.is_unchanged():
        return origin
    said = f"{origin.path}: the file is gone, or was changed since it was read"
    if table.X is None:
        raise TableError(f"{said}; read it again.")
    warnings.warn(
        f"{said}: the columns are written as the numbers that were read.",
        TableWarning,
        stacklevel=3,
    )
    return None


def _as_stored(table: Table, origin: Origin | None, kept: np.ndarray[Any, Any]) -> Table:
    """The table with some of its columns, of the types that they have in the file."""
    names = table.feature_names[kept]
    read_typed = None if origin is None else FORMATS[origin.format].typed
    if origin is None or read_typed is None or sp.issparse(table.X):
        X = (
            table.X
            if len(kept) == table.X.shape[1] and (np.diff(kept) == 1).all()
            else table.X[:, kept]
        )
        if table.stored_dtype is not None:
            X = X.astype(table.stored_dtype)
        return replace(table, X=X, feature_names=names)
    # Ids and labels of a text file are what its cells say already.
    aside = origin.beside() if origin.format in ("parquet", "feather", "excel") else []
    values = read_typed(origin, [*aside, *origin.features[kept].tolist()])
    beside: dict[int, Any] = dict(zip(aside, values, strict=False))
    return replace(
        table,
        X=MixedColumns(values[len(aside) :]),
        feature_names=names,
        ids=table.ids if origin.ids is None else beside.get(origin.ids, table.ids),
        labels=table.labels if origin.label is None else beside.get(origin.label, table.labels),
    )


def write_ranking(
    selector: Any,
    feature_names: Sequence[str] | np.ndarray[Any, Any],
    path: str | os.PathLike[str],
    *,
    source: str | os.PathLike[str] | None = None,
) -> None:
    """Write feature, index, score, rank and selected of every column, best first.

    Parameters
    ----------
    selector : fitted selector
    feature_names : sequence of str
    path : path
        ``.csv``, ``.tsv`` or ``.json`` (a list of objects).
    source : path or None
        The input file, which is never written over.
    """
    target = Path(path)
    refuse_input_as_output(target, None if source is None else Path(source))
    kind = target.suffix.lower()
    if kind not in (".csv", ".tsv", ".json"):
        raise TableError(f"{target}: a ranking is written as .csv, .tsv or .json; rename it.")
    support = selector.get_support()
    if len(feature_names) != len(support):
        raise TableError(
            f"{target}: {len(feature_names)} names for {len(support)} features; pass one per "
            "feature."
        )
    records = [
        {
            "feature": str(feature_names[j]),
            "index": int(j),
            "score": float(selector.scores_[j]),
            "rank": int(selector.ranking_[j]),
            "selected": bool(support[j]),
        }
        for j in np.argsort(selector.ranking_, kind="stable")
    ]
    with writing(target) as beside, beside.open("w", encoding="utf-8", newline="") as file:
        if kind == ".json":
            json.dump(records, file, ensure_ascii=False, indent=1)
            file.write("\n")
        else:
            separator = "\t" if kind == ".tsv" else ","
            names = [str(record["feature"]) for record in records]
            writer = delimited_writer(file, separator, names)
            writer.writerow(records[0])
            writer.writerows(record.values() for record in records)
