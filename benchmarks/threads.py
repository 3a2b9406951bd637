"""Whether a fit as it comes is as fast as the better of one thread and all threads.

Run as users run it: no variable set, quiet, and once more beside a process that keeps a core busy.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

from benchmarks.case import fit
from benchmarks.data import clusters
from benchmarks.measure import THREAD_VARIABLES, as_users_run_it

# A wide table, a square one, a long one and, for the products that use all threads, a large one.
TABLES = ((50, 20_000), (2000, 1000), (5000, 256), (10_000, 2000))
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
REPEATS = 3
ALLOWED = 1.1
# On the large table only methods whose fit ends within a minute.
LARGE_TABLE_METHODS = (
    "max_variance",
    "pca_score",
    "laplacian_score",
    "spec",
    "mcfs",
    "mrsf",
    "udfs",
)


def measure_side(side: str, method: str, shape: tuple[int, int]) -> float:
    """Seconds of one fit in a process of its own, from the call to the answer."""
    environment = as_users_run_it()
    if side == "one thread":
        environment |= dict.fromkeys(THREAD_VARIABLES, "1")
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.threads", side, method]
    command += [str(size) for size in shape]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{method} ({side}) failed:\n{done.stderr}")
    return float(json.loads(done.stdout.splitlines()[-1]))


def work(side: str, method: str, n_samples: int, n_features: int) -> float:
    """In the worker: the fastest of a few fits."""
    from tamis import _threads

    if side == "all threads":
        _threads.one_thread = contextlib.nullcontext  # type: ignore[assignment]
    X = clusters(n_samples, n_features)
    X -= X.mean(axis=0)
    X /= X.std(axis=0)
    fit(clusters(100, 20), method, **PARAMETERS.get(method, {}))
    seconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        fit(X, method, **PARAMETERS.get(method, {}))
        seconds.append(time.perf_counter() - start)
        if seconds[-1] > 10:
            break
    return min(seconds)


@contextlib.contextmanager
def busy_neighbor() -> Iterator[None]:
    """Another process that never rests."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def thread_rows(word: str = "") -> list[dict[str, str]]:
    """A row per method and table: each side's seconds, quiet and beside a busy process."""
    from tamis.registry import METHODS

    found = []
    for method in METHODS:
        for shape in TABLES:
            large = shape == TABLES[-1]
            if word not in method or (large and method not in LARGE_TABLE_METHODS):
                continue
            print(f"{method}, {shape[0]} × {shape[1]} …", file=sys.stderr, flush=True)
            row = {"method": method, "table": f"{shape[0]:,} × {shape[1]:,}"}
            for where, company in (("quiet", contextlib.nullcontext), ("busy", busy_neighbor)):
                with company():
                    seconds = {side: measure_side(side, method, shape) for side in SIDES}
                best = min(seconds["one thread"], seconds["all threads"])
                row[f"{where}: default / one / all"] = " / ".join(
                    f"{seconds[side]:.2f}" for side in SIDES
                )
                ratio = seconds["default"] / best
                small = seconds["default"] < SHORTEST
                row[f"{where}: of the best"] = f"{ratio:.2f}×" + (" (too short)" if small else "")
                row[f"{where}: reached"] = "yes" if small or ratio <= ALLOWED else "no"
            found.append(row)
            print("   ", *row.values(), file=sys.stderr, flush=True)
    return found


if __name__ == "__main__":
    side, method, n_samples, n_features = sys.argv[1:]
    print(json.dumps(work(side, method, int(n_samples), int(n_features))))
