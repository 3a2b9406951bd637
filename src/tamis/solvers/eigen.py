"""The few smallest eigenpairs of a matrix that is known by its inverse.

Reweighting spreads the diagonal of a matrix over many orders of magnitude, which is hard for a
plain eigensolver. Its inverse, scaled so that rounding is relative to each row, is not: Lanczos
works on that, a dense solver takes over where it fails, and the residual of what is returned is
checked.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh, splu

from tamis._typing import FloatArray, Operator, SparseMatrix
from tamis.solvers.dense import eigenpairs_in_range
from tamis.solvers.eigenpairs import Eigenpairs
from tamis.solvers.refinement import Refinement

# Up to this size a dense eigensolver beats Lanczos on a factorized inverse.
DENSE_MAX = 400
# The largest dense matrix, of the smaller side of the table, that is ever formed.
SIDE_MAX = 6000
# Relative residual of the inverse problem above which a result is not accepted.
RESIDUAL_MAX = 1e-7
# Applications of the inverse, in multiples of its size, after which Lanczos gives way to a dense
# eigensolver, where one can be afforded.
LANCZOS_PASSES = 4
# What is added to a singular matrix before it is inverted, as a share of its mean diagonal.
INVERSE_SHIFT = 1e-8


def largest_of_inverse(
    solve: Operator,
    size: int,
    n_pairs: int,
    start: FloatArray | None,
    solver: str,
    *,
    affordable: bool,
    refinement: Refinement | None = None,
) -> Eigenpairs:
    """Smallest eigenpairs of P from applications of P⁻¹, by Lanczos, with a dense way out.

    Parameters
    ----------
    solve : callable
        Applies the symmetric positive definite P⁻¹ to a vector or to columns.
    size, n_pairs : int
    start : ndarray of shape (size, n_any) or None
        Approximate eigenvectors, to start from.
    solver : str
        How P⁻¹ is applied, and why so: handed on to the result.
    affordable : bool
        Whether P⁻¹ may be formed, if Lanczos fails.
    refinement : Refinement or None, default=None
        That of a descent whose last eigenvectors are `start`: they are refined first.
    """
    if n_pairs > size:
        raise ValueError(f"{n_pairs} eigenvectors were asked of a matrix of size {size}.")
    if affordable and (size <= DENSE_MAX or n_pairs > size // 3):
        return _from_dense(solve, size, n_pairs, "the matrix is small")
    if refinement is not None and start is not None and start.shape[1] == n_pairs:
        refined = refinement(solve, start, solver)
        if refined is not None:
            return refined

    operator = LinearOperator((size, size), matvec=solve, dtype=np.float64)
    guess = first_guess(size, start)
    for n_basis in (max(2 * n_pairs + 8, 20), max(4 * n_pairs, 80)):
        # Where eigenvalues crowd, Lanczos may go on for hours: no longer than a dense way takes.
        restarts = max(20, LANCZOS_PASSES * size // n_basis) if affordable else None
        try:
            inverse_values, vectors = eigsh(
                operator,
                n_pairs,
                which="LA",
                v0=guess,
                ncv=min(n_basis, size),
                tol=1e-10,
                maxiter=restarts,
            )
        except ArpackError:
            continue
        pairs = _ascending(inverse_values, vectors, solve, solver)
        if pairs.optimality <= RESIDUAL_MAX:
            return pairs
    if not affordable:
        raise np.linalg.LinAlgError(
            f"Lanczos did not find {n_pairs} eigenvectors of a matrix of size {size}, which is too "
            "large for a dense solver; try fewer clusters or components."
        )
    method = solver.partition(":")[0]
    return _from_dense(solve, size, n_pairs, f"{method} did not converge")


def first_guess(size: int, start: FloatArray | None) -> FloatArray:
    """A vector to start Lanczos from: in the span of `start`, if given, and a little of all."""
    guess = np.random.default_rng(0).standard_normal(size) / np.sqrt(size)
    if start is None:
        return guess
    return start.sum(axis=1) + 1e-3 * np.linalg.norm(start) * guess


def _from_dense(solve: Operator, size: int, n_pairs: int, reason: str) -> Eigenpairs:
    inverse = solve(np.eye(size))
    inverse = (inverse + inverse.T) / 2
    values, vectors = eigenpairs_in_range(inverse, (size - n_pairs, size - 1))
    return _ascending(values, vectors, solve, f"dense: {reason}")


def _ascending(
    inverse_values: FloatArray, vectors: FloatArray, solve: Operator, solver: str
) -> Eigenpairs:
    """Order the pairs, refine the rows that are small by one inverse step, measure the residual."""
    order = np.argsort(-inverse_values)
    inverse_values, vectors = inverse_values[order], vectors[:, order]
    image = solve(vectors)
    residual = np.linalg.norm(image - vectors * inverse_values, axis=0).max() / inverse_values[0]
    # P⁻¹v/μ equals v, but its rounding errors are relative to each row, not to the whole vector:
    # rows that a penalty has pushed down to 1e-8 keep their order.
    return Eigenpairs.found(1 / inverse_values, image / inverse_values, residual, solver)


def smallest_beside(
    M: SparseMatrix, null_space: SparseMatrix, n_pairs: int, start: FloatArray | None = None
) -> Eigenpairs:
    """The smallest eigenpairs of a sparse M, those of its known null space left out.

    Parameters
    ----------
    M : csr_array of shape (size, size)
        Positive semi-definite.
    null_space : csr_array of shape (size, n_null)
        Orthonormal columns.
    n_pairs : int
        At most size − n_null.
    start : ndarray of shape (size, n_any) or None, default=None
        Approximate eigenvectors, to start from.

    Notes
    -----
    Lanczos on a sparse factorization of M, whose cost is that of its fill-in.
    """
    size = M.shape[0]
    shift = INVERSE_SHIFT * float(M.diagonal().mean())
    factor = splu(sp.csc_matrix(M + shift * sp.eye_array(size)))

    def without_null_space(v: FloatArray) -> FloatArray:
        return v - null_space @ (null_space.T @ v)

    def solve(v: FloatArray) -> FloatArray:
        return without_null_space(factor.solve(without_null_space(v)))

    small = size <= DENSE_MAX
    return largest_of_inverse(
        solve, size, n_pairs, start, "Lanczos on the inverse by a sparse factor", affordable=small
    ).less(shift)
