"""What TRACK and LDAKM share: their parameters, and rounds of K-means and of a projection."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from tamis._typing import FloatArray, IntArray, Matrix
from tamis.base import OBJECTIVE, SOLVER, Selector
from tamis.clustering import kmeans
from tamis.solvers.result import SolverResult
from tamis.solvers.row_norms import row_norms
from tamis.solvers.stopping import has_converged
from tamis.solvers.table_operator import TableOperator

# Rows of W below this fraction of the largest are outside its support: ten times the smoothing.
SUPPORT = 1e-4
# Random starts of the first K-means of the first run.
KMEANS_STARTS = 10


def first_clusters(
    X: Matrix, n_clusters: int, n_init: int, random_state: int | np.random.RandomState | None
) -> Iterator[IntArray]:
    """Labels to start from: the best of ten K-means, then those of one K-means each."""
    random = check_random_state(random_state)
    for number in range(n_init):
        starts = 1 if number else KMEANS_STARTS
        yield kmeans(X, n_clusters, n_init=starts, random_state=random).labels


@dataclass(frozen=True)
class Rounds:
    """The result of :func:`clusters_and_projection`.

    Attributes
    ----------
    W : ndarray of shape (n_features, n_columns)
    labels : ndarray of shape (n_samples,)
    problem : object
        The problem in W for these labels.
    paths : list of ndarray
        For each round the objective after its clusters and after each step of its projection.
    converged : bool
    solver : str
        The eigensolver that was used last, and why.
    """

    W: FloatArray
    labels: IntArray
    problem: Any
    paths: list[FloatArray]
    converged: bool
    solver: str


def clusters_and_projection(
    X: TableOperator,
    labels: IntArray,
    problem_of: Callable[[IntArray], Any],
    project: Callable[[Any, FloatArray | None], SolverResult[FloatArray]],
    *,
    n_clusters: int,
    max_iter: int,
    tol: float,
) -> Rounds:
    """Alternate K-means on XW and a problem in W that has the same objective, until it settles.

    Parameters
    ----------
    X : TableOperator
    labels : ndarray of shape (n_samples,)
        First clusters.
    problem_of : callable
        The problem in W for given labels.
    project : callable
        Lowers the objective of a problem from a W, or from a start of its own for None.
    n_clusters, max_iter, tol
        As in the selectors.
    """
    problem, W = problem_of(labels), None
    paths: list[FloatArray] = []
    converged = False
    for _ in range(max_iter):
        solution = project(problem, W)
        W = solution.solution
        paths.append(solution.objective)
        if has_converged([path[-1] for path in paths], tol):
            converged = True
            break
        found = kmeans(X.times(W), n_clusters, start=labels).labels
        if tol > 0 and np.array_equal(found, labels):
            converged = True
            break
        if len(paths) < max_iter:
            labels = found
            problem = problem_of(labels)
    converged = (converged and solution.converged) or tol == 0
    return Rounds(solution.solution, labels, problem, paths, converged, solution.solver)


class ProjectedKMeans(Selector):
    """The parameters of TRACK and LDAKM, and what both keep of a fit."""

    labels_: IntArray
    coef_: FloatArray

    _learned: ClassVar[dict[str, Any]] = {
        **OBJECTIVE,
        **SOLVER,
        "coef_": ("n_features", "_n_columns"),
        "labels_": ("n_samples",),
        "inner_objective_": ("n_iter_",),
        "n_support_": 0,
        "ratio_": 1.0,
    }
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
        keep: Sequence[str | int] | None = None,
        drop: Sequence[str | int] | None = None,
    ) -> None:
        super().__init__(n_features_to_select, keep=keep, drop=drop)
        self.n_clusters = n_clusters
        self.n_components: Any = n_components
        self.gamma = gamma
        self.ridge = ridge
        self.n_init = n_init
        self.max_iter = max_iter
        self.max_inner = max_inner
        self.tol = tol
        self.random_state = random_state

    def _n_columns(self, n_samples: int, n_features: int) -> int:
        """Columns of W; as many as there are directions between the clusters, if not given."""
        wanted = self.n_clusters - 1 if self.n_components is None else self.n_components
        return max(1, min(wanted, n_features))

    def _fit_rounds(
        self,
        X: Matrix,
        table: TableOperator,
        problem_of: Callable[[IntArray], Any],
        project: Callable[[Any, FloatArray | None], SolverResult[FloatArray]],
    ) -> FloatArray:
        """Rounds from each of the first clusters of X; the best of them sets what was learned.

        Returns the scores. `table` is X as the problem has it, `problem_of` and `project` are those
        of :func:`clusters_and_projection`.
        """
        starts = first_clusters(X, self.n_clusters, self.n_init, self.random_state)
        runs = (
            clusters_and_projection(
                table,
                labels,
                problem_of,
                project,
                n_clusters=self.n_clusters,
                max_iter=self.max_iter,
                tol=self.tol,
            )
            for labels in starts
        )
        return self._keep(min(runs, key=lambda run: float(run.paths[-1][-1])))

    def _keep(self, rounds: Rounds) -> FloatArray:
        """Set what was learned; the scores are the norms of the rows of W."""
        self.coef_, self.labels_ = np.ascontiguousarray(rounds.W), rounds.labels
        self.ratio_ = rounds.problem.ratio(rounds.W)
        self.inner_objective_, self.solver_ = rounds.paths, rounds.solver
        self._set_path(np.array([path[-1] for path in rounds.paths]), rounds.converged)
        scores = row_norms(self.coef_)
        self.n_support_ = int(np.count_nonzero(scores > SUPPORT * scores.max()))
        self._warn_of_few_rows(self.n_support_, "gamma")
        return scores
