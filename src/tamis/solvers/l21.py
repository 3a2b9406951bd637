"""Problems with an l2,1 penalty: regression, and quadratic forms under WᵀW = I."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.linalg
import scipy.optimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import MultiTaskLasso

from tamis._typing import FloatArray, IntArray
from tamis.solvers.refinement import Refinement
from tamis.solvers.result import SolverResult
from tamis.solvers.row_norms import PENALTY_SMOOTHING, row_norms, smoothed_norms
from tamis.solvers.stopping import has_converged, stationarity
from tamis.solvers.table_operator import TableOperator
from tamis.solvers.weighted_gram import WeightedGram
from tamis.utils.blocks import row_blocks

# Features with which a regression starts; as many are added as are kept, at least this many.
FIRST_WORKING_SET = 100
# Epochs of coordinate descent after which the lengths of all rows are solved for at once.
EPOCHS = 100
# Columns that differ by less than this share of their length are one column.
COPY = 1e-6
# Working sets of more cells (128 MB) are read in blocks of rows, and never held.
MOST_CELLS = 2**24


def orthonormal_l21(
    M: WeightedGram,
    gamma: float,
    n_columns: int,
    *,
    max_iter: int,
    tol: float,
    start: FloatArray | None = None,
    refinement: Refinement | None = None,
) -> SolverResult[FloatArray]:
    """Minimise ``Tr(WᵀMW) + γ Σ_i sqrt(‖w_i‖² + ζ)`` under ``WᵀW = I``, by reweighting.

    Each step takes the smallest eigenvectors of ``M + γ diag(1/(2 sqrt(‖w_i‖² + ζ)))``, which
    minimise a majorant: the objective never rises.

    Where M is singular the first step must not start from equal weights: the null space is then
    the degenerate answer, and rounding chooses within it. Rows start at ``M_ii^-½`` instead.
    Given a feasible `start`, the objective ends no higher than there. With the `refinement` of an
    alternation, of which this is one block, its last eigenvectors are refined where they can be.

    Returns
    -------
    SolverResult
        W, of which the optimality is the gradient along the constraint, relative to the whole.
    """
    norms = np.ones(M.size)
    if start is not None:
        norms = smoothed_norms(start, PENALTY_SMOOTHING)
    elif M.is_singular():
        diagonal = M.diagonal
        floor = diagonal[diagonal > 0].min(initial=1.0)
        norms = 1 / np.sqrt(np.maximum(diagonal, floor))
        norms *= np.sqrt(n_columns / (norms @ norms))

    W = start
    objective: list[float] = []
    converged = False
    pairs = None
    for _ in range(max_iter):
        pairs = M.smallest(gamma / (2 * norms), n_columns, start=W, refinement=refinement)
        W = pairs.solution
        norms = smoothed_norms(W, PENALTY_SMOOTHING)
        objective.append(float(np.einsum("ij,ij->", W, M @ W) + gamma * norms.sum()))
        converged = has_converged(objective, tol)
        if converged:
            break
    assert W is not None
    assert pairs is not None
    gradient = M @ W + gamma / 2 * W / norms[:, None]
    return SolverResult(
        solution=W,
        objective=np.array(objective),
        optimality=stationarity(gradient, W),
        converged=converged,
        solver=pairs.solver,
    )


def alpha_max(X: TableOperator, Y: FloatArray) -> float:
    """The smallest penalty at which the solution of :func:`l21_regression` is zero."""
    return largest_penalty(X.transposed_times(Y))


def largest_penalty(correlation: FloatArray) -> float:
    """The same from ``XᵀY``."""
    return 2 * float(row_norms(correlation).max())


def l21_regression(
    X: TableOperator,
    Y: FloatArray,
    penalty: float,
    *,
    correlation: FloatArray | None = None,
    tol: float = 1e-6,
    max_iter: int = 10_000,
) -> SolverResult[FloatArray]:
    """Minimise ``‖XW − Y‖² + penalty·‖W‖21`` to its optimality conditions.

    Block coordinate descent (scikit-learn's) on a working set of features, in a form that has as
    many rows as the set has features: with ``X = QR`` the objective is, up to a constant,
    ``‖RW − QᵀY‖² + penalty·‖W‖21``. Features that violate the conditions join the set until
    none does. Of features that are equal, or opposite, the first has the whole weight.

    Parameters
    ----------
    X : TableOperator
    Y : ndarray of shape (n_samples, n_targets)
    penalty : float
        Positive.
    correlation : ndarray of shape (n_features, n_targets) or None, default=None
        ``XᵀY``, where it is known.
    tol : float, default=1e-6
        Allowed violation of the optimality conditions, as a fraction of the penalty.
    max_iter : int, default=10000
        Epochs of coordinate descent for each working set.

    Returns
    -------
    SolverResult
        W, of which the optimality is the largest violation, as a fraction of the penalty.

    Notes
    -----
    O(np² + p²·epochs) for a working set of p features, O(nd) a check of all features, O(np + p²)
    memory; of long tables only the columns of the support are held.
    """
    if correlation is None:
        correlation = X.transposed_times(Y)
    W = np.zeros_like(correlation)
    objective = [float(np.einsum("ij,ij->", Y, Y))]
    violations = np.maximum(2 * row_norms(correlation) - penalty, 0)
    working = np.empty(0, dtype=np.intp)
    n_rounds = 0
    accuracy = 1e-3 * tol
    while violations.max() > tol * penalty and n_rounds < 100:
        n_rounds += 1
        outside = np.setdiff1d(np.flatnonzero(violations > tol * penalty), working)
        if len(outside):
            worst_first = outside[np.argsort(-violations[outside], kind="stable")]
            support = np.flatnonzero(W.any(axis=1))
            working = np.union1d(support, worst_first[: max(FIRST_WORKING_SET, len(support))])
        else:
            accuracy *= 1e-2  # all that matters is in the set, but is not solved well enough
        columns = _WorkingSet(X, working)
        design, target = columns.reduced(Y)
        start = W[working]
        W[working] = _working_set_solution(design, target, penalty, start, accuracy, max_iter)
        image = columns.times(W)
        gradient = 2 * (correlation - X.transposed_times(image))
        objective.append(float(np.linalg.norm(image - Y) ** 2 + penalty * row_norms(W).sum()))
        violations = kkt_violations(W, gradient, penalty)
        if accuracy < 1e-15:
            break
    sparser = _sparsest(X, W, tol * penalty / 2)
    if sparser is not W:
        image = X.times(sparser)
        gradient = 2 * (correlation - X.transposed_times(image))
        still = kkt_violations(sparser, gradient, penalty)
        if still.max() <= max(tol * penalty, violations.max()):
            W, violations = sparser, still
            objective[-1] = float(np.linalg.norm(image - Y) ** 2 + penalty * row_norms(W).sum())
    optimality = violations.max() / penalty if penalty > 0 else 0.0
    return SolverResult(
        solution=W,
        objective=np.array(objective),
        optimality=float(optimality),
        converged=bool(optimality <= tol),
        solver=f"block coordinate descent on working sets, {n_rounds} rounds",
    )


def _sparsest(X: TableOperator, W: FloatArray, slack: float) -> FloatArray:
    """W without copies and without rows that the precision of the solution cannot tell from zero.

    The optimum does not say how equal columns share their weight; rounding would. The first of them
    gets all. Rows are dropped, the smallest first, while the gradient moves by less than `slack`.
    W itself if there is nothing to change.
    """
    support = np.flatnonzero(W.any(axis=1))
    columns = X.columns(support)
    products = columns.T @ columns
    lengths = np.sqrt(products.diagonal())
    rows = W[support]
    alike = np.abs(products) > (1 - COPY) * np.outer(lengths, lengths)
    for i, j in np.argwhere(np.triu(alike, k=1)):
        sign = np.sign(products[i, j])
        if np.linalg.norm(columns[:, i] - sign * columns[:, j]) <= COPY * lengths[i]:
            rows[i] += sign * rows[j]
            rows[j] = 0
    pushes = 2 * lengths.max(initial=0.0) * lengths * row_norms(rows)
    smallest_first = np.argsort(pushes, kind="stable")
    dropped = smallest_first[np.cumsum(pushes[smallest_first]) <= slack]
    if len(dropped) == 0:
        return W
    rows[dropped] = 0
    found = np.zeros_like(W)
    found[support] = rows
    return found


def kkt_violations(W: FloatArray, gradient: FloatArray, penalty: float) -> FloatArray:
    """How far each row is from optimality; `gradient` is ``2Xᵀ(Y − XW)``.

    A row in the support must have ``gradient = penalty·w/‖w‖``, any other ``‖gradient‖ ≤ penalty``.
    """
    norms = row_norms(W)
    support = norms > 0
    violations = np.maximum(row_norms(gradient) - penalty, 0)
    direction = W[support] / norms[support, None]
    violations[support] = row_norms(gradient[support] - penalty * direction)
    return violations


class _WorkingSet:
    """Some columns of a table, held where they are small, else read in blocks of rows."""

    def __init__(self, X: TableOperator, columns: IntArray) -> None:
        self._X, self._indices = X, columns
        is_long = len(columns) < X.shape[0] and X.shape[0] * len(columns) > MOST_CELLS
        self._columns = None if is_long else X.columns(columns)

    def reduced(self, Y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """R and QᵀY of the columns QR: a regression on R is one on the columns.

        Of long tables R grows block by block: the triangle so far and the next rows have the same
        products as all rows until there.
        """
        if self._columns is not None:
            basis, design = scipy.linalg.qr(self._columns, mode="economic")
            return design, basis.T @ Y
        p = len(self._indices)
        triangle = np.empty((0, p + Y.shape[1]))
        for rows in row_blocks(*self._X.shape):
            block = np.hstack([self._X.rows(rows)[:, self._indices], Y[rows]])
            triangle = np.asarray(np.linalg.qr(np.vstack([triangle, block]), mode="r"))
        return triangle[:p, :p], triangle[:p, p:]

    def times(self, W: FloatArray) -> FloatArray:
        """``XW`` for a W that has only the rows of these columns."""
        if self._columns is not None:
            return np.asarray(self._columns @ W[self._indices])
        return self._X.times(W)


def _working_set_solution(
    design: FloatArray,
    target: FloatArray,
    penalty: float,
    start: FloatArray,
    accuracy: float,
    max_iter: int,
) -> FloatArray:
    """The solution for few columns: coordinate descent, and exact lengths where it is slow."""
    design = np.asfortranarray(design)
    gram, correlation = design.T @ design, design.T @ target
    n_rows = len(design)
    lasso = MultiTaskLasso(
        alpha=penalty / (2 * n_rows),
        fit_intercept=False,
        max_iter=min(max_iter, EPOCHS),
        tol=accuracy,
        random_state=0,  # else a seed is drawn from numpy's global generator
        warm_start=True,
    )
    W = start
    for _ in range(-(-max_iter // EPOCHS)):
        lasso.coef_ = np.asfortranarray(W.T)
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", ConvergenceWarning
            )  # the conditions are checked outside
            W = lasso.fit(design, target).coef_.T
        if lasso.n_iter_ < lasso.max_iter:
            break
        W = _with_best_lengths(gram, correlation, penalty, W)
    return W


def _with_best_lengths(
    gram: FloatArray, correlation: FloatArray, penalty: float, W: FloatArray
) -> FloatArray:
    """The rows of W with their directions kept and their lengths solved for, all at once.

    Between columns that nearly repeat one another coordinate descent moves weight in tiny steps.
    Their rows have the same direction, and the lengths ``r ≥ 0`` are those of a non-negative least
    squares problem, which an active set solves exactly, O(p³). The objective cannot rise.
    """
    norms = row_norms(W)
    gradient = correlation - gram @ W
    direction = np.where((norms > 0)[:, None], W, gradient)
    lengths = row_norms(direction)
    U = np.divide(direction, lengths[:, None], out=np.zeros_like(W), where=lengths[:, None] > 0)
    # ½ rᵀHr − qᵀr, scaled to a unit diagonal and made positive definite beyond rounding.
    unit = 1 / np.sqrt(np.where(gram.diagonal() > 0, gram.diagonal(), 1))
    H = gram * (U @ U.T) * np.outer(unit, unit)
    H.flat[:: len(H) + 1] += 2 * len(H) * np.finfo(float).eps
    q = (np.einsum("ij,ij->i", U, correlation) - penalty / 2) * unit
    factor = scipy.linalg.cholesky(H)
    bound = scipy.linalg.solve_triangular(factor, q, trans="T")
    found = (scipy.optimize.nnls(factor, bound)[0] * unit)[:, None] * U

    def objective(V: FloatArray) -> float:
        fit = np.einsum("ij,ij->", V, gram @ V - 2 * correlation)
        return float(fit + penalty * row_norms(V).sum())

    return found if objective(found) < objective(W) else W


def scores_with_order_of_entry(norms: FloatArray, nearness: FloatArray) -> FloatArray:
    """Row norms, and below them an order for the rows that are zero.

    Parameters
    ----------
    norms : ndarray of shape (n_features,)
    nearness : ndarray of shape (n_features,)
        How close a row is to entering the support, in [0, 1].

    Returns
    -------
    ndarray of shape (n_features,)
        `norms` where they are positive; elsewhere `nearness` times the smallest positive norm.
    """
    positive = norms > 0
    smallest = norms[positive].min(initial=np.inf) if positive.any() else 1.0
    return np.where(positive, norms, smallest * nearness.clip(0, 1 - 1e-9))
