"""Dictionary learning, one block at a time: atoms within the unit ball, sparse or ridge codes.

A table Y (one sample a column) is rebuilt as ``DA`` from atoms D and codes A. Both halves of the
problem need small products only, never Y itself:

- the atoms need ``AAᵀ`` and ``YAᵀ``: :func:`dictionary_update`;
- the codes need ``DᵀD`` and ``DᵀY``: :func:`sparse_codes`, :func:`ridge_codes`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.linalg

from tamis._typing import FloatArray
from tamis.utils.blocks import row_blocks

# ADMM multiplies its step by this after each iteration, until it has grown tenfold: growing
# on, it would freeze the atoms wherever they are.
ADMM_GROWTH = 1.2
ADMM_MOST_GROWTH = 10.0
# Numbers in a block of codes: a few such blocks fit the cache of a core.
CACHED_CODES = 2**15
# A dictionary has at most this many atoms, unless more are asked for.
MOST_ATOMS = 200


@dataclass(frozen=True)
class Block:
    """The solution of one block of a dictionary problem.

    Attributes
    ----------
    solution : ndarray
        Atoms of shape (n_rows, n_atoms), or codes of shape (n_atoms, n_samples).
    objective : ndarray
        The block's objective at the start and after each step, less the constant ``‖Y‖²``; it
        never rises.
    converged : bool
    optimality : float
        How far one more exact (block) step would move the solution; 0 is optimal.
    how : str
        The algorithm that was used.
    """

    solution: FloatArray
    objective: FloatArray
    converged: bool
    optimality: float
    how: str


def number_of_atoms(wanted: int | None, n_samples: int, fewest: int) -> int:
    """The size of a dictionary: as wanted, or a fifth of the samples, within limits."""
    if wanted is None:
        return min(max(min(n_samples // 5, MOST_ATOMS), fewest), n_samples)
    if wanted > n_samples:
        raise ValueError(
            f"n_atoms={wanted} is too large for n_samples={n_samples}; use at most {n_samples}."
        )
    return wanted


def squared_error(squared_norm: float, D: FloatArray, A_gram: FloatArray, YA: FloatArray) -> float:
    """``‖Y − DA‖²`` from ``‖Y‖²``, ``AAᵀ`` and ``YAᵀ``. O((rows + n_atoms)·n_atoms²)."""
    return max(0.0, squared_norm + _dictionary_objective(D, A_gram, YA))


def within_unit_ball(D: FloatArray) -> FloatArray:
    """The columns, those longer than one scaled to unit length."""
    return D / np.maximum(np.linalg.norm(D, axis=0), 1)


def dictionary_update(
    A_gram: FloatArray,
    YA: FloatArray,
    start: FloatArray,
    *,
    algorithm: Literal["blocks", "admm"] = "blocks",
    max_iter: int = 10,
    tol: float = 1e-6,
) -> Block:
    """Minimise ``‖Y − DA‖²`` over D whose columns have at most unit length.

    "blocks" minimises over one atom after the other, exactly. "admm" solves for all atoms at once
    and projects them, ``D = (YAᵀ + μ(H − S))(AAᵀ + μI)⁻¹``, with H the projection of ``D + S`` and
    ``S += D − H``. Its iterates do not descend: what is returned, and recorded, is the best H.

    Parameters
    ----------
    A_gram : ndarray of shape (n_atoms, n_atoms)
        ``AAᵀ``.
    YA : ndarray of shape (n_rows, n_atoms)
        ``YAᵀ``.
    start : ndarray of shape (n_rows, n_atoms)
        Atoms within the unit ball. An atom that no code uses stays as it is.
    algorithm : {"blocks", "admm"}, default="blocks"
    max_iter : int, default=10
        Sweeps over the atoms, or steps of ADMM.
    tol : float, default=1e-6
        Stop when no atom moves further than this.

    Notes
    -----
    O(n_rows·n_atoms²) a sweep or step, O(n_rows·n_atoms) memory.
    """
    step = _BlockSteps(A_gram, YA, start) if algorithm == "blocks" else _Admm(A_gram, YA, start)
    best = start
    objective = [_dictionary_objective(start, A_gram, YA)]
    converged = False
    for _ in range(max_iter):
        D, moved = step()
        value = _dictionary_objective(D, A_gram, YA)
        if value <= objective[-1]:
            best = D
        objective.append(min(value, objective[-1]))
        if moved <= tol:
            converged = True
            break
    optimality = _distance_from_optimum(best, A_gram, YA)
    return Block(best, np.array(objective), converged, optimality, step.name)


def _dictionary_objective(D: FloatArray, A_gram: FloatArray, YA: FloatArray) -> float:
    return float(np.einsum("ij,ij->", D, D @ A_gram) - 2 * np.einsum("ij,ij->", D, YA))


def _distance_from_optimum(D: FloatArray, A_gram: FloatArray, YA: FloatArray) -> float:
    """How far the exact minimum over one atom is from the atom, at most.

    Zero only at the optimum: the problem is convex, and its constraint separates by atoms.
    """
    used = np.diag(A_gram) > 0
    pull = (YA - D @ A_gram)[:, used] / np.diag(A_gram)[used]
    moves = within_unit_ball(D[:, used] + pull) - D[:, used]
    return float(np.linalg.norm(moves, axis=0).max(initial=0))


class _BlockSteps:
    """Sweeps of exact minimisation over one atom after the other."""

    name = "block coordinate descent over the atoms"

    def __init__(self, A_gram: FloatArray, YA: FloatArray, start: FloatArray) -> None:
        self.gram = A_gram
        self.used = np.flatnonzero(np.diag(A_gram) > 0)
        self.targets = np.ascontiguousarray(YA.T)
        self.atoms = np.array(start.T, order="C")  # an atom a row: contiguous

    def __call__(self) -> tuple[FloatArray, float]:
        moved = 0.0
        for k in self.used:
            pull = (self.targets[k] - self.gram[k] @ self.atoms) / self.gram[k, k]
            atom = self.atoms[k] + pull
            atom /= max(1.0, float(np.linalg.norm(atom)))
            moved = max(moved, float(np.linalg.norm(atom - self.atoms[k])))
            self.atoms[k] = atom
        return self.atoms.T.copy(), moved


class _Admm:
    """Steps of the alternating direction method of multipliers, as the poster has it."""

    name = "alternating direction method of multipliers"

    def __init__(self, A_gram: FloatArray, YA: FloatArray, start: FloatArray) -> None:
        self.YA = YA
        self.values, self.vectors = scipy.linalg.eigh(A_gram)
        self.mu = max(float(self.values.clip(min=0).mean()), np.finfo(float).tiny)
        self.largest_mu = ADMM_MOST_GROWTH * self.mu
        self.H, self.S = start, np.zeros_like(start)

    def __call__(self) -> tuple[FloatArray, float]:
        target = self.YA + self.mu * (self.H - self.S)
        D = (target @ self.vectors / (self.values + self.mu)) @ self.vectors.T
        previous, self.H = self.H, within_unit_ball(D + self.S)
        self.S = self.S + D - self.H
        if self.mu < self.largest_mu:
            self.mu *= ADMM_GROWTH
            self.S = self.S / ADMM_GROWTH
        moves = np.linalg.norm(self.H - previous, axis=0) + np.linalg.norm(D - self.H, axis=0)
        return self.H, float(moves.max())


def sparse_codes(
    gram: FloatArray,
    correlation: FloatArray,
    penalty: float,
    start: FloatArray,
    *,
    max_iter: int = 100,
    tol: float = 1e-6,
) -> Block:
    """Minimise ``‖Y − DA‖² + penalty·‖A‖1`` over A, from a start.

    FISTA. Where momentum would raise the objective the step is taken anew without it, which never
    does.

    Parameters
    ----------
    gram : ndarray of shape (n_atoms, n_atoms)
        ``DᵀD``.
    correlation : ndarray of shape (n_atoms, n_samples)
        ``DᵀY``.
    penalty : float
    start : ndarray of shape (n_atoms, n_samples)
    max_iter : int, default=100
    tol : float, default=1e-6
        Stop when no code moves further than this fraction of the largest.

    Notes
    -----
    O(n_atoms²·n_samples) a step, O(n_atoms·n_samples) memory.
    """
    size = len(gram)
    largest = float(scipy.linalg.eigh(gram, eigvals_only=True, subset_by_index=(size - 1,) * 2)[0])
    how = "FISTA with a monotone safeguard"
    objective = [_codes_objective(start, gram, correlation, penalty)]
    if largest <= 0:  # no atom at all: nothing can be coded
        return Block(np.zeros_like(start), np.array([objective[0], 0.0]), True, 0.0, how)

    steps = _ThresholdedSteps(gram, correlation, penalty, start, largest)
    inertia, momentum = 1.0, 0.0
    converged = False
    for _ in range(max_iter):
        value = steps.propose(momentum)
        if value > objective[-1]:
            inertia = 1.0
            value = steps.propose(0.0)
            if value > objective[-1]:  # at the optimum, but for rounding
                converged = True
                break
        steps.accept()
        next_inertia = (1 + np.sqrt(1 + 4 * inertia**2)) / 2
        momentum, inertia = (inertia - 1) / next_inertia, next_inertia
        objective.append(value)
        if steps.moved <= tol * steps.largest_code:
            converged = True
            break
    scale = max(float(np.abs(steps.A).max()), np.finfo(float).tiny)
    optimality = steps.distance_from_fixed_point() / scale
    return Block(steps.A.T, np.array(objective), converged, optimality, how)


class _ThresholdedSteps:
    """Proximal gradient steps of the codes, in place, with a sample a row.

    Samples are independent but for the decision to accept: a step goes through them in blocks that
    stay in the cache. The codes A are kept with ``A(I − rate·DᵀD)``, which is what a step is made
    of and linear in A, so that momentum costs no product.
    """

    def __init__(
        self,
        gram: FloatArray,
        correlation: FloatArray,
        penalty: float,
        start: FloatArray,
        largest: float,
    ) -> None:
        self.gram, self.penalty = gram, penalty
        # A step of 1/λmax descends; its last digit is rounding.
        self.rate = 1 / (largest * (1 + 1e-12))
        self.pull = self.rate * correlation.T
        self.A = np.array(start.T, order="C")
        self.shrunk = self.A - self.rate * (self.A @ gram)
        # What came before A, and then what is proposed to follow it: never both.
        self.other, self.other_shrunk = self.A.copy(), self.shrunk.copy()
        self.moved = self.largest_code = 0.0

    def propose(self, momentum: float) -> float:
        """Step from ``A + momentum·(A − what came before)``: the objective there."""
        value = moved = largest = 0.0
        for rows in row_blocks(*self.A.shape, block_size=CACHED_CODES):
            codes = self._step(rows, momentum)
            image = codes @ self.gram
            value += float(np.vdot(codes, image) - 2 / self.rate * np.vdot(codes, self.pull[rows]))
            size = np.abs(codes)
            value += self.penalty * float(size.sum())
            largest = max(largest, float(size.max(initial=0)))
            moved = max(moved, _largest_difference(codes, self.A[rows]))
            image *= -self.rate
            np.add(image, codes, out=self.other_shrunk[rows])
            self.other[rows] = codes
        self.moved, self.largest_code = moved, largest
        return value

    def accept(self) -> None:
        """Take the proposal."""
        self.A, self.other = self.other, self.A
        self.shrunk, self.other_shrunk = self.other_shrunk, self.shrunk

    def distance_from_fixed_point(self) -> float:
        """How far a step from A would move a code, at most."""
        blocks = row_blocks(*self.A.shape, block_size=CACHED_CODES)
        return max(_largest_difference(self._step(rows, 0.0), self.A[rows]) for rows in blocks)

    def _step(self, rows: slice, momentum: float) -> FloatArray:
        codes = self.shrunk[rows] + self.pull[rows]
        if momentum:
            ahead = self.shrunk[rows] - self.other_shrunk[rows]
            ahead *= momentum
            codes += ahead
        threshold = self.rate * self.penalty / 2
        codes -= np.clip(codes, -threshold, threshold)
        return codes


def _largest_difference(A: FloatArray, B: FloatArray) -> float:
    difference = A - B
    return float(np.abs(difference, out=difference).max(initial=0))


def _codes_objective(
    A: FloatArray, gram: FloatArray, correlation: FloatArray, penalty: float
) -> float:
    """``‖Y − DA‖² + penalty·‖A‖1``, less ``‖Y‖²``."""
    return float(np.vdot(A, gram @ A - 2 * correlation) + penalty * np.abs(A).sum())


def ridge_codes(gram: FloatArray, correlation: FloatArray, penalty: float) -> Block:
    """Minimise ``‖Y − DA‖² + penalty·‖A‖²``: ``A = (DᵀD + penalty·I)⁻¹DᵀY``, in closed form.

    Parameters
    ----------
    gram : ndarray of shape (n_atoms, n_atoms)
        ``DᵀD``.
    correlation : ndarray of shape (n_atoms, n_samples)
        ``DᵀY``.
    penalty : float
        Positive.

    Notes
    -----
    O(n_atoms³ + n_atoms²·n_samples).
    """
    system = gram + penalty * np.eye(len(gram))
    A = scipy.linalg.cho_solve(scipy.linalg.cho_factor(system), correlation)
    value = -float(np.einsum("ij,ij->", A, correlation))  # since system·A = correlation
    misfit = np.abs(system @ A - correlation).max(initial=0)
    scale = max(np.abs(correlation).max(initial=0), np.finfo(float).tiny)
    return Block(A, np.array([value]), True, float(misfit / scale), "closed form")
