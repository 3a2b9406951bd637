"""Which features of a wide table a path has to look at, so that a step need not read the table."""

from __future__ import annotations

import numpy as np

from tamis._typing import BoolArray, FloatArray, IntArray
from tamis.solvers.active_features import ActiveBySamples
from tamis.solvers.row_norms import row_norms
from tamis.solvers.table_operator import TableOperator
from tamis.utils.blocks import row_blocks
from tamis.utils.sparse import is_sparse
from tamis.utils.threads import side_by_side

__all__ = ["Screen", "is_worth_screening"]

# Tables of so many cells (32 MB) stay in the cache, where a step reads them fast.
FEWEST_CELLS = 1 << 22
# Features that are looked at after the table was read; it is read again when they are three times
# as many, or else twice as many are looked at from then on.
FIRST_LOOK = 2000
MOST_LOOKS = 3
# Bounds may be off by this share of the level: rounding.
ROUNDING = 1e-6
# Features are looked at some time before they must be: as if the step were longer by this factor,
# and the level after it this share of what it is.
AHEAD = 1.5
AHEAD_LEVEL = 0.95
# Directions of active features whose products with all features are known, at most.
MOST_DIRECTIONS = 64
# Rounding of single precision, as a share of what is added up.
SINGLE = 1e-5
# Directions that tell of most features that they are not explained by the active ones.
N_PROBES = 64
# Columns that are read at once, and features whose bounds are computed at once.
BLOCK = 512
FEATURES_AT_ONCE = 1 << 14


def is_worth_screening(X: TableOperator) -> bool:
    """Whether a path on this table should look at few features: a dense one, large and wide."""
    n_samples, n_features = X.shape
    wide = n_features >= 2 * max(n_samples, MOST_LOOKS * FIRST_LOOK)
    return wide and not is_sparse(X.stored) and n_samples * n_features >= FEWEST_CELLS


class Screen:
    """The features that a path looks at, and proof that no other one can have entered.

    Where all features were last read their correlations were ``XᵀR``. The residual has moved by D
    since. Of some directions P, the first of the active ones, the products with all features are
    known, and what a feature x has beyond them has the length r: then
    ``‖xᵀ(R − D)‖ ≤ ‖xᵀR − xᵀPᵀPD‖ + r·‖D − PᵀPD‖₂``. A feature is looked at as soon as this bound
    reaches the level ``‖xᵀR‖`` of the active ones. Along a step the left side is convex, and the
    level falls evenly: a look at its end is enough.

    Parameters
    ----------
    X : TableOperator
    active : ActiveBySamples
        To which nothing was added yet.
    remaining : ndarray of shape (n_features, n_targets)
        Correlations of all features with the residual, where the path begins.
    image : ndarray of shape (n_samples, n_targets)
        XW of the coefficients W there.
    given : ndarray of int
        The features that are active there; they are always looked at.

    Notes
    -----
    O(dkc) per step in single precision, for k directions and c targets, and O(n) for each feature
    that is looked at. All are read, O(ndc), when these have become many.
    """

    def __init__(
        self,
        X: TableOperator,
        active: ActiveBySamples,
        remaining: FloatArray,
        image: FloatArray,
        given: IntArray,
    ) -> None:
        self._X, self._active = X, active
        # Of features of unit length, in single precision: xᵀPᵀ, r rounded upwards, and xᵀR in units
        # of the largest.
        self._lengths = np.sqrt(np.where(active.lengths > 0, active.lengths, 1))
        self._shares = np.empty((len(remaining), 0), dtype=np.float32)
        self._beyond = np.ones(len(remaining), dtype=np.float32)
        self._left = np.ones(len(remaining))  # r²
        self._directions: FloatArray | None = None  # P, a row each; not known yet
        self._n_looks = FIRST_LOOK
        self._looked_at = np.zeros(len(remaining), dtype=bool)
        self._set_known(remaining, image)
        sizes = row_norms(remaining)
        first = np.argpartition(-sizes, self._n_looks)[: self._n_looks]
        equal = np.flatnonzero(sizes >= (1 - ROUNDING) * sizes.max())
        first = np.union1d(first, equal)
        self._look_at(np.union1d(first, given), np.zeros_like(image))

    def is_settled(
        self,
        now: FloatArray,
        step: FloatArray,
        share: float,
        level: float,
        candidates: BoolArray,
    ) -> bool:
        """Whether the features looked at are all that matter on a step; else, looks at more.

        Parameters
        ----------
        now : ndarray of shape (n_samples, n_targets)
            XW before the step.
        step : ndarray of shape (n_samples, n_targets)
            How XW moves until the level is zero.
        share : float
            How much of that the step is.
        level : float
            Before the step.
        candidates : ndarray of bool of shape (n_features,)
            The features that may still enter.
        """
        if self._directions is None:
            self._know_directions(self._X.transposed_times(self._new_directions()))
        others = candidates & ~self._looked_at
        threshold = (1 - ROUNDING) * (1 - share) * level
        after = now + share * step
        reached = others & (self._bounds(after) >= threshold)
        if not reached.any():
            return True
        fit = now + step
        ahead = self._bounds(now + min(1.0, AHEAD * share) * step) >= AHEAD_LEVEL * threshold
        soon = np.flatnonzero(others & (ahead | reached))
        if len(soon) + len(self._active.features) <= MOST_LOOKS * self._n_looks:
            before = self._active.remaining
            self._active.look_also_at(soon)
            self._active.remaining = np.vstack([before, self.remaining(fit, len(before))])
            self._looked_at[soon] = True
            return False
        read_here = np.array_equal(now, self._image)  # then a longer look is needed
        self._n_looks = min(2 * self._n_looks, len(others)) if read_here else FIRST_LOOK
        if not read_here:
            n_targets = now.shape[1]
            moves = np.hstack([now - self._image, self._new_directions()])
            products = self._X.transposed_times(moves)
            self._set_known(self._known - products[:, :n_targets], now)
            self._know_directions(products[:, n_targets:])
        # Those with the largest bounds at the end of the direction are likely to enter first.
        soonest = -self._bounds(fit)
        soonest[~candidates] = np.inf
        first = np.argpartition(soonest, self._n_looks - 1)[: self._n_looks]
        self._look_at(np.union1d(first[candidates[first]], self._active.indices), fit)
        return False

    def _set_known(self, remaining: FloatArray, image: FloatArray) -> None:
        self._known, self._image = remaining, image
        per_length = remaining / self._lengths[:, None]
        self._unit = float(row_norms(per_length).max()) or 1.0
        self._known_single = (per_length / self._unit).astype(np.float32)

    def _new_directions(self) -> FloatArray:
        """The active directions whose products with all features are to be known, a column each."""
        return self._active.directions[self._shares.shape[1] : MOST_DIRECTIONS].T

    def _know_directions(self, products: FloatArray) -> None:
        """Keep the products of all features with the new ones among the active directions."""
        products = products / self._lengths[:, None]
        self._left -= np.einsum("ij,ij->i", products, products)
        self._beyond = (np.sqrt(self._left.clip(min=0)) + ROUNDING).astype(np.float32)
        self._shares = np.hstack([self._shares, products.astype(np.float32)])
        self._directions = self._active.directions[: self._shares.shape[1]].copy()

    def _bounds(self, image: FloatArray) -> FloatArray:
        """At least ``‖xᵀR‖`` of each feature, where XW is the image."""
        assert self._directions is not None
        moved = (image - self._image) / self._unit
        inside = self._directions @ moved
        inside_single = inside.astype(np.float32)
        farther = np.float32(_spectral_norm(moved - self._directions.T @ inside))
        rounding = np.float32(SINGLE * (1 + _spectral_norm(inside)))
        bounds = np.empty(len(self._known))

        def bound(some: slice) -> None:
            known = self._known_single[some] - self._shares[some] @ inside_single
            bound = np.sqrt(np.einsum("ij,ij->i", known, known))
            bound += farther * self._beyond[some] + rounding
            np.multiply(bound, self._unit * self._lengths[some], out=bounds[some])

        side_by_side(bound, row_blocks(len(bounds), 1, block_size=FEATURES_AT_ONCE))
        return bounds

    def remaining(self, image: FloatArray, first: int = 0) -> FloatArray:
        """Correlations of the features looked at with the residual, where XW is the image.

        Of those from the place `first` on.
        """
        columns = self._active.columns
        assert columns is not None
        moved: FloatArray = columns[first:] @ (image - self._image)
        return self._known[self._active.features[first:]] - moved

    def sizes(self, image: FloatArray) -> FloatArray:
        """``‖xᵀR‖`` of all features, where XW is the image. Reads the table."""
        return row_norms(self._known - self._X.transposed_times(image - self._image))

    def explained(self, candidates: BoolArray, n_active: int | None = None) -> IntArray:
        """The candidates beyond those looked at that so many of the active features explain.

        Some directions orthogonal to the active features tell of most that they are not, in one
        pass over the table; the others are read.
        """
        others = candidates & ~self._looked_at
        if not others.any():
            return np.empty(0, dtype=np.intp)
        n_samples = self._X.shape[0]
        n_probes = min(N_PROBES, n_samples)
        probes = np.random.default_rng(0).standard_normal((n_samples, n_probes))
        probes, _ = np.linalg.qr(self._active.directions_beyond(probes))
        seen = self._X.transposed_times(self._active.directions_beyond(probes))
        left = np.einsum("ij,ij->i", seen, seen)
        little = 2 * self._active.news * self._lengths**2
        doubtful = np.flatnonzero(others & (left <= little))
        found = [
            block[self._active.explains(block, n_active)]
            for block in np.split(doubtful, range(BLOCK, len(doubtful), BLOCK))
        ]
        return np.concatenate(found)

    def _look_at(self, features: IntArray, fit: FloatArray) -> None:
        self._active.look_at(features)
        self._active.remaining = self.remaining(fit)
        self._looked_at[:] = False
        self._looked_at[features] = True


def _spectral_norm(D: FloatArray) -> float:
    """At least the largest singular value, by no more than rounding."""
    norm = float(np.sqrt(np.linalg.eigvalsh(D.T @ D)[-1].clip(min=0)))
    return norm * (1 + ROUNDING)
