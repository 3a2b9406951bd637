"""The few smallest eigenpairs of structured symmetric matrices.

Two structures are known, both positive definite and both hard for a plain eigensolver, since
reweighting spreads their diagonal over many orders of magnitude:

- `WeightedGram`: ``diag(g) + XᵀAX`` of size d × d, with A sparse and n × n;
- `EmbeddingMatrix`: ``L + β(I + X diag(e) Xᵀ)⁻¹`` of size n × n, with L sparse.

Both work on the inverse, scaled so that rounding is relative to each row, choose an algorithm by
shape, say which and why, and check the residual of what they return.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackError, LinearOperator, cg, eigsh, splu

from tamis._typing import FloatArray, Matrix, SparseMatrix
from tamis.graphs import dirichlet_energies
from tamis.solvers.centred import Centred
from tamis.solvers.dense import cho_factor, eigh, matmul
from tamis.solvers.row_gram import RowGram

# Up to this size a dense eigensolver beats Lanczos on a factorised inverse.
DENSE_MAX = 400
# The largest dense matrix, of the smaller side of the table, that is ever formed.
SIDE_MAX = 6000
# Up to this many samples the sparse LU factors of a neighbour graph stay small.
LU_MAX = 10_000
# Relative residual of the inverse problem above which a result is not accepted.
RESIDUAL_MAX = 1e-7
# Applications of the inverse, in multiples of its size, after which Lanczos gives way to a dense
# eigensolver, where one can be afforded.
LANCZOS_PASSES = 4

Operator = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class Eigenpairs:
    """Eigenpairs in ascending order, and how they were found.

    Attributes
    ----------
    values : ndarray of shape (n_pairs,)
    vectors : ndarray of shape (size, n_pairs)
        Orthonormal.
    method, reason : str
        The algorithm, and why it was chosen.
    residual : float
        Largest ``‖P⁻¹v − v/λ‖·λ_min``: relative to the largest eigenvalue of the inverse.
    """

    values: FloatArray
    vectors: FloatArray
    method: str
    reason: str
    residual: float


def largest_of_inverse(
    solve: Operator,
    size: int,
    n_pairs: int,
    start: FloatArray | None,
    method: str,
    reason: str,
    *,
    affordable: bool,
) -> Eigenpairs:
    """Smallest eigenpairs of P from applications of P⁻¹, by Lanczos, with a dense way out.

    Parameters
    ----------
    solve : callable
        Applies the symmetric positive definite P⁻¹ to a vector or to columns.
    size, n_pairs : int
    start : ndarray of shape (size, n_any) or None
        Approximate eigenvectors, to start from.
    method, reason : str
        Handed on to the result.
    affordable : bool
        Whether P⁻¹ may be formed, if Lanczos fails.
    """
    if n_pairs > size:
        raise ValueError(f"{n_pairs} eigenvectors were asked of a matrix of size {size}.")
    if affordable and (size <= DENSE_MAX or n_pairs > size // 3):
        return _from_dense(solve, size, n_pairs, "the matrix is small")

    operator = LinearOperator((size, size), matvec=solve, dtype=np.float64)
    guess = _first_guess(size, start)
    for n_basis in (max(2 * n_pairs + 8, 20), max(4 * n_pairs, 80)):
        # Where eigenvalues crowd, Lanczos may go on for hours: no longer than a dense way takes.
        restarts = max(20, LANCZOS_PASSES * size // n_basis) if affordable else None
        try:
            inverse_values, vectors = eigsh(
                operator,
                n_pairs,
                which="LA",
                v0=guess,
                ncv=min(n_basis, size),
                tol=1e-10,
                maxiter=restarts,
            )
        except ArpackError:
            continue
        pairs = _ascending(inverse_values, vectors, solve, method, reason)
        if pairs.residual <= RESIDUAL_MAX:
            return pairs
    if not affordable:
        raise np.linalg.LinAlgError(
            f"Lanczos did not find {n_pairs} eigenvectors of a matrix of size {size}, which is too "
            "large for a dense solver; try fewer clusters or components."
        )
    return _from_dense(solve, size, n_pairs, f"{method} did not converge")


def _first_guess(size: int, start: FloatArray | None) -> FloatArray:
    """A vector to start Lanczos from: in the span of `start`, if given, and a little of all."""
    guess = np.random.default_rng(0).standard_normal(size) / np.sqrt(size)
    if start is None:
        return guess
    return start.sum(axis=1) + 1e-3 * np.linalg.norm(start) * guess


def _from_dense(solve: Operator, size: int, n_pairs: int, reason: str) -> Eigenpairs:
    inverse = solve(np.eye(size))
    inverse = (inverse + inverse.T) / 2
    values, vectors = dense_eigenpairs(inverse, (size - n_pairs, size - 1))
    return _ascending(values, vectors, solve, "dense", reason)


def dense_eigenpairs(matrix: FloatArray, wanted: tuple[int, int]) -> tuple[FloatArray, FloatArray]:
    """The eigenpairs of the given range of indices, ascending."""
    # On clustered eigenvalues "evr" can fail, or find fewer than it was asked for.
    with contextlib.suppress(np.linalg.LinAlgError):
        values, vectors = eigh(matrix, subset_by_index=wanted, driver="evr")
        if len(values) == vectors.shape[1] == wanted[1] - wanted[0] + 1:
            return values, vectors
    values, vectors = eigh(matrix, driver="evd")
    chosen = slice(wanted[0], wanted[1] + 1)
    return values[chosen], vectors[:, chosen]


def _ascending(
    inverse_values: FloatArray, vectors: FloatArray, solve: Operator, method: str, reason: str
) -> Eigenpairs:
    """Order the pairs, refine the rows that are small by one inverse step, measure the residual."""
    order = np.argsort(-inverse_values)
    inverse_values, vectors = inverse_values[order], vectors[:, order]
    image = solve(vectors)
    residual = np.linalg.norm(image - vectors * inverse_values, axis=0).max() / inverse_values[0]
    # P⁻¹v/μ equals v, but its rounding errors are relative to each row, not to the whole vector:
    # rows that a penalty has pushed down to 1e-8 keep their order.
    return Eigenpairs(1 / inverse_values, image / inverse_values, method, reason, float(residual))


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
        if sp.issparse(X):
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

    def smallest(
        self, diagonal: FloatArray, n_pairs: int, start: FloatArray | None = None
    ) -> Eigenpairs:
        """The smallest eigenpairs of ``diag(diagonal) + M``, for a positive diagonal.

        With ``e = diagonal^-½`` its inverse is ``e (I + eMe)⁻¹ e``, whose inner matrix is well
        scaled whatever the diagonal.
        """
        e = 1 / np.sqrt(diagonal)
        inner = self._form.inner_solver(e)

        def solve(v: FloatArray) -> FloatArray:
            scale = e if v.ndim == 1 else e[:, None]
            return scale * inner(scale * v)

        return largest_of_inverse(
            solve,
            self.size,
            n_pairs,
            start,
            self._form.method,
            self._form.reason,
            affordable=self.size <= SIDE_MAX,
        )


class _Dense:
    """M as a d × d matrix; Cholesky for the inverse. O(nd²) once, O(d³) a factorisation."""

    method = "Lanczos on the inverse by Cholesky"
    reason = "there are no more features than samples"

    def __init__(self, X: Matrix, A: SparseMatrix) -> None:
        M = matmul(X.T, A @ X)
        matrix = M.toarray() if sp.issparse(M) else M
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
        K = e[:, None] * self._matrix * e
        K[np.diag_indices_from(K)] += 1
        factor = cho_factor(K, overwrite_a=True, check_finite=False)
        return lambda v: scipy.linalg.cho_solve(factor, v, check_finite=False)


class _Factored:
    """M = ZᵀZ with Z = A^½X; Woodbury for the inverse. O(n²d) a factorisation, no d × d matrix.

    Z is formed where X is dense. Where X is sparse only A^½ is, and Z stays a product.
    """

    method = "Lanczos on the inverse by Woodbury"
    reason = "there are fewer samples than features"

    def __init__(self, X: Matrix, A: SparseMatrix) -> None:
        values, vectors = eigh(A.toarray(), driver="evd", overwrite_a=True)
        self._root = (vectors * np.sqrt(values.clip(min=0))).T  # A = rootᵀ root
        self._X = X if sp.issparse(X) else self._root @ X
        rough = _product_diagonal(X, A) if sp.issparse(X) else (self._X**2).sum(axis=0)
        self.diagonal = _without_rounding(rough, X, A)
        self._row_gram = RowGram(self._X)

    def __matmul__(self, V: FloatArray) -> FloatArray:
        return self._backward(self._forward(V))

    def is_singular(self) -> bool:
        return True

    def _forward(self, V: FloatArray) -> FloatArray:
        return self._root @ (self._X @ V) if sp.issparse(self._X) else self._X @ V

    def _backward(self, U: FloatArray) -> FloatArray:
        return self._X.T @ (self._root.T @ U if sp.issparse(self._X) else U)

    def inner_solver(self, e: FloatArray) -> Operator:
        """Applies ``(I + eMe)⁻¹ = I − Yᵀ(I + YYᵀ)⁻¹Y`` with ``Y = Ze``."""
        capacitance = self._row_gram(e**2)
        if sp.issparse(self._X):
            capacitance = self._root @ capacitance @ self._root.T
        capacitance[np.diag_indices_from(capacitance)] += 1
        factor = cho_factor(capacitance, overwrite_a=True, check_finite=False)

        def solve(v: FloatArray) -> FloatArray:
            scale = e if v.ndim == 1 else e[:, None]
            inside = self._forward(scale * v)
            inside = scipy.linalg.cho_solve(factor, inside, check_finite=False)
            return v - scale * self._backward(inside)

        return solve


class _Implicit:
    """M as a product; preconditioned conjugate gradients for the inverse. O(nnz) a step."""

    method = "Lanczos on the inverse by conjugate gradients"
    reason = f"both sides of the table exceed {SIDE_MAX}"

    def __init__(self, X: Matrix, A: SparseMatrix) -> None:
        self._X, self._A = X, A
        self.diagonal = _without_rounding(_product_diagonal(X, A), X, A)

    def __matmul__(self, V: FloatArray) -> FloatArray:
        return self._X.T @ (self._A @ (self._X @ V))

    def is_singular(self) -> bool:
        return self._X.shape[0] <= self._X.shape[1]

    def inner_solver(self, e: FloatArray) -> Operator:
        """Applies ``(I + eMe)⁻¹``."""
        return conjugate_gradients(
            lambda v: v + e * (self @ (e * v)), 1 / (1 + e * e * self.diagonal)
        )


def conjugate_gradients(apply: Operator, preconditioner: FloatArray) -> Operator:
    """Applies the inverse of a positive definite operator to a vector or to columns.

    Parameters
    ----------
    apply : callable
        The operator.
    preconditioner : ndarray of shape (size,)
        About the inverse of its diagonal.
    """
    shape = (len(preconditioner),) * 2
    operator = LinearOperator(shape, matvec=apply, dtype=np.float64)
    scaling = LinearOperator(shape, matvec=lambda v: preconditioner * v, dtype=np.float64)

    def solve(v: FloatArray) -> FloatArray:
        if v.ndim == 2:
            return np.column_stack([solve(column) for column in v.T])
        solution, failed = cg(operator, v, rtol=1e-12, maxiter=2000, M=scaling)
        if failed:
            raise np.linalg.LinAlgError(
                "conjugate gradients did not converge; try a larger penalty."
            )
        return solution

    return solve


def _product_diagonal(X: Matrix, A: SparseMatrix) -> FloatArray:
    """The diagonal of XᵀAX, from products."""
    if sp.issparse(X):
        return np.asarray(X.multiply(A @ X).sum(axis=0)).ravel()
    return np.einsum("nd,nd->d", X, A @ X)


def _without_rounding(diagonal: FloatArray, X: Matrix, A: SparseMatrix) -> FloatArray:
    """The diagonal of XᵀAX, made exactly zero for a column that A cannot see.

    There a product leaves rounding, on which a start or a test of rank must not depend; the same
    number as −½Σ A_ij (x_i − x_j)², since A1 = 0, does not.
    """
    if sp.issparse(X):
        size = A.diagonal() @ X.power(2)
    else:
        size = np.einsum("n,nd,nd->d", A.diagonal(), X, X)
    doubtful = np.flatnonzero(diagonal <= 1e-8 * size)
    diagonal = diagonal.copy()
    diagonal[doubtful] = dirichlet_energies(-A, X[:, doubtful])
    return diagonal.clip(min=0)


class EmbeddingMatrix:
    """``T = L + β(I + X diag(e) Xᵀ)⁻¹`` for a centred table X and a sparse Laplacian L.

    Equal to ``L + βI − βX(XᵀX + diag(1/e))⁻¹Xᵀ``. With few samples, or n ≤ d, T is formed: O(n²d +
    n³). With d < n it is not: a sparse LU factorisation of ``L + βI`` once, then a d × d Cholesky
    factorisation for each `e` and Lanczos on the inverse. Where X is sparse, or so long that the LU
    factors would fill up, Lanczos runs on T itself, which takes more steps.

    Parameters
    ----------
    X : Centred
    L : csr_array of shape (n_samples, n_samples)
        Positive semi-definite.
    beta : float
    """

    def __init__(self, X: Centred, L: SparseMatrix, beta: float) -> None:
        self.X, self._L, self._beta = X, L, beta
        self.size, n_features = X.shape
        self._small = self.size <= max(n_features, DENSE_MAX)
        side = self.size if self._small else n_features
        if side > SIDE_MAX:
            raise ValueError(
                f"X has shape {X.shape}: its smaller side exceeds {SIDE_MAX}, too large for an "
                "embedding that is learned jointly; use MRSF, or fewer samples."
            )
        self._lu = None
        if self._small:
            return
        self._gram = X.gram_of_features()
        if not X.is_sparse and self.size <= LU_MAX:
            shifted = sp.csc_array(L + beta * sp.eye_array(self.size))
            self._lu = splu(shifted, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
            self._solved = self._lu.solve(X.columns(np.arange(n_features)))
            self._reduced = X.transposed_times(self._solved)

    def smallest(
        self, e: FloatArray, n_pairs: int, start: FloatArray | None = None
    ) -> tuple[Eigenpairs, FloatArray]:
        """The smallest eigenpairs Y of T, and the ridge solution ``(XᵀX + diag(1/e))⁻¹XᵀY``."""
        if self._small:
            return self._from_samples(e, n_pairs)
        root = np.sqrt(e)
        K = root[:, None] * self._gram * root  # e^½(XᵀX + 1/e)e^½
        K[np.diag_indices_from(K)] += 1
        ridge = cho_factor(K, check_finite=False)
        if self._lu is None:
            pairs = self._on_itself(root, ridge, n_pairs, start)
        else:
            pairs = self._on_inverse(root, K, n_pairs, start)
        target = root[:, None] * self.X.transposed_times(pairs.vectors)
        return pairs, root[:, None] * scipy.linalg.cho_solve(ridge, target)

    def _from_samples(self, e: FloatArray, n_pairs: int) -> tuple[Eigenpairs, FloatArray]:
        inner = self.X.gram_of_samples(e)
        inner[np.diag_indices_from(inner)] += 1
        factor = cho_factor(inner, overwrite_a=True, check_finite=False)
        T = self._beta * scipy.linalg.cho_solve(factor, np.eye(self.size), check_finite=False)
        T += self._L
        T = (T + T.T) / 2
        values, Y = dense_eigenpairs(T, (0, n_pairs - 1))
        residual = np.linalg.norm(T @ Y - Y * values, axis=0).max() / np.abs(T).sum(axis=0).max()
        reason = "the samples are few, or no more than the features"
        dual = scipy.linalg.cho_solve(factor, Y, check_finite=False)
        W = e[:, None] * self.X.transposed_times(dual)
        return Eigenpairs(values, Y, "dense", reason, float(residual)), W

    def _on_inverse(
        self, root: FloatArray, K: FloatArray, n_pairs: int, start: FloatArray | None
    ) -> Eigenpairs:
        # Woodbury: T⁻¹ = S⁻¹ + S⁻¹X C⁻¹ XᵀS⁻¹ with S = L + βI and C = (XᵀX + 1/e)/β − XᵀS⁻¹X, here
        # scaled by e^½ on both sides.
        assert self._lu is not None
        lu = self._lu
        C = K / self._beta - root[:, None] * self._reduced * root
        capacitance = cho_factor(C, overwrite_a=True, check_finite=False)
        solved = self._solved * root

        def solve(v: FloatArray) -> FloatArray:
            inside = scipy.linalg.cho_solve(capacitance, solved.T @ v, check_finite=False)
            return lu.solve(v) + solved @ inside

        return largest_of_inverse(
            solve,
            self.size,
            n_pairs,
            start,
            "Lanczos on the inverse by sparse LU",
            "there are fewer features than samples",
            affordable=self.size <= SIDE_MAX,
        )

    def _on_itself(
        self,
        root: FloatArray,
        ridge: tuple[FloatArray, bool],
        n_pairs: int,
        start: FloatArray | None,
    ) -> Eigenpairs:
        def apply(v: FloatArray) -> FloatArray:
            scale = root if v.ndim == 1 else root[:, None]
            inside = scale * self.X.transposed_times(v)
            inside = scale * scipy.linalg.cho_solve(ridge, inside, check_finite=False)
            return self._L @ v + self._beta * (v - self.X.times(inside))

        method, reason = "Lanczos", "the table is sparse, or too long for a factorisation"
        affordable = self.size <= SIDE_MAX
        found = None
        if not affordable or n_pairs <= self.size // 3:
            operator = LinearOperator((self.size, self.size), matvec=apply, dtype=np.float64)
            with contextlib.suppress(ArpackError):
                found = eigsh(
                    operator,
                    n_pairs,
                    which="SA",
                    v0=_first_guess(self.size, start),
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
            found = dense_eigenpairs((matrix + matrix.T) / 2, (0, n_pairs - 1))
            method, reason = "dense", "Lanczos did not converge, or many pairs are wanted"
        values, vectors = found
        order = np.argsort(values)
        values, vectors = values[order], vectors[:, order]
        misfit = np.linalg.norm(apply(vectors) - vectors * values, axis=0).max()
        residual = misfit / (abs(self._L).sum(axis=0).max() + self._beta)
        return Eigenpairs(values, vectors, method, reason, float(residual))
