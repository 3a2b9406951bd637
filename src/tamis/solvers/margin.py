"""Maximum margin clustering with a budget of features: cutting planes and CCCP.

Given labels, the problem is convex; it has one constraint for every subset of the samples, of which
few matter. The labels are those that the solution itself gives. See :func:`margin_clusters`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from tamis._typing import FloatArray, IntArray
from tamis.solvers.margin_classes import ABSENT, Classes, ManyClasses, TwoClasses
from tamis.solvers.margin_hessian import Hessian
from tamis.solvers.margin_ipm import solve_inner
from tamis.solvers.margin_problem import InnerProblem, InnerResult
from tamis.solvers.result import SolverResult
from tamis.solvers.stopping import has_converged
from tamis.solvers.table_operator import TableOperator

Order = Literal["labels", "cuts"]
Outcome = Literal["converged", "labellings", "cuts", "precision"]

# Cuts for one labelling; with the usual C and epsilon there are some dozens.
MOST_CUTS = 500
# In the paper's order labels may turn in circles, with a new cut each time.
MOST_CUTS_OF_ALGORITHM_1 = 60
# Cuts whose multiplier is below this share of the largest are dropped when the labels change.
NEGLIGIBLE_MULTIPLIER = 1e-6
# Shares of the limit of balance that are tried one after the other while a cluster stays empty:
# where the functions are small (C is), a bias within the limit puts all samples on one side.
TIGHTER = (1.0, 0.1, 0.01)


@dataclass(frozen=True, kw_only=True)
class MarginResult(SolverResult[FloatArray]):
    """The separating functions V of the best labelling, of shape (n_features, n_blocks).

    The objective is that of equation 6 (or 14), with every sample's own hinge loss, after each
    labelling that lowered it; the optimality is the duality gap for the last labels.

    Attributes
    ----------
    b : float
        Of the table as the operator gives it.
    labels : ndarray of shape (n_samples,)
    prices : ndarray of shape (n_features, n_blocks)
        w, with v_k = σ_k w_k.
    slack : float
        ξ; no cut is violated by more than this and epsilon.
    n_cuts : int
        Cuts that were made.
    outcome : {"converged", "labellings", "cuts", "precision"}
        Whether it converged, or what ran out: the labellings, the cuts for one labelling, or the
        precision of the inner solver.
    """

    b: float
    labels: IntArray
    prices: FloatArray
    slack: float
    n_cuts: int
    outcome: Outcome

    @property
    def n_used(self) -> int:
        """Clusters that have samples."""
        return len(np.unique(self.labels))


@dataclass
class _Cuts:
    """The working set Ω: each cut as its samples' rivals, and its row for the present labels."""

    classes: Classes
    labels: IntArray
    rivals: list[IntArray] = field(default_factory=list)
    rows: list[tuple[FloatArray, float, float]] = field(default_factory=list)
    n_made: int = 0

    def add(self, rivals: IntArray) -> None:
        self.rivals.append(rivals.astype(np.int16))
        self.rows.append(self.classes.cut(self.labels, rivals))
        self.n_made += 1

    def relabel(self, labels: IntArray) -> None:
        """Linearise all cuts anew at other labels."""
        self.labels = labels
        self.rows = [self.classes.cut(labels, rivals) for rivals in self.rivals]

    def keep(self, which: FloatArray) -> None:
        self.rivals = [cut for cut, kept in zip(self.rivals, which, strict=True) if kept]
        self.rows = [row for row, kept in zip(self.rows, which, strict=True) if kept]


@dataclass(frozen=True)
class _Point:
    """A solution for fixed labels, and what it means for all samples."""

    inner: InnerResult
    labels: IntArray  # its own
    objective: float  # with its own labels
    complete: bool  # no cut is violated by more than epsilon

    @property
    def n_used(self) -> int:
        """Clusters that have samples."""
        return len(np.unique(self.labels))


@dataclass(frozen=True)
class _Task:
    X: TableOperator
    classes: Classes
    C: float
    n_selected: int
    limit: float
    epsilon: float
    hessian: Hessian

    def inner(self, cuts: _Cuts) -> tuple[InnerProblem, InnerResult]:
        rows, biases, bounds = zip(*cuts.rows, strict=True)
        problem = InnerProblem(
            np.stack(rows),
            np.array(biases),
            np.array(bounds),
            self.C,
            self.n_selected,
            self.limit,
            self.classes.balances,
            self.hessian,
        )
        return problem, solve_inner(problem)

    def decision(self, solution: InnerResult) -> FloatArray:
        return self.X.times(solution.solution) + solution.b

    def most_violated(self, F: FloatArray, labels: IntArray) -> tuple[IntArray, float]:
        """The cut of Proposition 3 (or 8) and the ξ it asks for: the mean hinge loss."""
        margins, rivals = self.classes.margins(F, labels)
        loss = np.maximum(0, 1 - margins)
        return np.where(loss > 0, rivals, ABSENT), float(loss.mean())

    def first_cut(self, labels: IntArray) -> _Cuts:
        """All samples: what v = 0 violates most."""
        cuts = _Cuts(self.classes, labels)
        F = np.zeros((len(labels), self.classes.n_blocks))
        cuts.add(self.classes.margins(F, labels)[1])
        return cuts

    def solve(self, cuts: _Cuts) -> _Point:
        """The convex problem with the labels of `cuts` fixed, to epsilon."""
        while True:
            problem, solution = self.inner(cuts)
            F = self.decision(solution)
            rivals, loss = self.most_violated(F, cuts.labels)
            complete = loss <= solution.slack + self.epsilon
            if complete or len(cuts.rows) >= MOST_CUTS:
                largest = solution.multipliers.max()
                cuts.keep(solution.multipliers >= NEGLIGIBLE_MULTIPLIER * largest)
                labels = self.classes.labels(F)
                loss = self.most_violated(F, labels)[1]
                objective = problem.regulariser(solution.solution, solution.b) + self.C * loss
                return _Point(solution, labels, objective, complete)
            cuts.add(rivals)

    def labels_by_algorithm_1(self, labels: IntArray, max_iter: int, tol: float) -> IntArray:
        """The paper's order: for each working set CCCP on the labels, then one more cut."""
        cuts = self.first_cut(labels)
        while True:
            before = np.inf
            for _ in range(max_iter):
                _, solution = self.inner(cuts)
                F = self.decision(solution)
                labels = self.classes.labels(F)
                value = float(solution.objective[-1])
                if has_converged([before, value], tol) or (labels == cuts.labels).all():
                    break
                before = value
                cuts.relabel(labels)
            rivals, loss = self.most_violated(F, labels)
            complete = loss <= solution.slack + self.epsilon
            if complete or len(cuts.rows) >= MOST_CUTS_OF_ALGORITHM_1:
                return labels
            cuts.relabel(labels)
            cuts.add(rivals)


def margin_clusters(
    X: TableOperator,
    starts: Iterable[IntArray],
    *,
    n_clusters: int,
    C: float,
    n_selected: int,
    limit: float,
    epsilon: float,
    hessian: Hessian,
    order: Order = "labels",
    max_iter: int = 50,
    tol: float = 1e-4,
) -> MarginResult:
    """Labels and separating functions of large margin: the best found from several labellings.

    Alternates between the convex problem for fixed labels, solved by cutting planes until no
    constraint is violated by more than `epsilon`, and the labels that its solution gives. A step
    counts only if it lowers the objective with all hinge losses, so that the path of objectives
    never rises, and if it empties no cluster. With ``order="cuts"`` the labels to start from are
    first taken through Algorithm 1 of the paper, where the labels are found anew after every
    single cut.

    Parameters
    ----------
    X : TableOperator
        Centred for two clusters, as it is for more.
    starts : iterable of ndarray of shape (n_samples,)
        Labels from 0. Of the runs that end with the most clusters in use, the one of the lowest
        objective is kept. For more than two clusters the first that uses all of them is enough.
        Where none does, all are run again with a tenth, then a hundredth, of `limit`.
    n_clusters : int
        2 takes the sign of one function with a bias (equations 6 to 12), more the largest of
        several functions without (equations 14 to 17).
    C : float
    n_selected : int
        m, the sum of the scale factors; all features for no selection.
    limit : float
        l / n: how far the mean of a function (of the difference of two) may be from zero.
    epsilon : float
        ε, on the mean hinge loss.
    hessian : Hessian
        Of the manifold term.
    order : {"labels", "cuts"}, default="labels"
    max_iter : int, default=50
        Labellings.
    tol : float, default=1e-4
        Relative decrease of the objective at which to stop.

    Notes
    -----
    O(nd) per cut and the cost of :func:`solve_inner`; the number of cuts does not grow with n.
    """
    classes: Classes = TwoClasses(X) if n_clusters == 2 else ManyClasses(X, n_clusters)
    runs: list[MarginResult] = []
    for share in TIGHTER:
        task = _Task(X, classes, C, n_selected, share * limit, epsilon, hessian)
        tried = []
        for start in starts:
            tried.append(start)
            runs.append(_run(task, start, order, max_iter, tol))
            if n_clusters > 2 and runs[-1].n_used == n_clusters:
                break
        starts = tried
        if any(run.n_used == n_clusters for run in runs):
            break
    return min(runs, key=lambda run: (-run.n_used, run.objective[-1]))


def _run(task: _Task, labels: IntArray, order: Order, max_iter: int, tol: float) -> MarginResult:
    if order == "cuts":
        labels = task.labels_by_algorithm_1(labels, max_iter, tol)
    cuts = task.first_cut(labels)
    point = task.solve(cuts)
    path = [point.objective]
    converged = bool((point.labels == cuts.labels).all())
    while not converged and len(path) < max_iter:
        cuts.relabel(point.labels)
        candidate = task.solve(cuts)
        decrease = point.objective - candidate.objective
        # Fewer clusters often have a lower objective, but are not what was asked for.
        accepted = decrease > 0 and candidate.n_used >= point.n_used
        if accepted:
            point = candidate
            path.append(point.objective)
        same_labels = bool((point.labels == cuts.labels).all())
        converged = not accepted or same_labels or has_converged(path, tol)
    # Classes in use come first, so that the labels have no gaps.
    order_of_classes = np.arange(task.classes.n_blocks)
    labels = point.labels
    if task.classes.n_blocks > 1:
        used = np.bincount(labels, minlength=task.classes.n_blocks) > 0
        order_of_classes = np.argsort(~used, kind="stable")
        labels = np.argsort(order_of_classes)[labels]
    outcome = _outcome(task, point, converged)
    return MarginResult(
        solution=point.inner.solution[:, order_of_classes],
        objective=np.array(path),
        optimality=point.inner.optimality,
        converged=outcome == "converged",
        solver="cutting planes and CCCP",
        b=point.inner.b,
        labels=labels,
        prices=point.inner.prices[:, order_of_classes],
        slack=point.inner.slack,
        n_cuts=cuts.n_made,
        outcome=outcome,
    )


def _outcome(task: _Task, point: _Point, converged: bool) -> Outcome:
    if point.inner.optimality > task.C * task.epsilon:
        return "precision"
    if not point.complete:
        return "cuts"
    return "converged" if converged else "labellings"
