"""The table that a command works on: a file, or a registered data set."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from tamis.cli._failures import CommandError, command_words, reason
from tamis.cli._screen import working

if TYPE_CHECKING:
    from tamis.io import Table

__all__ = ["Source", "read_source"]

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
    """

    name: str
    table: Table
    read: Callable[[], Table]
    code: str

    def reread(self) -> None:
        """Read the table once more, unless it is written from its file; let go of the old first."""
        self.table = replace(self.table, X=None)
        if self.table.origin is None:
            self.table = self.read()

    def describe(self) -> str:
        """Name and size, and which columns are set aside."""
        import scipy.sparse as sp

        n_samples, n_columns = self.table.X.shape
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


def read_source(
    file: str,
    *,
    labels: str | None = None,
    ids: str | None = None,
    format: str | None = None,
    key: str | None = None,
    header: bool | None = None,
) -> Source:
    """Read a file or a registered set; a failure says in one line why that cannot be done."""

    def read() -> Table:
        from tamis import io

        def words(said: Exception) -> str:
            return command_words(said).replace(str(path), file)  # a pipe is read from a copy

        try:
            with warnings.catch_warnings(record=True) as hints:
                warnings.simplefilter("always", io.TableWarning)
                table = io.read(path, labels=labels, ids=ids, format=format, key=key, header=header)
        except io.TableError as error:
            raise CommandError(words(error)) from None
        except OSError as error:
            raise CommandError(f"cannot read {file}: {reason(error)}.") from None
        for hint in hints:
            warnings.warn(words(cast(Warning, hint.message)), hint.category, stacklevel=2)
        return replace(table, notes=tuple(map(command_words, table.notes)))

    if file.startswith(_REGISTERED):
        name = file.removeprefix(_REGISTERED)
        for option, value in (
            ("--labels", labels),
            ("--id", ids),
            ("--format", format),
            ("--key", key),
            ("--header", header),
        ):
            if value is not None:
                raise CommandError(f"{file} is a registered data set: leave out {option}.")
        code = f"from tamis import datasets\n\ntable = datasets.load({name!r})"
        return _checked(Source(file, _registered(name), lambda: _registered(name), code))
    with working(f"reading {file}"):
        path = _spooled(file, format)
        options = {"labels": labels, "ids": ids, "format": format, "key": key, "header": header}
        given = "".join(
            f", {name}={value!r}" for name, value in options.items() if value is not None
        )
        code = f"from tamis import io\n\ntable = io.read({file!r}{given})"
        return _checked(Source(file, read(), read, code))


def _spooled(file: str, format: str | None) -> Path:
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
