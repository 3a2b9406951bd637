"""Vectors of the features that lie in the span of the samples, in as few coordinates as it has."""

from __future__ import annotations

import numpy as np

from tamis._typing import FloatArray
from tamis.solvers.dense import eigh
from tamis.solvers.eigen import SIDE_MAX
from tamis.solvers.table_operator import TableOperator

# Directions in which the samples have less than this share of their largest squared spread are
# rounding.
ROUNDING = 1e-14


class SampleSpan:
    """A table in coordinates of its own: those of its samples where there are fewer than features.

    Lengths and inner products, of samples and of vectors in their span, are the same in them: it is
    a rotation of the features, of which the directions that no sample has are left out.

    Parameters
    ----------
    X : TableOperator
        With n < d, an eigenproblem of the samples gives the coordinates: O(n²d + n³). Otherwise,
        and where both sides exceed 6000, the coordinates are the features.

    Attributes
    ----------
    table : TableOperator
        The table in these coordinates, n × n at most where they are not the features.
    is_rotated : bool
    """

    def __init__(self, X: TableOperator) -> None:
        self._X = X
        n_samples, n_features = X.shape
        self.is_rotated = n_samples < n_features and n_samples <= SIDE_MAX
        self.table = X
        if self.is_rotated:
            values, vectors = eigh(X.gram_of_samples())
            kept = values > ROUNDING * values[-1]
            lengths = np.sqrt(values[kept])
            self._basis = vectors[:, kept] / lengths  # Xᵀ times these are orthonormal
            self.table = TableOperator(vectors[:, kept] * lengths)

    def of_features(self, D: FloatArray) -> FloatArray:
        """The coordinates of vectors in the span, which are columns of D."""
        return self._basis.T @ self._X.times(D) if self.is_rotated else D

    def to_features(self, coordinates: FloatArray) -> FloatArray:
        """The vectors of these coordinates. O(nd) per vector."""
        if not self.is_rotated:
            return coordinates
        return self._X.transposed_times(self._basis @ coordinates)
