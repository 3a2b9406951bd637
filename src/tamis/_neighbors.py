"""Nearest neighbours of every sample: exact by tiles or by a k-d tree, or approximate.

The exact search is bound by one single-precision matrix product over half of the pairs, yet it
returns what double precision would: see `_TileSearch`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from scipy.spatial import KDTree
from sklearn.utils import check_random_state

from tamis._progress import progress
from tamis._typing import FloatArray, IntArray, Matrix
from tamis.columns import row_blocks

# The time of a k-d tree doubles with each column, that of the tiles grows with the samples: the
# tree wins from about this many samples times 2**n_features on.
KD_TREE_MIN_SAMPLES = 50
TILE_SIDE = 1024
SPARSE_TILE_SIDE = 512
RECALL_SAMPLE_SIZE = 200


@dataclass(frozen=True)
class Neighbors:
    """The nearest neighbours of every sample, the sample itself not counted.

    Attributes
    ----------
    indices : ndarray of shape (n_samples, n_neighbors)
        Nearest first; equal distances by index.
    distances : ndarray of shape (n_samples, n_neighbors)
        Euclidean, in float64.
    method : {"tiles", "kd_tree", "nn_descent"}
        The search that found them.
    recall : float
        The share of the true neighbours that was found: 1 for the exact searches, estimated on a
        sample of rows for the approximate one.
    """

    indices: IntArray
    distances: FloatArray
    method: str
    recall: float = 1.0


def nearest_neighbors(
    X: Matrix,
    n_neighbors: int = 5,
    *,
    approximate: bool = False,
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> Neighbors:
    """The `n_neighbors` nearest other samples of each sample, by Euclidean distance.

    Parameters
    ----------
    X : {ndarray, sparse} of shape (n_samples, n_features)
        Finite numbers. Sparse input is never densified as a whole.
    n_neighbors : int, default=5
        How many, the sample itself not counted; less than `n_samples`.
    approximate : bool, default=False
        False searches exactly. True uses nearest-neighbour descent (the ``approximate`` extra,
        pynndescent), whose cost grows almost linearly with the number of samples; its recall is
        measured on a sample of rows, returned, and warned of when it is below 0.9.
    random_state : int, RandomState instance or None, default=None
        Seeds the approximate search and the rows on which its recall is measured.
    n_jobs : int or None, default=None
        Threads of the k-d tree and of the approximate search. The tiles run on the threads that
        the linear algebra library is given.
    verbose : bool, default=False
        Whether to show a progress bar, on a terminal.

    Returns
    -------
    Neighbors

    Notes
    -----
    Exact cost: n²d/2 multiply–adds in single precision (n·nnz/2 for sparse input) and O(nk + nd)
    memory; with few dense columns, n >= 50·2^d, a k-d tree in about O(n log n). Duplicated rows
    are searched once.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.graphs import nearest_neighbors
    >>> nearest_neighbors(np.array([[0.0], [1.0], [3.0], [3.5]]), n_neighbors=2).indices
    array([[1, 2],
           [0, 2],
           [3, 1],
           [2, 1]])
    """
    n_samples = X.shape[0]
    if not 1 <= n_neighbors < n_samples:
        raise ValueError(
            f"n_neighbors={n_neighbors} needs 1 <= n_neighbors < n_samples, but X has "
            f"{n_samples} samples; lower n_neighbors to at most {n_samples - 1}."
        )
    X = sp.csr_array(X) if sp.issparse(X) else np.ascontiguousarray(X)
    if not np.issubdtype(X.dtype, np.floating):
        X = X.astype(np.float64)
    largest = max(float(X.max()), -float(X.min()))
    if largest > 0 and not 1e-100 < largest < 1e100:  # squares would leave the range of floats
        scale = _power_of_two_scale(largest)
        scaled = nearest_neighbors(
            X * scale,
            n_neighbors,
            approximate=approximate,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        return replace(scaled, distances=scaled.distances / scale)

    if approximate:
        return _nn_descent(X, n_neighbors, random_state, n_jobs)
    first, group = _group_equal_rows(X)
    n_distinct = len(first)
    distinct = X if n_distinct == n_samples else X[first]
    use_tree = not sp.issparse(X) and n_distinct >= KD_TREE_MIN_SAMPLES * 2.0 ** X.shape[1]
    if n_distinct == 1:
        indices, squared = np.empty((1, 0), dtype=np.intp), np.empty((1, 0))
    elif use_tree:
        indices, squared = _kd_tree(distinct, min(n_neighbors, n_distinct - 1), n_jobs)
    else:
        indices, squared = _TileSearch(distinct, min(n_neighbors, n_distinct - 1)).run(verbose)
    if n_distinct < n_samples:
        indices, squared = _expand_groups(indices, squared, group, n_neighbors)
    return Neighbors(indices, np.sqrt(squared), "kd_tree" if use_tree else "tiles")


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


def _first_per_row(
    rows: IntArray, columns: IntArray, squared: FloatArray, n_rows: int, n_neighbors: int
) -> tuple[IntArray, FloatArray]:
    """Per row its `n_neighbors` nearest candidates, ties by index; no row has fewer."""
    order = np.lexsort((columns, squared, rows))
    starts = np.searchsorted(rows[order], np.arange(n_rows))
    chosen = order[starts[:, None] + np.arange(n_neighbors)]
    return columns[chosen], squared[chosen]


class _TileSearch:
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
            scaled = scaled * _power_of_two_scale(np.abs(scaled.data).max(initial=0.0))
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
            scale = _power_of_two_scale(largest)
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
        return _first_per_row(self.rows, self.columns, squared, self.n_rows, self.n_neighbors)


def _diagonal_first(n_blocks: int) -> Iterator[tuple[int, int]]:
    yield from ((i, i) for i in range(n_blocks))
    yield from ((i, j) for j in range(n_blocks) for i in range(j))


def _power_of_two_scale(largest: float) -> float:
    """The power of two that brings `largest` to about 1; multiplying by it rounds nothing."""
    return 2.0 ** -np.frexp(largest)[1] if largest > 0 else 1.0


def _kd_tree(X: FloatArray, n_neighbors: int, n_jobs: int | None) -> tuple[IntArray, FloatArray]:
    """Indices and squared distances of the neighbours, in few dimensions."""
    n_samples = X.shape[0]
    tree = KDTree(X)
    indices = np.empty((n_samples, n_neighbors), dtype=np.intp)
    squared = np.empty((n_samples, n_neighbors))
    pending = np.arange(n_samples)
    n_asked = n_neighbors + 3
    while len(pending):
        n_asked = min(n_asked, n_samples)
        distances, found = tree.query(X[pending], k=n_asked, workers=n_jobs or 1)
        # The tree breaks ties as it likes: a row is settled once something farther than its last
        # neighbour was found (the sample itself takes one place), else it asks for more.
        settled = distances[:, -1] > distances[:, n_neighbors] * (1 + 1e-9)
        settled |= n_asked == n_samples
        rows = np.repeat(np.arange(settled.sum()), n_asked)
        columns = found[settled].ravel()
        other = columns != pending[settled][rows]
        rows, columns = rows[other], columns[other]
        exact = pair_distances(X, pending[settled][rows], columns)
        best = _first_per_row(rows, columns, exact, settled.sum(), n_neighbors)
        indices[pending[settled]], squared[pending[settled]] = best
        pending = pending[~settled]
        n_asked *= 2
    return indices, squared


def _group_equal_rows(X: Matrix) -> tuple[IntArray, IntArray]:
    """The first row of each group of equal rows, and the group of each row. O(nd)."""
    # A row's hash is the product of its bits with random odd numbers, modulo 2⁶⁴; zeros add
    # nothing, so that sparse rows need only their stored numbers.
    multipliers = np.random.default_rng(0).integers(0, 2**63, X.shape[1], dtype=np.uint64) * 2 + 1
    if sp.issparse(X):
        X = X.copy()
        X.sum_duplicates()
        bits = sp.csr_array((_bits(X.data), X.indices, X.indptr), shape=X.shape)
        hashes = bits @ multipliers
    else:
        hashes = np.empty(X.shape[0], dtype=np.uint64)
        for rows in row_blocks(*X.shape):
            hashes[rows] = _bits(X[rows]) @ multipliers
    _, first, group = np.unique(hashes, return_index=True, return_inverse=True)
    repeated = np.flatnonzero(first[group] != np.arange(len(group)))
    if np.any(pair_distances(X, repeated, first[group[repeated]]) > 0):  # a collision of hashes
        return np.arange(len(group)), np.arange(len(group))
    return first, group


def _bits(values: FloatArray) -> FloatArray:
    """Unsigned integers that tell floats apart, 0 for 0 and for -0."""
    width = {4: np.uint32, 8: np.uint64}[values.dtype.itemsize]
    bits = (values + 0.0).view(width).astype(np.uint64, copy=False)
    # Round numbers have zeros in all their low bits, where products modulo 2⁶⁴ need variety.
    return bits ^ (bits >> np.uint64(32 if width is np.uint64 else 16))


def _expand_groups(
    near: IntArray, squared: FloatArray, group: IntArray, n_neighbors: int
) -> tuple[IntArray, FloatArray]:
    """Neighbours of all rows, from those of one row of each group of equal rows.

    The rows of the own group are at distance zero. Of any group at most `n_neighbors + 1` rows
    can be neighbours of one row, those of lowest index.
    """
    n_groups = len(near)
    near = np.column_stack([np.arange(n_groups), near])
    squared = np.column_stack([np.zeros(n_groups), squared])
    members = np.argsort(group, kind="stable")
    sizes = np.bincount(group, minlength=n_groups)
    starts = np.cumsum(sizes) - sizes
    usable = np.minimum(sizes, n_neighbors + 1)

    n_samples = len(group)
    all_indices = np.empty((n_samples, n_neighbors), dtype=np.intp)
    all_squared = np.empty((n_samples, n_neighbors))
    for rows in row_blocks(n_samples, near.shape[1] * (n_neighbors + 1)):
        groups = near[group[rows]]
        repeats = usable[groups].ravel()
        row = np.repeat(np.repeat(np.arange(len(groups)), groups.shape[1]), repeats)
        run_starts = np.cumsum(repeats) - repeats
        within_run = np.arange(repeats.sum()) - np.repeat(run_starts, repeats)
        column = members[np.repeat(starts[groups].ravel(), repeats) + within_run]
        distance = np.repeat(squared[group[rows]].ravel(), repeats)
        other = column != row + rows.start
        all_indices[rows], all_squared[rows] = _first_per_row(
            row[other], column[other], distance[other], len(groups), n_neighbors
        )
    return all_indices, all_squared


def _nn_descent(
    X: Matrix,
    n_neighbors: int,
    random_state: int | np.random.RandomState | None,
    n_jobs: int | None,
) -> Neighbors:
    """Approximate neighbours, with their recall measured on a sample of rows."""
    try:
        from pynndescent import NNDescent
    except ImportError as error:
        raise ImportError(
            "Approximate neighbours need pynndescent: pip install 'tamis[approximate]', "
            "or search exactly with approximate=False."
        ) from error
    rng = check_random_state(random_state)
    n_samples = X.shape[0]
    index = NNDescent(
        sp.csr_matrix(X) if sp.issparse(X) else X,
        n_neighbors=min(n_neighbors + 1, n_samples - 1) + 1,
        random_state=rng.randint(2**31 - 1),
        n_jobs=n_jobs,
    )
    found = index.neighbor_graph[0].astype(np.intp)
    rows = np.repeat(np.arange(n_samples), found.shape[1])
    columns = found.ravel()
    proper = (columns >= 0) & (columns != rows)
    rows, columns = rows[proper], columns[proper]
    if np.bincount(rows, minlength=n_samples).min() < n_neighbors:
        raise RuntimeError(
            "The approximate search found fewer than n_neighbors neighbours for some samples; "
            "search exactly with approximate=False."
        )
    squared = pair_distances(X, rows, columns)
    indices, squared = _first_per_row(rows, columns, squared, n_samples, n_neighbors)

    sample = np.sort(rng.choice(n_samples, min(n_samples, RECALL_SAMPLE_SIZE), replace=False))
    recall = _recall(X, sample, squared[sample])
    if recall < 0.9:
        warnings.warn(
            f"The approximate search found only {recall:.0%} of the {n_neighbors} nearest "
            f"neighbours (measured on {len(sample)} rows); for all of them use approximate=False.",
            UserWarning,
            stacklevel=3,
        )
    return Neighbors(indices, np.sqrt(squared), "nn_descent", recall)


def _recall(X: Matrix, sample: IntArray, squared: FloatArray) -> float:
    """The share of found neighbours that are as near as the true ones, in the sampled rows."""
    n_neighbors = squared.shape[1]
    everyone = np.arange(X.shape[0])
    n_right = 0
    for row, found in zip(sample, squared, strict=True):
        exact = pair_distances(X, np.full(X.shape[0], row), everyone)
        exact[row] = np.inf
        kth = np.partition(exact, n_neighbors - 1)[n_neighbors - 1]
        n_right += np.count_nonzero(found <= kth)
    return n_right / squared.size
