"""Peak memory: of a call, as Python allocates it, and of a process, as the system counts it."""

from __future__ import annotations

import sys
import tracemalloc

import pytest

# To be put before the code of a process. What getrusage says begins with what its parent held.
PEAK = """
def peak():
    with open("/proc/self/status") as file:
        (line,) = (line for line in file if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024
"""
told_by_the_system = pytest.mark.skipif(sys.platform != "linux", reason="peaks are told by Linux")


def with_peak_memory(function, *args, **kwargs):
    """The result of a call and the most bytes that were allocated at once during it."""
    tracemalloc.start()
    try:
        result = function(*args, **kwargs)
        return result, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
