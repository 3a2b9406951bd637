"""FSASL: prefers columns that keep a structure of the samples which is learned with them."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval

from tamis._typing import FloatArray, Matrix, SparseMatrix
from tamis.base import OBJECTIVE, SOLVER
from tamis.graphs import WEIGHT_SMOOTHING, CandidateEdges, Method, laplacian
from tamis.selectors._graph import NeighborSelector
from tamis.solvers.ratio_trace import scatter_root
from tamis.solvers.refinement import Refinement
from tamis.solvers.row_norms import row_norms
from tamis.solvers.stopping import has_converged
from tamis.solvers.table_operator import TableOperator
from tamis.solvers.weighted_gram import WeightedGram
from tamis.solvers.whitened_l21 import whitened_l21, whitened_norms

# Reweighting steps of the first projection, and of each later step of S and W.
FIRST_STEPS, STEPS = 50, 3
# Rows of W below this fraction of the largest are outside its support: ten times the smoothing.
SUPPORT = 1e-4


class FSASL(NeighborSelector):
    r"""Feature selection with adaptive structure learning: what rebuilds and what joins samples.

    In a projection that uses few features each sample is rebuilt by few others, with weights S, and
    joined with near ones, with probabilities P; both are learned with the projection:

    .. math:: \min_{W, S, P} \|X W - S X W\|^2 + \alpha \|S\|_1
       + \beta \sum_{ij} \left( \|W^T x_i - W^T x_j\|^2 p_{ij} + \mu p_{ij}^2 \right)
       + \gamma \|W\|_{2,1},

    under :math:`W^T X^T X W = I`, with weights of sum one in each row and P ≥ 0. Features are
    ranked by the norms of the rows of W.

    Cost: the neighbour search, then in each iteration O(nk³ + nk²c) for the structure and, for the
    projection, O(nd² + d³) where d ≤ n, O(n²d + n³) where n < d; memory O(nd + nk + min(n, d)²).
    Sparse input is never densified. Tables with more than 6000 of both samples and features are
    refused.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps half.
    n_components : int, default=5
        c, the columns of W.
    n_neighbors : int, default=5
        Neighbours that a sample keeps in P on the average, itself not counted; three times as many
        are candidates for S and P.
    neighbors : {"auto", "exact", "approximate"}, default="auto"
        How they are found. The method needs each sample's own neighbours, so that landmarks do not
        serve it: "auto" is exact up to about 70,000 samples × 784 columns, and approximate beyond
        where pynndescent is installed.
    alpha : float, default=0.1
        α, in units of the mean squared distance between candidates in the first projection.
    beta : float, default=1.0
        β, the weight of the near samples.
    gamma : float, default=0.1
        γ, the penalty on W, for a table brought to a mean variance of 1/n.
    ridge : float, default=0.1
        δ, added to the diagonal of XᵀX, in units of its mean, and (1 + 2β)δ to that of the form
        in W that is minimised: where X tells nothing, W gains nothing.
    affinity : {sparse, array-like} of shape (n_samples, n_samples) or None, default=None
        A precomputed symmetric graph, whose edges are the candidates.
    max_iter : int, default=200
    tol : float, default=1e-4
        Relative decrease of the objective at which the descent stops; 0 runs `max_iter`
        iterations.
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
        W; zero rows for constant features.
    n_support_ : int
        Rows of W that the penalty has left.
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

    - The rows of S sum to one. Without that the mean of the table takes part in what is rebuilt,
      and an offset changes the ranking.
    - A sample is rebuilt by and joined with candidates, its nearest in X, not any sample: S and P
      are n × n in the paper. S is not its l1 regression on all samples, but one on 3k near ones.
    - XᵀX has a ridge, and so has the form that is minimised. For n < d the paper's constraint
      leaves W free in the null space of X, where nothing but the penalty acts; a ridge on XᵀX alone
      would even prefer it, since every sample is there rebuilt at no cost.
    - μ is set once, from the first projection, such that P keeps `n_neighbors` on the average.
    - S and W are found by reweighting with smoothed weights, which descends on the objective.

    References
    ----------
    L. Du, Y.-D. Shen. Unsupervised feature selection with adaptive structure learning. KDD 2015.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tamis import FSASL
    >>> X = StandardScaler().set_output(transform="pandas").fit_transform(
    ...     load_wine(as_frame=True).data
    ... )
    >>> FSASL(n_features_to_select=3, n_components=2).fit(X).get_feature_names_out()
    array(['alcohol', 'color_intensity', 'proline'], dtype=object)
    """

    _learned: ClassVar[dict[str, Any]] = {
        **OBJECTIVE,
        **SOLVER,
        "coef_": ("n_features", "_n_columns"),
        "n_support_": 0,
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NeighborSelector._parameter_constraints,
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "beta": [Interval(Real, 0, None, closed="left")],
        "gamma": [Interval(Real, 0, None, closed="neither")],
        "ridge": [Interval(Real, 0, None, closed="neither")],
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
        alpha: float = 0.1,
        beta: float = 1.0,
        gamma: float = 0.1,
        ridge: float = 0.1,
        affinity: Any = None,
        max_iter: int = 200,
        tol: float = 1e-4,
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
        self.gamma = gamma
        self.ridge = ridge
        self.affinity = affinity
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _n_columns(self, n_samples: int, n_features: int) -> int:
        """Columns of W, as far as there are features."""
        return min(self.n_components, max(1, n_features))

    def _fit(self, X: Matrix) -> FloatArray:
        """Structure and projection in turn."""
        model = AdaptiveStructure(self, X, self._candidates(X))
        objective: list[float] = []
        converged = self.tol == 0
        for _ in range(self.max_iter):
            model.update()
            objective.append(model.objective())
            if has_converged(objective, self.tol):
                converged = True
                break
        self.coef_, self.solver_ = np.ascontiguousarray(model.W), model.solver
        self._set_path(np.array(objective), converged)
        scores = row_norms(self.coef_)
        self.n_support_ = int(np.count_nonzero(scores > SUPPORT * scores.max()))
        self._warn_of_few_rows(self.n_support_, "gamma")
        return scores


class AdaptiveStructure:
    """The blocks of the paper's problem, and an update for each that never raises its objective.

    Parameters
    ----------
    settings : FSASL
    X : {ndarray, CSR} of shape (n_samples, n_features)
    edges : CandidateEdges
    """

    def __init__(self, settings: FSASL, X: Matrix, edges: CandidateEdges) -> None:
        self.settings, self.edges = settings, edges
        table = TableOperator.centred(X, norm=np.sqrt(X.shape[1]))
        # Neither term sees an offset: the stored table, whatever of its mean is left, will do.
        self.X = table.stored
        self.root = scatter_root(table, settings.ridge, remedy="use MRSF, or fewer samples")
        self.floor = settings.ridge * (1 + 2 * settings.beta)
        far = edges.squared_distances(self.X)
        self.P = edges.weights(far, edges.ridge_for(far, settings.n_neighbors))
        self.S = [np.full(cost.shape, 1 / cost.shape[1]) for cost in far]
        self.W: FloatArray | None = None
        self.refinement = Refinement()
        self._project(settings._n_columns(*X.shape), FIRST_STEPS)
        near = edges.squared_distances(self.X @ self.W)
        self.mu = edges.ridge_for(near, settings.n_neighbors)
        mean = np.concatenate([cost.ravel() for cost in near]).mean()
        self.alpha = settings.alpha * float(mean) or 1.0

    def structure(self) -> SparseMatrix:
        """``(I − S)ᵀ(I − S) + 2βL_P``, whose rows sum to zero."""
        remainder = sp.eye_array(self.edges.n_samples) - self.edges.directed(self.S)
        joined = laplacian(self.edges.graph(self.P))
        return sp.csr_array(remainder.T @ remainder + 2 * self.settings.beta * joined)

    def update(self) -> None:
        """S, P and W in turn."""
        assert self.W is not None
        Y = self.X @ self.W
        self.S = self.edges.rebuilding(Y, self.S, self.alpha, STEPS)
        self.P = self.edges.weights(self.edges.squared_distances(Y), self.mu)
        self._project(self.W.shape[1], STEPS)

    def _project(self, n_columns: int, n_steps: int) -> None:
        gram = WeightedGram(self.X, self.structure())
        found = whitened_l21(
            gram,
            self.root,
            self.settings.ridge,
            self.floor,
            self.settings.gamma,
            n_columns,
            start=self.W,
            refinement=self.refinement,
            max_iter=n_steps,
            tol=1e-8,
        )
        self.W, self.solver = found.solution, found.solver

    def objective(self) -> float:
        """The objective, with the absolute values of S and the row norms of W smoothed."""
        assert self.W is not None
        Y = self.X @ self.W
        fit = float(np.vdot(Y, self.structure() @ Y) + self.floor * np.vdot(self.W, self.W))
        sparse = sum(float(np.sqrt(one**2 + WEIGHT_SMOOTHING).sum()) for one in self.S)
        spread = self.mu * sum(float((one**2).sum()) for one in self.P)
        rows = float(whitened_norms(self.W, self.settings.ridge).sum())
        settings = self.settings
        return fit + self.alpha * sparse + settings.beta * spread + settings.gamma * rows
