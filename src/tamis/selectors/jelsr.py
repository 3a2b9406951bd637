"""JELSR: prefers the columns that rebuild an embedding which is learned to suit them."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from tamis._typing import FloatArray, Matrix, SparseMatrix
from tamis.base import OBJECTIVE, SOLVER
from tamis.distributed import CondensedRows, CondensedTable, Needs
from tamis.graphs import LandmarkGraph, Method, sample_graph
from tamis.selectors._graph import NeighborSelector, local_laplacian
from tamis.selectors._landmark_rows import condensed_by_landmarks, extended_to_rows
from tamis.solvers.embedding_matrix import EmbeddingMatrix
from tamis.solvers.row_norms import PENALTY_SMOOTHING, row_norms, smoothed_norms, smoothing_of
from tamis.solvers.stopping import has_converged
from tamis.solvers.table_operator import TableOperator

# Beside the root mean square of the table a smaller penalty is lost in rounding.
SMALLEST_PENALTY = 1e-9


class JELSR(NeighborSelector):
    r"""Joint embedding learning and sparse regression.

    An embedding Y of the samples that keeps their locally linear structure, and a regression W that
    rebuilds it from few features, are learned together (equation 7, rows are samples here):

    .. math:: \min_{W,\; Y^T Y = I} \mathrm{Tr}(Y^T L Y)
       + \beta\left(\|X W - Y\|^2 + \alpha \|W\|_{2,1}\right),
       \qquad L = (I - S)^T (I - S),

    with X centred and S the weights that rebuild each sample from its neighbours. Features are
    ranked by the norms of the rows of W.

    Cost: the neighbour search, then for each iteration O(n²d + n³) for n ≤ d or few samples, else
    O(nd² + d³) once and O(d³ + nd) per Lanczos step; memory O(nd + min(n, d)²). Sparse input is
    centred implicitly and never densified. The smaller side of the table may not exceed 6000.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps half.
    n_components : int, default=5
        m, the dimension of the embedding.
    n_neighbors : int, default=5
        k of the graph, the sample itself not counted.
    neighbors : {"auto", "exact", "approximate", "landmarks"}, default="auto"
        How they are found. "auto" is exact up to about 70,000 samples × 784 columns, and
        approximate beyond where pynndescent is installed. "landmarks" takes another L, for then no
        sample has neighbours of its own: the Laplacian I − W of the landmark graph, see Notes. A
        table that is read in blocks has landmarks in any case.
    alpha : float, default=1.0
        α, the weight of the penalty. It has the unit of X: a table scaled by a constant, with
        `alpha` scaled by it too, has the same embedding and ranking. The default suits columns of
        unit variance.
    beta : float, default=1.0
        β, the weight of the regression beside the embedding. As β → 0 the embedding forgets the
        features, and JELSR becomes MRSF on the same graph (Theorem 2).
    lle_reg : float, default=1e-3
        Ridge of the reconstruction weights, as a fraction of the trace of the local Gram matrix.
    affinity : {sparse, array-like} of shape (n_samples, n_samples) or None, default=None
        A precomputed symmetric graph, or a LandmarkGraph; L is then its Laplacian D − W.
    max_iter : int, default=200
    tol : float, default=1e-5
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
    coef_ : ndarray of shape (n_features, n_components)
        W.
    embedding_ : ndarray of shape (n_samples, n_components)
        Y, with orthonormal columns.
    objective_ : ndarray of shape (n_iter_,)
        Equation 7 after each iteration; it never rises.
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
    With landmarks L is I − W for ``W = Z diag(Zᵀ1)⁻¹ Zᵀ``, Z the ties of the samples, instead of
    (I − S)ᵀ(I − S): W rebuilds each sample too, by those that share its landmarks. L and X are then
    known by the products of [Z, X], and the same iteration runs on a table of m + d rows with the
    same products, for m landmarks (2000 at most): O(n(d² + md)) once and O((d + m)³), whatever n.
    Of a table that is read in blocks, no row has coordinates: `embedding_` is not set.

    The weights of equation 9 are smoothed, 1/(2 sqrt(‖w‖² + ζ)), and so is the objective, which
    then decreases at every step; ζ is set by the size of the first W. U, which has the unit of X
    too, starts at the root mean square of the centred table: the identity of Table 1 for
    standardised columns, and the same path for a table in any unit. The constant vector is an
    eigenvector of the matrix of equation 16, with eigenvalue β, since X is centred and S sums to
    one. It enters Y only where fewer than m directions can be rebuilt from the features at the
    price α; its column of W is then zero.

    References
    ----------
    C. Hou, F. Nie, D. Yi, Y. Wu. Feature selection via joint embedding learning and sparse
    regression. IJCAI 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tamis import JELSR
    >>> X = StandardScaler().set_output(transform="pandas").fit_transform(
    ...     load_wine(as_frame=True).data
    ... )
    >>> JELSR(n_features_to_select=3, n_components=2).fit(X).get_feature_names_out()
    array(['flavanoids', 'color_intensity', 'proline'], dtype=object)
    """

    _needs: ClassVar[Needs | None] = "joint products"
    _learned: ClassVar[dict[str, Any]] = {
        **OBJECTIVE,
        **SOLVER,
        "coef_": ("n_features", "n_components"),
        "embedding_": ("n_samples", "n_components"),
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NeighborSelector._parameter_constraints,
        "neighbors": [StrOptions({"auto", "exact", "approximate", "landmarks"})],
        "affinity": [None, "array-like", "sparse matrix", LandmarkGraph],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "beta": [Interval(Real, 0, None, closed="neither")],
        "lle_reg": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_components: int = 5,
        n_neighbors: int = 5,
        neighbors: Method = "auto",
        alpha: float = 1.0,
        beta: float = 1.0,
        lle_reg: float = 1e-3,
        affinity: Any = None,
        max_iter: int = 200,
        tol: float = 1e-5,
        n_jobs: int | None = None,
        verbose: bool = False,
        keep: Sequence[str | int] | None = None,
        drop: Sequence[str | int] | None = None,
    ) -> None:
        super().__init__(n_features_to_select, keep=keep, drop=drop)
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.neighbors = neighbors
        self.alpha = alpha
        self.beta = beta
        self.lle_reg = lle_reg
        self.affinity = affinity
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self, n_samples: int) -> None:
        super()._check_parameters(n_samples)
        self._check_at_most("n_components", n_samples, n_samples)

    def _fit(self, X: Matrix | CondensedTable) -> FloatArray:
        """Table 1 of the paper: embedding and regression in turn."""
        condensed, graph = self._condensed(X)
        L: SparseMatrix | FloatArray
        if condensed is not None:
            centred, L = condensed.table, condensed.laplacian
            self._check_directions(len(L))
        else:
            assert not isinstance(X, CondensedTable)
            centred, L = TableOperator.centred(X), local_laplacian(X, graph, self.lle_reg)
        scale = self._scale(centred, X.shape[0])
        T = EmbeddingMatrix(centred, L, self.beta, remedy="use MRSF, or fewer samples")
        U = np.full(X.shape[1], scale)
        Y = None
        smoothing = 0.0
        objective: list[float] = []
        converged = self.tol == 0
        for _ in range(self.max_iter):
            pairs = T.smallest(1 / (self.alpha * U), self.n_components, start=Y)
            Y, W = pairs.solution, pairs.coef
            if smoothing == 0:
                smoothing = smoothing_of(PENALTY_SMOOTHING, float(row_norms(W).max()))
            norms = smoothed_norms(W, smoothing)
            U = 1 / (2 * norms)
            misfit = np.linalg.norm(T.X.times(W) - Y) ** 2
            rough = np.einsum("ij,ij->", Y, L @ Y)
            objective.append(float(rough + self.beta * (misfit + self.alpha * norms.sum())))
            # Only rounding makes the objective rise: the descent ends there, however small `tol`.
            rises = self.tol > 0 and len(objective) > 1 and objective[-1] > objective[-2]
            if rises or has_converged(objective, self.tol):
                converged = True
                break
        self.coef_ = W
        if condensed is None:
            self.embedding_ = Y
        elif not isinstance(X, CondensedTable):
            self.embedding_ = extended_to_rows(pairs, condensed, X, graph, self.beta)
        self.solver_ = pairs.solver
        self._set_path(np.array(objective), converged)
        dearest = 2 * row_norms(centred.transposed_times(pairs.solution)).max()
        if self.alpha > dearest:
            self._warn(
                f"finds no feature worth alpha={self.alpha:g}, so that W is zero and the "
                "scores tell nothing; scale the columns, for example with "
                "sklearn.preprocessing.StandardScaler, or take alpha of the order of their "
                f"standard deviation, {scale:.1g}."
            )
        return row_norms(W)

    def _condensed(self, X: Matrix | CondensedTable) -> tuple[CondensedRows | None, Any]:
        """With landmarks, the rows that stand for all; and the graph, if all rows are at hand."""
        if isinstance(X, CondensedTable):
            return CondensedRows.of(X.gram, self._tie_products(X)), None
        graph: Any
        if self.neighbors == "landmarks" and self.affinity is None:
            graph, self.graph_ = sample_graph(
                X, self.n_neighbors, method="landmarks", n_components=None
            )
            self._warn_of_graph()
        else:
            graph = self._graph_or_neighbors(X)
        if not isinstance(graph, LandmarkGraph):
            return None, graph
        if X.shape[0] <= graph.n_landmarks + X.shape[1]:
            return None, graph.matrix()
        return condensed_by_landmarks(X, graph), graph

    def _check_directions(self, n_directions: int) -> None:
        if self.n_components > n_directions:
            raise ValueError(
                f"n_components={self.n_components} is too large: landmarks and columns have "
                f"{n_directions} directions; use at most so many."
            )

    def _scale(self, X: TableOperator, n_samples: int) -> float:
        """Root mean square of the columns: the unit of U, which is that of X.

        Refuses a penalty that rounding would swallow beside it.
        """
        scale = float(np.sqrt(X.squared_column_norms().sum() / (n_samples * X.shape[1])))
        if self.alpha < SMALLEST_PENALTY * scale:
            raise ValueError(
                f"alpha={self.alpha:g} is lost in the rounding of a table whose standard deviation "
                f"is {scale:.2g}; scale the columns, for example with "
                "sklearn.preprocessing.StandardScaler, or take alpha of the order of "
                f"{scale:.1g}."
            )
        return scale
