"""The least squares fit of a growing set of features, for least angle regression."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
import scipy.linalg

from tamis._typing import BoolArray, FloatArray, IntArray
from tamis.solvers.table_operator import TableOperator

# Gram columns that are computed in one product: the one asked for, and those likely to follow.
BLOCK = 16


class GramColumns:
    """Columns of ``XᵀX``, computed when first asked for and then kept: O(nd) each.

    Parameters
    ----------
    X : TableOperator
    """

    def __init__(self, X: TableOperator) -> None:
        self._X = X
        self._kept: dict[int, FloatArray] = {}
        self.diagonal: FloatArray = X.squared_column_norms()

    def block(self, columns: IntArray) -> FloatArray:
        """Several columns, side by side."""
        self.fetch(columns)
        return np.array([self._kept[j] for j in columns]).reshape(-1, len(self.diagonal)).T

    def __contains__(self, j: int) -> bool:
        return j in self._kept

    def __getitem__(self, j: int) -> FloatArray:
        if j not in self._kept:
            self.fetch(np.array([j]))
        return self._kept[j]

    def fetch(self, columns: IntArray) -> None:
        """Compute several columns in one product, which reads the table once for all of them."""
        missing = np.array([j for j in columns if j not in self._kept], dtype=np.intp)
        if len(missing):
            block = self._X.transposed_times(self._X.columns(missing))
            self._kept.update(zip(missing.tolist(), np.ascontiguousarray(block.T), strict=True))


class ActiveFeatures(ABC):
    """The least squares fit of the active features, by orthonormal directions Q that span them.

    Parameters
    ----------
    lengths : ndarray of shape (n_features,)
        Squared lengths of the features.
    correlation : ndarray of shape (n_features, n_targets)
        ``XᵀY``.
    most : int
        How many features may become active.
    news : float
        Share of a feature's squared length beyond the active ones, without which it is dependent.
    """

    solver: ClassVar[str]

    def __init__(
        self, lengths: FloatArray, correlation: FloatArray, most: int, news: float
    ) -> None:
        self.lengths, self._news = lengths, news
        self._left = lengths.astype(np.float64)  # squared lengths beyond the active features
        self._indices: list[int] = []
        self._targets = np.empty((most, correlation.shape[1]))  # QᵀY
        # Correlations with the residual of the fit.
        self.remaining = correlation.astype(np.float64)

    @abstractmethod
    def gram_times(self, features: IntArray, coef: FloatArray) -> FloatArray:
        """``XᵀXW`` for a W that has these rows only."""

    @abstractmethod
    def _enter(self, j: int, pivot: float) -> FloatArray:
        """``Xᵀq`` for the direction q in which feature j leaves the active ones, by `pivot`."""

    @abstractmethod
    def _factor(self) -> FloatArray:
        """``X_AᵀQ`` of the active features A, lower triangular."""

    @abstractmethod
    def expect(self, feature: int, likelihood: FloatArray) -> None:
        """Prepare for a feature that is about to be added, and those likely to follow."""

    def add(self, features: IntArray) -> None:
        """Add features, but for those that depend on the active ones."""
        for j in features:
            if self.is_explained[j]:
                continue
            pivot = float(np.sqrt(self._left[j]))
            column = self._enter(int(j), pivot)
            target = self.remaining[j] / pivot
            self._targets[len(self._indices)] = target
            self.remaining = self.remaining - np.outer(column, target)
            self._left = self._left - column**2
            self._indices.append(int(j))

    @property
    def is_explained(self) -> BoolArray:
        """Which features the active ones explain, but for the share that would be news."""
        return self._left <= self._news * self.lengths

    def coef(self) -> FloatArray:
        """The coefficients of the fit. O(p²)."""
        coef = np.zeros(self.remaining.shape)
        coef[self._indices] = scipy.linalg.solve_triangular(
            self._factor(), self._targets[: len(self._indices)], lower=True, trans="T"
        )
        return coef


class ActiveByFeatures(ActiveFeatures):
    """By XᵀQ, from the Gram columns: for no more features than samples. O(dp) per feature."""

    solver = "least angle regression by features: they share Gram columns, or are few"

    def __init__(self, gram: GramColumns, correlation: FloatArray, most: int, news: float) -> None:
        super().__init__(gram.diagonal, correlation, most, news)
        self._gram = gram
        self._basis = np.empty((len(correlation), most), order="F")  # XᵀQ

    def gram_times(self, features: IntArray, coef: FloatArray) -> FloatArray:
        """``XᵀXW`` for a W that has these rows only."""
        return self._gram.block(features) @ coef

    def expect(self, feature: int, likelihood: FloatArray) -> None:
        """Compute the Gram columns of the feature and of those likely to follow, in one product."""
        if feature not in self._gram:
            likely = np.argsort(-likelihood, kind="stable")[:BLOCK]
            self._gram.fetch(np.union1d(feature, likely))

    def _enter(self, j: int, pivot: float) -> FloatArray:
        basis = self._basis[:, : len(self._indices) + 1]
        basis[:, -1] = (self._gram[j] - basis[:, :-1] @ basis[j, :-1]) / pivot
        return basis[:, -1]

    def _factor(self) -> FloatArray:
        return self._basis[self._indices, : len(self._indices)]


class ActiveBySamples(ActiveFeatures):
    """By Q itself, so that nothing of size dp is kept: for fewer samples than features. O(nd)."""

    solver = "least angle regression by samples: there are no more of them than features"

    def __init__(self, X: TableOperator, correlation: FloatArray, most: int, news: float) -> None:
        most = min(most, X.shape[0])
        super().__init__(X.squared_column_norms(), correlation, most, news)
        self._X = X
        self._Q = np.empty((most, X.shape[0]))
        self._triangle = np.zeros((most, most))

    @property
    def is_explained(self) -> BoolArray:
        """All features, once as many are active as there are samples, whatever rounding leaves."""
        if len(self._indices) == self._X.shape[0]:
            return np.ones(len(self._left), dtype=bool)
        return super().is_explained

    def gram_times(self, features: IntArray, coef: FloatArray) -> FloatArray:
        """``XᵀXW`` for a W that has these rows only."""
        return self._X.transposed_times(self._X.columns(features) @ coef)

    def expect(self, feature: int, likelihood: FloatArray) -> None:
        """Nothing: a feature is read when it enters."""

    def _enter(self, j: int, pivot: float) -> FloatArray:
        p = len(self._indices)
        x = self._X.columns(np.array([j])).ravel()
        Q, shares = self._Q[:p], self._triangle[p, :p]
        for _ in range(2):  # once more for what rounding has left of the directions
            found = Q @ x
            x = x - found @ Q
            shares += found
        self._triangle[p, p] = pivot
        self._Q[p] = x / pivot
        return self._X.transposed_times(self._Q[p][:, None]).ravel()

    def _factor(self) -> FloatArray:
        p = len(self._indices)
        return self._triangle[:p, :p]
