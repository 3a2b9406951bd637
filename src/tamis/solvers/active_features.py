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

    It knows the correlations with the residual of the features that it looks at: all of them,
    unless told otherwise. Arrays along features have the length of these.

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

    Attributes
    ----------
    features : ndarray of int
        The features that it looks at.
    indices : list of int
        The active features, in the order in which they were added.
    remaining : ndarray
        Correlations with the residual of the fit.
    """

    solver: ClassVar[str]

    def __init__(
        self, lengths: FloatArray, correlation: FloatArray, most: int, news: float
    ) -> None:
        self.lengths, self.news = lengths, news
        self.features = np.arange(len(lengths))
        self.indices: list[int] = []
        self.remaining = correlation.astype(np.float64)
        self._left = lengths.astype(np.float64)  # squared lengths beyond the active features
        self._targets = np.empty((most, correlation.shape[1]))  # QᵀY

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

    def add(self, places: IntArray) -> None:
        """Add features, by their places among `features`, but for those that depend on others."""
        for place in places:
            if self.is_explained[place]:
                continue
            pivot = float(np.sqrt(self._left[place]))
            j = int(self.features[place])
            column = self._enter(j, pivot)
            target = self.remaining[place] / pivot
            self._targets[len(self.indices)] = target
            self.remaining = self.remaining - np.outer(column, target)
            self._left = self._left - column**2
            self.indices.append(j)

    @property
    def is_explained(self) -> BoolArray:
        """Which features the active ones explain, but for the share that would be news."""
        return self._left <= self.news * self.lengths

    def coef(self) -> FloatArray:
        """The coefficients of the fit, a row for each of `indices`. O(p²)."""
        targets = self._targets[: len(self.indices)]
        return scipy.linalg.solve_triangular(self._factor(), targets, lower=True, trans="T")


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
        basis = self._basis[:, : len(self.indices) + 1]
        basis[:, -1] = (self._gram[j] - basis[:, :-1] @ basis[j, :-1]) / pivot
        return basis[:, -1]

    def _factor(self) -> FloatArray:
        return self._basis[self.indices, : len(self.indices)]


class ActiveBySamples(ActiveFeatures):
    """By Q itself, so that nothing of size dp is kept: for fewer samples than features. O(nd).

    It may look at some features only: O(n) per step for each of them.
    """

    solver = "least angle regression by samples: there are no more of them than features"

    def __init__(self, X: TableOperator, correlation: FloatArray, most: int, news: float) -> None:
        most = min(most, X.shape[0])
        super().__init__(X.squared_column_norms(), correlation, most, news)
        self._X = X
        self._Q = np.empty((most, X.shape[0]))
        self._triangle = np.zeros((most, most))
        self._lengths = self.lengths  # of all features
        # Columns of the features looked at, where these are few: rows, of which some are in use.
        self._held, self._n_held = np.empty((0, X.shape[0])), 0

    @property
    def is_explained(self) -> BoolArray:
        """All features, once as many are active as there are samples, whatever rounding leaves."""
        if len(self.indices) == self._X.shape[0]:
            return np.ones(len(self._left), dtype=bool)
        return super().is_explained

    def explains(self, features: IntArray, n_active: int | None = None) -> BoolArray:
        """The same of any features, by so many of the active ones. O(np) for each of them."""
        n_active = len(self.indices) if n_active is None else n_active
        if n_active == self._X.shape[0]:
            return np.ones(len(features), dtype=bool)
        shares = self._X.columns(features).T @ self._Q[:n_active].T
        lengths = self._lengths[features]
        left = lengths - np.einsum("ij,ij->i", shares, shares)
        return left <= self.news * lengths

    def look_at(self, features: IntArray) -> None:
        """Look at these features, and at no others. O(np) for each that it did not look at.

        Their correlations with the residual of the fit are to be set afterwards.

        Parameters
        ----------
        features : ndarray of int
            Ascending.
        """
        columns = np.empty((len(features), self._X.shape[0]))
        left = np.empty(len(features))
        known = np.zeros(len(features), dtype=bool)
        if self.columns is not None:
            order = np.argsort(self.features)
            places = order[np.searchsorted(self.features[order], features) % len(order)]
            known = self.features[places] == features
            columns[known] = self.columns[places[known]]
            left[known] = self._left[places[known]]
        columns[~known], left[~known] = self._read(features[~known])
        self.features, self._left = features, left
        self.lengths = self._lengths[features]
        self._held, self._n_held = columns, len(columns)

    def look_also_at(self, features: IntArray) -> None:
        """Look at more features, in the same way; they come last."""
        columns, left = self._read(features)
        n_held = self._n_held + len(features)
        if n_held > len(self._held):
            room = np.empty((max(n_held, 3 * len(self._held) // 2), columns.shape[1]))
            room[: self._n_held] = self.columns
            self._held = room
        self._held[self._n_held : n_held] = columns
        self._n_held = n_held
        self.features = np.concatenate([self.features, features])
        self.lengths = self._lengths[self.features]
        self._left = np.concatenate([self._left, left])

    @property
    def columns(self) -> FloatArray | None:
        """The columns of the features looked at, a row each; None where that is all of them."""
        return None if self._n_held == 0 else self._held[: self._n_held]

    def _read(self, features: IntArray) -> tuple[FloatArray, FloatArray]:
        """Columns, a row each, and their squared lengths beyond the active features."""
        columns = self._X.columns(features).T
        shares = columns @ self.directions.T
        return columns, self._lengths[features] - np.einsum("ij,ij->i", shares, shares)

    def gram_times(self, features: IntArray, coef: FloatArray) -> FloatArray:
        """``XᵀXW`` for a W that has these rows only."""
        return self._X.transposed_times(self._X.columns(features) @ coef)

    def expect(self, feature: int, likelihood: FloatArray) -> None:
        """Nothing: a feature is read when it enters."""

    @property
    def directions(self) -> FloatArray:
        """Q, a row each."""
        return self._Q[: len(self.indices)]

    def directions_beyond(self, directions: FloatArray) -> FloatArray:
        """The parts of some directions, a column each, that are orthogonal to the active ones."""
        Q = self._Q[: len(self.indices)]
        for _ in range(2):  # once more for what rounding has left
            directions = directions - Q.T @ (Q @ directions)
        return directions

    def _enter(self, j: int, pivot: float) -> FloatArray:
        p = len(self.indices)
        x = self._X.columns(np.array([j])).ravel()
        Q, shares = self._Q[:p], self._triangle[p, :p]
        for _ in range(2):  # once more for what rounding has left of the directions
            found = Q @ x
            x = x - found @ Q
            shares += found
        self._triangle[p, p] = pivot
        self._Q[p] = x / pivot
        if self.columns is not None:
            return self.columns @ self._Q[p]
        return self._X.transposed_times(self._Q[p][:, None]).ravel()

    def _factor(self) -> FloatArray:
        p = len(self.indices)
        return self._triangle[:p, :p]
