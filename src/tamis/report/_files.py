"""Writing a file whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_whole(path: str | os.PathLike[str], text: str) -> Path:
    """Write a text beside its place, make sure that it is on the disk, then move it there."""
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"There is no folder {target.parent}; make it, or save the report elsewhere."
        )
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder; name a file in it.")
    handle, beside = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(beside, 0o666 & ~mask)  # mkstemp lets only the owner read
        os.replace(beside, target)
    except BaseException:
        os.unlink(beside)
        raise
    return target
