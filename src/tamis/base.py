"""The contract that every selector keeps."""

from __future__ import annotations

import sys
import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._param_validation import Interval, RealNotInt
from sklearn.utils.validation import check_is_fitted, validate_data

from tamis._typing import BoolArray, FloatArray, IntArray, Matrix
from tamis.utils.columns import columns_of_rounding, extent
from tamis.utils.counts import share_of
from tamis.utils.messages import describe_columns
from tamis.utils.repr_html import top_features
from tamis.utils.sparse import canonical_csr
from tamis.utils.table_kinds import refuse_other_tables
from tamis.utils.threads import on_one_thread

# Squares, and sums of squares, of larger numbers would overflow.
LARGEST_VALUE = 1e100
# A warning is shown at the first line outside of these.
INNER_MODULES = ("tamis.base", "tamis.selectors.", "tamis.utils.threads", "contextlib", "sklearn.")
# Scores whose relative difference is smaller are equal: it is rounding.
SCORE_ROUNDING = 1e-12


class Selector(SelectorMixin, BaseEstimator):
    """Base class of all selectors: checks the input, turns scores into a ranking and a selection.

    A subclass writes `fit` as its paper's algorithm, between :meth:`_check_input` and
    :meth:`_set_scores`::

        @_fit_context(prefer_skip_nested_validation=True)
        def fit(self, X, y=None):
            X, constant = self._check_input(X)
            return self._set_scores(my_scores(X), constant)

    `fit` runs on one thread but for the products and factorisations that gain from more (see
    :mod:`tamis.utils.threads`), so that it is fast as it comes.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep: an absolute number, a fraction in (0, 1], or half of them. It
        is read anew by `transform` and `get_support`: changing it needs no new `fit`.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Larger is better. Constant features have the lowest score. Scores that differ by rounding
        alone (a relative 1e-12) are made equal.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature. Ties are broken by column index; constant features come last.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only when all column names of the input are strings.
    """

    scores_: FloatArray
    ranking_: IntArray
    objective_: FloatArray
    n_iter_: int
    max_iter: int

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features_to_select": [
            None,
            Interval(RealNotInt, 0, 1, closed="right"),
            Interval(Integral, 1, None, closed="left"),
        ],
    }

    def __init__(self, n_features_to_select: int | float | None = None) -> None:
        self.n_features_to_select = n_features_to_select

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "fit" in vars(cls):
            cls.fit = on_one_thread(cls.fit)  # type: ignore[method-assign]

    @property
    def _count_is_fitted(self) -> bool:
        """Whether the number of features is part of what `fit` optimises."""
        return False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Score the features of X.

        Parameters
        ----------
        X : {array-like, sparse, pandas or polars frame} of shape (n_samples, n_features)
        y : None
            Ignored; no selector uses labels.

        Returns
        -------
        self
        """
        raise NotImplementedError(f"{type(self).__name__} must define fit.")

    def _check_input(self, X: Any) -> tuple[Matrix, BoolArray]:
        """X as a float array (CSR if sparse) and the mask of its constant columns.

        Refuses what no method can use, naming the columns. A column whose values differ by no more
        than rounding (see :func:`tamis.columns.columns_of_rounding`) counts as constant, and a
        warning names it.
        """
        refuse_other_tables(X)
        if getattr(X, "ndim", 2) != 2:
            raise ValueError(
                f"Expected a 2D table of samples and features, not an array of shape {X.shape}; "
                "for a single feature pass X.reshape(-1, 1)."
            )
        refuse_text_columns(X)
        X = validate_data(
            self,
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_min_samples=2,
            ensure_all_finite=False,  # ours names the columns
        )
        if sp.issparse(X):
            X = canonical_csr(X)
        lowest, highest = extent(X)
        self._fitted_extent = X.shape[0], lowest, highest  # by which evidence knows the table
        refuse_unusable_values(lowest, highest, getattr(self, "feature_names_in_", None))
        self._n_fitted = self._n_selected()
        self._check_sample_counts(X.shape[0])
        rounding = columns_of_rounding(X, lowest, highest)
        if len(rounding):
            named = describe_columns(rounding, getattr(self, "feature_names_in_", None))
            self._warn(
                f"takes {named} for constant, since the values differ by rounding alone; if they "
                "are real, bring the columns to a common scale."
            )
        constant = lowest == highest
        constant[rounding] = True
        return X, constant

    def _check_sample_counts(self, n_samples: int) -> None:
        """Refuse more clusters than samples, and more neighbours than other samples."""
        limits = {"n_clusters": n_samples, "n_neighbors": n_samples - 1}
        for name, most in limits.items():
            value = getattr(self, name, None)
            if value is not None and value > most and name not in self._unused_parameters():
                raise ValueError(
                    f"{name}={value} is too large for n_samples={n_samples}; use at most {most}."
                )

    def _unused_parameters(self) -> set[str]:
        """The parameters that play no part beside the values of the others."""
        return {"n_neighbors"} if getattr(self, "affinity", None) is not None else set()

    def _set_scores(self, scores: FloatArray, constant: BoolArray) -> Self:
        """Keep the scores, put constant features at the bottom, and rank."""
        scores = np.array(scores, dtype=np.float64)
        self._constant = constant
        informative = scores[~constant] = _without_rounding(scores[~constant])
        self._warn_of_equal_scores(informative)
        self.scores_ = np.where(constant, min(0.0, informative.min(initial=0.0)), scores)
        best_first = np.lexsort((constant, -self.scores_))
        self.ranking_ = np.empty(len(scores), dtype=np.intp)
        self.ranking_[best_first] = np.arange(1, len(scores) + 1)
        return self

    def _warn_of_equal_scores(self, informative: FloatArray) -> None:
        """Warn that all features that vary have one score, so that their order says nothing."""
        n_features = len(informative)
        one_score = n_features > 1 and (informative == informative[0]).all()
        if one_score and self._n_selected() < n_features:
            self._warn(
                f"gives all {n_features} features that vary the same score: the first columns are "
                "kept, which says nothing about them. Use another method, other parameters or, if "
                "the columns were standardised, another scale."
            )

    def _set_path(self, objective: FloatArray, converged: bool, failure: str | None = None) -> None:
        """Keep the objective of each iteration; warn if there were too few, or of `failure`."""
        self.objective_ = objective
        self.n_iter_ = len(objective)
        if not converged:
            failure = failure or (
                f"did not converge in max_iter={self.max_iter} iterations; raise max_iter, or tol."
            )
            self._warn(failure, ConvergenceWarning)

    def _warn_of_few_rows(self, n_support: int, penalty: str) -> None:
        """Warn that a penalty has left fewer rows of W than features were asked for."""
        wanted = self._n_selected()
        if self.n_features_to_select is not None and n_support < wanted:
            self._warn(
                f"with {penalty}={getattr(self, penalty)} leaves only {n_support} rows of W, fewer "
                f"than the {wanted} features to select: the rest is ordered by how close a feature "
                f"is to entering. Lower {penalty} for more rows."
            )

    def _warn(self, what: str, category: type[Warning] = UserWarning) -> None:
        """Warn that this selector does `what`, at the line that called `fit`."""
        level, frame = 1, sys._getframe()
        while frame.f_back is not None and frame.f_globals["__name__"].startswith(INNER_MODULES):
            level, frame = level + 1, frame.f_back
        warnings.warn(f"{type(self).__name__} {what}", category, stacklevel=level)

    def _html_repr(self) -> str:
        """scikit-learn's picture of the selector and, once it is fitted, its best features."""
        picture: str = super()._html_repr()
        return picture + top_features(self) if hasattr(self, "ranking_") else picture

    def _n_selected(self) -> int:
        wanted, n_features = self.n_features_to_select, self.n_features_in_
        if wanted is None:
            return max(1, n_features // 2)
        if isinstance(wanted, Integral):
            if not 1 <= wanted <= n_features:
                raise ValueError(
                    f"n_features_to_select={wanted}, but X has {n_features} features; "
                    f"use a number from 1 to {n_features}."
                )
            return int(wanted)
        if not (isinstance(wanted, Real) and 0 < wanted <= 1):
            raise ValueError(f"n_features_to_select={wanted!r} as a fraction must be in (0, 1].")
        return share_of(wanted, n_features)

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self, "ranking_")
        wanted = self._n_selected()
        if self._count_is_fitted and wanted != self._n_fitted:
            raise ValueError(
                f"{type(self).__name__} was fitted for {self._n_fitted} features, but "
                f"n_features_to_select now asks for {wanted}: the number is part of its objective; "
                "call fit again."
            )
        return self.ranking_ <= wanted


def _without_rounding(scores: FloatArray) -> FloatArray:
    """The scores; those that differ by rounding alone all have the largest of their values."""
    order = np.argsort(-scores, kind="stable")
    ordered = scores[order]
    with np.errstate(invalid="ignore"):  # of scores that are not finite
        gaps = -np.diff(ordered)
    starts = np.ones(len(scores), dtype=bool)
    size = np.maximum(np.abs(ordered[1:]), np.abs(ordered[:-1]))
    starts[1:] = ~(gaps <= SCORE_ROUNDING * size)
    equal = np.empty_like(scores)
    equal[order] = ordered[starts][np.cumsum(starts) - 1]
    return equal


def refuse_text_columns(X: Any) -> None:
    """Name the columns of a frame or an object array that do not hold numbers."""
    if nw.dependencies.is_into_dataframe(X):
        frame = nw.from_native(X, eager_only=True)
        names = frame.columns
        text = [
            name
            for name, dtype in frame.schema.items()
            if not (dtype.is_numeric() or dtype == nw.Boolean)
            and (dtype.is_temporal() or dtype.is_nested() or not _parses(frame[name], False))
        ]
        bad = [names.index(name) for name in text]
    elif isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "OUSMm":
        names = None
        dates = X.dtype.kind in "Mm"
        bad = [j for j in range(X.shape[1]) if dates or not _parses(X[:, j], True)]
    else:
        return
    if bad:
        raise ValueError(
            f"X holds values that are not numbers in {describe_columns(bad, names)}; drop the "
            "columns, or encode them (for example with sklearn.preprocessing.OneHotEncoder)."
        )


def _parses(column: Any, wrong_type: bool) -> bool:
    """Whether a column of objects can be read as numbers.

    `wrong_type` answers for objects that are neither numbers nor text: scikit-learn wants numpy's
    own error for those of an array.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            np.asarray(column, dtype=np.float64)
    except (ValueError, np.exceptions.ComplexWarning):
        return False
    except TypeError:
        return wrong_type
    return True


def refuse_unusable_values(lowest: FloatArray, highest: FloatArray, names: Any) -> None:
    """Name the columns whose smallest or largest value no method can use."""
    for what, bad, remedy in (
        ("NaN", np.isnan(lowest) | np.isnan(highest), "impute them, or drop the columns"),
        ("infinity", np.isinf(lowest) | np.isinf(highest), "clip them, or drop the columns"),
        (
            f"values beyond {LARGEST_VALUE:g}, too large to be squared,",
            np.maximum(highest.astype(np.float64), -lowest.astype(np.float64)) > LARGEST_VALUE,
            "rescale the columns",
        ),
    ):
        if bad.any():
            columns = describe_columns(np.flatnonzero(bad), names)
            raise ValueError(f"X contains {what} in {columns}; {remedy}.")
