"""RSR: prefers the columns that a robust regression of the table on itself cannot do without."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval

from tamis._typing import FloatArray, Matrix
from tamis.base import OBJECTIVE, SOLVER, Selector
from tamis.solvers.self_representation import SelfRepresentation
from tamis.solvers.table_operator import TableOperator


class RSR(Selector):
    r"""Regularised self-representation: few columns rebuild all of them.

    Every column of the centred table is a combination of all columns, and only few of them may take
    part in any:

    .. math:: \min_W \|X - X W\|_{2,1} + \lambda \|W\|_{2,1}

    The first norm sums the lengths of the rows of the residual, one per sample, not their squares:
    a sample that nothing rebuilds counts by its distance. Features are ranked by the norms of the
    rows of W. The problem is convex.

    Cost: O(nd² + d³) per step for d ≤ n, O(n²d + n³) for n < d, where W is not formed, and there
    O(n·nnz + n³) for sparse columns; memory O(nd + min(n, d)²). Sparse input is centred implicitly
    and never densified whole. Tables with more than 6000 of both samples and features are refused.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps half.
    alpha : float, default=0.2
        The penalty λ, as a fraction in (0, 1] of the smallest that makes W zero: free of the scale
        of the data. As it falls, W approaches the identity, which rebuilds everything and ranks
        nothing.
    max_iter : int, default=500
        Steps of the descent at most.
    tol : float, default=1e-6
        The descent stops when the objective falls by no more than this, relative, in each of
        three steps. 0 runs `max_iter` steps.
    keep : list of str or int, or None, default=None
        Columns that are always selected, by name, pattern ("id_*") or index. They come first; the
        others are ranked as without them, since the method does not choose given some.
    drop : list of str or int, or None, default=None
        Columns that are not looked at and never selected.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Norms of the rows of W. Those that the penalty empties, below 1e-8, keep an order: the
        closest to entering is the largest.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    penalty_ : float
        λ of the formula.
    objective_ : ndarray of shape (n_iter_,)
        The objective after each step; it never rises.
    n_iter_ : int
    solver_ : str
        The system that was solved, and why.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    Where this departs from the paper:

    - The table is centred. Without it the mean of a column is what a row of W rebuilds best, and an
      offset, such as another zero of a thermometer, changes the ranking.
    - The penalty is a fraction of the one that empties W. The paper's λ, of which it tells a grid
      only, means another thing in every unit and for every number of samples; `penalty_` is it.
    - Both norms are smoothed, sqrt(‖·‖² + ζ): that of a row of W at 1e-8, that of a residual at a
      hundredth of the mean row of the table. The reweighting of the paper's Algorithm 1, with these
      weights, then descends on the objective exactly, where a guard against division by zero that
      is added to the weights alone does not.
    - A step starts ahead of the last W, by Nesterov's momentum, and is done anew without it where
      the objective would rise.
    - For n < d its d × d system is solved as one of n × n, which is equal and not singular.

    References
    ----------
    P. Zhu, W. Zuo, L. Zhang, Q. Hu, S. C. K. Shiu. Unsupervised feature selection by regularized
    self-representation. Pattern Recognition 48 (2015).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tamis import RSR
    >>> X = StandardScaler().set_output(transform="pandas").fit_transform(
    ...     load_wine(as_frame=True).data
    ... )
    >>> RSR(n_features_to_select=3).fit(X).get_feature_names_out()
    array(['malic_acid', 'magnesium', 'nonflavanoid_phenols'], dtype=object)
    """

    _learned: ClassVar[dict[str, Any]] = {**OBJECTIVE, **SOLVER, "penalty_": 0.0}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Selector._parameter_constraints,
        "alpha": [Interval(Real, 0, 1, closed="right")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        alpha: float = 0.2,
        max_iter: int = 500,
        tol: float = 1e-6,
        keep: Sequence[str | int] | None = None,
        drop: Sequence[str | int] | None = None,
    ) -> None:
        super().__init__(n_features_to_select, keep=keep, drop=drop)
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol

    def _fit(self, X: Matrix) -> FloatArray:
        problem = SelfRepresentation(
            TableOperator.centred(X), remedy="use ColumnSubset, or fewer samples"
        )
        self.penalty_ = self.alpha * problem.largest_penalty
        found = problem.minimise(self.penalty_, max_iter=self.max_iter, tol=self.tol)
        self.solver_ = found.solver
        self._set_path(found.objective, found.converged)
        return found.solution
