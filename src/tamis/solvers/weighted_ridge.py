"""Ridge regression with a weight for each feature, solved on the smaller side of the table."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
import scipy.linalg

from tamis._typing import FloatArray, IntArray
from tamis.solvers.centred import Centred
from tamis.solvers.dense import cho_factor, eigh, matmul
from tamis.solvers.eigen import SIDE_MAX

__all__ = ["WeightedRidge"]

# Features whose weighted squared lengths add up to no more than this are left to conjugate
# gradients, which then gain a factor of about four over this in each step.
TAIL = 0.01
# Relative residual at which those steps end, and their largest number: with such a tail five
# suffice, and rounding may keep the residual above the tolerance for good.
RESIDUAL = 1e-13
STEPS = 10
# With fewer samples a target than this the whole system costs less than those products.
SAMPLES_A_TARGET = 100


class WeightedRidge:
    """Solves ``(XᵀX + diag(1/e))W = XᵀY`` for changing weights e.

    Parameters
    ----------
    X : Centred
        The table, centred or scaled, as an operator.

    Notes
    -----
    With d ≤ n features, XᵀX is formed once, O(nd²), and factorised for each e, O(d³). Otherwise the
    system of the samples is, ``(I + X diag(e) Xᵀ)S = Y`` with ``W = diag(e)XᵀS``, in O(n²d) for
    each e. Once most weights are negligible, as reweighting makes them, only the a features that
    are not enter a factorisation, of O(na²), and a few products with X account for the others.
    Where both sides exceed 6000, conjugate gradients do it all: O(nd) a step.
    """

    def __init__(self, X: Centred) -> None:
        self.X = X
        n_samples, n_features = X.shape
        self._is_implicit = min(X.shape) > SIDE_MAX
        form_gram = n_features <= n_samples and not self._is_implicit
        self._gram = X.gram_of_features() if form_gram else None

    def solve(
        self, e: FloatArray, Y: FloatArray, correlation: FloatArray, start: FloatArray
    ) -> FloatArray:
        """W, for targets Y.

        Parameters
        ----------
        e : ndarray of shape (n_features,)
            Positive.
        Y : ndarray of shape (n_samples, n_targets)
        correlation : ndarray of shape (n_features, n_targets)
            XᵀY, which is the same for all weights.
        start : ndarray of shape (n_features, n_targets)
            About W, where to begin.
        """
        if self._is_implicit:
            return self._by_products(e, correlation, start)
        if self._gram is not None:
            return self._by_features(self._gram, e, correlation)
        S = self._by_samples(e, Y, start)
        return e[:, None] * self.X.transposed_times(S)

    def _by_samples(self, e: FloatArray, Y: FloatArray, start: FloatArray) -> FloatArray:
        """``(I + X diag(e) Xᵀ)⁻¹Y``."""
        n_samples, n_features = self.X.shape
        if n_samples >= SAMPLES_A_TARGET * Y.shape[1]:
            heavy = self._heavy(e)
            if len(heavy) <= min(n_samples, n_features // 4):
                return self._by_heavy_features(e, heavy, Y, start)
        return _solver_of_identity_plus(self.X.gram_of_samples(e))(Y)

    def _by_features(self, gram: FloatArray, e: FloatArray, correlation: FloatArray) -> FloatArray:
        # Scaled by e^½ on both sides, so that rows of any size keep their digits.
        root = np.sqrt(e)[:, None]
        return root * _solver_of_identity_plus(root * gram * root.T)(root * correlation)

    @cached_property
    def _squared_lengths(self) -> FloatArray:
        return self.X.squared_column_norms()

    def _heavy(self, e: FloatArray) -> IntArray:
        """The features but for the lightest, whose share of the system has a trace of ``TAIL``."""
        shares = e * self._squared_lengths
        order = np.argsort(shares, kind="stable")
        n_light = int(np.searchsorted(np.cumsum(shares[order]), TAIL, side="right"))
        return np.sort(order[n_light:])

    def _by_heavy_features(
        self, e: FloatArray, heavy: IntArray, Y: FloatArray, start: FloatArray
    ) -> FloatArray:
        """The same by conjugate gradients, preconditioned by the matrix of the heavy features.

        The quotient of the two has its eigenvalues between 1 and 1 + ``TAIL``.
        """
        B = self.X.columns(heavy) * np.sqrt(e[heavy])
        solve = _solver_of_identity_plus(matmul(B.T, B))

        def apply(S: FloatArray) -> FloatArray:
            return S + self.X.times(e[:, None] * self.X.transposed_times(S))

        def precondition(R: FloatArray) -> FloatArray:
            return R - B @ solve(B.T @ R)

        # At the solution S is what W leaves of Y.
        first = Y - self.X.times(start)
        return _conjugate_gradients(apply, precondition, Y, first, residual=RESIDUAL, steps=STEPS)

    def _by_products(self, e: FloatArray, correlation: FloatArray, start: FloatArray) -> FloatArray:
        root = np.sqrt(e)[:, None]

        def apply(Z: FloatArray) -> FloatArray:
            return Z + root * self.X.transposed_times(self.X.times(root * Z))

        return root * _conjugate_gradients(
            apply, lambda R: R, root * correlation, start / root, residual=1e-8, steps=200
        )


def _solver_of_identity_plus(matrix: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Solves systems with I plus a positive semi-definite matrix, which is overwritten.

    By Cholesky; or by eigenvectors where the matrix is so large that rounding hides the identity,
    and what is below zero is rounding.
    """
    if np.trace(matrix) * len(matrix) * np.finfo(np.float64).eps >= 0.5:
        values, vectors = eigh(matrix)
        inverse = 1 / (1 + values.clip(min=0))
        return lambda Y: vectors @ (inverse[:, None] * (vectors.T @ Y))
    matrix.flat[:: len(matrix) + 1] += 1
    factor = cho_factor(matrix, overwrite_a=True)
    return lambda Y: scipy.linalg.cho_solve(factor, Y)


def _conjugate_gradients(
    apply: Callable[[FloatArray], FloatArray],
    precondition: Callable[[FloatArray], FloatArray],
    Y: FloatArray,
    start: FloatArray,
    *,
    residual: float,
    steps: int,
) -> FloatArray:
    """All columns at once, so that each product serves them all."""
    S, R = start, Y - apply(start)
    size = np.linalg.norm(Y, axis=0)
    worse_than_zero = np.linalg.norm(R, axis=0) > size
    S, R = np.where(worse_than_zero, 0, S), np.where(worse_than_zero, Y, R)
    enough = residual * size
    Z = precondition(R)
    direction, slope = Z, _column_products(R, Z)
    for _ in range(steps):
        going_on = np.linalg.norm(R, axis=0) > enough
        if not going_on.any():
            break
        image = apply(direction)
        curvature = _column_products(direction, image)
        step = np.divide(slope, curvature, out=np.zeros_like(slope), where=going_on)
        S, R = S + step * direction, R - step * image
        Z = precondition(R)
        previous, slope = slope, _column_products(R, Z)
        ratio = np.divide(slope, previous, out=np.zeros_like(slope), where=going_on)
        direction = Z + ratio * direction
    return S


def _column_products(A: FloatArray, B: FloatArray) -> FloatArray:
    return np.einsum("ij,ij->j", A, B)
