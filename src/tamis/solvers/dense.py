"""Products and factorisations of dense matrices, on as many threads as they gain from."""

from __future__ import annotations

from typing import Any

import scipy.linalg

from tamis._typing import FloatArray, Matrix
from tamis.utils.threads import all_threads


def cho_factor(matrix: FloatArray, **options: Any) -> tuple[FloatArray, bool]:
    """As :func:`scipy.linalg.cho_factor`. O(d³)."""
    with all_threads(len(matrix) ** 3 / 3):
        factor: tuple[FloatArray, bool] = scipy.linalg.cho_factor(matrix, **options)
    return factor


def eigh(matrix: FloatArray, **options: Any) -> Any:
    """As :func:`scipy.linalg.eigh`. O(d³)."""
    with all_threads(4 * len(matrix) ** 3):
        return scipy.linalg.eigh(matrix, **options)


def matmul(left: Matrix, right: Matrix) -> Any:
    """``left @ right``; of sparse tables scipy's product, which has one thread."""
    with all_threads(2 * left.shape[0] * left.shape[1] * right.shape[1]):
        return left @ right
