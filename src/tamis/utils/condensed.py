"""A long table as the methods see it that know it by its products only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from tamis._typing import BoolArray, FloatArray

__all__ = ["Condensed"]


@dataclass(frozen=True, eq=False)
class Condensed:
    """Number of rows, means, smallest and largest values, and the products of the centred columns.

    Of d columns it takes d² numbers, however many rows there are. It stands for the table wherever
    a method looks at nothing else: variances, principal components, regressions.

    Attributes
    ----------
    n_samples : int
    mean : ndarray of shape (n_features,)
    gram : ndarray of shape (n_features, n_features) or (n_features,)
        XᵀX of the centred table, or its diagonal alone.
    lowest, highest : ndarray of shape (n_features,)
    """

    n_samples: int
    mean: FloatArray
    gram: FloatArray
    lowest: FloatArray
    highest: FloatArray

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns of the table."""
        return self.n_samples, len(self.mean)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the products."""
        return self.gram.dtype

    @property
    def scatter(self) -> FloatArray:
        """Sums of squared deviations from the mean."""
        return (self.gram.diagonal() if self.gram.ndim == 2 else self.gram).clip(min=0)

    def of_columns(self, chosen: BoolArray | Sequence[int]) -> Self:
        """Some of the columns."""
        return replace(
            self,
            mean=self.mean[chosen],
            gram=self.gram[chosen][:, chosen] if self.gram.ndim == 2 else self.gram[chosen],
            lowest=self.lowest[chosen],
            highest=self.highest[chosen],
        )

    def __truediv__(self, unit: float) -> Self:
        """All columns in another unit."""
        return replace(
            self,
            mean=self.mean / unit,
            gram=self.gram / unit**2,
            lowest=self.lowest / unit,
            highest=self.highest / unit,
        )
