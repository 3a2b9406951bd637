"""Figures that part only over rounding, and must count as equal wherever they are compared."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tamis._typing import FloatArray

__all__ = ["TOLERANCE", "merge_ties", "not_less"]

#: Sums of the same terms in another order are closer than this; no measure has steps so small.
TOLERANCE = 1e-9


def not_less(first: float, second: float) -> bool:
    """Whether the first is at least the second, but for rounding."""
    return first >= second - TOLERANCE


def merge_ties(values: ArrayLike) -> FloatArray:
    """The values, those that part only over rounding made equal.

    Rounding to some digits would not do: two sums of the same terms may lie on either side of a
    step.

    Parameters
    ----------
    values : array-like of shape (n_values,)
        Without NaN; infinite ones are equal.

    Returns
    -------
    ndarray of shape (n_values,)

    Examples
    --------
    >>> from tamis.evaluation.ties import merge_ties
    >>> merge_ties([0.1 + 0.2, 0.3, 0.5]).tolist()
    [0.3, 0.3, 0.5]
    """
    values = np.asarray(values, dtype=np.float64)
    distinct, places = np.unique(values, return_inverse=True)
    begins = np.diff(distinct, prepend=-np.inf) > TOLERANCE
    return distinct[begins][np.cumsum(begins) - 1][places]
