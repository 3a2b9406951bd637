"""Blocks of samples in the E-step of a mixture: sums over their features, and over the samples.

A feature's density in a component is ``a + b``, with a that of the component's Gaussian and b that
of the common one, each times its probability. All is written in ``gap = log(a/b)``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
import scipy.sparse as sp

from tamis._typing import BoolArray, FloatArray, IntArray, SparseMatrix
from tamis.solvers.table_operator import TableOperator
from tamis.utils.blocks import cost_blocks, row_blocks

# Cells of a dense block, which several arrays hold at a time: they stay in the cache of a core.
DENSE_CELLS = 1 << 15
# Cells of a block of all samples, of which a component has its share.
FEATURE_CELLS = 1 << 17
# Arrays of the size of a block that are written into.
N_BUFFERS = 4
# Rows of fewer cells are worked on several at a time: a loop over a short row is mostly overhead.
SHORT_ROW = 256
# Larger gaps overflow, and smaller ones underflow, which is slow.
LARGEST_GAP = 700.0
# From here on log(1 + e^gap) is the gap, but for rounding; 15 such factors do not overflow.
LARGEST_FACTOR = 40.0
# Halvings of the number of factors before their logarithms are taken.
HALVINGS = 3
# Samples of a smaller posterior probability add nothing to the moments of a component.
NEGLIGIBLE = 1e-30
# What :meth:`Block.sums` returns, in this order: the logarithm of the density; deviation and square
# from the component's mean; relevance a/(a + b), times 1, deviation and square; and its complement,
# times 1, deviation and square from the common mean.
N_SUMS = 9


@dataclass(frozen=True)
class Gaussians:
    """One Gaussian per feature, times a factor: ``exp(constant − half_precision·(x − mean)²)``."""

    means: FloatArray
    half_precisions: FloatArray
    constants: FloatArray

    def log_density(self, x: FloatArray) -> FloatArray:
        """Of values, one or more rows of them."""
        return self.constants - self.half_precisions * (x - self.means) ** 2

    def of(self, features: IntArray) -> Gaussians:
        """Those of some features; one may be named again and again."""
        return Gaussians(
            self.means[features], self.half_precisions[features], self.constants[features]
        )


class Block(Protocol):
    """Some samples and features of a table."""

    n_rows: int

    def features(self, chosen: IntArray) -> Self:
        """Some features."""
        ...

    def samples(self, chosen: BoolArray) -> Self:
        """Some samples."""
        ...

    def log_densities(self, common: Gaussians) -> tuple[FloatArray, FloatArray]:
        """``log b``, summed over the features and summed over the samples."""
        ...

    def log_gains(self, common: Gaussians, component: Gaussians) -> FloatArray:
        """``log(1 + a/b)``, summed over the features."""
        ...

    def moments(self, means: FloatArray, w: FloatArray) -> FloatArray:
        """Deviations from `means` and their squares, weighted, summed over the samples.

        `w` has a row per component, and the result is 2 × components × features.
        """
        ...

    def sums(self, common: Gaussians, component: Gaussians, w: FloatArray) -> FloatArray:
        """The ``N_SUMS`` terms of each feature, weighted, summed over the samples."""
        ...


class DenseBlock:
    """A dense block.

    Parameters
    ----------
    x : ndarray of shape (n_rows, n_features)
    workspace : ndarray of shape (N_BUFFERS, at least as many as x has) or None, default=None
        Written into again and again: new arrays cost more than what is done with them.
    """

    def __init__(self, x: FloatArray, workspace: FloatArray | None = None) -> None:
        self.x = x
        self._workspace = np.empty((N_BUFFERS, x.size)) if workspace is None else workspace
        self.n_rows, self.n_features = x.shape
        self.n_tiles = int(np.gcd(self.n_rows, _rows_at_a_time(self.n_features)))
        self._common: Gaussians | None = None

    def features(self, chosen: IntArray) -> DenseBlock:
        """Some features."""
        every = len(chosen) == self.n_features
        return self if every else DenseBlock(np.take(self.x, chosen, axis=1), self._workspace)

    def samples(self, chosen: BoolArray) -> DenseBlock:
        """Some samples."""
        return DenseBlock(self.x[chosen], self._workspace)

    def log_densities(self, common: Gaussians) -> tuple[FloatArray, FloatArray]:
        """``log b``, summed over the features and summed over the samples."""
        values = self._by_rows(self._log_b(common))
        return values.sum(axis=1), values.sum(axis=0)

    def log_gains(self, common: Gaussians, component: Gaussians) -> FloatArray:
        """``log(1 + a/b)``, summed over the features: by the logarithm of products of them."""
        gaps = self._gaps(common, component)
        beyond = np.zeros(self.n_rows)
        if gaps.max(initial=-np.inf) > LARGEST_FACTOR:
            beyond = self._by_rows((gaps - LARGEST_FACTOR).clip(min=0)).sum(axis=1)
        np.clip(gaps, -LARGEST_GAP, LARGEST_FACTOR, out=gaps)
        factors = np.exp(gaps, out=gaps)
        factors += 1
        if self.n_tiles == 1:
            factors = _multiplied(factors)
            return beyond + np.log(factors, out=factors).sum(axis=1)
        return beyond + self._by_rows(np.log(factors, out=factors)).sum(axis=1)

    def moments(self, means: FloatArray, w: FloatArray) -> FloatArray:
        """Deviations from `means` and their squares, weighted, summed over the samples."""
        deviations = np.subtract(self.x, means, out=self._buffers(self.x)[0])
        first = w @ deviations
        return np.stack([first, w @ np.multiply(deviations, deviations, out=deviations)])

    def sums(self, common: Gaussians, component: Gaussians, w: FloatArray) -> FloatArray:
        """The ``N_SUMS`` terms of each feature, weighted, summed over the samples."""
        x, log_b = self._tiled(self.x), self._log_b(common)
        common, component = self._repeated(common), self._repeated(component)
        found = np.empty((N_SUMS, self.n_features))
        for number, term in enumerate(_terms(x, log_b, common, component, self._buffers(x))):
            np.matmul(w, self._by_rows(term), out=found[number])
        return found

    def terms(self, common: Gaussians, component: Gaussians) -> Iterator[FloatArray]:
        """The ``N_SUMS`` terms, one after the other; each is overwritten by those that follow."""
        x, log_b = self.x, self._log_b(common)
        yield from _terms(x, log_b, common, component, self._buffers(x))

    def gains(self, common: Gaussians, component: Gaussians) -> FloatArray:
        """``log(1 + a/b)`` of each cell."""
        return _log_one_plus_exp(self._gaps(common, component))

    def _gaps(self, common: Gaussians, component: Gaussians) -> FloatArray:
        component, x = self._repeated(component), self._tiled(self.x)
        gaps = np.subtract(x, component.means, out=self._buffers(x)[0])
        return _gaps_of(gaps, component, self._log_b(common))

    def _log_b(self, common: Gaussians) -> FloatArray:
        """``log b`` of each cell, kept: every component needs it."""
        if self._common is not common:
            self._log_common = self._repeated(common).log_density(self._tiled(self.x))
            self._common = common
        return self._log_common

    def _buffers(self, like: FloatArray) -> FloatArray:
        return self._workspace[:, : like.size].reshape(N_BUFFERS, *like.shape)

    def _tiled(self, values: FloatArray) -> FloatArray:
        return values.reshape(self.n_rows // self.n_tiles, self.n_tiles * self.n_features)

    def _by_rows(self, values: FloatArray) -> FloatArray:
        return values.reshape(self.n_rows, self.n_features)

    def _repeated(self, gaussians: Gaussians) -> Gaussians:
        if self.n_tiles == 1:
            return gaussians
        return gaussians.of(np.tile(np.arange(self.n_features), self.n_tiles))


class SparseBlock:
    """A block of which most cells of a feature have one value.

    Parameters
    ----------
    cells : csr_array of shape (n_rows, n_features)
        What the other cells have beyond that value.
    background : ndarray of shape (n_features,)
        The values.
    """

    def __init__(self, cells: SparseMatrix, background: FloatArray) -> None:
        self.n_rows = cells.shape[0]
        self.cells, self.background = cells, background
        self._columns = cells.indices
        self._x = cells.data + background[self._columns]
        # What a feature would add if all its cells had its value.
        self._rest = DenseBlock(background[None])

    def features(self, chosen: IntArray) -> SparseBlock:
        """Some features."""
        if len(chosen) == len(self.background):
            return self
        return SparseBlock(self.cells[:, chosen], self.background[chosen])

    def samples(self, chosen: BoolArray) -> SparseBlock:
        """Some samples."""
        return SparseBlock(self.cells[chosen], self.background)

    def log_densities(self, common: Gaussians) -> tuple[FloatArray, FloatArray]:
        """``log b``, summed over the features and summed over the samples."""
        rest = common.log_density(self.background)
        cells = self._matrix(common.of(self._columns).log_density(self._x) - rest[self._columns])
        return rest.sum() + cells.sum(axis=1), self.n_rows * rest + cells.sum(axis=0)

    def log_gains(self, common: Gaussians, component: Gaussians) -> FloatArray:
        """``log(1 + a/b)``, summed over the features."""
        rest = self._rest.gains(common, component)[0]
        near = component.of(self._columns)
        log_b = common.of(self._columns).log_density(self._x)
        gains = _log_one_plus_exp(_gaps_of(self._x - near.means, near, log_b))
        gains -= rest[self._columns]
        return rest.sum() + self._matrix(gains).sum(axis=1)

    def moments(self, means: FloatArray, w: FloatArray) -> FloatArray:
        """Deviations from `means` and their squares, weighted, summed over the samples."""
        rest = self.background - means
        others = self._weight_of_rest(w.T).T
        deviations = self._x - means[self._columns]
        first, second = (
            (self._matrix(values).T @ w.T).T + others * rest**power
            for power, values in ((1, deviations), (2, deviations**2))
        )
        return np.stack([first, second])

    def sums(self, common: Gaussians, component: Gaussians, w: FloatArray) -> FloatArray:
        """The ``N_SUMS`` terms of each feature, weighted, summed over the samples."""
        near, far = component.of(self._columns), common.of(self._columns)
        # Summed by column without a sparse matrix for each term, which costs more than small sums.
        log_b, cell_weights = far.log_density(self._x), np.repeat(w, np.diff(self.cells.indptr))
        others = (w.sum() - self._by_column(cell_weights)).clip(min=0)
        terms = zip(
            _terms(self._x, log_b, far, near, np.empty((N_BUFFERS, len(self._x)))),
            self._rest.terms(common, component),
            strict=True,
        )
        return np.stack(
            [self._by_column(term * cell_weights) + others * rest[0] for term, rest in terms]
        )

    def _by_column(self, values: FloatArray) -> FloatArray:
        return np.bincount(self._columns, values, minlength=len(self.background))

    def _weight_of_rest(self, w: FloatArray) -> FloatArray:
        ones = self._matrix(np.ones(len(self._x)))
        return (w.sum(axis=0) - ones.T @ w).clip(min=0)

    def _matrix(self, values: FloatArray) -> SparseMatrix:
        return sp.csr_array(
            (values, self.cells.indices, self.cells.indptr), shape=self.cells.shape, copy=False
        )


def sample_blocks(table: TableOperator) -> Iterator[tuple[slice, DenseBlock | SparseBlock]]:
    """A table in blocks of rows, sparse ones if it is sparse."""
    n_samples, n_features = table.shape
    if not table.is_sparse:
        together = _rows_at_a_time(n_features)
        rows_each = max(DENSE_CELLS // max(1, together * n_features), 1) * together
        workspace = np.empty((N_BUFFERS, rows_each * n_features))
        for rows in row_blocks(n_samples, 1, block_size=rows_each):
            yield rows, DenseBlock(table.rows(rows), workspace)
        return
    cells_of = sp.csr_array(table.stored)
    for rows in cost_blocks(np.diff(cells_of.indptr).astype(np.float64)):
        yield rows, SparseBlock(cells_of[rows], table.background)


def feature_blocks(
    table: TableOperator, features: IntArray
) -> Iterator[tuple[IntArray, DenseBlock | SparseBlock]]:
    """Some features of all samples, a few at a time: their numbers, and a block of them."""
    if not table.is_sparse:
        together = max(1, FEATURE_CELLS // max(1, table.shape[0]))
        for first in range(0, len(features), together):
            some = features[first : first + together]
            yield some, DenseBlock(table.columns(some))
        return
    cells_of = sp.csc_array(table.stored)
    for part in cost_blocks(np.diff(cells_of.indptr)[features] + 1.0):
        chosen = features[part]
        yield chosen, SparseBlock(sp.csr_array(cells_of[:, chosen]), table.background[chosen])


def _rows_at_a_time(n_features: int) -> int:
    """A power of two, 1 if rows are long."""
    return 1 << max(0, (SHORT_ROW // max(1, n_features)).bit_length() - 1)


def _gaps_of(deviations: FloatArray, component: Gaussians, log_b: FloatArray) -> FloatArray:
    """``log a − log b`` from the deviations of the component, which are overwritten."""
    deviations *= deviations
    deviations *= component.half_precisions
    np.subtract(component.constants, deviations, out=deviations)
    deviations -= log_b
    return deviations


def _log_one_plus_exp(gaps: FloatArray) -> FloatArray:
    """``log(1 + e^gap)``; the gaps are overwritten."""
    beyond = None
    if gaps.max(initial=-np.inf) > LARGEST_FACTOR:
        beyond = (gaps - LARGEST_FACTOR).clip(min=0)
    np.clip(gaps, -LARGEST_GAP, LARGEST_FACTOR, out=gaps)
    np.exp(gaps, out=gaps)
    gaps += 1
    np.log(gaps, out=gaps)
    return gaps if beyond is None else np.add(gaps, beyond, out=gaps)


def _multiplied(factors: FloatArray) -> FloatArray:
    """Fewer columns of the same product, row by row; the factors are overwritten."""
    for _ in range(HALVINGS):
        half, odd = divmod(factors.shape[1], 2)
        if half == 0:
            break
        if odd:
            factors[:, 0] *= factors[:, -1]
        factors[:, :half] *= factors[:, half : 2 * half]
        factors = factors[:, :half]
    return factors


def _terms(
    x: FloatArray,
    log_b: FloatArray,
    common: Gaussians,
    component: Gaussians,
    buffers: FloatArray,
) -> Iterator[FloatArray]:
    """The ``N_SUMS`` terms of each cell; each is overwritten by those that follow."""
    gaps, relevance, complement, deviations = buffers
    np.copyto(gaps, np.subtract(x, component.means, out=deviations))
    _gaps_of(gaps, component, log_b)
    highest = gaps.max(initial=-np.inf)
    np.exp(np.clip(gaps, -LARGEST_GAP, LARGEST_GAP, out=relevance), out=relevance)
    np.add(relevance, 1, out=complement)
    if highest > LARGEST_GAP:
        gaps -= LARGEST_GAP
        density = gaps.clip(min=0, out=gaps)
        density += np.log(complement)
    else:
        density = np.log(complement, out=gaps)
    density += log_b
    yield density
    yield deviations
    yield np.multiply(deviations, deviations, out=density)
    np.divide(1, complement, out=complement)
    relevance *= complement
    yield relevance
    for _ in range(2):
        relevance *= deviations
        yield relevance
    yield complement
    np.subtract(x, common.means, out=deviations)
    for _ in range(2):
        complement *= deviations
        yield complement
