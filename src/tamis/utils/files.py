"""Writing files so that a reader never sees half of one."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["WORK_PREFIX", "replacing", "write_atomically"]

#: How the names of folders begin in which files are written before they take their places.
WORK_PREFIX = ".tamis-"


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path to write to, of the same name, that takes the place of `path` when all went well.

    What is written, a file or a folder, is flushed to the disk and then renamed. On any failure it
    is removed, and what was at `path` is still there. A link stays a link, its file is replaced; a
    file keeps the rights of the one that it replaces.

    Parameters
    ----------
    path : Path
        In a folder that exists. A device or a pipe is written through: it has no contents to put
        in its place.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from tamis.utils.files import replacing
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "ranking.csv"
    ...     with replacing(path) as beside:
    ...         _ = beside.write_text("whole")
    ...         print(path.exists())
    ...     print(path.read_text())
    False
    whole
    """
    device = path.exists() and not (path.is_file() or path.is_dir())
    target = path if device else Path(os.path.realpath(path))
    folder = Path(tempfile.gettempdir()) if device else target.parent
    work = Path(tempfile.mkdtemp(prefix=WORK_PREFIX, dir=folder))
    try:
        beside = work / target.name
        yield beside
        if device:
            with open(beside, "rb") as finished, open(target, "wb") as file:
                shutil.copyfileobj(finished, file)
        else:
            _flush(beside)
            _take_place(beside, target)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _flush(path: Path) -> None:
    """Onto the disk, so that the name never leads to a half-written file."""
    for part in path.rglob("*") if path.is_dir() else (path,):
        if part.is_file():
            handle = os.open(part, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


def _take_place(beside: Path, target: Path) -> None:
    if target.is_dir():
        # A folder cannot be replaced in one step: the old one steps aside, and back on failure.
        old = beside.with_name("replaced")
        os.replace(target, old)
        try:
            os.replace(beside, target)
        except OSError:
            os.replace(old, target)
            raise
        return
    if target.exists():
        os.chmod(beside, stat.S_IMODE(target.stat().st_mode))
    os.replace(beside, target)


def write_atomically(path: Path, contents: str | bytes) -> None:
    """Put a file in place whole.

    Parameters
    ----------
    path : Path
        The file; its folder is made if need be.
    contents : str or bytes
        What it holds; text is written as UTF-8.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as beside:
        beside.write_bytes(contents.encode() if isinstance(contents, str) else contents)
