"""RNE: prefers groups of columns that neighbouring samples rebuild together."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval

from tamis._typing import FloatArray, Matrix, SparseMatrix
from tamis.base import OBJECTIVE
from tamis.graphs import Method, Neighbors, degrees, lle_weights
from tamis.selectors._graph import NeighborSelector
from tamis.solvers.l21 import scores_with_order_of_entry
from tamis.solvers.nonnegative_factor import EntryLoss, FactorObjective, nonnegative_factor
from tamis.solvers.row_norms import LOSS_SMOOTHING, row_norms
from tamis.solvers.stopping import has_converged
from tamis.solvers.table_operator import TableOperator
from tamis.utils.blocks import row_blocks

# Steps of the descent between two looks at the objective.
STEPS = 100
# Rows of H below this are outside its support.
SUPPORT = 1e-6


class RNE(NeighborSelector):
    r"""Robust neighbourhood embedding: groups of features that neighbours rebuild together.

    Each sample is rebuilt from its neighbours by the weights S of locally linear embedding. What
    this leaves is to vanish in c groups of features, one per column of H, by absolute values, which
    outliers move little:

    .. math:: \min_{H \ge 0} \|(X - S X) H\|_1 + \tfrac{\alpha}{4} \|H^T H - I\|^2

    The penalty keeps the groups apart and their weights of length one. Features are ranked by the
    norms of the rows of H.

    Cost: the neighbour search, O(nk²d + nk³) for the weights and O(ndc) per step of the descent,
    O(nnz·c) if sparse; memory O(nc + dc) beside the table. Sparse input is never densified.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps half.
    n_components : int or None, default=5
        c, the columns of H. None takes the problem of which this is the relaxation: H has one 1 in
        each column, and the best features are those with the smallest `errors_`.
    alpha : float, default=10.0
        α, where the mean feature has an error of 1 over all samples.
    n_neighbors : int, default=5
        Neighbours that rebuild a sample, itself not counted.
    neighbors : {"auto", "exact", "approximate"}, default="auto"
        How they are found. The method needs each sample's own neighbours, so that landmarks do not
        serve it: "auto" is exact up to about 70,000 samples × 784 columns, and approximate beyond
        where pynndescent is installed.
    lle_reg : float, default=1e-3
        Regularisation of the weights, in units of the trace of the local Gram matrix.
    affinity : {sparse, array-like} of shape (n_samples, n_samples) or None, default=None
        A precomputed symmetric graph: each sample is then rebuilt by the weighted mean of those
        that it is joined with.
    max_iter : int, default=100
        Rounds of 100 steps of the descent at most.
    tol : float, default=1e-3
        The descent stops when a round lowers the objective by no more than this, relative. 0 runs
        `max_iter` rounds.
    n_jobs : int or None, default=None
        Threads of the neighbour search where it uses a tree.
    verbose : bool, default=False
        Whether to show a progress bar, on a terminal.
    keep : list of str or int, or None, default=None
        Columns that are always selected, by name, pattern ("id_*") or index. They come first; the
        others are ranked as without them, since the method does not choose given some.
    drop : list of str or int, or None, default=None
        Columns that are not looked at and never selected.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Norms of the rows of H; below them those that are zero, by their errors. Without H, how far
        the errors are below the largest.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    errors_ : ndarray of shape (n_features,)
        Mean absolute error of each feature, rebuilt from neighbours.
    coef_ : ndarray of shape (n_features, n_columns)
        H; it has no columns where `n_components` is None.
    objective_ : ndarray of shape (n_iter_,)
        The objective after each round, its absolute values smoothed; it never rises. Empty where
        `n_components` is None.
    n_iter_ : int
    graph_ : GraphReport
        How the graph was made, why so, and how good it is; see
        :class:`tamis.graphs.GraphReport`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    The equations are those of the authors' program, which has as many columns as features are to
    be selected, starts from a random H and descends by ADMM with multiplicative steps. Where this
    departs from it:

    - What it relaxes, a choice of m features by an H of zeros and ones, needs no relaxation: it
      falls apart into one sum per feature. `n_components=None` is that solution. The relaxation is
      another problem, whose columns are groups of features with errors that cancel.
    - The descent starts from the c features with the smallest errors and ends no higher, by steps
      of limited-memory BFGS with bounds on smoothed absolute values. The program's answers depend
      on its start.
    - The number of columns is a parameter, so that there is one ranking for all numbers to select.
    - α is for errors with a mean of 1, free of the scale of the data. The program has α = 1000 for
      rows of unit length.

    References
    ----------
    Y. Liu, D. Ye, W. Li, H. Wang, Y. Gao. Robust neighborhood embedding for unsupervised feature
    selection. Knowledge-Based Systems 193 (2020).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tamis import RNE
    >>> X = StandardScaler().set_output(transform="pandas").fit_transform(
    ...     load_wine(as_frame=True).data
    ... )
    >>> RNE(n_features_to_select=3).fit(X).get_feature_names_out()
    array(['total_phenols', 'flavanoids', 'color_intensity'], dtype=object)
    """

    _learned: ClassVar[dict[str, Any]] = {
        **OBJECTIVE,
        "errors_": ("n_features",),
        "coef_": ("n_features", "_n_columns"),
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NeighborSelector._parameter_constraints,
        "n_components": [None, Interval(Integral, 1, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "lle_reg": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_components: int | None = 5,
        alpha: float = 10.0,
        n_neighbors: int = 5,
        neighbors: Method = "auto",
        lle_reg: float = 1e-3,
        affinity: Any = None,
        max_iter: int = 100,
        tol: float = 1e-3,
        n_jobs: int | None = None,
        verbose: bool = False,
        keep: Sequence[str | int] | None = None,
        drop: Sequence[str | int] | None = None,
    ) -> None:
        super().__init__(n_features_to_select, keep=keep, drop=drop)
        self.n_components = n_components
        self.alpha = alpha
        self.n_neighbors = n_neighbors
        self.neighbors = neighbors
        self.lle_reg = lle_reg
        self.affinity = affinity
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _n_columns(self, n_samples: int, n_features: int) -> int:
        """Columns of H, as far as there are features."""
        return min(self.n_components or 0, max(1, n_features))

    def _fit(self, X: Matrix) -> FloatArray:
        left = self._left_by_neighbors(X)
        errors = absolute_errors(left, X)
        self.errors_ = errors / X.shape[0]
        unit = float(errors.mean()) or 1.0
        if self.n_components is None:
            self.coef_ = np.zeros((X.shape[1], 0))
            self._set_path(np.empty(0), converged=True)
            scores: FloatArray = (errors.max() - errors) / unit
            return scores
        self.coef_ = self._relaxed(left, X, errors, unit)
        norms = row_norms(self.coef_)
        nearness = 1 - errors / (2 * errors.max()) if errors.any() else np.ones(len(errors))
        return scores_with_order_of_entry(np.where(norms > SUPPORT, norms, 0), nearness)

    def _left_by_neighbors(self, X: Matrix) -> SparseMatrix:
        """``I − S``: what the neighbours of each sample leave of it."""
        found = self._graph_or_neighbors(X)
        if isinstance(found, Neighbors):
            S = lle_weights(X, reg=self.lle_reg, neighbors=found)
        else:
            degree = degrees(found)
            S = sp.diags_array(1 / np.where(degree > 0, degree, 1)) @ found
            S = S + sp.diags_array((degree == 0).astype(float))  # nobody rebuilds but itself
        return sp.csr_array(sp.eye_array(X.shape[0]) - S)

    def _relaxed(
        self, left: SparseMatrix, X: Matrix, errors: FloatArray, unit: float
    ) -> FloatArray:
        """H ≥ 0, from the features with the smallest errors."""
        n_columns = self._n_columns(*X.shape)
        smoothing = LOSS_SMOOTHING / X.shape[0] ** 2
        loss = EntryLoss(left / unit, TableOperator.centred(X), smoothing)
        problem = FactorObjective(self.alpha / 4, losses=(loss,))
        H = np.zeros((X.shape[1], n_columns))
        H[np.argsort(errors, kind="stable")[:n_columns], np.arange(n_columns)] = 1
        objective: list[float] = []
        converged = self.tol == 0
        for _ in range(self.max_iter):
            found = nonnegative_factor(problem, H, max_iter=STEPS)
            H = found.solution
            objective.append(float(found.objective[-1]))
            if has_converged(objective, self.tol):
                converged = True
                break
        self._set_path(np.array(objective), converged)
        return H


def absolute_errors(left: SparseMatrix, X: Matrix) -> FloatArray:
    """Sums of the absolute values in the columns of ``left @ X``, by blocks of rows. O(nkd)."""
    sums = np.zeros(X.shape[1])
    for rows in row_blocks(*X.shape):
        block: Any = left[rows] @ X
        sums += np.asarray(abs(block).sum(axis=0), dtype=np.float64).ravel()
    return sums
