"""Tables and labels of a user: refused at once if they cannot be used, else made into arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from tamis._typing import Matrix
from tamis.utils.columns import extent
from tamis.utils.sparse import canonical_csr, is_sparse
from tamis.utils.validation import refuse_text_columns, refuse_unusable_values

__all__ = ["checked_labels", "checked_table"]


def checked_table(X: Any, names: Sequence[str] | None) -> tuple[Matrix, Sequence[str] | None]:
    """The values and the names of their columns; a refusal names the columns at fault.

    Parameters
    ----------
    X : {array-like, sparse, pandas or polars frame} of shape (n_samples, n_features)
    names : sequence of str or None
        None takes those of a frame.
    """
    if nw.dependencies.is_into_dataframe(X):
        names = names or tuple(nw.from_native(X, eager_only=True).columns)
    elif not is_sparse(X):
        X = _plain_array(X)
    refuse_text_columns(X)
    # Sums run in the order of memory: one order for all, so that their last digits are the same.
    table = check_array(
        X, accept_sparse=("csr", "csc"), dtype="numeric", order="C", ensure_all_finite=False
    )
    values = canonical_csr(table) if is_sparse(table) else table
    refuse_unusable_values(*extent(values), names)
    return table, names


def _plain_array(X: Any) -> NDArray[Any]:
    try:
        values = np.asarray(X)
    except ValueError:
        raise ValueError("the rows of X have different lengths.") from None
    if values.ndim != 2:
        raise ValueError(f"X has shape {values.shape} where samples × features is needed.")
    return values


def checked_labels(y: Any, n_samples: int) -> NDArray[Any]:
    """The labels as an array; missing ones are no class of their own."""
    if nw.dependencies.is_into_series(y):
        y = nw.from_native(y, series_only=True).to_numpy()
    # As objects first: of text and NaN together numpy would make the text "nan".
    each = np.asarray(y, dtype=object)
    if each.shape != (n_samples,):
        raise ValueError(f"y has shape {each.shape}, but X has {n_samples} samples.")
    missing = [place for place, label in enumerate(each) if _is_missing(label)]
    if missing:
        raise ValueError(
            f"{len(missing)} of {n_samples} labels in y are missing, the first at {missing[0]}; "
            "fill them in, leave out these samples, or give no labels."
        )
    if len({isinstance(label, str) for label in each}) > 1:
        raise ValueError("y holds text and numbers; name all classes in one way.")
    return np.asarray(y)


def _is_missing(label: Any) -> bool:
    if label is None or (isinstance(label, str) and not label.strip()):
        return True
    try:
        return bool(label != label)
    except TypeError:  # pandas' NA answers neither yes nor no
        return True
