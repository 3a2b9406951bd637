"""From a real table to numbers, and the same way again for new rows."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, _fit_context
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import check_is_fitted

from tamis._typing import BoolArray, IntArray, Matrix
from tamis.preprocessing._dict_form import fitted_from_dict, fitted_to_dict
from tamis.preprocessing._encoding import expanded, offsets_and_factors
from tamis.preprocessing._gaps import complete_rows, gaps_per_column
from tamis.preprocessing._imputation import filled_codes, fit_imputation, usual_levels
from tamis.preprocessing._kinds import is_caution, recognised
from tamis.preprocessing._names import output_names, places_by_name, renamed_outputs, wanted_kinds
from tamis.preprocessing._notes import WHY_DROPPED, notes_of_imputation, notes_of_unused, reasons
from tamis.preprocessing._numbers import columns_with_gaps, missing_shares, read_numbers
from tamis.preprocessing._readings import BooleanReading, Reading, is_category
from tamis.preprocessing._source import Source, source_of
from tamis.utils.messages import describe_columns
from tamis.utils.sparse import is_sparse

# Columns with a larger share of gaps are dropped.
MOST_MISSING = 0.5


class Preparation(TransformerMixin, BaseEstimator):
    """Numbers from a table as it comes: mixed types, gaps, dates, categories, identifiers.

    Every column is recognised as numbers, truth values, categories, dates, free text or an
    identifier; what is odd about one is told in `notes_`. Truth values become 0 and 1, categories
    a 0/1 column per level (rare levels together), dates days since the first and sine and cosine
    of the cycles that they go through. Text, identifiers, constant and empty columns are dropped.

    .. versionadded:: 0.1

    Parameters
    ----------
    missing : {"impute", "drop-rows", "drop-columns", "refuse"}, default="impute"
        What is done about missing values. Columns that miss more than half are dropped in any
        case but "refuse". Wide tables (more than 20 columns of numbers) are imputed from their
        principal components and the columns most like each, whichever predicts hidden cells well;
        narrow ones by the median; categories by the most frequent level.
    categories : {"onehot", "drop"}, default="onehot"
        Whether categories become 0/1 columns, or are dropped.
    scaling : {"none", "standard", "columns"}, default="none"
        Leave the units; or give every source column the variance 1, of all its outputs together;
        or the range 0 to 1. A category is scaled so that it counts as one column.
    kinds : dict or None, default=None
        What columns hold, where recognition is not to decide: ``{"zip": "category"}``.
    min_frequency : float, default=0.01
        Levels of a smaller share of the rows are rare.

    Attributes
    ----------
    kinds_ : dict
        Of each source column: "number", "boolean", "category", "date", "text", "identifier",
        "constant" or "empty".
    groups_ : dict
        The output names of each source column that has any.
    dropped_ : dict
        Why a source column has no output.
    imputed_ : dict
        The share of imputed values of each column that had gaps.
    notes_ : tuple of str
        What was guessed, imputed and dropped, in sentences.
    cautions_ : tuple of str
        Those of the notes that ask for a second look: what may be an identifier, or was a guess.
    rows_ : ndarray of bool
        The rows of the fitted table that are used; all but with ``missing="drop-rows"``.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only when the table has names.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.preprocessing import Preparation
    >>> table = {
    ...     "height": np.array([1.5, np.nan, 1.7, 1.8]),
    ...     "colour": np.array(["red", "blue", "red", "blue"], dtype=object),
    ... }
    >>> prepared = Preparation().fit(table)
    >>> prepared.transform(table)
    array([[1.5, 0. , 1. ],
           [1.7, 1. , 0. ],
           [1.7, 0. , 1. ],
           [1.8, 1. , 0. ]])
    >>> prepared.groups_
    {'height': ['height'], 'colour': ['colour=blue', 'colour=red']}
    >>> prepared.notes_
    ("'height': 25% of its values imputed by the median.",)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "missing": [StrOptions({"impute", "drop-rows", "drop-columns", "refuse"})],
        "categories": [StrOptions({"onehot", "drop"})],
        "scaling": [StrOptions({"none", "standard", "columns"})],
        "kinds": [dict, None],
        "min_frequency": [Interval(RealNotInt, 0, 1, closed="left")],
    }

    feature_names_in_: Any
    dropped_: dict[str, str]
    imputed_: dict[str, float]
    _offset: Any
    _factor: Any

    def __init__(
        self,
        *,
        missing: str = "impute",
        categories: str = "onehot",
        scaling: str = "none",
        kinds: dict[str, str] | None = None,
        min_frequency: float = 0.01,
    ) -> None:
        self.missing = missing
        self.categories = categories
        self.scaling = scaling
        self.kinds = kinds
        self.min_frequency = min_frequency

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    # --- fit ------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Recognise the columns of a table, and learn what fills its gaps.

        Parameters
        ----------
        X : {pandas, polars or Arrow frame, array-like, sparse, dict of arrays}
        y : None
            Ignored.

        Returns
        -------
        self
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit, and give the numbers of the same table; rows with gaps may be dropped from both."""
        self._fit(X)
        return self._prepared(source_of(X, self), told=True)

    @_fit_context(prefer_skip_nested_validation=True)
    def _fit(self, X: Any) -> Self:
        source = source_of(X, self, n_rows=2)
        self.n_features_in_ = len(source.names)
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        if source.named:
            self.feature_names_in_ = np.array(source.names, dtype=object)
        self._names = source.names
        self.dropped_, self.imputed_ = {}, {}
        notes = self._recognise(source)
        numbers, codes, _ = self._read(source)
        shares = missing_shares(self._readings, numbers, codes)
        notes += self._drop_gappy(shares)
        kept = np.array([name in self._readings for name in shares], dtype=bool)
        if not kept.all():
            numbers, codes, _ = self._read(source)
            shares = {name: share for name, share in shares.items() if name in self._readings}
        if not self._readings:
            raise ValueError(
                f"No column of the table can be used: {reasons(self.dropped_)}; say in kinds "
                "what they hold."
            )
        self.rows_ = np.ones(source.n_rows, dtype=bool)
        if self.missing == "drop-rows":
            notes += self._find_rows(numbers, codes)
            if not self.rows_.all():
                numbers, codes = numbers[self.rows_], [code[self.rows_] for code in codes]
        self._fit_imputation(numbers, codes, shares)
        notes += notes_of_imputation(self.imputed_, self._readings, self._imputation)
        notes += notes_of_unused(self.kinds_)
        self.groups_ = output_names(self._readings)
        self._fit_scaling(numbers, codes)
        self.notes_ = tuple(notes)
        return self

    @property
    def cautions_(self) -> tuple[str, ...]:
        """Those of the notes that ask for a second look."""
        check_is_fitted(self, "groups_")
        return tuple(note for note in self.notes_ if is_caution(note))

    def _recognise(self, source: Source) -> list[str]:
        """Find out what each column holds and how it is read; what is odd about the columns."""
        wanted = wanted_kinds(self.kinds, source.names)
        found = {
            name: recognised(name, source.column(j), wanted.get(name), self.min_frequency)
            for j, name in enumerate(source.names)
        }
        self.kinds_ = {name: one.kind for name, one in found.items()}
        self._readings: dict[str, Reading] = {}
        for name, one in found.items():
            if one.reading is None:
                self.dropped_[name] = WHY_DROPPED[one.kind]
            elif one.kind == "category" and self.categories == "drop":
                self.dropped_[name] = "categories are dropped"
            else:
                self._readings[name] = one.reading
        return [note for one in found.values() for note in one.notes]

    def _drop_gappy(self, shares: dict[str, float]) -> list[str]:
        """Take out the columns that miss too much; one sentence for each."""
        gappy = [name for name, share in shares.items() if share > 0]
        if self.missing == "refuse" and gappy:
            columns = describe_columns(range(len(gappy)), gappy)
            raise ValueError(
                f"X has missing values in {columns}; use missing='impute', or drop the columns."
            )
        most = 0.0 if self.missing == "drop-columns" else MOST_MISSING
        notes = []
        for name in gappy:
            if shares[name] > most:
                self.dropped_[name] = f"{shares[name]:.0%} of its values are missing"
                del self._readings[name]
                notes.append(f"{name!r} is dropped: {self.dropped_[name]}.")
        return notes

    def _find_rows(self, numbers: Matrix, codes: list[IntArray]) -> list[str]:
        """Find the rows without a gap; a sentence on the others, if there are any."""
        self.rows_ = complete_rows(numbers, codes)
        n_rows, n_complete = len(self.rows_), int(self.rows_.sum())
        if n_complete < 2:
            raise ValueError(
                f"Only {n_complete} of {n_rows} rows are without a gap; use missing='impute', or "
                "missing='drop-columns'."
            )
        if n_complete == n_rows:
            return []
        return [f"{n_rows - n_complete} of {n_rows} rows have a gap and are dropped."]

    def _fit_imputation(
        self, numbers: Matrix, codes: list[IntArray], shares: dict[str, float]
    ) -> None:
        readings = list(self._readings.values())
        boolean = np.array(
            [isinstance(one, BooleanReading) for one in readings if not is_category(one)],
            dtype=bool,
        )
        has_gaps = bool((gaps_per_column(numbers) > 0).any())
        self._imputation = None
        if self.missing == "impute":
            self._imputation = fit_imputation(numbers, boolean, has_gaps)
        self._usual_levels = usual_levels(readings, codes)
        if self.missing == "impute":
            self.imputed_ = {name: share for name, share in shares.items() if share > 0}

    # --- transform ------------------------------------------------------------------------------

    def transform(self, X: Any) -> Any:
        """The numbers of a table: gaps filled, columns encoded and scaled as learned.

        Columns are taken by name where the fitted table had names; other columns are ignored.
        With ``missing="drop-rows"`` the rows with a gap are left out.

        Parameters
        ----------
        X : {pandas, polars or Arrow frame, array-like, sparse, dict of arrays}

        Returns
        -------
        {ndarray, CSR} of shape (n_rows, n_outputs)
        """
        check_is_fitted(self, "groups_")
        return self._prepared(source_of(X, self))

    def _prepared(self, source: Source, *, told: bool = False) -> Matrix:
        """The numbers; with `told`, what the notes of the fit say already is no warning."""
        numbers, codes, own = self._read(source, fitted=not told)
        if self.missing == "drop-rows":
            rows = complete_rows(numbers, codes)
            if not rows.all():
                numbers, codes = numbers[rows], [code[rows] for code in codes]
                own = True
        elif self.missing != "impute":
            self._refuse_gaps(numbers, codes)
        else:
            if (gaps_per_column(numbers) > 0).any():
                numbers = numbers if own else numbers.copy()
                own = True
                assert self._imputation is not None
                numbers = self._imputation.fill(numbers)
            codes = filled_codes(codes, self._usual_levels)
        n_outputs = sum(map(len, self.groups_.values()))
        out = expanded(list(self._readings.values()), numbers, codes, n_outputs)
        return self._scaled(out, own or out is not numbers)

    def _complete_rows(self, X: Any) -> BoolArray:
        """The rows of a table that have no gap in the fitted columns."""
        numbers, codes, _ = self._read(source_of(X, self), fitted=True)
        return complete_rows(numbers, codes)

    def _refuse_gaps(self, numbers: Matrix, codes: list[IntArray]) -> None:
        names = columns_with_gaps(self._readings, numbers, codes)
        if names:
            raise ValueError(
                f"X has missing values in {describe_columns(range(len(names)), names)}, which had "
                "none when fitted; fill them, or fit with missing='impute'."
            )

    def _read(self, source: Source, *, fitted: bool = False) -> tuple[Matrix, list[IntArray], bool]:
        """Numbers with gaps, codes of categories, and whether the numbers are a copy."""
        names = source.names
        where = self._positions(source) if fitted else {name: j for j, name in enumerate(names)}
        positions = [where[name] for name in self._readings]
        kinds = self.kinds_ if fitted else None
        return read_numbers(source, self._readings, positions, kinds)

    def _positions(self, source: Source) -> dict[str, int]:
        """Where the fitted columns stand in a new table."""
        if source.named and hasattr(self, "feature_names_in_"):
            return places_by_name(self._readings, source.names, self._names)
        if len(source.names) != self.n_features_in_:
            raise ValueError(
                f"X has {len(source.names)} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        return {name: j for j, name in enumerate(self._names)}

    # --- scaling --------------------------------------------------------------------------------

    def _fit_scaling(self, numbers: Matrix, codes: list[IntArray]) -> None:
        self._offset = self._factor = None
        if self.scaling == "none":
            return
        if self._imputation is not None and (gaps_per_column(numbers) > 0).any():
            numbers = self._imputation.fill(numbers.copy())
        codes = filled_codes(codes, self._usual_levels)
        readings = list(self._readings.values())
        sizes = [len(outputs) for outputs in self.groups_.values()]
        out = expanded(readings, numbers, codes, sum(sizes))
        self._offset, self._factor = offsets_and_factors(out, readings, sizes, self.scaling)

    def _scaled(self, out: Matrix, own: bool) -> Matrix:
        if self._factor is None:
            return out
        out = out if own else out.copy()
        if is_sparse(out):
            out.data *= self._factor[out.indices].astype(out.dtype)
            return out
        out -= self._offset.astype(out.dtype)
        out *= self._factor.astype(out.dtype)
        return out

    # --- names and forms ------------------------------------------------------------------------

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """The names of the outputs, in their order.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Ignored but for its length and, where the table had names, its names.
        """
        check_is_fitted(self, "groups_")
        if input_features is not None:
            given = list(input_features)
            known = list(getattr(self, "feature_names_in_", given))
            if len(given) != self.n_features_in_:
                raise ValueError(
                    "input_features should have length equal to number of features "
                    f"({self.n_features_in_}), got {len(given)}"
                )
            if given != known:
                raise ValueError("input_features is not equal to feature_names_in_")
            if not hasattr(self, "feature_names_in_"):
                return np.array(renamed_outputs(self.groups_, self._names, given), dtype=object)
        return np.array([name for group in self.groups_.values() for name in group], dtype=object)

    def to_dict(self) -> dict[str, Any]:
        """Everything fitted but `rows_`, as numbers, text, lists and dicts that JSON holds."""
        check_is_fitted(self, "groups_")
        return fitted_to_dict(self)

    @classmethod
    def from_dict(cls, form: dict[str, Any]) -> Self:
        """The fitted preparation that :meth:`to_dict` wrote; a form that is wrong is refused.

        Parameters
        ----------
        form : dict
        """
        return fitted_from_dict(cls, form)
