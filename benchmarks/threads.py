"""Whether a fit as it comes is as fast as the better of one thread and all threads.

Run as users run it: no variable set, quiet, and once more beside a process that keeps a core busy.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any

from benchmarks.case import fit
from benchmarks.data import clusters
from benchmarks.measure import THREAD_VARIABLES, as_users_run_it

# A wide table, a square one, a long one and, for the products that use all threads, a large one.
TABLES = ((50, 10_000), (1000, 1000), (4000, 256), (10_000, 1000))
SIDES = ("default", "one thread", "all threads")
# Enough for an answer; the question is about threads, not about convergence.
_FEW = {"max_iter": 5, "tol": 0}
_FEW_STEPS = {"max_iter": 1, "max_inner": 5, "tol": 0}
PARAMETERS: dict[str, dict[str, Any]] = {
    "udfs": _FEW,
    "jelsr": _FEW,
    "track": _FEW_STEPS,
    "lda_km": _FEW_STEPS,
    "fsgmm": {**_FEW, "n_init": 1},
    "jdlufs": _FEW,
    "rufs": _FEW,
    "eufs": _FEW,
    "cufs": _FEW,
}
# Below, a tenth more is within what the clock and the scheduler leave open.
SHORTEST = 0.05
# The fastest of so many fits; of one that takes longer than `LONG` seconds the first.
REPEATS = 3
LONG = 5
ALLOWED = 1.1
# On the large table only methods whose fit ends within seconds.
LARGE_TABLE_METHODS = {
    "max_variance", "pca_score", "laplacian_score", "spec", "mcfs", "mrsf", "udfs", "jelsr"
}  # fmt: skip


def tables_of(method: str) -> list[tuple[int, int]]:
    """The tables that a method is fitted to."""
    return [t for t in TABLES if t != TABLES[-1] or method in LARGE_TABLE_METHODS]


def measure_side(side: str, method: str) -> list[float]:
    """Seconds of a fit of each table, in a process of its own."""
    environment = as_users_run_it()
    if side == "one thread":
        environment |= dict.fromkeys(THREAD_VARIABLES, "1")
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.threads", side, method]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{method} ({side}) failed:\n{done.stderr}")
    seconds: list[float] = json.loads(done.stdout.splitlines()[-1])
    return seconds


def work(side: str, method: str) -> list[float]:
    """In the worker: the fastest of a few fits of each table."""
    from tamis.utils import threads

    if side == "all threads":
        threads.one_thread = contextlib.nullcontext  # type: ignore[assignment]
    parameters = PARAMETERS.get(method, {})
    fit(clusters(100, 20), method, **parameters)
    return [_fastest(method, *shape, parameters) for shape in tables_of(method)]


def _fastest(method: str, n_samples: int, n_features: int, parameters: dict[str, Any]) -> float:
    X = clusters(n_samples, n_features)
    X -= X.mean(axis=0)
    X /= X.std(axis=0)
    fastest = float("inf")
    for _ in range(REPEATS):
        start = time.perf_counter()
        fit(X, method, **parameters)
        fastest = min(fastest, time.perf_counter() - start)
        if fastest > LONG:
            break
    return fastest


@contextlib.contextmanager
def busy_neighbor() -> Iterator[None]:
    """Another process that never rests."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def thread_rows(methods: Iterable[str]) -> list[dict[str, str]]:
    """A row per method and table: each side's seconds, quiet and beside a busy process."""
    found = []
    for method in methods:
        print(f"threads, {method} …", file=sys.stderr, flush=True)
        rows = [{"method": method, "table": f"{n:,} × {d:,}"} for n, d in tables_of(method)]
        for where, company in (("quiet", contextlib.nullcontext), ("busy", busy_neighbor)):
            with company():
                sides = [measure_side(side, method) for side in SIDES]
            for row, (default, *others) in zip(rows, zip(*sides, strict=True), strict=True):
                ratio = default / min(others)
                reached = default < SHORTEST or ratio <= ALLOWED
                row[f"{where}: default / one / all"] = " / ".join(
                    f"{seconds:.2f}" for seconds in (default, *others)
                )
                row[f"{where}: of the best"] = f"{ratio:.2f}×"
                row[f"{where}: reached"] = "yes" if reached else "no"
        found += rows
    return found


if __name__ == "__main__":
    print(json.dumps(work(*sys.argv[1:])))
