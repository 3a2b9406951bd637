"""A random ranking: the baseline that every comparison needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from tamis._typing import FloatArray, Matrix
from tamis.base import Keeps, Selector


class RandomSubset(Selector):
    """Rank features at random.

    What a method must beat: on tables with many redundant columns a random subset is hard to
    beat, and a comparison without it shows little. Constant features come last here too.

    Cost: O(nd), for the check of the input.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps half.
    random_state : int, RandomState instance or None, default=None
        Pass an int for the same subset on every call.
    keep : list of str or int, or None, default=None
        Columns that are always selected, by name, pattern ("id_*") or index. They come first; the
        others are ranked as without them, since each column is scored by itself.
    drop : list of str or int, or None, default=None
        Columns that are not looked at and never selected.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Uniform in [0, 1).
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import RandomSubset
    >>> X = load_iris().data
    >>> RandomSubset(n_features_to_select=2, random_state=0).fit(X).get_support()
    array([False,  True,  True, False])
    """

    _keeps: ClassVar[Keeps] = "independent"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Selector._parameter_constraints,
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        random_state: int | np.random.RandomState | None = None,
        keep: Sequence[str | int] | None = None,
        drop: Sequence[str | int] | None = None,
    ) -> None:
        super().__init__(n_features_to_select, keep=keep, drop=drop)
        self.random_state = random_state

    def _fit(self, X: Matrix) -> FloatArray:
        # One draw per column of the table: constant columns change nothing for the others.
        scores = check_random_state(self.random_state).rand(self.n_features_in_)
        return scores[~self._set_aside]
