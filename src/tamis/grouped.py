"""Whole groups of columns, kept or dropped by any selector."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import _fit_context, clone
from sklearn.utils.validation import validate_data

from tamis._typing import BoolArray, FloatArray, IntArray
from tamis.base import Selector
from tamis.utils.column_groups import group_mask, groups_of
from tamis.utils.counts import share_of
from tamis.utils.validation import check_table

__all__ = ["GroupedSelector"]


class GroupedSelector(Selector):
    r"""Keep or drop whole groups of columns, by the scores of any selector.

    The levels of a category, the bands of a sensor or the pixels of a region are one decision. The
    selector scores the columns, and a group g has the score

    .. math:: \sqrt{\frac{1}{|g|} \sum_{j \in g} s_j^2},

    the norm of its columns' scores divided by the root of its size. The norm alone grows with the
    size of a group, so that many poor columns would beat one good one; the root mean square of
    equal scores is that score, whatever the size, and unlike the mean it lets one strong column
    speak for its group. If any score is below zero, all are first counted from the lowest one.

    Cost: that of the selector, and O(nd) to check the table.

    Parameters
    ----------
    selector : Selector
        Scores the columns. Its `keep` and `drop` hold too.
    groups : dict, array-like of shape (n_features,) or None, default=None
        The groups: a dict from the name of each to its columns, by name, pattern ("id_*") or index,
        such as `groups_` of :class:`tamis.preprocessing.Preparation`; or one label per column. A
        column in no group, or of the label None, is a group of its own.
    n_features_to_select : int, float or None, default=None
        How many *groups* to keep: a number, or a fraction in (0, 1]. None takes what the selector
        says, as a number of groups; where the selector finds a number of columns itself, as
        :class:`tamis.Auto` does, all groups in which these lie are kept.
    keep : list of str or int, or None, default=None
        Columns and groups that are always selected, by name or pattern; columns also by index. A
        kept column keeps its group.
    drop : list of str or int, or None, default=None
        Columns and groups that are not looked at and never selected, listed alike. The rest of a
        group stays a group.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The scores of the columns, as the selector gives them; the ranking is by group first.
    ranking_ : ndarray of shape (n_features,)
        1 is the best column of the best group; the columns of a group follow each other. Dropped
        columns come last.
    groups_ : dict
        The indices of the columns of each group, in the order of their first columns.
    group_scores_ : ndarray of shape (n_groups,)
        Larger is better.
    group_ranking_ : ndarray of shape (n_groups,)
        1 is the best group. Groups to keep come first; where the selector finds the number, those
        in which its columns lie follow. Ties are broken by the first column; groups of constants,
        then groups that were dropped whole, come last.
    selector_ : Selector
        The fitted selector.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    The selector is fitted for the same share of the columns as is asked for of the groups, which
    matters to methods whose objective holds the number.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from tamis import MRSF, GroupedSelector
    >>> from sklearn.preprocessing import StandardScaler
    >>> X = load_breast_cancer(as_frame=True).data
    >>> X = StandardScaler().set_output(transform="pandas").fit_transform(X)
    >>> groups = {name: [f"* {name}", f"{name} error"] for name in ("radius", "area", "texture")}
    >>> grouped = GroupedSelector(MRSF(), groups, n_features_to_select=2, keep=["texture"]).fit(X)
    >>> len(grouped.groups_)
    24
    >>> grouped.get_feature_names_out()
    array(['mean texture', 'mean area', 'texture error', 'area error',
           'worst texture', 'worst area'], dtype=object)
    """

    groups_: dict[Hashable, IntArray]
    group_scores_: FloatArray
    group_ranking_: IntArray
    selector_: Selector

    _unit: ClassVar[str] = "groups of columns"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Selector._parameter_constraints,
        "selector": [Selector],
        "groups": [None, dict, "array-like"],
    }

    def __init__(
        self,
        selector: Selector,
        groups: Any = None,
        *,
        n_features_to_select: int | float | None = None,
        keep: Sequence[str | int] | None = None,
        drop: Sequence[str | int] | None = None,
    ) -> None:
        super().__init__(n_features_to_select, keep=keep, drop=drop)
        self.selector = selector
        self.groups = groups

    @property
    def _count_is_fitted(self) -> bool:
        return self.selector._count_is_fitted

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if isinstance(self.selector, Selector):
            tags.input_tags.sparse = self.selector.__sklearn_tags__().input_tags.sparse
        return tags

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Score the columns of X with the selector, and from them the groups.

        Parameters
        ----------
        X : {array-like, sparse, pandas or polars frame} of shape (n_samples, n_features)
        y : None
            Ignored; no selector uses labels.

        Returns
        -------
        self
        """
        if isinstance(self.selector, GroupedSelector):
            raise ValueError("selector is a GroupedSelector; give the selector that it holds.")
        table = check_table(X, estimator=self)
        validate_data(self, X, skip_check_array=True)  # keeps the names and the number of columns
        self._fitted_extent = table.X.shape[0], table.lowest, table.highest
        names = getattr(self, "feature_names_in_", None)
        self.groups_ = groups_of(self.groups, self.n_features_in_, names)
        self._group = np.empty(self.n_features_in_, dtype=np.intp)
        for number, columns in enumerate(self.groups_.values()):
            self._group[columns] = number
        if hasattr(self, "selector_"):
            del self.selector_  # what it found is of another table
        self._n_selected()  # refuses what cannot be, before the fit
        self.selector_ = self._column_selector().fit(X)
        self._n_fitted = self._n_selected()
        self._set_aside = self.selector_._set_aside
        return self._rank_groups()

    def _column_selector(self) -> Selector:
        """The selector, for the columns of the groups that are kept and not dropped."""
        dropped = self._listed("drop")
        kept = self._of_kept_groups() & ~dropped
        selector = clone(self.selector).set_params(
            keep=np.flatnonzero(kept).tolist() or None,
            drop=np.flatnonzero(dropped).tolist() or None,
        )
        if not isinstance(self._asked(), str):
            n_left = int(np.count_nonzero(~dropped))
            share = self._n_wanted() / len(np.unique(self._group[~dropped]))
            n_columns = max(share_of(min(share, 1.0), n_left), int(np.count_nonzero(kept)))
            selector.set_params(n_features_to_select=n_columns)
        return selector

    def _rank_groups(self) -> Self:
        """Score and rank the groups, and the columns by them."""
        self.scores_ = self.selector_.scores_
        dropped = self._listed("drop")
        shifted = self.scores_ - min(0.0, self.scores_[~dropped].min(initial=0.0))
        n_groups = len(self.groups_)
        self.group_scores_ = np.zeros(n_groups)
        last = np.empty(n_groups, dtype=np.intp)
        kept = self._of_kept_groups()
        found = np.zeros(self.n_features_in_, dtype=bool)
        if isinstance(self._asked(), str):  # the number is that of the groups in which these lie
            found = self.selector_.get_support()
        for number, columns in enumerate(self.groups_.values()):
            seen = columns[~dropped[columns]]
            if len(seen):
                self.group_scores_[number] = _root_mean_square(shifted[seen])
            classes = (
                kept[columns[0]],
                found[columns].any(),
                not self._set_aside[columns].all(),
                len(seen),
                True,
            )
            last[number] = next(place for place, holds in enumerate(classes) if holds)
        best_first = np.lexsort((-self.group_scores_, last))
        self.group_ranking_ = _places(best_first)
        self.ranking_ = _places(
            np.lexsort((-self.scores_, self._set_aside, self.group_ranking_[self._group], dropped))
        )
        return self

    def _listed(self, parameter: str) -> BoolArray:
        """The columns that `keep` or `drop`, here or of the selector, lists by name or by group."""
        names = getattr(self, "feature_names_in_", None)
        n_features = self.n_features_in_
        mask = np.zeros(n_features, dtype=bool)
        for holder in (self, self.selector):
            listed = getattr(holder, parameter)
            mask |= group_mask(listed, parameter, self.groups_, n_features, names)
        return mask

    def _of_kept_groups(self) -> BoolArray:
        """The columns of the groups in which a column is to be kept."""
        mask: BoolArray = np.isin(self._group, self._group[self._listed("keep")])
        return mask

    def _asked(self) -> Any:
        own = self.n_features_to_select
        return self.selector.n_features_to_select if own is None else own

    def _n_of(self, columns: BoolArray) -> int:
        return len(np.unique(self._group[columns]))

    def _n_wanted(self) -> int:
        if not isinstance(self._asked(), str):
            return super()._n_wanted()
        # The selector finds the number: before it is fitted any that the lists allow will do.
        fitted = hasattr(self, "selector_")
        found = self.selector_.get_support() if fitted else ~self._listed("drop")
        return max(self._n_of(found), self._n_of(self._listed("keep")))

    def _get_support_mask(self) -> BoolArray:
        wanted = self._check_number_is_fitted()
        if isinstance(self._asked(), str):
            found = self.selector_.get_support()
            chosen = np.isin(self._group, self._group[found])
        else:
            chosen = self.group_ranking_[self._group] <= wanted
        return chosen & ~self._listed("drop")


def _root_mean_square(scores: FloatArray) -> float:
    """The root mean square, of scores of any size."""
    largest = float(np.abs(scores).max())
    if largest == 0 or not np.isfinite(largest):
        return largest
    return largest * float(np.sqrt(np.mean((scores / largest) ** 2)))


def _places(best_first: IntArray) -> IntArray:
    """The place of each, 1 the first, from the order."""
    places = np.empty(len(best_first), dtype=np.intp)
    places[best_first] = np.arange(1, len(best_first) + 1)
    return places
