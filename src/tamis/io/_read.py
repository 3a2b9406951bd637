"""Read a table: as numbers, or as it comes."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tamis.io._array_files import ArrayFileError
from tamis.io._errors import TableError, TableWarning, UnusableError
from tamis.io._formats import Format, check_content, format_of
from tamis.io._raw import RawTable, raw_of_table
from tamis.io._reading import Reading
from tamis.io._sniffing import may_be_numbers
from tamis.io._table import Table

__all__ = ["read", "read_columns"]


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
