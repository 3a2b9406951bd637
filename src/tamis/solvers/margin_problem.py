"""The convex inner problem of maximum margin clustering with a budget of features.

Equation numbers are those of B. Zhao, J. Kwok, F. Wang, C. Zhang, CVPR 2009.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tamis._typing import FloatArray
from tamis.solvers.margin_hessian import Hessian
from tamis.solvers.result import SolverResult


@dataclass(frozen=True)
class InnerProblem:
    r"""Margin constraints under one slack, with a budget of scale factors.

    .. math:: \min_{V, b, \xi \ge 0, \sigma} \tfrac12 \sum_k \|v_k\|^2 / \sigma_k + C \xi
       + \tfrac12 \theta^T H \theta \quad \text{s.t.} \quad
       \langle A_j, V \rangle + a_j b \ge h_j - \xi, \quad 0 \le \sigma \le 1, \quad
       \textstyle\sum_k \sigma_k = m

    and, with a bias, :math:`|b| \le l`; without, :math:`|\langle B_j, V \rangle| \le l`.

    Attributes
    ----------
    cuts : ndarray of shape (n_cuts, n_features, n_blocks)
        A; V has one block for two classes, one per class for more.
    cut_biases : ndarray of shape (n_cuts,)
    cut_bounds : ndarray of shape (n_cuts,)
        h.
    C : float
    n_selected : int
        m, at most n_features; with all of them σ = 1 is fixed.
    limit : float
        l, positive.
    balances : ndarray of shape (n_balances, n_features, n_blocks) or None
        B; None if there is a bias.
    hessian : Hessian
        H.
    """

    cuts: FloatArray
    cut_biases: FloatArray
    cut_bounds: FloatArray
    C: float
    n_selected: int
    limit: float
    balances: FloatArray | None
    hessian: Hessian

    def regulariser(self, V: FloatArray, b: float) -> float:
        """The objective without Cξ, for the best σ."""
        HV, Hb = self.hessian.apply(V, b)
        norms = np.linalg.norm(V, axis=1)
        return support_term(norms, self.n_selected) + 0.5 * (float((HV * V).sum()) + Hb * b)

    def repaired(self, V: FloatArray, b: float) -> tuple[FloatArray, float]:
        """The point moved onto the balance constraints, should rounding have left it outside."""
        if self.balances is None:
            return V, float(np.clip(b, -self.limit, self.limit))
        largest = np.abs(products(self.balances, V)).max(initial=0)
        return (V if largest <= self.limit else V * (self.limit / largest)), b

    def slack(self, V: FloatArray, b: float) -> float:
        """The smallest ξ that the cuts allow."""
        margins = products(self.cuts, V) + self.cut_biases * b
        return max(0.0, float((self.cut_bounds - margins).max(initial=0)))


@dataclass(frozen=True, kw_only=True)
class InnerResult(SolverResult[FloatArray]):
    """An optimum V of the inner problem, of shape (n_features, n_blocks), and the proof of it.

    The objective is the lowest so far, after each iteration; the optimality is the difference of
    the last to a proven lower bound.

    Attributes
    ----------
    b : float
    slack : float
        ξ.
    prices : ndarray of shape (n_features, n_blocks)
        The gradient w = Aᵀα − Hθ: v_k = σ_k w_k, and a feature outside has the smaller norm.
    multipliers : ndarray of shape (n_cuts,)
        α of the cuts; an inactive cut has nearly zero.
    n_iter : int
    """

    b: float
    slack: float
    prices: FloatArray
    multipliers: FloatArray
    n_iter: int


def products(rows: FloatArray, V: FloatArray) -> FloatArray:
    """The inner product of V with each of a stack of arrays of its shape."""
    return rows.reshape(len(rows), -1) @ V.ravel()


def combination(weights: FloatArray, rows: FloatArray) -> FloatArray:
    """The weighted sum of a stack of arrays."""
    return (weights @ rows.reshape(len(rows), -1)).reshape(rows.shape[1:])


def scale_factors(norms: FloatArray, n_selected: int) -> FloatArray:
    """The σ that minimises ``Σ v_k² / σ_k`` for given ``|v_k|``: ``min(1, |v_k| / τ)``, Σσ = m.

    Where fewer than m features are in use, the others share what is left of m equally.
    O(d log d).
    """
    d = len(norms)
    in_use = norms > 0
    n_used = int(in_use.sum())
    if n_used <= n_selected:
        rest = (n_selected - n_used) / max(1, d - n_used)
        return np.where(in_use, 1.0, rest)
    ordered = np.sort(norms)[::-1]
    # With the j largest at one, τ = (sum of the others) / (m − j): the first j that leaves the
    # next one below its level.
    tails = np.cumsum(ordered[::-1])[::-1][:n_selected]
    levels = tails / (n_selected - np.arange(n_selected))
    # The last level may equal its own norm but for rounding.
    below = ordered[:n_selected] <= levels
    level = levels[below.argmax()] if below.any() else levels[-1]
    return np.minimum(1.0, norms / level)


def support_term(norms: FloatArray, n_selected: int) -> float:
    """``½ min_σ Σ v_k² / σ_k``: half the squared m-support norm."""
    sigma = scale_factors(norms, n_selected)
    return 0.5 * float(np.divide(norms**2, sigma, out=np.zeros_like(norms), where=norms > 0).sum())


def largest_sum(values: FloatArray, n_selected: int) -> float:
    """Sum of the m largest values."""
    start = len(values) - n_selected
    return float(np.partition(values, start)[start:].sum()) if start else float(values.sum())
