"""The rows on which a selection is measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tamis._typing import IntArray
from tamis.evidence._selection import Selection

MOST_ROWS = 1000
FEWEST_ROWS = 100
MOST_TARGETS = 10_000
N_RANDOM = 20
# Multiplications that all the measures together may take: some seconds of one core.
MOST_WORK = 3e10


@dataclass(frozen=True)
class Sample:
    """Rows in random order, and the column subsets that are compared on them.

    Attributes
    ----------
    rows : ndarray of int
    subsets : tuple of ndarray of int
        The selection, then random subsets of the same size. None of the latter where every
        subset of that size would be the same.
    targets : ndarray of int
        The columns that are predicted from the chosen ones: all of them, or a random part.
    n_samples : int
        The rows that there are.
    """

    rows: IntArray
    subsets: tuple[IntArray, ...]
    targets: IntArray
    n_samples: int

    @property
    def is_partial(self) -> bool:
        """Whether rows were left out."""
        return len(self.rows) < self.n_samples


def draw_sample(selection: Selection, random_state: np.random.RandomState) -> Sample:
    """Draw rows, as many as can be afforded, and random subsets to compare with.

    The subsets hold no constant column as long as there are enough others: a subset that wastes
    places on constants would be too easy to beat.
    """
    n_samples, n_features = selection.X.shape
    n_kept = len(selection.kept)
    rows = random_state.permutation(n_samples)[: _affordable(n_samples, n_features, n_kept)]
    informative = np.flatnonzero(~selection.constant)
    if len(informative) < n_kept:
        informative = np.arange(n_features)
    n_random = N_RANDOM if n_kept < len(informative) else 0
    random = [
        np.sort(random_state.choice(informative, n_kept, replace=False)) for _ in range(n_random)
    ]
    targets = np.arange(n_features)
    if n_features > MOST_TARGETS:
        targets = np.sort(random_state.choice(n_features, MOST_TARGETS, replace=False))
    return Sample(rows, (selection.kept, *random), targets, n_samples)


def _affordable(n_samples: int, n_features: int, n_kept: int) -> int:
    n_rows = min(n_samples, MOST_ROWS)

    def work(n: int) -> float:
        rank = min(n, n_kept)
        regressions = 4.0 * rank * min(n_features, MOST_TARGETS) + 3 * rank * rank
        return n * n * n_features + (N_RANDOM + 1) * n * (regressions + 3 * n * n_kept)

    while n_rows > FEWEST_ROWS and work(n_rows) > MOST_WORK:
        n_rows = max(FEWEST_ROWS, n_rows * 4 // 5)
    return n_rows
