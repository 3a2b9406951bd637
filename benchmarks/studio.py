"""What the studio takes: ``python -m benchmarks.studio 2000 1000`` for so many rows and columns.

Prints processor seconds of each step, of the quick answer to a column that is dropped and of an
idle server, milliseconds of the page's thread per step of the slider, and memory beside the table.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from tamis.studio import _told as told
from tamis.studio._actions import act
from tamis.studio._server import Studio
from tamis.studio._session import Session
from tamis.studio._table import read_memory

# A frame at sixty per second.
FRAME = 1000 / 60
SLIDE = """
return (async () => {
  const slider = document.getElementById('slider');
  for (let at = 300; at < 900; at += 10) {
    slider.value = at;
    slider.dispatchEvent(new Event('input'));
    await new Promise(requestAnimationFrame);
  }
})()
"""


def groups_table(n_samples: int, n_features: int) -> Any:
    """Six groups that a tenth of the columns show, and as many near copies."""
    rng = np.random.default_rng(0)
    shows = rng.random(n_features) < 0.1
    X = (rng.normal(size=(6, n_features)) * shows)[rng.integers(0, 6, n_samples)]
    X += rng.normal(size=X.shape)
    fifth = n_features // 5
    X[:, :fifth] = X[:, fifth : 2 * fifth] + 0.3 * rng.normal(size=(n_samples, fifth))
    return X


def seconds(work: Callable[[], Any]) -> float:
    """Processor seconds of all threads."""
    start = time.process_time()
    work()
    return time.process_time() - start


def peak() -> float:
    """The largest memory so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def slide_milliseconds(studio: Studio) -> float:
    """Of the page's thread per step of the slider."""
    browser: Any = import_module("browser.chromium").browser

    with browser() as window:
        window.visit(studio.url)
        end = time.monotonic() + 60
        while window.run("return document.body.dataset.settled") != "true":
            if time.monotonic() > end:
                raise TimeoutError("the page does not settle.")
            time.sleep(0.1)
        window.driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})

        def busy() -> float:
            told = window.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
            return float(next(one["value"] for one in told if one["name"] == "TaskDuration"))

        start = busy()
        window.run(SLIDE)
        return 1000 * (busy() - start) / 60


def main() -> None:
    """Print the figures, one a line."""
    n_samples, n_features = (int(word) for word in sys.argv[1:3])
    X = groups_table(n_samples, n_features)
    before = peak()
    session = Session(None)

    def opened() -> None:
        session.open(lambda: read_memory(X))
        session.worker.wait()

    print(f"ranked, and all figures: {seconds(opened):.2f} s")
    print(f"memory beside the table: {(peak() - before) * 1e6 / X.nbytes:.1f} times the table")
    print(f"the columns, for the page: {seconds(lambda: told.table_data(session)):.3f} s")
    assert session.result is not None
    first = session.table.places(session.result.chosen.kept()[:1])[0] if session.table else 0
    quick: list[float] = []
    start = time.process_time()

    def changed() -> None:
        if session.result is not None and session.result.quick and not quick:
            quick.append(time.process_time() - start)

    session.changed = changed
    act(session, {"do": "column", "place": int(first), "wish": "drop"})
    session.worker.wait()
    print(f"a column dropped, quick answer: {quick[0] if quick else float('nan'):.2f} s")
    studio = Studio(session)
    studio.start()
    step = slide_milliseconds(studio)
    print(f"a step of the slider: {step:.1f} ms of the {FRAME:.1f} ms of a frame")
    session.worker.wait()
    time.sleep(1)
    print(f"idle for ten seconds: {seconds(lambda: time.sleep(10)):.4f} s")
    studio.stop()


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
