"""Missing values of a wide table: from the components of its columns, then from columns alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh
from sklearn.utils.extmath import randomized_svd

from tamis._typing import BoolArray, FloatArray
from tamis.preprocessing._neighbouring_columns import (
    MOST_COLUMNS,
    NeighbouringColumns,
    fit_neighbouring_columns,
)
from tamis.utils.blocks import row_blocks

RANKS = (1, 2, 4, 8, 16, 32)
# Of the regressions on neighbouring columns.
RIDGES = (0.01, 1.0)
# The share of the known cells that is hidden to choose rank and ridge.
HIDDEN = 0.05
SEED = 0x7A315
# Neighbouring columns are taken if their squared error of the hidden cells is below this share of
# the components' own: they make columns more alike than they are, which a small gain is not worth.
GAIN = 0.85
MOST_ITERATIONS = 30
# Tables of at most as many columns are decomposed exactly, by the product of their columns.
NARROW = 128
TOLERANCE = 1e-3


@dataclass(frozen=True)
class LowRank:
    """Principal components of standardised columns, and the noise around them.

    Attributes
    ----------
    mean, scale, lowest, highest : ndarray of shape (n_features,)
        Of the known values.
    components : ndarray of shape (n_features, rank)
        Each times the deviation along it.
    noise : float
        The variance that is left per cell.
    neighbours : NeighbouringColumns or None
        What refines the values that the components give, where that predicts better.
    """

    mean: FloatArray
    scale: FloatArray
    lowest: FloatArray
    highest: FloatArray
    components: FloatArray
    noise: float
    neighbours: NeighbouringColumns | None = None

    def fill(self, X: FloatArray) -> None:
        """Fill the gaps of X in place, each row from its known values.

        The coordinates of a row are their expectation given its known cells (probabilistic
        principal components), and neighbouring columns refine what these give: a row gets the
        same values whatever other rows there are. O(n d (r² + k)) for the rows with gaps.
        """
        gaps = np.concatenate(
            [np.isnan(X[rows]).any(axis=1) for rows in row_blocks(*X.shape)] or [np.zeros(0, bool)]
        )
        W, rank = self.components, self.components.shape[1]
        squares = (W[:, :, None] * W[:, None, :]).reshape(len(W), rank * rank)
        where = np.flatnonzero(gaps)
        for block in row_blocks(len(where), X.shape[1]):
            rows = where[block]
            part = X[rows].astype(np.float64)
            missing = np.isnan(part)
            Z = np.where(missing, 0.0, (part - self.mean) / self.scale)
            grams = ((~missing).astype(np.float64) @ squares).reshape(len(rows), rank, rank)
            grams += max(self.noise, 1e-6) * np.eye(rank)
            coordinates = np.linalg.solve(grams, (Z @ W)[:, :, None])[:, :, 0]
            Z = np.where(missing, coordinates @ W.T, Z)
            if self.neighbours is not None:
                self.neighbours.refine(Z, missing)
            filled = np.clip(Z * self.scale + self.mean, self.lowest, self.highest)
            X[rows] = np.where(missing, filled, part)


def fit_low_rank(X: FloatArray) -> LowRank | None:
    """The components of a table with gaps, and the columns alike; None if neither tells anything.

    The rank is that which best predicts known cells that were hidden, and at least better than
    the mean does. Gaps are filled from the components and these computed again until the filled
    values settle. Regressions on neighbouring columns follow, up to 20,000 columns, if they predict
    the hidden cells clearly better. Deterministic; O(n d r) per iteration and O(d² + n d k²) for
    the regressions; one copy of the table and the factors.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Every column has at least two different values.
    """
    mean = np.asarray(np.nanmean(X, axis=0, dtype=np.float64))
    scale = np.asarray(np.nanstd(X, axis=0, dtype=np.float64))
    scale[scale == 0] = 1.0
    lowest, highest = np.fmin.reduce(X), np.fmax.reduce(X)
    Z = X - mean.astype(X.dtype)  # float32 stays so
    Z /= scale.astype(X.dtype)
    missing = np.isnan(Z)
    Z[missing] = 0.0
    rank, ridge = _best_rank_and_ridge(Z, missing)
    if rank == 0 and ridge is None:
        return None
    components, noise = _settled(Z, missing, rank)
    neighbours = None
    if ridge is not None:
        neighbours = fit_neighbouring_columns(Z, missing, _unexplained(components), ridge)
    return LowRank(mean, scale, lowest, highest, components, noise, neighbours)


def _best_rank_and_ridge(Z: FloatArray, missing: BoolArray) -> tuple[int, float | None]:
    """What best predicts hidden cells; rank 0 if their mean does. Z is left as it was.

    The ridge is None where neighbouring columns do not predict clearly better than components.
    """
    # Of a seed that no user takes: whoever made gaps with the same one would have none to hide.
    rng = np.random.default_rng((SEED, *Z.shape))
    hidden = ~missing
    for rows in row_blocks(*Z.shape):
        hidden[rows] &= rng.random(hidden[rows].shape) < HIDDEN
    truth = Z[hidden]
    if truth.size == 0:
        return 0, None
    gaps = missing | hidden
    Z[hidden] = 0.0
    rank, error = _best_rank(Z, gaps, hidden, truth)
    ridge = None
    if Z.shape[1] <= MOST_COLUMNS:
        components, _ = _settled(Z, gaps, rank)
        least = GAIN * error
        for candidate in RIDGES:
            fit_neighbouring_columns(Z, gaps, _unexplained(components), candidate)
            by_neighbours = float(np.mean((Z[hidden] - truth) ** 2))
            if by_neighbours < least:
                ridge, least = candidate, by_neighbours
    Z[missing] = 0.0
    Z[hidden] = truth
    return rank, ridge


def _best_rank(
    Z: FloatArray, gaps: BoolArray, hidden: BoolArray, truth: FloatArray
) -> tuple[int, float]:
    """The rank that best predicts the hidden cells, and its mean squared error; gaps are filled."""
    best, best_error = 0, 0.98 * float(np.mean(truth**2))
    for rank in RANKS:
        if rank >= min(Z.shape) / 2:
            break
        _settled(Z, gaps, rank)
        error = float(np.mean((Z[hidden] - truth) ** 2))
        if error > best_error and rank > max(1, 2 * best):
            break
        if error < best_error:
            best, best_error = rank, error
    return best, best_error if best else float(np.mean(truth**2))


def _unexplained(components: FloatArray) -> FloatArray:
    """The variance of standardised columns that their components leave."""
    return np.clip(1 - (components**2).sum(axis=1), 0.02, 1.0)


def _settled(Z: FloatArray, missing: BoolArray, rank: int) -> tuple[FloatArray, float]:
    """Fill Z in place until the filled values settle; the components and the noise.

    Without any component the gaps are filled with the mean.
    """
    n_samples, n_features = Z.shape
    if rank == 0:
        Z[missing] = 0.0
        return np.zeros((n_features, 0)), 1.0
    known_share = 1 - np.count_nonzero(missing) / missing.size
    for _ in range(MOST_ITERATIONS):
        s, Vt = _leading(Z, rank)
        left = float(_sum_of_squares(Z) - (s**2).sum()) / (n_samples * n_features * known_share)
        noise = max(left, 0.0) * n_features / max(n_features - rank, 1)
        kept = np.clip(1 - noise * n_samples / np.maximum(s**2, 1e-300), 0.0, None)
        kept = kept.astype(Z.dtype)
        change = size = 0.0
        for rows in row_blocks(*Z.shape):
            new = ((Z[rows] @ Vt.T * kept) @ Vt)[missing[rows]]
            change += float(((new - Z[rows][missing[rows]]) ** 2).sum())
            size += float((new**2).sum())
            Z[rows][missing[rows]] = new
        if change <= TOLERANCE**2 * size:
            break
    variances = np.clip(s**2 / n_samples - noise, 0.0, None)
    return (Vt.T * np.sqrt(variances)).astype(np.float64), noise


def _leading(Z: FloatArray, rank: int) -> tuple[FloatArray, FloatArray]:
    """The leading singular values and right vectors; a narrow table needs no factor of its rows."""
    n_features = Z.shape[1]
    if n_features > NARROW:
        _, s, Vt = randomized_svd(Z, rank, n_iter=4, random_state=0)
        return s, Vt
    gram = np.zeros((n_features, n_features))
    for rows in row_blocks(*Z.shape):
        part = Z[rows].astype(np.float64)
        gram += part.T @ part
    squares, V = eigh(gram, subset_by_index=(n_features - rank, n_features - 1))
    return np.sqrt(np.clip(squares[::-1], 0.0, None)), V.T[::-1].astype(Z.dtype)


def _sum_of_squares(Z: FloatArray) -> float:
    return sum(float(np.square(Z[rows], dtype=np.float64).sum()) for rows in row_blocks(*Z.shape))
