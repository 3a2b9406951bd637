"""Fixtures that several test modules share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

# pynndescent is compiled for a few hundred rows: the compiler's time is all of it.
os.environ.setdefault("NUMBA_OPT", "0")


@pytest.fixture(scope="session")
def benchmark_set() -> Callable[[str], tuple[Any, np.ndarray]]:
    """Load a real benchmark set by name: (X, y), or skip when it is not available."""
    folder = os.environ.get("TAMIS_DATA")

    def load(name: str) -> tuple[Any, np.ndarray]:
        if not folder:
            pytest.skip("real benchmark sets: set TAMIS_DATA to the folder that holds them")
        path = Path(folder) / f"{name}.npz"
        if not path.exists():
            pytest.skip(f"the benchmark set {name} is not in TAMIS_DATA ({folder})")
        with np.load(path) as file:
            if "X" in file:
                return file["X"].astype(np.float64), file["y"]
            parts = (file["X_data"].astype(np.float64), file["X_indices"], file["X_indptr"])
            return sp.csr_array(parts, shape=tuple(file["X_shape"])), file["y"]

    return load


@pytest.fixture
def fullest_columns(benchmark_set: Any) -> Callable[[str, int], Any]:
    """200 rows of a sparse set, and the columns of it with the fewest zeros among them."""

    def load(name: str, n_features: int) -> Any:
        X, _ = benchmark_set(name)
        X = X[:: X.shape[0] // 200][:200]
        return X[:, np.sort(np.argsort(-np.diff(X.tocsc().indptr), kind="stable")[:n_features])]

    return load


@pytest.fixture(scope="module")
def rough_evidence() -> Iterator[None]:
    """Reports seek groups in one cut of the rows, beside few other columns, and refit twice.

    That is most of their time, and their figures are tested where they are measured.
    """
    from tamis import report

    with pytest.MonkeyPatch.context() as patch:
        for name, number in {"N_SPLITS": 1, "N_STARTS": 1, "MOST_RANDOM": 2, "N_CLOUDS": 1}.items():
            patch.setattr(f"tamis.inspection._group_evidence.{name}", number)
        patch.setitem(report.selection.__kwdefaults__, "n_subsamples", 2)
        yield
