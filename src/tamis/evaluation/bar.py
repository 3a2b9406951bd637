"""A bar that says which runs a sweep waits for, and for how long already."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from tamis.evaluation.journal import identity

if TYPE_CHECKING:
    from tamis.evaluation.results import Record

__all__ = ["Waiting", "with_bar"]

# Of a name so much is shown; the bar stays on one line.
LONGEST_NAME = 24


class Keyed(Protocol):
    """What has a key: a task."""

    @property
    def key(self) -> Mapping[str, Any]: ...


class Waiting:
    """The runs that are under way: the first that are not finished, one per process.

    Parameters
    ----------
    tasks : sequence
        In the order in which they are begun.
    n_jobs : int
        How many are under way at a time.

    Examples
    --------
    >>> from tamis.evaluation import Task
    >>> from tamis.evaluation.bar import Waiting
    >>> tasks = [Task({"label": name, "set": "iris"}, list) for name in ("mrsf", "udfs")]
    >>> waiting = Waiting(tasks, 1)
    >>> waiting.words().partition(",")[0]  # and for how many seconds
    'mrsf on iris'
    >>> waiting.finished(tasks[0].key)
    >>> waiting.words().partition(",")[0]
    'udfs on iris'
    """

    def __init__(self, tasks: Sequence[Keyed], n_jobs: int) -> None:
        self._words = {identity(task.key): _described(task.key) for task in tasks}
        self._waiting = list(self._words)
        self._n_jobs = n_jobs
        # Read by the thread that draws: always replaced, never changed.
        self._under_way: tuple[tuple[float, str], ...] = ()  # since when, and the identity
        self._begin()

    def _begin(self) -> None:
        before = {name: begun for begun, name in self._under_way}
        now = time.monotonic()
        first = self._waiting[: self._n_jobs]
        self._under_way = tuple(sorted((before.get(name, now), name) for name in first))

    def finished(self, key: Mapping[str, Any]) -> None:
        """Let go of a run, and count the time of the next from now."""
        self._waiting.remove(identity(key))
        self._begin()

    def words(self) -> str:
        """The run that has been under way for the longest, for how long, and how many others."""
        under_way = self._under_way
        if not under_way:
            return ""
        begun, oldest = under_way[0]
        more = f", and {len(under_way) - 1} more" if len(under_way) > 1 else ""
        return f"{self._words[oldest]}, {time.monotonic() - begun:.0f} s{more}"


def _described(key: Mapping[str, Any]) -> str:
    shown = [_cut(Path(str(key[k])).name) for k in ("label", "set") if k in key]
    return " on ".join(shown) or "a run"


def _cut(text: str) -> str:
    text = "".join(c for c in text if c.isprintable())
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…"


def with_bar(
    runs: Iterator[Record], tasks: Sequence[Keyed], total: int, n_jobs: int
) -> Iterator[Record]:
    """The records, unchanged, with a bar on standard error until the last has come.

    Parameters
    ----------
    runs : iterator of Record
    tasks : sequence
        Those that `runs` makes.
    total : int
        How many there are with those that were done before.
    n_jobs : int
        How many are under way at a time.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        TimeElapsedColumn,
    )
    from rich.text import Text

    waiting = Waiting(tasks, n_jobs)

    class Words(ProgressColumn):
        def render(self, task: Any) -> Text:
            return Text(waiting.words(), no_wrap=True, overflow="ellipsis")

    columns = (BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn(), Words())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total, completed=total - len(tasks))
        for record in runs:
            waiting.finished(record.key)
            bar.advance(task)
            yield record
