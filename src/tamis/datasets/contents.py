"""A checksum of what a set says, not of the file that holds it."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from tamis._typing import IntArray, Matrix
from tamis.utils.sparse import is_sparse

__all__ = ["checksum", "label_codes"]

_DECIMALS = 6
_BLOCK_VALUES = 2**21


def checksum(X: Matrix, y: ArrayLike) -> str:
    """SHA-256 of a table and its classes in canonical form.

    The same data give the same checksum as .npz, .mat or .csv, dense or sparse, in integers or
    floats, and however the classes are named. It covers the shape, every value rounded to six
    decimals, the order of rows and columns, and which samples share a class. A copy in single
    precision agrees only if its values have few decimals.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The values.
    y : array-like of shape (n_samples,)
        The classes, of any type.

    Returns
    -------
    str
        64 hexadecimal digits.

    Notes
    -----
    Hashed block of rows by block of rows, a few million values at a time, as the non-zero entries
    of a CSR matrix. Cost O(n_samples · n_features) for a dense table.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from tamis.datasets import checksum
    >>> X = np.eye(3)
    >>> checksum(X, [1, 2, 2]) == checksum(sp.csr_array(X), ["a", "b", "b"])
    True
    """
    n_samples, n_features = X.shape
    digest = hashlib.sha256(np.array([n_samples, n_features], "<i8").tobytes())
    rows = X.tocsr() if is_sparse(X) else X
    # The blocks follow from the shape alone: where they end is part of what is hashed.
    block_rows = max(1, _BLOCK_VALUES // max(1, n_features))
    for start in range(0, n_samples, block_rows):
        _add_block(digest, rows[start : start + block_rows])
    digest.update(_first_appearance(y).astype("<i8").tobytes())
    return digest.hexdigest()


def _add_block(digest: Any, block: Matrix) -> None:
    if is_sparse(block):
        values = sp.csr_array(block, dtype=np.float64, copy=True)
        values.sum_duplicates()
        values.data = np.round(values.data, _DECIMALS)
    else:
        values = sp.csr_array(np.round(np.asarray(block, dtype=np.float64), _DECIMALS))
    values.eliminate_zeros()
    values.sort_indices()
    digest.update(values.indptr.astype("<i8").tobytes())
    digest.update(values.indices.astype("<i8").tobytes())
    digest.update(values.data.astype("<f8").tobytes())


def _first_appearance(labels: ArrayLike) -> IntArray:
    """Codes that do not depend on how the classes are named."""
    _, first, codes = np.unique(np.asarray(labels), return_index=True, return_inverse=True)
    rank = np.empty(first.size, dtype=np.intp)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[codes]


def label_codes(labels: NDArray[Any]) -> IntArray:
    """Classes as 0, 1, … in sorted order; text that holds numbers is sorted as numbers."""
    if labels.dtype.kind in "SU":
        labels = np.char.strip(labels.astype(str))
        with suppress(ValueError):  # names stay text
            numbers = labels.astype(np.float64)
            labels = numbers if np.isfinite(numbers).all() else labels
    return np.unique(labels, return_inverse=True)[1].astype(np.intp)
