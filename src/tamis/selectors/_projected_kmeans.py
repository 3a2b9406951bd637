"""What TRACK and LDAKM share: rounds of K-means in a projected space and of the projection."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from tamis._typing import FloatArray, IntArray, Matrix
from tamis.base import Selector
from tamis.clustering import kmeans
from tamis.solvers.result import SolverResult
from tamis.solvers.row_norms import row_norms

# Rows of W below this fraction of the largest are outside its support: ten times the smoothing.
SUPPORT = 1e-4
# Random starts of the first K-means of the first run.
KMEANS_STARTS = 10


class ProjectedKMeans(Selector):
    """Alternates K-means on XW and a penalised problem in W that has the same objective.

    A subclass prepares the table once, states the problem in W for given clusters, and descends it.
    """

    labels_: IntArray
    coef_: FloatArray

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Selector._parameter_constraints,
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "n_components": [None, Interval(Integral, 1, None, closed="left")],
        "gamma": [Interval(Real, 0, None, closed="neither")],
        "ridge": [Interval(Real, 0, None, closed="neither")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "max_inner": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_clusters: int = 5,
        n_components: int | None = None,
        gamma: float = 0.1,
        ridge: float = 1.0,
        n_init: int = 1,
        max_iter: int = 50,
        max_inner: int = 300,
        tol: float = 1e-6,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        super().__init__(n_features_to_select)
        self.n_clusters = n_clusters
        self.n_components: Any = n_components
        self.gamma = gamma
        self.ridge = ridge
        self.n_init = n_init
        self.max_iter = max_iter
        self.max_inner = max_inner
        self.tol = tol
        self.random_state = random_state

    def _prepare(self, X: Matrix) -> Any:
        """What of the table without constant columns is computed once."""
        raise NotImplementedError

    def _problem(self, table: Any, labels: IntArray) -> Any:
        """The problem in W for given clusters."""
        raise NotImplementedError

    def _first(self, problem: Any, n_columns: int) -> FloatArray:
        """A feasible W to start from."""
        raise NotImplementedError

    def _descend(self, problem: Any, W: FloatArray) -> SolverResult[FloatArray]:
        """A better W, and the path to it."""
        raise NotImplementedError

    def _n_columns(self, n_samples: int, n_features: int) -> int:
        """Columns of W; as many as there are directions between the clusters, if not given."""
        return max(1, self.n_clusters - 1) if self.n_components is None else self.n_components

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Alternate clusters and projection; `y` is ignored."""
        X, constant = self._check_input(X)
        n_informative = int(np.count_nonzero(~constant))
        n_columns = min(self._n_columns(X.shape[0], n_informative), max(1, n_informative))
        self.coef_ = np.zeros((X.shape[1], n_columns))
        if n_informative == 0:
            self.labels_, self.ratio_ = np.zeros(X.shape[0], dtype=np.intp), 1.0
            self.objective_, self.inner_objective_, self.n_iter_ = np.zeros(0), [], 0
            self.n_support_, self.solver_ = 0, "none: all features are constant"
            return self._set_scores(np.zeros(X.shape[1]), constant)

        if constant.any():
            X = X[:, ~constant]
        table = self._prepare(X)
        random = check_random_state(self.random_state)
        runs = []
        for number in range(self.n_init):
            starts = KMEANS_STARTS if number == 0 else 1
            first = kmeans(X, self.n_clusters, n_init=starts, random_state=random)
            runs.append(self._alternate(table, first.labels, n_columns))
        best = min(runs, key=lambda run: run.inner[-1][-1])

        self.coef_[~constant] = best.W
        self.labels_, self.solver_, self.inner_objective_ = best.labels, best.how, best.inner
        self.ratio_ = best.problem.ratio(best.W)
        self._set_path(np.array([path[-1] for path in best.inner]), best.converged)
        scores = row_norms(self.coef_)
        self.n_support_ = int(np.count_nonzero(scores > SUPPORT * scores.max()))
        self._set_scores(scores, constant)
        self._warn_of_few_rows(self.n_support_, "gamma")
        return self

    def _alternate(self, table: Any, labels: IntArray, n_columns: int) -> _Run:
        """Rounds of clusters and projection, until the objective no longer falls."""
        problem = self._problem(table, labels)
        W = self._first(problem, n_columns)
        inner: list[FloatArray] = []
        converged = False
        for _ in range(self.max_iter):
            solution = self._descend(problem, W)
            W = solution.solution
            inner.append(solution.objective)
            fallen = inner[-2][-1] - inner[-1][-1] if len(inner) > 1 else np.inf
            if self.tol > 0 and abs(fallen) < self.tol * inner[-1][-1]:
                converged = True
                break
            found = kmeans(problem.gram.X.times(W), self.n_clusters, start=labels).labels
            if self.tol > 0 and np.array_equal(found, labels):
                converged = True
                break
            if len(inner) < self.max_iter:
                labels = found
                problem = self._problem(table, labels)
        converged = (converged and solution.converged) or self.tol == 0
        return _Run(W, labels, inner, problem, converged, solution.solver)


@dataclass(frozen=True)
class _Run:
    """The result of one start."""

    W: FloatArray
    labels: IntArray
    inner: list[FloatArray]
    problem: Any
    converged: bool
    how: str
