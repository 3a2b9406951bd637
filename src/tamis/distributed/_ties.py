"""Products of the columns of a table with the ties of its rows to landmarks, in one pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.sparse as sp

from tamis._typing import FloatArray, SparseMatrix

__all__ = ["TieProducts"]


@dataclass(frozen=True, eq=False)
class TieProducts:
    """XᵀZ, ZᵀZ and Zᵀ1, for the ties Z of the rows to m landmarks; they add up over blocks of rows.

    All that a graph ``W = Z diag(1/mass) Zᵀ`` says of the columns of a table follows from them:
    Laplacian scores, the spectral embedding, and its correlations with the columns.

    Attributes
    ----------
    count : int
    cross : ndarray of shape (n_features, n_landmarks)
        XᵀZ, of columns that were centred as well as was known.
    gram : csr_array of shape (n_landmarks, n_landmarks)
        ZᵀZ.
    mass : ndarray of shape (n_landmarks,)
        Zᵀ1.
    """

    count: int
    cross: FloatArray
    gram: SparseMatrix
    mass: FloatArray

    @classmethod
    def of(cls, X: FloatArray, ties: SparseMatrix) -> Self:
        """The products of some rows. O(kdn) for k ties of each row."""
        transposed = ties.T.tocsr()
        cross = np.asarray(transposed @ X).T
        gram = sp.csr_array(transposed @ ties)
        gram.sort_indices()  # as when it is read again, so that sums over it have the same bits
        return cls(X.shape[0], cross, gram, np.asarray(ties.sum(axis=0)).ravel())

    def merge(self, other: Self) -> Self:
        """The products of the rows of both. O(dm)."""
        return type(self)(
            self.count + other.count,
            self.cross + other.cross,
            self.gram + other.gram,
            self.mass + other.mass,
        )

    def with_landmarks_in_use(self) -> Self:
        """Without the landmarks to which no row is tied, and with a symmetric ZᵀZ."""
        used = self.mass > 0
        gram = sp.csr_array((self.gram + self.gram.T) / 2)[used][:, used]
        return type(self)(self.count, self.cross[:, used], sp.csr_array(gram), self.mass[used])

    def arrays(self) -> dict[str, FloatArray]:
        """All that it holds, as arrays by name: to be written, sent, and read again."""
        return {
            "count": np.array(self.count),
            "cross": self.cross,
            "gram_data": self.gram.data,
            "gram_indices": self.gram.indices,
            "gram_indptr": self.gram.indptr,
            "mass": self.mass,
        }

    @classmethod
    def from_arrays(cls, held: Mapping[str, FloatArray]) -> Self:
        """What :meth:`arrays` gave."""
        mass = held["mass"]
        parts = held["gram_data"], held["gram_indices"], held["gram_indptr"]
        gram = sp.csr_array(parts, shape=(len(mass), len(mass)))
        return cls(int(held["count"]), held["cross"], gram, mass)
