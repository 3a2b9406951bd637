"""Tables whose columns are shuffled by themselves: what is left when nothing belongs together."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis._typing import FloatArray, Matrix
from tamis.utils.blocks import row_blocks
from tamis.utils.sparse import is_sparse

__all__ = ["ColumnShuffler"]

# Digits of the shape of a column that rounding leaves alone.
DIGITS = 6


class ColumnShuffler:
    """Shuffles the values of each column, by a seed that means the same for any order of X.

    Values are shuffled from their sorted order, and the columns take their turns by the shape of
    their distribution: neither the order of the samples nor that of the columns, nor the sign of
    one, nor an offset matters.

    Parameters
    ----------
    X : {ndarray, CSR} of shape (n_samples, n_features)
    """

    def __init__(self, X: Matrix) -> None:
        self.shape: tuple[int, int] = X.shape
        self._is_sparse = is_sparse(X)
        n_samples, n_features = X.shape
        shapes = np.empty((3, n_features))
        by_columns: Any = sp.csc_array(X) if self._is_sparse else X
        self._sorted: list[Any] = []
        for some in row_blocks(n_features, n_samples):
            block = by_columns[:, some]
            block = np.sort(block.toarray() if self._is_sparse else block, axis=0)
            shapes[:, some] = _shapes(block)
            block = np.where(shapes[0, some] < 0, block[::-1], block)
            self._sorted.append(sp.csc_array(block) if self._is_sparse else block)
        self._turns = np.lexsort((shapes[2], np.abs(shapes[0]), shapes[1]))

    def shuffled(self, seed: int) -> Matrix:
        """The table with each column shuffled, dense or CSR as X is. O(nd)."""
        rng = np.random.default_rng(seed)
        n_samples, n_features = self.shape
        places = np.empty((n_features, n_samples), dtype=np.int32)
        for j in self._turns:
            places[j] = rng.permutation(n_samples)
        if self._is_sparse:
            values = sp.csc_array(sp.hstack(self._sorted))
            column = np.repeat(np.arange(n_features), np.diff(values.indptr))
            rows = places[column, values.indices]
            return sp.csr_array((values.data, (rows, column)), shape=self.shape)
        table = np.empty(self.shape)
        np.put_along_axis(table, places.T.astype(np.intp), np.hstack(self._sorted), axis=0)
        return table


def _shapes(block: FloatArray) -> FloatArray:
    """Skewness, kurtosis and variance of each column."""
    deviations = block - block.mean(axis=0, dtype=np.float64)
    variance = (deviations**2).mean(axis=0)
    unit = deviations / np.sqrt(np.where(variance > 0, variance, 1))
    skewness, kurtosis = (unit**3).mean(axis=0), (unit**4).mean(axis=0)
    return np.array([skewness.round(DIGITS), kurtosis.round(DIGITS), variance])
