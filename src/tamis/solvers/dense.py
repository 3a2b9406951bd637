"""Products, factorizations and eigenpairs of dense matrices, on as many threads as they need."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from tamis._typing import FloatArray, Matrix, Operator
from tamis.utils.threads import all_threads


def matmul(left: Matrix, right: Matrix) -> Any:
    """``left @ right``; of sparse tables scipy's product, which has one thread."""
    with all_threads(2 * left.shape[0] * left.shape[1] * right.shape[1]):
        return left @ right


def scale_rows(V: FloatArray, scale: FloatArray) -> FloatArray:
    """``diag(scale)V``, for a vector or for columns."""
    return (V.T * scale).T


def eigh(matrix: FloatArray, **options: Any) -> Any:
    """As :func:`scipy.linalg.eigh`. O(d³)."""
    with all_threads(4 * len(matrix) ** 3):
        return scipy.linalg.eigh(matrix, **options)


def root_of_products(products: FloatArray) -> FloatArray:
    """A square table R with ``RᵀR`` equal to the products of the columns of another. O(d³).

    Columns of very different lengths keep their digits: they are brought to unit length first.
    """
    lengths = np.sqrt(products.diagonal().clip(min=0))
    scale = np.where(lengths > 0, lengths, 1.0)
    values, vectors = eigh(products / np.outer(scale, scale))
    rounding = len(values) * np.finfo(np.float64).eps * values[-1]
    roots = np.sqrt(np.where(values > rounding, values, 0.0))
    root: FloatArray = roots[:, None] * vectors.T * lengths
    return root


def eigenpairs_in_range(
    matrix: FloatArray, wanted: tuple[int, int]
) -> tuple[FloatArray, FloatArray]:
    """The eigenpairs of the given range of indices, ascending."""
    # On clustered eigenvalues "evr" can fail, or find fewer than it was asked for.
    with contextlib.suppress(np.linalg.LinAlgError):
        values, vectors = eigh(matrix, subset_by_index=wanted, driver="evr")
        if len(values) == vectors.shape[1] == wanted[1] - wanted[0] + 1:
            return values, vectors
    values, vectors = eigh(matrix, driver="evd")
    chosen = slice(wanted[0], wanted[1] + 1)
    return values[chosen], vectors[:, chosen]


@dataclass(frozen=True)
class Cholesky:
    """A triangular factor of a positive definite matrix; what is beyond the triangle is arbitrary.

    Attributes
    ----------
    factor : ndarray of shape (size, size)
        U of ``UᵀU``, or K of ``KKᵀ`` if `lower`.
    lower : bool
    """

    factor: FloatArray
    lower: bool

    def solve(self, B: FloatArray) -> FloatArray:
        """The inverse of the matrix times B, a vector or columns."""
        return scipy.linalg.cho_solve((self.factor, self.lower), B, check_finite=False)

    def solve_half(self, B: FloatArray) -> FloatArray:
        """``U⁻ᵀB``, or ``K⁻¹B``: its Gram matrix is B's in the metric of the inverse."""
        return scipy.linalg.solve_triangular(
            self.factor, B, lower=self.lower, trans="N" if self.lower else "T", check_finite=False
        )


def cholesky(matrix: FloatArray, *, lower: bool = False, overwrite: bool = False) -> Cholesky:
    """The factor of a positive definite matrix, of which one triangle is read. O(d³).

    Neither this nor what is solved with it looks for NaN: tables are checked where they enter, and
    an iteration that has run into one sees it in its own result.
    """
    with all_threads(len(matrix) ** 3 / 3):
        factor, _ = scipy.linalg.cho_factor(
            matrix, lower=lower, overwrite_a=overwrite, check_finite=False
        )
    return Cholesky(factor, lower)


def cholesky_of_identity_plus(matrix: FloatArray, *, lower: bool = False) -> Cholesky:
    """The factor of I plus a positive semi-definite matrix, which is overwritten. O(d³)."""
    matrix[np.diag_indices_from(matrix)] += 1
    return cholesky(matrix, lower=lower, overwrite=True)


def solver_of_identity_plus(matrix: FloatArray) -> Operator:
    """Solves systems with I plus a positive semi-definite matrix, which is overwritten.

    By Cholesky; or by eigenvectors where the matrix is so large that rounding hides the identity,
    and what is below zero is rounding.
    """
    if np.trace(matrix) * len(matrix) * np.finfo(np.float64).eps >= 0.5:
        values, vectors = eigh(matrix)
        inverse = 1 / (1 + values.clip(min=0))
        return lambda Y: vectors @ scale_rows(vectors.T @ Y, inverse)
    return cholesky_of_identity_plus(matrix).solve
