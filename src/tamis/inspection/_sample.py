"""The rows on which a selection is measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tamis._typing import IntArray
from tamis.inspection._selection import Choice

MOST_ROWS = 1000
FEWEST_ROWS = 100
MOST_TARGETS = 10_000
FEWEST_TARGETS = 1000
N_RANDOM = 20
# Multiplications that all the measures together may take: some seconds of one core.
MOST_WORK = 7e10


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


def draw_sample(selection: Choice, random_state: np.random.RandomState) -> Sample:
    """Draw rows, as many as can be afforded, and random subsets to compare with.

    The subsets hold no constant column as long as there are enough others: a subset that wastes
    places on constants would be too easy to beat.
    """
    n_samples, n_features = selection.X.shape
    n_kept = len(selection.kept)
    n_rows, n_targets = _affordable(n_samples, n_features, n_kept)
    rows = random_state.permutation(n_samples)[:n_rows]
    informative = np.flatnonzero(~selection.constant)
    if len(informative) < n_kept:
        informative = np.arange(n_features)
    n_random = N_RANDOM if n_kept < len(informative) else 0
    random: list[IntArray] = []
    while len(random) < n_random:
        drawn = np.sort(random_state.choice(informative, n_kept, replace=False))
        # Where there are few choices the selection itself may come up; it is no rival.
        if not np.array_equal(drawn, np.sort(selection.kept)):
            random.append(drawn)
    targets = np.arange(n_features)
    if n_targets < n_features:
        targets = np.sort(random_state.choice(n_features, n_targets, replace=False))
    return Sample(rows, (selection.kept, *random), targets, n_samples)


def _affordable(n_samples: int, n_features: int, n_kept: int) -> tuple[int, int]:
    """How many rows to measure on and how many columns to predict.

    Columns are given up first: regressions on the kept columns need rows more than targets.
    """
    n_rows, n_targets = min(n_samples, MOST_ROWS), min(n_features, MOST_TARGETS)

    def work() -> float:
        rank = min(n_rows, n_kept)
        regressions = 10.0 * rank * n_targets + 8.0 * rank * rank + 3.0 * n_rows * n_kept
        return n_rows * (float(n_rows) * n_features + (N_RANDOM + 1) * regressions)

    while work() > MOST_WORK and n_targets > FEWEST_TARGETS:
        n_targets = max(FEWEST_TARGETS, n_targets * 4 // 5)
    while work() > MOST_WORK and n_rows > FEWEST_ROWS:
        n_rows = max(FEWEST_ROWS, n_rows * 4 // 5)
    return n_rows, n_targets
