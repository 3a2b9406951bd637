"""Selections as JSON: written with a checksum, and read with distrust."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FORMAT = "tamis selection"
VERSION = 1
# A selection of a hundred thousand columns with its imputation is smaller by far.
MOST_BYTES = 256 * 2**20

# What a file holds, and of which type; no more and no less.
_FIELDS: dict[str, type | tuple[type, ...]] = {
    "format": str,
    "version": int,
    "tamis": str,
    "method": str,
    "parameters": dict,
    "columns": dict,
    "kept": list,
    "passthrough": list,
    "preparation": (dict, type(None)),
    "checksum": str,
}
_WORDS = {str: "text", int: "a number", dict: "an object", list: "a list"}


def written(contents: Mapping[str, Any]) -> str:
    """The contents of a selection as JSON, with format, version and checksum.

    Numbers are written with as many digits as bring back the same number.
    """
    whole = {"format": FORMAT, "version": VERSION, **contents}
    whole["checksum"] = _checksum(whole)
    return json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def text_of(source: str | os.PathLike[str]) -> tuple[str, str]:
    """The JSON, and what messages call it: `source` is a path, or the JSON itself."""
    if isinstance(source, str) and source.lstrip().startswith("{"):
        _check_size(len(source), "the selection")
        return source, "the selection"
    path = Path(source)
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    _check_size(len(data), str(path))
    try:
        return data.decode("utf-8-sig"), str(path)
    except UnicodeDecodeError:
        raise ValueError(f"{path}: this is no selection, for it is not text{_ADVICE}") from None


_ADVICE = "; give a file that `tamis select --save` or Selection.to_json has written."
_AGAIN = "; save the selection again."


def read(text: str, name: str) -> dict[str, Any]:
    """The contents of a selection, all fields there and of their types.

    Parameters
    ----------
    text : str
        JSON.
    name : str
        What messages call it.
    """
    try:
        contents = json.loads(
            text, object_pairs_hook=_no_repeats, parse_constant=_no_constant, parse_float=_finite
        )
    except RecursionError:
        raise ValueError(
            f"{name}: this is no selection, it is nested too deeply{_ADVICE}"
        ) from None
    except ValueError as error:
        reason = str(error).splitlines()[0][:100]
        raise ValueError(f"{name}: this is no JSON ({reason}){_ADVICE}") from None
    if not isinstance(contents, dict) or contents.get("format") != FORMAT:
        raise ValueError(f"{name}: this is JSON, but no selection{_ADVICE}")
    _check_version(contents, name)
    _check_fields(contents, name)
    if contents.pop("checksum") != _checksum(contents):
        raise ValueError(f"{name}: it was changed after it was written{_AGAIN}")
    del contents["format"], contents["version"]
    return contents


def _check_version(contents: dict[str, Any], name: str) -> None:
    version = contents.get("version")
    if version == VERSION and isinstance(version, int) and not isinstance(version, bool):
        return
    writer = contents.get("tamis")
    by = f", written by tamis {writer[:20]}" if isinstance(writer, str) else ""
    raise ValueError(
        f"{name}: it is of version {str(version)[:20]} of the format{by}, but this tamis reads "
        f"version {VERSION}; save the selection again, or use the tamis that wrote it."
    )


def _check_fields(contents: dict[str, Any], name: str) -> None:
    for field, kind in _FIELDS.items():
        if field not in contents:
            raise ValueError(f"{name}: {field!r} is missing{_AGAIN}")
        value = contents[field]
        if not isinstance(value, kind) or isinstance(value, bool):
            wanted = kind[0] if isinstance(kind, tuple) else kind
            raise ValueError(f"{name}: {field!r} must be {_WORDS[wanted]}{_AGAIN}")
    unknown = [field for field in contents if field not in _FIELDS]
    if unknown:
        raise ValueError(f"{name}: {unknown[0][:40]!r} has no meaning in a selection{_AGAIN}")
    for field, values in (
        ("kept", contents["kept"]),
        ("passthrough", contents["passthrough"]),
        ("columns", contents["columns"].values()),
    ):
        if not all(isinstance(value, str) for value in values):
            raise ValueError(f"{name}: {field!r} must hold nothing but text{_AGAIN}")


def _check_size(size: int, name: str) -> None:
    if size > MOST_BYTES:
        raise ValueError(
            f"{name}: it is larger than {MOST_BYTES // 2**20} MiB, and no selection is{_ADVICE}"
        )


def _checksum(contents: Mapping[str, Any]) -> str:
    """Of everything but the checksum itself, whatever the order and the white space."""
    plain = json.dumps(contents, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(plain.encode()).hexdigest()


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name occurs twice in one object")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:20]} is too large a number")
    return value
