"""What a selection loses of the table, beside random subsets of the same size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from tamis._typing import FloatArray
from tamis.evidence._sample import Sample
from tamis.evidence._selection import Selection
from tamis.evidence._views import centred_gram, column_blocks

NEIGHBORS = 10
# Penalties tried for the held-out reconstruction, per row learned from.
RIDGES = np.logspace(-3, 2, 11)
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
        Share of the total variance that a linear regression on the chosen columns explains.
    neighbors : Measure
        Share of each row's nearest neighbours that are still its nearest in the chosen columns.
    reconstruction : Measure
        Error of standardised columns of held-out rows, predicted from the chosen columns by a
        ridge regression (its penalty from generalised cross-validation), as a share of the error
        of predicting their mean.
    n_neighbors : int
    saturated : bool
        Whether there are as many chosen columns as rows, so that any subset explains everything.
    gram, kept_gram : ndarray of shape (n_rows, n_rows)
        Inner products of the centred rows, in all columns and in the selected ones.
    """

    variance: Measure
    neighbors: Measure
    reconstruction: Measure
    n_neighbors: int
    saturated: bool
    gram: FloatArray
    kept_gram: FloatArray


def measure_loss(selection: Selection, sample: Sample) -> Loss:
    """Measure the selection and each random subset of a sample on its rows.

    The table is read in blocks of columns; nothing of size d × d, and nothing dense of the size
    of a sparse table, is formed. O(m²d + s·m·t·min(m, k)) for m rows, k columns,
    s subsets and t predicted columns.
    """
    rows, subsets = sample.rows, sample.subsets
    n_rows = len(rows)
    table = selection.X[rows]
    gram = centred_gram(table)
    kept_gram = centred_gram(selection.columns(rows, selection.kept))
    n_neighbors = min(NEIGHBORS, max(1, (n_rows - 1) // 2))
    truth = _neighbor_mask(gram, n_neighbors)
    projections, overlap = [], np.empty(len(subsets))
    for place, subset in enumerate(subsets):
        chosen = selection.columns(rows, subset)
        found = _neighbor_mask(centred_gram(chosen), n_neighbors)
        overlap[place] = np.count_nonzero(truth & found) / truth.sum()
        projections.append(_Projection(chosen))

    total = spread = 0.0
    explained = np.zeros(len(subsets))
    targets = table if len(sample.targets) == table.shape[1] else table[:, sample.targets]
    for block in column_blocks(targets):
        total += float(np.vdot(block, block))
        explained += [projection.explained(block) for projection in projections]
        block /= _nonzero_deviations(block)
        for train, test in _halves(n_rows):
            spread += float(np.square(block[test] - block[train].mean(axis=0)).sum())
        for projection in projections:
            projection.learn(block)
    error = np.array([projection.error(spread) for projection in projections])
    share = explained / total if total else np.ones(len(subsets))
    relative = np.sqrt(error / spread) if spread else np.zeros(len(subsets))
    return Loss(
        _measure(np.clip(share, 0, 1), True),
        _measure(overlap, True),
        _measure(relative, False),
        n_neighbors,
        len(selection.kept) >= n_rows - 1,
        gram,
        kept_gram,
    )


def _measure(values: FloatArray, larger_is_better: bool) -> Measure:
    return Measure(float(values[0]), values[1:], larger_is_better)


def _nonzero_deviations(centred: FloatArray) -> FloatArray:
    deviations: FloatArray = np.sqrt(np.einsum("ij,ij->j", centred, centred) / len(centred))
    return np.where(deviations > 0, deviations, 1.0)


def _halves(n_rows: int) -> list[tuple[slice, slice]]:
    """Two halves of the rows, each once to learn from and once to judge by."""
    first, second = slice(0, n_rows // 2), slice(n_rows // 2, n_rows)
    return [(first, second), (second, first)]


class _Projection:
    """Predicts any column from the chosen ones, in sample and held out."""

    def __init__(self, chosen: FloatArray) -> None:
        centred = chosen - chosen.mean(axis=0)
        scaled = centred / _nonzero_deviations(centred)
        self._basis = _left_vectors(scaled)[0]
        self._halves = [_HeldOut(scaled, train, test) for train, test in _halves(len(scaled))]

    def explained(self, centred: FloatArray) -> float:
        """Variance of centred columns in the span of the chosen ones."""
        return float(np.square(self._basis.T @ centred).sum())

    def learn(self, block: FloatArray) -> None:
        """Take standardised columns into account."""
        for half in self._halves:
            half.learn(block)

    def error(self, spread: float) -> float:
        """Squared error of the predictions of held-out rows; `spread` is that of the means."""
        return max(0.0, spread - sum(half.gain() for half in self._halves))


class _HeldOut:
    """Ridge regression of any column on the chosen ones, learned from some rows, for others.

    With the thin decomposition Z = U s Vᵀ of the chosen columns in the rows learned from, the
    predictions for other rows T are P C/(s² + λ) with P = T Zᵀ U and C = Uᵀ B. Their squared error
    needs only PᵀB and CCᵀ, summed over blocks of columns B: the penalty λ is chosen afterwards.
    """

    def __init__(self, chosen: FloatArray, train: slice, test: slice) -> None:
        self._train, self._test = train, test
        mean = chosen[train].mean(axis=0)
        Z = chosen[train] - mean
        self._U, lengths = _left_vectors(Z)
        self._squares = lengths**2
        self._shared = (chosen[test] - mean) @ (Z.T @ self._U)
        self._agreement = np.zeros(len(lengths))
        self._products = np.zeros((len(lengths), len(lengths)))
        self._total = 0.0

    def learn(self, block: FloatArray) -> None:
        mean = block[self._train].mean(axis=0)
        coordinates = self._U.T @ block[self._train]  # U is centred: the mean does not count
        self._products += coordinates @ coordinates.T
        # PᵀT − Pᵀ1·mean, without a centred copy of the rows T.
        seen = self._shared.T @ block[self._test]
        seen -= np.outer(self._shared.sum(axis=0), mean)
        self._agreement += np.einsum("ij,ij->i", seen, coordinates)
        train = block[self._train]
        self._total += float(np.vdot(train, train) - len(train) * np.vdot(mean, mean))

    def gain(self) -> float:
        """By how much the squared error is smaller than that of the means."""
        shrunk = 1 / (self._squares + self._penalty())
        size = shrunk @ ((self._shared.T @ self._shared) * self._products) @ shrunk
        return float(2 * shrunk @ self._agreement - size)

    def _penalty(self) -> float:
        """The penalty of least generalised cross-validation error."""
        n_rows, energies = len(self._U), np.diagonal(self._products)
        beyond = max(0.0, self._total - float(energies.sum()))
        errors = []
        for penalty in RIDGES * n_rows:
            left = penalty / (self._squares + penalty)
            freedom = n_rows - 1 - len(left) + left.sum()  # the mean takes one degree
            errors.append((beyond + left**2 @ energies) / max(freedom, 1e-12) ** 2)
        return float(RIDGES[int(np.argmin(errors))] * n_rows)


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
