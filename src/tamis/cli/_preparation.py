"""What is done to a table before its columns are ranked: rows drawn, columns scaled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tamis.cli._failures import CommandError, reason
from tamis.utils.counts import NEIGHBOR_ROWS

if TYPE_CHECKING:
    from sklearn.base import TransformerMixin

    from tamis._typing import FloatArray, IntArray, Matrix
    from tamis.cli._source import Source
    from tamis.preprocessing import Scaling
    from tamis.registry import Method

__all__ = [
    "Prepared",
    "Scale",
    "check_values",
    "image_shape",
    "prepare",
    "scales_itself",
    "scaling_words",
]

Scale = Literal["auto", "standard", "columns", "unit", "none"]


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
    code : str
        Python that does the same to `table` and leaves X to the scaler, if there is one.
    altered : bool
        Whether the table of the source was scaled in place: its own values are gone.
    """

    X: Matrix
    rows: IntArray | slice
    scaling: Scaling
    scaler: TransformerMixin | None
    words: list[str]
    code: str
    altered: bool


def prepare(
    source: Source, method: Method, scale: Scale, max_rows: int | None, seed: int
) -> Prepared:
    """Draw rows and scale columns.

    A table of which all rows are used is scaled in place: it may be as large as half the memory.
    """
    import numpy as np
    import scipy.sparse as sp

    from tamis.preprocessing import drawn_samples, scaled, scaler_for

    check_values(source)
    X = source.table.X
    words = []
    most = max_rows
    if most is None and method.compares_rows:
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
        X = scaled(X, scaling, source.table.feature_names)
    elif scaling != "none":
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
        elif not X.flags.writeable:
            X = X.copy()
        _scale_in_place(X, scaling, source.table.feature_names)
    if not (scale == "auto" and scales_itself(method)):
        words.append(scaling_words(scaling, sp.issparse(X)))
    altered = X is source.table.X and scaling != "none"
    scaler = scaler_for(scaling, sp.issparse(X))
    code = _python(None if isinstance(rows, slice) else len(rows), seed, scaling, sp.issparse(X))
    return Prepared(X, rows, scaling, scaler, words, code, altered)


def scales_itself(method: Method) -> bool:
    """Whether a method finds the scale of the columns, unless it is told."""
    from inspect import signature

    return "scaling" in signature(method.selector).parameters


def _python(n_drawn: int | None, seed: int, scaling: Scaling, sparse: bool) -> str:
    """Python that draws rows of `table` as :func:`prepare` does; scales where no scaler does."""
    lines = ["X = table.X"]
    if n_drawn is not None:
        lines = [
            "import numpy as np",
            "",
            f"generator = np.random.default_rng({seed})",
            f"drawn = generator.choice(table.X.shape[0], {n_drawn}, replace=False)",
            "X = table.X[np.sort(drawn)]",
        ]
    if scaling == "unit":
        lines.append("X = X.astype(float)")
        lines.append("X /= abs(X).max()" if sparse else "X = (X - X.min()) / (X.max() - X.min())")
    return "\n".join(lines)


def _scale_in_place(X: FloatArray, scaling: Scaling, feature_names: FloatArray) -> None:
    """What :func:`tamis.evaluation.preparation.scaled` returns, without a second table."""
    import numpy as np

    from tamis.preprocessing import scaled_columns, warn_of_columns_left
    from tamis.utils.blocks import row_blocks

    if scaling == "unit":
        lowest, extent = X.min(), X.max() - X.min()
        X -= lowest
        X /= extent or 1.0
        return
    left = []
    for columns in row_blocks(X.shape[1], X.shape[0]):
        block, left_of_block = scaled_columns(X[:, columns].astype(np.float64), scaling, X.dtype)
        X[:, columns] = block
        left.append(columns.start + left_of_block)
    warn_of_columns_left(np.concatenate(left), feature_names)


def check_values(source: Source) -> None:
    """Refuse values that no method can use, and a table whose columns are all constant."""
    from tamis.utils.columns import columns_of_rounding, extent
    from tamis.utils.validation import refuse_unusable_values

    X = source.table.X
    lowest, highest = extent(X)
    try:
        refuse_unusable_values(lowest, highest, source.table.feature_names)
    except ValueError as error:
        raise CommandError(f"{source.name}: {reason(error).removeprefix('X ')}.") from None
    constant = lowest == highest
    if X.dtype.kind == "f":
        constant[columns_of_rounding(X, lowest, highest, own_scale=True)] = True
    if constant.all():
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
