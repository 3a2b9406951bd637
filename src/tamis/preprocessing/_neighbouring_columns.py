"""Missing values from the columns that are most like theirs, on top of a first guess."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from tamis._typing import BoolArray, FloatArray, IntArray

# How many columns predict one; of few rows fewer, as there is less to learn the weights from.
MOST_NEIGHBOURS = 30
ROWS_PER_NEIGHBOUR = 4
# Neighbours are looked for among all columns, which takes the square of their number.
MOST_COLUMNS = 20_000
# Rows that the correlations are computed from, and the weights.
ROWS_OF_CORRELATIONS, ROWS_OF_WEIGHTS = 256, 4096
# How often the weights are fitted, and how often the gaps are then predicted from one another.
ROUNDS, SWEEPS = 3, 3
# Cells of intermediate results: one megabyte.
BLOCK = 1 << 17


@dataclass(frozen=True)
class NeighbouringColumns:
    """Columns as weighted sums of others, all of them standardised.

    Attributes
    ----------
    targets : ndarray of int of shape (n_targets,)
        The columns that are predicted.
    sources : ndarray of int of shape (n_targets, n_neighbours)
        The columns that each is predicted from.
    weights : ndarray of shape (n_targets, n_neighbours)
    """

    targets: IntArray
    sources: IntArray
    weights: FloatArray

    def refine(self, Z: FloatArray, missing: BoolArray) -> None:
        """Predict the gaps of the targets in place, from known and guessed values beside them.

        A row is filled from itself alone. O(n n_targets n_neighbours).
        """
        n_targets, n_neighbours = self.sources.shape
        columns = np.repeat(np.arange(n_targets), n_neighbours)
        weights = sp.csc_array(
            (self.weights.ravel(), (self.sources.ravel(), columns)), shape=(Z.shape[1], n_targets)
        )
        step = max(1, BLOCK // max(1, Z.shape[1]))
        for start in range(0, len(Z), step):
            rows = slice(start, start + step)
            part, gaps = Z[rows], missing[rows][:, self.targets]
            for _ in range(SWEEPS):
                part[:, self.targets] = np.where(gaps, part @ weights, part[:, self.targets])


def fit_neighbouring_columns(
    Z: FloatArray, missing: BoolArray, unexplained: FloatArray, ridge: float
) -> NeighbouringColumns:
    """Learn every column with gaps from the columns most correlated with it; Z is filled anew.

    A ridge regression per column. What a guess of a gap leaves unexplained counts as variance of
    the guessed column, as in the expectation of its square, so that columns with many gaps weigh
    less. Rounds of regression and prediction follow one another, as in expectation maximisation.
    O(d_gaps (256 d + n k²)) for k neighbours, n up to 4096.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, n_features)
        Standardised columns, their gaps filled with a first guess.
    missing : ndarray of bool of the same shape
    unexplained : ndarray of shape (n_features,)
        The variance of each column around the first guess.
    ridge : float
        In units of a column's variance.
    """
    targets = np.flatnonzero(missing.any(axis=0))
    share = missing.mean(axis=0)
    unexplained = unexplained.copy()
    sources = _most_correlated(Z, targets, share * unexplained)
    for _ in range(ROUNDS):
        weights, left = _weights(Z, targets, sources, share * unexplained, ridge)
        unexplained[targets] = left
        model = NeighbouringColumns(targets, sources, np.round(weights, 5))
        model.refine(Z, missing)
    return model


def _most_correlated(Z: FloatArray, targets: IntArray, doubt: FloatArray) -> IntArray:
    """The columns that correlate most with each target; a doubtful column correlates less."""
    n_samples, n_features = Z.shape
    n_neighbours = min(MOST_NEIGHBOURS, n_samples // ROWS_PER_NEIGHBOUR, n_features - 1)
    sample = Z[_some_rows(n_samples, ROWS_OF_CORRELATIONS)]
    sample = sample / np.sqrt(np.mean(sample**2, axis=0) + doubt + 1e-12)
    sources = np.empty((len(targets), n_neighbours), dtype=np.intp)
    step = max(1, BLOCK // n_features)
    for start in range(0, len(targets), step):
        some = targets[start : start + step]
        likeness = np.abs(sample[:, some].T @ sample)
        likeness[np.arange(len(some)), some] = -1.0
        best = np.argpartition(likeness, -n_neighbours, axis=1)[:, -n_neighbours:]
        sources[start : start + step] = np.sort(best, axis=1)
    return sources


def _weights(
    Z: FloatArray, targets: IntArray, sources: IntArray, doubt: FloatArray, ridge: float
) -> tuple[FloatArray, FloatArray]:
    """Ridge regressions of the targets on their sources, and the variance that each leaves."""
    rows = _some_rows(len(Z), ROWS_OF_WEIGHTS)
    n_samples, n_neighbours = len(rows), sources.shape[1]
    weights = np.empty(sources.shape)
    left = np.empty(len(targets))
    diagonal = np.arange(n_neighbours)
    step = max(1, BLOCK // (n_samples * n_neighbours))
    for start in range(0, len(targets), step):
        block = slice(start, start + step)
        some = targets[block]
        beside = Z.T[sources[block][:, :, None], rows].astype(np.float64, copy=False)
        own = Z.T[some[:, None], rows].astype(np.float64, copy=False)
        grams = beside @ beside.swapaxes(1, 2) / n_samples
        grams[:, diagonal, diagonal] += doubt[sources[block]] + ridge
        products = (beside @ own[:, :, None])[:, :, 0] / n_samples
        weights[block] = np.linalg.solve(grams, products[:, :, None])[:, :, 0]
        variance = np.mean(own**2, axis=1) + doubt[some]
        left[block] = variance - (weights[block] * products).sum(axis=1)
    return weights, np.clip(left, 0.005, 1.0)


def _some_rows(n_samples: int, most: int) -> IntArray:
    """All rows or, of more than `most`, as many drawn at random."""
    return np.sort(np.random.default_rng(0).permutation(n_samples)[:most])
