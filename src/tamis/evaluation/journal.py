"""The file of a sweep: a header, then a line of JSON for every finished run."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
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
# Fields that protocols were given later than some journals, with what held before.
LATER: Mapping[str, Any] = {"n_trees": 100, "n_random_classified": None}


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
    fresh : bool, default=False
        Whether to discard what the file holds, whoever made it.
    """

    def __init__(
        self, path: Path | None, header: Mapping[str, Any], *, fresh: bool = False
    ) -> None:
        self.path = path
        self.records: dict[str, Record] = {}
        self._file: BinaryIO | None = None
        self._made_with: dict[str, str] = {}
        if path is None:
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a+b")
            self._lock()
            if fresh:
                os.truncate(path, 0)
            self._read({"format": FORMAT, "tamis": __version__, **header})
        except OSError as failure:
            self.close()
            raise SweepError(f"cannot keep results in {path}: {failure.strerror}.") from failure
        except SweepError:
            self.close()
            raise

    def append(self, record: Record) -> None:
        """Keep a record; when this returns it is on the disk."""
        if self._file is not None:
            if record.made_with != self._made_with:
                self._write(_line({"made_with": record.made_with}))
                self._made_with = record.made_with
            self._write(_line(record.as_dict()))
        self.records[identity(record.key)] = record

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            with suppress(OSError):  # of a full disk, which was told when the line was written
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

    def _read(self, first: Mapping[str, Any]) -> None:
        """Take over what the file holds; only then is anything in it changed."""
        assert self._file is not None
        assert self.path is not None
        self._file.seek(0)
        *lines, torn = self._file.read().split(b"\n")
        if not lines:
            if not _line(first).startswith(torn):
                raise SweepError(f"{self.path} holds no results; give another output.")
            os.truncate(self.path, 0)
            self._write(_line(first))
            return
        header, records, made_with = _parse(lines, self.path)
        expected = json.loads(json.dumps(first))
        header = _completed(header, expected)
        if header != expected:
            raise SweepError(
                f"{self.path} holds results made with {_difference(header, expected)}; give "
                "another output, or discard them (fresh=True)."
            )
        # What follows the last line break was cut off by a kill: that run is made again.
        os.truncate(self.path, sum(len(line) + 1 for line in lines))
        self.records, self._made_with = records, made_with

    def _write(self, line: bytes) -> None:
        assert self._file is not None
        try:
            self._file.write(line)
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as failure:
            raise SweepError(
                f"cannot write to {self.path}: {failure.strerror}; {len(self.records)} runs are "
                "kept there, run again to go on."
            ) from failure


def _line(entry: Mapping[str, Any]) -> bytes:
    return json.dumps(entry, allow_nan=False, separators=(",", ":")).encode() + b"\n"


def read_journal(path: str | os.PathLike[str]) -> tuple[dict[str, Any], list[Record]]:
    """The header and the records of a file, in the order in which they were finished."""
    lines = Path(path).read_bytes().split(b"\n")[:-1]
    if not lines:
        return {}, []
    header, records, _ = _parse(lines, Path(path))
    return header, list(records.values())


def _parse(
    lines: list[bytes], path: Path
) -> tuple[dict[str, Any], dict[str, Record], dict[str, str]]:
    """The header, of every run the last record, and what made the last runs."""
    header: dict[str, Any] = {}
    records: dict[str, Record] = {}
    made_with: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        try:
            entry = json.loads(line)
            if number == 1:
                header = dict(entry)
                header["format"]
            elif "made_with" in entry:
                made_with = dict(entry["made_with"])
            else:
                record = _record(entry, made_with)
                records.pop(identity(record.key), None)
                records[identity(record.key)] = record
        except (ValueError, KeyError, TypeError, AttributeError) as failure:
            advice = "give another output, or discard the file (fresh=True)"
            if number > 1:
                advice = f"delete the line to have its run made again, {advice}"
            raise SweepError(
                f"line {number} of {path} is not a result{_lack(failure)}; {advice}."
            ) from failure
    return header, records, made_with


def _record(entry: Mapping[str, Any], made_with: dict[str, str]) -> Record:
    """A record of which everything is there that tables are made of."""
    fields = ("key", "rows", "seconds", "error", "fingerprint")
    record = Record(**{name: entry[name] for name in fields}, made_with=made_with)
    record.seconds.items()
    if "set" in record.key and "label" in record.key:
        record.key["parameters"].items()
        for row in record.rows:
            row["n_features"], row["measure"]
            if not isinstance(row["values"], list):
                raise TypeError("values are a list")
    return record


def _lack(failure: Exception) -> str:
    return f" (it lacks {failure})" if isinstance(failure, KeyError) else ""


def _completed(found: Mapping[str, Any], expected: Mapping[str, Any]) -> dict[str, Any]:
    """A header with the fields that there were not yet when it was written."""
    before = {name: value for name, value in LATER.items() if name in expected}
    inner = {
        name: _completed(value, expected[name])
        for name, value in found.items()
        if isinstance(value, Mapping) and isinstance(expected.get(name), Mapping)
    }
    return {**before, **found, **inner}


def _difference(found: Mapping[str, Any], expected: Mapping[str, Any]) -> str:
    """The fields that differ, with their values: "seed=0, not 1"."""
    told = []
    for name in {**found, **expected}:
        one, other = found.get(name), expected.get(name)
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            if one != other:
                told.append(_difference(one, other))
        elif one != other:
            told.append(f"{name}={one!r}, not {other!r}")
    return ", and ".join(told)
