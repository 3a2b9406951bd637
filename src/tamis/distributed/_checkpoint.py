"""What a pass over a table has done so far, in a file that is whole or not there."""

from __future__ import annotations

import errno
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from tamis import __version__
from tamis._typing import FloatArray
from tamis.io import LazyTable, TableError
from tamis.utils.files import write_atomically

__all__ = ["Checkpoint", "Progress"]

FORMAT = 1
HEADER, KEPT = "header", "kept "


@dataclass(frozen=True, eq=False)
class Progress:
    """How far the passes have come.

    Attributes
    ----------
    step : int
        Which pass, from 0.
    n_blocks : int
        How many blocks of it are done.
    state : dict of arrays
        What these have added up to.
    """

    step: int
    n_blocks: int
    state: Mapping[str, FloatArray]


class Checkpoint:
    """The file in which a fit keeps what it has done: the sums, and what they are sums of.

    Parameters
    ----------
    path : Path
    table : LazyTable
    task : dict
        What is computed: a checkpoint of another task is refused.

    Attributes
    ----------
    before : Progress or None
        What was done when it was opened.
    kept : dict of arrays
        What the passes that are over have found; written with the rest.
    """

    def __init__(self, path: Path, table: LazyTable, task: Mapping[str, Any]) -> None:
        self.path, self._task = path, dict(task)
        self._layout, self._names = table.layout(), table.names
        self._parts = [block.part for block in table.blocks]
        self._table = table.name
        # What earlier passes have found, beside the sums of the one under way.
        self.kept: dict[str, FloatArray] = {}
        self.before = self._read()

    def _read(self) -> Progress | None:
        """What was done before, or None; refuses what is not of this table and task."""
        try:
            with np.load(self.path, allow_pickle=False) as file:
                header = json.loads(file[HEADER].tobytes())
                held = {name: file[name] for name in file.files if name != HEADER}
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise TableError(
                f"{self.path}: this is no checkpoint of tamis, and is not written over; name "
                "another file."
            ) from error
        self._refuse_other(header)
        self.kept = {
            name.removeprefix(KEPT): values
            for name, values in held.items()
            if name.startswith(KEPT)
        }
        state = {name: values for name, values in held.items() if not name.startswith(KEPT)}
        return Progress(header["step"], header["n_blocks"], state)

    def _refuse_other(self, header: Mapping[str, Any]) -> None:
        what = None
        if header.get("format") != FORMAT or header.get("tamis") != __version__:
            what = f"of tamis {header.get('tamis')}, not {__version__}"
        elif header["names"] != self._names or [p[0] for p in header["layout"]] != [
            p[0] for p in self._layout
        ]:
            what = f"of another table, not {self._table}"
        elif [p[3] for p in header["layout"]] != [p[3] for p in self._layout]:
            what = "of other blocks of rows: a file has other rows, or memory was another"
        elif header["task"] != self._task:
            what = "of another task: the selector or its parameters were others"
        else:
            # Files that were not read yet may have been mended since.
            last = len(self._parts) if header["step"] else header["n_blocks"]
            for part in sorted(set(self._parts[:last])):
                if header["layout"][part][1:3] != self._layout[part][1:3]:
                    what = f"made before {self._layout[part][0]} changed"
                    break
        if what is not None:
            raise TableError(
                f"{self.path}: the checkpoint is {what}; delete it to begin anew, or name another "
                "file."
            )

    def write(self, progress: Progress) -> None:
        """Keep what is done; when this returns it is on the disk."""
        header = {
            "format": FORMAT,
            "tamis": __version__,
            "task": self._task,
            "names": self._names,
            "layout": self._layout,
            "step": progress.step,
            "n_blocks": progress.n_blocks,
        }
        contents = BytesIO()
        text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
        kept = {f"{KEPT}{name}": values for name, values in self.kept.items()}
        np.savez(contents, **{HEADER: text}, **kept, **progress.state)  # type: ignore[arg-type]
        try:
            write_atomically(self.path, contents.getvalue())
        except OSError as error:
            why = "the disk is full" if error.errno == errno.ENOSPC else error.strerror
            raise TableError(
                f"{self.path}: the checkpoint cannot be written ({why}); make room, or name a file "
                "elsewhere. What was written before is kept."
            ) from error

    def remove(self) -> None:
        """Take the file away: all is done."""
        self.path.unlink(missing_ok=True)
