"""UDFS: prefers the columns from which a linear map tells neighbouring samples apart best."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval

from tamis._typing import FloatArray, IntArray, Matrix, SparseMatrix
from tamis.base import OBJECTIVE, SOLVER
from tamis.graphs import Method, local_gram, local_sets, neighborhood_blocks
from tamis.selectors._graph import NeighborSelector
from tamis.solvers.l21 import orthonormal_l21
from tamis.solvers.row_norms import row_norms
from tamis.solvers.weighted_gram import WeightedGram

# Rows of W below this are outside its support: far above the smoothing, far below any row that
# carries a share of an orthonormal column.
SUPPORT = 1e-6


class UDFS(NeighborSelector):
    r"""Unsupervised discriminative feature selection: local discrimination with an l2,1 penalty.

    A linear map W sends each sample to c scores. UDFS asks that, in the neighbourhood of every
    sample, these scores separate the samples as well as the local scatter of the features allows,
    and that W uses few features:

    .. math:: \min_{W^T W = I} \mathrm{Tr}(W^T M W) + \gamma \|W\|_{2,1}, \qquad
       M = X^T \Big[\sum_i S_i H (\tilde X_i \tilde X_i^T + \lambda I)^{-1} H S_i^T\Big] X,

    with :math:`\tilde X_i` the centred neighbourhood of sample i (equations 11 to 13, rows are
    samples here). Features are ranked by the norms of the rows of W.

    Cost: the neighbour search and O(nk²d), then for each iteration O(d³) where d ≤ n, or O(n²d)
    where n < d; memory O(nd + min(n, d)²). A d × d matrix is formed only where d ≤ n. Sparse input
    is never densified; where both sides exceed 6000 the systems are solved by conjugate gradients.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps half.
    n_clusters : int, default=5
        c, the number of columns of W; at most one per feature is used.
    n_neighbors : int, default=5
        k, the size of a neighbourhood, the sample itself not counted.
    neighbors : {"auto", "exact", "approximate"}, default="auto"
        How they are found. The method needs each sample's own neighbours, so that landmarks do not
        serve it: "auto" is exact up to about 70,000 samples × 784 columns, and approximate beyond
        where pynndescent is installed.
    gamma : float, default=0.1
        γ, the weight of the penalty. Under WᵀW = I it cannot empty W: a large γ leaves as many
        rows as columns.
    reg : float, default=1.0
        λ, added to the local scatter matrices; it has the unit of a squared distance.
    affinity : {sparse, array-like} of shape (n_samples, n_samples) or None, default=None
        A precomputed symmetric graph: a sample's neighbourhood is then itself and its neighbours
        in the graph, whatever the weights.
    max_iter : int, default=300
    tol : float, default=1e-6
        Relative decrease of the objective at which to stop; 0 runs `max_iter` iterations.
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
        Norms of the rows of W.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    coef_ : ndarray of shape (n_features, n_columns)
        W, with orthonormal columns; zero rows for constant features.
    n_support_ : int
        Rows of W that the penalty has left, above 1e-6.
    objective_ : ndarray of shape (n_iter_,)
        The objective after each iteration; it never rises.
    n_iter_ : int
    solver_ : str
        The eigensolver that was used, and why.
    graph_ : GraphReport
        How the graph was made, why so, and how good it is; see
        :class:`tamis.graphs.GraphReport`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    Where this departs from the paper:

    - The weights of Algorithm 1 are 1/(2 sqrt(‖w‖² + ζ)) with ζ = 1e-16, not 1/(2‖w‖ + ζ): the
      objective, with row norms smoothed alike, then decreases at every step, not just nearly.
    - Constant features leave the problem: they cost nothing in M and would be chosen first.
    - Where M is singular, as it is for n ≤ d, the first step starts from rows of size M_ii^-½, not
      from D = I, whose answer is any basis of the null space of M.
    - Rows outside the support keep an order: they shrink at the pace of their gradient, so that
      among them the row closest to entering the support has the largest norm.

    References
    ----------
    Y. Yang, H. T. Shen, Z. Ma, Z. Huang, X. Zhou. l2,1-norm regularized discriminative feature
    selection for unsupervised learning. IJCAI 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tamis import UDFS
    >>> X = StandardScaler().set_output(transform="pandas").fit_transform(
    ...     load_wine(as_frame=True).data
    ... )
    >>> UDFS(n_features_to_select=3, n_clusters=3).fit(X).get_feature_names_out()
    array(['flavanoids', 'color_intensity', 'od280/od315_of_diluted_wines'],
          dtype=object)
    """

    _learned: ClassVar[dict[str, Any]] = {
        **OBJECTIVE,
        **SOLVER,
        "coef_": ("n_features", "_n_columns"),
        "n_support_": 0,
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NeighborSelector._parameter_constraints,
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "gamma": [Interval(Real, 0, None, closed="neither")],
        "reg": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_clusters: int = 5,
        n_neighbors: int = 5,
        neighbors: Method = "auto",
        gamma: float = 0.1,
        reg: float = 1.0,
        affinity: Any = None,
        max_iter: int = 300,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        verbose: bool = False,
        keep: Sequence[str | int] | None = None,
        drop: Sequence[str | int] | None = None,
    ) -> None:
        super().__init__(n_features_to_select, keep=keep, drop=drop)
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.neighbors = neighbors
        self.gamma = gamma
        self.reg = reg
        self.affinity = affinity
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _n_columns(self, n_samples: int, n_features: int) -> int:
        """Columns of W: one per cluster, as far as there are features."""
        return min(self.n_clusters, max(1, n_features))

    def _fit(self, X: Matrix) -> FloatArray:
        """Algorithm 1 of the paper."""
        neighborhoods = local_sets(self._graph_or_neighbors(X))
        M = WeightedGram(X, local_discriminant_matrix(X, neighborhoods, self.reg))
        solution = orthonormal_l21(
            M, self.gamma, self._n_columns(*X.shape), max_iter=self.max_iter, tol=self.tol
        )
        self.coef_, self.solver_ = np.ascontiguousarray(solution.solution), solution.solver
        self._set_path(solution.objective, solution.converged or self.tol == 0)
        scores = row_norms(self.coef_)
        self.n_support_ = int(np.count_nonzero(scores > SUPPORT))
        self._warn_of_few_rows(self.n_support_, "gamma")
        return scores


def local_discriminant_matrix(
    X: Matrix, neighborhoods: list[tuple[IntArray, IntArray]], reg: float
) -> SparseMatrix:
    """``Σ_i S_i H (X̃_i X̃_iᵀ + λI)⁻¹ H S_iᵀ`` of equation 12: sparse, its rows sum to zero."""
    n_samples = X.shape[0]
    rows, columns, values = [], [], []
    for centres, indices in neighborhoods:
        members = np.column_stack([centres, indices])
        size = members.shape[1]
        rows.append(np.repeat(members, size, axis=1).ravel())
        columns.append(np.tile(members, size).ravel())
        values.append(_local_blocks(X, centres, indices, reg).ravel())
    coordinates = (np.concatenate(rows), np.concatenate(columns))
    return sp.csr_array((np.concatenate(values), coordinates), shape=(n_samples, n_samples))


def _local_blocks(X: Matrix, centres: IntArray, indices: IntArray, reg: float) -> FloatArray:
    """``H (X̃_i X̃_iᵀ + λI)⁻¹ H`` for each neighbourhood, all of one size."""
    n_sets, k = indices.shape
    H = np.eye(k + 1) - 1 / (k + 1)
    blocks = np.empty((n_sets, k + 1, k + 1))
    for some in neighborhood_blocks(X, n_sets, k):
        # Differences to the sample itself do, since H removes the local mean.
        gram = np.zeros((some.stop - some.start, k + 1, k + 1))
        gram[:, 1:, 1:] = local_gram(X, centres[some], indices[some])
        scatter = H @ gram @ H
        # The constant vector is an eigenvector that H removes again: lifted to the size of the
        # others, its 1/λ cannot drown them.
        trace = np.trace(scatter, axis1=1, axis2=2)[:, None, None]
        lifted = scatter + reg * np.eye(k + 1) + trace * (np.eye(k + 1) - H)
        blocks[some] = H @ np.linalg.inv(lifted) @ H
    return blocks
