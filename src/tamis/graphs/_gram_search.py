"""Exact nearest neighbours in a wide table, from the products of its rows."""

from __future__ import annotations

import numpy as np

from tamis._typing import FloatArray, IntArray, Matrix
from tamis.graphs._tiles import pair_distances
from tamis.solvers.row_gram import COLUMNS_AT_ONCE, products_of_rows
from tamis.utils.sparse import is_sparse
from tamis.utils.ties import TIE, content_ranks, first_per_row

__all__ = ["gram_search"]

# Up to so many rows the matrix of their products is formed; it has fewer cells than the table.
MOST_ROWS = 2000
# Narrower tables are searched by tiles: there is nothing to gain.
FEWEST_COLUMNS = 1000
# Distances that may be off by more than this share of themselves are computed by differences.
PRECISE = TIE / 10
# Candidates of each row, in multiples of its neighbours, beyond which products tell too little.
CROWDED = 3


def gram_search(X: Matrix, n_neighbors: int) -> tuple[IntArray, FloatArray] | None:
    """Indices and squared distances of the neighbours, by ``‖x‖² + ‖y‖² − 2xᵀy``.

    The products are summed in double precision; what rounding may have cost a distance is known,
    at most some ``5e-13(‖x‖² + ‖y‖²)``. Distances of which that is a large share are computed by
    differences. O(n²d), in a pass over the table, for its n rows.

    Returns
    -------
    tuple or None
        None where the table is not wide, or too large for it, and where rows are equal or so close
        together that products do not tell which are neighbours.
    """
    n_samples, n_features = X.shape
    if is_sparse(X) or n_features < FEWEST_COLUMNS or n_samples > min(n_features, MOST_ROWS):
        return None
    gram = products_of_rows(X, X[0].astype(np.float64))
    squared_norms = gram.diagonal()
    sums = np.add.outer(squared_norms, squared_norms)
    squared = sums - 2 * gram
    # The longest sum that is rounded step by step.
    n_steps = min(n_features, COLUMNS_AT_ONCE + n_features // COLUMNS_AT_ONCE) + 8
    error = n_steps * np.finfo(np.float64).eps * sums
    np.fill_diagonal(squared, np.inf)  # a sample is not its own neighbour
    if (squared <= error).any():
        return None
    kth = np.partition(squared + error, n_neighbors - 1, axis=1)[:, n_neighbors - 1]
    rows, columns = np.nonzero(squared - error <= (kth * (1 + TIE))[:, None])
    if len(rows) > CROWDED * n_neighbors * n_samples:
        return None
    found = squared[rows, columns]
    unclear = error[rows, columns] > PRECISE * found
    found[unclear] = pair_distances(X, rows[unclear], columns[unclear])
    order = np.lexsort((found, rows))
    near = (np.diff(rows[order]) == 0) & (np.diff(found[order]) <= 2 * TIE * found[order][1:])
    ranks = content_ranks(X) if near.any() else np.arange(n_samples)
    return first_per_row(rows, columns, found, ranks, n_samples, n_neighbors)
