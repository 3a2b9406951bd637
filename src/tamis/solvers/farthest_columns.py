"""Columns that lie far from each other: farthest point sampling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tamis._typing import BoolArray, FloatArray, IntArray
from tamis.solvers.column_products import ColumnProducts
from tamis.solvers.table_operator import TableOperator

__all__ = ["FarthestColumns", "farthest_columns"]

# Squared distances that differ by less, relative to the largest, are equal.
TIE = 1e-9


@dataclass(frozen=True)
class FarthestColumns:
    """The columns that were chosen, in their order.

    Attributes
    ----------
    order : ndarray of shape (n_chosen,)
    distances : ndarray of shape (n_chosen,)
        Of each from the nearest of those before it; of the first its length.
    left : ndarray of shape (n_features,)
        Of each column from the nearest that was chosen.
    """

    order: IntArray
    distances: FloatArray
    left: FloatArray


def farthest_columns(
    X: TableOperator, first: FloatArray, n_columns: int, include: BoolArray, *, signed: bool
) -> FarthestColumns:
    """Take the column farthest from those that were taken, again and again.

    Parameters
    ----------
    X : TableOperator
    first : ndarray of shape (n_features,)
        The column where this is largest is the first.
    n_columns : int
        How many to choose, at most d.
    include : ndarray of bool of shape (n_features,)
        Columns that are chosen first.
    signed : bool
        Whether a column and its negative are apart; False measures the distance from the nearer of
        a column and its negative.

    Notes
    -----
    O(ndm) for m columns; where d ≤ n, O(nd² + dm).
    """
    products = ColumnProducts(X)
    squared_lengths = X.squared_column_norms()
    rounding = TIE * float(squared_lengths.max(initial=0.0))
    distances = np.full(X.shape[1], np.inf)
    left = np.ones(X.shape[1], dtype=bool)
    order: list[int] = []
    at_choice: list[float] = []
    for _ in range(n_columns):
        candidates = left & include if (left & include).any() else left
        among = np.where(candidates, distances if order else first, -np.inf)
        room = rounding if order else TIE * abs(float(among.max()))
        best = int((among >= among.max() - room).argmax())
        at_choice.append(distances[best] if order else squared_lengths[best])
        order.append(best)
        left[best] = False
        shared = products.with_column(best)
        apart = squared_lengths + squared_lengths[best] - 2 * (shared if signed else abs(shared))
        # Less than rounding leaves of equal columns is none.
        distances = np.minimum(distances, np.where(apart > rounding, apart, 0))
    return FarthestColumns(np.array(order), np.sqrt(at_choice), np.sqrt(distances))
