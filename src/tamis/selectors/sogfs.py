"""SOGFS: prefers columns in which a graph of clearly separate groups is smooth."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from tamis._typing import FloatArray, Matrix, SparseMatrix
from tamis.base import OBJECTIVE
from tamis.graphs import (
    CandidateEdges,
    Method,
    laplacian,
    n_components,
    smallest_cut_vectors,
)
from tamis.selectors._graph import NeighborSelector
from tamis.solvers.l21 import orthonormal_l21
from tamis.solvers.refinement import Refinement
from tamis.solvers.row_norms import PENALTY_SMOOTHING, row_norms, smoothed_norms
from tamis.solvers.stopping import has_converged
from tamis.solvers.weighted_gram import WeightedGram

# Reweighting steps of the first projection, and of each later one.
FIRST_STEPS, STEPS = 100, 5
# How often the weight of the structure is doubled at most.
DOUBLINGS = 20
# Rows of W below this are outside its support.
SUPPORT = 1e-6


class SOGFS(NeighborSelector):
    r"""Structured optimal graph feature selection: graph and projection learned together.

    Each sample spreads a weight of one over others that are close to it in a projection that uses
    few features, such that the graph falls into c components:

    .. math:: \min_{S, W} \sum_{ij} \|W^T x_i - W^T x_j\|^2 s_{ij} + \alpha \|S\|^2
       + \gamma \|W\|_{2,1}, \quad W^T W = I, \; S \ge 0, \; S \mathbf{1} = \mathbf{1}, \;
       \mathrm{rank}(L_S) = n - c

    Features are ranked by the norms of the rows of W.

    Cost: the neighbour search, then in each iteration O(nkm) for the graph, a sparse factorization
    for its eigenvectors and O(nd² + d³) for the projection where d ≤ n, O(n²d + n³) where n < d;
    memory O(nd + nk + min(n, d)²). Sparse input is never densified.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps half.
    n_clusters : int, default=5
        c, the components that the graph is to fall into.
    n_components : int or None, default=None
        Columns of W; None takes `n_clusters`.
    n_neighbors : int, default=5
        Neighbours that a sample keeps on the average, itself not counted; three times as many are
        candidates.
    neighbors : {"auto", "exact", "approximate"}, default="auto"
        How they are found. The method needs each sample's own neighbours, so that landmarks do not
        serve it: "auto" is exact up to about 70,000 samples × 784 columns, and approximate beyond
        where pynndescent is installed.
    gamma : float, default=0.03
        γ, in units of the mean roughness of a feature on the first graph: free of the scale of
        the data. At 0.3 and above little more than as many rows of W remain as it has columns.
    affinity : {sparse, array-like} of shape (n_samples, n_samples) or None, default=None
        A precomputed symmetric graph, whose edges are the candidates.
    max_iter : int, default=100
        Iterations for each weight of the structure.
    tol : float, default=1e-4
        Relative decrease of the objective at which an iteration stops; 0 runs `max_iter`.
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
    learned_graph_ : csr_array of shape (n_samples, n_samples)
        (S + Sᵀ)/2; None for a table of constants.
    n_graph_components_ : int
        Components that the graph has.
    alpha_ : float
        α of the formula.
    structure_ : float
        λ, the weight of the structure at the end.
    objective_ : ndarray of shape (n_iter_,)
        The objective with that λ after each iteration; it never rises.
    n_iter_ : int
    graph_ : GraphReport
        How the graph was made, why so, and how good it is; see
        :class:`tamis.graphs.GraphReport`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    As in the paper the rank is a term 2λ Tr(FᵀL_SF) over orthonormal F of c columns, with a λ that
    starts at α and is doubled until the graph has c components. The descent is run to its end for
    each λ, not for one step, so that it has an objective. Where this departs from the paper:

    - α is set once, from the distances in the first projection, and kept; set anew in each
      iteration, from distances that shrink with W, it makes another objective each time.
    - A sample may only be joined with candidates, its nearest in X. Over all samples S would be
      n × n, and the weights of W for d > n could join everything with everything: W can then map
      all samples to one point.
    - γ is a multiple of the mean diagonal of XᵀL_SX, and p = 1 of the paper's l2,p norms is taken.

    References
    ----------
    F. Nie, W. Zhu, X. Li. Unsupervised feature selection with structured graph optimization. AAAI
    2016.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tamis import SOGFS
    >>> X = StandardScaler().set_output(transform="pandas").fit_transform(
    ...     load_wine(as_frame=True).data
    ... )
    >>> SOGFS(n_features_to_select=3, n_clusters=3).fit(X).get_feature_names_out()
    array(['flavanoids', 'color_intensity', 'od280/od315_of_diluted_wines'],
          dtype=object)
    """

    _learned: ClassVar[dict[str, Any]] = {
        **OBJECTIVE,
        "coef_": ("n_features", "_n_columns"),
        "n_support_": 0,
        "learned_graph_": None,
        "n_graph_components_": 0,
        "alpha_": 0.0,
        "structure_": 0.0,
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NeighborSelector._parameter_constraints,
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "n_components": [None, Interval(Integral, 1, None, closed="left")],
        "gamma": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_clusters: int = 5,
        n_components: int | None = None,
        n_neighbors: int = 5,
        neighbors: Method = "auto",
        gamma: float = 0.03,
        affinity: Any = None,
        max_iter: int = 100,
        tol: float = 1e-4,
        n_jobs: int | None = None,
        verbose: bool = False,
        keep: Sequence[str | int] | None = None,
        drop: Sequence[str | int] | None = None,
    ) -> None:
        super().__init__(n_features_to_select, keep=keep, drop=drop)
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.neighbors = neighbors
        self.gamma = gamma
        self.affinity = affinity
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _n_columns(self, n_samples: int, n_features: int) -> int:
        """Columns of W, as far as there are features."""
        return min(self.n_components or self.n_clusters, max(1, n_features))

    def _fit(self, X: Matrix) -> FloatArray:
        model = StructuredGraph(self, X, self._candidates(X))
        for _ in range(DOUBLINGS):
            objective, converged = self._descend(model)
            components = n_components(model.S)
            if components >= self.n_clusters:
                break
            model.structure *= 2
        self.coef_, self.learned_graph_ = np.ascontiguousarray(model.W), model.S
        self.n_graph_components_ = components
        self.alpha_, self.structure_ = model.alpha, model.structure
        self._set_path(np.array(objective), converged)
        scores = row_norms(self.coef_)
        self.n_support_ = int(np.count_nonzero(scores > SUPPORT))
        self._warn_of_few_rows(self.n_support_, "gamma")
        return scores

    def _descend(self, model: StructuredGraph) -> tuple[list[float], bool]:
        """Iterations for one weight of the structure, and whether they have converged."""
        objective: list[float] = []
        converged = self.tol == 0
        for _ in range(self.max_iter):
            model.update()
            objective.append(model.objective())
            if has_converged(objective, self.tol):
                converged = True
                break
        return objective, converged


class StructuredGraph:
    """The blocks of the paper's problem, and an update for each that never raises its objective.

    Parameters
    ----------
    settings : SOGFS
    X : {ndarray, CSR} of shape (n_samples, n_features)
    edges : CandidateEdges
    """

    def __init__(self, settings: SOGFS, X: Matrix, edges: CandidateEdges) -> None:
        self.X, self.edges = X, edges
        self.n_clusters = settings.n_clusters
        far = edges.squared_distances(X)
        ridge = edges.ridge_for(far, settings.n_neighbors)
        self.weights = edges.weights(far, ridge)
        self.S = edges.graph(self.weights)
        self.refinement = Refinement()
        gram = WeightedGram(X, laplacian(self.S))
        self.penalty = settings.gamma * float(gram.diagonal.mean()) or 1.0
        self.W = orthonormal_l21(
            gram,
            self.penalty,
            settings._n_columns(*X.shape),
            max_iter=FIRST_STEPS,
            tol=1e-6,
            refinement=self.refinement,
        ).solution
        near = edges.squared_distances(X @ self.W)
        self.alpha = edges.ridge_for(near, settings.n_neighbors)
        self.structure = self.alpha
        self.F = smallest_cut_vectors(self.S, self.n_clusters)

    def update(self) -> None:
        """S, F and W in turn."""
        near = self.edges.squared_distances(self.X @ self.W)
        apart = self.edges.squared_distances(self.F)
        costs = [one + self.structure * other for one, other in zip(near, apart, strict=True)]
        self.weights = self.edges.weights(costs, self.alpha)
        self.S = self.edges.graph(self.weights)
        self.F = smallest_cut_vectors(self.S, self.n_clusters)
        gram = WeightedGram(self.X, laplacian(self.S))
        # The sum over pairs counts each twice: 2Tr(WᵀXᵀLXW).
        self.W = orthonormal_l21(
            gram,
            self.penalty / 2,
            self.W.shape[1],
            max_iter=STEPS,
            tol=1e-8,
            start=self.W,
            refinement=self.refinement,
        ).solution

    def objective(self) -> float:
        """The objective, with the penalty smoothed and the structure as a term."""
        L = laplacian(self.S)
        rough = 2 * _form(L, self.X @ self.W)
        spread = self.alpha * sum(float((weight**2).sum()) for weight in self.weights)
        structure = 2 * self.structure * _form(L, self.F)
        rows = self.penalty * float(smoothed_norms(self.W, PENALTY_SMOOTHING).sum())
        return rough + spread + structure + rows


def _form(L: SparseMatrix, Y: FloatArray) -> float:
    """``Tr(YᵀLY)``."""
    return float(np.vdot(Y, L @ Y))
