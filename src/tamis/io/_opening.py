"""From a path, a folder or a pattern to a table that is read in blocks."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from pathlib import Path

from tamis.io._errors import TableError
from tamis.io._formats import FORMATS, check_content, format_of
from tamis.io._lazy import LazyScaling, LazyTable, Part
from tamis.io._lazy_checks import warn_of_gaps
from tamis.io._lazy_formats import LAZY_FORMATS

__all__ = ["as_bytes", "open_table"]

DEFAULT_MEMORY = "1GB"
LEAST_MEMORY = 16 << 20
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_UNITS |= {f"{unit}I": 1 << (10 * power) for power, unit in enumerate("KMGT", start=1)}


def open_table(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    memory: int | str = DEFAULT_MEMORY,
    drop: Sequence[str] = (),
    numeric_only: bool = False,
    scaling: LazyScaling = "none",
    checkpoint: str | os.PathLike[str] | None = None,
    verbose: bool = False,
    format: str | None = None,
    key: str | None = None,
) -> LazyTable:
    """Open a table that need not fit into memory.

    Nothing but the names, the types and the number of rows is read; `fit` reads the table once or
    twice, in blocks of rows.

    Parameters
    ----------
    path : path or sequence of paths
        A file, a folder of files, a pattern such as ``"big/*.parquet"``, or several of these: NPY,
        Parquet, Feather (Arrow), CSV and TSV, h5ad, Zarr. The files have the same columns; they
        are taken in the order of their names, numbers in them by value.
    memory : int or str, default="1GB"
        What a fit may take beyond what Python and its libraries do: bytes, or a text such as
        ``"2GB"`` or ``"512MiB"``. It decides how many rows are read at once.
    drop : sequence of str, default=()
        Columns to leave out, by name or pattern.
    numeric_only : bool, default=False
        Whether to leave out the columns that do not hold numbers, instead of refusing the table.
    scaling : {"none", "standard", "columns", "unit"}, default="none"
        What is done to the columns, by statistics of all rows: nothing, to mean 0 and deviation 1,
        each to the range 0 to 1, or all to it by one scale.
    checkpoint : path or None, default=None
        A file in which a fit keeps what it has done after each block. A fit that was stopped, in
        whatever way, goes on from there, with the same result; when it is done the file is removed.
    verbose : bool, default=False
        Whether to show a progress bar, on a terminal.
    format : str or None, default=None
        A name of :func:`formats`; None goes by the extension.
    key : str or None, default=None
        Which matrix of an h5ad file or a Zarr store, such as ``"layers/counts"``.

    Returns
    -------
    LazyTable

    Raises
    ------
    TableError
        One line: what is wrong, with the file and the place in it, and what to do.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import tamis.io
    >>> from tamis import MaxVariance
    >>> folder = tempfile.TemporaryDirectory()
    >>> for part in range(3):
    ...     X = np.random.default_rng(part).normal(size=(100, 4)) * [1, 2, 3, 4]
    ...     np.save(Path(folder.name) / f"part-{part}.npy", X)
    >>> table = tamis.io.open(f"{folder.name}/*.npy")
    >>> table.shape
    (300, 4)
    >>> MaxVariance(2).fit(table).get_support(indices=True)
    array([2, 3])
    >>> folder.cleanup()

    .. versionadded:: 0.1
    """
    given = [path] if isinstance(path, str | os.PathLike) else list(path)
    paths = [found for one in given for found in _files(os.fspath(one), format)]
    if not paths:
        raise TableError("No file was named; give a path, a folder or a pattern.")
    parts = [_part(one, format, key) for one in paths]
    return LazyTable(
        parts,
        memory=as_bytes(memory),
        drop=drop,
        numeric_only=numeric_only,
        scaling=scaling,
        checkpoint=None if checkpoint is None else Path(checkpoint),
        verbose=verbose,
    )


def as_bytes(memory: int | str) -> int:
    """A number of bytes from what people write, such as "2GB"; refuses too little to work with."""
    if isinstance(memory, str):
        found = re.fullmatch(r"\s*([\d.]+)\s*([KMGT]?I?)B?\s*", memory.upper())
        try:
            if found is None:
                raise ValueError
            n_bytes = int(float(found[1]) * _UNITS[found[2]])
        except (ValueError, KeyError):
            raise TableError(
                f"memory={memory!r} is no amount of memory; write it as '2GB' or '512MiB'."
            ) from None
    else:
        n_bytes = int(memory)
    if n_bytes < LEAST_MEMORY:
        raise TableError(f"memory={memory!r} is too little to work with; allow at least '16MiB'.")
    return n_bytes


def _files(path: str, format: str | None) -> list[Path]:
    """The files that a path, a folder or a pattern stands for, in their order."""
    if not os.path.exists(path) and glob.has_magic(path):
        found = [Path(one) for one in glob.glob(path, recursive=True)]
        found = [one for one in found if not one.name.startswith((".", "_"))]
        if not found:
            raise TableError(f"{path}: no file matches; check the folder and the pattern.")
    elif os.path.isdir(path) and not _is_store(Path(path)):
        known = _extensions()
        found = [
            one
            for one in Path(path).iterdir()
            if not one.name.startswith((".", "_"))
            and (format is not None or one.suffix.lower() in known)
        ]
        if not found:
            raise TableError(f"{path}: the folder holds no table; name files with a pattern.")
    else:
        return [Path(path)]
    found.sort(key=_natural)
    warn_of_gaps(found)
    return found


def is_part_of(path: Path, pattern: str) -> bool:
    """Whether a file, if it were there, would be read as a part of a folder or a pattern.

    Parameters
    ----------
    path : Path
    pattern : str
        As :func:`open_table` takes it.
    """
    real = path.resolve()
    if os.path.isdir(pattern):
        return real.parent == Path(pattern).resolve() and real.suffix.lower() in _extensions()
    return glob.has_magic(pattern) and real.match(str(Path(pattern).resolve()))


def _extensions() -> set[str]:
    """Of the files that are taken from a folder."""
    return {suffix for name in LAZY_FORMATS for suffix in FORMATS[name].extensions}


def _is_store(path: Path) -> bool:
    return any((path / name).exists() for name in (".zarray", ".zgroup", "zarr.json"))


def _natural(path: Path) -> list[tuple[int, int, str]]:
    """A key that sorts the numbers in names by value."""
    cells = re.split(r"(\d+)", str(path))
    return [(1, int(cell), "") if cell.isdigit() else (0, 0, cell) for cell in cells]


def _part(path: Path, format: str | None, key: str | None) -> Part:
    chosen = format_of(path, "zarr" if format is None and _is_store(path) else format)
    if chosen.name not in LAZY_FORMATS:
        known = ", ".join(FORMATS[name].title for name in LAZY_FORMATS)
        raise TableError(
            f"{path}: {chosen.title} files are not read in blocks; these are: {known}."
        )
    try:
        check_content(path, chosen)
        return LAZY_FORMATS[chosen.name](path, key)
    except TableError:
        raise
    except FileNotFoundError as error:
        raise TableError(f"{path}: there is no such file; check the name.") from error
    except PermissionError as error:
        raise TableError(f"{path}: reading is not permitted; change its rights.") from error
    except Exception as error:  # parsers fail in many ways on damaged files; the cause is kept
        reason = " ".join(str(error).split()) or type(error).__name__
        raise TableError(
            f"{path}: damaged, cut short, or not {chosen.title} ({reason[:200]}); check how it was "
            "made or copied."
        ) from error
