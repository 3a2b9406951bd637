"""What the shell completes: methods, data sets, parameters, formats."""

from __future__ import annotations

import glob
import io
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout

import typer

__all__ = [
    "bash_words",
    "dataset_list",
    "dataset_names",
    "format_names",
    "method_list",
    "method_names",
    "parameter_settings",
    "table_names",
]

# Bash takes these for the ends of words.
_BREAKS = (":", "=")


def method_names(incomplete: str) -> list[str]:
    """The methods that begin so."""
    from tamis.registry import METHODS

    return [name for name in METHODS if name.startswith(incomplete)]


def method_list(incomplete: str) -> list[str]:
    """The methods that the last name of a list may mean: A,B,…."""
    return _last_of_list(incomplete, [*method_names(""), "all"])


def dataset_names(incomplete: str) -> list[str]:
    """The data sets that begin so."""
    from tamis import datasets

    return [name for name in datasets.names() if name.startswith(incomplete)]


def dataset_list(incomplete: str) -> list[str]:
    """The data sets that the last name of a list may mean: A,B,…."""
    return _last_of_list(incomplete, dataset_names(""))


def _last_of_list(incomplete: str, names: Iterable[str]) -> list[str]:
    before, comma, last = incomplete.rpartition(",")
    taken = before.split(",")
    return [
        f"{before}{comma}{name}" for name in names if name.startswith(last) and name not in taken
    ]


def table_names(incomplete: str) -> list[str]:
    """Data sets as dataset:NAME; nothing where a file begins so: the shell completes those."""
    if not incomplete or glob.glob(f"{glob.escape(incomplete)}*"):
        return []
    names = [f"dataset:{name}" for name in dataset_names("")]
    return [name for name in names if name.startswith(incomplete)]


def format_names(incomplete: str) -> list[str]:
    """The formats that begin so."""
    from tamis.io import formats

    return [name for name in formats() if name.startswith(incomplete)]


def parameter_settings(ctx: typer.Context, incomplete: str) -> list[str]:
    """Parameters of the method that is named, each with its default and values worth trying."""
    from tamis.cli.methods import parameters_of
    from tamis.registry import DEFAULT_METHOD, METHODS

    method = METHODS.get((ctx.params.get("method") or DEFAULT_METHOD).lower().replace("-", "_"))
    if method is None:
        return []
    return [
        setting
        for name, default, _ in parameters_of(method)
        for setting in dict.fromkeys(f"{name}={v}" for v in (default, *method.tune.get(name, ())))
        if setting.startswith(incomplete)
    ]


@contextmanager
def bash_words() -> Iterator[None]:
    """Put together what bash has taken apart at a colon or an equals sign, as in dataset:iris.

    It replaces what follows the sign, and is to be given no more than that.
    """
    words = os.environ.get("COMP_WORDS", "").split()
    if not any(word in _BREAKS for word in words):
        yield
        return
    at = int(os.environ["COMP_CWORD"])
    whole: list[str] = []
    glue = False
    for index, word in enumerate([*words, ""][: at + 1]):
        is_break = word in _BREAKS
        if whole and (glue or is_break) and (word or index == at):
            whole[-1] += word
        else:
            whole.append(word)
        glue = is_break
    os.environ["COMP_WORDS"] = "\n".join(whole)
    os.environ["COMP_CWORD"] = str(len(whole) - 1)
    shown = io.StringIO()
    try:
        with redirect_stdout(shown):
            yield
    finally:
        last = whole[-1]
        end = max((last.rfind(sign) for sign in _BREAKS), default=-1) + 1
        for line in shown.getvalue().splitlines():
            print(line.removeprefix(last[:end]), file=sys.stdout)
