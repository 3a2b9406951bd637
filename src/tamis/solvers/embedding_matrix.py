"""``L + β(I + X diag(e) Xᵀ)⁻¹`` for a sparse L, and its smallest eigenpairs."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh, splu

from tamis._typing import FloatArray, SparseMatrix
from tamis.solvers.dense import (
    Cholesky,
    cholesky,
    cholesky_of_identity_plus,
    eigenpairs_in_range,
    scale_rows,
)
from tamis.solvers.eigen import DENSE_MAX, SIDE_MAX, first_guess, largest_of_inverse
from tamis.solvers.eigenpairs import Eigenpairs
from tamis.solvers.table_operator import TableOperator

# Up to this many samples the sparse LU factors of a neighbour graph stay small.
LU_MAX = 10_000
REMEDY = "use fewer samples or features"


@dataclass(frozen=True, kw_only=True)
class Embedding(Eigenpairs):
    """Eigenvectors Y of an :class:`EmbeddingMatrix`, and the regression that rebuilds them.

    Attributes
    ----------
    coef : ndarray of shape (n_features, n_pairs)
        ``(XᵀX + diag(1/e))⁻¹XᵀY``.
    """

    coef: FloatArray


def _factorized(L: SparseMatrix | FloatArray, shift: float) -> Any:
    """Factors of ``L + shift·I`` that solve with it: sparse ones of a sparse L."""
    if isinstance(L, np.ndarray):
        shifted = L.copy()
        shifted[np.diag_indices_from(shifted)] += shift
        return cholesky(shifted, overwrite=True)
    sparse = sp.csc_array(L + shift * sp.eye_array(L.shape[0]))
    return splu(sparse, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})


class EmbeddingMatrix:
    """``T = L + β(I + X diag(e) Xᵀ)⁻¹`` for a centred table X and a Laplacian L.

    Equal to ``L + βI − βX(XᵀX + diag(1/e))⁻¹Xᵀ``. With few samples, or n ≤ d, T is formed: O(n²d +
    n³). With d < n it is not: a sparse LU factorization of ``L + βI`` once (Cholesky of a dense L),
    then a d × d Cholesky factorization for each `e` and Lanczos on the inverse. Where X is sparse,
    or so long that the LU factors would fill up, Lanczos runs on T itself, which takes more steps.

    Parameters
    ----------
    X : TableOperator
        Centred.
    L : {csr_array, ndarray} of shape (n_samples, n_samples)
        Positive semi-definite.
    beta : float
    remedy : str, optional
        What to do where both sides of the table are too large, for the message that says so.
    """

    def __init__(
        self, X: TableOperator, L: SparseMatrix | FloatArray, beta: float, *, remedy: str = REMEDY
    ) -> None:
        self.X, self._L, self._beta = X, L, beta
        self.size, n_features = X.shape
        self._small = self.size <= max(n_features, DENSE_MAX)
        side = self.size if self._small else n_features
        if side > SIDE_MAX:
            raise ValueError(
                f"X has shape {X.shape}: its smaller side exceeds {SIDE_MAX}, too large for an "
                f"embedding that is learned jointly; {remedy}."
            )
        self._lu = None
        if self._small:
            return
        self._gram = X.gram_of_features()
        if not X.is_sparse and self.size <= LU_MAX:
            self._lu = _factorized(L, beta)
            self._solved = self._lu.solve(X.columns(np.arange(n_features)))
            self._reduced = X.transposed_times(self._solved)

    def smallest(self, e: FloatArray, n_pairs: int, start: FloatArray | None = None) -> Embedding:
        """The smallest eigenpairs Y of T, and the ridge solution ``(XᵀX + diag(1/e))⁻¹XᵀY``."""
        if self._small:
            return self._from_samples(e, n_pairs)
        root = np.sqrt(e)
        K = root[:, None] * self._gram * root  # e^½(XᵀX + 1/e)e^½
        K[np.diag_indices_from(K)] += 1
        ridge = cholesky(K)
        if self._lu is None:
            pairs = self._on_itself(root, ridge, n_pairs, start)
        else:
            pairs = self._on_inverse(root, K, n_pairs, start)
        target = scale_rows(self.X.transposed_times(pairs.solution), root)
        return Embedding(**vars(pairs), coef=scale_rows(ridge.solve(target), root))

    def _from_samples(self, e: FloatArray, n_pairs: int) -> Embedding:
        factor = cholesky_of_identity_plus(self.X.gram_of_samples(e))
        T = self._beta * factor.solve(np.eye(self.size)) + self._L
        T = (T + T.T) / 2
        values, Y = eigenpairs_in_range(T, (0, n_pairs - 1))
        residual = np.linalg.norm(T @ Y - Y * values, axis=0).max() / np.abs(T).sum(axis=0).max()
        solver = "dense: the samples are few, or no more than the features"
        pairs = Eigenpairs.found(values, Y, residual, solver)
        coef = scale_rows(self.X.transposed_times(factor.solve(Y)), e)
        return Embedding(**vars(pairs), coef=coef)

    def _on_inverse(
        self, root: FloatArray, K: FloatArray, n_pairs: int, start: FloatArray | None
    ) -> Eigenpairs:
        # Woodbury: T⁻¹ = S⁻¹ + S⁻¹X C⁻¹ XᵀS⁻¹ with S = L + βI and C = (XᵀX + 1/e)/β − XᵀS⁻¹X, here
        # scaled by e^½ on both sides.
        assert self._lu is not None
        lu = self._lu
        C = K / self._beta - root[:, None] * self._reduced * root
        capacitance = cholesky(C, overwrite=True)
        solved = self._solved * root

        def solve(v: FloatArray) -> FloatArray:
            return lu.solve(v) + solved @ capacitance.solve(solved.T @ v)

        return largest_of_inverse(
            solve,
            self.size,
            n_pairs,
            start,
            "Lanczos on the inverse by factors of L: there are fewer features than samples",
            affordable=self.size <= SIDE_MAX,
        )

    def _on_itself(
        self,
        root: FloatArray,
        ridge: Cholesky,
        n_pairs: int,
        start: FloatArray | None,
    ) -> Eigenpairs:
        def apply(v: FloatArray) -> FloatArray:
            inside = ridge.solve(scale_rows(self.X.transposed_times(v), root))
            inside = scale_rows(inside, root)
            return self._L @ v + self._beta * (v - self.X.times(inside))

        solver = "Lanczos: the table is sparse, or too long for a factorization"
        affordable = self.size <= SIDE_MAX
        found = None
        if not affordable or n_pairs <= self.size // 3:
            operator = LinearOperator((self.size, self.size), matvec=apply, dtype=np.float64)
            with contextlib.suppress(ArpackError):
                found = eigsh(
                    operator,
                    n_pairs,
                    which="SA",
                    v0=first_guess(self.size, start),
                    ncv=min(self.size, max(4 * n_pairs, 60)),
                    maxiter=2000,
                    tol=1e-10,
                )
        if found is None:
            if not affordable:
                raise np.linalg.LinAlgError(
                    f"Lanczos did not find {n_pairs} eigenvectors of a matrix of size {self.size}, "
                    "which is too large for a dense solver; try fewer components, or a larger beta."
                )
            matrix = apply(np.eye(self.size))
            found = eigenpairs_in_range((matrix + matrix.T) / 2, (0, n_pairs - 1))
            solver = "dense: Lanczos did not converge, or many pairs are wanted"
        values, vectors = found
        order = np.argsort(values)
        values, vectors = values[order], vectors[:, order]
        misfit = np.linalg.norm(apply(vectors) - vectors * values, axis=0).max()
        residual = misfit / (abs(self._L).sum(axis=0).max() + self._beta)
        return Eigenpairs.found(values, vectors, residual, solver)
