"""Dictionary learning, one block at a time: atoms within the unit ball, sparse or ridge codes.

A table Y (one sample per column) is rebuilt as ``DA`` from atoms D and codes A. Both halves of the
problem need small products only, never Y itself:

- the atoms need ``AAᵀ`` and ``YAᵀ``: :func:`dictionary_update`;
- the codes need ``DᵀD`` and ``DᵀY``: :func:`sparse_codes`, :func:`ridge_codes`.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from tamis._typing import FloatArray, IntArray
from tamis.solvers.dense import cholesky
from tamis.solvers.result import SolverResult
from tamis.utils.blocks import row_blocks

# Atoms that are updated by one product with all of them.
ATOMS_TOGETHER = 32
# Numbers in a block of codes: a few such blocks fit the cache of a core.
CACHED_CODES = 2**15


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
    max_iter: int = 10,
    tol: float = 1e-6,
) -> SolverResult[FloatArray]:
    """Minimise ``‖Y − DA‖²`` over D whose columns have at most unit length.

    Sweeps over the atoms, of which each is minimised over exactly.

    Parameters
    ----------
    A_gram : ndarray of shape (n_atoms, n_atoms)
        ``AAᵀ``.
    YA : ndarray of shape (n_rows, n_atoms)
        ``YAᵀ``.
    start : ndarray of shape (n_rows, n_atoms)
        Atoms within the unit ball. An atom that no code uses stays as it is.
    max_iter : int, default=10
        Sweeps over the atoms.
    tol : float, default=1e-6
        Stop when no atom moves further than this.

    Returns
    -------
    SolverResult
        Atoms of shape (n_rows, n_atoms), with the objective at the start and after each sweep, less
        the constant ``‖Y‖²``; it never rises. The optimality is how far the exact minimum over one
        atom is from the atom, at most.

    Notes
    -----
    O(n_rows·n_atoms²) per sweep, O(n_rows·n_atoms) memory.
    """
    used = np.flatnonzero(np.diag(A_gram) > 0)
    targets = np.ascontiguousarray(YA.T)
    atoms = np.array(start.T, order="C")  # one atom per row: contiguous
    best = start
    objective = [_dictionary_objective(start, A_gram, YA)]
    converged = False
    for _ in range(max_iter):
        moved = _sweep(atoms, A_gram, targets, used)
        D = atoms.T.copy()
        value = _dictionary_objective(D, A_gram, YA)
        if value <= objective[-1]:
            best = D
        objective.append(min(value, objective[-1]))
        converged = moved <= tol
        if converged:
            break
    return SolverResult(
        solution=best,
        objective=np.array(objective),
        optimality=_distance_from_optimum(best, A_gram, YA),
        converged=converged,
        solver="block coordinate descent over the atoms",
    )


def _sweep(atoms: FloatArray, gram: FloatArray, targets: FloatArray, used: IntArray) -> float:
    """Minimise over one atom, a row of `atoms`, after the other: the longest move.

    What the atoms before a group of them have pulled is known from one product for the group.
    """
    moved = 0.0
    for first in range(0, len(used), ATOMS_TOGETHER):
        group = used[first : first + ATOMS_TOGETHER]
        pulls = targets[group] - gram[group] @ atoms
        changes = np.empty_like(pulls)
        for i, k in enumerate(group):
            pull = pulls[i] - gram[k, group[:i]] @ changes[:i]
            pull /= gram[k, k]
            atom = atoms[k] + pull
            atom /= max(1.0, float(np.sqrt(atom @ atom)))
            change = np.subtract(atom, atoms[k], out=changes[i])
            moved = max(moved, float(np.sqrt(change @ change)))
            atoms[k] = atom
    return moved


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


def sparse_codes(
    gram: FloatArray,
    correlation: FloatArray,
    penalty: float,
    start: FloatArray,
    *,
    max_iter: int = 100,
    tol: float = 1e-6,
) -> SolverResult[FloatArray]:
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

    Returns
    -------
    SolverResult
        Codes of shape (n_atoms, n_samples), with the objective at the start and after each step,
        less the constant ``‖Y‖²``; it never rises. The optimality is how far one more step would
        move a code, as a fraction of the largest.

    Notes
    -----
    O(n_atoms²·n_samples) per step, O(n_atoms·n_samples) memory.
    """
    size = len(gram)
    largest = float(scipy.linalg.eigh(gram, eigvals_only=True, subset_by_index=(size - 1,) * 2)[0])
    objective = [_codes_objective(start, gram, correlation, penalty)]
    if largest <= 0:  # no atom at all: nothing can be coded
        return SolverResult(
            solution=np.zeros_like(start),
            objective=np.array([objective[0], 0.0]),
            optimality=0.0,
            converged=True,
            solver="none: there is no atom",
        )

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
    return SolverResult(
        solution=steps.A.T,
        objective=np.array(objective),
        optimality=steps.distance_from_fixed_point() / scale,
        converged=converged,
        solver="FISTA with a monotone safeguard",
    )


class _ThresholdedSteps:
    """Proximal gradient steps of the codes, in place, with one sample per row.

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


def ridge_codes(
    gram: FloatArray, correlation: FloatArray, penalty: float
) -> SolverResult[FloatArray]:
    """Minimise ``‖Y − DA‖² + penalty·‖A‖²``: ``A = (DᵀD + penalty·I)⁻¹DᵀY``, in closed form.

    Parameters
    ----------
    gram : ndarray of shape (n_atoms, n_atoms)
        ``DᵀD``.
    correlation : ndarray of shape (n_atoms, n_samples)
        ``DᵀY``.
    penalty : float
        Positive.

    Returns
    -------
    SolverResult
        Codes of shape (n_atoms, n_samples), with the objective less the constant ``‖Y‖²``. The
        optimality is the largest entry of the residual of the system, relative.

    Notes
    -----
    O(n_atoms³ + n_atoms²·n_samples).
    """
    system = gram + penalty * np.eye(len(gram))
    A = cholesky(system).solve(correlation)
    value = -float(np.einsum("ij,ij->", A, correlation))  # since system·A = correlation
    misfit = np.abs(system @ A - correlation).max(initial=0)
    scale = max(np.abs(correlation).max(initial=0), np.finfo(float).tiny)
    return SolverResult(
        solution=A,
        objective=np.array([value]),
        optimality=float(misfit / scale),
        converged=True,
        solver="closed form",
    )
