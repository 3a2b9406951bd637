"""Moments of the rows of a table, in one pass, mergeable: as exact as two passes are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from tamis._typing import FloatArray
from tamis.distributed._distinct import DistinctValues
from tamis.solvers.dense import matmul
from tamis.utils.blocks import row_blocks

# Numbers that are centred and multiplied at once: a few megabytes, so that they stay in the cache.
BLOCK_SIZE = 1 << 19


@dataclass(frozen=True, eq=False)
class Moments:
    """Count, means, products of the centred columns, smallest and largest values, distinct values.

    Two of them with the same origin add up to the moments of both tables (:meth:`merge`), by the
    formulas of Chan, Golub and LeVeque [1]_. All sums are taken of differences from the origin, a
    row that is near the others, and of each block from its own mean: an offset that is large beside
    the deviations costs no digits, no more than with two passes.

    Added in the same order, the same blocks give the same bits.

    Attributes
    ----------
    origin : ndarray of shape (n_features,)
    count : int
    shift : ndarray of shape (n_features,)
        The mean less the origin.
    products : ndarray of shape (n_features, n_features) or (n_features,)
        Sums of products of deviations from the mean: all, or the squares alone.
    lowest, highest : ndarray of shape (n_features,)
        NaN where a column holds a NaN.
    distinct : DistinctValues or None

    References
    ----------
    .. [1] T. F. Chan, G. H. Golub, R. J. LeVeque. Algorithms for computing the sample variance:
       analysis and recommendations. The American Statistician 37 (1983).

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.distributed import Moments
    >>> X = np.random.default_rng(0).normal(1e6, 1.0, (1000, 3))
    >>> whole = Moments.of(X[:600], X[0]).merge(Moments.of(X[600:], X[0]))
    >>> bool(np.allclose(whole.variances, X.var(axis=0), rtol=1e-9))
    True
    """

    origin: FloatArray
    count: int
    shift: FloatArray
    products: FloatArray
    lowest: FloatArray
    highest: FloatArray
    distinct: DistinctValues | None = field(default=None)

    @classmethod
    def of(
        cls, X: FloatArray, origin: FloatArray, *, full: bool = True, distinct: bool = False
    ) -> Self:
        """The moments of some rows. O(nd²), or O(nd) without the products.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Numbers or truth values; at least one row.
        origin : ndarray of shape (n_features,)
            Any values near those of the columns, the same for all that are to be merged.
        full : bool, default=True
            Whether to sum the products of all pairs of columns, or the squares alone.
        distinct : bool, default=False
            Whether to keep distinct values, up to some number; see `DistinctValues`.
        """
        origin = np.asarray(origin, dtype=np.float64)
        whole: Moments | None = None
        for rows in row_blocks(*X.shape, block_size=BLOCK_SIZE):
            part = X[rows].astype(np.float64)
            lowest, highest = part.min(axis=0), part.max(axis=0)
            with np.errstate(invalid="ignore", over="ignore"):  # such values are refused by name
                part -= origin
                shift = part.sum(axis=0) / len(part)
                part -= shift
                left = part.sum(axis=0) / len(part)  # what rounding has left of the mean
                if full:
                    products = matmul(part.T, part) - len(part) * np.outer(left, left)
                else:
                    products = np.einsum("ij,ij->j", part, part) - len(part) * left**2
            one = cls(origin, len(part), shift + left, products, lowest, highest)
            whole = one if whole is None else whole._with(one)
        if whole is None:
            raise ValueError("There are no rows to take the moments of; give at least one.")
        values = DistinctValues.of(X) if distinct else None
        return cls(
            origin,
            whole.count,
            whole.shift,
            whole.products,
            whole.lowest,
            whole.highest,
            values,
        )

    def merge(self, other: Self) -> Self:
        """The moments of the rows of both. O(d²)."""
        if not np.array_equal(self.origin, other.origin):
            raise ValueError("Moments with different origins cannot be merged; take one for all.")
        return self._with(other)

    def _with(self, other: Any) -> Self:
        count = self.count + other.count
        with np.errstate(invalid="ignore", over="ignore"):
            step = other.shift - self.shift
            weight = self.count * (other.count / count)
            between = np.multiply.outer(step, step) if self.products.ndim == 2 else step**2
            products = self.products + other.products + weight * between
            shift = self.shift + step * (other.count / count)
        distinct = None
        if self.distinct is not None and other.distinct is not None:
            distinct = self.distinct.merge(other.distinct)
        return type(self)(
            self.origin,
            count,
            shift,
            products,
            np.minimum(self.lowest, other.lowest),
            np.maximum(self.highest, other.highest),
            distinct,
        )

    @property
    def mean(self) -> FloatArray:
        """Means of the columns."""
        return self.origin + self.shift

    @property
    def variances(self) -> FloatArray:
        """Population variances of the columns."""
        squares = self.products.diagonal() if self.products.ndim == 2 else self.products
        return squares.clip(min=0) / self.count

    def arrays(self) -> dict[str, FloatArray]:
        """All that it holds, as arrays by name: to be written, sent, and read again."""
        held = {
            "origin": self.origin,
            "count": np.array(self.count),
            "shift": self.shift,
            "products": self.products,
            "lowest": self.lowest,
            "highest": self.highest,
        }
        if self.distinct is not None:
            held["distinct"] = self.distinct.values
        return held

    @classmethod
    def from_arrays(cls, held: Mapping[str, FloatArray]) -> Self:
        """What :meth:`arrays` gave."""
        values = DistinctValues(held["distinct"]) if "distinct" in held else None
        return cls(
            held["origin"],
            int(held["count"]),
            held["shift"],
            held["products"],
            held["lowest"],
            held["highest"],
            values,
        )
