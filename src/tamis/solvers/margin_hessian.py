"""The quadratic part of a margin problem, ½ θᵀHθ, and the systems an interior point method solves.

H acts on every class alike. It is kept by features (d × d) or by samples (a root of an n × n
matrix and the table itself), whichever side is smaller; see :func:`manifold_curvature`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from tamis._typing import FloatArray, IntArray, Matrix, SparseMatrix
from tamis.solvers.dense import cho_factor, eigh, matmul
from tamis.solvers.eigen import SIDE_MAX
from tamis.solvers.row_gram import RowGram
from tamis.utils.blocks import row_blocks
from tamis.utils.columns import weighted_moments
from tamis.utils.rows import squared_row_norms

Solve = Callable[[FloatArray], FloatArray]

# Numbers in a block of rows of an n × n Laplacian.
LAPLACIAN_BLOCK_SIZE = 1 << 21


class Samples:
    """The table X in float64, relative to an origin, as an operator: sparse input stays sparse.

    Parameters
    ----------
    X : {ndarray, CSR} of shape (n_samples, n_features)
    centre : bool
        Whether the origin is the mean of the samples, or zero.
    """

    def __init__(self, X: Matrix, *, centre: bool) -> None:
        self.shape: tuple[int, int] = X.shape
        self.mean = weighted_moments(X, np.ones(X.shape[0]))[0]
        self.origin = self.mean if centre else np.zeros(X.shape[1])
        self._implicit = centre and sp.issparse(X)
        if sp.issparse(X):
            self._X = sp.csr_array(X, dtype=np.float64)
        else:
            self._X = X - self.mean if centre else np.asarray(X, dtype=np.float64)

    def times(self, V: FloatArray) -> FloatArray:
        """``XV`` for columns V."""
        product = self._X @ V
        return product - self.origin @ V if self._implicit else product

    def transposed_times(self, U: FloatArray) -> FloatArray:
        """``XᵀU`` for columns U."""
        return self.rows_transposed_times(slice(0, self.shape[0]), U)

    def gram(self, weights: FloatArray) -> FloatArray:
        """``X diag(weights) Xᵀ``, n × n; weights of any sign. O(n²d)."""
        if not sp.issparse(self._X):
            # No roots of the weights: they span so many orders that an interior point notices.
            return matmul(self._X * weights, self._X.T)
        product = self._row_gram(weights)
        if self._implicit:
            weighted = weights * self.origin
            cross = self._X @ weighted
            product += weighted @ self.origin - cross[:, None] - cross
        return product

    @cached_property
    def _row_gram(self) -> RowGram:
        return RowGram(self._X)

    def rows_transposed_times(self, rows: slice, U: FloatArray) -> FloatArray:
        """``X_rowsᵀU`` for a block of rows."""
        whole = rows == slice(0, self.shape[0])
        product = (self._X if whole else self._X[rows]).T @ U
        if self._implicit:
            product -= np.outer(self.origin, U.sum(axis=0))
        return product

    def squared_distances(self, rows: slice) -> FloatArray:
        """Squared distances of a block of samples to all samples; zero to itself."""
        block = self._X[rows]
        product = block @ self._X.T
        product = product.toarray() if sp.issparse(product) else product
        norms = squared_row_norms(self._X)
        squared = np.maximum(norms[rows, None] + norms - 2 * product, 0)
        squared[_own_entries(rows)] = 0
        return squared


@dataclass(frozen=True)
class Scaling:
    """The block diagonal P of a Newton step: ``P_k = σ_k I + w_k w_kᵀ / D_k`` for feature k.

    Attributes
    ----------
    sigma : ndarray of shape (n_features,)
    W : ndarray of shape (n_features, n_blocks)
    inverse_d : ndarray of shape (n_features,)
    """

    sigma: FloatArray
    W: FloatArray
    inverse_d: FloatArray

    def times(self, U: FloatArray) -> FloatArray:
        """P times each of a stack of (n_features, n_blocks) arrays."""
        along = (U * self.W).sum(axis=2) * self.inverse_d
        return U * self.sigma[:, None] + along[:, :, None] * self.W

    def block(self, p: int, q: int) -> FloatArray:
        """The entries of P between classes p and q, one a feature."""
        outer = self.W[:, p] * self.W[:, q] * self.inverse_d
        return outer + self.sigma if p == q else outer


class Curvature(Protocol):
    """What the solver asks of H, for θ = (V, b)."""

    def apply(self, V: FloatArray, b: float) -> tuple[FloatArray, float]:
        """``Hθ``: its part for V and its part for b."""

    def bias_column(self) -> FloatArray:
        """The part of H between V and b, of shape (n_features, n_blocks)."""

    def bias_weight(self) -> float:
        """The entry of H for b."""

    def inverse(self, P: Scaling) -> Solve:
        """``(P⁻¹ + H)⁻¹``, without ever forming P⁻¹, for stacks of (n_features, n_blocks)."""


class NoHessian:
    """H = 0: P is its own solution, and nothing is factorised."""

    def __init__(self, n_features: int, n_blocks: int) -> None:
        self._zeros = np.zeros((n_features, n_blocks))

    def apply(self, V: FloatArray, b: float) -> tuple[FloatArray, float]:
        """Zero."""
        return self._zeros, 0.0

    def bias_column(self) -> FloatArray:
        """Zero."""
        return self._zeros

    def bias_weight(self) -> float:
        """Zero."""
        return 0.0

    def inverse(self, P: Scaling) -> Solve:
        """P itself. O(dM) a right-hand side."""
        return P.times


class FeatureCurvature:
    """H as a matrix of features. O(d³) a factorisation, whatever the number of classes.

    Parameters
    ----------
    H : ndarray of shape (n_features, n_features)
    column : ndarray of shape (n_features,)
        Between the features and the bias.
    weight : float
        Of the bias.
    """

    def __init__(self, H: FloatArray, column: FloatArray, weight: float) -> None:
        self.H, self._column, self._weight = H, column[:, None], weight

    @cached_property
    def _root(self) -> FloatArray:
        """F with ``FᵀF = H``, what rounding made negative left out. O(d³), once."""
        values, vectors = eigh(self.H)
        return np.sqrt(values.clip(min=0))[:, None] * vectors.T

    def apply(self, V: FloatArray, b: float) -> tuple[FloatArray, float]:
        """``Hθ``. O(d²M)."""
        return self.H @ V + self._column * b, float((self._column * V).sum() + self._weight * b)

    def bias_column(self) -> FloatArray:
        """As given."""
        return self._column

    def bias_weight(self) -> float:
        """As given."""
        return self._weight

    def inverse(self, P: Scaling) -> Solve:
        """One Cholesky of ``I + R H R`` with R = P^½ for one class, two for more."""
        if P.W.shape[1] == 1:
            root = np.sqrt(P.block(0, 0))
            factor = _identity_plus(self.H * root * root[:, None])

            def solve(U: FloatArray) -> FloatArray:
                scaled = scipy.linalg.cho_solve(factor, (root * U[:, :, 0]).T)
                return (root[:, None] * scaled).T[:, :, None]

            return solve
        # With Σ = diag(σ): dv = Σg + W∘q, where g = (I + HΣ)⁻¹u − T(W∘q), T = (I + HΣ)⁻¹H, and
        # (D + T∘WWᵀ)q = W·(I + HΣ)⁻¹u. With H = FᵀF and I + FΣFᵀ = KKᵀ, T = YᵀY for Y = K⁻¹F.
        F = self._root
        K = _identity_plus((F * P.sigma) @ F.T)[0]
        Y = scipy.linalg.solve_triangular(K, F, lower=True)
        T = Y.T @ Y
        scale = np.sqrt(P.inverse_d)
        scaled_W = scale[:, None] * P.W
        factor = _identity_plus(T * (scaled_W @ scaled_W.T))

        def solve_classes(U: FloatArray) -> FloatArray:
            n_stacked, d, n_blocks = U.shape
            columns = U.transpose(1, 0, 2).reshape(d, -1)
            g = columns - Y.T @ (Y @ (P.sigma[:, None] * columns))
            g = g.reshape(d, n_stacked, n_blocks)
            along = np.einsum("krp,kp->kr", g, scaled_W)
            q = scale[:, None] * scipy.linalg.cho_solve(factor, along)
            across = q[:, :, None] * P.W[:, None, :]
            g = g - (T @ across.reshape(d, -1)).reshape(g.shape)
            return (P.sigma[:, None, None] * g + across).transpose(1, 0, 2)

        return solve_classes


class SampleCurvature:
    """``H = XᵀRRX`` by samples: nothing d × d. O(n²dM² + (nM)³) a factorisation of M classes.

    Parameters
    ----------
    R : ndarray of shape (n_samples, n_samples)
        Symmetric.
    X : Samples
    """

    def __init__(self, R: FloatArray, X: Samples) -> None:
        self.R, self.X = R, X
        ones = self.R.sum(axis=1)
        self._weight = float(ones @ ones)
        self._column = self._back(ones[:, None])

    def _forth(self, V: FloatArray) -> FloatArray:
        return self.R @ self.X.times(V)

    def _back(self, U: FloatArray) -> FloatArray:
        return self.X.transposed_times(self.R @ U)

    def apply(self, V: FloatArray, b: float) -> tuple[FloatArray, float]:
        """``Hθ``. O(ndM + n²M)."""
        product = self._back(self._forth(V)) + self._column * b
        return product, float((self._column * V).sum() + self._weight * b)

    def bias_column(self) -> FloatArray:
        """``XᵀRR1``."""
        return self._column

    def bias_weight(self) -> float:
        """``1ᵀRR1``."""
        return self._weight

    def inverse(self, P: Scaling) -> Solve:
        """By the Woodbury identity: one Cholesky of ``I + RX P XᵀR`` over samples and classes."""
        n, n_blocks = self.X.shape[0], P.W.shape[1]
        inner = np.empty((n_blocks, n, n_blocks, n))
        for p in range(n_blocks):
            for q in range(p + 1):
                inner[p, :, q] = self.R @ self.X.gram(P.block(p, q)) @ self.R
                inner[q, :, p] = inner[p, :, q].T
        factor = _identity_plus(inner.reshape(n_blocks * n, n_blocks * n))

        def solve(U: FloatArray) -> FloatArray:
            PU = P.times(U)
            n_stacked, d, _ = PU.shape
            samples = self._forth(PU.transpose(1, 2, 0).reshape(d, -1))
            samples = samples.reshape(n, n_blocks, n_stacked).transpose(1, 0, 2)
            solved = scipy.linalg.cho_solve(factor, samples.reshape(n_blocks * n, n_stacked))
            solved = solved.reshape(n_blocks, n, n_stacked).transpose(1, 0, 2)
            back = self._back(solved.reshape(n, -1)).reshape(d, n_blocks, n_stacked)
            return PU - P.times(back.transpose(2, 0, 1))

        return solve


def _identity_plus(matrix: FloatArray) -> tuple[FloatArray, bool]:
    """Lower Cholesky factor of I plus a positive semi-definite matrix."""
    matrix[np.diag_indices_from(matrix)] += 1
    return cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)


# ------------------------------------------------------------------------------------------------
# The manifold term λ fᵀLf of equation 6
# ------------------------------------------------------------------------------------------------


class SparseLaplacian:
    """A normalised graph Laplacian, given as a sparse matrix."""

    def __init__(self, L: SparseMatrix) -> None:
        self.L = sp.csr_array(L)

    def blocks(self) -> Iterator[tuple[slice, FloatArray]]:
        """Consecutive rows of L, dense."""
        for rows in _laplacian_blocks(self.L.shape[0]):
            yield rows, self.L[rows].toarray()


class GaussianLaplacian:
    """``I − D^-½WD^-½`` of the complete graph with ``w_ij = exp(−‖x_i − x_j‖² / 2ρ²)``, i ≠ j.

    Never held whole: each pass over its rows computes them anew, O(n²d).

    Parameters
    ----------
    X : Samples
        Centred, so that a common offset costs no precision.
    bandwidth : float
        ρ.
    """

    def __init__(self, X: Samples, bandwidth: float) -> None:
        self._X, self._bandwidth = X, bandwidth
        degree = np.concatenate([W.sum(axis=1) for _, W in self._weights()])
        self._scale = np.divide(1, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0)

    def _weights(self) -> Iterator[tuple[slice, FloatArray]]:
        for rows in _laplacian_blocks(self._X.shape[0]):
            W = self._X.squared_distances(rows)
            W *= -0.5 / self._bandwidth**2
            np.exp(W, out=W)
            W[_own_entries(rows)] = 0
            yield rows, W

    def blocks(self) -> Iterator[tuple[slice, FloatArray]]:
        """Consecutive rows of L, dense. A sample without an edge has a row of zeros."""
        for rows, W in self._weights():
            W *= -self._scale
            W *= self._scale[rows, None]
            W[_own_entries(rows)] = self._scale[rows] > 0
            yield rows, W


def _laplacian_blocks(n_samples: int) -> Iterator[slice]:
    at_least_64_rows = max(LAPLACIAN_BLOCK_SIZE, 64 * n_samples)
    return row_blocks(n_samples, n_samples, block_size=at_least_64_rows)


def _own_entries(rows: slice) -> tuple[IntArray, IntArray]:
    """Where a block of rows of an n × n matrix has the diagonal."""
    return np.arange(rows.stop - rows.start), np.arange(rows.start, rows.stop)


def manifold_form(X: Samples, L: SparseLaplacian | GaussianLaplacian) -> FloatArray:
    """``Q = [X 1]ᵀ L [X 1]``, of shape (d + 1, d + 1), by blocks of rows of L. O(n²d + nd²)."""
    d = X.shape[1]
    Q = np.zeros((d + 1, d + 1))
    for rows, L_rows in L.blocks():
        product = np.column_stack([X.transposed_times(L_rows.T).T, L_rows.sum(axis=1)])
        Q[:d] += X.rows_transposed_times(rows, product)
        Q[d] += product.sum(axis=0)
    return (Q + Q.T) / 2


def manifold_curvature(
    X: Samples, L: SparseLaplacian | GaussianLaplacian, lam: float, n_blocks: int
) -> FeatureCurvature | SampleCurvature:
    """The curvature of ``λ fᵀLf``, by features where d ≤ nM, by samples otherwise.

    Parameters
    ----------
    X : Samples
    L : SparseLaplacian or GaussianLaplacian
    lam : float
        λ, positive.
    n_blocks : int
        M, columns of V: 1 for two clusters, one a cluster for more.
    """
    n, d = X.shape
    side = min(d, n * n_blocks)
    if side > SIDE_MAX:
        raise ValueError(
            f"lam={lam:g} needs a dense factorisation of side {side} in every iteration, more than "
            f"{SIDE_MAX}; set lam=0, or fit on fewer features or samples."
        )
    if d <= n * n_blocks:
        Q = 2 * lam * manifold_form(X, L)
        return FeatureCurvature(Q[:d, :d], Q[:d, d], float(Q[d, d]))
    dense = np.vstack([L_rows for _, L_rows in L.blocks()])
    values, vectors = eigh((dense + dense.T) / 2)
    root = np.sqrt(2 * lam * values.clip(min=0))
    return SampleCurvature((vectors * root) @ vectors.T, X)
