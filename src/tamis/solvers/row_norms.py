"""Norms of rows, and how they are smoothed where a problem is reweighted.

The l2,1 norm ``Σ_i ‖w_i‖`` is not smooth where a row is zero. Reweighting descends on
``Σ_i sqrt(‖w_i‖² + ζ)`` instead, whose majorants have the finite weights
``1/(2 sqrt(‖w_i‖² + ζ))``. The constants below are ζ for rows of unit size, such as those of an
orthonormal W can have; for others :func:`smoothing_of` scales them. Rows that are shorter than √ζ
count as zero.
"""

from __future__ import annotations

import numpy as np

from tamis._typing import FloatArray

# Of a penalised row: 1e-8 of its size.
PENALTY_SMOOTHING = 1e-16
# Of a penalised row in a problem with a ratio of traces: 1e-5 of its size.
RATIO_SMOOTHING = 1e-10
# Of the residual of a sample: a hundredth of the mean row of the table. Beside a smaller one,
# samples that fit exactly would hold all others in their place.
LOSS_SMOOTHING = 1e-4


def row_norms(W: FloatArray) -> FloatArray:
    """Euclidean norms of the rows."""
    return np.sqrt(np.einsum("ij,ij->i", W, W))


def smoothed_norms(W: FloatArray, smoothing: float) -> FloatArray:
    """``sqrt(‖w_i‖² + ζ)``."""
    return np.sqrt(np.einsum("ij,ij->i", W, W) + smoothing)


def smoothing_of(smoothing: float, size: float) -> float:
    """ζ for rows of the given size, from that for unit rows; positive even where the size is 0."""
    return float(max(np.sqrt(smoothing) * size, np.finfo(float).tiny ** 0.25) ** 2)
