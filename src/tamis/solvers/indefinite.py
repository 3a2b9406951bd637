"""The few smallest eigenpairs of a Gram matrix plus a diagonal, minus a matrix of low rank."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg.blas import dsyrk

from tamis._typing import FloatArray, Operator
from tamis.solvers.conjugate_gradients import inverse_by_conjugate_gradients
from tamis.solvers.dense import (
    cholesky,
    cholesky_of_identity_plus,
    eigenpairs_in_range,
    scale_rows,
)
from tamis.solvers.eigen import DENSE_MAX, SIDE_MAX, largest_of_inverse
from tamis.solvers.eigenpairs import Eigenpairs
from tamis.solvers.refinement import refined
from tamis.solvers.table_operator import TableOperator


class IndefiniteGram:
    """``M = diag(g) + a·XᵀX − UUᵀ`` with g > 0, a ≥ 0 and a narrow U, for a centred table X.

    Its smallest eigenvectors change little between the steps of a reweighting scheme, and a gap
    opens behind them. They are therefore first sought by a few steps of inverse iteration on the
    last ones; where the gap is too small for that, by a solver that needs no start.

    Where d ≤ 2n, M is formed, which takes no more memory than two tables: O(d³) for a solution.
    Where d > 2n it is not: O(n²d + d(n + u)²) for the inverse by Woodbury, with u columns in U, and
    memory O(nd). Where both sides are large the inverse is applied by conjugate gradients.

    Parameters
    ----------
    X : TableOperator
        Centred.

    Attributes
    ----------
    size : int
    diagonal : ndarray of shape (size,)
        The diagonal of XᵀX.
    """

    def __init__(self, X: TableOperator) -> None:
        self.X = X
        self.diagonal = X.squared_column_norms()
        n_samples, self.size = X.shape
        self._gram: Any = None
        self._last: tuple[Any, Any] = (None, None)
        self._buffer: Any = None
        # What the last refinement left behind, how many in a row have failed, and how many calls
        # are to pass before the next: a first start is too far off.
        self._guards: Any = None
        self._misses, self._skip = 0, 1
        self._wide_inverse = "Woodbury"
        self._reason = "the samples are few beside the features"
        if self.size <= min(max(2 * n_samples, DENSE_MAX), SIDE_MAX):
            self._gram = X.gram_of_features()
            self._reason = "the features are few beside the samples"
        elif n_samples > SIDE_MAX:
            self._wide_inverse = "conjugate gradients"
            self._reason = f"both sides of the table exceed {SIDE_MAX}"

    def gram_times(self, V: FloatArray) -> FloatArray:
        """``XᵀXV``; kept for the last V, which a step asks for more than once."""
        if self._last[0] is not V:
            self._last = (V, self._product(V))
        return self._last[1]

    def _product(self, V: FloatArray) -> FloatArray:
        if self._gram is not None:
            return self._gram @ V
        return self.X.transposed_times(self.X.times(V))

    def smallest(
        self,
        diagonal: FloatArray,
        weight: float,
        U: FloatArray,
        n_pairs: int,
        start: FloatArray | None = None,
    ) -> Eigenpairs:
        """The smallest eigenpairs of ``diag(diagonal) + weight·XᵀX − UUᵀ``.

        Parameters
        ----------
        diagonal : ndarray of shape (size,)
            Positive.
        weight : float
            Not negative.
        U : ndarray of shape (size, n_any)
        n_pairs : int
        start : ndarray of shape (size, n_pairs) or None, default=None
            Orthonormal approximate eigenvectors.
        """
        inverse = "Cholesky" if self._gram is not None else self._wide_inverse
        solve = None
        self._skip -= 1
        if start is not None and self.size > DENSE_MAX and self._skip < 0:
            values = np.linalg.eigvalsh(start.T @ self._apply(diagonal, weight, U, start))
            shift = _shift_below(values)
            if self._gram is None:
                shift = max(shift, -diagonal.min() / 2)  # the diagonal alone is inverted first
            solve = self.inverse(diagonal + shift, weight, U)
            if solve is not None:
                solver = f"subspace iteration on the inverse by {inverse}: {self._reason}"
                found = refined(solve, start, self._guards, solver)
                if found is not None:
                    pairs, self._guards = found
                    self._misses = 0
                    return pairs.less(shift)
            self._guards = None
            # Without a gap the next attempts are likely to be in vain, too.
            self._misses += 1
            if self._gram is not None and self._misses > 3:
                self._skip = 2 ** min(self._misses - 3, 4)
        if self._gram is not None:
            return self._smallest_of_dense(diagonal, weight, U, n_pairs)
        if solve is None:
            shift = 1.01 * float(np.linalg.norm(U, 2) ** 2) if U.shape[1] else 0.0  # safe, but far
            solve = self.inverse(diagonal + shift, weight, U)
            assert solve is not None
        pairs = largest_of_inverse(
            solve,
            self.size,
            n_pairs,
            start,
            f"Lanczos on the inverse by {inverse}: {self._reason}",
            affordable=self.size <= SIDE_MAX,
        )
        return pairs.less(shift)

    def inverse(self, diagonal: FloatArray, weight: float, U: FloatArray) -> Operator | None:
        """Applies the inverse of ``diag(diagonal) + weight·XᵀX − UUᵀ``.

        None if the matrix, or in its wide form `diagonal`, is not positive. To be used before the
        next call of this object: all calls share the memory of the factor.
        """
        if self._gram is not None:
            return _cholesky_inverse(self._formed(diagonal, weight, U))
        if diagonal.min() <= 0:
            return None
        positive = self._inverse_without_downdate(diagonal, weight)
        if U.shape[1] == 0:
            return positive
        # Woodbury once more: (P − UUᵀ)⁻¹ = P⁻¹ + P⁻¹U (I − UᵀP⁻¹U)⁻¹ UᵀP⁻¹.
        solved = positive(U)
        inner = np.eye(U.shape[1]) - U.T @ solved
        try:
            factor = cholesky((inner + inner.T) / 2)
        except np.linalg.LinAlgError:
            return None
        return lambda V: positive(V) + solved @ factor.solve(solved.T @ V)

    def _apply(
        self, diagonal: FloatArray, weight: float, U: FloatArray, V: FloatArray
    ) -> FloatArray:
        return diagonal[:, None] * V + weight * self.gram_times(V) - U @ (U.T @ V)

    def _formed(self, diagonal: FloatArray, weight: float, U: FloatArray) -> FloatArray:
        """The lower triangle of M, in one place for all calls: new memory would cost more time."""
        if self._buffer is None:
            self._buffer = np.empty((self.size, self.size))
        M = np.multiply(self._gram, weight, out=self._buffer)
        M[np.diag_indices_from(M)] += diagonal
        if U.shape[1]:
            # To BLAS a matrix stored by rows is its transpose: this is M's lower triangle.
            dsyrk(-1.0, U, beta=1.0, c=M.T, overwrite_c=1, lower=0)
        return M

    def _smallest_of_dense(
        self, diagonal: FloatArray, weight: float, U: FloatArray, n_pairs: int
    ) -> Eigenpairs:
        values, vectors = eigenpairs_in_range(self._formed(diagonal, weight, U), (0, n_pairs - 1))
        remainder = self._apply(diagonal, weight, U, vectors) - vectors * values
        scale = diagonal.max() + weight * self.diagonal.max()
        misfit = np.linalg.norm(remainder, axis=0).max() / scale
        return Eigenpairs.found(values, vectors, misfit, f"dense: {self._reason}")

    def _inverse_without_downdate(self, diagonal: FloatArray, weight: float) -> Operator:
        """Applies ``(diag(diagonal) + weight·XᵀX)⁻¹``."""
        if self._wide_inverse == "conjugate gradients":
            return inverse_by_conjugate_gradients(
                lambda V: scale_rows(V, diagonal) + weight * self._product(V), 1 / diagonal
            )
        # With E = diag(1/diagonal): E − E Xᵀ (I/weight + X E Xᵀ)⁻¹ X E.
        factor = cholesky_of_identity_plus(weight * self.X.gram_of_samples(1 / diagonal))

        def solve(V: FloatArray) -> FloatArray:
            scaled = (V.T / diagonal).T
            inside = factor.solve(self.X.times(scaled))
            return scaled - (weight * self.X.transposed_times(inside).T / diagonal).T

        return solve


def _shift_below(values: FloatArray) -> float:
    """A shift that puts the smallest eigenvalue, estimated by Ritz values, just above zero."""
    spread = values[-1] - values[0]
    return float(spread / 2 + 1e-3 * abs(values[0]) - values[0])


def _cholesky_inverse(M: FloatArray) -> Operator | None:
    """Applies M⁻¹, scaled to a unit diagonal; None if M is not positive definite.

    Of M the lower triangle is read, and overwritten.
    """
    diagonal = M.diagonal()
    if diagonal.min() <= 0:
        return None
    e = 1 / np.sqrt(diagonal)
    M *= e
    M *= e[:, None]
    try:
        factor = cholesky(M.T, overwrite=True)
    except np.linalg.LinAlgError:
        return None
    return lambda V: scale_rows(factor.solve(scale_rows(V, e)), e)
