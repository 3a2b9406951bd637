"""Exact nearest neighbours from single-precision tiles of the distance matrix.

The search is bound by one single-precision matrix product over half of the pairs, yet it returns
what double precision would: see `TileSearch`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from tamis._progress import progress
from tamis._typing import FloatArray, IntArray, Matrix
from tamis.columns import row_blocks

TILE_SIDE = 1024
SPARSE_TILE_SIDE = 512


def pair_distances(X: Matrix, left: IntArray, right: IntArray) -> FloatArray:
    """Squared distances of the row pairs (left[p], right[p]), by differences in float64. O(pd)."""
    squared = np.empty(len(left))
    row_length = X.nnz // X.shape[0] if sp.issparse(X) else X.shape[1]
    for pairs in row_blocks(len(left), row_length):
        if sp.issparse(X):
            difference = (X[left[pairs]] - X[right[pairs]]).astype(np.float64)
            squared[pairs] = difference.power(2).sum(axis=1)
        else:
            difference = np.subtract(X[left[pairs]], X[right[pairs]], dtype=np.float64)
            squared[pairs] = np.einsum("pd,pd->p", difference, difference)
    return squared


def first_per_row(
    rows: IntArray, columns: IntArray, squared: FloatArray, n_rows: int, n_neighbors: int
) -> tuple[IntArray, FloatArray]:
    """Per row its `n_neighbors` nearest candidates, ties by index; no row has fewer."""
    order = np.lexsort((columns, squared, rows))
    starts = np.searchsorted(rows[order], np.arange(n_rows))
    chosen = order[starts[:, None] + np.arange(n_neighbors)]
    return columns[chosen], squared[chosen]


class TileSearch:
    """Exact neighbours from single-precision tiles of the distance matrix.

    Each tile holds rigorous *lower bounds* of the squared distances between two blocks of rows:
    rounding errors of a product of length m are at most about m·2⁻²⁴(‖x‖² + ‖y‖²), and the bound
    is folded into the product itself. A pair is a candidate while its lower bound does not exceed
    the k-th smallest upper bound of its row, so no true neighbour is ever dropped; the few
    candidates that remain are ranked by float64 differences. The matrix is symmetric: every tile
    serves its rows and its columns.
    """

    def __init__(self, X: Matrix, n_neighbors: int) -> None:
        self.X = X
        self.n_neighbors = n_neighbors
        n_samples, n_features = X.shape
        side = SPARSE_TILE_SIDE if sp.issparse(X) else TILE_SIDE
        self.blocks = [
            slice(start, min(start + side, n_samples)) for start in range(0, n_samples, side)
        ]
        if sp.issparse(X):
            scaled = X.astype(np.float64)
            scaled = scaled * power_of_two_scale(np.abs(scaled.data).max(initial=0.0))
            squared_norms = scaled.power(2).sum(axis=1)
            product_length = int(np.diff(X.indptr).max()) + 2
            self._table = scaled.astype(np.float32)
            self._densified = (-1, np.empty(0))
        else:
            centre = X.mean(axis=0, dtype=np.float64)
            squared_norms = np.empty(n_samples)
            product_length = n_features + 2
            # Columns: the centred row, 1, its squared norm; `_tile` pairs them crosswise.
            self._table = np.ones((n_samples, n_features + 2), dtype=np.float32)
            largest = max(
                np.abs(X.max(axis=0) - centre).max(), np.abs(X.min(axis=0) - centre).max()
            )
            scale = power_of_two_scale(largest)
            for rows in row_blocks(n_samples, n_features):
                centred = (X[rows] - centre) * scale
                squared_norms[rows] = np.einsum("nd,nd->n", centred, centred)
                self._table[rows, :n_features] = centred
        # Twice the classical bound, for the casts to single precision and the norms.
        relative_error = 2 * (product_length + 16) * 2.0**-24
        self._lower_norms = (squared_norms * (1 - relative_error)).astype(np.float32)
        # Upper minus lower bound of a pair is gap[i] + gap[j]; the last term covers underflow.
        self._gap = 2 * relative_error * squared_norms + product_length * 2.0**-120
        if not sp.issparse(X):
            self._table[:, -1] = self._lower_norms

    def run(self, verbose: bool) -> tuple[IntArray, FloatArray]:
        """Indices and squared distances of the neighbours, nearest first."""
        candidates = [_Candidates(rows, self._gap, self.n_neighbors) for rows in self.blocks]
        n_blocks = len(self.blocks)
        n_tiles = n_blocks * (n_blocks + 1) // 2
        for i, j in progress(_diagonal_first(n_blocks), n_tiles, "neighbours", verbose):
            tile = self._tile(self.blocks[i], self.blocks[j])
            if i == j:
                np.fill_diagonal(tile, np.inf)  # a sample is not its own neighbour
                candidates[i].start(tile)
            else:
                candidates[i].offer(tile, self.blocks[j].start, across=False)
                candidates[j].offer(tile, self.blocks[i].start, across=True)
        found = [block.nearest(self.X) for block in candidates]
        return np.vstack([indices for indices, _ in found]), np.vstack([sq for _, sq in found])

    def _tile(self, left: slice, right: slice) -> FloatArray:
        """Lower bounds of the squared distances between two blocks of rows."""
        if sp.issparse(self.X):
            # A sparse times a dense block: the product of two sparse blocks is dense anyway.
            tile = self._table[left] @ self._dense_columns(right.start, right.stop)
            tile *= -2
            tile += self._lower_norms[left, None]
            tile += self._lower_norms[right]
            return tile
        crosswise = self._table[left] * np.float32(-2)
        crosswise[:, -2] = self._lower_norms[left]
        crosswise[:, -1] = 1
        return crosswise @ self._table[right].T

    def _dense_columns(self, start: int, stop: int) -> FloatArray:
        """A block of sparse rows as dense columns; the last block is kept for the next tile."""
        if self._densified[0] != start:
            self._densified = start, self._table[start:stop].T.toarray(order="C")
        return self._densified[1]


class _Candidates:
    """The pairs of one block of rows that may still be neighbours."""

    def __init__(self, block: slice, gap: FloatArray, n_neighbors: int) -> None:
        self.block = block
        self.gap = gap
        self.n_neighbors = n_neighbors
        self.n_rows = block.stop - block.start
        self.rows = np.empty(0, dtype=np.intp)
        self.columns = np.empty(0, dtype=np.intp)
        self.lower = np.empty(0, dtype=np.float32)
        self.threshold = np.full(self.n_rows, np.inf)

    def start(self, tile: FloatArray) -> None:
        """Take the block's own tile, where a first threshold comes from."""
        if self.n_neighbors < self.n_rows:
            gap = self.gap[self.block]
            kth = np.partition(tile, self.n_neighbors - 1)[:, self.n_neighbors - 1]
            self.threshold = kth + (gap + gap.max())
        self.offer(tile, self.block.start, across=False)

    def offer(self, tile: FloatArray, first: int, across: bool) -> None:
        """Keep what may be a neighbour in a tile; `across`: the block's rows are its columns."""
        # Rounded up: a pair at the threshold must stay.
        threshold = np.nextafter(self.threshold.astype(np.float32), np.float32(np.inf))
        kept = np.flatnonzero(tile <= (threshold if across else threshold[:, None]))
        if len(kept) == 0:
            return
        rows, columns = np.divmod(kept, tile.shape[1])
        lower = tile.ravel()[kept]
        if across:
            rows, columns = columns, rows
        proper = np.isfinite(lower)
        self.rows = np.concatenate([self.rows, rows[proper]])
        self.columns = np.concatenate([self.columns, columns[proper] + first])
        self.lower = np.concatenate([self.lower, lower[proper]])
        self._tighten()

    def _tighten(self) -> None:
        """Lower each row's threshold to its k-th smallest upper bound and drop what is above."""
        upper = self.lower + self.gap[self.rows + self.block.start] + self.gap[self.columns]
        order = np.lexsort((upper, self.rows))
        counts = np.bincount(self.rows, minlength=self.n_rows)
        starts = np.cumsum(counts) - counts
        full = np.flatnonzero(counts >= self.n_neighbors)
        kth = upper[order[starts[full] + self.n_neighbors - 1]]
        self.threshold[full] = np.minimum(self.threshold[full], kth)
        keep = self.lower <= self.threshold[self.rows]
        self.rows, self.columns = self.rows[keep], self.columns[keep]
        self.lower = self.lower[keep]

    def nearest(self, X: Matrix) -> tuple[IntArray, FloatArray]:
        """The nearest candidates of each row, ranked in double precision."""
        squared = pair_distances(X, self.rows + self.block.start, self.columns)
        return first_per_row(self.rows, self.columns, squared, self.n_rows, self.n_neighbors)


def _diagonal_first(n_blocks: int) -> Iterator[tuple[int, int]]:
    yield from ((i, i) for i in range(n_blocks))
    yield from ((i, j) for j in range(n_blocks) for i in range(j))


def power_of_two_scale(largest: float) -> float:
    """The power of two that brings `largest` to about 1; multiplying by it rounds nothing."""
    return 2.0 ** -np.frexp(largest)[1] if largest > 0 else 1.0
