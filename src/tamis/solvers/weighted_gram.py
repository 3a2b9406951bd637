"""``XᵀAX`` for a sparse A, and the smallest eigenpairs of such a matrix plus a diagonal."""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from tamis._typing import FloatArray, Matrix, Operator, SparseMatrix
from tamis.solvers.conjugate_gradients import inverse_by_conjugate_gradients
from tamis.solvers.dense import cholesky_of_identity_plus, eigh, matmul, scale_rows
from tamis.solvers.eigen import SIDE_MAX, largest_of_inverse
from tamis.solvers.eigenpairs import Eigenpairs
from tamis.solvers.refinement import Refinement
from tamis.solvers.row_gram import RowGram
from tamis.utils.rows import dirichlet_energies
from tamis.utils.sparse import is_sparse


class WeightedGram:
    """``M = XᵀAX`` for a table X and a sparse positive semi-definite A with ``A1 = 0``.

    Kept as a d × d matrix where d ≤ n; as a factor of n rows, ``M = ZᵀZ`` with ``Z = A^½X``, where
    n < d; and only as a product of sparse matrices where both sides are large.

    Parameters
    ----------
    X : {ndarray, CSR} of shape (n_samples, n_features)
    A : csr_array of shape (n_samples, n_samples)

    Attributes
    ----------
    size : int
    diagonal : ndarray of shape (size,)
        The diagonal of M.
    """

    def __init__(self, X: Matrix, A: SparseMatrix) -> None:
        n_samples, self.size = X.shape
        if is_sparse(X):
            X = sp.csr_array(X, dtype=np.float64)
        else:
            # A1 = 0 makes M blind to offsets; without them nothing cancels.
            X = X - X.mean(axis=0, dtype=np.float64)
        self._form: _Dense | _Factored | _Implicit
        if self.size <= min(n_samples, SIDE_MAX):
            self._form = _Dense(X, A)
        elif n_samples <= SIDE_MAX:
            self._form = _Factored(X, A)
        else:
            self._form = _Implicit(X, A)
        self.diagonal = self._form.diagonal

    def __matmul__(self, V: FloatArray) -> FloatArray:
        """``MV``."""
        return self._form @ V

    def is_singular(self) -> bool:
        """Whether M has, numerically, a null space."""
        return self._form.is_singular()

    def inverse(self, diagonal: FloatArray) -> Operator:
        """Applies the inverse of ``diag(diagonal) + M``, for a positive diagonal, to columns.

        With ``e = diagonal^-½`` it is ``e (I + eMe)⁻¹ e``, whose inner matrix is well scaled
        whatever the diagonal.
        """
        e = 1 / np.sqrt(diagonal)
        inner = self._form.inner_solver(e)
        return lambda v: scale_rows(inner(scale_rows(v, e)), e)

    def smallest(
        self,
        diagonal: FloatArray,
        n_pairs: int,
        start: FloatArray | None = None,
        refinement: Refinement | None = None,
    ) -> Eigenpairs:
        """The smallest eigenpairs of ``diag(diagonal) + M``, for a positive diagonal.

        With a `refinement`, `start` has the last eigenvectors of a descent.
        """
        return largest_of_inverse(
            self.inverse(diagonal),
            self.size,
            n_pairs,
            start,
            self._form.solver,
            affordable=self.size <= SIDE_MAX,
            refinement=refinement,
        )


class _Dense:
    """M as a d × d matrix; Cholesky for the inverse. O(nd²) once, O(d³) per factorization."""

    solver = "Lanczos on the inverse by Cholesky: there are no more features than samples"

    def __init__(self, X: Matrix, A: SparseMatrix) -> None:
        M = matmul(X.T, A @ X)
        matrix = M.toarray() if is_sparse(M) else M
        self._matrix = (matrix + matrix.T) / 2
        self.diagonal = _without_rounding(matrix.diagonal(), X, A)
        self._matrix[np.diag_indices_from(self._matrix)] = self.diagonal
        unseen = self.diagonal == 0
        self._matrix[unseen] = self._matrix[:, unseen] = 0

    def __matmul__(self, V: FloatArray) -> FloatArray:
        return self._matrix @ V

    def is_singular(self) -> bool:
        if not self.diagonal.all():
            return True
        scale = np.sqrt(self.diagonal)
        scaled = self._matrix / np.outer(scale, scale)
        scaled[np.diag_indices_from(scaled)] -= 1e-12
        try:
            scipy.linalg.cholesky(scaled, overwrite_a=True)
        except np.linalg.LinAlgError:
            return True
        return False

    def inner_solver(self, e: FloatArray) -> Operator:
        """Applies ``(I + eMe)⁻¹``."""
        return cholesky_of_identity_plus(e[:, None] * self._matrix * e).solve


class _Factored:
    """M = ZᵀZ with Z = A^½X; Woodbury for the inverse. O(n²d) per factorization, no d × d matrix.

    Z is formed where X is dense. Where X is sparse only A^½ is, and Z stays a product.
    """

    solver = "Lanczos on the inverse by Woodbury: there are fewer samples than features"

    def __init__(self, X: Matrix, A: SparseMatrix) -> None:
        values, vectors = eigh(A.toarray(), driver="evd", overwrite_a=True)
        self._root = (vectors * np.sqrt(values.clip(min=0))).T  # A = rootᵀ root
        self._X = X if is_sparse(X) else self._root @ X
        rough = _product_diagonal(X, A) if is_sparse(X) else (self._X**2).sum(axis=0)
        self.diagonal = _without_rounding(rough, X, A)
        self._row_gram = RowGram(self._X)

    def __matmul__(self, V: FloatArray) -> FloatArray:
        return self._backward(self._forward(V))

    def is_singular(self) -> bool:
        return True

    def _forward(self, V: FloatArray) -> FloatArray:
        return self._root @ (self._X @ V) if is_sparse(self._X) else self._X @ V

    def _backward(self, U: FloatArray) -> FloatArray:
        return self._X.T @ (self._root.T @ U if is_sparse(self._X) else U)

    def inner_solver(self, e: FloatArray) -> Operator:
        """Applies ``(I + eMe)⁻¹ = I − Yᵀ(I + YYᵀ)⁻¹Y`` with ``Y = Ze``."""
        capacitance = self._row_gram(e**2)
        if is_sparse(self._X):
            capacitance = self._root @ capacitance @ self._root.T
        factor = cholesky_of_identity_plus(capacitance)

        def solve(v: FloatArray) -> FloatArray:
            inside = factor.solve(self._forward(scale_rows(v, e)))
            return v - scale_rows(self._backward(inside), e)

        return solve


class _Implicit:
    """M as a product; preconditioned conjugate gradients for the inverse. O(nnz) per step."""

    solver = (
        f"Lanczos on the inverse by conjugate gradients: both sides of the table exceed {SIDE_MAX}"
    )

    def __init__(self, X: Matrix, A: SparseMatrix) -> None:
        self._X, self._A = X, A
        self.diagonal = _without_rounding(_product_diagonal(X, A), X, A)

    def __matmul__(self, V: FloatArray) -> FloatArray:
        return self._X.T @ (self._A @ (self._X @ V))

    def is_singular(self) -> bool:
        return self._X.shape[0] <= self._X.shape[1]

    def inner_solver(self, e: FloatArray) -> Operator:
        """Applies ``(I + eMe)⁻¹``."""
        return inverse_by_conjugate_gradients(
            lambda V: V + scale_rows(self @ scale_rows(V, e), e), 1 / (1 + e * e * self.diagonal)
        )


def _product_diagonal(X: Matrix, A: SparseMatrix) -> FloatArray:
    """The diagonal of XᵀAX, from products."""
    if is_sparse(X):
        return np.asarray(X.multiply(A @ X).sum(axis=0)).ravel()
    return np.einsum("nd,nd->d", X, A @ X)


def _without_rounding(diagonal: FloatArray, X: Matrix, A: SparseMatrix) -> FloatArray:
    """The diagonal of XᵀAX, made exactly zero for a column that A cannot see.

    There a product leaves rounding, on which a start or a test of rank must not depend; the same
    number as −½Σ A_ij (x_i − x_j)², since A1 = 0, does not.
    """
    if is_sparse(X):
        size = A.diagonal() @ X.power(2)
    else:
        size = np.einsum("n,nd,nd->d", A.diagonal(), X, X)
    doubtful = np.flatnonzero(diagonal <= 1e-8 * size)
    diagonal = diagonal.copy()
    diagonal[doubtful] = dirichlet_energies(-A, X[:, doubtful])
    return diagonal.clip(min=0)
