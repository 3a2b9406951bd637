"""Kill a selection in blocks again and again with -9, go on each time, and compare the result.

Run as ``python tools/kill_and_resume.py [KILLS]``. It writes a table of 400,000 × 30 in Parquet to
a temporary folder, selects columns once undisturbed and once with the process killed at random
moments, and prints how many blocks were done at each kill.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

N_ROWS, N_COLUMNS, N_PARTS = 400_000, 30, 4
COMMAND = (sys.executable, "-m", "tamis", "select", "*.parquet", "--memory", "16MiB")
OPTIONS = ("-m", "mrsf", "-k", "5", "--json", "--checkpoint", "kept")


def write_table(folder: Path) -> None:
    """Five groups in a few of the columns, in several files."""
    rng = np.random.default_rng(0)
    centres, mixing = 4 * rng.normal(size=(5, 4)), rng.normal(size=(4, N_COLUMNS))
    for part in range(N_PARTS):
        n_rows = N_ROWS // N_PARTS
        latent = centres[rng.integers(0, 5, n_rows)] + rng.normal(size=(n_rows, 4))
        X = (latent @ mixing + rng.normal(size=(n_rows, N_COLUMNS))).astype(np.float32)
        frame = pa.table({f"c{j}": X[:, j] for j in range(N_COLUMNS)})
        pyarrow.parquet.write_table(frame, folder / f"part-{part}.parquet", row_group_size=10_000)


def progress(checkpoint: Path) -> tuple[int, int]:
    """Which pass the checkpoint is of, and how many of its blocks are done."""
    if not checkpoint.exists():
        return 0, 0
    with np.load(checkpoint) as file:
        header = json.loads(file["header"].tobytes())
    return header["step"], header["n_blocks"]


def selected(folder: Path) -> tuple[list[dict[str, object]], float]:
    """What an undisturbed run selects, and how long it takes."""
    start = time.monotonic()
    done = subprocess.run(
        [*COMMAND, *OPTIONS], cwd=folder, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)["kept"], time.monotonic() - start


def killed(folder: Path, rng: random.Random) -> bool:
    """Kill a run at a random moment after it has begun to keep what is done."""
    checkpoint = folder / "kept"
    before = progress(checkpoint)
    with subprocess.Popen(
        [*COMMAND, *OPTIONS], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as run:
        while run.poll() is None and progress(checkpoint) == before:
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.15))
        run.kill()
    return run.returncode != 0


def main() -> int:
    """Run, compare, and exit with 1 if anything differs."""
    n_kills = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    rng = random.Random(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_table(folder)
        expected, seconds = selected(folder)
        print(f"undisturbed: {seconds:.1f} s", flush=True)
        for kill in range(1, n_kills + 1):
            if not killed(folder, rng):
                print(f"the run was done before kill {kill}", flush=True)
                return 1
            step, n_blocks = progress(folder / "kept")
            print(f"kill {kill}: pass {step}, {n_blocks} blocks done", flush=True)
        found, _ = selected(folder)
        same = found == expected
        print(f"{n_kills} kills: the result is {'the same' if same else 'another'}")
        return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
