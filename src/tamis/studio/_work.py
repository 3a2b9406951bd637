"""One computation at a time, beside the server, that can be stopped."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


class Cancelled(BaseException):
    """Raised in the computation that is to stop."""


@dataclass(eq=False)
class Job:
    """A computation.

    Attributes
    ----------
    function : callable
    cancelled : bool
        Whether it is to stop, or has stopped.
    """

    function: Callable[[], Any]
    cancelled: bool = False


class Worker:
    """A thread that runs the latest job that it was given; an older one is stopped for it.

    A job is stopped between two steps of Python: once the numerical routine under way returns.

    Parameters
    ----------
    failed : callable
        Told the exception of a job that fails.
    """

    def __init__(self, failed: Callable[[Exception], None]) -> None:
        self._failed = failed
        self._change = threading.Condition()
        self._next: Job | None = None
        self._current: Job | None = None
        self._open = True
        self._thread = threading.Thread(target=self._run, name="tamis-studio", daemon=True)
        self._thread.start()

    @property
    def busy(self) -> bool:
        """Whether a job runs or waits."""
        with self._change:
            return self._current is not None or self._next is not None

    def submit(self, function: Callable[[], Any]) -> None:
        """Run a function, instead of what runs now."""
        with self._change:
            if not self._open:
                return
            self._stop_current()
            self._next = Job(function)
            self._change.notify_all()

    def cancel(self) -> None:
        """Stop what runs, and forget what waits."""
        with self._change:
            self._next = None
            self._stop_current()

    def close(self, timeout: float = 2.0) -> None:
        """Stop, and end the thread; a routine that does not return in time is left to its end."""
        with self._change:
            self._open = False
            self._next = None
            self._stop_current()
            self._change.notify_all()
        self._thread.join(timeout)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until nothing runs or waits; False if that took too long."""
        with self._change:
            return self._change.wait_for(
                lambda: self._current is None and self._next is None, timeout
            )

    def _stop_current(self) -> None:
        job = self._current
        if job is not None and not job.cancelled:
            job.cancelled = True
            _raise_in(self._thread, Cancelled)

    def _run(self) -> None:
        while True:
            # An exception for a job that has just ended may arrive anywhere below: it is dropped.
            try:
                if not self._step():
                    return
            except Cancelled:
                with self._change:
                    if self._current is not None and not self._current.cancelled:
                        self._next = self._next or self._current
                    self._current = None
                    self._change.notify_all()

    def _step(self) -> bool:
        with self._change:
            self._change.wait_for(lambda: self._next is not None or not self._open)
            if not self._open:
                return False
            job, self._next = self._next, None
            self._current = job
        assert job is not None
        try:
            job.function()
        except Exception as error:  # whatever fails in a computation is told in the page
            if not job.cancelled:
                self._failed(error)
        with self._change:
            self._current = None
            self._change.notify_all()
        return True


def _raise_in(thread: threading.Thread, kind: type[BaseException]) -> None:
    """Raise an exception in another thread, at its next step of Python."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread.ident or 0), ctypes.py_object(kind)
    )
