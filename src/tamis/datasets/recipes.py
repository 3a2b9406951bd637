"""How derived sets are made. The base comes with its labels coded from 0."""

from __future__ import annotations

from functools import partial

import numpy as np
from sklearn.utils import check_random_state

from tamis.datasets.records import Raw, Recipe

__all__ = ["classes", "noise_columns", "pooled_images"]


def classes(base: str, codes: tuple[int, ...], about: str) -> Recipe:
    """The samples of some classes."""
    return Recipe(base, about, partial(_keep_classes, codes=codes))


def pooled_images(base: str, codes: tuple[int, ...], side: int, about: str) -> Recipe:
    """Square images of some classes, halved in height and width by means over 2 × 2 pixels."""
    return Recipe(base, about, partial(_pool, codes=codes, side=side))


def noise_columns(base: str, n_columns: int, seed: int, about: str) -> Recipe:
    """The base with columns of standard normal noise after its own."""
    return Recipe(base, about, partial(_add_noise, n_columns=n_columns, seed=seed))


def _keep_classes(raw: Raw, codes: tuple[int, ...]) -> Raw:
    kept = np.isin(raw.y, codes)
    return Raw(raw.X[kept], raw.y[kept], raw.names)


def _pool(raw: Raw, codes: tuple[int, ...], side: int) -> Raw:
    images, y, _ = _keep_classes(raw, codes)
    half = side // 2
    pooled = np.asarray(images).reshape(-1, half, 2, half, 2).mean(axis=(2, 4), dtype=np.float64)
    return Raw(pooled.reshape(-1, half * half), y)


def _add_noise(raw: Raw, n_columns: int, seed: int) -> Raw:
    # The legacy generator: its stream is promised never to change, so that the checksum holds.
    noise = check_random_state(seed).standard_normal((raw.X.shape[0], n_columns))
    names = raw.names and (*raw.names, *(f"noise{j}" for j in range(n_columns)))
    return Raw(np.hstack([np.asarray(raw.X), noise]), raw.y, names)
