"""A table is held once while it is read."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from processes import forked
from references.memory import PEAK, told_by_the_system, with_peak_memory

from tamis import io


@pytest.mark.slow
@pytest.mark.parametrize("set_aside", [False, True])
def test_wide_csv(tmp_path, set_aside):
    n_samples, n_features = 200, 8000
    X = np.random.default_rng(0).normal(size=(n_samples, n_features)).round(6)
    with open(tmp_path / "wide.csv", "w") as file:
        file.write(",".join(["id", *(f"gene{j}" for j in range(n_features))]) + "\n")
        for i, row in enumerate(X.tolist()):
            file.write(",".join([str(i), *map(str, row)]) + "\n")
    if set_aside:
        table, peak = with_peak_memory(io.read, tmp_path / "wide.csv", ids="id")
    else:
        with pytest.warns(io.TableWarning, match="Column 'id' looks like a running number"):
            table, peak = with_peak_memory(io.read, tmp_path / "wide.csv")
    np.testing.assert_array_equal(table.X[:, -n_features:], X)
    assert peak < 2 * X.nbytes


GROWTH = (
    PEAK
    + """
import sys
import pyarrow.parquet
from tamis import io
before = peak()
table = io.read(sys.argv[1])
print((peak() - before) / table.X.nbytes)
"""
)


@pytest.mark.slow
@told_by_the_system
@pytest.mark.parametrize("n_groups", [1, 4])
def test_long_parquet(tmp_path, n_groups):
    """Arrow allocates outside Python, so that only the process as a whole tells."""
    rng = np.random.default_rng(0)
    n_samples = 500_000
    frame = pa.table({f"c{j}": rng.normal(size=n_samples) for j in range(25)})
    path = tmp_path / "long.parquet"
    pa.parquet.write_table(frame, path, row_group_size=n_samples // n_groups)
    done = forked.run(str(path), code=GROWTH)
    assert float(done.stdout) < 2
