"""A table and its landmark graph by the products that they share, and back to the rows."""

from __future__ import annotations

from functools import reduce

import numpy as np

from tamis._typing import FloatArray, Matrix
from tamis.distributed import CondensedRows, TieProducts
from tamis.graphs import LandmarkGraph
from tamis.solvers.embedding_matrix import Embedding
from tamis.solvers.table_operator import TableOperator
from tamis.utils.blocks import row_blocks


def condensed_by_landmarks(X: Matrix, graph: LandmarkGraph) -> CondensedRows:
    """The rows that stand for a table in memory, tied to landmarks. O(nd² + kdn + (d + m)³)."""
    centred = TableOperator.centred(X)
    products = (
        TieProducts.of(centred.rows(rows), graph.ties[rows]) for rows in row_blocks(*X.shape)
    )
    ties = reduce(TieProducts.merge, products)
    return CondensedRows.of(centred.gram_of_features(), ties.with_landmarks_in_use())


def extended_to_rows(
    found: Embedding, condensed: CondensedRows, X: Matrix, graph: LandmarkGraph, beta: float
) -> FloatArray:
    """The embedding of all samples, from that of the rows that stand for them. O(n(d + k)c).

    The eigenvectors of ``T = (1 + β)I − W − βX(XᵀX + diag(1/e))⁻¹Xᵀ`` solve
    ``(1 + β − λ)y = Wy + βXw``, whose right side is known by products.
    """
    tied = graph.ties @ ((condensed.tied.T @ found.solution).T / np.sqrt(graph.mass)).T
    rebuilt = TableOperator.centred(X).times(found.coef)
    return (tied + beta * rebuilt) / (1 + beta - found.values)
