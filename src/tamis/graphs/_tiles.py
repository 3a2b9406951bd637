"""Exact nearest neighbours from single-precision tiles of the distance matrix.

The search is bound by one single-precision matrix product over half of the pairs, yet it returns
what double precision would: see `TileSearch`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from tamis._typing import FloatArray, IntArray, Matrix, SparseMatrix
from tamis.utils.blocks import pair_blocks, row_blocks
from tamis.utils.progress import progress
from tamis.utils.rows import row_differences
from tamis.utils.sparse import is_sparse
from tamis.utils.threads import FasterThreads
from tamis.utils.ties import TIE, by_distance, first_per_row

TILE_SIDE = 1024
SPARSE_TILE_SIDE = 512
# Numbers in the dense form of a block of sparse rows.
DENSE_BLOCK_SIZE = 1 << 23
# Numbers in a block of dense rows: the tiles of a wide table are smaller, and it is not copied.
WIDE_BLOCK_SIZE = 1 << 21
SMALLEST_TILE_SIDE = 16


def pair_distances(X: Matrix, left: IntArray, right: IntArray) -> FloatArray:
    """Squared distances of the row pairs (left[p], right[p]), by differences in float64. O(pd)."""
    squared = np.empty(len(left))
    for pairs in pair_blocks(X, left, right):
        difference = row_differences(X, left[pairs], right[pairs])
        if is_sparse(difference):
            squared[pairs] = difference.power(2).sum(axis=1)
        else:
            squared[pairs] = np.einsum("pd,pd->p", difference, difference)
    return squared


class TileSearch:
    """Exact neighbours from single-precision tiles of the distance matrix.

    Each tile holds rigorous *lower bounds* of the squared distances between two blocks of rows:
    rounding errors of a product of length m are at most about m·2⁻²⁴(‖x‖² + ‖y‖²), and the bound
    is folded into the product itself. A pair is a candidate while its lower bound does not exceed
    the k-th smallest upper bound of its row, with room for ties, so no true neighbour is ever
    dropped; the few candidates that remain are ranked by float64 differences, and those at equal
    distances by the `ranks` of the samples. The matrix is symmetric: every tile serves its rows
    and its columns.

    Where samples lie close together but far from the centre, the bounds leave too many pairs open;
    the tiles are then computed in double precision.
    """

    def __init__(self, X: Matrix, n_neighbors: int, ranks: IntArray) -> None:
        self.X = X
        self.n_neighbors = n_neighbors
        self.ranks = ranks
        n_samples, n_features = X.shape
        side = max(SMALLEST_TILE_SIDE, min(TILE_SIDE, WIDE_BLOCK_SIZE // (n_features + 2)))
        if is_sparse(X):
            lengths = np.diff(X.indptr)
            n_present = min(n_features, SPARSE_TILE_SIDE * int(lengths.mean()) + int(lengths.max()))
            side = max(
                SMALLEST_TILE_SIDE, min(SPARSE_TILE_SIDE, DENSE_BLOCK_SIZE // (n_present + 1))
            )
        self.blocks = [
            slice(start, min(start + side, n_samples)) for start in range(0, n_samples, side)
        ]

    def run(self, verbose: bool) -> tuple[IntArray, FloatArray]:
        """Indices and squared distances of the neighbours, nearest first."""
        found = self._run(_Tiles(self.X, np.float32), verbose)
        if found is None:
            found = self._run(_Tiles(self.X, np.float64), verbose)
        assert found is not None
        return found

    def _run(self, tiles: _Tiles, verbose: bool) -> tuple[IntArray, FloatArray] | None:
        """The search, or None if single precision leaves too much open."""
        candidates = [
            _Candidates(self.X, rows, tiles, self.n_neighbors, self.ranks) for rows in self.blocks
        ]
        n_blocks = len(self.blocks)
        n_open = 0
        n_tiles = n_blocks * (n_blocks + 1) // 2
        # The bounds allow for rounding, so that any number of threads finds the same neighbours.
        n_samples, n_features = self.X.shape
        threads = FasterThreads(0 if is_sparse(self.X) else n_samples**2 * n_features)
        for i, j in progress(_diagonal_first(n_blocks), n_tiles, "neighbours", verbose):
            left, right = self.blocks[i], self.blocks[j]
            with threads.piece((left.stop - left.start) * (right.stop - right.start)):
                tile = tiles.between(left, right)
            if i == j:
                np.fill_diagonal(tile, np.inf)  # a sample is not its own neighbour
                candidates[i].start(tile)
                n_open += len(candidates[i].rows)
                side = self.blocks[0].stop
                crowded = n_open > (2 * self.n_neighbors + side // 16) * self.blocks[i].stop
                if crowded and tiles.dtype == np.float32:
                    return None
            else:
                candidates[i].offer(tile, self.blocks[j].start, across=False)
                candidates[j].offer(tile, self.blocks[i].start, across=True)
            for block in {i, j}:
                candidates[block].settle_if_many()
        found = [block.nearest() for block in candidates]
        return np.vstack([indices for indices, _ in found]), np.vstack([sq for _, sq in found])


class _Tiles:
    """Lower bounds of squared distances, in units of `scale`, block by block."""

    def __init__(self, X: Matrix, dtype: type) -> None:
        self.dtype = dtype
        n_samples, n_features = X.shape
        self._sparse: SparseMatrix | None = None
        self._dense: FloatArray | None = None
        if is_sparse(X):
            table = X.astype(np.float64)
            self.scale = power_of_two_scale(float(np.abs(table.data).max(initial=0.0)))
            table = table * self.scale
            squared_norms = table.power(2).sum(axis=1)
            product_length = int(np.diff(X.indptr).max()) + 2
            self._sparse = table.astype(dtype)
            self._densified = (-1, np.empty(0, dtype=np.intp), np.empty(0))
        else:
            # Any centre will do; outliers do not move the median.
            some = X[:: max(1, n_samples // 500)]
            centre = np.empty(n_features)
            for columns in row_blocks(n_features, len(some)):  # a wide table is not copied whole
                centre[columns] = np.median(some[:, columns].astype(np.float64), axis=0)
            largest = max((X.max(axis=0) - centre).max(), (centre - X.min(axis=0)).max())
            self.scale = power_of_two_scale(float(largest))
            self._X, self._centre = X, centre
            squared_norms = np.empty(n_samples)
            product_length = n_features + 2
            # In single precision the rows are kept, in double precision made block by block: that
            # would be a second table.
            if dtype is np.float32:
                self._dense = np.ones((n_samples, n_features + 2), dtype=dtype)
            for rows in row_blocks(n_samples, n_features):
                centred = (X[rows] - centre) * self.scale
                squared_norms[rows] = np.einsum("nd,nd->n", centred, centred)
                if self._dense is not None:
                    self._dense[rows, :n_features] = centred
        # Twice the classical bound, for the casts and the norms; in double precision the norms and
        # the differences that settle a pair are no more exact than the product.
        relative_error = (product_length + 16) * float(np.finfo(dtype).eps)
        relative_error *= 1 if dtype is np.float32 else 3
        self._lower_norms = (squared_norms * (1 - relative_error)).astype(dtype)
        # Underflow may lift a lower bound by this much: thresholds make room for it.
        self.underflow = product_length * 16 * float(np.finfo(dtype).tiny)
        # Upper minus lower bound of a pair is gap[i] + gap[j].
        self.gap = 2 * relative_error * squared_norms + 2 * self.underflow
        if self._dense is not None:
            self._dense[:, -1] = self._lower_norms

    def between(self, left: slice, right: slice) -> FloatArray:
        """Lower bounds of the squared distances between two blocks of rows."""
        if self._sparse is not None:
            # A sparse times a dense block: the product of two sparse blocks is dense anyway.
            place, dense = self._dense_columns(self._sparse, right)
            rows = self._sparse[left]
            shape = (rows.shape[0], len(dense))
            tile = sp.csr_array((rows.data, place[rows.indices], rows.indptr), shape=shape) @ dense
            tile *= -2
            tile += self._lower_norms[left, None]
            tile += self._lower_norms[right]
            return tile
        crosswise = self._rows(left) * self.dtype(-2)
        crosswise[:, -2] = self._lower_norms[left]
        crosswise[:, -1] = 1
        return crosswise @ self._rows(right).T

    def _rows(self, block: slice) -> FloatArray:
        """Columns: the centred row, 1, its squared norm; `between` pairs them crosswise."""
        if self._dense is not None:
            return self._dense[block]
        rows = np.ones((block.stop - block.start, len(self._centre) + 2))
        centred = rows[:, :-2]
        np.subtract(self._X[block], self._centre, out=centred)
        centred *= self.scale
        rows[:, -1] = self._lower_norms[block]
        return rows

    def _dense_columns(self, table: SparseMatrix, block: slice) -> tuple[IntArray, FloatArray]:
        """A block of sparse rows as dense columns, of the features that occur in it.

        Returns the place of each feature among them, the last for all others, and the columns with
        a last row of zeros. The last block is kept for the next tile.
        """
        if self._densified[0] != block.start:
            rows = table[block]
            present, compact = np.unique(rows.indices, return_inverse=True)
            place = np.full(rows.shape[1], len(present))
            place[present] = np.arange(len(present))
            shape = (rows.shape[0], len(present) + 1)
            rows = sp.csr_array((rows.data, compact, rows.indptr), shape=shape)
            self._densified = block.start, place, rows.T.toarray(order="C")
        return self._densified[1:]


class _Candidates:
    """The pairs of one block of rows that may still be neighbours."""

    def __init__(
        self, X: Matrix, block: slice, tiles: _Tiles, n_neighbors: int, ranks: IntArray
    ) -> None:
        self.X = X
        self.block = block
        self.ranks = ranks
        self.gap = tiles.gap
        self.scale = tiles.scale
        self.underflow = tiles.underflow
        self.n_neighbors = n_neighbors
        self.n_rows = block.stop - block.start
        self.rows = np.empty(0, dtype=np.intp)
        self.columns = np.empty(0, dtype=np.intp)
        self.lower = np.empty(0)
        self.upper = np.empty(0)
        self.threshold = np.full(self.n_rows, np.inf)

    def start(self, tile: FloatArray) -> None:
        """Take the block's own tile, where a first threshold comes from."""
        if self.n_neighbors < self.n_rows:
            gap = self.gap[self.block]
            kth = np.partition(tile, self.n_neighbors - 1)[:, self.n_neighbors - 1]
            self.threshold = (kth + (gap + gap.max())) * (1 + TIE)
        self.offer(tile, self.block.start, across=False)

    def offer(self, tile: FloatArray, first: int, across: bool) -> None:
        """Keep what may be a neighbour in a tile; `across`: the block's rows are its columns."""
        # Rounded up: a pair at the threshold must stay.
        threshold = np.nextafter(self.threshold.astype(tile.dtype), tile.dtype.type(np.inf))
        kept = np.flatnonzero(tile <= (threshold if across else threshold[:, None]))
        if len(kept) == 0:
            return
        rows, columns = np.divmod(kept, tile.shape[1])
        lower = tile.ravel()[kept].astype(np.float64)
        if across:
            rows, columns = columns, rows
        columns += first
        proper = np.isfinite(lower)
        rows, columns, lower = rows[proper], columns[proper], lower[proper]
        upper = lower + self.gap[rows + self.block.start] + self.gap[columns]
        self.rows = np.concatenate([self.rows, rows])
        self.columns = np.concatenate([self.columns, columns])
        self.lower = np.concatenate([self.lower, lower])
        self.upper = np.concatenate([self.upper, upper])
        self._tighten()

    def _tighten(self) -> None:
        """Lower each row's threshold to its k-th smallest upper bound and drop what is above."""
        # By row, then by bound: the rows of a tile fit into 16 bits, which are sorted by radix.
        order = np.argsort(self.upper)
        order = order[np.argsort(self.rows[order].astype(np.int16), kind="stable")]
        counts = np.bincount(self.rows, minlength=self.n_rows)
        starts = np.cumsum(counts) - counts
        full = np.flatnonzero(counts >= self.n_neighbors)
        kth = self.upper[order[starts[full] + self.n_neighbors - 1]] * (1 + TIE)
        self.threshold[full] = np.minimum(self.threshold[full], kth)
        self._keep(self.lower <= self.threshold[self.rows])

    def _keep(self, kept: FloatArray) -> None:
        self.rows, self.columns = self.rows[kept], self.columns[kept]
        self.lower, self.upper = self.lower[kept], self.upper[kept]

    def settle_if_many(self) -> None:
        """Rank many candidates at once and keep the nearest: ties would fill the memory."""
        if len(self.rows) <= (16 * self.n_neighbors + 64) * self.n_rows:
            return
        squared = pair_distances(self.X, self.rows + self.block.start, self.columns)
        order = by_distance(self.rows, squared, self.ranks[self.columns])
        counts = np.bincount(self.rows, minlength=self.n_rows)
        place = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
        self.lower = squared * self.scale**2
        self.upper = self.lower + 4 * self.underflow
        self._keep(order[place < self.n_neighbors])
        self._tighten()

    def nearest(self) -> tuple[IntArray, FloatArray]:
        """The nearest candidates of each row, ranked in double precision."""
        squared = pair_distances(self.X, self.rows + self.block.start, self.columns)
        return first_per_row(
            self.rows, self.columns, squared, self.ranks, self.n_rows, self.n_neighbors
        )


def _diagonal_first(n_blocks: int) -> Iterator[tuple[int, int]]:
    yield from ((i, i) for i in range(n_blocks))
    yield from ((i, j) for j in range(n_blocks) for i in range(j))


def power_of_two_scale(largest: float) -> float:
    """The power of two that brings `largest` to about 1; multiplying by it rounds nothing."""
    return 2.0 ** int(np.clip(-np.frexp(largest)[1], -1000, 1000)) if largest > 0 else 1.0
