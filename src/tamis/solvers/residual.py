"""What given columns leave of the targets of a regression."""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr

from tamis._typing import FloatArray

# What is left of a target of unit length when it is explained but for rounding.
EXPLAINED = 1e-8
# A column of which the others explain all but this share of its length is no new direction.
DEPENDENT = 1e-10


def left_of(Y: FloatArray, columns: FloatArray) -> FloatArray:
    """The part of each target that no combination of the columns explains.

    Parameters
    ----------
    Y : ndarray of shape (n_samples, n_targets)
        Centred, of unit length.
    columns : ndarray of shape (n_samples, n_columns)
        Centred. They may depend on each other.

    Returns
    -------
    ndarray of shape (n_samples, n_targets)
        Zero for a target that is explained but for rounding.

    Notes
    -----
    O(np² + npc) for p columns and c targets.
    """
    lengths = np.linalg.norm(columns, axis=0)
    basis, R, _ = qr(columns[:, lengths > 0] / lengths[lengths > 0], mode="economic", pivoting=True)
    basis = basis[:, : np.count_nonzero(np.abs(np.diag(R)) > DEPENDENT)]
    residual: FloatArray = Y - basis @ (basis.T @ Y)
    return np.where(np.linalg.norm(residual, axis=0) > EXPLAINED, residual, 0.0)
