"""The graph of samples that share landmarks: products, energies, eigenvectors, never its matrix."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from tamis._typing import FloatArray, Matrix, SparseMatrix
from tamis.graphs._landmarks import Landmarks
from tamis.graphs._laplacians import inverse_sqrt
from tamis.graphs._spectral import laplacian_eigenvectors
from tamis.utils.blocks import row_blocks
from tamis.utils.columns import weighted_moments
from tamis.utils.sparse import is_sparse

# An eigenvalue of the affinity below this is rounding, and its vector arbitrary.
SMALLEST_AFFINITY = 1e-10


@dataclass(frozen=True)
class LandmarkGraph:
    """The graph ``W = Z diag(1/mass) Zᵀ`` of samples that are tied to the same landmarks.

    Two samples are joined by the walk of two steps from one to a landmark and on to the other. The
    matrix of samples × samples is never formed; every sample has degree 1.

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

    def embedding(self, n_vectors: int, *, drop_constant: bool = True) -> tuple[FloatArray, ...]:
        """Eigenvalues and eigenvectors of ``I − W``; see :func:`landmark_embedding`."""
        values, B = landmark_embedding(
            self.tie_gram, self.mass, n_vectors, drop_constant=drop_constant
        )
        return values, self.ties @ B


def landmark_embedding(
    tie_gram: Matrix, mass: FloatArray, n_vectors: int, *, drop_constant: bool = True
) -> tuple[FloatArray, FloatArray]:
    """The smoothest eigenvectors ``Y = ZB`` of a landmark graph, from ``ZᵀZ`` alone.

    With ``Λ = diag(mass)``, the singular vectors of ``ZΛ^-½`` come from the eigenpairs (σ, V) of
    the m × m matrix ``Λ^-½ ZᵀZ Λ^-½``: ``Y = ZΛ^-½Vσ^-½``. The rows of Z are not needed: ``XᵀY``
    is ``(XᵀZ)B``.

    Parameters
    ----------
    tie_gram : {ndarray, sparse} of shape (n_landmarks, n_landmarks)
        ``ZᵀZ``. As the affinity of a graph of landmarks it has the degrees `mass`, so that
        landmarks that share no sample, directly or through others, are components of it.
    mass : ndarray of shape (n_landmarks,)
        Sums of the columns of Z. Landmarks of mass 0 get zeros.
    n_vectors : int
        Less than the number of landmarks with a mass.
    drop_constant : bool, default=True
        Whether to leave the constant vector out.

    Returns
    -------
    eigenvalues : ndarray of shape (n_vectors,)
        Of the Laplacian I − W: ascending, within [0, 1].
    B : ndarray of shape (n_landmarks, n_vectors)
        ``Y = ZB`` has orthonormal columns.

    Notes
    -----
    O(nnz) per Lanczos step, or O(m³) for few landmarks; independent of the number of samples.
    """
    values, vectors = laplacian_eigenvectors(
        sp.csr_array(tie_gram), n_vectors, drop_constant=drop_constant
    )
    affinity = 1 - values
    if affinity.min() < SMALLEST_AFFINITY:
        n_found = int(np.count_nonzero(affinity >= SMALLEST_AFFINITY))
        raise ValueError(
            f"{n_vectors} eigenvectors were asked of a graph of {len(mass)} landmarks that has "
            f"{n_found}; take more landmarks, or ask for fewer (n_clusters, n_components)."
        )
    return values, inverse_sqrt(mass)[:, None] * vectors / np.sqrt(affinity)
