"""A primal–dual interior point method for the inner problem of maximum margin clustering."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from tamis._typing import FloatArray
from tamis.solvers.margin_hessian import Scaling
from tamis.solvers.margin_problem import (
    InnerProblem,
    InnerResult,
    combination,
    largest_sum,
    products,
)

# Share of the step to the boundary that is taken.
STEP = 0.99
# Iterations in which the gap must halve, once the complements are negligible and before.
PATIENCE, LONG_PATIENCE = 4, 15
# The largest C that is tried first, for cuts of unit size, and by how much it is raised.
FIRST_C, NEXT_C = 1e5, 1e4
# Objectives below this share of C count as zero: v = 0 alone costs about C.
NEGLIGIBLE = 1e-3


def solve_inner(problem: InnerProblem, *, tol: float = 1e-9, max_iter: int = 100) -> InnerResult:
    """Newton's method on the perturbed optimality conditions, in (w, σ) with v = σ∘w.

    In these variables the conditions ``w = Aᵀα − Hθ`` and ``½‖w_k‖² = ν + μ_k − π_k`` stay smooth
    where σ_k → 0. Each step eliminates σ feature by feature, w by one solve with
    ``(P⁻¹ + H)⁻¹``, and ends in a dense system of the size of the constraints.

    Stops when the duality gap is below `tol` times the objective. O(J²dM + J³) per iteration for J
    constraints, and the factorization of the Hessian.
    """
    # Near a hard margin the multipliers are about 1/κ² for cuts of size κ, however large C is.
    # A C far beyond that is lowered first: where ξ = 0 at the optimum it makes no difference, and
    # the gap, which is that of C itself, tells.
    size = max(largest_sum((A**2).sum(axis=1), problem.n_selected) for A in problem.cuts)
    C = min(problem.C, FIRST_C / max(size, 1e-300))
    state = _State(problem, C)
    n_iter = state.run(tol, max_iter)
    while C < problem.C and state.gap > tol * (state.objective + NEGLIGIBLE * problem.C):
        C = min(problem.C, C * NEXT_C)
        state.restart(C)
        n_iter += state.run(tol, max_iter)
    return state.result(n_iter, tol)


class _State:
    """The iterate, and the best point and lower bound met so far."""

    def __init__(self, problem: InnerProblem, C: float) -> None:
        self.problem = problem
        n_cuts, d, n_blocks = problem.cuts.shape
        self.n_cuts, self.m = n_cuts, problem.n_selected
        self.has_bias = problem.balances is None
        self.is_fixed = self.m == d  # σ = 1
        balances = np.zeros((1, d, n_blocks)) if problem.balances is None else problem.balances
        n_balances = len(balances)
        # Constraint rows: the cuts, ξ ≥ 0, and both sides of the balances.
        self.A = np.concatenate([problem.cuts, np.zeros((1, d, n_blocks)), balances, -balances])
        side = np.ones(n_balances) if self.has_bias else np.zeros(n_balances)
        self.a = np.concatenate([problem.cut_biases, [0.0], side, -side])
        limits = np.full(2 * n_balances, problem.limit)
        self.h = np.concatenate([problem.cut_bounds, [0.0], -limits])
        self.e = np.concatenate([np.ones(n_cuts + 1), 0 * limits])
        self.column = np.zeros((d, n_blocks))
        if self.has_bias:
            self.column = problem.hessian.bias_column()
        self.objective, self.bound = np.inf, -np.inf
        self.path: list[float] = []
        self.restart(C)

    def restart(self, C: float) -> None:
        """Go to a point in the interior with all products of complements alike."""
        self.C = C
        problem = self.problem
        _, d, n_blocks = problem.cuts.shape
        self.w, self.b = np.zeros((d, n_blocks)), 0.0
        self.sigma = np.full(d, self.m / d)
        self.xi = 1.0 + float(np.abs(problem.cut_bounds).max(initial=0))
        self.s = self.xi * self.e - self.h
        centre = self.C / (1 / self.s[self.e > 0]).sum()
        self.alpha = centre / self.s
        self.upper = 1 - self.sigma
        self.mu = self.pi = np.zeros(d)
        if not self.is_fixed:
            self.mu, self.pi = centre / self.upper, centre / self.sigma
        self.nu = float((self.pi - self.mu)[0])
        self._assess()

    def run(self, tol: float, max_iter: int) -> int:
        """Iterate until the gap is small, or no longer shrinks; how many iterations it took."""
        smallest, since = np.inf, 0
        for n_iter in range(1, max_iter + 1):
            moved = self.step()
            enough = tol * abs(self.objective)
            if not moved or self.gap <= enough:
                break
            if self.gap < 0.5 * smallest:
                smallest, since = self.gap, n_iter
            # Complements far below the gap: what is left of it is rounding, or comes from C.
            spent = self._total() <= 1e-3 * enough
            if n_iter - since >= (PATIENCE if spent else LONG_PATIENCE):
                break
        return n_iter

    # --- one iteration ------------------------------------------------------------------------

    def step(self) -> bool:
        """A predictor and a corrector step; False if rounding allows no progress."""
        try:
            newton = _Newton(self)
            affine = newton.direction(0.0)
            direction = newton.direction(self._predicted_centre(affine), affine)
        except np.linalg.LinAlgError:
            return False
        length = min(1.0, STEP * self._longest(direction))
        if length < 1e-12 or not np.isfinite(direction.alpha).all():
            return False
        self._move(direction, length)
        self._assess()
        return True

    def _complements(self) -> list[tuple[FloatArray, FloatArray]]:
        pairs = [(self.s, self.alpha)]
        if not self.is_fixed:
            pairs += [(self.upper, self.mu), (self.sigma, self.pi)]
        return pairs

    def _total(self) -> float:
        return sum(float(x @ y) for x, y in self._complements())

    def _centre(self) -> float:
        return self._total() / sum(len(x) for x, _ in self._complements())

    def _predicted_centre(self, affine: _Direction) -> float:
        """Mehrotra's rule: aim the lower, the further the affine step reaches."""
        centre = self._centre()
        length = min(1.0, self._longest(affine))
        reached = total = 0.0
        for (x, y), (dx, dy) in zip(self._complements(), affine.complements(), strict=True):
            reached += float((x + length * dx) @ (y + length * dy))
            total += len(x)
        return centre * min(1.0, max(reached, 0.0) / total / centre) ** 3

    def _longest(self, direction: _Direction) -> float:
        """The step at which the first complement becomes zero."""
        length = np.inf
        for pair, moves in zip(self._complements(), direction.complements(), strict=True):
            for x, dx in zip(pair, moves, strict=True):
                down = dx < 0
                if down.any():
                    length = min(length, float((-x[down] / dx[down]).min()))
        return length

    def _move(self, direction: _Direction, length: float) -> None:
        self.w = self.w + length * direction.w
        self.b += length * direction.b
        self.xi += length * direction.xi
        self.nu += length * direction.nu
        self.s = self.s + length * direction.s
        self.alpha = self.alpha + length * direction.alpha
        if not self.is_fixed:
            self.sigma = self.sigma + length * direction.sigma
            self.upper = self.upper - length * direction.sigma
            self.mu = self.mu + length * direction.mu
            self.pi = self.pi + length * direction.pi

    # --- the duality gap ----------------------------------------------------------------------

    @property
    def gap(self) -> float:
        return self.objective - self.bound

    def _assess(self) -> None:
        """Keep the iterate if it is the best feasible point, its bound if it is the highest."""
        problem = self.problem
        V, b = problem.repaired(self.sigma[:, None] * self.w, self.b)
        slack = problem.slack(V, b)
        objective = problem.regulariser(V, b) + problem.C * slack
        if objective < self.objective:
            self.objective, self.best = objective, (V, b, slack)
        self.path.append(self.objective)
        # Any α ≥ 0 whose cuts sum to at most C gives a bound, for any θ at which the quadratic
        # term is linearised; the multipliers of |b| ≤ l absorb what is left of the bias.
        HV, Hb = problem.hessian.apply(V, b)
        alpha = self.alpha.copy()
        alpha[: self.n_cuts] *= min(1.0, problem.C / alpha[: self.n_cuts].sum())
        if self.has_bias:
            rest = Hb - float(self.a[: self.n_cuts] @ alpha[: self.n_cuts])
            alpha[-2:] = max(rest, 0.0), max(-rest, 0.0)
        prices = combination(alpha, self.A) - HV
        top = largest_sum((prices**2).sum(axis=1), self.m)
        quadratic = float((HV * V).sum()) + Hb * b
        bound = float(self.h @ alpha) - 0.5 * quadratic - 0.5 * top
        if bound > self.bound:
            self.bound, self.best_dual = bound, (prices, alpha[: self.n_cuts])

    def result(self, n_iter: int, tol: float) -> InnerResult:
        V, b, slack = self.best
        prices, multipliers = self.best_dual
        return InnerResult(
            solution=V,
            objective=np.array(self.path),
            optimality=self.gap,
            converged=self.gap <= tol * abs(self.objective),
            solver="primal–dual interior point method",
            b=b,
            slack=slack,
            prices=prices,
            multipliers=multipliers,
            n_iter=n_iter,
        )


@dataclass(frozen=True)
class _Direction:
    w: FloatArray
    b: float
    xi: float
    nu: float
    sigma: FloatArray
    s: FloatArray
    alpha: FloatArray
    mu: FloatArray
    pi: FloatArray
    is_fixed: bool

    def complements(self) -> list[tuple[FloatArray, FloatArray]]:
        pairs = [(self.s, self.alpha)]
        if not self.is_fixed:
            pairs += [(-self.sigma, self.mu), (self.sigma, self.pi)]
        return pairs


class _Newton:
    """The linearised optimality conditions at a state, factorized once for both steps."""

    def __init__(self, state: _State) -> None:
        self.state = state
        squares = (state.w**2).sum(axis=1)
        if state.is_fixed:
            self.inverse_d = self.give = self.rise = self.fall = np.zeros_like(squares)
            self.lean = np.zeros_like(state.w)
        else:
            self.rise, self.fall = state.mu / state.upper, state.pi / state.sigma
            D = self.rise + self.fall
            self.inverse_d = 1 / D
            # dσ = lean·dv + give (ρ − dν)
            self.lean = state.w / (state.sigma * D + squares)[:, None]
            self.give = state.sigma / (state.sigma * D + squares)
        P = Scaling(state.sigma, state.w, self.inverse_d)
        self.solve = state.problem.hessian.inverse(P)
        self.columns = np.concatenate([state.A, -state.column[None], -self.lean[None]])
        self.solved = self.solve(self.columns)
        self._factorize()

    def _factorize(self) -> None:
        """The system in (dα, db, dν, dξ) that is left when dv and dσ are eliminated."""
        state = self.state
        J = len(state.s)
        size = J + 3
        system = np.zeros((size, size))
        flat = self.columns.reshape(J + 2, -1)
        system[: J + 2, : J + 2] = flat @ self.solved.reshape(J + 2, -1).T
        system[np.arange(J), np.arange(J)] += state.s / state.alpha
        system[:J, J] += state.a
        system[J, :J] += state.a
        # The bias row, with its sign turned: −Hb·dθ + aᵀdα.
        system[J, J] -= state.problem.hessian.bias_weight() if state.has_bias else 1
        system[J + 1, J + 1] += 1 if state.is_fixed else self.give.sum()
        system[:J, J + 2] = system[J + 2, :J] = state.e
        # Balanced: a unit diagonal for the constraints, unit rows for b, ν and ξ, whose own
        # entries may be zero.
        diagonal = np.sqrt(np.abs(np.diag(system)))
        diagonal[J:] = np.maximum(diagonal[J:], np.abs(system[J:, :J] / diagonal[:J]).max(axis=1))
        self.scale = 1 / np.maximum(diagonal, 1e-150)
        *self.factor, failed = scipy.linalg.lapack.dgetrf(
            system * self.scale * self.scale[:, None], overwrite_a=True
        )
        if failed:
            raise np.linalg.LinAlgError("the Newton system is singular")
        self.system = system

    def _small_solve(self, rhs: FloatArray) -> FloatArray:
        def once(r: FloatArray) -> FloatArray:
            return self.scale * scipy.linalg.lapack.dgetrs(*self.factor, self.scale * r)[0]

        found = once(rhs)
        return found + once(rhs - self.system @ found)

    def direction(self, target: float, affine: _Direction | None = None) -> _Direction:
        """The step towards products of complements equal to `target`.

        With the affine step the terms of second order are taken at it.
        """
        state = self.state
        hessian = state.problem.hessian
        J = len(state.s)
        d = len(state.sigma)
        second_v = np.zeros_like(state.w)
        second_w, second_s = np.zeros(d), np.zeros(J)
        second_mu, second_pi = np.zeros(d), np.zeros(d)
        if affine is not None:
            second_v = affine.sigma[:, None] * affine.w
            second_w = -0.5 * (affine.w**2).sum(axis=1)
            second_s = affine.s * affine.alpha
            second_mu, second_pi = -affine.sigma * affine.mu, affine.sigma * affine.pi
        V = state.sigma[:, None] * state.w + second_v
        HV, Hb = hessian.apply(V, state.b)
        R_w = state.w + HV - combination(state.alpha, state.A)
        R_b = Hb - float(state.a @ state.alpha)
        R_s = products(state.A, V) + state.a * state.b + state.e * state.xi
        R_s -= state.s + state.h
        rho_s = (target - state.s * state.alpha - second_s) / state.alpha
        rho = rho_mu = rho_pi = np.zeros(d)
        R_m = 0.0
        if not state.is_fixed:
            rho_mu = (target - second_mu) / state.upper - state.mu
            rho_pi = (target - second_pi) / state.sigma - state.pi
            R_sigma = -0.5 * (state.w**2).sum(axis=1) + second_w + state.nu + state.mu - state.pi
            rho = -R_sigma - rho_mu + rho_pi
            R_m = float(state.sigma.sum()) - state.m
        base = -R_w + self.lean * rho[:, None]
        known = products(self.solved, base)
        rhs = np.empty(J + 3)
        rhs[:J] = -R_s + rho_s - known[:J]
        rhs[J] = R_b - known[J] if state.has_bias else 0.0
        rhs[J + 1] = R_m + float(self.give @ rho) - known[J + 1]
        rhs[J + 2] = state.C - float(state.e @ state.alpha)
        found = self._small_solve(rhs)
        d_alpha, d_b, d_nu, d_xi = found[:J], float(found[J]), float(found[J + 1]), float(found[-1])
        dv = self.solve(base[None])[0] + combination(found[: J + 2], self.solved)
        H_dv, _ = hessian.apply(dv, d_b)
        d_sigma = (self.lean * dv).sum(axis=1) + self.give * (rho - d_nu)
        return _Direction(
            w=combination(d_alpha, state.A) - R_w - H_dv,
            b=d_b,
            xi=d_xi,
            nu=d_nu,
            sigma=d_sigma,
            s=rho_s - state.s / state.alpha * d_alpha,
            alpha=d_alpha,
            mu=rho_mu + self.rise * d_sigma,
            pi=rho_pi - self.fall * d_sigma,
            is_fixed=state.is_fixed,
        )
