"""Rows drawn at random."""

from __future__ import annotations

import numpy as np

from tamis._typing import IntArray


def drawn_samples(n_samples: int, most: int | None, seed: int) -> IntArray | slice:
    """Which samples are taken: all, or `most` of them at random, in their order."""
    if most is None or n_samples <= most:
        return slice(None)
    return np.sort(np.random.default_rng(seed).choice(n_samples, most, replace=False))
