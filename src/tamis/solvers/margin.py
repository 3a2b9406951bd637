"""Maximum margin clustering with a budget of features: cutting planes and CCCP.

Given labels, the problem is convex; it has one constraint for every subset of the samples, of which
few matter. The labels are those that the solution itself gives. See :func:`margin_clusters`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np

from tamis._typing import FloatArray, IntArray
from tamis.solvers._margin_ipm import InnerProblem, InnerSolution, scale_factors, solve_inner
from tamis.solvers.margin_hessian import Curvature, Samples

__all__ = ["MarginSolution", "Order", "margin_clusters", "scale_factors"]

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
# A sample that is not in a cut.
ABSENT = -1


@dataclass(frozen=True)
class MarginSolution:
    """The best labelling that was found, and its separating functions.

    Attributes
    ----------
    V : ndarray of shape (n_features, n_blocks)
    b : float
        Of the samples as :class:`Samples` gives them.
    labels : ndarray of shape (n_samples,)
    prices : ndarray of shape (n_features, n_blocks)
        w, with v_k = σ_k w_k.
    slack : float
        ξ; no cut is violated by more than this and epsilon.
    objective : ndarray
        Equation 6 (or 14), with every sample's own hinge loss, after each labelling that lowered
        it.
    n_cuts : int
        Cuts that were made.
    outcome : {"converged", "labellings", "cuts", "precision"}
        Whether it converged, or what ran out: the labellings, the cuts for one labelling, or the
        precision of the inner solver.
    """

    V: FloatArray
    b: float
    labels: IntArray
    prices: FloatArray
    slack: float
    objective: FloatArray
    n_cuts: int
    outcome: Outcome

    @property
    def n_used(self) -> int:
        """Clusters that have samples."""
        return len(np.unique(self.labels))

    def shortage(self, n_clusters: int) -> str | None:
        """How many clusters are missing and what to do, for a warning; None if none is."""
        if self.n_used == n_clusters:
            return None
        sizes = ", ".join(str(size) for size in np.bincount(self.labels) if size)
        return (
            f"found {self.n_used} of n_clusters={n_clusters} clusters (sizes: {sizes}), since "
            "fewer have a larger margin; scale the columns, for example with "
            "sklearn.preprocessing.MinMaxScaler, raise C, lower balance, or ask for fewer clusters."
        )

    def failure(self, max_iter: int) -> str | None:
        """What did not converge and what to do, for a warning; None if all did."""
        return {
            "labellings": f"did not converge in max_iter={max_iter} labellings; raise max_iter, or "
            "tol.",
            "cuts": f"did not reach epsilon with {MOST_CUTS} cuts; raise epsilon, or lower C.",
            "precision": "could not solve for its weights to the precision of epsilon: numbers "
            "differ too much in size; scale the columns, for example with "
            "sklearn.preprocessing.MinMaxScaler, or lower C.",
        }.get(self.outcome)


# ------------------------------------------------------------------------------------------------
# Two classes by the sign of one function, or more by the largest of several
# ------------------------------------------------------------------------------------------------


class Classes(Protocol):
    """What differs between two classes and more."""

    n_blocks: int
    balances: FloatArray | None

    def labels(self, F: FloatArray) -> IntArray:
        """The class of each sample from its decision values."""

    def margins(self, F: FloatArray, labels: IntArray) -> tuple[FloatArray, IntArray]:
        """By how much each sample's class wins, and its strongest rival."""

    def cut(self, labels: IntArray, rivals: IntArray) -> tuple[FloatArray, float, float]:
        """The constraint of the samples that have a rival: its row, bias entry and bound."""


class TwoClasses:
    """``f(x) = vᵀx + b`` and its sign; samples are centred, so that balance is ``|b| ≤ l``."""

    n_blocks: int = 1
    balances: FloatArray | None = None

    def __init__(self, X: Samples) -> None:
        self.X = X

    def labels(self, F: FloatArray) -> IntArray:
        """One where f is positive."""
        return (F[:, 0] > 0).astype(np.intp)

    def margins(self, F: FloatArray, labels: IntArray) -> tuple[FloatArray, IntArray]:
        """``z f``; the only rival is the other class, written 0."""
        return np.where(labels > 0, F[:, 0], -F[:, 0]), np.zeros(len(F), dtype=np.intp)

    def cut(self, labels: IntArray, rivals: IntArray) -> tuple[FloatArray, float, float]:
        """Equation 9. O(nd)."""
        chosen = rivals != ABSENT
        weights = np.where(labels > 0, 1.0, -1.0) * chosen / len(labels)
        return self.X.transposed_times(weights[:, None]), float(weights.sum()), chosen.mean()


class ManyClasses:
    """``argmax_p v_pᵀx``: no bias, and the means of all functions within l of each other."""

    def __init__(self, X: Samples, n_clusters: int) -> None:
        self.X, self.n_blocks = X, n_clusters
        first, second = np.triu_indices(n_clusters, k=1)
        contrasts = np.eye(n_clusters)[first] - np.eye(n_clusters)[second]
        self.balances: FloatArray | None = np.einsum("k,jp->jkp", X.mean, contrasts)

    def labels(self, F: FloatArray) -> IntArray:
        """The class of the largest function."""
        return F.argmax(axis=1)

    def margins(self, F: FloatArray, labels: IntArray) -> tuple[FloatArray, IntArray]:
        """Difference to the largest function of another class (Proposition 8)."""
        rows = np.arange(len(F))
        others = F.copy()
        others[rows, labels] = -np.inf
        rivals = others.argmax(axis=1)
        return F[rows, labels] - others[rows, rivals], rivals

    def cut(self, labels: IntArray, rivals: IntArray) -> tuple[FloatArray, float, float]:
        """Equation 17; a rival that has become the sample's own class asks nothing. O(ndM)."""
        chosen = np.flatnonzero((rivals != ABSENT) & (rivals != labels))
        signs = np.zeros((len(labels), self.n_blocks))
        signs[chosen, labels[chosen]] = 1 / len(labels)
        signs[chosen, rivals[chosen]] = -1 / len(labels)
        return self.X.transposed_times(signs), 0.0, len(chosen) / len(labels)


# ------------------------------------------------------------------------------------------------
# Cutting planes and CCCP
# ------------------------------------------------------------------------------------------------


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

    inner: InnerSolution
    labels: IntArray  # its own
    objective: float  # with its own labels
    complete: bool  # no cut is violated by more than epsilon

    @property
    def n_used(self) -> int:
        """Clusters that have samples."""
        return len(np.unique(self.labels))


@dataclass(frozen=True)
class _Task:
    X: Samples
    classes: Classes
    C: float
    n_selected: int
    limit: float
    epsilon: float
    curvature: Curvature

    def inner(self, cuts: _Cuts) -> tuple[InnerProblem, InnerSolution]:
        rows, biases, bounds = zip(*cuts.rows, strict=True)
        problem = InnerProblem(
            np.stack(rows),
            np.array(biases),
            np.array(bounds),
            self.C,
            self.n_selected,
            self.limit,
            self.classes.balances,
            self.curvature,
        )
        return problem, solve_inner(problem)

    def decision(self, solution: InnerSolution) -> FloatArray:
        return self.X.times(solution.V) + solution.b

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
                objective = problem.regulariser(solution.V, solution.b) + self.C * loss
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
                done = before - solution.objective <= tol * abs(solution.objective)
                if done or (labels == cuts.labels).all():
                    break
                before = solution.objective
                cuts.relabel(labels)
            rivals, loss = self.most_violated(F, labels)
            complete = loss <= solution.slack + self.epsilon
            if complete or len(cuts.rows) >= MOST_CUTS_OF_ALGORITHM_1:
                return labels
            cuts.relabel(labels)
            cuts.add(rivals)


def margin_clusters(
    X: Samples,
    starts: Iterable[IntArray],
    *,
    n_clusters: int,
    C: float,
    n_selected: int,
    limit: float,
    epsilon: float,
    curvature: Curvature,
    order: Order = "labels",
    max_iter: int = 50,
    tol: float = 1e-4,
) -> MarginSolution:
    """Labels and separating functions of large margin: the best found from several labellings.

    Alternates between the convex problem for fixed labels, solved by cutting planes until no
    constraint is violated by more than `epsilon`, and the labels that its solution gives. A step
    counts only if it lowers the objective with all hinge losses, so that the path of objectives
    never rises, and if it empties no cluster. With ``order="cuts"`` the labels to start from are
    first taken through Algorithm 1 of the paper, where the labels are settled anew after every
    single cut.

    Parameters
    ----------
    X : Samples
        Centred for two clusters, as they are for more.
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
    curvature : Curvature
        Of the manifold term.
    order : {"labels", "cuts"}, default="labels"
    max_iter : int, default=50
        Labellings.
    tol : float, default=1e-4
        Relative decrease of the objective at which to stop.

    Notes
    -----
    O(nd) a cut and the cost of :func:`solve_inner`; the number of cuts does not grow with n.
    """
    classes: Classes = TwoClasses(X) if n_clusters == 2 else ManyClasses(X, n_clusters)
    runs: list[MarginSolution] = []
    for share in TIGHTER:
        task = _Task(X, classes, C, n_selected, share * limit, epsilon, curvature)
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


def _run(task: _Task, labels: IntArray, order: Order, max_iter: int, tol: float) -> MarginSolution:
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
        settled = bool((point.labels == cuts.labels).all())
        converged = not accepted or settled or decrease <= tol * point.objective
    # Classes in use come first, so that the labels have no gaps.
    order_of_classes = np.arange(task.classes.n_blocks)
    labels = point.labels
    if task.classes.n_blocks > 1:
        used = np.bincount(labels, minlength=task.classes.n_blocks) > 0
        order_of_classes = np.argsort(~used, kind="stable")
        labels = np.argsort(order_of_classes)[labels]
    return MarginSolution(
        point.inner.V[:, order_of_classes],
        point.inner.b,
        labels,
        point.inner.prices[:, order_of_classes],
        point.inner.slack,
        np.array(path),
        cuts.n_made,
        _outcome(task, point, converged),
    )


def _outcome(task: _Task, point: _Point, converged: bool) -> Outcome:
    if point.inner.gap > task.C * task.epsilon:
        return "precision"
    if not point.complete:
        return "cuts"
    return "converged" if converged else "labellings"
