"""Where a curve of sorted scores bends."""

from __future__ import annotations

import numpy as np

from tamis._typing import FloatArray
from tamis.base import Selector


def knee_of(selector: Selector) -> int | None:
    """The knee of a fitted selector's scores; constant columns, always last, are left out."""
    return knee(selector.scores_[~selector._set_aside])


def knee(scores: FloatArray) -> int | None:
    """How many of the best scores stand before the bend of the sorted curve.

    The bend is the score farthest below the straight line from the best score to the worst, both
    axes scaled to [0, 1]; all the scores before it are counted.

    Parameters
    ----------
    scores : ndarray of shape (n_features,)
        Larger is better, in any order.

    Returns
    -------
    int or None
        None where there is no bend: fewer than three scores, all of them equal, or a curve that
        nowhere falls below the line.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.inspection import knee
    >>> knee(np.array([9.0, 8.5, 8.0, 0.5, 0.4, 0.3, 0.2]))
    3
    >>> knee(np.ones(5)) is None
    True
    """
    falling = np.sort(np.asarray(scores, dtype=np.float64))[::-1]
    if len(falling) < 3 or falling[0] == falling[-1]:
        return None
    # Halved first: the difference of two large scores of opposite sign could overflow.
    heights = (falling / 2 - falling[-1] / 2) / (falling[0] / 2 - falling[-1] / 2)
    below = np.linspace(1, 0, len(falling)) - heights
    bend = int(np.argmax(below))
    return bend if below[bend] > 1e-9 else None
