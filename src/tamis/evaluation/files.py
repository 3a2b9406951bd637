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
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as file:
            file.write(contents.encode() if isinstance(contents, str) else contents)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
