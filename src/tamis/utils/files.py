"""Writing files so that a reader never sees half of one."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["write_atomically"]


def write_atomically(path: Path, contents: str | bytes) -> None:
    """Put a file in place whole: written beside, flushed to disk, then renamed.

    Parameters
    ----------
    path : Path
        The file; its folder is made if need be.
    contents : str or bytes
        What it holds; text is written as UTF-8.

    Notes
    -----
    A device or a pipe is written through: it has no contents to put in its place.
    """
    data = contents.encode() if isinstance(contents, str) else contents
    if path.exists() and not (path.is_file() or path.is_dir()):
        with path.open("wb") as file:
            file.write(data)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
