"""Peak memory of a call, as Python and NumPy allocate it."""

from __future__ import annotations

import tracemalloc


def with_peak_memory(function, *args, **kwargs):
    """The result of a call and the most bytes that were allocated at once during it."""
    tracemalloc.start()
    try:
        result = function(*args, **kwargs)
        return result, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
