"""The best division of numbers into two groups around their medians."""

from __future__ import annotations

import numpy as np

from tamis._typing import BoolArray, FloatArray


def upper_of_two(values: FloatArray) -> BoolArray:
    """Which values are in the upper of the two groups that lie closest around their medians.

    The sum of the distances to the medians is the least of all divisions: K-medoids of two groups
    on a line, solved exactly. Equal values stay together; of equally good divisions the one with
    the smallest lower group is taken. Nothing is in the upper group if all values are equal.

    Parameters
    ----------
    values : ndarray of shape (n_values,)

    Returns
    -------
    ndarray of shape (n_values,)

    Notes
    -----
    O(n log n): the divisions of the ordered values, whose costs are differences of their sums.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.clustering import upper_of_two
    >>> upper_of_two(np.array([0.1, 3.0, 0.2, 2.5, 0.0]))
    array([False,  True, False,  True, False])
    """
    ordered = np.sort(values)
    ordered = ordered - ordered[len(ordered) // 2]
    sums = np.concatenate([[0.0], np.cumsum(ordered)])
    first_of_upper = 1 + np.flatnonzero(np.diff(ordered) > 0)
    if len(first_of_upper) == 0:
        return np.zeros(len(values), dtype=bool)
    n = len(ordered)
    costs = _spread(sums, np.zeros_like(first_of_upper), first_of_upper)
    costs += _spread(sums, first_of_upper, np.full_like(first_of_upper, n))
    threshold = np.sort(values)[first_of_upper[np.argmin(costs)]]
    upper: BoolArray = values >= threshold
    return upper


def _spread(sums: FloatArray, start: np.ndarray, stop: np.ndarray) -> FloatArray:
    """Sums of the distances to the median of ordered values, from their cumulative sums."""
    below, above = (start + stop) // 2, (start + stop + 1) // 2
    spread: FloatArray = sums[stop] - sums[above] - (sums[below] - sums[start])
    return spread
