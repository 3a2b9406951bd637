"""Tables in pieces: slices of rows, of pairs of rows and of items that cost unlike amounts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tamis._typing import FloatArray, IntArray, Matrix
from tamis.utils.sparse import is_sparse

# Dense tables are read in row blocks of about this many numbers: large enough for numpy to run at
# full speed, small enough for the float64 temporaries to stay in the cache.
BLOCK_SIZE = 1 << 18
# Tables of more numbers (32 MB) stay in no cache: they are worth being read in pieces, side by
# side, and not worth being copied.
LARGE_TABLE = 1 << 22


def row_blocks(n_rows: int, row_length: int, *, block_size: int | None = None) -> Iterator[slice]:
    """Consecutive row slices of a table, each of about `block_size` numbers, or ``BLOCK_SIZE``."""
    step = max(1, (block_size or BLOCK_SIZE) // max(1, row_length))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def column_pieces(X: FloatArray) -> Iterator[slice]:
    """Consecutive column slices of a large and wide table; all columns of any other."""
    n_samples, n_features = X.shape
    large = X.size >= LARGE_TABLE and n_samples <= n_features
    return row_blocks(n_features, n_samples, block_size=LARGE_TABLE // 4 if large else X.size + 1)


def cost_blocks(costs: FloatArray) -> Iterator[slice]:
    """Consecutive slices of items whose costs add up to about ``BLOCK_SIZE``, at least one each."""
    ends = np.cumsum(costs)
    start = 0
    while start < len(ends):
        spent = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, spent + BLOCK_SIZE, side="right")))
        yield slice(start, stop)
        start = stop


def pair_blocks(X: Matrix, left: IntArray, right: IntArray) -> Iterator[slice]:
    """Slices of row pairs, such that their differences hold about ``BLOCK_SIZE`` numbers."""
    if is_sparse(X):
        lengths = np.diff(X.indptr)
        return cost_blocks(lengths[left] + lengths[right] + 1)
    return row_blocks(len(left), X.shape[1])
