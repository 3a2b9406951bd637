"""Ratio trace problems (linear discriminant analysis) with an l2,1 penalty."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from tamis._typing import FloatArray, Operator
from tamis.solvers.dense import eigh, matmul, scale_rows
from tamis.solvers.eigen import SIDE_MAX, largest_of_inverse
from tamis.solvers.eigenpairs import Eigenpairs
from tamis.solvers.indefinite import IndefiniteGram
from tamis.solvers.refinement import Refinement
from tamis.solvers.result import SolverResult, descent_result
from tamis.solvers.row_norms import RATIO_SMOOTHING, smoothed_norms, smoothing_of
from tamis.solvers.stopping import has_converged, stationarity
from tamis.solvers.table_operator import TableOperator

REMEDY = "use fewer samples or features"


def scatter_root(X: TableOperator, ridge: float, *, remedy: str = REMEDY) -> Operator:
    """Applies R, the symmetric root of ``XᵀX + δI``, to a vector or to columns.

    With ``XXᵀ = QΛQᵀ``, ``R = √δ·I + XᵀQ diag((√(Λ + δ) − √δ)/Λ) QᵀX``; with ``XᵀX = VΛVᵀ``, where
    that is the smaller one, ``R = V√(Λ + δ)Vᵀ``. O(nd·min(n, d)) once. Where d ≤ 2n, R is formed,
    which takes no more memory than two tables: O(nd²) once, O(d²) applied, otherwise O(nd).

    Parameters
    ----------
    X : TableOperator
        Centred.
    ridge : float
        δ, positive.
    remedy : str, optional
        What to do where both sides of the table are too large, for the message that says so.
    """
    n_samples, n_features = X.shape
    if min(X.shape) > SIDE_MAX:
        raise ValueError(
            f"X has shape {X.shape}: its smaller side exceeds {SIDE_MAX}, too large for the root "
            f"of its scatter; {remedy}."
        )
    wide = n_samples < n_features
    gram = X.gram_of_samples() if wide else X.gram_of_features()
    values, basis = eigh(gram, driver="evd", overwrite_a=True)
    values = values.clip(min=0)
    if not wide:
        return _applied(matmul(basis * np.sqrt(values + ridge), basis.T))
    base = np.sqrt(ridge)
    changes = 1 / (np.sqrt(values + ridge) + base)  # (√(Λ + δ) − √δ)/Λ, also where Λ is zero

    if n_features <= min(2 * n_samples, SIDE_MAX):
        half = np.sqrt(changes)[:, None] * X.transposed_times(basis).T
        root = matmul(half.T, half)
        root[np.diag_indices_from(root)] += base
        return _applied(root)
    return lambda V: (
        base * V + X.transposed_times(basis @ scale_rows(basis.T @ X.times(V), changes))
    )


def _applied(root: FloatArray) -> Operator:
    return lambda V: root @ V


@dataclass(frozen=True)
class RatioTrace:
    """``Tr(Wᵀ(S_w + δI)W) + γ Σ_i sqrt(‖w_i‖² + ζ)`` under ``Wᵀ(S_t + δI)W = I``.

    Attributes
    ----------
    gram : IndefiniteGram
        Of the centred table X; ``S_t = XᵀX``.
    root : callable
        Applies the root R of ``S_t + δI``.
    B : ndarray of shape (n_clusters, n_features)
        A root of the scatter between the clusters: ``S_t − S_w = BᵀB``.
    gamma, ridge : float
        γ, and δ > 0.
    refinement : Refinement
        Of the eigenvectors, from step to step; problems that differ in B may share it.
    """

    gram: IndefiniteGram
    root: Operator
    B: FloatArray
    gamma: float
    ridge: float
    refinement: Refinement = field(default_factory=Refinement)

    def norms(self, W: FloatArray) -> FloatArray:
        """The smoothed row norms; no row of a feasible W is longer than δ^-½."""
        return smoothed_norms(W, smoothing_of(RATIO_SMOOTHING, self.ridge**-0.5))

    def ratio(self, W: FloatArray) -> float:
        """The share of the scatter of a feasible XW that lies within the clusters."""
        return max(0.0, 1 - float(np.linalg.norm(self.B @ W) ** 2) / W.shape[1])

    def objective(self, W: FloatArray) -> float:
        """The objective at a feasible W."""
        return W.shape[1] * self.ratio(W) + self.gamma * float(self.norms(W).sum())

    def optimality(self, W: FloatArray) -> float:
        """Size of the gradient along the constraint, relative to the whole gradient."""
        TW = self.gram.gram_times(W) + self.ridge * W
        weights = self.gamma / (2 * self.norms(W))
        gradient = TW - self.B.T @ (self.B @ W) + weights[:, None] * W
        return stationarity(gradient, W, TW)

    def step(self, weights: FloatArray, n_columns: int, start: FloatArray | None) -> Eigenpairs:
        """The feasible W that minimises ``Tr(Wᵀ(S_w + δI + γ diag(weights))W)``.

        Its columns are the smallest generalised eigenvectors of that matrix and T = S_t + δI; with
        W = R⁻¹Z, Z holds the largest ordinary ones of ``R(S_w + δI + γ diag(weights))⁻¹R``.
        """
        inverse = self.gram.inverse(self.ridge + self.gamma * weights, 1.0, self.B.T)
        if inverse is None:
            raise np.linalg.LinAlgError(
                "the scatter within the clusters is numerically singular; use a larger ridge."
            )
        pairs = largest_of_inverse(
            lambda v: self.root(inverse(self.root(v))),
            self.gram.size,
            n_columns,
            None if start is None else self.root(start),
            "Lanczos on the inverse: few eigenvectors are wanted of a large matrix",
            affordable=self.gram.size <= SIDE_MAX,
            refinement=self.refinement,
        )
        # W = A⁻¹RZ/μ equals R⁻¹Z, but rows that the penalty pushes down keep their relative order.
        return replace(pairs, solution=inverse(self.root(pairs.solution)) * pairs.values)


def first_discriminants(problem: RatioTrace, n_columns: int) -> FloatArray:
    """A feasible W to start from: all features weigh the same."""
    return problem.step(np.ones(problem.gram.size), n_columns, None).solution


def ratio_trace_l21(
    problem: RatioTrace, start: FloatArray, *, max_iter: int = 100, tol: float = 1e-6
) -> SolverResult[FloatArray]:
    """Minimise the penalised ratio trace by reweighting, from a feasible W.

    Each step minimises a majorant: the objective never rises.

    Returns
    -------
    SolverResult
        W, with the objective at the start, too. The optimality is the gradient along the
        constraint, relative to the whole gradient.
    """
    W = start
    objective = [problem.objective(W)]
    solver = "none: no step was taken"
    converged = False
    for _ in range(max_iter):
        weights = 1 / (2 * problem.norms(W))
        step = problem.step(weights, W.shape[1], W)
        W, solver = step.solution, step.solver
        objective.append(problem.objective(W))
        converged = has_converged(objective, tol)
        if converged:
            break
    return descent_result(problem, W, objective, converged, solver)
