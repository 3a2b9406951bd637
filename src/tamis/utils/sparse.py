"""Sparse tables in the form that numpy, scipy and scikit-learn agree on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from tamis._typing import Matrix, SparseMatrix

if TYPE_CHECKING:
    from typing_extensions import TypeIs


def is_sparse(X: object) -> TypeIs[SparseMatrix]:
    """`scipy.sparse.issparse`, from which type checkers learn what X is in either branch."""
    return sp.issparse(X)


def canonical_csr(X: Matrix) -> SparseMatrix:
    """X as a CSR array, sorted and without duplicates; the caller's arrays stay as they are."""
    table = sp.csr_array(X)
    if not table.has_canonical_format:
        table = table.copy()
        table.sum_duplicates()
    return table


def with_zeros_implicit(X: Matrix, most: float) -> Matrix:
    """A dense table as a sparse one, if no more than the share `most` of its cells has a value."""
    if is_sparse(X) or np.count_nonzero(X) > most * X.size:
        return X
    return sp.csr_array(X)


def with_short_indices(X: Matrix) -> Matrix:
    """A sparse table with 32-bit indices, if they suffice: scikit-learn's K-means takes no others.

    Slices of a table have 64-bit ones where scipy wants to be safe.
    """
    if not is_sparse(X) or max(X.nnz, *X.shape) > np.iinfo(np.int32).max:
        return X
    indices, indptr = (part.astype(np.int32, copy=False) for part in (X.indices, X.indptr))
    return sp.csr_array((X.data, indices, indptr), shape=X.shape)
