"""The quadratic part of a margin problem, ½ θᵀHθ, and the systems an interior point method solves.

H acts on every class alike. It is kept by features (d × d) or by samples (a root of an n × n
matrix and the table itself), whichever side is smaller; see :func:`manifold_hessian`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from tamis._typing import FloatArray, IntArray, Matrix, Operator, SparseMatrix
from tamis.solvers.dense import cholesky_of_identity_plus, eigh
from tamis.solvers.eigen import SIDE_MAX
from tamis.solvers.table_operator import TableOperator
from tamis.utils.blocks import row_blocks
from tamis.utils.rows import squared_row_norms
from tamis.utils.sparse import is_sparse

# Numbers in a block of rows of an n × n Laplacian.
LAPLACIAN_BLOCK_SIZE = 1 << 21
REMEDY = "leave the manifold term out, or use fewer features or samples"


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
        """The entries of P between classes p and q, one per feature."""
        outer = self.W[:, p] * self.W[:, q] * self.inverse_d
        return outer + self.sigma if p == q else outer


class Hessian(Protocol):
    """What the solver asks of H, for θ = (V, b)."""

    def apply(self, V: FloatArray, b: float) -> tuple[FloatArray, float]:
        """``Hθ``: its part for V and its part for b."""

    def bias_column(self) -> FloatArray:
        """The part of H between V and b, of shape (n_features, n_blocks)."""

    def bias_weight(self) -> float:
        """The entry of H for b."""

    def inverse(self, P: Scaling) -> Operator:
        """``(P⁻¹ + H)⁻¹``, without ever forming P⁻¹, for stacks of (n_features, n_blocks)."""


class NoHessian:
    """H = 0: P is its own solution, and nothing is factorized."""

    def __init__(self, n_features: int, n_blocks: int) -> None:
        self._zeros = np.zeros((n_features, n_blocks))

    def apply(self, V: FloatArray, b: float) -> tuple[FloatArray, float]:
        """``Hθ``, which is zero."""
        return self._zeros, 0.0

    def bias_column(self) -> FloatArray:
        """The part of H between V and b, which is zero."""
        return self._zeros

    def bias_weight(self) -> float:
        """The entry of H for b, which is zero."""
        return 0.0

    def inverse(self, P: Scaling) -> Operator:
        """P itself. O(dM) per right-hand side."""
        return P.times


class FeatureHessian:
    """H as a matrix of features. O(d³) per factorization, whatever the number of classes.

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
        """The part of H between V and b."""
        return self._column

    def bias_weight(self) -> float:
        """The entry of H for b."""
        return self._weight

    def inverse(self, P: Scaling) -> Operator:
        """One Cholesky of ``I + R H R`` with R = P^½ for one class, two for more."""
        if P.W.shape[1] == 1:
            root = np.sqrt(P.block(0, 0))
            factor = cholesky_of_identity_plus(self.H * root * root[:, None], lower=True)

            def solve(U: FloatArray) -> FloatArray:
                scaled = factor.solve((root * U[:, :, 0]).T)
                return (root[:, None] * scaled).T[:, :, None]

            return solve
        # With Σ = diag(σ): dv = Σg + W∘q, where g = (I + HΣ)⁻¹u − T(W∘q), T = (I + HΣ)⁻¹H, and
        # (D + T∘WWᵀ)q = W·(I + HΣ)⁻¹u. With H = FᵀF and I + FΣFᵀ = KKᵀ, T = YᵀY for Y = K⁻¹F.
        F = self._root
        Y = cholesky_of_identity_plus((F * P.sigma) @ F.T, lower=True).solve_half(F)
        T = Y.T @ Y
        scale = np.sqrt(P.inverse_d)
        scaled_W = scale[:, None] * P.W
        factor = cholesky_of_identity_plus(T * (scaled_W @ scaled_W.T), lower=True)

        def solve_classes(U: FloatArray) -> FloatArray:
            n_stacked, d, n_blocks = U.shape
            columns = U.transpose(1, 0, 2).reshape(d, -1)
            g = columns - Y.T @ (Y @ (P.sigma[:, None] * columns))
            g = g.reshape(d, n_stacked, n_blocks)
            along = np.einsum("krp,kp->kr", g, scaled_W)
            q = scale[:, None] * factor.solve(along)
            across = q[:, :, None] * P.W[:, None, :]
            g = g - (T @ across.reshape(d, -1)).reshape(g.shape)
            return (P.sigma[:, None, None] * g + across).transpose(1, 0, 2)

        return solve_classes


class SampleHessian:
    """``H = XᵀRRX`` by samples: nothing d × d. O(n²dM² + (nM)³) per factorization of M classes.

    Parameters
    ----------
    R : ndarray of shape (n_samples, n_samples)
        Symmetric.
    X : TableOperator
    """

    def __init__(self, R: FloatArray, X: TableOperator) -> None:
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

    def inverse(self, P: Scaling) -> Operator:
        """By the Woodbury identity: one Cholesky of ``I + RX P XᵀR`` over samples and classes."""
        n, n_blocks = self.X.shape[0], P.W.shape[1]
        inner = np.empty((n_blocks, n, n_blocks, n))
        for p in range(n_blocks):
            for q in range(p + 1):
                # The weights span so many orders that an interior point notices their roots.
                gram = self.X.gram_of_samples(P.block(p, q), by_roots=False)
                inner[p, :, q] = self.R @ gram @ self.R
                inner[q, :, p] = inner[p, :, q].T
        factor = cholesky_of_identity_plus(inner.reshape(n_blocks * n, n_blocks * n), lower=True)

        def solve(U: FloatArray) -> FloatArray:
            PU = P.times(U)
            n_stacked, d, _ = PU.shape
            samples = self._forth(PU.transpose(1, 2, 0).reshape(d, -1))
            samples = samples.reshape(n, n_blocks, n_stacked).transpose(1, 0, 2)
            solved = factor.solve(samples.reshape(n_blocks * n, n_stacked))
            solved = solved.reshape(n_blocks, n, n_stacked).transpose(1, 0, 2)
            back = self._back(solved.reshape(n, -1)).reshape(d, n_blocks, n_stacked)
            return PU - P.times(back.transpose(2, 0, 1))

        return solve


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
    X : TableOperator
        Centred, so that a common offset costs no precision.
    bandwidth : float
        ρ.
    """

    def __init__(self, X: TableOperator, bandwidth: float) -> None:
        self._X, self._bandwidth = X, bandwidth
        degree = np.concatenate([W.sum(axis=1) for _, W in self._weights()])
        self._scale = np.divide(1, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0)

    def _weights(self) -> Iterator[tuple[slice, FloatArray]]:
        for rows in _laplacian_blocks(self._X.shape[0]):
            W = _squared_distances(self._X.stored, rows)
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


def _squared_distances(X: Matrix, rows: slice) -> FloatArray:
    """Squared distances of a block of samples to all samples; zero to itself."""
    product = X[rows] @ X.T
    product = product.toarray() if is_sparse(product) else product
    norms = squared_row_norms(X)
    squared = np.maximum(norms[rows, None] + norms - 2 * product, 0)
    squared[_own_entries(rows)] = 0
    return squared


def _laplacian_blocks(n_samples: int) -> Iterator[slice]:
    at_least_64_rows = max(LAPLACIAN_BLOCK_SIZE, 64 * n_samples)
    return row_blocks(n_samples, n_samples, block_size=at_least_64_rows)


def _own_entries(rows: slice) -> tuple[IntArray, IntArray]:
    """Where a block of rows of an n × n matrix has the diagonal."""
    return np.arange(rows.stop - rows.start), np.arange(rows.start, rows.stop)


def manifold_form(X: TableOperator, L: SparseLaplacian | GaussianLaplacian) -> FloatArray:
    """``Q = [X 1]ᵀ L [X 1]``, of shape (d + 1, d + 1), by blocks of rows of L. O(n²d + nd²)."""
    d = X.shape[1]
    Q = np.zeros((d + 1, d + 1))
    for rows, L_rows in L.blocks():
        product = np.column_stack([X.transposed_times(L_rows.T).T, L_rows.sum(axis=1)])
        Q[:d] += X.transposed_times(product, rows)
        Q[d] += product.sum(axis=0)
    return (Q + Q.T) / 2


def manifold_hessian(
    X: TableOperator,
    L: SparseLaplacian | GaussianLaplacian,
    weight: float,
    n_blocks: int,
    *,
    remedy: str = REMEDY,
) -> FeatureHessian | SampleHessian:
    """The Hessian of ``λ fᵀLf``, by features where d ≤ nM, by samples otherwise.

    Parameters
    ----------
    X : TableOperator
    L : SparseLaplacian or GaussianLaplacian
    weight : float
        λ, positive.
    n_blocks : int
        M, columns of V: 1 for two clusters, one per cluster for more.
    remedy : str, optional
        What to do where both sides of the table are too large, for the message that says so.
    """
    n, d = X.shape
    side = min(d, n * n_blocks)
    if side > SIDE_MAX:
        raise ValueError(
            f"the manifold term needs a dense factorization of side {side} in every iteration, "
            f"more than {SIDE_MAX}; {remedy}."
        )
    if d <= n * n_blocks:
        Q = 2 * weight * manifold_form(X, L)
        return FeatureHessian(Q[:d, :d], Q[:d, d], float(Q[d, d]))
    dense = np.vstack([L_rows for _, L_rows in L.blocks()])
    values, vectors = eigh((dense + dense.T) / 2)
    root = np.sqrt(2 * weight * values.clip(min=0))
    return SampleHessian((vectors * root) @ vectors.T, X)
