"""How the time on long tables grows with rows and with columns, to a million rows."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from benchmarks.case import fit
from benchmarks.data import clusters
from benchmarks.growth import draw, exponents_table, measured_alone

SAMPLES = (10_000, 31_623, 100_000, 316_228, 1_000_000)
FEATURES = (50, 100, 200, 400)
FIXED_FEATURES, FIXED_SAMPLES = 100, 100_000
MOST = 1.1
METHODS: dict[str, tuple[str, dict[str, str]]] = {
    "MRSF": ("mrsf", {"neighbors": "landmarks"}),
    "LaplacianScore": ("laplacian_score", {"neighbors": "landmarks"}),
    "JELSR": ("jelsr", {"neighbors": "landmarks"}),
    "ColumnSubset": ("column_subset", {}),
    "Auto": ("auto", {}),
}


def measure_growth(shrunk: int = 1) -> dict[str, dict[str, list[float]]]:
    """In the worker: a fit of every method at every size, of tables shorter by a factor."""
    times: dict[str, dict[str, list[float]]] = {name: {"n": [], "d": []} for name in METHODS}
    sizes = [("n", n, FIXED_FEATURES) for n in SAMPLES]
    sizes += [("d", FIXED_SAMPLES, d) for d in FEATURES]
    for key, n_samples, n_features in sizes:
        X = clusters(n_samples // shrunk, n_features)
        for name, (method, parameters) in METHODS.items():
            fit(X[:200], method, **parameters)
            start = time.perf_counter()
            fit(X, method, **parameters)
            times[name][key].append(time.perf_counter() - start)
            print(key, X.shape, name, f"{times[name][key][-1]:.2f} s", file=sys.stderr, flush=True)
    return times


def long_growth_page(folder: Path) -> str:
    """Measure in a process of its own, draw, and write the section of the page."""
    times = measured_alone("benchmarks.long_growth")
    draw(
        times,
        folder / "images" / "long_growth.png",
        {"n": SAMPLES, "d": FEATURES},
        (f"rows, {FIXED_FEATURES} columns", f"columns, {FIXED_SAMPLES:,} rows"),
    )
    lines = [
        "## Growth on long tables",
        "",
        f"Exponents of the time in n, at d = {FIXED_FEATURES} and n up to {SAMPLES[-1]:,}, and in "
        f"d, at n = {FIXED_SAMPLES:,} and d up to {FEATURES[-1]}, at the larger half of the sizes, "
        "on one thread; graphs by landmarks. To reach: at most "
        f"{MOST:g} (ColumnSubset forms the d × d covariance, O(nd²)). Auto decides on 20,000 rows.",
        "",
        *exponents_table(times, SAMPLES, FEATURES, digits=2),
    ]
    figure = "![Time over rows and over columns of long tables](images/long_growth.png)"
    return "\n".join([*lines, "", figure])


if __name__ == "__main__":
    print(json.dumps(measure_growth(*map(int, sys.argv[1:]))))
