"""Which of several equally near samples is a neighbour: a rule that knows no row numbers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from tamis._typing import FloatArray, IntArray, Matrix
from tamis.utils.blocks import row_blocks
from tamis.utils.rows import squared_row_norms
from tamis.utils.sparse import is_sparse

# Squared distances that differ by less than this, relatively, are equal: sums of the same numbers
# in another order differ by about 1e-15, distances of a table standardised in another order too.
TIE = 1e-10
# What sums of rounded numbers may be off by, relative to the size of the numbers.
ROUNDING = 1e-14
# A column whose third central moment is smaller than this, relatively, has no longer tail.
SKEWED = 1e-6


def by_distance(rows: IntArray, squared: FloatArray, ranks: IntArray) -> IntArray:
    """An order of candidate pairs: by row, then by distance, equal distances by rank.

    Parameters
    ----------
    rows : ndarray of shape (n_pairs,)
    squared : ndarray of shape (n_pairs,)
        Squared distances. Those of a row are equal where neighbouring ones differ by rounding.
    ranks : ndarray of shape (n_pairs,)
        Of the other sample of each pair, from :func:`content_ranks`.
    """
    order = np.lexsort((squared, rows))
    row, distance = rows[order], squared[order]
    level = np.zeros(len(order), dtype=np.intp)
    farther = (row[1:] != row[:-1]) | (distance[1:] > distance[:-1] * (1 + TIE))
    np.cumsum(farther, out=level[1:])
    return order[np.lexsort((ranks[order], level))]


def first_per_row(
    rows: IntArray,
    columns: IntArray,
    squared: FloatArray,
    ranks: IntArray,
    n_rows: int,
    n_neighbors: int,
) -> tuple[IntArray, FloatArray]:
    """Per row its `n_neighbors` nearest candidates, ties by rank; no row has fewer candidates."""
    order = by_distance(rows, squared, ranks[columns])
    starts = np.searchsorted(rows[order], np.arange(n_rows))
    chosen = order[starts[:, None] + np.arange(n_neighbors)]
    return columns[chosen], squared[chosen]


def content_ranks(X: Matrix) -> IntArray:
    """The place of each sample in an order that its values decide, not its row number. O(nd).

    First come the samples farthest from the mean of all. Of samples equally near to a given one,
    the farther from the mean has the larger inner product with it, both taken from the mean: it
    has more in common with it. Distances from the mean change with neither the order, the sign nor
    the zero of the columns. Where they are equal, the samples farther out in the longer tails of
    the columns come first, and then a fixed projection decides, which knows the order of the
    columns. Only equal samples are left in the order of their rows.
    """
    level = np.zeros(X.shape[0], dtype=np.intp)
    order = np.arange(X.shape[0])
    for key, rounding in _keys(X):
        order = np.lexsort((-key, level))
        higher = key[order[:-1]] - key[order[1:]] > np.maximum(
            rounding[order[:-1]], rounding[order[1:]]
        )
        level[order[1:]] = np.cumsum(higher | (np.diff(level[order]) > 0))
        level[order[:1]] = 0
        if level.max(initial=0) == len(level) - 1:
            break
    ranks = np.empty(len(level), dtype=np.intp)
    ranks[np.argsort(level, kind="stable")] = np.arange(len(level))
    return ranks


def _keys(X: Matrix) -> Iterator[tuple[FloatArray, FloatArray]]:
    """The numbers that order the samples, larger first, and what may be rounding in them."""
    mean = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
    zero = np.zeros_like(mean)
    radii, squared_norms = _radii(X, mean), _radii(X, zero)
    mean_square = squared_norms.mean()
    # The mean is a sum of numbers of that size: it may be off by so much.
    offset = ROUNDING * np.sqrt(mean_square)
    errors = TIE * np.sqrt(radii) + offset
    tolerance = errors * (2 * np.sqrt(radii) + errors)
    yield radii, tolerance + (ROUNDING * mean_square if is_sparse(X) else 0)
    tails = _tails(X, mean)
    yield _projections(X, mean, tails), np.linalg.norm(tails) * errors
    direction = np.random.default_rng(0).standard_normal(len(mean))
    errors = TIE * np.sqrt(squared_norms)
    yield _projections(X, zero, direction), np.linalg.norm(direction) * errors


def _projections(X: Matrix, centre: FloatArray, direction: FloatArray) -> FloatArray:
    """Inner products of the samples, taken from the centre, with a direction."""
    if is_sparse(X):
        return np.asarray(X @ direction - centre @ direction)
    projections = np.empty(X.shape[0])
    for rows in row_blocks(*X.shape):
        projections[rows] = (X[rows] - centre) @ direction
    return projections


def _radii(X: Matrix, mean: FloatArray) -> FloatArray:
    """Squared distances of the samples from the mean."""
    if is_sparse(X):
        at_zero = mean[X.indices] ** 2
        more = (X.data - mean[X.indices]) ** 2 - at_zero
        stored = sp.csr_array((more, X.indices, X.indptr), shape=X.shape)
        return (stored.sum(axis=1) + mean @ mean).clip(min=0)
    radii = np.empty(X.shape[0])
    for rows in row_blocks(*X.shape):
        radii[rows] = squared_row_norms(X[rows] - mean)
    return radii


def _tails(X: Matrix, mean: FloatArray) -> FloatArray:
    """Third central moments of the columns, in some unit; 0 where they may be rounding."""
    n_samples, n_features = X.shape
    unit = max(float(X.max()), -float(X.min())) or 1.0  # cubes would leave the range of floats
    if is_sparse(X):
        centre = mean[X.indices] / unit
        cubes = (X.data / unit - centre) ** 3
        at_zero = (mean / unit) ** 3
        zeros = n_samples - np.bincount(X.indices, minlength=n_features)
        signed = np.bincount(X.indices, cubes, n_features) - zeros * at_zero
        absolute = np.bincount(X.indices, np.abs(cubes), n_features) + zeros * np.abs(at_zero)
    else:
        signed, absolute = np.zeros((2, n_features))
        for rows in row_blocks(n_samples, n_features):
            deviations = (X[rows] - mean) / unit
            cubes = deviations * deviations * deviations  # a power is many times slower
            signed += cubes.sum(axis=0)
            absolute += np.abs(cubes).sum(axis=0)
    return np.where(np.abs(signed) > SKEWED * absolute, signed / n_samples, 0)
