"""Columns of a table of mixed types, each of which may have become several: one decision each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tamis._typing import BoolArray, FloatArray, IntArray
    from tamis.base import Selector

__all__ = ["SourceRanking", "rank_sources"]


class SourceRanking:
    """Scores, ranks and the choice among the columns of the source.

    Attributes
    ----------
    scores_ : ndarray of shape (n_sources,)
        The root mean square of the scores of what became of a column.
    ranking_ : ndarray of shape (n_sources,)
        1 is the best.
    """

    def __init__(self, scores: FloatArray, number: int) -> None:
        import numpy as np

        self.scores_ = scores
        self.ranking_: IntArray = np.empty(len(scores), dtype=np.intp)
        self.ranking_[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
        self._number = number

    def get_support(self) -> BoolArray:
        """Which columns are kept."""
        kept: BoolArray = self.ranking_ <= self._number
        return kept


def rank_sources(
    model: Selector, groups: Mapping[str, Sequence[str]], number: int | None
) -> SourceRanking:
    """Rank the columns of the source by what a fitted selector says of their outputs.

    Parameters
    ----------
    model : Selector
        Fitted on the outputs, in the order of the groups.
    groups : mapping of str to sequence of str
        The outputs of each column of the source.
    number : int or None
        How many to keep; None takes as many as the outputs lie in that the selector keeps.
    """
    import numpy as np

    sizes = np.array([len(outputs) for outputs in groups.values()])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    if sizes.max() == 1:
        scores = model.scores_
        found = SourceRanking(scores, number or int(model.get_support().sum()))
        found.ranking_ = model.ranking_
        return found
    above = model.scores_ - min(0.0, float(model.scores_.min()))
    scores = np.sqrt(np.add.reduceat(above**2, starts) / sizes)
    touched = np.add.reduceat(model.get_support().astype(int), starts) > 0
    return SourceRanking(scores, int(touched.sum()) if number is None else number)
