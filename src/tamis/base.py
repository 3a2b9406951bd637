"""The contract that every selector keeps."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._param_validation import Interval, RealNotInt
from sklearn.utils.validation import check_is_fitted, validate_data

from tamis._typing import BoolArray, FloatArray, IntArray, Matrix
from tamis.distributed import CondensedTable, Needs, condense, in_blocks
from tamis.utils.columns import share_of_variation, varying_columns
from tamis.utils.counts import share_of
from tamis.utils.messages import describe_columns
from tamis.utils.named_columns import column_mask
from tamis.utils.repr_html import top_features
from tamis.utils.threads import on_one_thread
from tamis.utils.validation import Table, check_table, rows_of_table

# A warning is shown at the first line outside of these.
INNER_MODULES = (
    "tamis.base",
    "tamis.grouped",
    "tamis.selectors.",
    "tamis.utils.threads",
    "contextlib",
    "sklearn.",
)
# Scores whose relative difference is smaller are equal: it is rounding.
SCORE_ROUNDING = 1e-12
# Where the columns vary by less than this share of their size, their means decide.
LEAST_VARIATION = 1e-3
# What a method does with the columns to keep; see `Selector._keeps`.
Keeps = Literal["given", "independent", "first"]
# The methods that take a table in blocks; each says so in `Selector._needs`.
IN_BLOCKS = (
    "MaxVariance",
    "PCAScore",
    "ColumnSubset",
    "LaplacianScore",
    "SPEC",
    "MCFS",
    "MRSF",
    "JELSR",
    "Auto",
)
# For `_learned`: the objective of each iteration.
OBJECTIVE: dict[str, Any] = {"n_iter_": 0, "objective_": ("n_iter_",)}
# For `_learned`: the arrays of whole numbers.
INTEGERS = ("labels_", "order_", "kept_eigenvectors_")
# For `_learned`: which algorithm ran, and why.
SOLVER: dict[str, Any] = {"solver_": "none: all features are constant"}


class Selector(SelectorMixin, BaseEstimator):
    """Base class of all selectors: everything of a fit but the method itself.

    :meth:`fit` checks the table, sets the columns aside that no method can use (constant, or so but
    for rounding), hands the others to :meth:`_fit`, puts the columns back and ranks. A subclass
    writes its paper's algorithm, from a table whose columns all vary to their scores::

        class RangeScore(Selector):
            def _fit(self, X):
                lowest, highest = extent(X)
                return highest - lowest

    What it learns beside the scores it sets as attributes, and declares in `_learned`: for an array
    its shape, in the names of its sizes, for anything else its value for a table of constants::

        _learned = {"coef_": ("n_features", "n_clusters"), "labels_": ("n_samples",), "scale_": 1.0}

    A size is "n_features", "n_samples", a parameter, an attribute that stands before it, or a
    method of the number of samples and that of features. `_fit` sets arrays for the columns it was
    given; along "n_features", `fit` puts zeros where a column was set aside. A table of constants
    never reaches `_fit`: all its scores are zero, and so are the declared arrays.

    Columns to `keep` are always selected. `_keeps` declares what a method makes of them: with
    "given" it chooses the others given those, for which :meth:`_fit` reads the mask `_kept`; with
    "independent" it scores every column by itself; with "first", the default, it knows nothing of
    them. In the last two cases `fit` puts them before the others, and warns that these are ranked
    as without them.

    `fit` runs on one thread but for the products and factorizations that gain from more (see
    :mod:`tamis.utils.threads`), so that it is fast as it comes.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep: an absolute number, a fraction in (0, 1], or half of them. It
        is read anew by `transform` and `get_support`: changing it needs no new `fit`. Columns to
        keep count.
    keep : list of str or int, or None, default=None
        Columns that are always selected, by name, pattern ("id_*") or index.
    drop : list of str or int, or None, default=None
        Columns that are not looked at and never selected, listed alike.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Larger is better. Constant features have the lowest score. Scores that differ by rounding
        alone (a relative 1e-12) are made equal. Those of columns to keep are raised above all
        others.
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
    # What `_fit` sets beside the scores: shapes of arrays, values for a table of constants.
    _learned: ClassVar[dict[str, Any]] = {}
    # Whether the mean of a column plays no part. If it does, tables that are mostly mean are named.
    _centres: ClassVar[bool] = True
    # What the method needs of a table that is read in blocks; None where it needs all rows at once.
    _needs: ClassVar[Needs | None] = None
    # What becomes of the others where columns are to be kept.
    _keeps: ClassVar[Keeps] = "first"
    # What `n_features_to_select` counts.
    _unit: ClassVar[str] = "features"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features_to_select": [
            None,
            Interval(RealNotInt, 0, 1, closed="right"),
            Interval(Integral, 1, None, closed="left"),
        ],
        "keep": [None, "array-like"],
        "drop": [None, "array-like"],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        keep: Sequence[str | int] | None = None,
        drop: Sequence[str | int] | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.keep = keep
        self.drop = drop

    @property
    def _count_is_fitted(self) -> bool:
        """Whether the number of features is part of what `fit` optimises."""
        return False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @on_one_thread
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Score the features of X.

        Parameters
        ----------
        X : {array-like, sparse, pandas or polars frame} of shape (n_samples, n_features)
            Some selectors also take a table that is read in blocks: of `tamis.io.open`, a Dask
            array or data frame.
        y : None
            Ignored; no selector uses labels.

        Returns
        -------
        self
        """
        blocks = in_blocks(X)
        table = check_table(X, estimator=self) if blocks is None else self._read_in_blocks(blocks)
        whole = table
        drawn = None if blocks is not None else self._rows_to_decide_on(table)
        if drawn is not None:
            table = rows_of_table(table, drawn)
        # Keeps the names and the number of columns.
        validate_data(self, X if blocks is None else blocks, skip_check_array=True)
        if blocks is not None and table.names is not None:
            self.feature_names_in_ = table.names
        n_samples = table.X.shape[0]
        self._n_fitted = self._n_selected()
        self._check_parameters(n_samples)
        for caution in table.cautions:
            self._warn(caution)
        # By these, evidence recognises the table.
        self._fitted_extent = whole.X.shape[0], whole.lowest, whole.highest
        self._set_aside = table.constant | self._listed("drop")
        self._warn_of_keep()
        if self._set_aside.all():
            self._fit_constants(whole.X.shape[0])
            return self._put_back(np.zeros(0))
        X = varying_columns(table.X, self._set_aside)
        if not self._centres:
            self._warn_of_offset(X)
        scores = self._fit(X)
        if isinstance(X, CondensedTable):
            X.finished()
        if drawn is not None:
            self._extend_to_rows(varying_columns(whole.X, self._set_aside), drawn)
        return self._put_back(scores)

    def _read_in_blocks(self, blocks: Any) -> Any:
        """The table by its products, for a method that can do with them."""
        if self._needs is None or not type(self).__module__.startswith("tamis."):
            raise TypeError(
                f"{type(self).__name__} needs all rows of the table at once, and takes none that "
                f"is read in blocks; {', '.join(IN_BLOCKS[:-1])} and {IN_BLOCKS[-1]} do, or pass "
                "the rows in memory."
            )
        if getattr(self, "affinity", None) is not None:
            raise ValueError(
                "affinity=… is a graph of rows in memory; leave it out for a table that is read in "
                "blocks, whose rows are tied to landmarks."
            )
        task = {"selector": type(self).__name__, "needs": self._needs}
        if self._needs in ("graph", "joint products"):
            task |= {name: repr(value) for name, value in self._graph_task().items()}
        return condense(blocks, self._needs, task)

    def _rows_to_decide_on(self, table: Table) -> IntArray | None:
        """Which rows `_fit` is given, ascending: None for all, but of a table too long for it."""
        return None

    def _extend_to_rows(self, X: Matrix, drawn: IntArray) -> None:
        """Bring what `_fit` learned of the rows that were drawn to all rows of X."""

    def _graph_task(self) -> dict[str, Any]:
        """The parameters that the graph of the rows is made with."""
        return {}

    def _fit(self, X: Matrix) -> FloatArray:
        """The method itself: the scores of the columns of X, all of which vary.

        Parameters
        ----------
        X : {ndarray, csr_array} of shape (n_samples, n_features)
            In float32 or float64; not to be changed.

        Returns
        -------
        ndarray of shape (n_features,)
            Larger is better.
        """
        raise NotImplementedError(f"{type(self).__name__} must define _fit.")

    def _fit_constants(self, n_samples: int) -> None:
        """Set what is learned of a table of constants: zeros, and the declared values."""
        for name, form in self._declared().items():
            if isinstance(form, tuple):
                shape = [self._size(size, n_samples) for size in form]
                form = np.zeros(shape, dtype=np.intp if name in INTEGERS else np.float64)
            setattr(self, name, form)

    @classmethod
    def _declared(cls) -> dict[str, Any]:
        """What `_learned` declares, here and in the classes above."""
        declared: dict[str, Any] = {}
        for one in reversed(cls.__mro__):
            declared |= vars(one).get("_learned", {})
        return declared

    def _size(self, name: str, n_samples: int) -> int:
        """A size that `_learned` names, for a table of which no column varies."""
        sizes = {"n_samples": n_samples, "n_features": 0}
        size = sizes[name] if name in sizes else getattr(self, name)
        return size(n_samples, 0) if callable(size) else size

    def _put_back(self, scores: FloatArray) -> Self:
        """Bring what `_fit` learned to all columns, and rank them."""
        varying = ~self._set_aside
        if not varying.all():
            for name, form in self._declared().items():
                if isinstance(form, tuple) and "n_features" in form:
                    learned = _with_zeros(getattr(self, name), varying, form.index("n_features"))
                    setattr(self, name, learned)
        scores = np.asarray(scores, dtype=np.float64)
        n_varying = int(np.count_nonzero(varying))
        if scores.shape != (n_varying,):
            raise ValueError(
                f"{type(self).__name__}._fit must return one score per column, an array of shape "
                f"({n_varying},), not {scores.shape}."
            )
        scores = _without_rounding(scores)
        self._warn_of_equal_scores(scores[~self._kept])
        scores = _raised(scores, self._kept)
        self.scores_ = np.full(len(varying), min(0.0, scores.min(initial=0.0)))
        self.scores_[varying] = scores
        kept = self._listed("keep")
        self.scores_[kept & self._set_aside] = 1 + scores.max(initial=0.0)  # constant ones
        last = (self._set_aside & ~kept).astype(np.intp) + self._listed("drop") - kept
        return self._rank(last)

    def _rank(self, last: BoolArray | IntArray) -> Self:
        """Rank the columns by score; the larger its value in `last`, the later a column comes."""
        best_first = np.lexsort((-self.scores_, last))
        self.ranking_ = np.empty(len(best_first), dtype=np.intp)
        self.ranking_[best_first] = np.arange(1, len(best_first) + 1)
        return self

    def _check_parameters(self, n_samples: int) -> None:
        """Refuse more clusters than samples, and more neighbours than other samples."""
        self._check_at_most("n_clusters", n_samples, n_samples)
        self._check_at_most("n_neighbors", n_samples - 1, n_samples)

    def _check_at_most(self, name: str, most: int, n_samples: int) -> None:
        """Refuse a parameter that is too large for the number of samples."""
        value = getattr(self, name, None)
        if value is not None and value > most and name not in self._unused_parameters():
            raise ValueError(
                f"{name}={value} is too large for n_samples={n_samples}; use at most {most}."
            )

    def _unused_parameters(self) -> set[str]:
        """The parameters that play no part beside the values of the others."""
        return set()

    @property
    def _kept(self) -> BoolArray:
        """Which columns of the table that `_fit` was given are to be kept in any case."""
        return self._listed("keep")[~self._set_aside]

    def _listed(self, parameter: str) -> BoolArray:
        """The mask of the columns that `keep` or `drop` lists, where the method has them."""
        names = getattr(self, "feature_names_in_", None)
        listed = getattr(self, parameter, None)
        return column_mask(listed, parameter, self.n_features_in_, names)

    def _describe_columns(self, columns: Any) -> str:
        """Columns of the table that `_fit` was given, as a message names them."""
        names = getattr(self, "feature_names_in_", None)
        return describe_columns(np.flatnonzero(~self._set_aside)[columns], names)

    def _warn_of_offset(self, X: Matrix) -> None:
        """Warn if the columns hardly vary beside their means, which the method has to rebuild."""
        share = share_of_variation(X)
        if share < LEAST_VARIATION:
            self._warn(
                f"does not centre the table, and its values vary by only {share:.1g} of their "
                "size: the means of the columns decide, not how they vary. Subtract an offset "
                "first, for example with sklearn.preprocessing.MinMaxScaler."
            )

    def _warn_of_keep(self) -> None:
        """Warn that columns are to be kept, and that the method does not choose given them."""
        if self._keeps == "given" or not self._listed("keep").any():
            return
        why = {
            "independent": "scores every column by itself",
            "first": "does not choose columns given others",
        }[self._keeps]
        self._warn(
            f"{why}: the columns to keep come first, and the others are ranked as without keep. "
            "Auto, ColumnSubset, DGUFS, FarthestPointSampling, MCFS, MRSF and SPFS choose the "
            "others given them."
        )

    def _warn_of_equal_scores(self, informative: FloatArray) -> None:
        """Warn that all features that are chosen among have one score: their order says nothing."""
        n_features = len(informative)
        one_score = n_features > 1 and (informative == informative[0]).all()
        n_chosen = self._n_selected() - int(np.count_nonzero(self._listed("keep")))
        if one_score and n_chosen < n_features:
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
        wanted = self._n_wanted()
        self._check_listed(wanted)
        return wanted

    def _asked(self) -> Any:
        """What `n_features_to_select` says."""
        return self.n_features_to_select

    def _n_of(self, columns: BoolArray) -> int:
        """How many of what `n_features_to_select` counts have a column among these."""
        return int(np.count_nonzero(columns))

    def _n_wanted(self) -> int:
        """The number that `n_features_to_select` asks for."""
        wanted, n_units = self._asked(), self._n_of(np.ones(self.n_features_in_, dtype=bool))
        if wanted is None:  # half, as far as the lists allow
            n_kept, n_left = self._n_of(self._listed("keep")), self._n_of(~self._listed("drop"))
            return min(n_left, max(1, n_kept, n_units // 2))
        if isinstance(wanted, int | np.integer):
            if not 1 <= wanted <= n_units:
                raise ValueError(
                    f"n_features_to_select={wanted}, but X has {n_units} {self._unit}; "
                    f"use a number from 1 to {n_units}."
                )
            return int(wanted)
        if not (isinstance(wanted, float | np.floating) and 0 < wanted <= 1):
            raise ValueError(f"n_features_to_select={wanted!r} as a fraction must be in (0, 1].")
        return share_of(float(wanted), n_units)

    def _check_listed(self, wanted: int) -> None:
        """Refuse to keep and drop a column, and numbers that `keep` and `drop` do not allow."""
        kept, dropped = self._listed("keep"), self._listed("drop")
        if (kept & dropped).any():
            names = getattr(self, "feature_names_in_", None)
            both = describe_columns(np.flatnonzero(kept & dropped), names)
            raise ValueError(f"keep and drop both list {both}; take it out of one of them.")
        n_kept, n_left = self._n_of(kept), self._n_of(~dropped)
        if n_left == 0:
            raise ValueError(f"drop lists all {len(dropped)} columns; leave at least one.")
        if not n_kept <= wanted <= n_left:
            raise ValueError(
                f"n_features_to_select={self._asked()} asks for {wanted} {self._unit}, but "
                f"keep lists {n_kept}, and drop leaves {n_left} to choose from; use a number from "
                f"{max(1, n_kept)} to {n_left}."
            )

    def _check_number_is_fitted(self) -> int:
        """The number of features; refused where another one was part of the fitted objective."""
        check_is_fitted(self, "ranking_")
        wanted = self._n_selected()
        if self._count_is_fitted and wanted != self._n_fitted:
            raise ValueError(
                f"{type(self).__name__} was fitted for {self._n_fitted} {self._unit}, but "
                f"n_features_to_select now asks for {wanted}: the number is part of its objective; "
                "call fit again."
            )
        return wanted

    def _get_support_mask(self) -> BoolArray:
        wanted = self._check_number_is_fitted()
        return self.ranking_ <= wanted


def _with_zeros(values: FloatArray, kept: BoolArray, axis: int) -> FloatArray:
    """The values of the kept columns, which lie along `axis`, and zeros for the others."""
    shape = list(values.shape)
    shape[axis] = len(kept)
    everywhere = np.zeros(shape, dtype=values.dtype)
    everywhere[(slice(None),) * axis + (kept,)] = values
    return everywhere


def _raised(scores: FloatArray, kept: BoolArray) -> FloatArray:
    """The scores, those of the kept columns raised alike until they are above all others."""
    if not kept.any() or kept.all():
        return scores
    highest, lowest = scores[~kept].max(), scores[kept].min()
    if lowest > highest:
        return scores
    return np.where(kept, scores - lowest + highest + (abs(highest) or 1.0), scores)


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
