"""How much the columns of a selection repeat each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tamis._typing import FloatArray, IntArray
from tamis.inspection._sample import Sample
from tamis.inspection._selection import Selection
from tamis.metrics import redundancy

# Columns whose correlations are drawn, and columns that stand for all in the mean.
MOST_DRAWN = 100
MOST_MEANT = 1000


@dataclass(frozen=True)
class Redundancy:
    """Correlations within a selection.

    Attributes
    ----------
    before, after : float
        Mean absolute correlation of all columns that vary, and of the selected ones.
    n_before, n_after : int
        The columns that the means were taken over.
    columns : ndarray of int
        The best of the selected columns.
    correlations : ndarray of shape (len(columns), len(columns))
        Theirs; a constant column correlates with nothing.
    """

    before: float
    after: float
    n_before: int
    n_after: int
    columns: IntArray
    correlations: FloatArray

    def strongest(self, most: int) -> list[tuple[int, int, float]]:
        """The most correlated pairs of columns, strongest first."""
        left, right = np.triu_indices(len(self.columns), k=1)
        values = self.correlations[left, right]
        order = np.argsort(-np.abs(values), kind="stable")[:most]
        return [
            (int(self.columns[left[p]]), int(self.columns[right[p]]), float(values[p]))
            for p in order
        ]


def measure_redundancy(
    selection: Selection, sample: Sample, random_state: np.random.RandomState
) -> Redundancy:
    """Correlate the selected columns, and enough of all columns for their mean.

    O(m·c²) for m rows and c ≤ 1000 columns.
    """
    rows = sample.rows
    everything = _some(np.flatnonzero(~selection.constant), random_state)
    kept = _some(selection.kept, random_state)
    drawn = selection.kept[:MOST_DRAWN]
    centred = selection.columns(rows, drawn)
    centred -= centred.mean(axis=0)
    lengths = np.linalg.norm(centred, axis=0)
    unit = centred / np.where(lengths > 0, lengths, 1.0)
    return Redundancy(
        redundancy(selection.columns(rows, everything)),
        redundancy(selection.columns(rows, kept)),
        len(everything),
        len(kept),
        drawn,
        np.clip(unit.T @ unit, -1, 1),
    )


def _some(columns: IntArray, random_state: np.random.RandomState) -> IntArray:
    if len(columns) <= MOST_MEANT:
        return columns
    return np.sort(random_state.choice(columns, MOST_MEANT, replace=False))
