"""Run one piece of work in a process of its own, as users run it; report its time and memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

LIBRARIES = ("OMP", "OPENBLAS", "MKL", "NUMBA")
THREAD_VARIABLES = {f"{library}_NUM_THREADS" for library in LIBRARIES}


@dataclass(frozen=True)
class Measurement:
    """Seconds, peak megabytes beyond the data, what the work returned, and a remark."""

    seconds: float
    megabytes: float
    result: Any
    note: str = ""


def as_users_run_it() -> dict[str, str]:
    """The environment without the variables that set numbers of threads."""
    return {name: value for name, value in os.environ.items() if name not in THREAD_VARIABLES}


def measure(case: str, side: str) -> Measurement:
    """One run of one side ("ours" or "peer") of a case."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks", "--worker", case, side]
    done = subprocess.run(command, env=as_users_run_it(), capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{case} ({side}) failed:\n{done.stderr}")
    return Measurement(**json.loads(done.stdout.splitlines()[-1]))


def work_and_report(load: Callable[[], Any], work: Callable[[Any], Any]) -> None:
    """In the worker: load the data, then time the work and the memory it adds."""
    data = load()
    work(data[:100])  # imports, and libraries that start up at their first call
    _forget_peak()
    before = _status("VmRSS")
    start = time.perf_counter()
    result = work(data)
    seconds = time.perf_counter() - start
    megabytes = max(0.0, _status("VmHWM") - before)
    report = {"seconds": seconds, "megabytes": megabytes, "result": None}
    report |= result if isinstance(result, dict) else {"result": result}
    print(json.dumps(report))


def _forget_peak() -> None:
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def _status(key: str) -> float:
    """A figure of the kernel's account of this process, in megabytes."""
    with open("/proc/self/status") as file:
        line = next(line for line in file if line.startswith(f"{key}:"))
    return int(line.split()[1]) / 1024
