"""The matrix of an AnnData object: taken as sparse rows, recognised as counts or logged, logged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from tamis._typing import BoolArray, FloatArray, IntArray, SparseMatrix
from tamis.utils.blocks import row_blocks
from tamis.utils.messages import did_you_mean
from tamis.utils.sparse import canonical_csr, is_sparse

Kind = Literal["counts", "logged", "not logged"]

# Logged values are no larger: e^30 molecules fit into no cell.
LARGEST_LOGGED = 30.0
# Stored values in a block of rows: several copies in double precision stay in the cache.
STORED_AT_ONCE = 1 << 16
# Of a sum of squares, in double precision.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Cells:
    """The cells of an experiment, as they came and as the methods want them.

    Attributes
    ----------
    counts : csr_array or None
        Raw counts, where the matrix holds them.
    logged : csr_array
        ``log(1 + x)`` of the counts at equal depth, or the matrix itself where it is logged.
    depth : ndarray of shape (n_cells,)
        The total of each cell, of all genes.
    what_was_done : str
        A sentence.
    """

    counts: SparseMatrix | None
    logged: SparseMatrix
    depth: FloatArray
    what_was_done: str

    def of(self, rows: IntArray) -> Cells:
        """The same of some cells."""
        counts = None if self.counts is None else sp.csr_array(self.counts[rows])
        logged = sp.csr_array(self.logged[rows])
        return Cells(counts, logged, self.depth[rows], self.what_was_done)


def read_cells(adata: Any, layer: str | None, genes: BoolArray) -> Cells:
    """The chosen genes of the matrix, or of a layer, as float32. O(nnz)."""
    name = "X" if layer is None else f"layers[{layer!r}]"
    X = take_matrix(adata, layer)
    depth = row_sums(X)
    kind = kind_of(X, name)
    if not genes.all():
        X = sp.csr_array(X[:, genes])
    if kind == "counts":
        said = (
            f"{name} holds raw counts: they were brought to equal depth (the median, "
            f"{np.median(depth[depth > 0]):,.0f}) and logged, on a copy."
        )
        return Cells(X, log_of_equal_depth(X, depth), depth, said)
    if kind == "not logged":
        said = f"{name} holds values up to {X.max():,.0f} that are not logged: so was a copy."
        return Cells(None, with_data(X, np.log1p(X.data)), depth, said)
    base = (adata.uns.get("log1p") or {}).get("base") if layer is None else None
    if base is not None:
        said = f"{name} holds logarithms to the base {base:g}, taken as natural ones on a copy."
        return Cells(None, with_data(X, X.data * np.float32(np.log(base))), depth, said)
    return Cells(None, X, depth, f"{name} holds logarithms, taken as they are.")


def take_matrix(adata: Any, layer: str | None) -> SparseMatrix:
    """X or a layer as CSR in float32: of arrays in memory, on disk (backed) or of dask."""
    if layer is not None and layer not in adata.layers:
        hint = did_you_mean(layer, adata.layers)
        known = ", ".join(map(repr, adata.layers)) or "none"
        raise ValueError(f"There is no layer {layer!r}{hint}; the layers are: {known}.")
    X = adata.X if layer is None else adata.layers[layer]
    if X is None:
        layers = ", ".join(map(repr, adata.layers)) or "none"
        raise ValueError(f"adata.X is empty; name a layer with layer=. There are: {layers}.")
    if hasattr(X, "to_memory"):  # sparse, on disk
        X = X.to_memory()
    if hasattr(X, "dask"):
        blocks = [_sparse(X.blocks[i].compute()) for i in range(X.numblocks[0])]
        return canonical_csr(sp.vstack(blocks, format="csr"))
    return canonical_csr(_sparse(X))


def _sparse(X: Any) -> SparseMatrix:
    if is_sparse(X):
        table = sp.csr_array(X)
        return table if table.dtype == np.float32 else table.astype(np.float32)
    rows = [sp.csr_array(np.asarray(X[rows], dtype=np.float32)) for rows in row_blocks(*X.shape)]
    return sp.csr_array(sp.vstack(rows, format="csr"))


def kind_of(X: SparseMatrix, name: str = "X") -> Kind:
    """Whether values are whole numbers, logarithms, or neither; O(nnz).

    Values that are negative or not finite are refused.
    """
    data = X.data
    if not np.isfinite(data).all():
        raise ValueError(f"{name} contains NaN or infinity; counts and their logarithms do not.")
    if data.size and data.min() < 0:
        raise ValueError(
            f"{name} contains negative values, as scaled or centred data do; give raw counts or "
            "their logarithms, for example from a layer (layer=)."
        )
    if (data == np.rint(data)).all():
        return "counts"
    return "logged" if data.max() <= LARGEST_LOGGED else "not logged"


def log_of_equal_depth(counts: SparseMatrix, depth: FloatArray | None = None) -> SparseMatrix:
    """``log(1 + counts · median depth / depth)``; cells without counts stay empty."""
    if depth is None:
        depth = row_sums(counts)
    filled = depth > 0
    factor = np.zeros_like(depth)
    if filled.any():
        factor[filled] = np.median(depth[filled]) / depth[filled]
    data = np.repeat(factor.astype(counts.dtype), np.diff(counts.indptr))
    data *= counts.data
    return with_data(counts, np.log1p(data, out=data))


def with_data(X: SparseMatrix, data: FloatArray) -> SparseMatrix:
    """A table with the same places and other values; the places are shared."""
    return sp.csr_array((data, X.indices, X.indptr), shape=X.shape)


def row_sums(X: SparseMatrix) -> FloatArray:
    """Sums of the rows, in float64. O(nnz)."""
    total = np.zeros(X.shape[0])
    filled = np.flatnonzero(np.diff(X.indptr))
    if len(filled):
        total[filled] = np.add.reduceat(X.data[: X.nnz], X.indptr[filled], dtype=np.float64)
    return total


def column_sums(
    X: SparseMatrix, function: Callable[[FloatArray, IntArray], FloatArray] | None = None
) -> FloatArray:
    """Sums of the columns, or of a function of the stored values and their columns, in float64.

    O(nnz) time; the values are taken in blocks, so that nothing of the size of the table is made.
    """
    total = np.zeros(X.shape[1])
    for stored in row_blocks(X.nnz, 1):
        columns = X.indices[stored]
        values = X.data[stored].astype(np.float64)
        if function is not None:
            values = function(values, columns)
        total += np.bincount(columns, values, minlength=len(total))
    return total


def mean_and_scatter(X: SparseMatrix) -> tuple[FloatArray, FloatArray]:
    """Means of the columns, and the sums of squared deviations from them. O(nnz), in one pass.

    Of a column whose scatter is less than 1e-12 of its squares only rounding is left, and it is 0.
    """
    total, squares = np.zeros((2, X.shape[1]))
    for stored in row_blocks(X.nnz, 1):
        columns = X.indices[stored].astype(np.intp)
        values = X.data[stored].astype(np.float64)
        total += np.bincount(columns, values, minlength=len(total))
        squares += np.bincount(columns, values**2, minlength=len(total))
    mean = total / X.shape[0]
    scatter = squares - X.shape[0] * mean**2
    scatter[scatter <= ROUNDING * squares] = 0
    return mean, scatter


def cells_with(X: SparseMatrix) -> IntArray:
    """In how many cells each gene is seen. O(nnz)."""
    return column_sums(X, lambda values, _: values > 0).astype(np.intp)


def blocks_of(X: SparseMatrix) -> Iterator[tuple[slice, slice]]:
    """Consecutive rows, and where their values are stored; small blocks, as many sums need them."""
    n_rows = X.shape[0]
    for rows in row_blocks(n_rows, X.nnz // max(1, n_rows), block_size=STORED_AT_ONCE):
        yield rows, slice(X.indptr[rows.start], X.indptr[rows.stop])
