"""Least angle regression of one target or several on one table, by shared Gram columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg

from tamis._typing import BoolArray, FloatArray, IntArray
from tamis.solvers.centred import Centred
from tamis.solvers.l21 import row_norms

# Gram columns that are computed in one product: the one asked for, and those likely to follow.
BLOCK = 16
# A feature of which the chosen ones explain all but this share tells nothing new.
NEWS = 1e-4
# Share of the first correlations below which nothing but rounding is left.
ROUNDING = 1e-12


class GramColumns:
    """Columns of ``XᵀX``, computed when first asked for and then kept: O(nd) each.

    Parameters
    ----------
    X : Centred
    """

    def __init__(self, X: Centred) -> None:
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


@dataclass(frozen=True)
class LeastAnglePath:
    """What least angle regression returns.

    Attributes
    ----------
    coef : ndarray of shape (n_features, n_targets)
        Where the path ends: where the next feature would enter, or at the least squares fit.
    entered : ndarray of int
        The features that entered, in order, without those of the start.
    levels : ndarray of shape (len(entered),)
        ``‖xᵀR‖`` of the active features when each entered; they never rise.
    first_level : float
        The same where the path began.
    sizes : ndarray of shape (n_features,)
        ``‖xᵀR‖`` of every feature at the end or, after a perfect fit, before the last step.
    level : float
        The same of the active features: no other size is larger.
    dependent : ndarray of bool
        The features that could not enter, since they depend on those that did. Where all others
        do, so that there is nothing more to be told, only those that are at the level: copies.
    breakpoints : tuple of ndarray of shape (i + 1, n_targets), i = 0, 1, …
        Coefficients of the first features that entered, where the next did or the path ends. They
        are kept where the path starts from zero.
    """

    coef: FloatArray
    entered: IntArray
    levels: FloatArray
    first_level: float
    sizes: FloatArray
    level: float
    dependent: BoolArray
    breakpoints: tuple[FloatArray, ...] = ()

    def after(self, n_steps: int) -> LeastAnglePath:
        """The path from where `n_steps` features have entered; `coef` is that of this place."""
        n_steps = min(n_steps, len(self.breakpoints))
        coef = np.zeros_like(self.coef)
        if n_steps:
            coef[self.entered[:n_steps]] = self.breakpoints[n_steps - 1]
        return replace(
            self, coef=coef, entered=self.entered[n_steps:], levels=self.levels[n_steps:]
        )

    @property
    def nearness(self) -> FloatArray:
        """Sizes relative to the level: how close a feature is to entering."""
        return self.sizes / self.level if self.level > 0 else np.zeros_like(self.sizes)

    @property
    def shares(self) -> FloatArray:
        """The level at which each feature entered, or its size at the end, as shares of the first.

        They put the features in the order of the path, those that did not enter after the others.
        """
        if self.first_level == 0:
            return np.zeros_like(self.sizes)
        levels = self.sizes.copy()
        levels[self.entered] = self.levels
        return levels / self.first_level


def least_angle_regression(
    X: Centred | GramColumns,
    correlation: FloatArray,
    n_steps: int,
    *,
    start: FloatArray | None = None,
    news: float = 1e-10,
) -> LeastAnglePath:
    """Let features enter a regression one by one, until `n_steps` are active.

    The coefficients move towards the least squares fit of the active features, whose correlations
    with the residual, of size ``‖xᵀR‖``, fall together; a feature enters when its own is as large.

    Parameters
    ----------
    X : Centred or GramColumns
        The table, or its Gram columns where several regressions share them.
    correlation : ndarray of shape (n_features, n_targets)
        ``XᵀY``.
    n_steps : int
        How many features may be active; fewer are when the residual vanishes or all others depend
        on those that have entered.
    start : ndarray of shape (n_features, n_targets) or None, default=None
        Coefficients to go on from, whose rows are active where they are not zero: an optimum of
        ``‖XW − Y‖² + λ‖W‖21``, at which ``‖xᵀR‖ = λ/2`` for all of them. None is zero.
    news : float, default=1e-10
        Share of a feature's squared length that no combination of the active features may
        explain, for it to enter.

    Notes
    -----
    O(d(p + n_targets)) a step with p active features, beside the Gram columns, and O(dp) memory; of
    a table with fewer samples than features O(n(d + p)) a step, and O(np) memory. With one target
    this is least angle regression [1]_, with several its extension in the Euclidean norm [2]_.

    References
    ----------
    .. [1] B. Efron, T. Hastie, I. Johnstone, R. Tibshirani. Least angle regression. Annals of
       Statistics 32 (2004).
    .. [2] T. Similä, J. Tikka. Input selection and shrinkage in multiresponse linear regression.
       Computational Statistics & Data Analysis 52 (2007).
    """
    coef = np.zeros(correlation.shape) if start is None else start.copy()
    given = np.flatnonzero(coef.any(axis=1))
    given = given[np.argsort(-row_norms(coef[given]), kind="stable")]
    most = max(n_steps, len(given))
    if isinstance(X, Centred) and X.shape[0] <= X.shape[1]:
        active: _ActiveFeatures = _ActiveBySamples(X, correlation, most, news)
    else:
        gram = GramColumns(X) if isinstance(X, Centred) else X
        active = _ActiveByFeatures(gram, correlation, most, news)
    remaining = correlation - active.gram_times(given, coef[given])
    active.add(given)
    sizes = row_norms(remaining)
    level = first_level = float((sizes[given] if len(given) else sizes).max(initial=0.0))
    limit = ROUNDING * row_norms(correlation).max(initial=0.0)
    if level <= limit:  # the start leaves nothing but rounding
        sizes, level, first_level = np.zeros_like(sizes), 0.0, 0.0
    candidates = active.lengths > 0
    candidates[given] = False
    candidates, dependent = _without_dependent(candidates, active.is_explained, sizes, level)
    last = sizes, level
    entered: list[int] = []
    levels: list[float] = []
    breakpoints: list[FloatArray] = []
    while len(given) + len(entered) < n_steps and level > limit and candidates.any():
        last = sizes, level
        entering = int(np.where(candidates, sizes, -1.0).argmax())
        # A step that rounding has cut short, at a feature that could not enter, leaves all others
        # below the level: go on in the same direction.
        if sizes[entering] > (1 - 1e-9) * level:
            active.expect(entering, np.where(candidates, sizes, -1.0))
            candidates[entering] = False
            active.add(np.array([entering]))
            entered.append(entering)
            levels.append(level)
            candidates, copies = _without_dependent(candidates, active.is_explained, sizes, level)
            dependent |= copies
        change = (remaining - active.remaining) / level
        step = min(level, _first_to_reach(remaining, change, sizes, level, candidates))
        coef += step / level * (active.coef() - coef)
        remaining = remaining - step * change
        sizes, level = row_norms(remaining), level - step
        if start is None:
            breakpoints[len(entered) - 1 :] = [coef[entered]]
    if level <= limit:
        # The fit is perfect. All features depend on those that have entered, and kept their share
        # of the level on the last step: what remains of it is rounding.
        sizes, level = last
    return LeastAnglePath(
        coef,
        np.array(entered, dtype=np.intp),
        np.array(levels),
        first_level,
        sizes,
        level,
        dependent,
        tuple(breakpoints),
    )


class _ActiveFeatures(ABC):
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
            if self._left[j] <= self._news * self.lengths[j]:
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


class _ActiveByFeatures(_ActiveFeatures):
    """By XᵀQ, from the Gram columns: for no more features than samples. O(dp) a feature."""

    def __init__(self, gram: GramColumns, correlation: FloatArray, most: int, news: float) -> None:
        super().__init__(gram.diagonal, correlation, most, news)
        self._gram = gram
        self._basis = np.empty((len(correlation), most), order="F")  # XᵀQ

    def gram_times(self, features: IntArray, coef: FloatArray) -> FloatArray:
        return self._gram.block(features) @ coef

    def expect(self, feature: int, likelihood: FloatArray) -> None:
        if feature not in self._gram:
            likely = np.argsort(-likelihood, kind="stable")[:BLOCK]
            self._gram.fetch(np.union1d(feature, likely))

    def _enter(self, j: int, pivot: float) -> FloatArray:
        basis = self._basis[:, : len(self._indices) + 1]
        basis[:, -1] = (self._gram[j] - basis[:, :-1] @ basis[j, :-1]) / pivot
        return basis[:, -1]

    def _factor(self) -> FloatArray:
        return self._basis[self._indices, : len(self._indices)]


class _ActiveBySamples(_ActiveFeatures):
    """By Q itself, so that nothing of size dp is kept: for fewer samples than features. O(nd)."""

    def __init__(self, X: Centred, correlation: FloatArray, most: int, news: float) -> None:
        super().__init__(X.squared_column_norms(), correlation, most, news)
        self._X = X
        most = min(most, X.shape[0])
        self._Q = np.empty((most, X.shape[0]))
        self._triangle = np.zeros((most, most))

    def gram_times(self, features: IntArray, coef: FloatArray) -> FloatArray:
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


def _without_dependent(
    candidates: BoolArray, explained: BoolArray, sizes: FloatArray, level: float
) -> tuple[BoolArray, BoolArray]:
    """The candidates that may still enter, and those that are dropped as dependent."""
    dropped = candidates & explained
    if (dropped == candidates).all():
        # Nothing can enter any more: only copies, which are at the level, are told apart.
        return np.zeros_like(candidates), dropped & (sizes > (1 - 1e-6) * level)
    return candidates & ~explained, dropped


def _first_to_reach(
    remaining: FloatArray,
    change: FloatArray,
    sizes: FloatArray,
    level: float,
    candidates: BoolArray,
) -> float:
    """The step at which the first candidate has ``‖r − step·change‖ = level − step``.

    A quadratic equation with one root between 0 and the level, as the left side is no larger at 0
    and no smaller at the level.
    """
    r, a, size = remaining[candidates], change[candidates], sizes[candidates]
    square = np.einsum("ij,ij->i", a, a) - 1
    half = level - np.einsum("ij,ij->i", r, a)
    constant = (level - size) * (level + size)
    denominator = half + np.sqrt(np.maximum(half**2 + square * constant, 0))
    reached = denominator > 1e-12 * level
    return float((constant[reached] / denominator[reached]).clip(min=0).min(initial=np.inf))


def scores_along_paths(
    norms: FloatArray, paths: Sequence[LeastAnglePath], correlation: FloatArray
) -> FloatArray:
    """Sizes of coefficients, and below them the order in which the other features enter.

    Parameters
    ----------
    norms : ndarray of shape (n_features,)
        Zero for features without coefficients.
    paths : sequence of LeastAnglePath
        How the regressions go on; a feature counts where it enters first.
    correlation : ndarray of shape (n_features, n_targets)
        ``XᵀY``, which orders the features that add nothing to those before them: they come last.

    Returns
    -------
    ndarray of shape (n_features,)
        `norms` where they are positive; elsewhere the share of the level that is left when a
        feature enters, times the smallest positive norm.
    """
    smallest = norms[norms > 0].min() if norms.any() else 1.0
    shares = np.max([path.shares for path in paths], axis=0).clip(0, 1 - 1e-9)
    entered = norms > 0
    dependent = np.zeros(len(norms), dtype=bool)
    for path in paths:
        entered[path.entered] = True
        dependent |= path.dependent
    dependent &= ~entered
    strength = row_norms(correlation)
    others = ~dependent & (norms == 0) & (shares > ROUNDING)
    lowest = shares[others].min(initial=1.0) / 2
    shares[dependent] = lowest * strength[dependent] / strength.max(initial=np.finfo(float).tiny)
    return np.where(norms > 0, norms, smallest * shares)
