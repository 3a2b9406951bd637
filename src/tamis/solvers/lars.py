"""Least angle regression of one target or several on one table, by shared Gram columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tamis._typing import BoolArray, FloatArray, IntArray
from tamis.solvers.active_features import (
    ActiveByFeatures,
    ActiveBySamples,
    ActiveFeatures,
    GramColumns,
)
from tamis.solvers.result import SolverResult
from tamis.solvers.row_norms import row_norms
from tamis.solvers.screen import Screen, is_worth_screening
from tamis.solvers.table_operator import TableOperator

# A feature of which the chosen ones explain all but this share tells nothing new.
NEWS = 1e-4
# Share of the first correlations below which nothing but rounding is left.
ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True)
class LeastAnglePath(SolverResult[FloatArray]):
    """Coefficients where the path ends: where the next feature would enter, or at the fit.

    The objective is the level ``‖xᵀR‖`` of the active features when each entered, which never
    rises; the optimality is the level at the end, as a share of the first: zero at the least
    squares fit.

    Attributes
    ----------
    entered : ndarray of int
        The features that entered, in order, without those of the start: one per objective.
    first_level : float
        The level where the path began.
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

    entered: IntArray
    first_level: float
    sizes: FloatArray
    level: float
    dependent: BoolArray
    breakpoints: tuple[FloatArray, ...] = ()

    def after(self, n_steps: int) -> LeastAnglePath:
        """The path from where `n_steps` features have entered, with the solution at that place."""
        n_steps = min(n_steps, len(self.breakpoints))
        coef = np.zeros_like(self.solution)
        if n_steps:
            coef[self.entered[:n_steps]] = self.breakpoints[n_steps - 1]
        return replace(
            self,
            solution=coef,
            entered=self.entered[n_steps:],
            objective=self.objective[n_steps:],
        )

    @property
    def shares(self) -> FloatArray:
        """The level at which each feature entered, or its size at the end, as shares of the first.

        They put the features in the order of the path, those that did not enter after the others.
        """
        if self.first_level == 0:
            return np.zeros_like(self.sizes)
        levels = self.sizes.copy()
        levels[self.entered] = self.objective
        return levels / self.first_level


def least_angle_regression(
    X: TableOperator | GramColumns,
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
    X : TableOperator or GramColumns
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
    O(d(p + n_targets)) per step with p active features, beside the Gram columns, and O(dp) memory;
    of a table with fewer samples than features O(n(d + p)) per step, and O(np) memory. A step on
    such a table that is dense and large reads a few thousand features, and proves by bounds that no
    other one can enter (see :class:`tamis.solvers.screen.Screen`). With one target this is least
    angle regression [1]_, with several its extension in the Euclidean norm [2]_.

    References
    ----------
    .. [1] B. Efron, T. Hastie, I. Johnstone, R. Tibshirani. Least angle regression. Annals of
       Statistics 32 (2004).
    .. [2] T. Similä, J. Tikka. Input selection and shrinkage in multiresponse linear regression.
       Computational Statistics & Data Analysis 52 (2007).
    """
    coef = np.zeros(correlation.shape) if start is None else start
    given = np.flatnonzero(coef.any(axis=1))
    given = given[np.argsort(-row_norms(coef[given]), kind="stable")]
    most = max(n_steps, len(given))
    if isinstance(X, TableOperator) and X.shape[0] <= X.shape[1]:
        active: ActiveFeatures = ActiveBySamples(X, correlation, most, news)
    else:
        gram = GramColumns(X) if isinstance(X, TableOperator) else X
        active = ActiveByFeatures(gram, correlation, most, news)
    remaining = correlation - active.gram_times(given, coef[given])
    sizes = row_norms(remaining)
    level = first_level = float((sizes[given] if len(given) else sizes).max(initial=0.0))
    limit = ROUNDING * row_norms(correlation).max(initial=0.0)
    if level <= limit:  # the start leaves nothing but rounding
        sizes, level, first_level = np.zeros_like(sizes), 0.0, 0.0
    candidates = active.lengths > 0
    candidates[given] = False
    dependent = np.zeros_like(candidates)
    members = _Members(given, coef[given])
    screen = None
    if (
        isinstance(X, TableOperator)
        and isinstance(active, ActiveBySamples)
        and level > 0
        and is_worth_screening(X)
    ):
        members = _Members(given, coef[given], X, most)
        screen = Screen(X, active, remaining, members.image(), given)
        remaining, sizes = remaining[active.features], sizes[active.features]
    active.add(np.searchsorted(active.features, given))
    copies = _drop_dependent(candidates, active, sizes, level, screen, members)
    dependent[copies] = True
    last = sizes, level, members.image()
    entered: list[int] = []
    levels: list[float] = []
    breakpoints: list[FloatArray] = []
    while len(members) < n_steps and level > limit and candidates.any():
        last = sizes, level, members.image()
        likelihood = np.where(candidates[active.features], sizes, -1.0)
        likeliest = np.flatnonzero(likelihood == likelihood.max(initial=-1.0))
        place = int(likeliest[active.features[likeliest].argmin()])
        # A step that rounding has cut short, at a feature that could not enter, leaves all others
        # below the level: go on in the same direction.
        if likelihood[place] > (1 - 1e-9) * level:
            entering = int(active.features[place])
            active.expect(entering, likelihood)
            candidates[entering] = False
            active.add(np.array([place]))
            members.add(entering)
            entered.append(entering)
            levels.append(level)
            copies = _drop_dependent(candidates, active, sizes, level, screen, members)
            dependent[copies] = True
        move = members.fit(active) - members.coef
        while True:
            usable = candidates[active.features]
            change = (remaining - active.remaining) / level
            step = min(level, _first_to_reach(remaining, change, sizes, level, usable))
            if screen is None or screen.is_settled(
                members.image(), members.image(move), step / level, level, candidates
            ):
                break
            overlooked = active.features[candidates[active.features] & active.is_explained]
            candidates[overlooked], dependent[overlooked] = False, True
            remaining = screen.remaining(members.image())
            sizes = row_norms(remaining)
        members.coef += step / level * move
        remaining = remaining - step * change
        sizes, level = row_norms(remaining), level - step
        if start is None:
            breakpoints[len(entered) - 1 :] = [members.coef.copy()]
    end = level
    if level <= limit:
        # The fit is perfect. All features depend on those that have entered, and kept their share
        # of the level on the last step: what remains of it is rounding.
        sizes, level = last[:2]
    if screen is not None:
        sizes = screen.sizes(last[2] if end <= limit else members.image())
        dependent[screen.explained(candidates)] = True
    solution = np.zeros(correlation.shape)
    solution[members.features] = members.coef
    return LeastAnglePath(
        solution=solution,
        objective=np.array(levels),
        optimality=end / first_level if first_level > 0 else 0.0,
        converged=True,
        solver=active.solver,
        entered=np.array(entered, dtype=np.intp),
        first_level=first_level,
        sizes=sizes,
        level=level,
        dependent=dependent,
        breakpoints=tuple(breakpoints),
    )


class _Members:
    """The features with coefficients, these, and what they make of the table.

    Parameters
    ----------
    features : ndarray of int
    coef : ndarray of shape (n, n_targets)
    X : TableOperator or None, default=None
        The table, where images are wanted.
    most : int, default=0
        How many features there may be then.
    """

    def __init__(
        self,
        features: IntArray,
        coef: FloatArray,
        X: TableOperator | None = None,
        most: int = 0,
    ) -> None:
        self._X = X
        self.features: list[int] = []
        self.coef = coef.copy()
        self._columns = np.empty((most, 0 if X is None else X.shape[0]))
        self._places: list[int] = []  # of the active features
        self._read(features)

    def __len__(self) -> int:
        return len(self.features)

    def add(self, feature: int) -> None:
        """Another feature, with zeros."""
        self.coef = np.vstack([self.coef, np.zeros(self.coef.shape[1])])
        self._read(np.array([feature]))

    def _read(self, features: IntArray) -> None:
        if self._X is not None:
            places = slice(len(self), len(self) + len(features))
            self._columns[places] = self._X.columns(features).T
        self.features += features.tolist()

    def fit(self, active: ActiveFeatures) -> FloatArray:
        """The coefficients of the least squares fit, in the order of these."""
        for feature in active.indices[len(self._places) :]:
            self._places.append(self.features.index(feature))
        coef = np.zeros_like(self.coef)
        coef[self._places] = active.coef()
        return coef

    def image(self, coef: FloatArray | None = None) -> FloatArray:
        """XW of their coefficients, or of others; nothing where none is wanted. O(np)."""
        coef = self.coef if coef is None else coef
        columns = self._columns[: len(self)] if self._X is not None else np.empty((len(self), 0))
        return columns.T @ coef


def _drop_dependent(
    candidates: BoolArray,
    active: ActiveFeatures,
    sizes: FloatArray,
    level: float,
    screen: Screen | None,
    members: _Members,
) -> IntArray:
    """Take the dependent features out of the candidates; those that are told apart as such."""
    here = candidates[active.features]
    explained = here & active.is_explained
    dropped = active.features[explained]
    if not np.array_equal(explained, here):
        candidates[dropped] = False
        return dropped
    everywhere = np.zeros(len(candidates))
    everywhere[active.features] = sizes
    if screen is not None:
        dropped = np.concatenate([dropped, screen.explained(candidates)])
        if len(dropped) < np.count_nonzero(candidates):
            candidates[dropped] = False
            return dropped
        everywhere = screen.sizes(members.image())
        # Those that were dependent before the last feature entered are so in any case.
        everywhere[screen.explained(candidates, max(0, len(active.indices) - 1))] = np.inf
    # Nothing can enter any more: only copies, which are at the level, are told apart.
    candidates[:] = False
    return dropped[everywhere[dropped] > (1 - 1e-6) * level]


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
