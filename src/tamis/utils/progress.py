"""A progress bar for long loops, on a terminal and only when asked for."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TypeVar

Item = TypeVar("Item")


def progress(items: Iterable[Item], total: int, label: str, verbose: bool) -> Iterable[Item]:
    """`items` unchanged, with a bar on standard error while they are consumed."""
    if not verbose or not sys.stderr.isatty():
        return items
    from rich.console import Console
    from rich.progress import track

    return track(
        items, description=label, total=total, console=Console(stderr=True), transient=True
    )
