"""Groups of cells: principal components, a graph of like cells, its communities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from tamis._typing import FloatArray, IntArray, SparseMatrix
from tamis.clustering import communities
from tamis.genes._matrix import column_sums
from tamis.graphs import neighbor_graph
from tamis.utils.blocks import row_blocks

# Standardised values above this are cut: a gene of few cells does not make a component.
LARGEST_VALUE = 10.0
N_COMPONENTS = 50
N_NEIGHBORS = 15
# Vectors beyond the components wanted, and passes, of the randomised decomposition.
OVERSAMPLING = 10
PASSES = 3


@dataclass(frozen=True)
class Batches:
    """Which batch each cell is of, and the sums over the batches of a table.

    Attributes
    ----------
    codes : ndarray of int of shape (n_cells,)
    sizes : ndarray of int of shape (n_batches,)
    """

    codes: IntArray
    sizes: IntArray

    @classmethod
    def of(cls, codes: IntArray) -> Batches:
        """The batches with these codes, from 0 without gaps."""
        return cls(codes, np.bincount(codes))

    @classmethod
    def one(cls, n_cells: int) -> Batches:
        """All cells in one batch."""
        return cls.of(np.zeros(n_cells, dtype=np.intp))

    @property
    def is_one(self) -> bool:
        """Whether all cells are in one batch."""
        return len(self.sizes) == 1

    def means(self, X: SparseMatrix) -> FloatArray:
        """Means of the columns in each batch, (n_batches, n_genes)."""
        sums = (indicator(self.codes, len(self.sizes)) @ X).toarray()
        return np.divide(sums, self.sizes[:, None], dtype=np.float64)

    def rows(self) -> Iterator[IntArray]:
        """The cells of one batch after the other, in their order."""
        order = np.argsort(self.codes, kind="stable")
        yield from np.split(order, np.cumsum(self.sizes)[:-1])


def indicator(codes: IntArray, n_groups: int) -> SparseMatrix:
    """A row for each group, with ones at its members."""
    n_cells = len(codes)
    ones = np.ones(n_cells, dtype=np.float32)
    # Short indices: with long ones a product would make a long copy of those of the other table.
    places = codes.astype(np.int32), np.arange(n_cells, dtype=np.int32)
    return sp.csr_array((ones, places), shape=(n_groups, n_cells))


def sums_of_squares(weights: FloatArray, values: FloatArray) -> FloatArray:
    """``weights @ values**2``, in blocks of columns: no second table of the values is made."""
    found = np.empty((len(weights), values.shape[1]))
    for columns in row_blocks(values.shape[1], len(values)):
        found[:, columns] = weights @ values[:, columns] ** 2
    return found


def graph_of_cells(logged: SparseMatrix, batches: Batches, seed: int) -> SparseMatrix:
    """The 15 cells nearest to each by the angle of their principal components.

    Genes are standardised within the batches, so that a batch is no direction of its own.

    Parameters
    ----------
    logged : csr_array of shape (n_cells, n_genes)
    batches : Batches
    seed : int
        Of the randomised decomposition.

    Notes
    -----
    O(nnz) for the components, and O(n²) times their number for the neighbours of n cells.
    """
    components = principal_components(logged, batches, seed)
    n_cells = len(components)
    return neighbor_graph(components, min(N_NEIGHBORS, n_cells - 1), weights="cosine")


def principal_components(logged: SparseMatrix, batches: Batches, seed: int) -> FloatArray:
    """The leading components of the standardised table, by its products alone; never densified.

    Two steps of subspace iteration with a random start, then Rayleigh–Ritz: the table times its
    transpose is decomposed within the subspace. O(nnz + n) for each of the 60 vectors.
    """
    table, means = _standardised(logged, batches)
    n_cells, n_genes = table.shape
    n_vectors = min(N_COMPONENTS + OVERSAMPLING, n_cells, n_genes)
    random = check_random_state(seed)
    by_gene = table.T
    of_cells = random.standard_normal((n_cells, n_vectors)).astype(np.float32)
    members = indicator(batches.codes, len(batches.sizes))
    for step in range(PASSES):
        basis = np.linalg.qr(of_cells)[0]
        of_genes = by_gene @ basis - means.T @ (members @ basis)
        if step < PASSES - 1:
            of_cells = table @ of_genes - (means @ of_genes)[batches.codes]
    squares, directions = np.linalg.eigh(of_genes.T @ of_genes)
    wanted = min(N_COMPONENTS, max(1, min(n_cells, n_genes) - 1))
    found: FloatArray = basis @ directions[:, ::-1][:, :wanted]
    return found * np.sqrt(np.maximum(squares[::-1][:wanted], 0))


def _standardised(logged: SparseMatrix, batches: Batches) -> tuple[SparseMatrix, FloatArray]:
    """Values over the deviation within batches, cut at 10 above their mean; and the means left."""
    means = batches.means(logged)
    total = column_sums(logged, lambda values, _: values**2)
    scatter = np.maximum(total - batches.sizes @ means**2, 0)
    scale = np.sqrt(scatter / max(1, logged.shape[0] - 1))
    scale[scatter <= 1e-9 * total] = np.inf  # constant in every batch
    highest = (means.mean(axis=0) / scale + LARGEST_VALUE).astype(np.float32)
    factor = (1 / scale).astype(np.float32)
    data = np.empty_like(logged.data, dtype=np.float32)
    for stored in row_blocks(logged.nnz, 1):
        genes = logged.indices[stored]
        data[stored] = np.minimum(logged.data[stored] * factor[genes], highest[genes])
    table = sp.csr_array((data, logged.indices, logged.indptr), shape=logged.shape)
    return table, batches.means(table).astype(np.float32)


def groups_of(graph: SparseMatrix, n_clusters: int | str) -> IntArray:
    """The communities of the graph, or as many groups as asked for."""
    return communities(graph, None if isinstance(n_clusters, str) else n_clusters)
