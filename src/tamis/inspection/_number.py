"""What more columns of a ranking add: held-out loss and groups that repeat, by their number."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tamis._typing import FloatArray, IntArray
from tamis.inspection._group_evidence import measure_repeats
from tamis.inspection._loss import Measure, measure_loss
from tamis.inspection._sample import draw_sample
from tamis.inspection._selection import Selection

# Numbers of columns that are tried, beside the chosen one, and rows and random choices for each.
N_COUNTS = 7
MOST_ROWS = 250
N_RANDOM = 5
N_SPLITS = 2
# Numbers of columns beyond this are not tried unless they are chosen.
MOST_COLUMNS = 200


@dataclass(frozen=True)
class Span:
    """A measure by the number of columns, beside the band of random choices.

    Attributes
    ----------
    selected : ndarray of shape (n_counts,)
        Of the best columns.
    low, high : ndarray of shape (n_counts,)
        The least and the largest of random choices of as many.
    """

    selected: FloatArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, measures: list[Measure]) -> Span:
        """Where every choice is the same there are no random ones, and the band closes."""
        random = [m.random if len(m.random) else np.array([m.selected]) for m in measures]
        return cls(
            np.array([measure.selected for measure in measures]),
            np.array([values.min() for values in random]),
            np.array([values.max() for values in random]),
        )


@dataclass(frozen=True)
class NumberEvidence:
    """How good the best columns of a ranking are, by their number.

    Attributes
    ----------
    counts : ndarray of int
        Numbers of columns, ascending; the chosen one is among them.
    variance : Span
        Share of the variance kept in held-out rows.
    groups : Span or None
        Agreement of the groups of two halves of the rows; None where there are too few rows, or a
        single group.
    n_rows : int
        The rows on which it is measured.
    """

    counts: IntArray
    variance: Span
    groups: Span | None
    n_rows: int


def measure_numbers(
    selection: Selection, n_clusters: int, random_state: np.random.RandomState
) -> NumberEvidence:
    """Measure the best columns of a ranking for some numbers of them.

    As :func:`measure_loss` and :func:`measure_groups`, on at most 250 rows and beside five random
    choices. Numbers run from 1 to three times the chosen one, evenly on a logarithmic scale.

    Parameters
    ----------
    selection : Selection
    n_clusters : int
        The number of groups.
    random_state : RandomState
    """
    order = np.argsort(selection.selector.ranking_, kind="stable")
    order = order[~selection.constant[order]]
    n_kept = min(len(selection.kept), len(order))
    most = min(len(order), max(3 * n_kept, 10), max(n_kept, MOST_COLUMNS))
    counts = np.geomspace(1, most, N_COUNTS).round().astype(np.intp)
    counts = np.union1d(counts, [n_kept])
    seed = int(random_state.randint(2**31))
    variance, groups, n_rows = [], [], 0
    for count in counts:
        best = replace(selection, kept=order[:count])
        drawn = draw_sample(best, np.random.RandomState(seed))
        sample = replace(drawn, rows=drawn.rows[:MOST_ROWS], subsets=drawn.subsets[: N_RANDOM + 1])
        n_rows = len(sample.rows)
        variance.append(measure_loss(best, sample).variance)
        repeat = measure_repeats(best, sample, n_clusters, N_SPLITS, seed)
        if repeat is not None:
            groups.append(repeat)
    return NumberEvidence(counts, Span.of(variance), Span.of(groups) if groups else None, n_rows)
