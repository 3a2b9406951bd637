"""The span of chosen columns of a table, and what every other column would add to it.

With X the centred table, C = XᵀX and Q orthonormal directions that span the chosen columns, what
these leave is ``C̃ = C − BBᵀ``, ``B = XᵀQ``. It is never formed. Of every column i two numbers are
kept: its squared length ``g = C̃ᵢᵢ`` and the squared length ``f = ‖C̃ᵢ‖²`` of its column of C̃. If
column i is chosen next, f/g of the squared norm of the table is rebuilt beyond what already is. A
direction with loadings w = Xᵀq that joins the span makes C̃ smaller by ``wwᵀ``, one that leaves it
makes C̃ larger by it, so that f and g follow from one product ``C̃w``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from tamis._typing import BoolArray, FloatArray, IntArray, SparseMatrix
from tamis.solvers.dense import matmul
from tamis.solvers.table_operator import TableOperator
from tamis.utils.sparse import is_sparse

# A column of which the chosen ones explain all but this share tells nothing new.
NEWS = 1e-10
# Share of the terms from which f was last computed that rounding may have cost since.
DRIFT = 1e-12
# Gains whose relative difference is smaller are equal: the first column is taken.
TIE = 1e-9
# Columns that are computed in one product.
BLOCK = 128
# Multiply–adds of dense matrices in the time of one of a sparse and a dense or two sparse ones.
SPARSE_BY_DENSE, SPARSE_BY_SPARSE = 10, 100
# Above this side, a sparse table is worth no square dense matrix.
SPARSE_GRAM_MAX = 6000


@dataclass(frozen=True)
class Direction:
    """What a column adds to the span.

    Attributes
    ----------
    column : int
    shares : ndarray of shape (n_chosen,)
        Qᵀx, what the column has of the span.
    length : float
        What it has beyond the span.
    unit : ndarray
        The direction of the latter, as the span stores directions.
    loadings : ndarray of shape (n_features,)
        w = Xᵀq.
    """

    column: int
    shares: FloatArray
    length: float
    unit: FloatArray
    loadings: FloatArray

    @property
    def gain(self) -> float:
        """The squared norm that is rebuilt beyond what already is."""
        return float(self.loadings @ self.loadings)


@dataclass(frozen=True)
class Removal:
    """What the span loses with one of its columns.

    Attributes
    ----------
    position : int
        Where the column stands among the chosen ones.
    combination : ndarray of shape (n_chosen,)
        Of the directions of the span, the one in which this column alone has a part.
    loss : float
        The squared norm that is no longer rebuilt.
    alignments, lengths : ndarray of shape (n_features,)
        f and g after the removal.
    """

    position: int
    combination: FloatArray
    loss: float
    alignments: FloatArray
    lengths: FloatArray


class ColumnSpan(ABC):
    """Chosen columns, and what each other column would add to them.

    Parameters
    ----------
    lengths : ndarray of shape (n_features,)
        The diagonal of C.
    alignments : ndarray of shape (n_features,)
        Squared lengths of the columns of C.
    terms : ndarray of shape (n_features,)
        The size of the terms that these were computed from: rounding is a share of it.
    side : int
        Length of a stored direction.
    most : int
        How many columns may be chosen.
    """

    algorithm: str

    def __init__(
        self,
        lengths: FloatArray,
        alignments: FloatArray,
        terms: FloatArray,
        *,
        side: int,
        most: int,
    ) -> None:
        self.members: list[int] = []
        self._first_lengths = lengths
        self._lengths = lengths.astype(np.float64)  # g
        self._alignments = alignments.astype(np.float64)  # f
        self._terms = terms.astype(np.float64)  # what f was last computed from
        self._store = np.empty((side, most), order="F")
        # The columns of this inverse of QᵀX_S are, but for their length, the directions in which
        # one of the chosen columns alone has a part.
        self._inverse = np.empty((0, 0))

    @abstractmethod
    def _residuals(self, columns: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Shares of the span (a row each), what is left (a column each) and its squared length."""

    @abstractmethod
    def _loadings(self, directions: FloatArray) -> FloatArray:
        """Xᵀz of stored directions."""

    @abstractmethod
    def _remaining_times(self, loadings: FloatArray) -> FloatArray:
        """C̃w."""

    @abstractmethod
    def gram_of_directions(self) -> FloatArray:
        """BᵀB: the direction Qv of the span rebuilds vᵀBᵀBv of the table."""

    @property
    def _directions(self) -> FloatArray:
        return self._store[:, : len(self.members)]

    @property
    def adds(self) -> BoolArray:
        """The columns that are not explained by the chosen ones but for rounding."""
        return self._lengths > NEWS * self._first_lengths

    @property
    def left(self) -> float:
        """The squared norm that is not rebuilt."""
        return float(self._lengths[self.adds].sum())

    def shares(self, columns: IntArray) -> FloatArray:
        """Qᵀx of each column, a row each."""
        return self._residuals(columns)[0]

    def gains(self) -> FloatArray:
        """The squared norm that each column would rebuild beyond what is; 0 if it adds nothing."""
        doubtful = self.adds & (DRIFT * self._terms > TIE * self._alignments)
        self._compute(np.flatnonzero(doubtful))
        return _quotients(self._alignments, self._lengths, self.adds)

    def best(self, candidates: BoolArray) -> Direction | None:
        """What the candidate that adds most adds, the first of equals; None if all add nothing.

        The candidates that could be the best within what f has lost to rounding are computed anew
        until they can be told apart, or are known to be equal.
        """
        anew = np.zeros(len(candidates), dtype=bool)
        while (usable := candidates & self.adds).any():
            gains = _quotients(self._alignments, self._lengths, usable)
            doubts = _quotients(DRIFT * self._terms, self._lengths, usable)
            doubts[anew] = TIE * gains[anew]
            possible = usable & (gains + doubts >= (gains - doubts).max())
            unsettled = np.flatnonzero(possible & ~anew)
            if np.count_nonzero(possible) == 1 or len(unsettled) == 0:
                return self.direction(int(possible.argmax()))
            self._compute(unsettled)
            anew[unsettled] = True
        return None

    def add(self, direction: Direction) -> None:
        """Choose a column. One product with C, O(d²) or O(nd), and O(dp) or O(np)."""
        p, w = len(self.members), direction.loadings
        change = -2 * w * self._remaining_times(w) + direction.gain * w**2
        self._alignments = (self._alignments + change).clip(min=0)
        self._lengths = (self._lengths - w**2).clip(min=0)
        self._lengths[direction.column] = 0
        inverse = np.zeros((p + 1, p + 1))
        inverse[:p, :p] = self._inverse
        inverse[p, :p] = -(direction.shares @ self._inverse) / direction.length
        inverse[p, p] = 1 / direction.length
        self._inverse = inverse
        self._store[:, p] = direction.unit
        self.members.append(direction.column)

    def removal(self, column: int) -> Removal:
        """What would be without a chosen column. One product with C, and O(dp) or O(np)."""
        position = self.members.index(column)
        combination = self._inverse[:, position]
        combination = combination / np.linalg.norm(combination)
        w = self._loadings(self._directions @ combination)
        loss = float(w @ w)
        alignments = self._alignments + 2 * w * self._remaining_times(w) + loss * w**2
        return Removal(position, combination, loss, alignments.clip(min=0), self._lengths + w**2)

    def could_gain(self, removal: Removal, candidates: BoolArray) -> float:
        """At least what the best candidate adds once the removal is made."""
        usable = candidates & (removal.lengths > NEWS * self._first_lengths)
        doubts = DRIFT * np.maximum(self._terms, removal.alignments)
        gains = _quotients(removal.alignments + doubts, removal.lengths, usable)
        return float(gains.max(initial=0.0))

    def remove(self, removal: Removal) -> None:
        """Take a chosen column out of the span. O(dp) or O(np)."""
        # A reflection of the directions makes the last of them the one that leaves.
        mirror = removal.combination.copy()
        mirror[-1] += np.copysign(1.0, mirror[-1])
        mirror /= np.linalg.norm(mirror)
        directions = self._directions
        directions -= 2 * np.outer(directions @ mirror, mirror)
        inverse = self._inverse - 2 * np.outer(mirror, mirror @ self._inverse)
        self._inverse = np.delete(inverse[:-1], removal.position, axis=1)
        del self.members[removal.position]
        self._alignments, self._lengths = removal.alignments, removal.lengths
        self._terms = np.maximum(self._terms, self._alignments)

    def direction(self, column: int) -> Direction:
        """What a column that is not explained by the chosen ones adds to them."""
        shares, left, squared_lengths = self._residuals(np.array([column]))
        length = float(np.sqrt(squared_lengths[0]))
        unit = left[:, 0] / length
        return Direction(column, shares[0], length, unit, self._loadings(unit))

    def _compute(self, columns: IntArray) -> None:
        """Find f and g of some columns by their definition. O(d(d + p)) or O(n(d + p)) each."""
        for block in _blocks(columns):
            _, left, squared_lengths = self._residuals(block)
            loadings = self._loadings(left)
            self._alignments[block] = np.einsum("ij,ij->j", loadings, loadings)
            self._lengths[block] = squared_lengths.clip(min=0)
            self._terms[block] = self._alignments[block]


class SpanByFeatures(ColumnSpan):
    """By C, d × d; a direction is stored as its loadings. O(d²) per column.

    Parameters
    ----------
    covariance : ndarray of shape (n_features, n_features)
        C, or any multiple of it.
    most : int
        How many columns may be chosen.
    """

    algorithm = "covariance"

    def __init__(self, covariance: FloatArray, most: int) -> None:
        alignments = np.einsum("ij,ij->j", covariance, covariance)
        lengths = covariance.diagonal()
        super().__init__(lengths, alignments, alignments, side=len(covariance), most=most)
        self._C = covariance

    def _residuals(self, columns: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        shares = self._directions[columns]
        left = self._C[:, columns] - self._directions @ shares.T
        # A column of C̃ is Xᵀ of what is left: divided by its length it is made of loadings.
        return shares, left, left[columns, np.arange(len(columns))]

    def _loadings(self, directions: FloatArray) -> FloatArray:
        return directions

    def _remaining_times(self, loadings: FloatArray) -> FloatArray:
        B = self._directions
        product: FloatArray = self._C @ loadings - B @ (B.T @ loadings)
        return product

    def gram_of_directions(self) -> FloatArray:
        """BᵀB, from what is stored. O(dp²)."""
        gram: FloatArray = matmul(self._directions.T, self._directions)
        return gram


class SpanBySamples(ColumnSpan):
    """By products with the table; a direction is stored as q, of n numbers. O(nd) per column.

    Nothing of size d × d or d × p is formed. The first f of all columns take O(nd·min(n, d)).

    Parameters
    ----------
    X : TableOperator
    most : int
        How many columns may be chosen.
    """

    algorithm = "products with the table"

    def __init__(self, X: TableOperator, most: int) -> None:
        self._X = X
        n_samples = X.shape[0]
        alignments, terms = squared_gram_columns(X)
        super().__init__(
            X.squared_column_norms(),
            alignments,
            terms,
            side=n_samples,
            most=min(most, n_samples),
        )

    def _residuals(self, columns: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        Q = self._directions
        left = self._X.columns(columns)
        shares = np.zeros((len(columns), Q.shape[1]))
        for _ in range(2):  # once more for what rounding has left of the directions
            found = Q.T @ left
            left = left - Q @ found
            shares += found.T
        return shares, left, np.einsum("ij,ij->j", left, left)

    def _loadings(self, directions: FloatArray) -> FloatArray:
        return self._X.transposed_times(directions)

    def _remaining_times(self, loadings: FloatArray) -> FloatArray:
        Q = self._directions
        samples = self._X.times(loadings)
        return self._X.transposed_times(samples - Q @ (Q.T @ samples))

    def gram_of_directions(self) -> FloatArray:
        """BᵀB, some columns at a time. O(ndp)."""
        Q = self._directions
        gram = np.empty((Q.shape[1], Q.shape[1]))
        for block in _blocks(np.arange(Q.shape[1])):
            gram[:, block] = Q.T @ self._X.times(self._X.transposed_times(Q[:, block]))
        return gram


def empty_span(table: FloatArray | TableOperator, most: int) -> ColumnSpan:
    """The span of no column yet of a covariance matrix or of a table.

    Of a table the covariance is formed where it has no more columns than samples, since it is then
    no larger than the table; of a sparse table up to 6000 columns. `algorithm` tells which it is.
    """
    if not isinstance(table, TableOperator):
        return SpanByFeatures(table, most)
    n_samples, n_features = table.shape
    if n_features <= n_samples and _may_be_squared(table, n_features):
        return SpanByFeatures(table.gram_of_features(), most)
    return SpanBySamples(table, most)


def squared_gram_columns(X: TableOperator) -> tuple[FloatArray, FloatArray]:
    """Squared lengths of the columns of XᵀX, which is not formed.

    From the Gram matrix of the samples where it is the smaller one, else from products of columns,
    of sparse ones where that is less work. O(nd·min(n, d)) for a dense table.

    Returns
    -------
    squares, terms : ndarray of shape (n_features,)
        The squares, and the size of the terms that they were computed from: rounding is a share of
        these.
    """
    n_samples, n_features = X.shape
    by_samples = n_samples < n_features and _may_be_squared(X, n_samples)
    if is_sparse(X.stored):
        row_counts = np.diff(X.stored.indptr).astype(np.float64)
        work = SPARSE_BY_SPARSE * float(row_counts @ row_counts)
        by_columns = SPARSE_BY_DENSE * X.stored.nnz * n_features
        if work < (n_samples**2 * n_features if by_samples else by_columns):
            return _squared_sparse_columns(X.stored)
    gram = X.gram_of_samples() if by_samples else None
    squares = np.empty(n_features)
    for block in _blocks(np.arange(n_features)):
        columns = X.columns(block)
        if gram is None:
            products = X.transposed_times(columns)
            squares[block] = np.einsum("ij,ij->j", products, products)
        else:
            squares[block] = np.einsum("ij,ij->j", columns, matmul(gram, columns))
    return squares.clip(min=0), squares


def _squared_sparse_columns(stored: SparseMatrix) -> tuple[FloatArray, FloatArray]:
    """The same from products of sparse columns: those of C are ``s − n mⱼ m``, m the means."""
    n_samples, n_features = stored.shape
    mean = np.asarray(stored.sum(axis=0)).ravel() / n_samples
    by_column = sp.csc_array(stored)
    transposed = sp.csr_array(by_column.T)
    terms = np.empty(n_features)
    for block in _blocks(np.arange(n_features)):
        products = sp.csc_array(transposed @ by_column[:, block])
        terms[block] = products.multiply(products).sum(axis=0)
    crossed = stored.T @ (stored @ mean)
    shift = n_samples * mean
    return (terms - 2 * shift * crossed + shift**2 * (mean @ mean)).clip(min=0), terms


def _may_be_squared(X: TableOperator, side: int) -> bool:
    return not X.is_sparse or side <= SPARSE_GRAM_MAX


def _blocks(columns: IntArray) -> Iterator[IntArray]:
    for start in range(0, len(columns), BLOCK):
        yield columns[start : start + BLOCK]


def _quotients(numerators: FloatArray, denominators: FloatArray, where: BoolArray) -> FloatArray:
    """Quotients where they are asked for, 0 elsewhere."""
    return np.divide(numerators, denominators, out=np.zeros(len(where)), where=where)
