"""Factorisations with a non-negative, nearly orthogonal factor, and what their l2,1 terms need.

The factor U holds soft cluster labels of the samples: ``U ≥ 0`` and, by a penalty, ``UᵀU ≈ I``. Its
update serves every method of the family; the other blocks are convex and solved exactly.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, Self, TypeVar

import numpy as np
import scipy.linalg
import scipy.optimize
import scipy.sparse as sp

from tamis._typing import FloatArray, IntArray, Matrix, SparseMatrix
from tamis.solvers.centred import Centred
from tamis.solvers.l21 import Solution, row_norms, smoothed_norms
from tamis.solvers.row_gram import RowGram
from tamis.solvers.weighted_ridge import WeightedRidge
from tamis.utils.blocks import row_blocks
from tamis.utils.rows import squared_row_norms

# Row norms of an l2,1 loss are smoothed at this fraction of the mean row of the table: beside a
# smaller one, samples that fit exactly would hold all others in their place.
RELATIVE_SMOOTHING = 1e-2
# The row norms of a penalty are smoothed at this fraction of the largest row of the first W.
ROW_SMOOTHING = 1e-8
# Iterations in which the objective must have settled, one after the other.
CALM = 3
# Share of the best features that may be exchanged while an alternation doubles its iterations.
EXCHANGED = 0.02
# Ratio of the numbers of iterations at which rankings are kept for that comparison.
SPACING = 1.2


Model = TypeVar("Model", bound="Alternating")


class Alternating(Protocol):
    """A problem in several blocks: what :func:`block_coordinate_descent` needs of it.

    Updates bind new arrays and change none in place, so that a shallow copy is a state to go back
    to.
    """

    def update(self) -> None:
        """Update each block in turn; none raises the objective."""

    def objective(self) -> float:
        """What the updates descend on."""

    def scores(self) -> FloatArray:
        """Scores of the features at the present state."""

    def extrapolate(self, before: Self, momentum: float) -> None:
        """Move the blocks on by `momentum` times their last move, within their constraints."""


@dataclass(frozen=True)
class Alternated(Generic[Model]):
    """Where an alternation has arrived.

    Attributes
    ----------
    model : Alternating
        Its last state, which has the lowest objective.
    objective : list of float
        The objective after each iteration; it never rises.
    converged : bool
        Always, if `tol` is 0, which asks for `max_iter` iterations.
    """

    model: Model
    objective: list[float]
    converged: bool


def block_coordinate_descent(model: Model, *, max_iter: int, tol: float) -> Alternated[Model]:
    """Update the blocks in turn, with momentum, until objective and ranking have settled.

    An iteration starts ahead of the last state, by Nesterov's share of the last move. One that
    would end above the last objective is done anew without momentum, which then builds up again.
    The last objective is that of the model as it is returned.

    It has settled when the objective fell by no more than `tol`, relative, in each of the last
    ``CALM`` iterations, and the ranking of the features is that of half as many iterations, but for
    a share of ``EXCHANGED``: see :func:`exchanged`. Blocks that creep can leave the objective
    almost still long before the ranking is, and a ranking can rest while the objective falls: only
    both together say that nothing more will come.
    """
    path: list[float] = []
    rankings = Rankings()
    before, inertia = model, 0
    for _ in range(max_iter):
        following = copy.copy(model)
        following.extrapolate(before, max(inertia - 1, 0) / (inertia + 2))
        following.update()
        value = following.objective()
        inertia += 1
        if path and not value <= path[-1]:
            following, inertia = copy.copy(model), 1
            following.update()
            value = following.objective()
        if path and not value <= path[-1]:  # at the optimum, but for rounding
            following, value = model, path[-1]
        before, model = model, following
        path.append(value)
        rankings.add(model.scores())
        if settled(path, tol) and rankings.settled():
            return Alternated(model, path, True)
    return Alternated(model, path, tol == 0)


def settled(objective: Sequence[float], tol: float) -> bool:
    """Whether the objective fell by no more than `tol`, relative, in each of the last iterations.

    One is not enough: with momentum the objective can stand still for a moment.
    """
    if tol == 0 or len(objective) <= CALM:
        return False
    last = np.asarray(objective[-CALM - 1 :])
    return bool((-np.diff(last) <= tol * np.abs(last[1:])).all())


class Rankings:
    """Rankings of the features along the iterations, of which a few a doubling are kept."""

    def __init__(self) -> None:
        self.n_iter = 0
        self._kept: list[tuple[int, IntArray]] = []

    def add(self, scores: FloatArray) -> None:
        """Rank the features after one more iteration."""
        self.n_iter += 1
        self.last = np.argsort(-scores, kind="stable")
        if not self._kept or self.n_iter >= SPACING * self._kept[-1][0]:
            self._kept.append((self.n_iter, self.last))
        while len(self._kept) > 1 and 2 * self._kept[1][0] <= self.n_iter:
            del self._kept[0]

    def settled(self) -> bool:
        """Whether the last ranking is that of half as many iterations, up to a few exchanges."""
        n_iter, before = self._kept[0]
        return 2 * n_iter <= self.n_iter and exchanged(before, self.last) <= EXCHANGED


def exchanged(before: IntArray, after: IntArray) -> float:
    """The mean share of the best k features that are exchanged, over all k up to half of them.

    Parameters
    ----------
    before, after : ndarray of shape (n_features,)
        Features, the best first.
    """
    n_features = len(before)
    places = np.empty((2, n_features), dtype=np.intp)
    places[0, before] = places[1, after] = np.arange(n_features)
    # A feature is among the best k of both rankings as soon as k exceeds both places.
    common = np.cumsum(np.bincount(places.max(axis=0), minlength=n_features))
    k = np.arange(1, max(1, n_features // 2) + 1)
    return float((1 - common[: len(k)] / k).mean())


def squared_norm(X: Matrix) -> float:
    """``‖X‖²``. O(nd), or O(nnz) for sparse X."""
    values = X.data if sp.issparse(X) else X
    return float(np.linalg.norm(values) ** 2)


def largest_value(X: Matrix) -> float:
    """The largest absolute value. O(nd), or O(nnz) for sparse X."""
    values = X.data if sp.issparse(X) else X
    return float(max(values.max(initial=0), -values.min(initial=0)))


# ------------------------------------------------------------------------------------------------
# The non-negative factor
# ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RowLoss:
    """A robust loss of U, ``weight·Σ_i sqrt(‖y_i − u_iBᵀ‖² + ζ)``, from products alone.

    Attributes
    ----------
    squares : ndarray of shape (n_samples,)
        ``‖y_i‖²``.
    products : ndarray of shape (n_samples, n_columns)
        ``YB``.
    gram : ndarray of shape (n_columns, n_columns), or None
        ``BᵀB``; None stands for the identity.
    smoothing : float
        ζ.
    weight : float
    """

    squares: FloatArray
    products: FloatArray
    gram: FloatArray | None
    smoothing: float
    weight: float = 1.0

    def value_and_gradient(self, U: FloatArray) -> tuple[float, FloatArray]:
        """The loss at U and its gradient. O(nc²)."""
        image = U if self.gram is None else U @ self.gram
        squares = self.squares + np.einsum("ij,ij->i", U, image - 2 * self.products)
        norms = np.sqrt(squares.clip(min=0) + self.smoothing)
        gradient = (image - self.products) * (self.weight / norms)[:, None]
        return float(self.weight * norms.sum()), gradient


@dataclass(frozen=True)
class FactorObjective:
    """What is minimised over U ≥ 0, with the other blocks held fixed.

    ``q‖U‖² − 2⟨P, U⟩ + Tr(UᵀLU) + λ‖UᵀU − I‖²``, plus robust losses.

    Attributes
    ----------
    orthogonality : float
        λ, non-negative.
    laplacian : csr_array, or None
        L, symmetric and positive semi-definite.
    linear : ndarray of shape (n_samples, n_columns), or None
        P.
    diagonal : float
        q, non-negative.
    losses : tuple of RowLoss
    """

    orthogonality: float
    laplacian: SparseMatrix | None = None
    linear: FloatArray | None = None
    diagonal: float = 0.0
    losses: tuple[RowLoss, ...] = ()

    def value(self, U: FloatArray) -> float:
        """The objective at U."""
        return self.value_and_gradient(U)[0]

    def value_and_gradient(self, U: FloatArray) -> tuple[float, FloatArray]:
        """The objective at U and its gradient. O(nnz(L)·c + nc²)."""
        excess = U.T @ U - np.eye(U.shape[1])
        value = self.orthogonality * float(np.vdot(excess, excess))
        gradient = 4 * self.orthogonality * (U @ excess)
        # Half the gradient of the quadratic terms, and their value.
        half = self.diagonal * U
        if self.laplacian is not None:
            half += self.laplacian @ U
        value += float(np.vdot(half, U))
        if self.linear is not None:
            value -= 2 * float(np.vdot(self.linear, U))
            half = half - self.linear
        gradient += 2 * half
        for loss in self.losses:
            one, slope = loss.value_and_gradient(U)
            value += one
            gradient += slope
        return value, gradient


@dataclass(frozen=True)
class Factor:
    """A non-negative factor.

    Attributes
    ----------
    solution : ndarray of shape (n_samples, n_columns)
    objective : ndarray
        At the start and at the end; it never rises.
    optimality : float
        Largest slope along which U could move and stay non-negative: a stationary point has zero.
    """

    solution: FloatArray
    objective: FloatArray
    optimality: float


def nonnegative_factor(
    problem: FactorObjective, start: FloatArray, *, max_iter: int = 300
) -> Factor:
    """Descend over U ≥ 0 by limited-memory BFGS with bounds, until rounding is all that is left.

    Such steps multiply rounding on their way and lose it again where they arrive: stopped early
    they would give other answers for another order of the samples.

    Parameters
    ----------
    problem : FactorObjective
    start : ndarray of shape (n_samples, n_columns)
        Non-negative.
    max_iter : int, default=300

    Notes
    -----
    O(nnz(L)·c + nc²) a step, O(nc) memory.
    """
    first, slope = problem.value_and_gradient(start)
    # In units of its first value or slope, so that the tolerance is relative.
    scale = max(abs(first), float(np.abs(slope).max(initial=0))) or 1.0

    def scaled(u: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = problem.value_and_gradient(u.reshape(start.shape))
        return value / scale, gradient.ravel() / scale

    found = scipy.optimize.minimize(
        scaled,
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        bounds=scipy.optimize.Bounds(0, np.inf),
        options={"maxiter": max_iter, "maxfun": 2 * max_iter, "ftol": 0, "gtol": 1e-10},
    )
    U = found.x.reshape(start.shape) if found.fun <= first / scale else start
    value, gradient = problem.value_and_gradient(U)
    free = np.where(U > 0, np.abs(gradient), np.maximum(-gradient, 0))
    return Factor(U, np.array([first, min(first, value)]), float(free.max(initial=0)))


def departure_from_orthogonality(U: FloatArray) -> float:
    """``‖UᵀU − I‖``. O(nc²)."""
    return float(np.linalg.norm(U.T @ U - np.eye(U.shape[1])))


def roughness(laplacian: SparseMatrix, U: FloatArray) -> float:
    """``Tr(UᵀLU)``. O(nnz·c)."""
    return float(np.vdot(U, laplacian @ U))


# ------------------------------------------------------------------------------------------------
# Loadings: the other factor, a row or column a feature
# ------------------------------------------------------------------------------------------------


def residual_norms(X: Matrix, U: FloatArray, V: FloatArray) -> FloatArray:
    """``‖x_i − u_iVᵀ‖`` for each row. O(ndc), or O(nnz·c + (n + d)c²) for sparse X.

    Dense tables are read in blocks of rows. The residual of a sparse one is dense; only its norms
    are computed, by expanding the square, to half of the digits of ‖x_i‖.
    """
    if sp.issparse(X):
        squares = squared_row_norms(X) - np.einsum("ij,ij->i", U, 2 * (X @ V) - U @ (V.T @ V))
        return np.sqrt(squares.clip(min=0))
    norms = np.empty(X.shape[0])
    for rows in row_blocks(*X.shape):
        norms[rows] = row_norms(X[rows] - U[rows] @ V.T)
    return norms


def reweighted(norms: FloatArray, smoothing: float) -> tuple[float, FloatArray]:
    """The l2,1 loss ``Σ sqrt(r² + ζ)`` and the weights of the quadratic that majorises it."""
    smoothed = np.sqrt(norms**2 + smoothing)
    return float(smoothed.sum()), 1 / (2 * smoothed)


def loss_smoothing(norms: FloatArray) -> float:
    """ζ for residuals of a table with such row norms: small beside a row."""
    return float(max(RELATIVE_SMOOTHING * norms.mean(), np.finfo(float).tiny ** 0.25) ** 2)


def penalised_loadings(gram: FloatArray, correlation: FloatArray, penalty: float) -> FloatArray:
    """Minimise ``vHvᵀ − 2⟨r, v⟩ + penalty·‖v‖`` for each row r of `correlation`, exactly.

    With ``t = ‖v‖`` the optimum is ``v = (H + penalty/(2t)·I)⁻¹r``, or zero where ``2‖r‖`` is at
    most the penalty. In the eigenbasis of H, t solves ``(Σ_k r_k²/(h_k t + penalty/2)²)^-½ = 1``,
    whose left side is concave and rises: Newton's method from below converges without a safeguard.

    Parameters
    ----------
    gram : ndarray of shape (n_columns, n_columns)
        H, positive semi-definite; the rows of `correlation` lie in its range.
    correlation : ndarray of shape (n_features, n_columns)
    penalty : float
        Positive.

    Notes
    -----
    O(dc² + c³).
    """
    values, vectors = scipy.linalg.eigh(gram)
    kept = values > values[-1] * len(values) * np.finfo(float).eps
    values, vectors = values[kept], vectors[:, kept]
    rotated = correlation @ vectors
    V = np.zeros_like(rotated)
    active = 2 * row_norms(rotated) > penalty * (1 + 1e-12)
    if not active.any():
        return V @ vectors.T
    r, half = rotated[active], penalty / 2
    t = (row_norms(r) - half) / values[-1]
    for _ in range(100):
        y = values * t[:, None] + half
        terms = (r / y) ** 2
        total = terms.sum(axis=1)
        # φ = total^-½ and its slope: t ← t + (1 − φ)/φ'.
        step = (np.sqrt(total) - 1) * total / (terms * values / y).sum(axis=1)
        t = t + step.clip(min=0)
        if (step <= 1e-14 * t).all():
            break
    V[active] = r * (t[:, None] / (values * t[:, None] + half))
    return V @ vectors.T


def nonnegative_loadings(
    gram: FloatArray, correlation: FloatArray, start: FloatArray, *, max_iter: int = 10
) -> FloatArray:
    """Minimise ``Tr(VHVᵀ) − 2⟨R, V⟩`` over V ≥ 0, one column after the other, each exactly.

    Parameters
    ----------
    gram : ndarray of shape (n_columns, n_columns)
        H.
    correlation : ndarray of shape (n_features, n_columns)
        R.
    start : ndarray of shape (n_features, n_columns)
        Non-negative.
    max_iter : int, default=10
        Sweeps over the columns, O(dc²) each.
    """
    V = start.copy()
    for _ in range(max_iter):
        for k in np.flatnonzero(np.diag(gram) > 0):
            pull = correlation[:, k] - V @ gram[:, k]
            V[:, k] = np.maximum(V[:, k] + pull / gram[k, k], 0)
    return V


# ------------------------------------------------------------------------------------------------
# Regression of the factor on the features
# ------------------------------------------------------------------------------------------------


class ReweightedRegression:
    """Descends on ``‖XW − Y‖² + penalty·Σ_i sqrt(‖w_i‖² + ζ)`` over W, by reweighting.

    Within an alternation the targets Y move a little at a time: a few steps from the last W do
    what a solution from scratch does at many times the cost. Each step solves the ridge regression
    that majorises the objective, so that it never rises; equal columns keep equal rows. Run to
    convergence it is the optimum of :func:`tamis.solvers.l21.l21_regression`, but for ζ.

    Parameters
    ----------
    X : Centred
        The table, centred or scaled, as an operator.
    penalty : float
        Positive.
    smoothing : float or None, default=None
        ζ; None sets it from the first targets that are seen, at 1e-8 of the largest row.

    Notes
    -----
    A step is a :class:`tamis.solvers.weighted_ridge.WeightedRidge`.
    """

    def __init__(self, X: Centred, penalty: float, smoothing: float | None = None) -> None:
        self.X, self.penalty, self.smoothing = X, penalty, smoothing
        self._ridge = WeightedRidge(X)

    def start(self, Y: FloatArray) -> FloatArray:
        """Each feature's own regression, as a first W. O(ndc)."""
        correlation = self.X.transposed_times(Y)
        W = correlation / self.X.squared_column_norms()[:, None]
        if self.smoothing is None:
            largest = max(float(row_norms(W).max(initial=0)), np.finfo(float).tiny ** 0.25)
            self.smoothing = (ROW_SMOOTHING * largest) ** 2
        return W

    def penalised(self, W: FloatArray) -> float:
        """``penalty·Σ_i sqrt(‖w_i‖² + ζ)``."""
        assert self.smoothing is not None
        return float(self.penalty * smoothed_norms(W, self.smoothing).sum())

    def descend(self, Y: FloatArray, W: FloatArray, *, max_iter: int, tol: float) -> Solution:
        """Steps from W, until the objective falls by less than `tol`, relative."""
        correlation = self.X.transposed_times(Y)
        objective = [self._value(W, Y)]
        converged = False
        for _ in range(max_iter):
            # What the solver leaves of an error cannot raise the objective: values are compared.
            following = self._ridge.solve(2 * self._norms(W) / self.penalty, Y, correlation, W)
            value = self._value(following, Y)
            if value <= objective[-1]:
                W = following
            objective.append(min(value, objective[-1]))
            if objective[-2] - objective[-1] <= tol * objective[-1]:
                converged = True
                break
        gradient = correlation - self.X.transposed_times(self.X.times(W))
        stationarity = gradient - self.penalty / 2 * W / self._norms(W)[:, None]
        optimality = float(2 * row_norms(stationarity).max(initial=0) / self.penalty)
        return Solution(W, np.array(objective), converged, optimality, "reweighted ridge")

    def _norms(self, W: FloatArray) -> FloatArray:
        assert self.smoothing is not None
        return smoothed_norms(W, self.smoothing)

    def _value(self, W: FloatArray, Y: FloatArray) -> float:
        return float(np.linalg.norm(self.X.times(W) - Y) ** 2) + self.penalised(W)


class ScaledTable(Centred):
    """A table whose rows are scaled, ``diag(s)X``, as an operator; it is not centred.

    Parameters
    ----------
    X : {ndarray, CSR} of shape (n_samples, n_features)
        In float64; neither copied nor changed.
    scale : ndarray of shape (n_samples,) or None, default=None
        s; None leaves the rows as they are.
    """

    def __init__(self, X: Matrix, scale: FloatArray | None = None) -> None:
        self.is_sparse = sp.issparse(X)
        self.shape: tuple[int, int] = X.shape
        self._X = X
        self._scale = np.ones(X.shape[0]) if scale is None else scale

    def times(self, V: FloatArray) -> FloatArray:
        """``diag(s)XV``, for a vector or for columns."""
        return ((self._X @ V).T * self._scale).T

    def transposed_times(self, U: FloatArray) -> FloatArray:
        """``Xᵀdiag(s)U``, for a vector or for columns."""
        return self._X.T @ (U.T * self._scale).T

    def columns(self, chosen: IntArray) -> FloatArray:
        """The chosen columns, scaled and dense."""
        columns = self._X[:, chosen]
        columns = columns.toarray() if self.is_sparse else columns
        return columns * self._scale[:, None]

    def gram_of_features(self) -> FloatArray:
        """``Xᵀdiag(s²)X``, d × d. O(nd²)."""
        if self.is_sparse:
            return RowGram(sp.csr_array(self._X.T))(self._scale**2)
        gram = np.zeros((self.shape[1], self.shape[1]))
        for rows in row_blocks(*self.shape):
            scaled = self._X[rows] * self._scale[rows, None]
            gram += scaled.T @ scaled
        return gram

    def gram_of_samples(self, weights: FloatArray | None = None) -> FloatArray:
        """``diag(s)X diag(weights) Xᵀdiag(s)``, n × n. O(n²d)."""
        return self._scale[:, None] * self._row_gram(weights) * self._scale

    def squared_column_norms(self) -> FloatArray:
        """Squared lengths of the columns. O(nd)."""
        weights = self._scale**2
        if self.is_sparse:
            return np.asarray((self._X.multiply(self._X)).T @ weights)
        total = np.zeros(self.shape[1])
        for rows in row_blocks(*self.shape):
            total += weights[rows] @ self._X[rows] ** 2
        return total
