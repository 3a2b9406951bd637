"""What a page may ask to be done: decisions, and files to take along."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tamis import io, registry
from tamis.studio import _exports as exports
from tamis.studio._choice import Decisions
from tamis.studio._session import NotThereError, Session
from tamis.studio._table import read_dataset, read_file

# Sets that come with scikit-learn, for a first look.
SAMPLES = ("digits", "breast_cancer", "wine", "iris")


def act(session: Session, wish: Any) -> dict[str, Any]:
    """Do what a page asks for.

    Parameters
    ----------
    session : Session
    wish : dict
        "do" names the action, other keys are its parameters.
    """
    if not isinstance(wish, dict) or wish.get("do") not in _ACTIONS:
        raise ValueError("there is nothing of the kind to do.")
    _ACTIONS[wish["do"]](session, wish)
    return {"version": session.version}


def _column(session: Session, wish: dict[str, Any]) -> None:
    name = _name(session, wish)
    _decide(session, lambda decisions: _pinned(session, decisions).with_column(name, wish["wish"]))


def _kind(session: Session, wish: dict[str, Any]) -> None:
    name, kind = _name(session, wish), str(wish["kind"])
    _decide(session, lambda decisions: decisions.with_kind(name, kind))


def _number(session: Session, wish: dict[str, Any]) -> None:
    number = wish["number"]
    if number is not None and type(number) is not int:
        raise ValueError("the number of columns must be a whole number.")
    _decide(session, lambda decisions: replace(decisions, number=number))


def _clusters(session: Session, wish: dict[str, Any]) -> None:
    number = wish["clusters"]
    if number is not None and type(number) is not int:
        raise ValueError("the number of groups must be a whole number.")
    _decide(session, lambda decisions: replace(decisions, clusters=number))


def _method(session: Session, wish: dict[str, Any]) -> None:
    method = registry.get(str(wish["method"])).name
    _decide(session, lambda decisions: replace(decisions, method=method))


def _compare(session: Session, wish: dict[str, Any]) -> None:
    methods = wish["methods"]
    if not isinstance(methods, list) or not methods:
        raise ValueError("name at least one method.")
    session.compare([str(name) for name in methods])


def _sample(session: Session, wish: dict[str, Any]) -> None:
    name = str(wish["name"])
    if name not in SAMPLES:
        raise ValueError("there is no such table to look at.")
    session.open(lambda: read_dataset(name))


_ACTIONS: dict[str, Callable[[Session, dict[str, Any]], None]] = {
    "column": _column,
    "kind": _kind,
    "number": _number,
    "clusters": _clusters,
    "method": _method,
    "compare": _compare,
    "sample": _sample,
    "undo": lambda session, wish: session.undo(),
    "redo": lambda session, wish: session.redo(),
    "again": lambda session, wish: session.again(),
    "cancel": lambda session, wish: session.cancel(),
    "remember": lambda session, wish: session.remember(),
}


def _decide(session: Session, change: Callable[[Decisions], Decisions]) -> None:
    if session.table is None:
        raise ValueError("no table is open.")
    session.decide(change(session.decisions))


def _pinned(session: Session, decisions: Decisions) -> Decisions:
    """The number of columns as it is shown: one that is kept or dropped changes no other thing."""
    result = session.result
    if decisions.number is None and result is not None:
        return replace(decisions, number=result.chosen.number)
    return decisions


def _name(session: Session, wish: dict[str, Any]) -> str:
    """The name of the column that is meant."""
    place = wish.get("place")
    names = [] if session.table is None else session.table.names
    if type(place) is not int or not 0 <= place < len(names):
        raise ValueError("there is no such column.")
    return names[place]


def suffix_of(name: str) -> str:
    """The ending of a file's name, by which its format is known."""
    endings = Path(name).suffixes
    packed = name.endswith((".gz", ".zst", ".bz2", ".xz"))
    return "".join(endings[-2 if packed else -1 :])


def checked_file_name(name: str) -> str | None:
    """The last part of a name whose format can be read, else None."""
    plain = name.replace("\\", "/").rpartition("/")[2]
    if not plain or plain in (".", "..") or "\0" in plain:
        return None
    ending = suffix_of(plain)
    if not ending.replace(".", "").isalnum():
        return None
    try:
        io.format_of(Path(f"table{ending}"), None)
    except io.TableError:
        return None
    return plain


def open_upload(session: Session, path: Path, name: str) -> dict[str, Any]:
    """Open a copy of a file that a page has sent."""
    session.open(lambda: read_file(path, name))
    return {"version": session.version}


def exported(session: Session, name: str, folder: Path) -> tuple[bytes, str]:
    """A file to take along, and its media type."""
    with session.lock:
        table, result, decisions = session.table, session.result, session.decisions
    if table is None or result is None:
        raise NotThereError("nothing has been selected yet.")
    if result.quick or result.chosen.decisions != decisions:
        raise NotThereError("the selection is being made; wait until it is there.")
    if name not in exports.FILES:
        raise ValueError("there is no such file to take along.")
    make, kind = exports.FILES[name]
    return make(table, result.chosen, folder), kind
