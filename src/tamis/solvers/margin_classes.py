"""Two classes by the sign of one function, or more by the largest of several."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from tamis._typing import FloatArray, IntArray
from tamis.solvers.table_operator import TableOperator

# A sample that is not in a cut.
ABSENT = -1


class Classes(Protocol):
    """What differs between two classes and more."""

    n_blocks: int
    balances: FloatArray | None

    def labels(self, F: FloatArray) -> IntArray:
        """The class of each sample from its decision values."""

    def margins(self, F: FloatArray, labels: IntArray) -> tuple[FloatArray, IntArray]:
        """By how much each sample's class wins, and its strongest rival."""

    def cut(self, labels: IntArray, rivals: IntArray) -> tuple[FloatArray, float, float]:
        """The constraint of the samples that have a rival: its row, bias entry and bound."""


class TwoClasses:
    """``f(x) = vᵀx + b`` and its sign; samples are centred, so that balance is ``|b| ≤ l``."""

    n_blocks: int = 1
    balances: FloatArray | None = None

    def __init__(self, X: TableOperator) -> None:
        self.X = X

    def labels(self, F: FloatArray) -> IntArray:
        """One where f is positive."""
        return (F[:, 0] > 0).astype(np.intp)

    def margins(self, F: FloatArray, labels: IntArray) -> tuple[FloatArray, IntArray]:
        """``z f``; the only rival is the other class, written 0."""
        return np.where(labels > 0, F[:, 0], -F[:, 0]), np.zeros(len(F), dtype=np.intp)

    def cut(self, labels: IntArray, rivals: IntArray) -> tuple[FloatArray, float, float]:
        """Equation 9. O(nd)."""
        chosen = rivals != ABSENT
        weights = np.where(labels > 0, 1.0, -1.0) * chosen / len(labels)
        return self.X.transposed_times(weights[:, None]), float(weights.sum()), chosen.mean()


class ManyClasses:
    """``argmax_p v_pᵀx``: no bias, and the means of all functions within l of each other."""

    def __init__(self, X: TableOperator, n_clusters: int) -> None:
        self.X, self.n_blocks = X, n_clusters
        first, second = np.triu_indices(n_clusters, k=1)
        contrasts = np.eye(n_clusters)[first] - np.eye(n_clusters)[second]
        self.balances: FloatArray | None = np.einsum("k,jp->jkp", X.column_means(), contrasts)

    def labels(self, F: FloatArray) -> IntArray:
        """The class of the largest function."""
        return F.argmax(axis=1)

    def margins(self, F: FloatArray, labels: IntArray) -> tuple[FloatArray, IntArray]:
        """Difference to the largest function of another class (Proposition 8)."""
        rows = np.arange(len(F))
        others = F.copy()
        others[rows, labels] = -np.inf
        rivals = others.argmax(axis=1)
        return F[rows, labels] - others[rows, rivals], rivals

    def cut(self, labels: IntArray, rivals: IntArray) -> tuple[FloatArray, float, float]:
        """Equation 17; a rival that has become the sample's own class asks nothing. O(ndM)."""
        chosen = np.flatnonzero((rivals != ABSENT) & (rivals != labels))
        signs = np.zeros((len(labels), self.n_blocks))
        signs[chosen, labels[chosen]] = 1 / len(labels)
        signs[chosen, rivals[chosen]] = -1 / len(labels)
        return self.X.transposed_times(signs), 0.0, len(chosen) / len(labels)
