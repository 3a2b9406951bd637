"""Ridge regression with a weight for each feature, solved on the smaller side of the table."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tamis._typing import FloatArray, IntArray, Operator
from tamis.solvers.conjugate_gradients import conjugate_gradients
from tamis.solvers.dense import matmul, solver_of_identity_plus
from tamis.solvers.eigen import SIDE_MAX
from tamis.solvers.table_operator import TableOperator

__all__ = ["WeightedRidge"]

# Features whose weighted squared lengths add up to no more than this are left to conjugate
# gradients, which then gain a factor of about four over this in each step.
TAIL = 0.01
# Relative residual at which those steps end, and their largest number: with such a tail five
# suffice, and rounding may keep the residual above the tolerance for good.
RESIDUAL = 1e-13
STEPS = 10
# The same with the factorization of other weights: more steps cost as much as a new one.
RESIDUAL_BY_LAST = 1e-12
STEPS_BY_LAST = 10
# The same where conjugate gradients do it all, within a descent that compares values anyway.
IMPLICIT_RESIDUAL, IMPLICIT_STEPS = 1e-8, 200
# With fewer samples per target than this the whole system costs less than those products.
SAMPLES_PER_TARGET = 100


class WeightedRidge:
    """Solves ``(XᵀX + diag(1/e))W = XᵀY`` for changing weights e.

    Parameters
    ----------
    X : TableOperator
    last : WeightedRidge or None, default=None
        That of a table like this one, of which it takes over the last factorization.

    Notes
    -----
    With d ≤ n features, XᵀX is formed once, O(nd²), and factorized for each e, O(d³). Otherwise the
    system of the samples is, ``(I + X diag(e) Xᵀ)S = Y`` with ``W = diag(e)XᵀS``, in O(n²d) for
    each e; with few targets the last factorization serves for weights that are near those, with a
    few products with X. Once most weights are negligible, as reweighting makes them, only the a
    features that are not enter a factorization, of O(na²), and a few products with X account for
    the others. Where both sides exceed 6000, conjugate gradients do it all: O(nd) per step.
    """

    def __init__(self, X: TableOperator, last: WeightedRidge | None = None) -> None:
        self.X = X
        n_samples, n_features = X.shape
        self._is_implicit = min(X.shape) > SIDE_MAX
        form_gram = n_features <= n_samples and not self._is_implicit
        self._gram = X.gram_of_features() if form_gram else None
        # Solves the system of the samples for the weights for which it was last factorized.
        self._solve_last: Operator | None = None if last is None else last._solve_last

    def solve(
        self,
        e: FloatArray,
        Y: FloatArray,
        correlation: FloatArray,
        start: FloatArray,
        left: FloatArray,
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
        left : ndarray of shape (n_samples, n_targets)
            What that leaves of Y.
        """
        if self._is_implicit:
            return self._by_products(e, correlation, start)
        if self._gram is not None:
            return self._by_features(self._gram, e, correlation)
        S = self._by_samples(e, Y, left)
        return e[:, None] * self.X.transposed_times(S)

    def _by_samples(self, e: FloatArray, Y: FloatArray, left: FloatArray) -> FloatArray:
        """``(I + X diag(e) Xᵀ)⁻¹Y``."""
        n_samples, n_features = self.X.shape
        if n_samples >= SAMPLES_PER_TARGET * Y.shape[1]:
            heavy = self._heavy(e)
            if len(heavy) <= min(n_samples, n_features // 4):
                return self._by_heavy_features(e, heavy, Y, left)
            found = self._by_last_factor(e, Y, left)
            if found is not None:
                return found
        self._solve_last = solver_of_identity_plus(self.X.gram_of_samples(e))
        return self._solve_last(Y)

    def _by_last_factor(self, e: FloatArray, Y: FloatArray, left: FloatArray) -> FloatArray | None:
        """The same by conjugate gradients, preconditioned by the last factorization.

        None if that is too far from these weights, or if there is none.
        """
        if self._solve_last is None:
            return None
        found = conjugate_gradients(
            lambda S: S + self.X.times(e[:, None] * self.X.transposed_times(S)),
            Y,
            precondition=self._solve_last,
            start=left,
            tol=RESIDUAL_BY_LAST,
            max_iter=STEPS_BY_LAST,
        )
        return found.solution if found.converged else None

    def _by_features(self, gram: FloatArray, e: FloatArray, correlation: FloatArray) -> FloatArray:
        # Scaled by e^½ on both sides, so that rows of any size keep their digits.
        root = np.sqrt(e)[:, None]
        return root * solver_of_identity_plus(root * gram * root.T)(root * correlation)

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
        self, e: FloatArray, heavy: IntArray, Y: FloatArray, left: FloatArray
    ) -> FloatArray:
        """The same by conjugate gradients, preconditioned by the matrix of the heavy features.

        The quotient of the two has its eigenvalues between 1 and 1 + ``TAIL``.
        """
        B = self.X.columns(heavy) * np.sqrt(e[heavy])
        solve = solver_of_identity_plus(matmul(B.T, B))

        def apply(S: FloatArray) -> FloatArray:
            return S + self.X.times(e[:, None] * self.X.transposed_times(S))

        def precondition(R: FloatArray) -> FloatArray:
            return R - B @ solve(B.T @ R)

        # At the solution S is what W leaves of Y.
        return conjugate_gradients(
            apply, Y, precondition=precondition, start=left, tol=RESIDUAL, max_iter=STEPS
        ).solution

    def _by_products(self, e: FloatArray, correlation: FloatArray, start: FloatArray) -> FloatArray:
        root = np.sqrt(e)[:, None]

        def apply(Z: FloatArray) -> FloatArray:
            return Z + root * self.X.transposed_times(self.X.times(root * Z))

        found = conjugate_gradients(
            apply,
            root * correlation,
            start=start / root,
            tol=IMPLICIT_RESIDUAL,
            max_iter=IMPLICIT_STEPS,
        )
        return root * found.solution
