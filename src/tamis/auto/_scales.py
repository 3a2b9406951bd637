"""How the columns of a table are brought to one scale: what suits its values."""

from __future__ import annotations

from typing import Literal

import numpy as np
import scipy.sparse as sp

from tamis._typing import FloatArray, Matrix
from tamis.utils.columns import extent, weighted_moments
from tamis.utils.sparse import is_sparse

Scale = Literal["standard", "pareto", "none"]

# Columns are of one unit if few are much wider than the median column, and not too many much
# narrower: of pixels or bands many hardly vary, but none varies a hundred times as much.
FACTOR = 10.0
MOST_WIDER = 0.02
MOST_NARROWER = 0.2
# They are of one unit, too, if this share of them has one bound in common, and it is not 0: the
# largest grey level, or the floor that an instrument does not measure below.
BOUND_SHARED = 0.5


def scales_to_try(X: Matrix) -> tuple[tuple[Scale, ...], str]:
    """The scales that may suit a table, and why these. O(nd).

    Columns of different units can only be standardised. Where all columns have one unit, such as
    pixels, counts, the bands of a spectrum or the amounts of genes, a column that hardly varies
    tells little, and standardising makes its noise as loud as the rest: there Pareto scaling, by
    the root of the deviation, is tried beside.
    """
    lowest, highest = extent(X)
    if _is_counts(X, lowest):
        return ("standard", "pareto"), "all values are whole numbers from 0"
    widths = highest.astype(np.float64) - lowest
    ratio = widths / np.median(widths)
    if (ratio > FACTOR).mean() <= MOST_WIDER and (ratio < 1 / FACTOR).mean() <= MOST_NARROWER:
        return ("standard", "pareto"), "the columns are of one unit"
    for bound, name in ((lowest, "lowest"), (highest, "highest")):
        shared = _shared_value(bound)
        if shared is not None:
            reason = f"most columns have the same {name} value, {shared:g}, hence one unit"
            return ("standard", "pareto"), reason
    return ("standard",), "the columns are of different units"


def scaled_table(X: Matrix, scale: Scale) -> Matrix:
    """The columns on a scale, in float64: dense ones centred, sparse ones never shifted. O(nd).

    Parameters
    ----------
    X : {ndarray, CSR} of shape (n_samples, n_features)
        Every column varies.
    scale : {"standard", "pareto", "none"}
        Divide a column by its deviation, by the root of it (times the median deviation, so that
        the unit plays no part), or all columns by the median deviation.
    """
    mean, factor = _mean_and_factor(X, scale)
    if is_sparse(X):
        table = sp.csr_array(X, dtype=np.float64, copy=True)
        table.data *= factor[table.indices]
        return table
    table = X.astype(np.float64)
    table -= mean
    table *= factor
    return table


def scale_factors(X: Matrix, scale: Scale) -> FloatArray:
    """What :func:`scaled_table` multiplies each column by. O(nd)."""
    return _mean_and_factor(X, scale)[1]


def _mean_and_factor(X: Matrix, scale: Scale) -> tuple[FloatArray, FloatArray]:
    mean, scatter = weighted_moments(X, np.ones(X.shape[0]))
    return mean, 1 / _divisor(np.sqrt(scatter / X.shape[0]), scale)


def _divisor(deviation: FloatArray, scale: Scale) -> FloatArray:
    median = float(np.median(deviation))
    if scale == "standard":
        return deviation
    if scale == "pareto":
        return np.sqrt(deviation) * np.sqrt(median)
    return np.full_like(deviation, median)


def _is_counts(X: Matrix, lowest: FloatArray) -> bool:
    """Whether all values are whole numbers and every column begins at 0."""
    if not (lowest == 0).all():
        return False
    values = X.data if is_sparse(X) else X
    return bool((values == np.floor(values)).all())


def _shared_value(bounds: FloatArray) -> float | None:
    """The value, other than 0, that most columns have for a bound, or None."""
    values, counts = np.unique(bounds, return_counts=True)
    most = counts.argmax()
    if len(bounds) < 2 or values[most] == 0 or counts[most] < BOUND_SHARED * len(bounds):
        return None
    return float(values[most])
