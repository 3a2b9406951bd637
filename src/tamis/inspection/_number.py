"""What more columns of a ranking add: held-out loss and groups that repeat, by their number."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tamis._typing import FloatArray, IntArray
from tamis.inspection._group_evidence import measure_groups
from tamis.inspection._loss import Measure, measure_loss
from tamis.inspection._sample import draw_sample
from tamis.inspection._selection import Selection

# Numbers of columns that are tried, beside the chosen one, and rows and random choices for each.
N_COUNTS = 7
MOST_ROWS = 250
N_RANDOM = 5
# Numbers of columns beyond this are not tried unless they are chosen.
MOST_COLUMNS = 200


@dataclass(frozen=True)
class NumberEvidence:
    """How good the best columns of a ranking are, by their number.

    Attributes
    ----------
    counts : ndarray of int
        Numbers of columns, ascending; the chosen one is among them.
    variance : tuple of Measure
        Share of the variance kept in held-out rows, of the best and of random columns.
    groups : tuple of Measure
        Agreement of the groups of two halves of the rows; empty where there are too few rows.
    n_rows : int
        The rows on which it is measured.
    """

    counts: IntArray
    variance: tuple[Measure, ...]
    groups: tuple[Measure, ...]
    n_rows: int


def measure_numbers(selection: Selection, random_state: np.random.RandomState) -> NumberEvidence:
    """Measure the best columns of a ranking for some numbers of them.

    As :func:`measure_loss` and :func:`measure_groups`, on at most 250 rows and beside five random
    choices. Numbers run from 1 to three times the chosen one, evenly on a logarithmic scale.
    """
    order = np.argsort(selection.selector.ranking_, kind="stable")
    order = order[~selection.constant[order]]
    n_kept = len(selection.kept)
    most = min(len(order), max(3 * n_kept, 10), max(n_kept, MOST_COLUMNS))
    counts = np.unique(np.geomspace(1, most, N_COUNTS).round().astype(np.intp))
    counts = np.union1d(counts, [min(n_kept, len(order))])
    variance, groups, n_rows = [], [], 0
    for count in counts:
        best = replace(selection, kept=order[:count])
        sample = draw_sample(best, np.random.RandomState(random_state.randint(2**31)))
        sample = replace(
            sample, rows=sample.rows[:MOST_ROWS], subsets=sample.subsets[: N_RANDOM + 1]
        )
        n_rows = len(sample.rows)
        loss = measure_loss(best, sample)
        variance.append(loss.variance)
        found = measure_groups(best, sample, loss, random_state=random_state)
        if found.repeat is not None:
            groups.append(found.repeat.measure)
    return NumberEvidence(counts, tuple(variance), tuple(groups), n_rows)


def band(measures: tuple[Measure, ...]) -> tuple[FloatArray, FloatArray]:
    """The least and the largest value of the random choices; of all columns, their own."""
    values = [m.random if len(m.random) else np.array([m.selected]) for m in measures]
    return np.array([v.min() for v in values]), np.array([v.max() for v in values])
