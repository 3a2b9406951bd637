"""How long the parts of a run take, apart from what it returns: that must repeat exactly."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

__all__ = ["TimeLimitError", "measured_parts", "part", "too_long"]


@dataclass
class _Watch:
    """Processor seconds of each part so far, and how many some of them may take."""

    limits: Mapping[str, float]
    seconds: dict[str, float] = field(default_factory=dict)


_watch: ContextVar[_Watch | None] = ContextVar("tamis_watch", default=None)


class TimeLimitError(BaseException):
    """A run took longer than it may. No method can take it for an error of its own."""


def too_long(seconds: float) -> str:
    """What a :class:`TimeLimitError` says."""
    return f"took longer than the limit of {seconds:g} s of processor time"


@contextmanager
def measured_parts(limits: Mapping[str, float] | None = None) -> Iterator[dict[str, float]]:
    """Collect the processor seconds of every :func:`part` inside.

    Parameters
    ----------
    limits : mapping of str to float or None, default=None
        Processor seconds that the parts of these names may take, where the system has such a clock
        (Linux and macOS do). One that takes longer is ended by a :class:`TimeLimitError`.
    """
    watch = _Watch(limits or {})
    token = _watch.set(watch)
    try:
        yield watch.seconds
    finally:
        _watch.reset(token)


@contextmanager
def part(name: str) -> Iterator[None]:
    """Count what is done inside as `name`, for whoever measures."""
    watch = _watch.get() or _Watch({})
    start = time.process_time()
    try:
        with _alarm(watch.limits.get(name), watch.seconds.get(name, 0.0)):
            yield
    finally:
        spent = time.process_time() - start
        watch.seconds[name] = round(watch.seconds.get(name, 0.0) + spent, 3)


@contextmanager
def _alarm(limit: float | None, spent: float) -> Iterator[None]:
    """Raise a TimeLimitError as soon as what is done inside has used up the limit."""
    main = threading.current_thread() is threading.main_thread()
    if limit is None or not hasattr(signal, "setitimer") or not main:
        yield
        return

    def stop(*_: Any) -> None:
        raise TimeLimitError(too_long(limit))

    # The clock of the processor: what else the machine does must not decide what fails.
    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, max(limit - spent, 1e-3))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
