"""What the graph of a condensed table says of its columns, from products alone.

With the ties Z of the rows to landmarks, whose masses M = diag(Zᵀ1), the graph is ``W = Z M⁻¹ Zᵀ``,
its degrees are 1, and ``fᵀWf = ‖M^-½ Zᵀf‖²``.
"""

from __future__ import annotations

from typing import Self

import numpy as np

from tamis._typing import FloatArray
from tamis.distributed._table import CondensedTable
from tamis.distributed._ties import TieProducts
from tamis.graphs import landmark_embedding
from tamis.solvers.dense import matmul, root_of_products
from tamis.solvers.table_operator import TableOperator

__all__ = ["CondensedEmbedding", "CondensedRows", "condensed_embedding", "condensed_roughness"]


def condensed_roughness(X: CondensedTable, ties: TieProducts, *, centre: bool) -> FloatArray:
    """``fᵀLf / fᵀDf`` of each column, as `tamis.graphs.feature_roughness` computes it. O(dm)."""
    energies = (X.scatter - (ties.cross**2 / ties.mass).sum(axis=1)).clip(min=0)
    squared_norm = X.scatter + X.n_samples * X.mean**2
    denominator = X.scatter if centre else squared_norm
    ratio = np.full(X.shape[1], 2.0)
    np.divide(energies, denominator, out=ratio, where=denominator > 0)
    return ratio.clip(0, 2)


class CondensedEmbedding:
    """The spectral embedding Y of the rows, known by its products with the columns.

    Attributes
    ----------
    eigenvalues : ndarray of shape (n_vectors,)
    correlation : ndarray of shape (n_features, n_vectors)
        XᵀY of the centred table.
    table : TableOperator
        Stands for the centred table,
    targets : ndarray
        and these for the columns of Y, centred and of unit length: the products are the same.
    """

    def __init__(self, X: CondensedTable, ties: TieProducts, n_vectors: int) -> None:
        self.eigenvalues, B = landmark_embedding(ties.gram, ties.mass, n_vectors)
        means = ties.mass @ B / ties.count
        self.correlation = ties.cross @ B
        own = B.T @ (ties.gram @ B) - ties.count * np.outer(means, means)
        lengths = np.sqrt(own.diagonal().clip(min=0))
        unit = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        cross = self.correlation * unit
        joint = np.block([[X.gram, cross], [cross.T, own * np.outer(unit, unit)]])
        root = root_of_products(joint)
        self.table = TableOperator.of_root(root[:, : X.shape[1]])
        self.targets = root[:, X.shape[1] :]


def condensed_embedding(X: CondensedTable, ties: TieProducts, n_vectors: int) -> CondensedEmbedding:
    """The smoothest eigenvectors of the graph, as far as the columns see them.

    O(m³ + (d + c)³) for m landmarks, d columns and c vectors, however many rows there are.
    """
    return CondensedEmbedding(X, ties, n_vectors)


class CondensedRows:
    """A few rows that stand for all: the products of columns and landmark graph are the same.

    ``[Z M^-½, X]`` has as many columns as there are landmarks and features, and ``QR`` of it has an
    R of no more rows. A method that knows the rows by products with X and W alone, and its result
    by orthogonal coordinates, runs on R as it runs on the table: what it finds of the columns is
    the same, and its rows are those of ``QᵀY``.

    Attributes
    ----------
    table : TableOperator
        The part of R that stands for the centred table,
    tied : ndarray of shape (n_rows, n_landmarks)
        and the part that stands for ``Z M^-½``.
    """

    def __init__(self, table: TableOperator, tied: FloatArray) -> None:
        self.table, self.tied = table, tied

    @classmethod
    def of(cls, gram: FloatArray, ties: TieProducts) -> Self:
        """From the products of the centred columns, and theirs with the ties. O((d + m)³)."""
        root_mass = np.sqrt(ties.mass)
        own = ties.gram.toarray() / np.outer(root_mass, root_mass)
        cross = ties.cross / root_mass
        root = root_of_products(np.block([[own, cross.T], [cross, gram]]))
        root = root[root.any(axis=1)]
        n_landmarks = len(root_mass)
        return cls(TableOperator.of_root(root[:, n_landmarks:]), root[:, :n_landmarks])

    @property
    def laplacian(self) -> FloatArray:
        """``I − W`` in the coordinates of these rows. O((d + m)²m)."""
        return np.eye(len(self.tied)) - matmul(self.tied, self.tied.T)
