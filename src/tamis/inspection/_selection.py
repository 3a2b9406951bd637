"""A fitted selector together with the table it chose from."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tamis._typing import BoolArray, FloatArray, IntArray, Matrix
from tamis.base import Selector
from tamis.utils.sparse import is_sparse
from tamis.utils.validation import Table, check_table


@dataclass(frozen=True)
class Choice:
    """Some columns of a checked table.

    Attributes
    ----------
    X : {ndarray, csr_array} of shape (n_samples, n_features)
    kept : ndarray of int
        The selected columns, best first.
    constant : ndarray of bool of shape (n_features,)
    """

    X: Matrix
    kept: IntArray
    constant: BoolArray

    def columns(self, rows: Any, chosen: Any) -> FloatArray:
        """Some columns of some rows, dense and in float64."""
        part = self.X[rows][:, chosen]
        return np.asarray(part.toarray() if is_sparse(part) else part, dtype=np.float64)


@dataclass(frozen=True)
class Selection(Choice):
    """What a selector keeps of a checked table.

    Attributes
    ----------
    X, kept, constant
        As in :class:`Choice`.
    selector : Selector
    names : ndarray of str of shape (n_features,)
    caution : str
        How the table differs from the one that the selector was fitted on, or "".
    """

    selector: Selector
    names: np.ndarray[Any, Any]
    caution: str = ""

    @property
    def scores(self) -> FloatArray:
        """The score of every column."""
        return self.selector.scores_


def check_fitted(selector: Any) -> Selector:
    """The selector, if it is one and has been fitted."""
    if not isinstance(selector, Selector):
        raise TypeError(
            f"a fitted tamis selector is needed, not {type(selector).__name__}; of a pipeline, "
            "pass the step that selects, and the table as it reaches that step."
        )
    check_is_fitted(selector, "ranking_")
    return selector


def selected_columns(selector: Selector) -> IntArray:
    """The columns that a fitted selector keeps, best first."""
    kept = selector.get_support(indices=True)
    return kept[np.argsort(selector.ranking_[kept])]


def column_names(selector: Selector, feature_names: Sequence[Any] | None = None) -> Any:
    """The given names, else those the selector saw, else x0, x1, …"""
    n_features = selector.n_features_in_
    if feature_names is None:
        seen = getattr(selector, "feature_names_in_", None)
        feature_names = [f"x{j}" for j in range(n_features)] if seen is None else list(seen)
    names = np.array([str(name) for name in feature_names], dtype=object)
    if len(names) != n_features:
        raise ValueError(
            f"feature_names has {len(names)} names, but the selector was fitted on {n_features} "
            "columns; give one name per column."
        )
    return names


def read_selection(selector: Any, X: Any, feature_names: Sequence[Any] | None = None) -> Selection:
    """Check that a selector is fitted and that a table has its columns.

    Parameters
    ----------
    selector : Selector
    X : {array-like, sparse, pandas or polars frame} of shape (n_samples, n_features)
        The table the selector was fitted on, scaled as it was then.
    feature_names : sequence of str or None, default=None
        None takes the names the selector saw, else x0, x1, …

    Returns
    -------
    Selection

    Warns
    -----
    UserWarning
        Where the columns span other values than at the fit: scaled otherwise, or other rows that
        differ as much.
    """
    selector = check_fitted(selector)
    table = check_table(X, estimator=selector)
    for warning in table.cautions:
        selector._warn(warning)
    n_features = table.X.shape[1]
    if n_features != selector.n_features_in_:
        raise ValueError(
            f"X has {n_features} columns, but the selector was fitted on "
            f"{selector.n_features_in_}; pass the table it was fitted on."
        )
    seen, given = getattr(selector, "feature_names_in_", None), table.names
    if seen is not None and given is not None and (seen != given).any():
        first = int(np.argmax(seen != given))
        raise ValueError(
            f"X has the column {given[first]!r} where the selector was fitted on {seen[first]!r}; "
            "pass the table it was fitted on."
        )
    if feature_names is None and seen is None:
        feature_names = given
    names = column_names(selector, feature_names)
    caution = _difference(selector, table, names)
    if caution:
        warnings.warn(caution, UserWarning, stacklevel=3)
    kept = selected_columns(selector)
    return Selection(table.X, kept, table.constant, selector, names, caution)


def _difference(selector: Selector, table: Table, names: Any) -> str:
    """How the values of a table differ from those of the fit, in words, or "".

    The same number of rows is taken for the same table, whose extents must be the same but for
    rounding. Other rows may lie elsewhere, but not with columns three times as wide, or moved by
    their width, in most cases.
    """
    seen = getattr(selector, "_fitted_extent", None)
    if seen is None:  # fitted by an earlier version
        return ""
    n_then, *then = seen
    n_now, *now = table.X.shape[0], table.lowest, table.highest
    (low, high), (new_low, new_high) = (
        (lowest.astype(np.float64), highest.astype(np.float64)) for lowest, highest in (then, now)
    )
    width, new_width = high - low, new_high - new_low
    moved = np.maximum(np.abs(new_low - low), np.abs(new_high - high))
    if n_then == n_now:
        size = np.maximum(np.abs(low), np.abs(high))
        differ = moved > 1e-5 * np.where(width > 0, width, size) + 1e-6 * size
    else:
        shift = np.abs(new_low + new_high - low - high) / 2
        differ = (new_width > 3 * width) | (width > 3 * new_width)
        differ |= shift > np.maximum(width, new_width)
        differ &= (width > 0) | (new_width > 0)
        if np.count_nonzero(differ) * 2 <= np.count_nonzero((width > 0) | (new_width > 0)):
            return ""
    if not differ.any():
        return ""
    column = int(np.argmax(differ))
    return (
        f"X is not as the selector saw it: column {names[column]!r} runs from "
        f"{new_low[column]:.4g} to {new_high[column]:.4g}, but ran from {low[column]:.4g} to "
        f"{high[column]:.4g} at the fit"
        + (f", and {np.count_nonzero(differ) - 1:,} others differ" if differ.sum() > 1 else "")
        + ". Pass the table as it was fitted on, scaled likewise."
    )
