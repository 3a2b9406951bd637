"""Factorisations with a non-negative, nearly orthogonal factor, and what their l2,1 terms need.

The factor U holds soft cluster labels of the samples: ``U ≥ 0`` and, by a penalty, ``UᵀU ≈ I``. Its
update serves every method of the family; the other blocks are convex and solved exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from tamis._typing import FloatArray, IntArray, Matrix, SparseMatrix
from tamis.columns import row_blocks, squared_row_norms
from tamis.solvers.centred import Centred
from tamis.solvers.l21 import Solution, row_norms, smoothed_norms
from tamis.solvers.row_gram import RowGram
from tamis.solvers.weighted_ridge import WeightedRidge

# Row norms of an l2,1 loss are smoothed at this fraction of the mean row of the table.
RELATIVE_SMOOTHING = 1e-6
# The row norms of a penalty are smoothed at this fraction of the largest row of the first W.
ROW_SMOOTHING = 1e-8
# Entries of U below this are zero: they would only slow the arithmetic down.
NEGLIGIBLE = 1e-100


def settled(objective: list[float], tol: float) -> bool:
    """Whether the objective fell by no more than `tol` in the last iteration, relative."""
    return tol > 0 and len(objective) > 1 and objective[-2] - objective[-1] <= tol * objective[-1]


def alternate(
    updates: Sequence[Callable[[], None]],
    objective: Callable[[], float],
    *,
    max_iter: int,
    tol: float,
) -> tuple[list[float], bool]:
    """Update the blocks in turn until the objective has settled.

    Returns
    -------
    path : list of float
        The objective after each iteration.
    converged : bool
        Always, if `tol` is 0, which asks for `max_iter` iterations.
    """
    path: list[float] = []
    for _ in range(max_iter):
        for update in updates:
            update()
        path.append(objective())
        if settled(path, tol):
            break
    return path, settled(path, tol) or tol == 0


def squared_norm(X: Matrix) -> float:
    """``‖X‖²``. O(nd), or O(nnz) for sparse X."""
    values = X.data if sp.issparse(X) else X
    return float(np.linalg.norm(values) ** 2)


# ------------------------------------------------------------------------------------------------
# The non-negative factor
# ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FactorObjective:
    """What is minimised over U ≥ 0, with the other blocks held fixed.

    ``Σ_i q_i‖u_i‖² + Σ_i w_i u_iBu_iᵀ − 2⟨P, U⟩ + Tr(UᵀLU) + λ‖UᵀU − I‖²``

    Attributes
    ----------
    linear : ndarray of shape (n_samples, n_columns)
        P.
    diagonal : ndarray of shape (n_samples,) or float
        q, non-negative.
    orthogonality : float
        λ, non-negative.
    laplacian : tuple of two csr_array, or None
        The positive and the negative part of L, both non-negative and symmetric, from
        :func:`signed_parts`.
    gram : ndarray of shape (n_columns, n_columns), or None
        B, symmetric and positive semi-definite.
    gram_weights : ndarray of shape (n_samples,) or float
        w, non-negative.
    """

    linear: FloatArray
    diagonal: FloatArray | float
    orthogonality: float
    laplacian: tuple[SparseMatrix, SparseMatrix] | None = None
    gram: FloatArray | None = None
    gram_weights: FloatArray | float = 1.0

    def value(self, U: FloatArray) -> float:
        """The objective at U. O(nnz(L)·c + nc²)."""
        q, w = np.atleast_1d(self.diagonal), np.atleast_1d(self.gram_weights)
        squares = np.einsum("ij,ij->i", U, U)
        value = float((q * squares).sum() - 2 * np.einsum("ij,ij->", self.linear, U))
        if self.gram is not None:
            value += float((w * np.einsum("ij,ij->i", U, U @ self.gram)).sum())
        if self.laplacian is not None:
            value += roughness(self.laplacian, U)
        return value + self.orthogonality * departure_from_orthogonality(U) ** 2

    def halves_of_gradient(self, U: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Non-negative matrices N and M: half of the gradient at U is M − N."""
        q = np.atleast_1d(self.diagonal)[:, None]
        N = np.maximum(self.linear, 0) + 2 * self.orthogonality * U
        M = q * U + np.maximum(-self.linear, 0) + 2 * self.orthogonality * (U @ (U.T @ U))
        if self.gram is not None:
            w = np.atleast_1d(self.gram_weights)[:, None]
            N += w * (U @ np.maximum(-self.gram, 0))
            M += w * (U @ np.maximum(self.gram, 0))
        if self.laplacian is not None:
            positive, negative = self.laplacian
            N += negative @ U
            M += positive @ U
        return N, M


@dataclass(frozen=True)
class Factor:
    """A non-negative factor.

    Attributes
    ----------
    solution : ndarray of shape (n_samples, n_columns)
    objective : ndarray
        At the start and after each step; it never rises.
    optimality : float
        Largest ``U·|gradient|``, relative to the terms of the gradient: a stationary point has
        zero.
    """

    solution: FloatArray
    objective: FloatArray
    optimality: float


def nonnegative_factor(problem: FactorObjective, start: FloatArray, *, max_iter: int = 1) -> Factor:
    """Steps of ``U ← U ∘ (N/M)^½`` that never raise the objective.

    With half the gradient written as M − N, both non-negative, the square root descends on all
    terms that are quadratic in U. The orthogonality term is quartic: for it the fourth root is
    what a majorant gives (each product of four entries is at most the mean of their fourth powers,
    suitably scaled), and it descends on the quadratic terms too. So a square-root step that would
    raise the objective is taken anew with the fourth root.

    Parameters
    ----------
    problem : FactorObjective
    start : ndarray of shape (n_samples, n_columns)
        Non-negative. What is zero stays zero.
    max_iter : int, default=1

    Notes
    -----
    O(nnz(L)·c + nc²) a step, O(nc) memory.
    """
    U = start
    objective = [problem.value(U)]
    for _ in range(max_iter):
        N, M = problem.halves_of_gradient(U)
        ratio = np.sqrt(np.divide(N, M, out=np.ones_like(U), where=M > 0))
        for factor in (ratio, np.sqrt(ratio)):
            following = U * factor
            following[following < NEGLIGIBLE] = 0
            value = problem.value(following)
            if value <= objective[-1]:
                break
        else:
            break  # at a stationary point, but for rounding
        U = following
        objective.append(value)
    N, M = problem.halves_of_gradient(U)
    scale = max(float((U * (M + N)).max(initial=0)), np.finfo(float).tiny)
    optimality = float((U * np.abs(M - N)).max(initial=0)) / scale
    return Factor(U, np.array(objective), optimality)


def departure_from_orthogonality(U: FloatArray) -> float:
    """``‖UᵀU − I‖``. O(nc²)."""
    return float(np.linalg.norm(U.T @ U - np.eye(U.shape[1])))


def signed_parts(L: SparseMatrix) -> tuple[SparseMatrix, SparseMatrix]:
    """Non-negative sparse matrices whose difference is L. O(nnz)."""
    L = sp.csr_array(L)
    return L.maximum(0).tocsr(), (-L).maximum(0).tocsr()


def roughness(laplacian: tuple[SparseMatrix, SparseMatrix], U: FloatArray) -> float:
    """``Tr(UᵀLU)`` from the signed parts of L. O(nnz·c)."""
    positive, negative = laplacian
    return float(np.einsum("ij,ij->", U, positive @ U - negative @ U))


# ------------------------------------------------------------------------------------------------
# Loadings: the other factor, a row or column a feature
# ------------------------------------------------------------------------------------------------


def residual_norms(X: Matrix, U: FloatArray, V: FloatArray) -> FloatArray:
    """``‖x_i − u_iVᵀ‖`` for each row. O(ndc), or O(nnz·c + (n + d)c²) for sparse X.

    Dense tables are read in blocks of rows. The residual of a sparse one is dense; only its norms
    are computed, by expanding the square, to half of the digits of ‖x_i‖.
    """
    if sp.issparse(X):
        squares = squared_row_norms(X) - np.einsum("ij,ij->i", U, 2 * (X @ V) - U @ (V.T @ V))
        return np.sqrt(squares.clip(min=0))
    norms = np.empty(X.shape[0])
    for rows in row_blocks(*X.shape):
        norms[rows] = row_norms(X[rows] - U[rows] @ V.T)
    return norms


def reweighted(norms: FloatArray, smoothing: float) -> tuple[float, FloatArray]:
    """The l2,1 loss ``Σ sqrt(r² + ζ)`` and the weights of the quadratic that majorises it."""
    smoothed = np.sqrt(norms**2 + smoothing)
    return float(smoothed.sum()), 1 / (2 * smoothed)


def loss_smoothing(norms: FloatArray) -> float:
    """ζ for residuals of a table with such row norms: tiny beside a row, above rounding."""
    return float(max(RELATIVE_SMOOTHING * norms.mean(), np.finfo(float).tiny ** 0.25) ** 2)


def penalised_loadings(gram: FloatArray, correlation: FloatArray, penalty: float) -> FloatArray:
    """Minimise ``vHvᵀ − 2⟨r, v⟩ + penalty·‖v‖`` for each row r of `correlation`, exactly.

    With ``t = ‖v‖`` the optimum is ``v = (H + penalty/(2t)·I)⁻¹r``, or zero where ``2‖r‖`` is at
    most the penalty. In the eigenbasis of H, t solves ``(Σ_k r_k²/(h_k t + penalty/2)²)^-½ = 1``,
    whose left side is concave and rises: Newton's method from below converges without a safeguard.

    Parameters
    ----------
    gram : ndarray of shape (n_columns, n_columns)
        H, positive semi-definite; the rows of `correlation` lie in its range.
    correlation : ndarray of shape (n_features, n_columns)
    penalty : float
        Positive.

    Notes
    -----
    O(dc² + c³).
    """
    values, vectors = scipy.linalg.eigh(gram)
    kept = values > values[-1] * len(values) * np.finfo(float).eps
    values, vectors = values[kept], vectors[:, kept]
    rotated = correlation @ vectors
    V = np.zeros_like(rotated)
    active = 2 * row_norms(rotated) > penalty * (1 + 1e-12)
    if not active.any():
        return V @ vectors.T
    r, half = rotated[active], penalty / 2
    t = (row_norms(r) - half) / values[-1]
    for _ in range(100):
        y = values * t[:, None] + half
        terms = (r / y) ** 2
        total = terms.sum(axis=1)
        # φ = total^-½ and its slope: t ← t + (1 − φ)/φ'.
        step = (np.sqrt(total) - 1) * total / (terms * values / y).sum(axis=1)
        t = t + step.clip(min=0)
        if (step <= 1e-14 * t).all():
            break
    V[active] = r * (t[:, None] / (values * t[:, None] + half))
    return V @ vectors.T


def nonnegative_loadings(
    gram: FloatArray, correlation: FloatArray, start: FloatArray, *, max_iter: int = 10
) -> FloatArray:
    """Minimise ``Tr(VHVᵀ) − 2⟨R, V⟩`` over V ≥ 0, one column after the other, each exactly.

    Parameters
    ----------
    gram : ndarray of shape (n_columns, n_columns)
        H.
    correlation : ndarray of shape (n_features, n_columns)
        R.
    start : ndarray of shape (n_features, n_columns)
        Non-negative.
    max_iter : int, default=10
        Sweeps over the columns, O(dc²) each.
    """
    V = start.copy()
    for _ in range(max_iter):
        for k in np.flatnonzero(np.diag(gram) > 0):
            pull = correlation[:, k] - V @ gram[:, k]
            V[:, k] = np.maximum(V[:, k] + pull / gram[k, k], 0)
    return V


# ------------------------------------------------------------------------------------------------
# Regression of the factor on the features
# ------------------------------------------------------------------------------------------------


class ReweightedRegression:
    """Descends on ``‖XW − Y‖² + penalty·Σ_i sqrt(‖w_i‖² + ζ)`` over W, by reweighting.

    Within an alternation the targets Y move a little at a time: a few steps from the last W do
    what a solution from scratch does at many times the cost. Each step solves the ridge regression
    that majorises the objective, so that it never rises; equal columns keep equal rows. Run to
    convergence it is the optimum of :func:`tamis.solvers.l21.l21_regression`, but for ζ.

    Parameters
    ----------
    X : Centred
        The table, centred or scaled, as an operator.
    penalty : float
        Positive.
    smoothing : float or None, default=None
        ζ; None sets it from the first targets that are seen, at 1e-8 of the largest row.

    Notes
    -----
    A step is a :class:`tamis.solvers.weighted_ridge.WeightedRidge`.
    """

    def __init__(self, X: Centred, penalty: float, smoothing: float | None = None) -> None:
        self.X, self.penalty, self.smoothing = X, penalty, smoothing
        self._ridge = WeightedRidge(X)

    def start(self, Y: FloatArray) -> FloatArray:
        """Each feature's own regression, as a first W. O(ndc)."""
        correlation = self.X.transposed_times(Y)
        W = correlation / self.X.squared_column_norms()[:, None]
        if self.smoothing is None:
            largest = max(float(row_norms(W).max(initial=0)), np.finfo(float).tiny ** 0.25)
            self.smoothing = (ROW_SMOOTHING * largest) ** 2
        return W

    def penalised(self, W: FloatArray) -> float:
        """``penalty·Σ_i sqrt(‖w_i‖² + ζ)``."""
        assert self.smoothing is not None
        return float(self.penalty * smoothed_norms(W, self.smoothing).sum())

    def descend(self, Y: FloatArray, W: FloatArray, *, max_iter: int, tol: float) -> Solution:
        """Steps from W, until the objective falls by less than `tol`, relative."""
        correlation = self.X.transposed_times(Y)
        objective = [self._value(W, Y)]
        converged = False
        for _ in range(max_iter):
            # What the solver leaves of an error cannot raise the objective: values are compared.
            following = self._ridge.solve(2 * self._norms(W) / self.penalty, Y, correlation, W)
            value = self._value(following, Y)
            if value <= objective[-1]:
                W = following
            objective.append(min(value, objective[-1]))
            if objective[-2] - objective[-1] <= tol * objective[-1]:
                converged = True
                break
        gradient = correlation - self.X.transposed_times(self.X.times(W))
        stationarity = gradient - self.penalty / 2 * W / self._norms(W)[:, None]
        optimality = float(2 * row_norms(stationarity).max(initial=0) / self.penalty)
        return Solution(W, np.array(objective), converged, optimality, "reweighted ridge")

    def _norms(self, W: FloatArray) -> FloatArray:
        assert self.smoothing is not None
        return smoothed_norms(W, self.smoothing)

    def _value(self, W: FloatArray, Y: FloatArray) -> float:
        return float(np.linalg.norm(self.X.times(W) - Y) ** 2) + self.penalised(W)


class ScaledTable(Centred):
    """A table whose rows are scaled, ``diag(s)X``, as an operator; it is not centred.

    Parameters
    ----------
    X : {ndarray, CSR} of shape (n_samples, n_features)
        In float64; neither copied nor changed.
    scale : ndarray of shape (n_samples,) or None, default=None
        s; None leaves the rows as they are.
    """

    def __init__(self, X: Matrix, scale: FloatArray | None = None) -> None:
        self.is_sparse = sp.issparse(X)
        self.shape: tuple[int, int] = X.shape
        self._X = X
        self._scale = np.ones(X.shape[0]) if scale is None else scale

    def times(self, V: FloatArray) -> FloatArray:
        """``diag(s)XV``, for a vector or for columns."""
        return ((self._X @ V).T * self._scale).T

    def transposed_times(self, U: FloatArray) -> FloatArray:
        """``Xᵀdiag(s)U``, for a vector or for columns."""
        return self._X.T @ (U.T * self._scale).T

    def columns(self, chosen: IntArray) -> FloatArray:
        """The chosen columns, scaled and dense."""
        columns = self._X[:, chosen]
        columns = columns.toarray() if self.is_sparse else columns
        return columns * self._scale[:, None]

    def gram_of_features(self) -> FloatArray:
        """``Xᵀdiag(s²)X``, d × d. O(nd²)."""
        if self.is_sparse:
            return RowGram(sp.csr_array(self._X.T))(self._scale**2)
        gram = np.zeros((self.shape[1], self.shape[1]))
        for rows in row_blocks(*self.shape):
            scaled = self._X[rows] * self._scale[rows, None]
            gram += scaled.T @ scaled
        return gram

    def gram_of_samples(self, weights: FloatArray | None = None) -> FloatArray:
        """``diag(s)X diag(weights) Xᵀdiag(s)``, n × n. O(n²d)."""
        return self._scale[:, None] * self._row_gram(weights) * self._scale

    def squared_column_norms(self) -> FloatArray:
        """Squared lengths of the columns. O(nd)."""
        weights = self._scale**2
        if self.is_sparse:
            return np.asarray((self._X.multiply(self._X)).T @ weights)
        total = np.zeros(self.shape[1])
        for rows in row_blocks(*self.shape):
            total += weights[rows] @ self._X[rows] ** 2
        return total
