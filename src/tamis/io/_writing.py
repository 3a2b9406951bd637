"""Write whole files or nothing, and say why nothing could be written."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tamis.io._errors import TableError
from tamis.utils.files import replacing


def refuse_input_as_output(target: Path, source: Path | None) -> None:
    """Never write over what was read, whatever name leads to it, nor into its folder."""
    if source is None:
        return
    real, real_source = Path(os.path.realpath(target)), Path(os.path.realpath(source))
    same = real == real_source or (
        target.exists() and source.exists() and os.path.samefile(target, source)
    )
    if same or real_source in real.parents:
        raise TableError(f"{target}: this is the input; choose another name for the output.")


def explain(path: Path, error: Exception) -> TableError:
    """What went wrong on writing, and what to do."""
    code, text = getattr(error, "errno", None), str(error)
    if code in (errno.ENOSPC, errno.EDQUOT) or "No space left" in text:
        reason = "no space is left on the disk; make room, or write elsewhere"
    elif code in (errno.EACCES, errno.EPERM, errno.EROFS):
        reason = "writing is not permitted here; choose another folder, or change its rights"
    elif code == errno.EFBIG or "File too large" in text:
        reason = "the file would be larger than the system allows; write elsewhere"
    elif "requested and" in text:  # numpy does not say why
        reason = "only a part could be written, the disk may be full; make room, or write elsewhere"
    else:
        reason = f"cannot be written ({error}); write elsewhere"
    return TableError(f"{path}: {reason}. Nothing was written.")


@contextmanager
def writing(path: Path, *, folder: bool = False) -> Iterator[Path]:
    """A path to write to, which takes the place of `path` when all went well; else says why not.

    Parameters
    ----------
    path : Path
    folder : bool, default=False
        Whether a Zarr store, which is a folder, is to be written.
    """
    target = Path(os.path.realpath(path))
    if not path.exists() and not target.parent.is_dir():
        raise TableError(
            f"{path}: the folder {target.parent} does not exist; create it first (mkdir -p)."
        )
    if target.exists():
        check_replaceable(path, target, folder)
    try:
        with replacing(path) as beside:
            yield beside
    except TableError:
        raise
    except (OSError, RuntimeError) as error:  # h5py tells of a full disk by RuntimeError
        raise explain(path, error) from error


def check_replaceable(path: Path, target: Path, folder: bool) -> None:
    """Refuse to put a file in place of a folder, or a Zarr store in place of anything but one.

    Parameters
    ----------
    path, target : Path
        The name to speak of, and what exists where it leads to.
    folder : bool
        Whether a Zarr store, which is a folder, is to be written.
    """
    if target.is_dir() and not folder:
        raise TableError(f"{path}: this is a folder; name a file.")
    if folder and not target.is_dir():
        raise TableError(f"{path}: a file is in the way of the folder; choose another name.")
    marks = ("zarr.json", ".zgroup", ".zarray")
    if folder and not any((target / mark).exists() for mark in marks) and any(target.iterdir()):
        raise TableError(f"{path}: the folder exists and holds no Zarr store; choose another name.")
