"""Column subset selection: prefers the columns from which all others are best rebuilt."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from tamis._typing import FloatArray, Matrix
from tamis.base import OBJECTIVE, Keeps, Selector
from tamis.distributed import Needs
from tamis.solvers.column_subset import column_subset
from tamis.solvers.table_operator import TableOperator
from tamis.utils.columns import extent
from tamis.utils.condensed import Condensed


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
        Columns, by name, pattern ("id_*") or index, that are always selected. The
        others are chosen given them.
    drop : sequence of str or int, or None, default=None
        Columns, likewise, that are left out: they are neither selected nor rebuilt.
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

    _keeps: ClassVar[Keeps] = "given"
    _needs: ClassVar[Needs | None] = "products"
    _learned: ClassVar[dict[str, Any]] = {
        **OBJECTIVE,
        "order_": ("_n_chosen",),
        "explained_variance_": ("_n_chosen",),
        "n_swaps_": 0,
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Selector._parameter_constraints,
        "swaps": ["boolean"],
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
        super().__init__(n_features_to_select, keep=keep, drop=drop)
        self.swaps = swaps
        self.max_iter = max_iter

    @property
    def _count_is_fitted(self) -> bool:
        return self.swaps

    def _n_chosen(self, n_samples: int, n_features: int) -> int:
        """How many columns add something, at most."""
        return min(n_samples, n_features)

    def _fit(self, X: Matrix | Condensed) -> FloatArray:
        """The greedy choice of [1]_ and the exchanges of [2]_."""
        n_constant = np.count_nonzero(self._listed("keep") & self._set_aside)
        n_places = min(self._n_fitted - n_constant, X.shape[1])
        lowest, highest = extent(X)
        # Squares of variances are far from the largest and smallest numbers in these units.
        found = column_subset(
            TableOperator.centred(X / (highest - lowest).max()),
            n_places if self.swaps else X.shape[1],
            include=np.flatnonzero(self._kept),
            max_passes=self.max_iter - 1 if self.swaps else 0,
        )
        self.order_ = np.flatnonzero(~self._set_aside)[found.solution]
        self.explained_variance_ = found.explained
        self.n_swaps_ = found.n_swaps
        failure = (
            f"may find better exchanges after max_iter={self.max_iter} passes; raise max_iter."
        )
        self._set_path(found.objective, found.converged, failure)
        return found.scores
