"""Columns of a table of mixed types, each of which may have become several: one decision each."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tamis import GroupedSelector
    from tamis._typing import BoolArray, FloatArray, IntArray
    from tamis.base import Selector
    from tamis.cli._mixed import Mixed
    from tamis.cli._preparation import Prepared

__all__ = ["SourceRanking", "grouped", "level_groups"]


class SourceRanking:
    """Scores, ranks and the choice among the columns of the source.

    Attributes
    ----------
    scores_ : ndarray of shape (n_sources,)
        The root mean square of the scores of what became of a column.
    ranking_ : ndarray of shape (n_sources,)
        1 is the best.
    """

    def __init__(self, fitted: GroupedSelector) -> None:
        self.scores_: FloatArray = fitted.group_scores_
        self.ranking_: IntArray = fitted.group_ranking_
        support = fitted.get_support()
        self._number = sum(bool(support[columns[0]]) for columns in fitted.groups_.values())

    def get_support(self) -> BoolArray:
        """Which columns are kept."""
        kept: BoolArray = self.ranking_ <= self._number
        return kept


def grouped(model: Selector, mixed: Mixed, number: int | None) -> GroupedSelector:
    """A selector that keeps or drops together what was made of one column of the source.

    Parameters
    ----------
    model : Selector
    mixed : Mixed
    number : int or None
        How many columns of the source to keep; None leaves that to the selector.
    """
    from tamis import GroupedSelector

    groups, start = {}, 0
    for name, outputs in mixed.preparation.groups_.items():
        groups[name] = list(range(start, start + len(outputs)))
        start += len(outputs)
    return GroupedSelector(model, groups, n_features_to_select=number)


def level_groups(prepared: Prepared, mixed: Mixed) -> None:
    """Scale what was made of one column so that together it counts as one."""
    import numpy as np

    if prepared.scaling == "none":
        return
    sizes = np.array([len(made) for made in mixed.preparation.groups_.values()])
    if sizes.max() > 1:
        prepared.X = prepared.X / np.sqrt(np.repeat(sizes, sizes))
