"""Large tables: the whole command within twice the memory of its table."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="peak memory is told in other units"),
]


@pytest.fixture
def peak(tmp_path):
    """Bytes that a command holds at most, as the system counts them."""

    def peak(*arguments):
        running = subprocess.Popen(
            [sys.executable, "-m", "tamis", *arguments],
            cwd=tmp_path, stdout=subprocess.DEVNULL, env={**os.environ, "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        _, status, usage = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
        assert running.returncode == 0
        return usage.ru_maxrss * 1024

    return peak


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "shape", "ending", "most"),
    [
        ("mrsf", (100, 100_000), "csv", 2),
        ("mrsf", (1_000_000, 50), "parquet", 2),
        ("auto", (100, 100_000), "csv", 5),  # scaled copies, and a reason per column
        ("auto", (1_000_000, 50), "parquet", 2),
    ],
)
def test_no_more_than_a_few_times_the_table(peak, tmp_path, blobs, method, shape, ending, most):
    X = np.random.default_rng(0).normal(size=shape)
    if ending == "csv":
        blobs.to_csv(tmp_path / "small.csv", index=False)
        with open(tmp_path / "large.csv", "w") as file:
            file.write(",".join(f"gene{j}" for j in range(shape[1])) + "\n")
            file.writelines(",".join(map(repr, row.tolist())) + "\n" for row in X)
    else:
        blobs.to_parquet(tmp_path / "small.parquet")
        pd.DataFrame(X, columns=[f"gene{j}" for j in range(shape[1])]).to_parquet(
            tmp_path / "large.parquet"
        )
    baseline = peak("select", f"small.{ending}", "-m", method, "-o", f"kept.{ending}")
    large = peak("select", f"large.{ending}", "-m", method, "-o", f"kept.{ending}")
    assert large - baseline <= most * X.nbytes
