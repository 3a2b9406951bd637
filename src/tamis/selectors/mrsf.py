"""MRSF: prefers few columns that together rebuild the spectral embedding of the samples."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from tamis._typing import FloatArray, Matrix
from tamis.base import OBJECTIVE, Keeps
from tamis.distributed import CondensedTable, Needs
from tamis.graphs import Method, Weights
from tamis.selectors._graph import GraphSelector
from tamis.solvers.l21 import l21_regression, largest_penalty
from tamis.solvers.lars import NEWS, least_angle_regression, scores_along_paths
from tamis.solvers.row_norms import row_norms

# Features that are ranked by the path beyond the support, at most.
PATH_LENGTH = 300


class MRSF(GraphSelector):
    r"""Minimum-redundancy spectral feature selection: l2,1 regression of a spectral embedding.

    The c smoothest eigenvectors Y of the sample graph are rebuilt from few features at once:

    .. math:: \min_W \|X W - Y\|^2 + \alpha \|W\|_{2,1}

    with X centred. A feature that repeats another adds nothing to the fit, so that redundant
    features are not kept together. Features are ranked by the norms of the rows of W, and beyond
    its support by where they enter as the penalty falls further. The problem is convex and solved
    to its optimality conditions.

    Cost: the neighbour search, O(nk) per Lanczos step, then O(np² + nd) and coordinate descent at
    O(p²c) per epoch for a working set of p features, and O(nd + dp) for each of up to 300 features
    beyond the support; memory O(nd), or O(nd + dp) for n > d. Sparse input is centred implicitly
    and never densified.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps half.
    n_clusters : int, default=10
        c, the number of leading eigenvectors. The first is constant and tells nothing, so that
        c − 1 are rebuilt. Ten of them clustered better than five on 14 of 19 real tables.
    alpha : float, default=0.4
        The penalty, as a fraction in (0, 1] of the smallest that makes W zero: free of the scale
        of the data. 0.3 to 0.5 serves most tables; smaller values keep more rows.
    n_neighbors : int, default=5
        Neighbours of each sample in the graph, itself not counted.
    neighbors : {"auto", "exact", "approximate", "landmarks"}, default="auto"
        How they are found: one by one, approximately, or by landmarks that stand for the samples.
        "auto" is exact up to about 70,000 samples × 784 columns, and takes landmarks beyond; see
        :func:`tamis.graphs.sample_graph`.
    weights : {"heat", "binary", "cosine"}, default="heat"
        Weights of the edges; see :func:`tamis.graphs.neighbor_graph`.
    bandwidth : float or None, default=None
        Bandwidth of the heat weights; None takes the median distance between neighbours.
    affinity : {sparse, array-like} of shape (n_samples, n_samples) or None, default=None
        A precomputed symmetric graph, used instead of the neighbours of X.
    max_iter : int, default=10000
        Epochs of coordinate descent.
    tol : float, default=1e-6
        Allowed violation of the optimality conditions, as a fraction of the penalty.
    n_jobs : int or None, default=None
        Threads of the neighbour search where it uses a tree.
    verbose : bool, default=False
        Whether to show a progress bar, on a terminal.
    keep : list of str or int, or None, default=None
        Columns that are always selected, by name, pattern ("id_*") or index. The others are chosen
        to rebuild what the kept ones leave of the eigenvectors: a copy of a kept column is not
        chosen next, but may come before other columns once more have entered.
    drop : list of str or int, or None, default=None
        Columns that are not looked at and never selected.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Norms of the rows of W. A feature outside its support has the smallest of them times the
        share of the penalty that is left when it enters; see the notes.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    coef_ : ndarray of shape (n_features, n_targets)
        W.
    embedding_ : ndarray of shape (n_samples, n_targets)
        Y, centred and of unit length.
    penalty_ : float
        α of the formula.
    optimality_ : float
        Largest violation of the optimality conditions, as a fraction of the penalty.
    n_support_ : int
        Rows of W that are not zero.
    objective_ : ndarray
        The objective at W = 0 and after each working set of features.
    n_iter_ : int
    graph_ : GraphReport
        How the graph was made, why so, and how good it is; see
        :class:`tamis.graphs.GraphReport`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    The optimum is found exactly, not by a few reweighting steps, which leave the small rows in an
    order that depends on where they are stopped. Of equal columns the first has the whole row.

    The paper says nothing of features outside the support. Here the path goes on from W by least
    angle steps: all chosen features keep one correlation ``‖xᵀR‖`` with the residual R, half the
    penalty, and the next enters when its own is as large. The ranking does not depend on
    `n_features_to_select`, and every feature that tells something new comes before any of which
    the chosen ones explain all but 1e-4 of the variance, such as a copy. The path ends after 300
    features or with a perfect fit; the rest is ordered by how close it is to entering.

    References
    ----------
    Z. Zhao, L. Wang, H. Liu. Efficient spectral feature selection with minimum redundancy.
    AAAI 2010.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tamis import MRSF
    >>> X = StandardScaler().set_output(transform="pandas").fit_transform(
    ...     load_wine(as_frame=True).data
    ... )
    >>> MRSF(n_features_to_select=3, n_clusters=3).fit(X).get_feature_names_out()
    array(['flavanoids', 'color_intensity', 'proline'], dtype=object)
    """

    _keeps: ClassVar[Keeps] = "given"
    _needs: ClassVar[Needs | None] = "graph"
    _learned: ClassVar[dict[str, Any]] = {
        **OBJECTIVE,
        "coef_": ("n_features", "_n_vectors"),
        "embedding_": ("n_samples", "_n_vectors"),
        "penalty_": 0.0,
        "optimality_": 0.0,
        "n_support_": 0,
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GraphSelector._parameter_constraints,
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "alpha": [Interval(Real, 0, 1, closed="right")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_clusters: int = 10,
        alpha: float = 0.4,
        n_neighbors: int = 5,
        neighbors: Method = "auto",
        weights: Weights = "heat",
        bandwidth: float | None = None,
        affinity: Any = None,
        max_iter: int = 10_000,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        verbose: bool = False,
        keep: Sequence[str | int] | None = None,
        drop: Sequence[str | int] | None = None,
    ) -> None:
        super().__init__(
            n_features_to_select,
            n_neighbors=n_neighbors,
            neighbors=neighbors,
            weights=weights,
            bandwidth=bandwidth,
            affinity=affinity,
            n_jobs=n_jobs,
            verbose=verbose,
            keep=keep,
            drop=drop,
        )
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol

    def _n_vectors(self, n_samples: int, n_features: int) -> int:
        """Centring makes the constant eigenvector zero: c leading ones are c − 1 others."""
        return max(1, self.n_clusters - 1)

    def _fit(self, X: Matrix | CondensedTable) -> FloatArray:
        centred, embedding = self._regression_on_embedding(X, self._n_vectors(*X.shape))
        targets = self._left_to_rebuild(embedding, centred)
        correlation = centred.transposed_times(targets)
        self.penalty_ = self.alpha * largest_penalty(correlation)
        solution = l21_regression(
            centred,
            targets,
            self.penalty_,
            correlation=correlation,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        self.coef_, self.optimality_ = solution.solution, solution.optimality
        self._set_path(solution.objective, solution.converged)
        self.n_support_ = int(np.count_nonzero(self.coef_.any(axis=1)))
        path = least_angle_regression(
            centred, correlation, self.n_support_ + PATH_LENGTH, start=self.coef_, news=NEWS
        )
        return scores_along_paths(row_norms(self.coef_), [path], correlation)
