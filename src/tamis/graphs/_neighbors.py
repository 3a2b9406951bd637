"""Nearest neighbours of every sample: exact by products, tiles or a k-d tree, or approximate."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from scipy.spatial import KDTree
from sklearn.utils import check_random_state

from tamis._typing import FloatArray, IntArray, Matrix, SparseMatrix
from tamis.graphs._cache import cached
from tamis.graphs._gram_search import gram_search
from tamis.graphs._tiles import TileSearch, pair_distances, power_of_two_scale
from tamis.utils.blocks import row_blocks
from tamis.utils.sparse import canonical_csr, is_sparse
from tamis.utils.ties import TIE, content_ranks, first_per_row

# The time of a k-d tree doubles with each column, that of the tiles grows with the samples: the
# tree wins from about this many samples times 2**n_features on.
KD_TREE_MIN_SAMPLES = 50
RECALL_SAMPLE_SIZE = 200


@dataclass(frozen=True)
class Neighbors:
    """The nearest neighbours of every sample, the sample itself not counted.

    Attributes
    ----------
    indices : ndarray of shape (n_samples, n_neighbors)
        Nearest first. Of samples at equal distances those farther from the mean of all samples
        come first: the order of the rows plays no part.
    distances : ndarray of shape (n_samples, n_neighbors)
        Euclidean, in float64.
    method : {"gram", "tiles", "kd_tree", "nn_descent"}
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
    are searched once. Dense tables of at most 2000 rows and no fewer columns: n²d/2 in double
    precision, in one pass over the table, and O(n²) memory.

    Squared distances that differ by a relative 1e-10 or less are equal: that is rounding. Of
    samples at equal distances, those farther from the mean of all samples come first, since they
    have the larger inner product with the sample, both taken from the mean. Where that is equal
    too, the samples farther out in the longer tails of the columns (the larger sum of deviations
    times third moments), and then those with the larger projection on a fixed direction. Another
    order of the rows therefore gives the same neighbours, and only equal rows stand in for each
    other, in their order. The approximate search keeps the rule among the samples it has found.

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
    X = canonical_csr(X) if is_sparse(X) else np.ascontiguousarray(X)
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    lowest, largest = float(X.min()), float(X.max())
    if not np.isfinite([lowest, largest]).all():
        raise ValueError("X contains NaN or infinity; its values must be finite.")
    largest = max(largest, -lowest)
    if largest > 0 and not 1e-100 < largest < 1e100:  # squares would leave the range of floats
        scale = power_of_two_scale(largest)
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
    return cached(X, n_neighbors, lambda: _exact_search(X, n_neighbors, n_jobs, verbose))


def _exact_search(X: Matrix, n_neighbors: int, n_jobs: int | None, verbose: bool) -> Neighbors:
    n_samples = X.shape[0]
    if (found := gram_search(X, n_neighbors)) is not None:
        return Neighbors(found[0], np.sqrt(found[1]), "gram")
    first, group = _group_equal_rows(X)
    n_distinct = len(first)
    distinct = X[first] if n_distinct < n_samples else X
    few_columns = X.shape[1] <= np.log2(n_distinct / KD_TREE_MIN_SAMPLES)
    use_tree = few_columns and not is_sparse(X)
    ranks = content_ranks(X)
    n_nearest = min(n_neighbors, n_distinct - 1)
    if n_distinct == 1:
        indices, squared = np.empty((1, 0), dtype=np.intp), np.empty((1, 0))
    elif use_tree and not is_sparse(distinct):
        indices, squared = _kd_tree(distinct, n_nearest, ranks[first], n_jobs)
    else:
        indices, squared = TileSearch(distinct, n_nearest, ranks[first]).run(verbose)
    if n_distinct < n_samples:
        indices, squared = _expand_groups(indices, squared, group, ranks, n_neighbors)
    return Neighbors(indices, np.sqrt(squared), "kd_tree" if use_tree else "tiles")


def _kd_tree(
    X: FloatArray, n_neighbors: int, ranks: IntArray, n_jobs: int | None
) -> tuple[IntArray, FloatArray]:
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
        # The tree breaks ties as it likes: a row is complete once something farther than its last
        # neighbour was found (the sample itself takes one place), else it asks for more.
        complete = distances[:, -1] > distances[:, n_neighbors] * (1 + 1e-9)
        complete |= n_asked == n_samples
        rows = np.repeat(np.arange(complete.sum()), n_asked)
        columns = found[complete].ravel()
        other = columns != pending[complete][rows]
        rows, columns = rows[other], columns[other]
        exact = pair_distances(X, pending[complete][rows], columns)
        best = first_per_row(rows, columns, exact, ranks, complete.sum(), n_neighbors)
        indices[pending[complete]], squared[pending[complete]] = best
        pending = pending[~complete]
        n_asked *= 2
    return indices, squared


def _group_equal_rows(X: Matrix) -> tuple[IntArray, IntArray]:
    """The first row of each group of equal rows, and the group of each row. O(nd)."""
    # A row's hash is the product of its bits with random odd numbers, modulo 2⁶⁴; zeros add
    # nothing, so that sparse rows need only their stored numbers.
    multipliers = np.random.default_rng(0).integers(0, 2**63, X.shape[1], dtype=np.uint64) * 2 + 1
    if is_sparse(X):
        bits = sp.csr_array((_bits(X.data), X.indices, X.indptr), shape=X.shape)
        hashes = bits @ multipliers
    else:
        hashes = np.empty(X.shape[0], dtype=np.uint64)
        for rows in row_blocks(*X.shape):
            hashes[rows] = _bits(X[rows]) @ multipliers
    _, first, group = np.unique(hashes, return_index=True, return_inverse=True)
    order = np.argsort(first)  # groups in the order of their first rows
    first, group = first[order], np.argsort(order)[group]
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
    near: IntArray, squared: FloatArray, group: IntArray, ranks: IntArray, n_neighbors: int
) -> tuple[IntArray, FloatArray]:
    """Neighbours of all rows, from those of one row of each group of equal rows.

    The rows of the own group are at distance zero. Of any group at most `n_neighbors + 1` rows
    can be neighbours of one row, those of lowest index. Groups at equal distances follow their
    ranks: numbering equal rows otherwise then gives the same neighbours, renumbered.
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
        all_indices[rows], all_squared[rows] = first_per_row(
            row[other], column[other], distance[other], ranks, len(groups), n_neighbors
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
    # It works in single precision: without the offset, and near 1, no digits are lost.
    table = sp.csr_matrix(X) if is_sparse(X) else X - X.mean(axis=0, dtype=np.float64)
    table = table * power_of_two_scale(max(float(table.max()), -float(table.min())))
    with warnings.catch_warnings():
        # Said below, as an error, where it matters.
        warnings.filterwarnings("ignore", message="Failed to correctly find n_neighbors")
        # That numba compiles anew in the next process is nothing that a caller can change.
        warnings.filterwarnings("ignore", message="Cannot cache compiled function")
        index = NNDescent(
            table,
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
    indices, squared = first_per_row(
        rows, columns, squared, content_ranks(X), n_samples, n_neighbors
    )

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
        n_right += int(np.count_nonzero(found <= kth * (1 + TIE)))
    return n_right / squared.size


def directed_graph(indices: IntArray, values: FloatArray) -> SparseMatrix:
    """An edge from each sample to each of its neighbours, with these values. O(nk)."""
    n_samples, n_neighbors = indices.shape
    indptr = np.arange(0, n_samples * n_neighbors + 1, n_neighbors)
    graph = sp.csr_array((values.ravel(), indices.ravel(), indptr), shape=(n_samples, n_samples))
    graph.sort_indices()
    return graph
