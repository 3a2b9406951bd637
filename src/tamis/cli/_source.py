"""The table that a command works on: a file, or a registered data set."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tamis.cli._failures import CommandError, command_words, reason
from tamis.cli._mixed import Cut, Mixed, prepared_table
from tamis.cli._options import ReadingOptions
from tamis.cli._screen import working

if TYPE_CHECKING:
    from tamis.io import RawTable, Table

__all__ = ["Source", "read_as_it_comes", "read_raw", "read_source", "spooled"]

_REGISTERED = "dataset:"


@dataclass
class Source:
    """A table, and how to get it once more.

    Attributes
    ----------
    name : str
        As the user gave it.
    table : Table
    read : callable
        Reads the table anew.
    code : str
        Python that reads it, too, as `table`.
    mixed : Mixed or None
        What was made of a table of mixed types or with gaps, whose numbers `table` holds.
    """

    name: str
    table: Table
    read: Callable[[], Table]
    code: str
    mixed: Mixed | None = None

    def reread(self) -> None:
        """Read the table once more, unless it is written from its file; let go of the old first."""
        self.table = replace(self.table, X=None)
        if self.table.origin is None:
            self.table = self.read()

    def describe(self) -> str:
        """Name and size, and which columns are set aside."""
        import scipy.sparse as sp

        n_samples, n_columns = self.table.X.shape
        if self.mixed is not None:
            n_samples, n_columns = self.mixed.raw.n_rows, len(self.mixed.raw.names)
            text = f"{self.name}: {n_samples:,} samples × {n_columns:,} columns, of which "
            return f"{text}{len(self.mixed.preparation.groups_):,} are chosen among."
        text = f"{self.name}: {n_samples:,} samples × {n_columns:,} columns"
        if sp.issparse(self.table.X):
            share = self.table.X.nnz / (n_samples * n_columns)
            text += f", sparse ({share:.2%} stored)"
        aside = [
            what
            for what, values in (("labels", self.table.labels), ("ids", self.table.ids))
            if values is not None
        ]
        return text + (f"; {' and '.join(aside)} set aside" if aside else "") + "."


def read_source(file: str, options: ReadingOptions, cut: Cut) -> Source:
    """Read a file or a registered set; a failure says in one line why that cannot be done.

    Parameters
    ----------
    file : str
    options : ReadingOptions
    cut : Cut
        What is done to a table of mixed types or with gaps.
    """
    given = options.given()
    if file.startswith(_REGISTERED):
        name = _registered_name(file, given)
        code = f"from tamis import datasets\n\ntable = datasets.load({name!r})"
        return _checked(Source(file, _registered(name), lambda: _registered(name), code))
    with working(f"reading {file}"):
        return _any_table(file, spooled(file, options.format), given, cut)


def read_as_it_comes(file: str, options: ReadingOptions) -> RawTable:
    """The columns of a file or a registered set as they come; parameters as `read_source` has."""
    from tamis.io import RawTable

    given = options.given()
    if file.startswith(_REGISTERED):
        table = _registered(_registered_name(file, given))
        beside = tuple(name for name, _ in table.beside())
        return RawTable(
            path=Path(file),
            format=table.format,
            aside=beside,
            labels_name=beside[-1] if table.labels is not None else None,
            table=table,
        )
    with working(f"reading {file}"):
        return read_raw(file, spooled(file, options.format), given)


def _registered_name(file: str, given: Mapping[str, Any]) -> str:
    """The name of a registered set, of which nothing else can be said."""
    for name in given:
        option = "id" if name == "ids" else name
        raise CommandError(f"{file} is a registered data set: leave out --{option}.")
    return file.removeprefix(_REGISTERED)


def _any_table(file: str, path: Path, given: dict[str, Any], cut: Cut) -> Source:
    """A table of any kind: as it is where it is all numbers, else prepared."""
    raw = read_raw(file, path, given)
    if raw.table is not None:

        def read() -> Table:
            table = read_raw(file, path, given).table
            assert table is not None
            return table

        code = _code("read", file, {k: v for k, v in given.items() if k != "na"})
        return _checked(Source(file, raw.table, read, code))
    table, mixed = prepared_table(raw, cut, file)
    code = _code("read_columns", file, given) + _preparing(mixed, cut)
    return Source(file, table, lambda: table, code, mixed)


def read_raw(file: str, path: Path, given: Mapping[str, Any]) -> RawTable:
    """The columns of a file as it comes; what may be wrong with it is a warning."""
    from tamis import io

    raw: RawTable = _told(file, path, lambda: io.read_columns(path, **given))
    if raw.table is not None:
        for hint in raw.table.hints:
            text = command_words(f"{path}: {hint}").replace(str(path), file)
            warnings.warn(text, io.TableWarning, stacklevel=2)
    notes = tuple(map(command_words, raw.notes))
    table = None if raw.table is None else replace(raw.table, notes=notes)
    return replace(raw, notes=notes, table=table)


def _told(file: str, path: Path, read: Callable[[], Any]) -> Any:
    """What `read` returns, failures and warnings in words of the command line."""
    from tamis import io

    def words(said: Any) -> str:
        return command_words(said).replace(str(path), file)  # a pipe is read from a copy

    try:
        with warnings.catch_warnings(record=True) as hints:
            warnings.simplefilter("always", io.TableWarning)
            table = read()
    except io.TableError as error:
        raise CommandError(words(error)) from None
    except OSError as error:
        raise CommandError(f"cannot read {file}: {reason(error)}.") from None
    for hint in hints:
        warnings.warn(words(hint.message), hint.category, stacklevel=2)
    return replace(table, notes=tuple(map(command_words, table.notes)))


def _code(function: str, file: str, given: Mapping[str, Any]) -> str:
    options = "".join(f", {name}={value!r}" for name, value in given.items())
    return f"from tamis import io\n\ntable = io.{function}({file!r}{options})"


def _preparing(mixed: Mixed, cut: Cut) -> str:
    """Python that makes numbers of the columns that were read, again as `table`."""
    chosen = mixed.preparation.feature_names_in_.tolist()
    return (
        "\n\nfrom types import SimpleNamespace\n\nfrom tamis.preprocessing import Preparation\n\n"
        f"chosen = {chosen!r}\n"
        f"preparation = Preparation(missing={cut.missing!r})\n"
        "X = preparation.fit_transform({name: table.columns[name] for name in chosen})\n"
        "table = SimpleNamespace(X=X)"
    )


def spooled(file: str, format: str | None) -> Path:
    """The file; of a pipe or a device, which can be read only once, a copy for as long as we run.

    Reading looks at the start of a file first, and a table scaled in place is read once more.
    """
    path = Path(file)
    if not path.exists() or path.is_file() or path.is_dir():
        return path
    from tamis import io

    try:
        io.format_of(path, format)  # before waiting for whoever writes
    except io.TableError as error:
        raise CommandError(command_words(error)) from None
    folder = tempfile.TemporaryDirectory(prefix="tamis-")
    atexit.register(folder.cleanup)
    copy = Path(folder.name) / path.name  # the name may tell format and compression
    try:
        with path.open("rb") as pipe, copy.open("wb") as kept:
            shutil.copyfileobj(pipe, kept)
    except OSError as error:
        raise CommandError(f"cannot read {file}: {reason(error)}.") from None
    return copy


def _registered(name: str) -> Table:
    import numpy as np

    from tamis import datasets
    from tamis.io import Table

    try:
        with working(f"loading {name}"):
            data = datasets.load(name)
    except datasets.DatasetError as error:
        raise CommandError(command_words(error)) from None
    shape = data.image_shape
    if shape is not None and data.entry is not None and data.entry.image_order == "F":
        shape = shape[::-1]  # read by rows, a picture that runs by columns lies on its side
    names = data.feature_names or [f"x{column}" for column in range(data.X.shape[1])]
    return Table(
        X=data.X,
        feature_names=np.array(names, dtype=object),
        labels=data.y,
        ids=None,
        path=None,
        format="csv",
        image_shape=shape,
    )


def _checked(source: Source) -> Source:
    """The source, if there is something to choose from in it."""
    n_samples, n_columns = source.table.X.shape
    if n_samples < 2:
        rows = "no rows" if n_samples == 0 else "a single row"
        raise CommandError(
            f"{source.name} has {rows}; columns are compared over at least two samples."
        )
    if n_columns == 0:
        raise CommandError(f"{source.name} has no columns of numbers to choose from.")
    return source
