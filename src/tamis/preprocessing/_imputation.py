"""What takes the place of missing values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.impute import SimpleImputer

from tamis._typing import BoolArray, FloatArray, IntArray, Matrix
from tamis.preprocessing._low_rank import LowRank, fit_low_rank
from tamis.preprocessing._readings import CategoryReading, Reading
from tamis.utils.sparse import is_sparse

# Tables of more columns, and at least as many rows, are imputed by what their columns share.
WIDE = 20
FEWEST_ROWS = 20


@dataclass(frozen=True)
class Imputation:
    """Values for the gaps of numbers.

    Attributes
    ----------
    typical : ndarray of shape (n_columns,)
        The median, of truth values the more frequent one.
    low_rank : LowRank or None
        The components of the numbers, if the table is wide.
    modelled : ndarray of int
        The columns that `low_rank` knows.
    """

    typical: FloatArray
    low_rank: LowRank | None
    modelled: FloatArray

    def fill(self, X: Matrix) -> Matrix:
        """Fill the gaps of X in place."""
        if is_sparse(X):
            gaps = np.isnan(X.data)
            X.data[gaps] = self.typical[X.indices[gaps]]
            return X
        if self.low_rank is not None:
            if len(self.modelled) == X.shape[1]:
                self.low_rank.fill(X)
            else:
                part = X[:, self.modelled]
                self.low_rank.fill(part)
                X[:, self.modelled] = part
        for j in np.flatnonzero(np.isnan(X.sum(axis=0))):
            X[np.isnan(X[:, j]), j] = self.typical[j]
        return X


def fit_imputation(X: Matrix, boolean: BoolArray, has_gaps: bool) -> Imputation:
    """Choose what fills the gaps of X: components for wide tables, else medians.

    Parameters
    ----------
    X : {ndarray, CSR} of shape (n_rows, n_columns)
    boolean : ndarray of bool of shape (n_columns,)
        The columns of truth values.
    has_gaps : bool
        Without a gap nothing has to be modelled.
    """
    n_rows, n_columns = X.shape
    typical = np.zeros(n_columns)
    step = max(1, (1 << 18) // max(1, n_rows))
    for strategy, chosen in (("median", ~boolean), ("most_frequent", boolean)):
        columns = np.flatnonzero(chosen)
        for start in range(0, len(columns), step):
            some = columns[start : start + step]
            imputer = SimpleImputer(strategy=strategy, keep_empty_features=True)
            typical[some] = imputer.fit(X[:, some]).statistics_
    numbers = np.flatnonzero(~boolean)
    wide = len(numbers) > WIDE and n_rows >= FEWEST_ROWS
    low_rank = None
    if wide and has_gaps and not is_sparse(X):
        low_rank = fit_low_rank(X if len(numbers) == n_columns else X[:, numbers])
    return Imputation(typical, low_rank, numbers)


def usual_levels(readings: Iterable[Reading], codes: Sequence[IntArray]) -> list[int]:
    """The most frequent level of each category, as its code.

    Parameters
    ----------
    readings : iterable of Reading
        Of all columns; those that are no categories have no codes.
    codes : sequence of ndarray of int
    """
    n_levels = [one.n_outputs for one in readings if isinstance(one, CategoryReading)]
    return [
        int(np.argmax(np.bincount(code[code >= 0], minlength=most)))
        for code, most in zip(codes, n_levels, strict=True)
    ]


def filled_codes(codes: Sequence[IntArray], usual: Sequence[int]) -> list[IntArray]:
    """Codes with the most frequent level where there is no value; unknown levels stay unknown."""
    return [np.where(code == -1, level, code) for code, level in zip(codes, usual, strict=True)]
