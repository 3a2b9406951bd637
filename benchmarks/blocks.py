"""Cases of tables in blocks: Parquet beside reading alone, a wide one beside one product, Dask."""

from __future__ import annotations

import glob
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import data
from benchmarks.case import Case

# Where tables are written: ten million rows take 4 GB.
FOLDER = Path(os.environ.get("TAMIS_BENCH_FOLDER", tempfile.gettempdir()))
ROWS_OF_A_FILE = 250_000
N_FEATURES = 100


class Written:
    """Files of a table. The cut that the harness warms up on is the first of them.

    Parameters
    ----------
    pattern : str
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern

    def __getitem__(self, rows: slice) -> Written:
        return Written(sorted(glob.glob(self.pattern))[0])


def written(n_samples: int) -> Written:
    """Groups in 100 columns, in single precision, as Parquet files of 250,000 rows; kept."""
    import pyarrow as pa
    import pyarrow.parquet

    folder = FOLDER / f"tamis-benchmark-{n_samples}"
    if not folder.exists():
        beside = Path(tempfile.mkdtemp(dir=FOLDER))
        rng = np.random.default_rng(0)
        centres = 4 * rng.standard_normal((10, 20))
        mixing = rng.standard_normal((20, N_FEATURES))
        for part in range(-(-n_samples // ROWS_OF_A_FILE)):
            n_rows = min(ROWS_OF_A_FILE, n_samples - part * ROWS_OF_A_FILE)
            latent = rng.standard_normal((n_rows, 20)) + centres[rng.integers(0, 10, n_rows)]
            X = latent @ mixing + rng.standard_normal((n_rows, N_FEATURES))
            columns = {f"c{j}": X[:, j].astype(np.float32) for j in range(N_FEATURES)}
            frame = pa.table(columns)
            pyarrow.parquet.write_table(frame, beside / f"part-{part}.parquet")
        shutil.move(beside, folder)
    return Written(f"{folder}/*.parquet")


def select(table: Written, memory: str = "500MB") -> dict[str, str]:
    """MRSF in blocks, within 1 GB with Python and its libraries."""
    from tamis import MRSF, io

    opened = io.open(table.pattern, memory=memory, scaling="standard")
    start = time.process_time()
    MRSF(20).fit(opened)
    seconds = time.process_time() - start
    return {"note": f"{len(opened.blocks)} blocks, {seconds:.0f} s of processor time"}


def read_alone(table: Written) -> None:
    """The same files, read by pyarrow and let go of."""
    import pyarrow.parquet

    for path in sorted(glob.glob(table.pattern)):
        with pyarrow.parquet.ParquetFile(path) as file:
            for group in range(file.num_row_groups):
                file.read_row_group(group)


def gram_of_samples(X: Any) -> None:
    """One product of a wide table with itself."""
    X @ X.T


def fit(X: Any, method: str, **parameters: Any) -> None:
    """Fit a registered method."""
    from tamis.registry import make

    make(method, **parameters).fit(X)


def on_dask(X: Any) -> dict[str, float]:
    """MRSF on a cluster of four workers, which is there already."""
    import dask.array as da
    from distributed import Client, LocalCluster

    from tamis import MRSF

    with (
        LocalCluster(n_workers=4, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(4)
        n_rows = max(50, len(X) // 16)
        chunks = da.from_array(X, chunks=(n_rows, X.shape[1])).persist()
        MRSF(20).fit(chunks[:n_rows])  # the workers import what they need
        start = time.perf_counter()
        MRSF(20).fit(chunks)
        return {"seconds": time.perf_counter() - start}


def in_this_process(X: Any) -> None:
    """MRSF with the same landmarks, without Dask."""
    from tamis import MRSF

    MRSF(20, neighbors="landmarks").fit(X)


def _parquet(n_samples: int) -> Case:
    load: Callable[[], Any] = partial(written, n_samples)
    return Case(
        "MRSF in blocks, Parquet",
        f"{n_samples:,} × {N_FEATURES}, float32",
        load,
        select,
        read_alone,
        "pyarrow reading the files",
        min_ratio=1 / 15,
        max_megabytes=1000,
    )


CASES = (
    *(_parquet(n_samples) for n_samples in (100_000, 1_000_000, 10_000_000)),
    *(
        Case(
            f"{name}, wide",
            "500 × 100,000",
            partial(data.clusters, 500, 100_000),
            partial(fit, method=method),
            gram_of_samples,
            "one product of the table with itself",
            min_ratio=1 / 3,
        )
        for name, method in (("MRSF", "mrsf"), ("PCAScore", "pca_score"))
    ),
    Case(
        "MRSF on Dask, four workers",
        "200,000 × 100",
        partial(data.clusters, 200_000, 100),
        on_dask,
        in_this_process,
        "MRSF by landmarks in one process",
        min_ratio=1 / 1.5,
    ),
)
