"""How the time of each method grows with samples and with features."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.case import fit
from benchmarks.data import clusters
from benchmarks.measure import THREAD_VARIABLES

SAMPLES = (1000, 2000, 4000, 8000)
FEATURES = (100, 200, 400, 800, 1600)
FIXED_FEATURES, FIXED_SAMPLES = 200, 1000
_TEN = {"max_iter": 10, "tol": 0}
_TEN_STEPS = {"max_iter": 1, "max_inner": 10, "tol": 0, "random_state": 0}
FIXED_ITERATIONS: dict[str, dict[str, int]] = {
    "udfs": _TEN,
    "jelsr": _TEN,
    "track": _TEN_STEPS,
    "lda_km": _TEN_STEPS,
    "fsgmm": {**_TEN, "n_init": 1, "random_state": 0},
    "jdlufs": {**_TEN, "random_state": 0},
    "rufs": {**_TEN, "random_state": 0},
    "eufs": {**_TEN, "random_state": 0},
    "cufs": {**_TEN, "random_state": 0},
}


def measure_growth() -> dict[str, dict[str, list[float]]]:
    """In the worker: the fastest of three fits of every method at every size."""
    from tamis.registry import METHODS

    times: dict[str, dict[str, list[float]]] = {}
    for name in METHODS:
        parameters = FIXED_ITERATIONS.get(name, {})
        fit(clusters(300, 50), name, **parameters)
        times[name] = {
            "n": [_fastest(name, n, FIXED_FEATURES, parameters) for n in SAMPLES],
            "d": [_fastest(name, FIXED_SAMPLES, d, parameters) for d in FEATURES],
        }
    return times


def _fastest(name: str, n_samples: int, n_features: int, parameters: dict[str, int]) -> float:
    X = clusters(n_samples, n_features)
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        fit(X, name, **parameters)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def exponent(sizes: tuple[int, ...], seconds: list[float]) -> float:
    """Slope of log time over log size, at the larger half of the sizes."""
    last = slice(len(sizes) // 2 - 1, None)
    return float(np.polyfit(np.log(sizes[last]), np.log(seconds[last]), 1)[0])


def measured_alone(module: str) -> dict[str, Any]:
    """What a module prints in a process of its own, on one thread: more would bend the lines."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", module],
        env={**os.environ, **dict.fromkeys(THREAD_VARIABLES, "1")},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    times: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return times


def exponents_table(
    times: dict[str, Any], samples: tuple[int, ...], features: tuple[int, ...], digits: int
) -> list[str]:
    """The lines of the table of exponents and of the longest times."""
    return [
        "| method | exponent in n | exponent in d | seconds at the largest n | at the largest d |",
        "|---|---|---|---|---|",
        *(
            f"| {name} | {exponent(samples, measured['n']):.2f} "
            f"| {exponent(features, measured['d']):.2f} "
            f"| {measured['n'][-1]:.{digits}f} | {measured['d'][-1]:.{digits}f} |"
            for name, measured in times.items()
        ),
    ]


def growth_page(folder: Path) -> str:
    """Measure in a process of its own, draw, and write the section of the page."""
    times = measured_alone("benchmarks.growth")
    draw(
        times,
        folder / "images" / "growth.png",
        {"n": SAMPLES, "d": FEATURES},
        (f"samples, {FIXED_FEATURES} features", f"features, {FIXED_SAMPLES} samples"),
    )
    lines = [
        "## Growth",
        "",
        f"Exponents of the time in n, at d = {FIXED_FEATURES} and n up to {SAMPLES[-1]}, and in d, "
        f"at n = {FIXED_SAMPLES} and d up to {FEATURES[-1]}, on one thread; UDFS and "
        "JELSR with 10 iterations.",
        "",
        *exponents_table(times, SAMPLES, FEATURES, digits=3),
    ]
    return "\n".join([*lines, "", "![Time over samples and over features](images/growth.png)"])


def draw(
    times: dict[str, dict[str, list[float]]],
    path: Path,
    sizes_of: dict[str, tuple[int, ...]],
    labels: tuple[str, str],
) -> None:
    """Time over samples and over features, a line per method."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True)
    for axis, key, label in zip(axes, "nd", labels, strict=True):
        for name, measured in times.items():
            axis.loglog(sizes_of[key], measured[key], marker=".", label=name)
        axis.set_xlabel(label)
    axes[0].set_ylabel("seconds, one thread")
    axes[1].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, dpi=90)


if __name__ == "__main__":
    print(json.dumps(measure_growth()))
