"""CUFS: prefers the columns from which a linear map tells the codes of the samples."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from tamis._typing import FloatArray, Matrix
from tamis.base import OBJECTIVE, Selector
from tamis.clustering import kmeans
from tamis.selectors._atoms import number_of_atoms
from tamis.solvers.block_coordinate_descent import block_coordinate_descent
from tamis.solvers.dictionary import (
    dictionary_update,
    ridge_codes,
    squared_error,
    within_unit_ball,
)
from tamis.solvers.reweighted_regression import ReweightedRegression
from tamis.solvers.row_norms import row_norms
from tamis.solvers.sample_span import SampleSpan
from tamis.solvers.table_operator import TableOperator
from tamis.utils.norms import largest_value, squared_norm

# Steps of the regression in each iteration, and at the end for the order of its small rows.
REGRESSION_STEPS = 2
LAST_REGRESSION_STEPS = 100
FEWEST_ATOMS = 5
# A table of which no more than this share of the cells differs from the value that their columns
# repeat is multiplied by those cells.
MOST_CELLS = 0.1


class CUFS(Selector):
    r"""Coupled dictionary learning: features whose linear map codes the samples.

    A synthesis dictionary D rebuilds the samples from codes A; an analysis dictionary P computes
    the codes from few features. What must be rebuilt and no other feature tells comes first: among
    many columns of noise, features that share a cluster structure stand for each other and are
    passed over, unless `reg` is larger (30 for standardised columns) or `n_atoms` is about the
    number of clusters. No labels are made up on the way:

    .. math:: \min_{D, A, P} \|X^T - D A\|^2 + \tau \|A - P X^T\|^2 + \lambda \|P^T\|_{2,1},
       \qquad \|d_i\| \le 1

    (rows of X are samples here). Features are ranked by the norms of the columns of P.

    The table is divided by its largest absolute value first, so that λ means the same in every
    unit, and not centred: features of large values are those that the dictionary must rebuild.
    Bring the columns within [0, 1].

    Cost: for m atoms in each iteration O(nm² + ndm) for the codes, O(min(n, d)m²) per sweep of the
    atoms, and O(d³ + d²m) per step of the regression for d ≤ n or O(n²d) for n < d; memory
    O(nd + nm + min(n, d)²). Sparse input is never densified; where both sides exceed 6000 the
    regression is solved by conjugate gradients.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps half.
    n_atoms : int or None, default=None
        Size of the dictionary, at most one atom per sample. None takes a fifth of the samples, at
        least 5 and at most 200. Fewer are used where fewer samples are distinct.
    tau : float, default=1.0
        τ, the weight of the analysis.
    reg : float, default=1.0
        λ, the penalty on P.
    max_iter : int, default=300
        A fit that has not settled by then warns.
    tol : float, default=1e-4
        A fit stops when the objective falls by no more than this, relative, in each of three
        iterations, and the ranking of the features is that of half as many iterations, but for
        2 % of the best ones, whatever their number. 0 runs `max_iter` iterations.
    random_state : int, RandomState instance or None, default=0
        Seed of the K-means that gives the first atoms; None for others on every call.
    keep : list of str or int, or None, default=None
        Columns that are always selected, by name, pattern ("id_*") or index. They come first; the
        others are ranked as without them, since the method does not choose given some.
    drop : list of str or int, or None, default=None
        Columns that are not looked at and never selected.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Norms of the columns of P.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    coef_ : ndarray of shape (n_features, n_atoms)
        Pᵀ; zero rows for constant features.
    dictionary_ : ndarray of shape (n_features, n_atoms)
        D; zero rows for constant features.
    codes_ : ndarray of shape (n_atoms, n_samples)
        A.
    scale_ : float
        What the table is divided by; all matrices are those of the divided table.
    objective_ : ndarray of shape (n_iter_,)
        The objective after each iteration; it never rises.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    The paper's penalty is the l2,p norm with 0 < p ≤ 1, minimised by iterative reweighting; this is
    its convex member p = 1. The weights are smoothed, 1/(2 sqrt(‖p‖² + ζ)), and so is the
    objective, which then decreases at every step. Atoms are found by block coordinate descent,
    which needs no step size, and start from the centres of K-means. Each iteration starts ahead of
    the last one, by Nesterov's momentum, and is done anew without it where the objective would
    rise. Neither X nor the codes are centred. Constant features leave the problem.

    References
    ----------
    P. Zhu, Q. Hu, C. Zhang, W. Zuo. Coupled dictionary learning for unsupervised feature selection.
    AAAI 2016.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from tamis import CUFS
    >>> X = MinMaxScaler().set_output(transform="pandas").fit_transform(
    ...     load_wine(as_frame=True).data
    ... )
    >>> CUFS(n_features_to_select=3, n_atoms=5, random_state=0).fit(X).get_feature_names_out()
    array(['malic_acid', 'alcalinity_of_ash', 'nonflavanoid_phenols'],
    dtype=object)
    """

    _centres: ClassVar[bool] = False
    _learned: ClassVar[dict[str, Any]] = {
        **OBJECTIVE,
        "coef_": ("n_features", "_n_atoms"),
        "dictionary_": ("n_features", "_n_atoms"),
        "codes_": ("_n_atoms", "n_samples"),
        "scale_": 1.0,
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Selector._parameter_constraints,
        "n_atoms": [None, Interval(Integral, 1, None, closed="left")],
        "tau": [Interval(Real, 0, None, closed="neither")],
        "reg": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_atoms: int | None = None,
        tau: float = 1.0,
        reg: float = 1.0,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: int | np.random.RandomState | None = 0,
        keep: Sequence[str | int] | None = None,
        drop: Sequence[str | int] | None = None,
    ) -> None:
        super().__init__(n_features_to_select, keep=keep, drop=drop)
        self.n_atoms = n_atoms
        self.tau = tau
        self.reg = reg
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _n_atoms(self, n_samples: int, n_features: int) -> int:
        return number_of_atoms(self.n_atoms, n_samples, FEWEST_ATOMS)

    def _fit(self, X: Matrix) -> FloatArray:
        """Alternate codes, synthesis and analysis, as the paper does."""
        n_atoms = self._n_atoms(*X.shape)
        X = X.astype(np.float64, copy=False)
        self.scale_ = largest_value(X)
        X = X / self.scale_
        start = kmeans(X, n_atoms, n_init=1, max_iter=10, random_state=self.random_state)
        found = block_coordinate_descent(
            CoupledModel(self, X, within_unit_ball(start.centres.T)),
            max_iter=self.max_iter,
            tol=self.tol,
        )
        model = found.solution
        model.update_coef(LAST_REGRESSION_STEPS)
        objective = [*found.objective[:-1], model.objective()]

        self.coef_ = np.ascontiguousarray(model.W)
        self.dictionary_, self.codes_ = model.dictionary(), model.A
        self._set_path(np.array(objective), found.converged)
        return row_norms(self.coef_)


class CoupledModel:
    """The blocks of the paper's problem, and an update for each that never raises its objective.

    Parameters
    ----------
    settings : CUFS
        The weights of the terms.
    X : {ndarray, CSR} of shape (n_samples, n_features)
        In float64.
    D : ndarray of shape (n_features, n_atoms)
        First atoms, in the span of the samples. They are kept in coordinates of that span.
    """

    def __init__(self, settings: CUFS, X: Matrix, D: FloatArray) -> None:
        self.settings = settings
        table = TableOperator(X).with_repeats_implicit(MOST_CELLS)
        self.span = SampleSpan(table)
        self.Z, self.D = self.span.table, self.span.of_features(D)
        self.squared_norm = squared_norm(X)
        # P without analysis: the codes of the first atoms alone.
        self._set_codes(self.Z.times(self.D))
        self.regression = ReweightedRegression(table, settings.reg / settings.tau)
        self.W = self.regression.start(self.A.T)
        self.predicted = table.times(self.W)
        self.update_coef()

    def update(self) -> None:
        """A, D and W in turn."""
        self.update_codes()
        self.update_dictionary()
        self.update_coef()

    def extrapolate(self, before: CoupledModel, momentum: float) -> None:
        """Move D and W on, which give the codes."""
        if momentum == 0:
            return
        self.D = within_unit_ball(self.D + momentum * (self.D - before.D))
        self.W = self.W + momentum * (self.W - before.W)
        self.predicted = self.predicted + momentum * (self.predicted - before.predicted)

    def scores(self) -> FloatArray:
        """Norms of the rows of W."""
        return row_norms(self.W)

    def dictionary(self) -> FloatArray:
        """The atoms, as vectors of the features."""
        return self.span.to_features(self.D)

    def update_codes(self) -> None:
        """``A = (DᵀD + τI)⁻¹(DᵀXᵀ + τPXᵀ)``."""
        self._set_codes(self.Z.times(self.D) + self.settings.tau * self.predicted)

    def _set_codes(self, correlation: FloatArray) -> None:
        self.A = ridge_codes(self.D.T @ self.D, correlation.T, self.settings.tau).solution
        self.A_gram, self.ZA = self.A @ self.A.T, self.Z.transposed_times(self.A.T)

    def update_dictionary(self) -> None:
        """D, within the unit ball."""
        self.D = dictionary_update(self.A_gram, self.ZA, self.D).solution

    def update_coef(self, n_steps: int = REGRESSION_STEPS) -> None:
        """W = Pᵀ, by the regression of the codes on the features."""
        found = self.regression.descend(
            self.A.T, self.W, max_iter=n_steps, tol=1e-8, predicted=self.predicted
        )
        self.W, self.predicted = found.solution, found.predicted

    def objective(self) -> float:
        """The whole objective."""
        misfit = np.linalg.norm(self.A.T - self.predicted) ** 2
        return float(
            squared_error(self.squared_norm, self.D, self.A_gram, self.ZA)
            + self.settings.tau * (misfit + self.regression.penalised(self.W))
        )
