"""The tables that the benchmarks run on: real sets from TAMIS_DATA, and synthetic ones."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp


def has_set(name: str) -> bool:
    """Whether the real set is available."""
    folder = os.environ.get("TAMIS_DATA")
    return folder is not None and (Path(folder) / f"{name}.npz").exists()


def real_set(name: str) -> Any:
    """A real set as float64, sparse where it is stored so."""
    with np.load(Path(os.environ["TAMIS_DATA"]) / f"{name}.npz") as file:
        if "X" in file:
            return file["X"].astype(np.float64)
        parts = (file["X_data"].astype(np.float64), file["X_indices"], file["X_indptr"])
        return sp.csr_array(parts, shape=tuple(file["X_shape"]))


def noise(n_samples: int, n_features: int) -> Any:
    """Isotropic Gaussian noise: the hardest table for a neighbour search."""
    return np.random.default_rng(0).standard_normal((n_samples, n_features))


def clusters(n_samples: int, n_features: int) -> Any:
    """Ten Gaussian clusters in 20 dimensions, mixed into all features, with noise added."""
    rng = np.random.default_rng(0)
    latent = (
        rng.standard_normal((n_samples, 20))
        + 4 * rng.standard_normal((10, 20))[rng.integers(0, 10, n_samples)]
    )
    return latent @ rng.standard_normal((20, n_features)) + rng.standard_normal(
        (n_samples, n_features)
    )
