"""The file of a sweep: a header, then a line of JSON for every finished run."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from tamis import __version__
from tamis.evaluation.results import Record

try:
    import fcntl
except ImportError:  # Windows: two sweeps of one file are not kept apart there
    fcntl = None  # type: ignore[assignment]

__all__ = ["Journal", "SweepError", "identity", "read_journal"]

FORMAT = 1


class SweepError(RuntimeError):
    """A file of results cannot be used; the message says why and what to do."""


def identity(key: Mapping[str, Any]) -> str:
    """A key as one string, whatever the order of its entries."""
    return json.dumps(key, sort_keys=True)


class Journal:
    """Records by identity, in memory and in a file that survives being killed.

    Parameters
    ----------
    path : Path or None
        The file; None keeps the records in memory only.
    header : dict
        Kept in the first line. A file that begins with another is refused.
    """

    def __init__(self, path: Path | None, header: Mapping[str, Any]) -> None:
        self.path = path
        self.records: dict[str, Record] = {}
        self._file: BinaryIO | None = None
        if path is None:
            return
        first = {"format": FORMAT, "tamis": __version__, **header}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a+b")
            self._lock()
            self._read(json.loads(json.dumps(first)))
        except OSError as failure:
            self.close()
            raise SweepError(f"cannot keep results in {path}: {failure.strerror}.") from failure
        except SweepError:
            self.close()
            raise

    def append(self, record: Record) -> None:
        """Keep a record; when this returns it is on the disk."""
        if self._file is not None:
            self._write(record.as_dict())
        self.records[identity(record.key)] = record

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _lock(self) -> None:
        if fcntl is None or self._file is None:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as failure:
            raise SweepError(
                f"{self.path} is in use by another sweep; wait for it, or give another output."
            ) from failure

    def _read(self, first: dict[str, Any]) -> None:
        assert self._file is not None
        assert self.path is not None
        self._file.seek(0)
        lines = self._file.read().split(b"\n")
        # What follows the last line break was cut off by a kill: that run is made again.
        whole = sum(len(line) + 1 for line in lines[:-1])
        os.truncate(self.path, whole)
        header, self.records = _parse(lines[:-1], self.path)
        if header is None:
            self._write(first)
        elif header != first:
            differs = [k for k in {**header, **first} if header.get(k) != first.get(k)]
            name = differs[0]
            raise SweepError(
                f"{self.path} holds results made with {name}={header.get(name)!r}, not "
                f"{first.get(name)!r}; give another output, or discard them (--fresh)."
            )

    def _write(self, entry: Mapping[str, Any]) -> None:
        assert self._file is not None
        line = json.dumps(entry, allow_nan=False, separators=(",", ":")).encode() + b"\n"
        try:
            self._file.write(line)
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as failure:
            raise SweepError(
                f"cannot write to {self.path}: {failure.strerror}; {len(self.records)} runs are "
                "kept there, run again to go on."
            ) from failure


def read_journal(path: str | os.PathLike[str]) -> tuple[dict[str, Any], list[Record]]:
    """The header and the records of a file, in the order in which they were finished."""
    lines = Path(path).read_bytes().split(b"\n")
    header, records = _parse(lines[:-1], Path(path))
    return header or {}, list(records.values())


def _parse(lines: list[bytes], path: Path) -> tuple[dict[str, Any] | None, dict[str, Record]]:
    header = None
    records = {}
    for number, line in enumerate(lines, start=1):
        try:
            entry = json.loads(line)
            if number == 1:
                header = dict(entry)
                header["format"]
            else:
                record = Record(entry["key"], entry["rows"], entry["seconds"], entry["error"])
                records[identity(record.key)] = record
        except (ValueError, KeyError, TypeError) as failure:
            raise SweepError(
                f"line {number} of {path} is not a result; give another output, or discard the "
                "file (--fresh)."
            ) from failure
    return header, records
