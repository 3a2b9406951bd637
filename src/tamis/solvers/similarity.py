"""Columns whose products with each other are similar to a Gaussian kernel of the samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tamis._typing import BoolArray, FloatArray, IntArray
from tamis.solvers.column_products import ColumnProducts
from tamis.solvers.table_operator import TableOperator
from tamis.utils.blocks import row_blocks

__all__ = ["AlignedColumns", "GaussianForms", "aligned_columns", "gaussian_forms"]

# Values that differ by less, relative, are equal: the first column of them is taken.
TIE = 1e-9
# Numbers in a block of the kernel, which is never formed whole.
BLOCK_SIZE = 1 << 20


@dataclass(frozen=True)
class GaussianForms:
    """What a search needs of the centred Gaussian kernel K of the samples, of which n² is not kept.

    Attributes
    ----------
    forms : ndarray of shape (n_features,)
        ``x_jᵀKx_j`` for each column.
    squared_norm : float
        ``‖K‖²``.
    """

    forms: FloatArray
    squared_norm: float


def gaussian_forms(X: TableOperator, bandwidth: float | None = None) -> GaussianForms:
    """The kernel ``exp(−‖x_s − x_t‖²/(2σ²))`` of the samples, centred, in each column.

    Parameters
    ----------
    X : TableOperator
        Centred, with columns that vary.
    bandwidth : float or None, default=None
        σ; None takes that for which 2σ² is the mean squared distance of two samples.

    Notes
    -----
    O(n²d), O(n·nnz) if sparse, in blocks of rows: O(nd) memory.
    """
    n_samples, n_features = X.shape
    lengths = np.empty(n_samples)
    for rows in row_blocks(n_samples, n_features):
        lengths[rows] = (X.rows(rows) ** 2).sum(axis=1)
    width = 2 * lengths.sum() / (n_samples - 1) if bandwidth is None else 2 * bandwidth**2
    forms, sums = np.zeros(n_features), np.empty(n_samples)
    squared_norm = 0.0
    for rows in row_blocks(n_samples, max(n_samples, n_features), block_size=BLOCK_SIZE):
        block = X.rows(rows)
        squared = lengths[:, None] + lengths[rows] - 2 * X.times(block.T)
        kernel = np.exp(-squared.clip(min=0) / width)
        forms += np.einsum("bd,db->d", block, X.transposed_times(kernel))
        sums[rows] = kernel.sum(axis=0)
        squared_norm += float(np.vdot(kernel, kernel))
    squared_norm += (sums.sum() / n_samples) ** 2 - 2 * float(sums @ sums) / n_samples
    return GaussianForms(forms.clip(min=0), max(squared_norm, 0.0))


@dataclass(frozen=True)
class AlignedColumns:
    """The columns that were chosen, in their order.

    Attributes
    ----------
    order : ndarray of shape (n_chosen,)
    alignment : ndarray of shape (n_chosen,)
        The cosine of the angle between K and the products of the first 1, 2, … columns.
    next_alignment : ndarray of shape (n_features,)
        What it would be with each column besides.
    """

    order: IntArray
    alignment: FloatArray
    next_alignment: FloatArray


def aligned_columns(
    X: TableOperator, kernel: GaussianForms, n_columns: int, include: BoolArray
) -> AlignedColumns:
    """Forward search for the A that minimises ``min_τ ‖K − τX_AX_Aᵀ‖``.

    Each step takes the column with which the cosine ``⟨K, X_AX_Aᵀ⟩ / ‖K‖‖X_AX_Aᵀ‖`` becomes
    largest, which is the same.

    Parameters
    ----------
    X : TableOperator
        Centred.
    kernel : GaussianForms
    n_columns : int
        How many to choose, at most d.
    include : ndarray of bool of shape (n_features,)
        Columns that are chosen first.

    Notes
    -----
    O(ndm) for m columns; where d ≤ n, O(nd² + dm).
    """
    products = ColumnProducts(X)
    squared_lengths = X.squared_column_norms()
    crossed = np.zeros(X.shape[1])  # Σ (x_iᵀx_j)² over the j chosen
    left = np.ones(X.shape[1], dtype=bool)
    agreement, size = 0.0, 0.0
    order: list[int] = []
    path: list[float] = []

    def next_alignment() -> FloatArray:
        norms = np.sqrt(size + 2 * crossed + squared_lengths**2)
        scale = norms * np.sqrt(kernel.squared_norm)
        above = agreement + kernel.forms
        return np.divide(above, scale, out=np.zeros_like(scale), where=scale > 0).clip(max=1)

    for _ in range(n_columns):
        values = next_alignment()
        candidates = left & include if (left & include).any() else left
        among = np.where(candidates, values, -1.0)
        best = int((among >= among.max() * (1 - TIE)).argmax())
        order.append(best)
        path.append(values[best])
        left[best] = False
        agreement += kernel.forms[best]
        size += 2 * crossed[best] + squared_lengths[best] ** 2
        crossed += products.with_column(best) ** 2
    return AlignedColumns(np.array(order), np.array(path), next_alignment())
