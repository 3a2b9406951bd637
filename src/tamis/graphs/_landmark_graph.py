"""The graph of samples that share landmarks: its products and energies, never its matrix."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from tamis._typing import FloatArray, Matrix, SparseMatrix
from tamis.graphs._landmarks import Landmarks
from tamis.utils.blocks import row_blocks
from tamis.utils.columns import weighted_moments
from tamis.utils.sparse import is_sparse


@dataclass(frozen=True)
class LandmarkGraph:
    """The graph ``W = Z diag(1/mass) Zᵀ`` of samples that are tied to the same landmarks.

    Two samples are joined by the walk of two steps from one to a landmark and on to the other. The
    matrix of samples × samples is formed for few samples only; every sample has degree 1.

    Attributes
    ----------
    ties : csr_array of shape (n_samples, n_landmarks)
        Z: non-negative, rows sum to one.
    mass : ndarray of shape (n_landmarks,)
        Sums of the columns of Z, all positive.
    """

    ties: SparseMatrix
    mass: FloatArray

    @classmethod
    def of(cls, ties: SparseMatrix) -> LandmarkGraph:
        """The graph of given ties; landmarks without a tie are left out."""
        mass = np.asarray(ties.sum(axis=0)).ravel()
        used = mass > 0
        return cls(sp.csr_array(ties), mass) if used.all() else cls(ties[:, used], mass[used])

    @classmethod
    def from_landmarks(cls, X: Matrix, landmarks: Landmarks) -> LandmarkGraph:
        """The graph of the rows of X by their ties to the landmarks. O(n·m·d)."""
        return cls.of(landmarks.tie(X))

    @property
    def shape(self) -> tuple[int, int]:
        """Of W."""
        return (self.ties.shape[0], self.ties.shape[0])

    @property
    def n_landmarks(self) -> int:
        """How many landmarks have ties."""
        return len(self.mass)

    @cached_property
    def tie_gram(self) -> SparseMatrix:
        """``ZᵀZ``, the affinity of the landmarks: its degrees are their masses. O(n·n_nearest²)."""
        gram = sp.csr_array(self.ties.T @ self.ties)
        return sp.csr_array((gram + gram.T) / 2)

    def __matmul__(self, V: FloatArray) -> FloatArray:
        """``WV`` for a vector or columns, dense. O(n·n_nearest) per column."""
        inner = self.ties.T @ V
        return self.ties @ (inner.T / self.mass).T

    def laplacian_times(self, V: FloatArray) -> FloatArray:
        """``(I − W)V`` for a vector or columns, dense; the degrees are 1."""
        return V - self @ V

    def matrix(self) -> SparseMatrix:
        """W itself, for few samples. O(nnz)."""
        W = sp.csr_array(self.ties @ sp.diags_array(1 / self.mass) @ self.ties.T)
        return sp.csr_array((W + W.T) / 2)

    def energies(self, X: Matrix) -> FloatArray:
        """``fᵀ(I − W)f`` for each column f of X. O(n·n_nearest·d), or with nnz(X) for sparse X."""
        n_samples, n_features = X.shape
        mean, scatter = weighted_moments(X, np.ones(n_samples))
        # The mean is taken out of both: it plays no part in the energy, and would drown it.
        if is_sparse(X):
            shared = (self.ties.T @ X.astype(np.float64)).toarray()
            shared -= np.outer(self.mass, mean)
        else:
            shared = np.zeros((self.n_landmarks, n_features))
            for rows in row_blocks(n_samples, n_features, block_size=1 << 22):
                shared += self.ties[rows].T @ (X[rows] - mean)
        kept = np.einsum("ij,ij->j", shared, shared / self.mass[:, None])
        return (scatter - kept).clip(min=0)


# A graph of samples: its sparse matrix, or landmarks in place of it.
Graph: TypeAlias = SparseMatrix | LandmarkGraph
