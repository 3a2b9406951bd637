"""JDLUFS: prefers the columns that rebuild cluster labels, learned with a joint dictionary."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from tamis._typing import FloatArray, IntArray, Matrix, SparseMatrix
from tamis.base import OBJECTIVE
from tamis.clustering import kmeans
from tamis.graphs import Method, Weights, laplacian
from tamis.selectors._atoms import number_of_atoms
from tamis.selectors._graph import EdgeSelector
from tamis.selectors._pseudo_labels import Init, labels_as_factor, pseudo_labels
from tamis.solvers.block_coordinate_descent import block_coordinate_descent
from tamis.solvers.dictionary import (
    dictionary_update,
    ridge_codes,
    sparse_codes,
    squared_error,
    within_unit_ball,
)
from tamis.solvers.nonnegative_factor import (
    FactorObjective,
    departure_from_orthogonality,
    nonnegative_factor,
    roughness,
)
from tamis.solvers.reweighted_regression import ReweightedRegression
from tamis.solvers.row_norms import row_norms
from tamis.solvers.sample_span import SampleSpan
from tamis.solvers.table_operator import TableOperator
from tamis.utils.columns import extent
from tamis.utils.norms import squared_norm

# Steps of each block in an iteration: enough for the blocks to keep pace with each other. Those of
# the labels are a limit: they end where rounding begins.
CODE_STEPS = 20
LABEL_STEPS = 300
REGRESSION_STEPS = 2
# Steps of the regression at the end, so that the small rows of W are in their final order.
LAST_REGRESSION_STEPS = 100
# A table of which no more than this share of the cells differs from the value that their columns
# repeat is multiplied by those cells.
MOST_CELLS = 0.1


class JDLUFS(EdgeSelector):
    r"""Joint dictionary learning: features that rebuild labels which a dictionary shares.

    Samples and their soft cluster labels U are rebuilt from one set of codes A, by two dictionaries
    with atoms of at most unit length, while U varies little along the sample graph and is
    regressed on few features:

    .. math:: \min_{D_x, D_u, A, W, U \ge 0} \|X^T - D_x A\|^2 + \|U^T - D_u A\|^2
       + \beta \|A\|_1 + \alpha \|U - X W - 1 b^T\|^2 + \gamma \mathrm{Tr}(U^T L U)
       + \delta \|W\|_{2,1} + \lambda \|U^T U - I\|^2

    (rows of X are samples here). Features are ranked by the norms of the rows of W.

    The table is divided by the largest range of a column first, so that β, γ and δ mean the same in
    every unit. It is not centred: an offset added to a column is something that the dictionary must
    rebuild, so bring the columns within [0, 1], as :class:`sklearn.preprocessing.MinMaxScaler`
    does. The regression has an intercept b and does not feel the offset.

    Cost: the neighbour search; then for m atoms in each iteration O(nm²) per step of the codes,
    O(min(n, d)m²) per sweep of the atoms, O(ndm) products with X, and O(d³) per step of the
    regression for d ≤ n or O(n²d) for n < d; memory O(nd + nm + min(n, d)²). Sparse input is
    never densified; where both sides exceed 6000 the regression is solved by conjugate gradients.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps half.
    n_clusters : int, default=5
        c, the number of columns of U.
    n_atoms : int or None, default=None
        Size of the dictionary, at most one atom per sample. None takes a fifth of the samples, at
        most 200 and at least one per cluster. Fewer are used where fewer samples are distinct.
    alpha : float, default=1.0
        α, the weight of the regression of U on the features.
    beta : float, default=0.1
        β, the penalty on the codes.
    gamma : float, default=1.0
        γ, the weight of the graph.
    delta : float, default=1.0
        δ, the penalty on W.
    coding : {"l1", "ridge"}, default="l1"
        Penalty on the codes: β‖A‖₁, as the poster's objective has it, or β‖A‖², as its closed-form
        update does.
    orthogonality : float, default=100.0
        λ, the weight of UᵀU = I. The poster's 10⁶ holds U near its first labels; see the
        notes.
    init : {"spectral", "kmeans"}, default="spectral"
        First labels: K-means of the spectral embedding of the graph, or of the table.
    n_neighbors : int, default=5
        Neighbours of each sample in the graph, itself not counted.
    neighbors : {"auto", "exact", "approximate"}, default="auto"
        How they are found. The method needs each sample's own neighbours, so that landmarks do not
        serve it: "auto" is exact up to about 70,000 samples × 784 columns, and approximate beyond
        where pynndescent is installed.
    weights : {"heat", "binary", "cosine"}, default="heat"
        Weights of the edges; see :func:`tamis.graphs.neighbor_graph`.
    bandwidth : float or None, default=None
        Bandwidth of the heat weights; None takes the median distance between neighbours.
    affinity : {sparse, array-like} of shape (n_samples, n_samples) or None, default=None
        A precomputed symmetric graph, used instead of the neighbours of X.
    max_iter : int, default=100
        A fit that has not settled by then warns.
    tol : float, default=1e-4
        A fit stops when the objective falls by no more than this, relative, in each of three
        iterations, and the ranking of the features is that of half as many iterations, but for
        2 % of the best ones, whatever their number. 0 runs `max_iter` iterations.
    random_state : int, RandomState instance or None, default=0
        Seed of the K-means that give the first labels and atoms; None for others on every call.
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
        Norms of the rows of W. Rows outside the support shrink at the pace of their gradient, so
        that the one closest to entering has the largest norm.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    coef_ : ndarray of shape (n_features, n_clusters)
        W; zero rows for constant features.
    intercept_ : ndarray of shape (n_clusters,)
        b.
    dictionary_ : ndarray of shape (n_features, n_atoms)
        The atoms of the samples, a column each; zero rows for constant features.
    label_dictionary_ : ndarray of shape (n_clusters, n_atoms)
        The atoms of the labels.
    codes_ : ndarray of shape (n_atoms, n_samples)
        A.
    embedding_ : ndarray of shape (n_samples, n_clusters)
        U, non-negative.
    labels_ : ndarray of shape (n_samples,)
        The largest entry of each row of U.
    orthogonality_ : float
        ‖UᵀU − I‖.
    scale_ : float
        What the table is divided by; all matrices are those of the divided table.
    objective_ : ndarray of shape (n_iter_,)
        The objective after each iteration; it never rises.
    n_iter_ : int
    graph_ : GraphReport
        How the graph was made, why so, and how good it is; see
        :class:`tamis.graphs.GraphReport`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    Where this departs from the poster:

    - Its codes A = (DxᵀDx + DuᵀDu + βI)⁻¹(…) are those of a ridge penalty, printed with a second
      inverse and with U for Uᵀ; the l1 penalty of its objective is solved by FISTA.
    - Its update of U has neither a root nor a split of AᵀDuᵀ + αXW and L into positive and
      negative parts: it overshoots, and U turns negative. Here U is found by limited-memory BFGS
      with bounds.
    - Atoms are found by block coordinate descent, which needs no step size, not by ADMM.
    - The regression has an intercept: the columns of U are non-negative, and their mean is not for
      the features to explain.
    - Each iteration starts ahead of the last one, by Nesterov's momentum, and is done anew without
      it where the objective would rise.
    - Constant features leave the problem.

    With λ = 10⁶ (Algorithm 1) multiplicative steps, such as the poster's, freeze U at the first
    labels, and the method is an l2,1 regression of those. That is the steps' doing, not the
    objective's: found by BFGS, U moves along UᵀU = I. On 300 digits up to 6 % of the samples then
    change their label, and the scores have a rank correlation of 0.87 to 0.95 with those of that
    regression; with λ = 100 it is 14 to 30 % and 0.76 to 0.89. The first labels still decide much:
    choose `init` and `n_clusters` with care.

    References
    ----------
    Y. Fan, J. Dai, Q. Zhang, S. Liu. Joint dictionary learning for unsupervised feature selection.
    Poster, 2019.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from tamis import JDLUFS
    >>> X = MinMaxScaler().set_output(transform="pandas").fit_transform(
    ...     load_wine(as_frame=True).data
    ... )
    >>> model = JDLUFS(n_features_to_select=3, n_clusters=3, random_state=0).fit(X)
    >>> model.get_feature_names_out()
    array(['alcohol', 'od280/od315_of_diluted_wines', 'proline'], dtype=object)
    """

    _centres: ClassVar[bool] = False
    _learned: ClassVar[dict[str, Any]] = {
        **OBJECTIVE,
        "coef_": ("n_features", "n_clusters"),
        "intercept_": ("n_clusters",),
        "dictionary_": ("n_features", "_n_atoms"),
        "label_dictionary_": ("n_clusters", "_n_atoms"),
        "codes_": ("_n_atoms", "n_samples"),
        "embedding_": ("n_samples", "n_clusters"),
        "labels_": ("n_samples",),
        "orthogonality_": 0.0,
        "scale_": 1.0,
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **EdgeSelector._parameter_constraints,
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "n_atoms": [None, Interval(Integral, 1, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "beta": [Interval(Real, 0, None, closed="neither")],
        "gamma": [Interval(Real, 0, None, closed="left")],
        "delta": [Interval(Real, 0, None, closed="neither")],
        "coding": [StrOptions({"l1", "ridge"})],
        "orthogonality": [Interval(Real, 0, None, closed="left")],
        "init": [StrOptions({"spectral", "kmeans"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_clusters: int = 5,
        n_atoms: int | None = None,
        alpha: float = 1.0,
        beta: float = 0.1,
        gamma: float = 1.0,
        delta: float = 1.0,
        coding: Literal["l1", "ridge"] = "l1",
        orthogonality: float = 100.0,
        init: Init = "spectral",
        n_neighbors: int = 5,
        neighbors: Method = "auto",
        weights: Weights = "heat",
        bandwidth: float | None = None,
        affinity: Any = None,
        max_iter: int = 100,
        tol: float = 1e-4,
        random_state: int | np.random.RandomState | None = 0,
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
        self.n_atoms = n_atoms
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.delta = delta
        self.coding = coding
        self.orthogonality = orthogonality
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _n_atoms(self, n_samples: int, n_features: int) -> int:
        return number_of_atoms(self.n_atoms, n_samples, self.n_clusters)

    def _fit(self, X: Matrix) -> FloatArray:
        """Algorithm 1 of the poster, with sound updates."""
        graph = self._sample_graph(X)
        n_atoms = self._n_atoms(*X.shape)
        X = X.astype(np.float64, copy=False)
        lowest, highest = extent(X)
        self.scale_ = float((highest - lowest).max())
        X = X / self.scale_
        labels = pseudo_labels(X, graph, self.n_clusters, self.init, self.random_state)
        start = kmeans(X, n_atoms, n_init=1, max_iter=10, random_state=self.random_state)
        model = JointModel(self, X, self.gamma * laplacian(graph), labels)
        model.start(within_unit_ball(start.centres.T))

        found = block_coordinate_descent(model, max_iter=self.max_iter, tol=self.tol)
        model = found.solution
        model.update_coef(LAST_REGRESSION_STEPS)
        objective = [*found.objective[:-1], model.objective()]

        self.coef_, self.intercept_ = np.ascontiguousarray(model.W), model.intercept()
        self.dictionary_, self.label_dictionary_ = model.dictionary(), model.Du
        self.codes_ = model.A
        self.embedding_, self.labels_ = model.U, model.U.argmax(axis=1)
        self.orthogonality_ = departure_from_orthogonality(model.U)
        self._set_path(np.array(objective), found.converged)
        return row_norms(self.coef_)


class JointModel:
    """The blocks of the poster's problem, and an update for each that never raises its objective.

    Parameters
    ----------
    settings : JDLUFS
        The weights of the terms, and the coding.
    X : {ndarray, CSR} of shape (n_samples, n_features)
        In float64.
    L : csr_array of shape (n_samples, n_samples)
        γ times the Laplacian.
    labels : ndarray of shape (n_samples,)
        First labels.
    """

    def __init__(self, settings: JDLUFS, X: Matrix, L: SparseMatrix, labels: IntArray) -> None:
        self.settings, self.X, self.L = settings, X, L
        self.span = SampleSpan(TableOperator(X).with_repeats_implicit(MOST_CELLS))
        self.Z = self.span.table
        self.squared_norm = squared_norm(X)
        self.centred = TableOperator.centred(X)
        self.regression = ReweightedRegression(self.centred, settings.delta / settings.alpha)
        self.U = labels_as_factor(labels, settings.n_clusters)

    def start(self, Dx: FloatArray) -> None:
        """Begin with the atoms Dx, no atoms of labels, no codes, and a regression of U.

        The atoms are in the span of the samples, and kept in its coordinates.
        """
        n_atoms = Dx.shape[1]
        self.Dx, self.Du = self.span.of_features(Dx), np.zeros((self.U.shape[1], n_atoms))
        self.A = np.zeros((n_atoms, self.X.shape[0]))
        self.A_gram, self.ZA = np.zeros((n_atoms, n_atoms)), np.zeros_like(self.Dx)
        self.W = self.regression.start(self._centred_labels())
        self.predicted = self.centred.times(self.W)
        self.update_coef()

    def update(self) -> None:
        """Lines 4 to 7 of Algorithm 1."""
        self.update_codes()
        self.update_dictionaries()
        self.update_labels()
        self.update_coef()

    def extrapolate(self, before: JointModel, momentum: float) -> None:
        """Move the dictionaries, the codes and U on; W follows."""
        self.Dx = within_unit_ball(self.Dx + momentum * (self.Dx - before.Dx))
        self.Du = within_unit_ball(self.Du + momentum * (self.Du - before.Du))
        self.A = self.A + momentum * (self.A - before.A)
        self.U = np.maximum(self.U + momentum * (self.U - before.U), 0)

    def scores(self) -> FloatArray:
        """Norms of the rows of W."""
        return row_norms(self.W)

    def dictionary(self) -> FloatArray:
        """The atoms Dx, as vectors of the features."""
        return self.span.to_features(self.Dx)

    def update_codes(self) -> None:
        """Line 4 of Algorithm 1: A."""
        gram = self.Dx.T @ self.Dx + self.Du.T @ self.Du
        correlation = (self.Z.times(self.Dx) + self.U @ self.Du).T
        if self.settings.coding == "ridge":
            self.A = ridge_codes(gram, correlation, self.settings.beta).solution
        else:
            self.A = sparse_codes(
                gram, correlation, self.settings.beta, self.A, max_iter=CODE_STEPS
            ).solution
        self.A_gram, self.ZA = self.A @ self.A.T, self.Z.transposed_times(self.A.T)

    def update_dictionaries(self) -> None:
        """Line 5: Dx and Du."""
        self.Dx = dictionary_update(self.A_gram, self.ZA, self.Dx).solution
        self.Du = dictionary_update(self.A_gram, self.U.T @ self.A.T, self.Du).solution

    def update_labels(self) -> None:
        """Line 6: U, and with it the intercept."""
        self.U = nonnegative_factor(self.labels_problem(), self.U, max_iter=LABEL_STEPS).solution

    def labels_problem(self) -> FactorObjective:
        """What line 6 minimises."""
        alpha = self.settings.alpha
        target = (self.Du @ self.A).T + alpha * (self.predicted + self.U.mean(axis=0))
        return FactorObjective(self.settings.orthogonality, self.L, target, 1 + alpha)

    def update_coef(self, n_steps: int = REGRESSION_STEPS) -> None:
        """Line 7: W."""
        found = self.regression.descend(
            self._centred_labels(),
            self.W,
            max_iter=n_steps,
            tol=1e-8,
            predicted=self.predicted,
        )
        self.W, self.predicted = found.solution, found.predicted

    def intercept(self) -> FloatArray:
        """b, which makes the mean of ``XW + 1bᵀ`` that of U."""
        mean = np.asarray(self.X.mean(axis=0)).ravel()
        return self.U.mean(axis=0) - mean @ self.W

    def objective(self) -> float:
        """The whole objective; the intercept is at its optimum."""
        settings = self.settings
        size = np.abs(self.A).sum() if settings.coding == "l1" else np.trace(self.A_gram)
        misfit = np.linalg.norm(self._centred_labels() - self.predicted) ** 2
        return float(
            squared_error(self.squared_norm, self.Dx, self.A_gram, self.ZA)
            + np.linalg.norm(self.U - (self.Du @ self.A).T) ** 2
            + settings.beta * size
            + settings.alpha * (misfit + self.regression.penalised(self.W))
            + roughness(self.L, self.U)
            + settings.orthogonality * departure_from_orthogonality(self.U) ** 2
        )

    def _centred_labels(self) -> FloatArray:
        return self.U - self.U.mean(axis=0)
