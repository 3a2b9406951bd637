"""How long the parts of a run take, apart from what it returns: that must repeat exactly."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["measured_parts", "part"]

_parts: ContextVar[dict[str, float] | None] = ContextVar("tamis_parts", default=None)


@contextmanager
def measured_parts() -> Iterator[dict[str, float]]:
    """Collect the processor seconds of every :func:`part` inside."""
    parts: dict[str, float] = {}
    token = _parts.set(parts)
    try:
        yield parts
    finally:
        _parts.reset(token)


@contextmanager
def part(name: str) -> Iterator[None]:
    """Count what is done inside as `name`, for whoever measures."""
    start = time.process_time()
    try:
        yield
    finally:
        parts = _parts.get()
        if parts is not None:
            parts[name] = round(parts.get(name, 0.0) + time.process_time() - start, 3)
