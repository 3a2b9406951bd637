"""What is done to a table before its columns are ranked: rows drawn, columns scaled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tamis.cli._failures import CommandError, reason

if TYPE_CHECKING:
    from sklearn.base import TransformerMixin

    from tamis._typing import FloatArray, IntArray, Matrix
    from tamis.cli._source import Source
    from tamis.evaluation.protocol import Scaling
    from tamis.registry import Method

__all__ = [
    "NEIGHBOR_ROWS",
    "Prepared",
    "Scale",
    "check_values",
    "image_shape",
    "prepare",
    "scaling_words",
]

Scale = Literal["auto", "standard", "columns", "unit", "none"]

# Methods that search the neighbours of every row compare each with each: minutes at 100,000 rows.
NEIGHBOR_ROWS = 20_000


@dataclass
class Prepared:
    """A table ready to be ranked.

    Attributes
    ----------
    X : matrix
    rows : ndarray or slice
        Which rows of the source it holds.
    scaling : {"standard", "columns", "unit", "none"}
    scaler : transformer or None
        Of scikit-learn, not fitted, that scales likewise; None where there is none such.
    words : list of str
        What was done, a sentence each.
    altered : bool
        Whether the table of the source was scaled in place: its own values are gone.
    """

    X: Matrix
    rows: IntArray | slice
    scaling: Scaling
    scaler: TransformerMixin | None
    words: list[str]
    altered: bool


def prepare(
    source: Source, method: Method, scale: Scale, max_rows: int | None, seed: int
) -> Prepared:
    """Draw rows and scale columns.

    A table of which all rows are used is scaled in place: it may be as large as half the memory.
    """
    import numpy as np
    import scipy.sparse as sp

    from tamis.evaluation.preparation import drawn_samples, scaled, scaler_for

    check_values(source)
    X = source.table.X
    words = []
    most = max_rows
    if most is None and "n_neighbors" in method.selector().get_params():
        most = NEIGHBOR_ROWS
    rows = drawn_samples(X.shape[0], most, seed)
    if not isinstance(rows, slice):
        why = "as --max-rows says" if max_rows else f"as {method.name} compares each with each"
        words.append(
            f"Ranked on {most:,} of the {X.shape[0]:,} rows, drawn at random, {why}; "
            "--max-rows sets another number."
        )
        X = X[rows]
    scaling: Scaling = method.scaling if scale == "auto" else scale
    if sp.issparse(X):
        X = scaled(X, scaling)
    elif scaling != "none":
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
        elif not X.flags.writeable:
            X = X.copy()
        _scale_in_place(X, scaling)
    words.append(scaling_words(scaling, sp.issparse(X)))
    altered = X is source.table.X and scaling != "none"
    return Prepared(X, rows, scaling, scaler_for(scaling, sp.issparse(X)), words, altered)


def _scale_in_place(X: FloatArray, scaling: Scaling) -> None:
    """What :func:`tamis.evaluation.preparation.scaled` returns, without a second table."""
    from tamis.columns import row_blocks
    from tamis.evaluation.preparation import scaled

    if scaling == "unit":
        lowest, extent = X.min(), X.max() - X.min()
        X -= lowest
        X /= extent or 1.0
        return
    for columns in row_blocks(X.shape[1], X.shape[0]):
        X[:, columns] = scaled(X[:, columns], scaling)


def check_values(source: Source) -> None:
    """Refuse values that no method can use, and a table whose columns are all constant."""
    from tamis.base import refuse_unusable_values
    from tamis.columns import extent

    lowest, highest = extent(source.table.X)
    try:
        refuse_unusable_values(lowest, highest, source.table.feature_names)
    except ValueError as error:
        raise CommandError(f"{source.name}: {reason(error).removeprefix('X ')}.") from None
    if (lowest == highest).all():
        raise CommandError(
            f"{source.name}: every column is constant, and none tells one row from another; there "
            "is nothing to keep, and nothing was written."
        )


def scaling_words(scaling: str, sparse: bool) -> str:
    words = {
        "standard": "Columns standardised: mean 0, standard deviation 1.",
        "columns": "Columns brought to the range 0 to 1, each by its own scale.",
        "unit": "The whole table brought to the range 0 to 1 by one scale.",
        "none": "Columns taken as they are, unscaled.",
    }
    if sparse and scaling == "standard":
        return "Columns divided by their standard deviations, not centred: the table stays sparse."
    if sparse and scaling != "none":
        return f"{words[scaling][:-1]}, zero staying zero: the table stays sparse."
    return words[scaling]


def image_shape(text: str | None, source: Source) -> tuple[int, int] | None:
    """What --image-shape says, or the shape that the source knows."""
    if text is None:
        known: Any = source.table.image_shape
        return known
    height, cross, width = text.lower().replace("×", "x").partition("x")
    n_columns = source.table.X.shape[1]
    if not (cross and height.isdigit() and width.isdigit()):
        raise CommandError(f"--image-shape {text} is not HEIGHTxWIDTH; for example 28x28.")
    if int(height) * int(width) != n_columns:
        raise CommandError(
            f"--image-shape {text} has {int(height) * int(width)} pixels, but {source.name} has "
            f"{n_columns} columns."
        )
    return int(height), int(width)
