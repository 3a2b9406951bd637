"""From a real table to numbers, and the same way again for new rows."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, _fit_context
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import check_is_fitted

from tamis._typing import BoolArray, IntArray, Matrix
from tamis.preprocessing._dict_form import fitted_from_dict, fitted_to_dict
from tamis.preprocessing._encoding import expanded, offsets_and_factors
from tamis.preprocessing._gaps import complete_rows, gaps_per_column, without_infinity
from tamis.preprocessing._imputation import fit_imputation
from tamis.preprocessing._kinds import (
    CHOOSABLE,
    NEARLY_ALL,
    Recognised,
    example,
    is_caution,
    recognised,
)
from tamis.preprocessing._readings import (
    BooleanReading,
    CategoryReading,
    NumberReading,
    Reading,
)
from tamis.preprocessing._source import Source, source_of
from tamis.utils.messages import describe_columns, did_you_mean
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
        principal components, narrow ones by the median; categories by the most frequent level.
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
        notes: list[str] = []
        self.dropped_, self.imputed_ = {}, {}
        found = self._recognise(source)
        self.kinds_ = {name: one.kind for name, one in found.items()}
        self._readings: dict[str, Reading] = {}
        for name, one in found.items():
            notes += one.notes
            if one.reading is None:
                self.dropped_[name] = _WHY[one.kind]
            elif one.kind == "category" and self.categories == "drop":
                self.dropped_[name] = "categories are dropped"
            else:
                self._readings[name] = one.reading
        numbers, codes, _ = self._read(source)
        shares = self._missing_shares(numbers, codes)
        notes += self._drop_gappy(shares)
        kept = np.array([name in self._readings for name in shares], dtype=bool)
        if not kept.all():
            numbers, codes, _ = self._read(source)
            shares = {name: share for name, share in shares.items() if name in self._readings}
        if not self._readings:
            raise ValueError(
                f"No column of the table can be used: {_reasons(self.dropped_)}; say in kinds "
                "what they hold."
            )
        self.rows_ = np.ones(source.n_rows, dtype=bool)
        if self.missing == "drop-rows":
            self.rows_ = complete_rows(numbers, codes)
            n_dropped = int(np.count_nonzero(~self.rows_))
            if self.rows_.sum() < 2:
                raise ValueError(
                    f"Only {self.rows_.sum()} of {source.n_rows} rows are without a gap; use "
                    "missing='impute', or missing='drop-columns'."
                )
            if n_dropped:
                notes.append(f"{n_dropped} of {source.n_rows} rows have a gap and are dropped.")
                numbers, codes = numbers[self.rows_], [code[self.rows_] for code in codes]
        self._fit_imputation(numbers, codes, shares)
        notes += self._notes_of_imputation(shares)
        constant = [name for name, kind in self.kinds_.items() if kind == "constant"]
        for what, names in (
            ("constant and dropped", constant),
            ("empty and dropped", [n for n, kind in self.kinds_.items() if kind == "empty"]),
        ):
            if names:
                verb = "is" if len(names) == 1 else "are"
                notes.append(f"The {describe_columns(range(len(names)), names)} {verb} {what}.")
        self._name_outputs()
        self._fit_scaling(numbers, codes)
        self.notes_ = tuple(notes)
        return self

    @property
    def cautions_(self) -> tuple[str, ...]:
        """Those of the notes that ask for a second look."""
        check_is_fitted(self, "groups_")
        return tuple(note for note in self.notes_ if is_caution(note))

    def _recognise(self, source: Source) -> dict[str, Recognised]:
        wanted = self._wanted_kinds(source)
        return {
            name: recognised(name, source.column(j), wanted.get(name), self.min_frequency)
            for j, name in enumerate(source.names)
        }

    def _wanted_kinds(self, source: Source) -> dict[str, str]:
        wanted = dict(self.kinds or {})
        for name, kind in wanted.items():
            if name not in source.names:
                near = did_you_mean(str(name), source.names)
                raise ValueError(f"kinds names the column {name!r}, which X does not have{near}.")
            if kind not in CHOOSABLE:
                raise ValueError(
                    f"kinds says that {name!r} is {kind!r}; use one of {', '.join(CHOOSABLE)}."
                )
        return wanted

    def _missing_shares(self, numbers: Matrix, codes: list[IntArray]) -> dict[str, float]:
        counts = iter(gaps_per_column(numbers) / max(1, numbers.shape[0]))
        categories = iter(codes)
        return {
            name: float(np.mean(next(categories) < 0) if _is_category(one) else next(counts))
            for name, one in self._readings.items()
        }

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

    def _fit_imputation(
        self, numbers: Matrix, codes: list[IntArray], shares: dict[str, float]
    ) -> None:
        readings = list(self._readings.values())
        boolean = np.array(
            [isinstance(one, BooleanReading) for one in readings if not _is_category(one)],
            dtype=bool,
        )
        has_gaps = bool((gaps_per_column(numbers) > 0).any())
        self._imputation = None
        if self.missing == "impute":
            self._imputation = fit_imputation(numbers, boolean, has_gaps)
        n_levels = [one.n_outputs for one in readings if isinstance(one, CategoryReading)]
        self._usual_levels = [
            int(np.argmax(np.bincount(code[code >= 0], minlength=most)))
            for code, most in zip(codes, n_levels, strict=True)
        ]
        if self.missing == "impute":
            self.imputed_ = {name: share for name, share in shares.items() if share > 0}

    def _notes_of_imputation(self, shares: dict[str, float]) -> list[str]:
        if not self.imputed_:
            return []
        model = self._imputation.low_rank if self._imputation else None
        by_components, notes = [], []
        for name, share in self.imputed_.items():
            reading = self._readings[name]
            if isinstance(reading, BooleanReading | CategoryReading):
                how = "the most frequent value"
            elif model is not None:
                by_components.append(share)
                continue
            else:
                how = "the median"
            notes.append(f"{name!r}: {_percent(share)} of its values imputed by {how}.")
        if by_components:
            assert model is not None
            notes.append(
                f"{len(by_components)} columns with gaps imputed from {model.components.shape[1]} "
                f"principal components: {_percent(float(np.mean(by_components)))} of their values."
            )
        if len(notes) > 20:
            mean = _percent(float(np.mean(list(self.imputed_.values()))))
            notes = [f"{len(self.imputed_)} columns with gaps imputed: {mean} of their values."]
        return notes

    def _name_outputs(self) -> None:
        self.groups_ = {}
        taken: set[str] = set()
        for name, reading in self._readings.items():
            plain = isinstance(reading, NumberReading | BooleanReading)
            wanted = [name] if plain else reading.output_names(name)  # type: ignore[union-attr]
            unique = []
            for output in wanted:
                while output in taken or (output in self._readings and output != name):
                    output += "'"
                taken.add(output)
                unique.append(output)
            self.groups_[name] = unique

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
            codes = [
                np.where(code == -1, usual, code)
                for code, usual in zip(codes, self._usual_levels, strict=True)
            ]
        n_outputs = sum(map(len, self.groups_.values()))
        out = expanded(list(self._readings.values()), numbers, codes, n_outputs)
        return self._scaled(out, own or out is not numbers)

    def _complete_rows(self, X: Any) -> BoolArray:
        """The rows of a table that have no gap in the fitted columns."""
        numbers, codes, _ = self._read(source_of(X, self), fitted=True)
        return complete_rows(numbers, codes)

    def _refuse_gaps(self, numbers: Matrix, codes: list[IntArray]) -> None:
        gappy = [name for name, share in self._missing_shares(numbers, codes).items() if share]
        names = [
            name
            for name in gappy
            if not _is_category(self._readings[name]) or (self._codes_of(name, codes) == -1).any()
        ]
        if names:
            raise ValueError(
                f"X has missing values in {describe_columns(range(len(names)), names)}, which had "
                "none when fitted; fill them, or fit with missing='impute'."
            )

    def _codes_of(self, name: str, codes: list[IntArray]) -> IntArray:
        categories = [one for one, reading in self._readings.items() if _is_category(reading)]
        return codes[categories.index(name)]

    def _read(self, source: Source, *, fitted: bool = False) -> tuple[Matrix, list[IntArray], bool]:
        """Numbers with gaps, codes of categories, and whether the numbers are a copy."""
        where = (
            self._positions(source)
            if fitted
            else dict(zip(source.names, range(len(source.names)), strict=True))
        )
        positions = [where[name] for name in self._readings]
        plain = all(one == NumberReading() for one in self._readings.values())
        if source.matrix is not None and plain:
            matrix, own = source.matrix, False
            if positions != list(range(matrix.shape[1])):
                matrix, own = matrix[:, positions], True
            matrix, own = without_infinity(matrix, own)
            return matrix, [], own
        dtype: Any = np.float32
        columns: list[Any] = []
        codes: list[IntArray] = []
        for name, position in zip(self._readings, positions, strict=True):
            reading, column = self._readings[name], source.column(position)
            read = reading.read(column)
            if fitted:
                self._answer_wrong(name, reading, column, read.wrong)
            if _is_category(reading):
                codes.append(read.values)
            else:
                columns.append(read.values)
                narrow = isinstance(reading, BooleanReading) or read.values.dtype == np.float32
                dtype = dtype if narrow else np.float64
        only_flags = not any(one.dtype == np.float32 for one in columns)
        dtype = np.float64 if only_flags else dtype
        numbers = np.empty((source.n_rows, len(columns)), dtype=dtype)
        for j in range(len(columns)):
            numbers[:, j] = columns[j]
            columns[j] = None
        return numbers, codes, True

    def _positions(self, source: Source) -> dict[str, int]:
        """Where the fitted columns stand in a new table."""
        where = {name: j for j, name in enumerate(source.names)}
        if not (source.named and hasattr(self, "feature_names_in_")):
            if len(source.names) != self.n_features_in_:
                raise ValueError(
                    f"X has {len(source.names)} features, but {type(self).__name__} is expecting "
                    f"{self.n_features_in_} features as input."
                )
            return {name: j for j, name in enumerate(self._names)}
        absent = [name for name in self._readings if name not in where]
        if absent:
            near = did_you_mean(absent[0], [n for n in source.names if n not in self._names])
            raise ValueError(
                f"X lacks {describe_columns(range(len(absent)), absent)}, which the fitted table "
                f"had{near}; rename or add the columns."
            )
        return where

    def _answer_wrong(self, name: str, reading: Reading, column: Any, wrong: BoolArray) -> None:
        """Refuse a column of another kind; tell of single values that are."""
        n_wrong = int(np.count_nonzero(wrong))
        if n_wrong == 0:
            return
        n_values = int(np.count_nonzero(~column.missing()))
        shown = example(column, wrong)
        if _is_category(reading):
            if n_wrong == n_values and not column.is_text:
                raise ValueError(
                    f"Column {name!r} held categories when fitted, and now holds other values "
                    f"such as {shown!r}; give it the values that it had."
                )
            message = (
                f"Column {name!r} has levels that were not there when fitted, such as {shown!r}: "
                "none of its columns is 1 for them."
            )
        elif n_wrong > (1 - NEARLY_ALL) * n_values:
            raise ValueError(
                f"Column {name!r} held {_PLURAL[self.kinds_[name]]} when fitted, and now holds "
                f"{shown!r}; give it values of the same kind."
            )
        else:
            message = (
                f"Column {name!r} holds {n_wrong} values that are no "
                f"{_PLURAL[self.kinds_[name]]}, such as {shown!r}: counted as missing."
            )
        warnings.warn(message, UserWarning, stacklevel=5)

    # --- scaling --------------------------------------------------------------------------------

    def _fit_scaling(self, numbers: Matrix, codes: list[IntArray]) -> None:
        self._offset = self._factor = None
        if self.scaling == "none":
            return
        if self._imputation is not None and (gaps_per_column(numbers) > 0).any():
            numbers = self._imputation.fill(numbers.copy())
        usual = zip(codes, self._usual_levels, strict=True)
        codes = [np.where(code < 0, level, code) for code, level in usual]
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
                new = dict(zip(self._names, given, strict=True))
                return np.array(
                    [
                        str(new[name]) + output.removeprefix(name)
                        for name, outputs in self.groups_.items()
                        for output in outputs
                    ],
                    dtype=object,
                )
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


_WHY = {
    "text": "free text",
    "identifier": "an identifier",
    "constant": "all values are equal",
    "empty": "it holds no value",
}
_PLURAL = {
    "number": "numbers",
    "boolean": "truth values",
    "date": "dates",
    "category": "categories",
}


def _is_category(reading: Reading) -> bool:
    return isinstance(reading, CategoryReading)


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.01 else f"{share:.1g}"


def _reasons(dropped: dict[str, str]) -> str:
    shown = [f"{name!r} ({why})" for name, why in list(dropped.items())[:3]]
    return ", ".join(shown) + (", …" if len(dropped) > 3 else "")
