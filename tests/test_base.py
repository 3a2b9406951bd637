"""What every selector inherits: input checks, ranking, selection, scikit-learn's tools."""

from __future__ import annotations

import datetime
import pickle
import warnings

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from references.quick import quick
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from tamis import (
    FSGMM,
    SPEC,
    UDFS,
    GraphSelector,
    InfFS,
    LaplacianScore,
    MaxVariance,
    PCAScore,
    RandomSubset,
    Selector,
)
from tamis.registry import METHODS
from tamis.utils.validation import LARGEST_VALUE

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def each_of(methods):
    return pytest.mark.parametrize(
        "estimator", [quick(method.name) for method in methods], ids=[m.name for m in methods]
    )


every_method = each_of(METHODS.values())
every_simple_method = each_of([m for m in METHODS.values() if m.family in {"baseline", "score"}])


class FixedScores(Selector):
    """Scores that the test chooses."""

    def __init__(self, n_features_to_select=None, *, scores=None):
        super().__init__(n_features_to_select)
        self.scores = scores

    def _fit(self, X):
        return np.asarray(self.scores)[~self._set_aside]


@pytest.fixture(name="X")
def six_columns():
    """Six columns; their standard deviations are 1 … 6."""
    X = np.random.default_rng(0).standard_normal((30, 6))
    return (X - X.mean(axis=0)) / X.std(axis=0) * np.arange(1.0, 7.0)


@pytest.fixture
def frame(X):
    return pd.DataFrame(X, columns=list("abcdef"))


def message_of(estimator, X, error=ValueError):
    with pytest.raises(error) as caught:
        estimator.fit(X)
    return str(caught.value)


# --- the abstract classes ---------------------------------------------------------------------


@pytest.mark.parametrize("abstract", [Selector, GraphSelector])
def test_a_selector_without_a_method_says_so(abstract, X):
    with pytest.raises(NotImplementedError, match=f"{abstract.__name__} must define _fit"):
        abstract().fit(X)


def test_only_the_number_of_features_may_be_positional():
    assert MaxVariance(3).n_features_to_select == 3
    with pytest.raises(TypeError):
        PCAScore(3, 2)
    with pytest.raises(TypeError):
        LaplacianScore(3, 5)


# --- how many features ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "count"),
    [
        (None, 3),
        (1, 1),
        (1.0, 6),
        (6, 6),
        (np.int64(2), 2),
        (np.int8(2), 2),
        (np.float64(0.5), 3),
        (0.34, 2),
        (0.32, 1),
        (1e-9, 1),
    ],
)
def test_the_number_of_features_is_a_count_a_fraction_rounded_down_or_half(X, wanted, count):
    fitted = MaxVariance(wanted).fit(X)
    assert fitted.get_support().sum() == count
    assert fitted.transform(X).shape == (30, count)


def test_half_of_one_feature_is_one_and_half_of_five_is_two(X):
    assert MaxVariance().fit(X[:, :1]).get_support().tolist() == [True]
    assert MaxVariance().fit(X[:, :5]).get_support().sum() == 2


def test_the_number_of_features_is_read_anew_without_a_new_fit(X):
    fitted = MaxVariance(1).fit(X)
    scores = fitted.scores_
    assert fitted.get_support(indices=True).tolist() == [5]
    fitted.n_features_to_select = 2
    assert fitted.get_support(indices=True).tolist() == [4, 5]
    fitted.set_params(n_features_to_select=1.0)
    assert fitted.transform(X).shape == (30, 6)
    assert fitted.scores_ is scores


@pytest.mark.parametrize("wanted", [0, -1, 0.0, 1.5, -0.5, 2.0, np.nan, "half", [2]])
def test_a_senseless_number_of_features_is_refused_by_fit(X, wanted):
    assert "'n_features_to_select' parameter of MaxVariance must be" in message_of(
        MaxVariance(wanted), X
    )


def test_more_features_than_there_are_is_refused_by_fit(X):
    assert message_of(MaxVariance(7), X) == (
        "n_features_to_select=7, but X has 6 features; use a number from 1 to 6."
    )


@pytest.mark.parametrize("wanted", [0, 7, -1, 0.0, 1.5, np.nan, "half"])
def test_a_senseless_number_of_features_is_refused_after_fit(X, wanted):
    fitted = MaxVariance().fit(X).set_params(n_features_to_select=wanted)
    with pytest.raises(ValueError, match="n_features_to_select"):
        fitted.get_support()
    with pytest.raises(ValueError, match="n_features_to_select"):
        fitted.transform(X)


# --- ranking ----------------------------------------------------------------------------------


def test_the_largest_score_has_rank_one(X):
    fitted = FixedScores(scores=[0.1, 0.6, -0.3, 0.2, 0.5, 0.4]).fit(X)
    assert fitted.ranking_.tolist() == [5, 1, 6, 4, 2, 3]
    assert fitted.ranking_.dtype == np.intp
    assert fitted.scores_.dtype == np.float64


@pytest.mark.parametrize("scores", [0.5, [0.5], [[1, 2, 3, 4, 5, 6]], [1, 2, 3]])
def test_a_method_that_does_not_score_every_column_is_told(X, scores):
    class Careless(Selector):
        def _fit(self, X):
            return np.array(scores)

    with pytest.raises(ValueError, match=r"Careless._fit must return one score per column, .*\(6,"):
        Careless().fit(X)


def test_ties_go_to_the_first_column(X):
    assert FixedScores(scores=[1, 2, 1, 2, 1, 2]).fit(X).ranking_.tolist() == [4, 1, 5, 2, 6, 3]


def test_constant_columns_come_last_even_against_a_tie(X):
    X[:, [0, 2]] = [3.0, 0.0]
    fitted = FixedScores(scores=[9, 0, 9, 0, 1, 2]).fit(X)
    assert fitted.scores_.tolist() == [0, 0, 0, 0, 1, 2]
    assert fitted.ranking_.tolist() == [5, 3, 6, 4, 2, 1]


def test_constant_columns_have_the_lowest_score_when_scores_are_negative(X):
    X[:, 0] = 7
    fitted = FixedScores(scores=[5, -2, -1, -3, -1, -1]).fit(X)
    assert fitted.scores_.tolist() == [-3, -2, -1, -3, -1, -1]
    assert fitted.ranking_[0] == 6


def test_a_score_of_a_constant_column_that_is_not_a_number_does_no_harm(X):
    X[:, 3] = 0
    fitted = FixedScores(scores=[1, 2, 3, np.nan, 5, 6]).fit(X)
    assert fitted.scores_.tolist() == [1, 2, 3, 0, 5, 6]
    assert fitted.ranking_[3] == 6


def test_a_column_that_differs_in_the_last_bit_counts_as_constant_and_is_named(frame):
    frame["a"] = 1.0
    frame.loc[3, "a"] = np.nextafter(1, 2)
    frame["b"] = 1.0
    with pytest.warns(UserWarning, match="takes column 'a' for constant") as caught:
        fitted = FixedScores(scores=[9, 9, 4, 3, 2, 1]).fit(frame)
    assert fitted.ranking_.tolist() == [5, 6, 1, 2, 3, 4]
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in METHODS if name != "random_subset"])
def test_a_fit_as_it_comes_is_the_same_every_time(name):
    X = load_iris().data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        first, second = (METHODS[name].selector(2).fit(X).scores_ for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*same score")  # the variances of standardised columns
@every_method
def test_a_column_of_rounding_is_named_and_never_wins(estimator):
    P = np.random.default_rng(0).random((178, 6))
    P /= P.sum(axis=1, keepdims=True)
    X = np.column_stack([load_wine().data, P, P.sum(axis=1)])
    Z = StandardScaler().fit_transform(X)
    assert 0 < np.ptp(Z[:, -1]) < 1e-14
    with pytest.warns(UserWarning, match="takes column 19 for constant"):
        fitted = clone(estimator).set_params(n_features_to_select=2).fit(Z)
    assert fitted.ranking_[-1] == 20


def test_scores_that_differ_by_rounding_are_ties(X):
    once = np.nextafter(1, 2)
    fitted = FixedScores(scores=[1, once, 2, once + 1e-15, -3, -3 - 1e-14]).fit(X)
    assert fitted.ranking_.tolist() == [2, 3, 1, 4, 5, 6]
    assert len(set(fitted.scores_[[0, 1, 3]])) == 1
    assert len(set(fitted.scores_[[4, 5]])) == 1


def test_small_scores_are_told_apart_by_their_own_size(X):
    fitted = FixedScores(scores=[1, 1e-20, 3e-20, 2e-20, 0.5, 0]).fit(X)
    assert fitted.ranking_.tolist() == [1, 5, 3, 4, 2, 6]


def test_scores_that_tell_nothing_apart_are_reported(X):
    Z = StandardScaler().fit_transform(X)
    with pytest.warns(UserWarning, match="MaxVariance gives all 6 features that vary the same"):
        MaxVariance(2).fit(Z)
    MaxVariance(6).fit(Z)  # there is nothing to tell apart


def test_udfs_of_as_many_clusters_as_columns_says_that_it_tells_nothing_apart():
    with pytest.warns(UserWarning, match="UDFS gives all 4 features that vary the same score"):
        fitted = UDFS(2).fit(load_iris().data)
    assert fitted.ranking_.tolist() == [1, 2, 3, 4]


def test_stored_and_missing_zeros_are_the_same_constant(X):
    X[:, 2] = 0
    X[::2, 2] = 99
    sparse = sp.csr_array(X)
    sparse.data[sparse.data == 99] = 0
    assert FixedScores(6, scores=[0] * 6).fit(sparse).ranking_.tolist() == [1, 2, 6, 3, 4, 5]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")  # too many features for some methods
@every_method
def test_no_dead_pixel_of_the_digits_is_selected(estimator):
    X = load_digits().data[::3]
    alive = X.std(axis=0) > 0
    assert 0 < alive.sum() < 64
    fitted = clone(estimator).set_params(n_features_to_select=int(alive.sum())).fit(X)
    np.testing.assert_array_equal(fitted.get_support(), alive)
    assert fitted.scores_[~alive].max() <= fitted.scores_[alive].min()


# --- what a fit learns ------------------------------------------------------------------------


def learned_by(fitted):
    """The names of what a fit learns beyond scores, ranking and what scikit-learn sets."""
    shared = {"scores_", "ranking_", "n_features_in_", "feature_names_in_"}
    return {name for name in vars(fitted) if name.endswith("_") and name[0] != "_"} - shared


@pytest.mark.filterwarnings("ignore::UserWarning")  # too few iterations, or the same score
@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_all_that_a_fit_learns_is_declared_with_its_shape(method):
    X = np.insert(load_wine().data[::3], [0, 7], [1.0, -2.0], axis=1)
    fitted = quick(method.name, n_features_to_select=4).fit(X)
    assert set(method.selector._declared()) == learned_by(fitted)
    sizes = {"n_samples": len(X), "n_features": 15}
    for name, form in method.selector._declared().items():
        value = getattr(fitted, name)
        assert isinstance(value, np.ndarray | list) == isinstance(form, tuple | list)
        if isinstance(value, np.ndarray):
            assert value.ndim == len(form)
            for axis, size in enumerate(form):
                assert value.shape[axis] == sizes.get(size, value.shape[axis]), name
                if size == "n_features" and not name.endswith("means_"):
                    assert not value.take([0, 8], axis=axis).any(), name


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_a_table_of_constants_leaves_nothing_to_learn(method):
    fitted = method.selector(2).fit(np.tile([0.0, 3.5, -2.0, 1.0], (12, 1)))
    assert fitted.scores_.tolist() == [0, 0, 0, 0]
    assert fitted.ranking_.tolist() == [1, 2, 3, 4]
    assert fitted.get_support().tolist() == [True, True, False, False]
    assert learned_by(fitted) == set(method.selector._declared())
    for name, form in method.selector._declared().items():
        if isinstance(form, tuple):
            value = np.asarray(getattr(fitted, name))
            assert value.ndim == len(form)
            assert np.isfinite(value).all()
            for axis, size in enumerate(form):
                assert value.shape[axis] == {"n_samples": 12, "n_features": 4}.get(
                    size, value.shape[axis]
                )


def test_zeros_are_put_along_the_features_wherever_those_are(X):
    class Wide(FixedScores):
        _learned = {"loadings_": ("n_rows", "n_features"), "coef_": ("n_features",)}  # noqa: RUF012

        def _fit(self, X):
            self.loadings_, self.coef_ = X[:2], X[0]
            return super()._fit(X)

    X[:, [1, 4]] = 3.0
    fitted = Wide(scores=np.arange(6)).fit(X)
    expected = np.where(np.isin(np.arange(6), [1, 4]), 0, X[:2])
    np.testing.assert_array_equal(fitted.loadings_, expected)
    np.testing.assert_array_equal(fitted.coef_, expected[0])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_column_too_narrow_to_be_squared_counts_as_constant_and_is_named():
    X = load_iris().data.copy()
    X[:, 1] = np.random.default_rng(0).random(150) * 1e-170
    for estimator in (MaxVariance(), FSGMM(random_state=0)):
        with pytest.warns(UserWarning, match="takes column 1 for constant, .* too little to be sq"):
            fitted = estimator.fit(X)
        assert np.isfinite(fitted.scores_).all()
        assert fitted.ranking_[1] == 4


# --- values that are refused ------------------------------------------------------------------

NOT_FINITE = [
    (np.nan, "NaN", "impute them, for example with tamis.preprocessing.Preparation"),
    (np.inf, "infinity", "clip them"),
]


@pytest.mark.parametrize(("value", "what", "remedy"), [*NOT_FINITE, (-np.inf, *NOT_FINITE[1][1:])])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_matrix, pd.DataFrame])
def test_values_that_are_not_finite_are_refused_with_their_column(X, form, value, what, remedy):
    X[4, 3] = value
    expected = f"X contains {what} in column 3; {remedy}, or drop the columns."
    assert message_of(MaxVariance(), form(X)) == expected


def test_columns_of_a_frame_are_refused_by_name(frame):
    frame.loc[2, "b"] = frame.loc[3, "e"] = np.nan
    expected = (
        "X contains NaN in columns 'b', 'e'; impute them, "
        "for example with tamis.preprocessing.Preparation, or drop the columns."
    )
    assert message_of(MaxVariance(), frame) == expected
    assert message_of(MaxVariance(), pl.from_pandas(frame)) == expected


def test_many_bad_columns_are_counted():
    X = np.random.default_rng(0).standard_normal((5, 12))
    X[0, 1:10] = np.nan
    assert message_of(MaxVariance(), X) == (
        "X contains NaN in columns 1, 2, 3, 4, 5, … (4 more); "
        "impute them, for example with tamis.preprocessing.Preparation, or drop the columns."
    )


def test_values_too_large_to_be_squared_are_refused(X):
    X[4, 3], X[5, 0] = 1e150, -1e150
    assert message_of(MaxVariance(), X) == (
        "X contains values beyond 1e+100, too large to be squared, in columns 0, 3; "
        "rescale the columns."
    )


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@every_simple_method
def test_the_largest_values_that_are_accepted_give_finite_scores(estimator, form, X):
    X *= LARGEST_VALUE / np.abs(X).max()
    scores = clone(estimator).fit(form(X)).scores_
    assert np.isfinite(scores).all()
    assert len(np.unique(scores)) == 6


def test_single_precision_has_no_value_too_large(X):
    X = X.astype(np.float32) * np.float32(1e37)
    assert MaxVariance().fit(X).ranking_.tolist() == [6, 5, 4, 3, 2, 1]


# --- columns that hold no numbers -------------------------------------------------------------

REMEDY = "; encode them, for example with tamis.preprocessing.Preparation, or drop the columns."


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["Paris", "Rome"] * 15, dtype=object),
        pd.Series(["Paris", 3.5] * 15, dtype=object),
        pd.Series(["Paris", "Rome"] * 15, dtype="string"),
        pd.Series(["Paris", "Rome"] * 15, dtype="category"),
        pd.Series(pd.date_range("2020", periods=30)),
        pd.Series(pd.date_range("2020", periods=30, tz="UTC")),
        pd.Series(pd.timedelta_range("1h", periods=30)),
        pd.Series(pd.period_range("2020", periods=30, freq="D")),
        pd.Series([datetime.date(2020, 1, 1)] * 30, dtype=object),
    ],
    ids=[
        *("object", "mixed", "string", "category", "datetime", "zoned datetime", "timedelta"),
        *("period", "date"),
    ],
)
def test_pandas_columns_that_hold_no_numbers_are_named(frame, column):
    frame["city"] = column
    expected = f"X holds values that are not numbers in column 'city'{REMEDY}"
    assert message_of(MaxVariance(), frame) == expected


@pytest.mark.parametrize(
    "column",
    [
        pl.lit("Paris"),
        pl.lit("Paris").cast(pl.Categorical),
        pl.lit("Paris").cast(pl.Enum(["Paris", "Rome"])),
        pl.lit(datetime.date(2020, 1, 1)),
        pl.lit(datetime.datetime(2020, 1, 1)),
        pl.lit(datetime.timedelta(days=1)),
        pl.concat_list("a", "b"),
        pl.struct("a", "b"),
    ],
    ids=["string", "category", "enum", "date", "datetime", "duration", "list", "struct"],
)
def test_polars_columns_that_hold_no_numbers_are_named(frame, column):
    table = pl.from_pandas(frame).with_columns(city=column)
    expected = f"X holds values that are not numbers in column 'city'{REMEDY}"
    assert message_of(MaxVariance(), table) == expected


@pytest.mark.parametrize("kind", [object, str, bytes])
def test_columns_of_text_in_an_array_are_named_by_index(X, kind):
    table = X.astype(kind)
    table[4, 1] = table[5, 3] = kind("Rome", "ascii") if kind is bytes else "Rome"
    expected = f"X holds values that are not numbers in columns 1, 3{REMEDY}"
    assert message_of(MaxVariance(), table) == expected


@pytest.mark.parametrize("unit", ["M8[D]", "m8[s]"])
def test_an_array_of_dates_is_refused(unit):
    dates = np.arange(12).reshape(6, 2).astype(unit)
    with pytest.raises((TypeError, ValueError)):
        MaxVariance().fit(dates)


def test_complex_numbers_are_refused(X, frame):
    frame["c"] = frame["c"] + 1j
    for table in (X + 1j, sp.csr_array(X + 1j)):
        assert message_of(MaxVariance(), table).startswith("Complex data not supported")
    with pytest.raises((TypeError, ValueError), match=r"[Cc]omplex|not numbers"):
        MaxVariance().fit(frame)


# --- columns that do --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind",
    [*("int8", "uint8", "int32", "int64", "uint64", "float16", "longdouble", ">f8", "<i4"), object],
)
def test_every_kind_of_real_number_is_understood(X, kind):
    X = np.round(np.abs(X) * 4)
    expected = MaxVariance().fit(X).scores_
    np.testing.assert_array_equal(MaxVariance().fit(X.astype(kind)).scores_, expected)


def test_lists_are_understood(X):
    np.testing.assert_array_equal(
        MaxVariance().fit(X.tolist()).scores_, MaxVariance().fit(X).scores_
    )


def test_booleans_are_numbers(X):
    expected = (X > 0).var(axis=0)
    names = list("abcdef")
    for table in (
        X > 0,
        sp.csr_array(X > 0),
        pd.DataFrame(X > 0, columns=names),
        pd.DataFrame(X > 0, columns=names).astype("boolean"),
        pl.DataFrame(X > 0, schema=names),
    ):
        np.testing.assert_allclose(MaxVariance().fit(table).scores_, expected)


@pytest.mark.parametrize("kind", ["Int64", "Float64", "boolean", "int64[pyarrow]"])
def test_nullable_columns_are_understood_unless_a_value_is_missing(frame, kind):
    frame["n"] = pd.array([0, 1, 1] * 10, dtype=kind)
    assert MaxVariance().fit(frame).scores_[6] == pytest.approx(2 / 9)
    frame.loc[4, "n"] = pd.NA
    expected = (
        "X contains NaN in column 'n'; impute them, "
        "for example with tamis.preprocessing.Preparation, or drop the columns."
    )
    assert message_of(MaxVariance(), frame) == expected


def test_nulls_of_polars_are_missing_values(frame):
    table = pl.from_pandas(frame).with_columns(n=pl.when(pl.col("a") > 0).then(3))
    expected = (
        "X contains NaN in column 'n'; impute them, "
        "for example with tamis.preprocessing.Preparation, or drop the columns."
    )
    assert message_of(MaxVariance(), table) == expected


def test_numbers_in_columns_of_objects_are_understood(frame):
    expected = MaxVariance().fit(frame).scores_
    np.testing.assert_array_equal(MaxVariance().fit(frame.astype(object)).scores_, expected)


def test_none_in_a_column_of_objects_is_a_missing_value(frame):
    frame["n"] = pd.Series([None, *range(29)], dtype=object)
    assert message_of(MaxVariance(), frame).startswith("X contains NaN in column 'n'")


def test_frames_with_sparse_columns_are_understood(frame):
    table = frame.where(frame > 0, 0.0)
    np.testing.assert_allclose(
        MaxVariance().fit(table.astype(pd.SparseDtype(float, 0.0))).scores_,
        MaxVariance().fit(table).scores_,
    )


# --- shapes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(30,), (30, 3, 2), ()])
def test_an_array_that_is_no_table_is_refused(X, shape):
    table = X[:, 0] if len(shape) == 1 else X[:, :6].reshape(30, 3, 2) if shape else X[0, 0]
    assert message_of(MaxVariance(), table) == (
        f"Expected a 2D table of samples and features, not an array of shape {shape}; "
        "for a single feature pass X.reshape(-1, 1)."
    )


def test_a_series_is_refused(frame):
    assert message_of(MaxVariance(), frame["a"]).startswith("Expected a 2D table")


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_tables_too_small_to_vary_are_refused(X, form):
    assert "Found array with 1 sample(s)" in message_of(MaxVariance(), form(X[:1]))
    assert "Found array with 0 sample(s)" in message_of(MaxVariance(), form(X[:0]))
    assert "Found array with 0 feature(s)" in message_of(MaxVariance(), form(X[:, :0]))


def test_more_neighbours_than_other_samples_are_refused(X):
    expected = "n_neighbors=30 is too large for n_samples=30; use at most 29."
    assert message_of(LaplacianScore(n_neighbors=30), X) == expected
    assert np.isfinite(LaplacianScore(n_neighbors=29).fit(X).scores_).all()


def test_the_number_of_neighbours_does_not_matter_with_a_precomputed_graph(X):
    graph = np.array([[0, 1, 2, 0], [1, 0, 0, 0], [2, 0, 0, 1], [0, 0, 1, 0]])
    assert np.isfinite(LaplacianScore(n_neighbors=50, affinity=graph).fit(X[:4]).scores_).all()


def test_more_clusters_than_samples_are_refused(X):
    expected = "n_clusters=31 is too large for n_samples=30; use at most 30."
    assert message_of(SPEC(style=3, n_clusters=31), X) == expected


# --- sparse input -----------------------------------------------------------------------------


@pytest.mark.parametrize("container", ["array", "matrix"])
@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "bsr", "dia", "dok", "lil"])
def test_every_sparse_layout_is_understood(X, layout, container):
    X[X < 0] = 0
    table = getattr(sp, f"{layout}_{container}")(X)
    fitted = MaxVariance(2).fit(table)
    np.testing.assert_allclose(fitted.scores_, X.var(axis=0))
    selected = fitted.transform(table)
    assert sp.issparse(selected)
    np.testing.assert_array_equal(selected.toarray(), X[:, 4:])


def entries_out_of_order():
    """Three rows; the first has unordered columns, one of them twice: [2, 0, 4]."""
    data, indices = np.array([1.0, 2, 3, 4, 5]), np.array([2, 0, 2, 1, 0])
    return sp.csr_array((data, indices, np.array([0, 3, 4, 5])), shape=(3, 3))


def test_repeated_entries_are_summed():
    dense = np.array([[2.0, 0, 4], [0, 4, 0], [5, 0, 0]])
    np.testing.assert_allclose(MaxVariance().fit(entries_out_of_order()).scores_, dense.var(axis=0))


def test_fit_leaves_sparse_input_as_it_is():
    X, kept = entries_out_of_order(), entries_out_of_order()
    MaxVariance().fit(X)
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(X, part), getattr(kept, part))


def test_sparse_input_may_be_read_only():
    X = entries_out_of_order()
    expected = MaxVariance().fit(entries_out_of_order()).scores_
    for part in (X.data, X.indices, X.indptr):
        part.flags.writeable = False
    np.testing.assert_array_equal(MaxVariance().fit(X).scores_, expected)


@every_method
def test_fit_leaves_dense_input_as_it_is(estimator, X):
    kept = X.copy()
    clone(estimator).fit(X)
    np.testing.assert_array_equal(X, kept)


@every_method
def test_a_read_only_memory_map_is_understood(estimator, X, tmp_path):
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    np.testing.assert_array_equal(
        clone(estimator).fit(mapped).scores_, clone(estimator).fit(X).scores_
    )


# --- fitted or not ----------------------------------------------------------------------------


def test_an_unfitted_selector_says_so(X):
    for call in (lambda s: s.get_support(), lambda s: s.transform(X)):
        with pytest.raises(NotFittedError):
            call(MaxVariance())


def test_a_selector_whose_fit_failed_is_not_fitted(X):
    selector = MaxVariance()
    message_of(selector, np.where(X > 2, np.nan, X))
    for call in (lambda: selector.get_support(), lambda: selector.transform(X)):
        with pytest.raises(NotFittedError):
            call()


def test_a_second_fit_forgets_the_first(frame, X):
    fitted = MaxVariance(2).fit(frame)
    fitted.fit(X[:, :3])
    assert not hasattr(fitted, "feature_names_in_")
    assert fitted.n_features_in_ == len(fitted.scores_) == len(fitted.ranking_) == 3
    assert fitted.get_support().tolist() == [False, True, True]


@every_method
def test_labels_are_ignored(estimator, X):
    labelled = clone(estimator).fit(X, np.arange(30) % 3).scores_
    np.testing.assert_array_equal(labelled, clone(estimator).fit(X).scores_)


# --- scikit-learn's tools ---------------------------------------------------------------------


@every_method
def test_a_clone_keeps_parameters_and_forgets_the_fit(estimator, X):
    fitted = clone(estimator).set_params(n_features_to_select=2).fit(X)
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert not hasattr(copy, "scores_")
    np.testing.assert_array_equal(copy.fit(X).scores_, fitted.scores_)


@every_method
def test_a_fitted_selector_survives_pickle_and_joblib(estimator, frame, tmp_path):
    fitted = clone(estimator).fit(frame)
    joblib.dump(fitted, tmp_path / "selector.joblib")
    for copy in (pickle.loads(pickle.dumps(fitted)), joblib.load(tmp_path / "selector.joblib")):
        np.testing.assert_array_equal(copy.scores_, fitted.scores_)
        np.testing.assert_array_equal(copy.transform(frame), fitted.transform(frame))
        assert list(copy.get_feature_names_out()) == list(fitted.get_feature_names_out())


def test_a_grid_search_tunes_the_number_of_features_before_a_classifier():
    iris = load_iris()
    noise = np.random.default_rng(0).standard_normal((150, 20)) / 10
    steps = [("select", MaxVariance()), ("classify", KNeighborsClassifier())]
    search = GridSearchCV(Pipeline(steps), {"select__n_features_to_select": [1, 4, 1.0]}, cv=3)
    search.fit(np.hstack([noise, iris.data]), iris.target)
    assert search.best_params_ == {"select__n_features_to_select": 4}
    kept = search.best_estimator_.named_steps["select"].get_support(indices=True)
    assert kept.tolist() == [20, 21, 22, 23]


def test_a_grid_search_without_labels_runs_before_kmeans(X):
    pipeline = make_pipeline(LaplacianScore(n_neighbors=3), KMeans(2, n_init=1, random_state=0))
    search = GridSearchCV(pipeline, {"laplacianscore__n_features_to_select": [1, 3, 6]}, cv=2)
    search.fit(X)
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()
    # With more columns the squared distances to the centres only grow.
    assert search.best_params_["laplacianscore__n_features_to_select"] == 1


def test_a_column_transformer_selects_in_each_group_of_columns(frame):
    groups = [("low", MaxVariance(1), ["a", "b", "c"]), ("high", MaxVariance(2), ["d", "e", "f"])]
    transformer = ColumnTransformer(groups, verbose_feature_names_out=False).fit(frame)
    assert list(transformer.get_feature_names_out()) == ["c", "e", "f"]
    np.testing.assert_array_equal(transformer.transform(frame), frame[["c", "e", "f"]])


def test_a_feature_union_joins_two_selections(frame):
    union = FeatureUnion([("spread", MaxVariance(1)), ("chance", RandomSubset(1, random_state=0))])
    names = union.fit(frame).get_feature_names_out()
    chance = RandomSubset(1, random_state=0).fit(frame).get_feature_names_out()[0]
    assert list(names) == ["spread__f", f"chance__{chance}"]
    assert union.transform(frame).shape == (30, 2)


def test_names_follow_the_selection(frame, X):
    assert list(MaxVariance(2).fit(frame).feature_names_in_) == list("abcdef")
    assert list(MaxVariance(2).fit(frame).get_feature_names_out()) == ["e", "f"]
    assert list(MaxVariance(2).fit(X).get_feature_names_out()) == ["x4", "x5"]
    named = MaxVariance(2).fit(X).get_feature_names_out(["g1", "g2", "g3", "g4", "g5", "g6"])
    assert list(named) == ["g5", "g6"]


def test_columns_that_are_numbered_have_no_names(X):
    assert not hasattr(MaxVariance().fit(pd.DataFrame(X)), "feature_names_in_")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_comes_out_when_it_is_asked_for(frame, library):
    table = frame if library == "pandas" else pl.from_pandas(frame)
    out = MaxVariance(2).set_output(transform=library).fit(table).transform(table)
    assert isinstance(out, type(table))
    assert list(out.columns) == ["e", "f"]
    np.testing.assert_array_equal(out.to_numpy(), frame[["e", "f"]].to_numpy())


def test_transform_keeps_the_type_of_the_numbers(X):
    for kind in ("float32", "float64", "int64"):
        assert MaxVariance(2).fit(X).transform(X.astype(kind)).dtype == kind


def test_the_tags_tell_scikit_learn_what_is_accepted_and_kept():
    tags = get_tags(MaxVariance())
    assert tags.input_tags.sparse
    assert not tags.input_tags.allow_nan
    assert not tags.target_tags.required
    assert tags.transformer_tags.preserves_dtype == ["float64", "float32"]


def test_transform_refuses_other_columns(frame, X):
    fitted = MaxVariance(2).fit(frame)
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.transform(frame.rename(columns={"a": "z"}))
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.transform(frame[list("bacdef")])
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.transform(frame[list("abcde")])
    with pytest.raises(ValueError, match="X has 5 features, but MaxVariance is expecting 6"):
        MaxVariance(2).fit(X).transform(X[:, :5])


def test_the_inverse_puts_zeros_in_the_place_of_dropped_columns(X):
    fitted = MaxVariance(2).fit(X)
    expected = np.where(fitted.get_support(), X, 0)
    np.testing.assert_array_equal(fitted.inverse_transform(fitted.transform(X)), expected)
    sparse = fitted.inverse_transform(fitted.transform(sp.csr_array(X)))
    assert sp.issparse(sparse)
    np.testing.assert_array_equal(sparse.toarray(), expected)


# --- real data --------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.* takes neighbours by their angles")
@pytest.mark.slow
@every_simple_method
@pytest.mark.parametrize("name", ["News20", "MouseBladder_sc"])
def test_sparse_and_dense_rows_of_a_real_table_have_the_same_scores(benchmark_set, name, estimator):
    X = benchmark_set(name)[0][:200]
    if isinstance(estimator, InfFS):  # its cost grows with the square of the columns
        X = X[:, :3000]
    sparse, dense = clone(estimator).fit(X), clone(estimator).fit(X.toarray())
    assert np.isfinite(sparse.scores_).all()
    scale = np.abs(dense.scores_).max()
    np.testing.assert_allclose(sparse.scores_, dense.scores_, atol=1e-9 * scale)


@every_simple_method
def test_scores_of_real_images_are_finite_and_differ(benchmark_set, estimator):
    scores = clone(estimator).fit(benchmark_set("UMIST")[0]).scores_
    assert np.isfinite(scores).all()
    assert len(np.unique(scores)) > 600
