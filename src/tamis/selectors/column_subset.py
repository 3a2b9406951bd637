"""Column subset selection: prefers the columns from which all others are best rebuilt."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import Interval

from tamis._typing import BoolArray, FloatArray, Matrix
from tamis.base import OBJECTIVE, Selector
from tamis.solvers.column_subset import column_subset
from tamis.solvers.table_operator import TableOperator
from tamis.utils.columns import extent, varying_columns
from tamis.utils.messages import describe_columns
from tamis.utils.named_columns import column_mask


class ColumnSubset(Selector):
    r"""Keep the columns from which all others are best rebuilt by linear regression.

    Chooses the set S of k columns with the largest

    .. math:: \|P_S X\|_F^2 = \|X\|_F^2 - \min_B \|X - X_S B\|_F^2

    of the centred table X, where P_S projects on the span of the columns in S: the sum, over all
    columns, of the variance that a linear regression on the chosen ones explains. One column after
    the other is chosen that adds most to those before it. Then each is exchanged for a better one,
    if there is any given the others, until no exchange of one column rebuilds more. A copy of a
    chosen column adds nothing, and comes after all columns that add something.

    Cost: the covariance, O(nd²), and O(d²) for each column that is chosen or that an exchange is
    tried for, where d ≤ n; O(n²d) and O(nd) where n < d, and nothing d × d. With `swaps=False` all
    columns that add something are ordered, up to min(n, d). Sparse input is centred implicitly and
    never densified; with more than 6000 of both samples and features nothing square is formed, and
    O(nnz·d) comes before the first column.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        k: number or fraction of features to keep; None keeps half. With exchanges it is part of
        the objective: after a change, `fit` again. With `swaps=False` it needs no new `fit`.
    swaps : bool, default=True
        Whether to exchange columns after the greedy choice. Without, the columns for k are among
        those for k + 1.
    keep : sequence of str or int, or None, default=None
        Columns, by name or by index, that are always selected. The others are chosen given them.
    drop : sequence of str or int, or None, default=None
        Columns, by name or by index, that are left out: they are neither selected nor rebuilt.
    max_iter : int, default=100
        Passes over the columns at most, of which the first is the greedy choice.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Of a selected feature the share of the variance that the features chosen before it do not
        rebuild, and 1 more if it is one to keep; of another the share that it would rebuild beyond
        the selected ones; below all of these, features that add nothing, by the share that each
        rebuilds alone.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    order_ : ndarray of int
        The features in the order of their choice, those to keep first; with exchanges, in the
        order in which each of the final features adds most. It ends early where they rebuild all.
    explained_variance_ : ndarray of shape (len(order_),)
        The share of the variance of all features that the first 1, 2, … features of `order_`
        rebuild.
    n_swaps_ : int
        How many exchanges were made.
    objective_ : ndarray of shape (n_iter_,)
        The share of the variance that is not rebuilt after the greedy choice, and after each pass
        of exchanges; it never rises.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    The greedy choice is that of [1]_, from the covariance or from products with the table; where
    its recursive formulas have lost digits, the columns that could be the best are computed anew.
    An exchange takes a column out and puts the best one in its place, as in [2]_, by the same
    formulas and without a new regression. A column of which the chosen ones explain all but 1e-10
    counts as a combination of them.

    Variances are compared as they are: standardise columns of different units.

    References
    ----------
    .. [1] A. K. Farahat, A. Ghodsi, M. S. Kamel. Efficient greedy feature selection for
       unsupervised learning. Knowledge and Information Systems 35 (2013).
    .. [2] B. Ordozgoiti, S. Gómez Canaval, A. Mozo. Iterative column subset selection. Knowledge
       and Information Systems 54 (2018).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tamis import ColumnSubset
    >>> X = StandardScaler().set_output(transform="pandas").fit_transform(
    ...     load_wine(as_frame=True).data
    ... )
    >>> selector = ColumnSubset(n_features_to_select=3).fit(X)
    >>> selector.get_feature_names_out()
    array(['alcalinity_of_ash', 'flavanoids', 'color_intensity'], dtype=object)
    >>> selector.explained_variance_.round(2)
    array([0.31, 0.46, 0.57])
    """

    _learned: ClassVar[dict[str, Any]] = {
        **OBJECTIVE,
        "order_": ("_n_chosen",),
        "explained_variance_": ("_n_chosen",),
        "n_swaps_": 0,
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Selector._parameter_constraints,
        "swaps": ["boolean"],
        "keep": [None, "array-like"],
        "drop": [None, "array-like"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        swaps: bool = True,
        keep: Sequence[str | int] | None = None,
        drop: Sequence[str | int] | None = None,
        max_iter: int = 100,
    ) -> None:
        super().__init__(n_features_to_select)
        self.swaps = swaps
        self.keep = keep
        self.drop = drop
        self.max_iter = max_iter

    @property
    def _count_is_fitted(self) -> bool:
        return self.swaps

    def _n_chosen(self, n_samples: int, n_features: int) -> int:
        """How many columns add something, at most."""
        return min(n_samples, n_features)

    def _fit(self, X: Matrix) -> FloatArray:
        """The greedy choice of [1]_ and the exchanges of [2]_, of the columns not to drop."""
        kept = self._listed("keep")
        used = ~self._listed("drop")[~self._constant]
        scores = np.zeros(len(used))
        if not used.any():
            self._fit_constants(X.shape[0])
            return scores
        table = varying_columns(X, ~used)
        n_places = self._n_fitted - np.count_nonzero(kept & self._constant)
        lowest, highest = extent(table)
        # Squares of variances are far from the largest and smallest numbers in these units.
        found = column_subset(
            TableOperator.centred(table / (highest - lowest).max()),
            min(n_places, table.shape[1]) if self.swaps else table.shape[1],
            include=np.flatnonzero(kept[~self._constant][used]),
            max_passes=self.max_iter - 1 if self.swaps else 0,
        )
        self.order_ = np.flatnonzero(~self._constant)[used][found.solution]
        self.explained_variance_ = found.explained
        self.n_swaps_ = found.n_swaps
        failure = (
            f"may find better exchanges after max_iter={self.max_iter} passes; raise max_iter."
        )
        self._set_path(found.objective, found.converged, failure)
        scores[used] = found.scores
        return scores

    def _put_back(self, scores: FloatArray) -> Self:
        """Constant columns to keep come before all that were chosen, dropped columns last."""
        super()._put_back(scores)
        kept, dropped = self._listed("keep"), self._listed("drop")
        self.scores_[kept & self._constant] = 2.0
        return self._rank((self._constant & ~kept) + 2 * dropped)

    def _n_selected(self) -> int:
        wanted = super()._n_selected()
        kept, dropped = self._listed("keep"), self._listed("drop")
        n_kept, n_left = np.count_nonzero(kept), np.count_nonzero(~dropped)
        if (kept & dropped).any():
            names = getattr(self, "feature_names_in_", None)
            both = describe_columns(np.flatnonzero(kept & dropped), names)
            raise ValueError(f"keep and drop both list {both}; take it out of one of them.")
        if not n_kept <= wanted <= n_left:
            raise ValueError(
                f"n_features_to_select={self.n_features_to_select} asks for {wanted} features, but "
                f"keep lists {n_kept}, and drop leaves {n_left} to choose from; use a number from "
                f"{max(1, n_kept)} to {n_left}."
            )
        return wanted

    def _listed(self, parameter: str) -> BoolArray:
        """The mask of the columns that `keep` or `drop` lists."""
        names = getattr(self, "feature_names_in_", None)
        return column_mask(getattr(self, parameter), parameter, self.n_features_in_, names)

    def _rank_last(self, dropped: BoolArray) -> Self:
        """Put the dropped columns after all others, constant ones included."""
        best_first = np.lexsort((self.ranking_, dropped))
        self.ranking_[best_first] = np.arange(1, len(dropped) + 1)
        return self
