"""What a selection loses of the table, beside random subsets of the same size."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import scipy.linalg

from tamis._typing import FloatArray, IntArray, Matrix
from tamis.inspection._sample import Sample, draw_sample
from tamis.inspection._selection import Choice
from tamis.inspection._views import centred_gram, column_blocks
from tamis.utils.columns import extent

NEIGHBORS = 10
# Penalties tried for the held-out reconstruction, per row learned from.
RIDGES = np.logspace(-6, 3, 19)
# Parts that the rows are cut into, each held out once.
FOLDS = 5
# Eigenvalues of a Gram matrix below this share of the largest are rounding.
NEGLIGIBLE = 1e-10


@dataclass(frozen=True)
class Measure:
    """One figure of the selection, and the same figure of random subsets.

    Attributes
    ----------
    selected : float
    random : ndarray of shape (n_random,)
    larger_is_better : bool
    """

    selected: float
    random: FloatArray
    larger_is_better: bool

    @property
    def n_beaten(self) -> int:
        """How many random subsets are worse, by more than rounding."""
        gain = self.selected - self.random
        return int(np.count_nonzero((gain if self.larger_is_better else -gain) > 1e-9))

    @property
    def percentile(self) -> float | None:
        """Share of random subsets that are worse, ties counted half; None without any."""
        if not len(self.random):
            return None
        ties = np.count_nonzero(np.abs(self.selected - self.random) <= 1e-9)
        return float((self.n_beaten + ties / 2) / len(self.random))


@dataclass(frozen=True)
class Loss:
    """What is kept and lost.

    Attributes
    ----------
    variance : Measure
        Share of the total variance that the chosen columns keep: their own, and of the other
        columns what a regression on the chosen ones predicts in held-out rows. See
        :func:`measure_loss`.
    noise : float
        The share of the selection's own columns: what it would keep of a table whose columns tell
        nothing of each other, such as this one with every column shuffled by itself.
    neighbors : Measure
        Share of each row's nearest neighbours that are still its nearest in the chosen columns.
    reconstruction : Measure
        Error of rebuilding all columns, standardised, of held-out rows from the chosen ones, as a
        share of the error of predicting their mean: the root of the variance not kept.
    n_neighbors : int
    gram, kept_gram : ndarray of shape (n_rows, n_rows)
        Inner products of the centred rows, in all columns and in the selected ones.
    """

    variance: Measure
    noise: float
    neighbors: Measure
    reconstruction: Measure
    n_neighbors: int
    gram: FloatArray
    kept_gram: FloatArray

    @property
    def told(self) -> float:
        """Share of the variance of the other columns that the selected ones predict."""
        rest = 1 - self.noise
        return max(0.0, self.variance.selected - self.noise) / rest if rest > 1e-12 else 0.0


def measure_loss(selection: Choice, sample: Sample) -> Loss:
    """Measure the selection and each random subset of a sample on its rows.

    A chosen column keeps its own variance. Every other column is predicted by a ridge regression
    on the chosen ones, learned from four fifths of the rows and judged on the last fifth, each
    fifth once. One penalty is used for all columns of a fold: the one of least generalised
    cross-validation error in the rows learned from. Predictions that are worse than the means
    keep nothing.

    The table is read in blocks of columns; nothing of size d × d, and nothing dense of the size
    of a sparse table, is formed. O(m²d + s·m·t·min(m, k)) for m rows, k columns,
    s subsets and t predicted columns.
    """
    rows, subsets = sample.rows, sample.subsets
    table = selection.X[rows]
    n_rows, n_features = table.shape
    gram = centred_gram(table)
    kept_gram = centred_gram(selection.columns(rows, selection.kept))
    n_neighbors = min(NEIGHBORS, max(1, (n_rows - 1) // 2))
    truth = _neighbor_mask(gram, n_neighbors)
    total, n_varying = float(np.trace(gram)), np.count_nonzero(~selection.constant)
    folds = _folds(n_rows)
    overlap, own = np.empty(len(subsets)), np.ones((2, len(subsets)))
    regressions, chosen_masks = [], np.zeros((len(subsets), n_features), dtype=bool)
    for place, subset in enumerate(subsets):
        chosen = selection.columns(rows, subset)
        chosen_gram = centred_gram(chosen)
        found = _neighbor_mask(chosen_gram, n_neighbors)
        overlap[place] = np.count_nonzero(truth & found) / truth.sum()
        if total > 0:
            own[0, place] = min(1.0, float(np.trace(chosen_gram)) / total)
        if n_varying:
            own[1, place] = np.count_nonzero(~selection.constant[subset]) / n_varying
        centred = chosen - chosen.mean(axis=0)
        scaled = centred / _nonzero_deviations(centred)
        regressions.append([_HeldOut(scaled, fold) for fold in folds])
        chosen_masks[place, subset] = True

    spread = np.zeros((2, len(subsets)))
    start = 0
    targets = table if len(sample.targets) == n_features else table[:, sample.targets]
    for block in column_blocks(targets):
        others = ~chosen_masks[:, sample.targets[start : start + block.shape[1]]]
        start += block.shape[1]
        # The columns as they are, and standardised.
        weights = np.stack([np.ones(block.shape[1]), _nonzero_deviations(block) ** -2.0])
        energies = np.einsum("ij,ij->j", block, block)
        for place, fold in enumerate(folds):
            test = block[fold]
            n_train = n_rows - len(test)
            mean = -test.sum(axis=0) / n_train  # of the rows learned from: the block is centred
            held_out = np.einsum("ij,ij->j", test, test)
            learned = energies - held_out - n_train * mean**2
            held_out += len(test) * mean**2 - 2 * mean * test.sum(axis=0)
            spread += (weights * held_out) @ others.T
            for one, regression in enumerate(regressions):
                regression[place].learn(block, mean, learned, weights * others[one])
    gain = np.array([[fit.gains() for fit in regression] for regression in regressions])
    told = np.divide(gain.sum(axis=1).T, spread, out=np.zeros_like(spread), where=spread > 0)
    share = own + (1 - own) * np.clip(told, 0, 1)
    return Loss(
        _measure(share[0], True),
        float(own[0, 0]),
        _measure(overlap, True),
        _measure(np.sqrt(1 - share[1]), False),
        n_neighbors,
        gram,
        kept_gram,
    )


def subset_loss(X: Matrix, columns: IntArray, n_kept: int, seed: int) -> Loss:
    """What some columns keep and lose of a table, on rows that are the same for every choice.

    Parameters
    ----------
    X : {ndarray, csr_array} of shape (n_samples, n_features)
    columns : ndarray of int
        The chosen columns.
    n_kept : int
        How many columns are chosen in general: with this number and the seed the rows are fixed,
        also for choices of another size.
    seed : int
    """
    lowest, highest = extent(X)
    any_choice = Choice(X, np.arange(n_kept), lowest == highest)
    sample = draw_sample(any_choice, np.random.RandomState(seed))
    return measure_loss(replace(any_choice, kept=columns), replace(sample, subsets=(columns,)))


def _measure(values: FloatArray, larger_is_better: bool) -> Measure:
    return Measure(float(values[0]), values[1:], larger_is_better)


def _nonzero_deviations(centred: FloatArray) -> FloatArray:
    deviations: FloatArray = np.sqrt(np.einsum("ij,ij->j", centred, centred) / len(centred))
    return np.where(deviations > 0, deviations, 1.0)


def _folds(n_rows: int) -> list[slice]:
    """Parts of the rows, each once to judge by; the sample has them in random order."""
    bounds = np.linspace(0, n_rows, min(FOLDS, n_rows) + 1).astype(int)
    return [slice(int(first), int(last)) for first, last in pairwise(bounds)]


class _HeldOut:
    """Ridge regression of any column on the chosen ones, learned from all rows but a fold.

    With the thin decomposition Z = U s Vᵀ of the chosen columns in the rows learned from, the
    predictions for the other rows T are P C/(s² + λ) with P = T Zᵀ U and C = Uᵀ B. Their squared
    error needs only PᵀB and CCᵀ, summed over blocks of columns B: the penalty λ is chosen
    afterwards. Everything is summed twice, with two weights of the columns.
    """

    def __init__(self, chosen: FloatArray, fold: slice) -> None:
        self._fold = fold
        train = np.ones(len(chosen), dtype=bool)
        train[fold] = False
        self._n_train = int(np.count_nonzero(train))
        mean = chosen[train].mean(axis=0)
        Z = chosen[train] - mean
        U, lengths = _left_vectors(Z)
        self._squares = lengths**2
        self._shared = (chosen[fold] - mean) @ (Z.T @ U)
        # Rows that are not learned from count for nothing: no block has to be cut.
        self._U = np.zeros((len(chosen), len(lengths)))
        self._U[train] = U
        self._agreement = np.zeros((2, len(lengths)))
        self._products = np.zeros((2, len(lengths), len(lengths)))
        self._total = np.zeros(2)

    def learn(
        self, block: FloatArray, mean: FloatArray, learned: FloatArray, weights: FloatArray
    ) -> None:
        """Take columns into account: their means and squares in the rows learned from."""
        coordinates = self._U.T @ block  # U is centred: the mean does not count
        # PᵀT − Pᵀ1·mean, without a centred copy of the rows T.
        seen = self._shared.T @ block[self._fold]
        seen -= np.outer(self._shared.sum(axis=0), mean)
        self._total += weights @ learned
        self._agreement += weights @ (seen * coordinates).T
        for products, weight in zip(self._products, weights, strict=True):
            products += (coordinates * weight) @ coordinates.T

    def gains(self) -> list[float]:
        """By how much the squared error is smaller than that of the means, for both weights."""
        metric = self._shared.T @ self._shared
        found = []
        for products, agreement, total in zip(
            self._products, self._agreement, self._total, strict=True
        ):
            shrunk = 1 / (self._squares + self._penalty(np.diagonal(products), float(total)))
            found.append(float(2 * shrunk @ agreement - shrunk @ (metric * products) @ shrunk))
        return found

    def _penalty(self, energies: FloatArray, total: float) -> float:
        """The penalty of least generalised cross-validation error."""
        beyond = max(0.0, total - float(energies.sum()))
        errors = []
        for penalty in RIDGES * self._n_train:
            left = penalty / (self._squares + penalty)
            freedom = self._n_train - 1 - len(left) + left.sum()  # the mean takes one degree
            errors.append((beyond + left**2 @ energies) / max(freedom, 1e-12) ** 2)
        return float(RIDGES[int(np.argmin(errors))] * self._n_train)


def _left_vectors(Z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Left singular vectors and singular values, without those that are rounding."""
    wide = Z.shape[1] > Z.shape[0]
    values, vectors = scipy.linalg.eigh(Z @ Z.T if wide else Z.T @ Z)
    real = values > NEGLIGIBLE * max(values[-1], np.finfo(np.float64).tiny)
    lengths = np.sqrt(values[real])
    left = vectors[:, real] if wide else Z @ vectors[:, real] / lengths
    return left, lengths


def _neighbor_mask(gram: FloatArray, n_neighbors: int) -> FloatArray:
    """Which rows are among the nearest of each row, itself not counted."""
    norms = np.diagonal(gram)
    squared = norms[:, None] + norms - 2 * gram
    np.fill_diagonal(squared, np.inf)
    nearest = np.argpartition(squared, n_neighbors - 1, axis=1)[:, :n_neighbors]
    mask = np.zeros(gram.shape, dtype=bool)
    np.put_along_axis(mask, nearest, True, axis=1)
    return mask
