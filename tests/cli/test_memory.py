"""Large tables: the whole command within a few times the memory of its table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from processes import forked
from references.memory import PEAK, told_by_the_system

pytestmark = [pytest.mark.slow, told_by_the_system]

SELECT = (
    PEAK
    + """
from tamis.cli import main
try:
    main()
finally:
    print(peak())
"""
)


@pytest.fixture
def peak(tmp_path):
    """Bytes that a selection holds at most, as the system counts them."""

    def peak(*arguments):
        done = forked.run("select", *arguments, code=SELECT, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return int(done.stdout.splitlines()[-1])

    return peak


def clusters(n_samples, n_features):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_samples, n_features))
    X[:, :10] += 5 * rng.normal(size=(3, 10))[np.arange(n_samples) % 3]
    return X


def genes(X):
    return pd.DataFrame(X, columns=[f"gene{j}" for j in range(X.shape[1])])


def test_a_wide_table_of_text(peak, tmp_path, blobs):
    """Besides the table: a name and a score per column; of Auto scaled copies, and reasons."""
    X = clusters(100, 25_000)
    blobs.to_csv(tmp_path / "small.csv", index=False)
    with open(tmp_path / "large.csv", "w") as file:
        file.write(",".join(f"gene{j}" for j in range(X.shape[1])) + "\n")
        file.writelines(",".join(map(repr, row.tolist())) + "\n" for row in X)
    baseline = peak("small.csv", "-m", "mrsf", "-o", "kept.csv")
    for method, most in (("mrsf", 3.5), ("auto", 7.7)):
        grown = peak("large.csv", "-m", method, "-o", "kept.csv") - baseline
        assert grown <= most * X.nbytes


def test_a_long_table(peak, tmp_path, blobs):
    X = clusters(250_000, 50)
    blobs.to_parquet(tmp_path / "small.parquet")
    genes(X).to_parquet(tmp_path / "large.parquet")
    baseline = peak("small.parquet", "-m", "mrsf", "-o", "kept.parquet")
    for method, most in (("mrsf", 2.6), ("auto", 2.8)):
        options = ("-m", method, "--max-rows", "3000", "-o", "kept.parquet")
        grown = peak("large.parquet", *options) - baseline
        assert grown <= most * X.nbytes
