"""A real table becomes numbers: what each column is taken for, gaps, and the same again."""

from __future__ import annotations

import json
import pickle
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from tamis.preprocessing import Preparation


@pytest.fixture(name="messy")
def messy_table():
    n, rng = 60, np.random.default_rng(0)
    return pd.DataFrame(
        {
            "Unnamed: 0": range(1, n + 1),
            "id": rng.permutation(n) + 100,
            "price": [f"{value:,}" for value in rng.integers(500, 99999, n)],
            "flag": ["yes", "no"] * (n // 2),
            "maybe": [True, False, None] * (n // 3),
            "colour": rng.choice(["red", "blue", "green"], n),
            "when": pd.date_range("2020-01-01", periods=n, freq="13D"),
            "iso": [str(day.date()) for day in pd.date_range("2021-01-01", periods=n)],
            "text": [f"this is a long sentence about thing {i}" for i in range(n)],
            "code": [f"A{i:03}" for i in range(n)],
            "empty": [None] * n,
            "same": [3] * n,
            "mixed": [*map(str, rng.integers(0, 9, n - 1)), "bad"],
            "year": range(1950, 1950 + n),
            "measured": np.sort(rng.normal(size=n)),
            "zip": ["01234", "02345"] * (n // 2),
            "infinite": [np.inf, *rng.normal(size=n - 1)],
            "half": ["1", "a"] * (n // 2),
            "mostly": [np.nan] * (n - 5) + [1.0, 2, 3, 4, 5],
            "zero_one": [0, 1] * (n // 2),
        }
    )


KINDS = {
    "Unnamed: 0": "identifier",
    "id": "identifier",
    "price": "number",
    "flag": "boolean",
    "maybe": "boolean",
    "colour": "category",
    "when": "date",
    "iso": "date",
    "text": "text",
    "code": "identifier",
    "empty": "empty",
    "same": "constant",
    "mixed": "number",
    "year": "number",
    "measured": "number",
    "zip": "category",
    "infinite": "number",
    "half": "category",
    "mostly": "number",
    "zero_one": "number",
}


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow", "mapping"])
def test_columns_are_recognised_in_every_kind_of_table(messy, library):
    table = {
        "pandas": lambda: messy,
        "polars": lambda: pl.from_pandas(messy),
        "arrow": lambda: pa.Table.from_pandas(messy),
        "mapping": lambda: {name: messy[name].to_numpy() for name in messy},
    }[library]()
    preparation = Preparation().fit(table)
    assert preparation.kinds_ == KINDS
    np.testing.assert_allclose(
        preparation.set_output(transform="default").fit_transform(table),
        Preparation().fit_transform(messy),
    )


def test_what_is_odd_is_told(messy):
    preparation = Preparation().fit(messy)
    told = " ".join(preparation.notes_)
    for part in (
        "'Unnamed: 0' is taken for an identifier: it counts the rows.",
        "'price' holds numbers written as text: the comma read as the separator of thousands.",
        "'mixed' holds numbers and 1 word such as 'bad': the words count as missing.",
        "'year' runs on in equal steps and is taken for a number",
        "'infinite' holds 1 infinite value: counted as missing.",
        "'half' mixes numbers (50% of its values) and words: taken for categories.",
        "'mostly' is dropped: 92% of its values are missing.",
        "'maybe': 33% of its values imputed by the most frequent value.",
        "The column 'same' is constant and dropped.",
        "The column 'empty' is empty and dropped.",
    ):
        assert part in told
    assert set(preparation.dropped_) == set(messy) - set(preparation.groups_)
    assert preparation.imputed_["maybe"] == pytest.approx(1 / 3)


@pytest.mark.parametrize("scaling", ["none", "standard", "columns"])
def test_the_dict_form_and_the_pickle_give_the_same_numbers(messy, scaling):
    preparation = Preparation(scaling=scaling)
    expected = preparation.fit_transform(messy)
    assert np.isfinite(expected).all()
    backwards = messy[messy.columns[::-1]].drop(columns=["mixed"]).assign(more=1)
    backwards["mixed"] = messy["mixed"].replace("bad", None)
    for again in (
        Preparation.from_dict(json.loads(json.dumps(preparation.to_dict()))),
        pickle.loads(pickle.dumps(preparation)),
    ):
        np.testing.assert_array_equal(again.transform(backwards), expected)
        assert list(again.get_feature_names_out()) == list(preparation.get_feature_names_out())
    assert not hasattr(clone(preparation), "groups_")


def test_a_category_counts_as_one_column_when_scaled(messy):
    preparation = Preparation(scaling="standard")
    prepared = preparation.fit_transform(messy)
    names = list(preparation.get_feature_names_out())
    for outputs in preparation.groups_.values():
        columns = [names.index(output) for output in outputs]
        assert prepared[:, columns].var(axis=0).sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda form: form.pop("names"), "it lacks 'names'"),
        (lambda form: form.update(more=1), "unknown key 'more'"),
        (lambda form: form["kinds"].update(flag="spell"), "unknown kind"),
        (lambda form: form["imputation"]["typical"].pop(), "'typical' is no list"),
        (lambda form: form["parameters"].update(missing="guess"), "'missing' parameter"),
        (lambda form: form["readings"]["colour"].update(levels=[1]), "levels of a category"),
        (lambda form: form.update(usual_levels=[99]), "usual_levels"),
    ],
)
def test_a_form_that_was_edited_is_refused(messy, change, message):
    form = Preparation().fit(messy).to_dict()
    change(form)
    with pytest.raises(ValueError, match=message):
        Preparation.from_dict(form)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.drop(columns="year"), "X lacks column 'year'"),
        (lambda t: t.rename(columns={"year": "Year"}), "did you mean Year"),
        (lambda t: t.assign(year="w"), "'year' held numbers when fitted, and now holds 'w'"),
        (lambda t: t.assign(colour=1.5), "'colour' held categories when fitted"),
        (lambda t: t.assign(when=7), "'when' held dates when fitted"),
    ],
)
def test_a_changed_table_is_refused(messy, change, message):
    messy = messy.drop(columns="mixed")
    preparation = Preparation().fit(messy)
    with pytest.raises(ValueError, match=message):
        preparation.transform(change(messy))


def test_a_new_level_is_told_and_has_no_column(messy):
    messy = messy[["colour", "measured"]]
    preparation = Preparation().fit(messy)
    with pytest.warns(UserWarning, match="not there when fitted, such as 'pink'"):
        prepared = preparation.transform(messy.assign(colour="pink"))
    assert (prepared[:, :3] == 0).all()


def test_missing_values_by_rows_by_columns_and_refused(messy):
    rows = Preparation(missing="drop-rows").fit(messy)
    assert rows.rows_.sum() == len(rows.fit_transform(messy)) == 39
    columns = Preparation(missing="drop-columns").fit(messy)
    assert {"maybe", "mixed", "infinite", "mostly"} <= set(columns.dropped_)
    with pytest.raises(ValueError, match="missing values in columns 'maybe', 'mixed'"):
        Preparation(missing="refuse").fit(messy)
    gaps = {"a": np.array([1.0, np.nan, 3, np.nan]), "b": np.array([np.nan, 2.0, np.nan, 5])}
    with pytest.raises(ValueError, match="Only 0 of 4 rows are without a gap"):
        Preparation(missing="drop-rows").fit(gaps)


def test_kinds_can_be_said_and_are_checked(messy):
    preparation = Preparation(kinds={"year": "identifier", "zero_one": "category"}).fit(messy)
    assert preparation.kinds_["year"] == "identifier"
    assert preparation.groups_["zero_one"] == ["zero_one=0", "zero_one=1"]
    with pytest.raises(ValueError, match=r"'yaer', which X does not have \(did you mean year"):
        Preparation(kinds={"yaer": "number"}).fit(messy)
    with pytest.raises(ValueError, match="no value of it is one"):
        Preparation(kinds={"text": "number"}).fit(messy)


def test_dates_out_of_range_count_as_missing():
    days = [f"2020-01-{day:02}" for day in range(1, 29)]
    table = {"day": np.array([*days, "9999-12-31"], dtype=object), "x": np.arange(29.0) ** 2}
    preparation = Preparation().fit(table)
    assert preparation.kinds_["day"] == "date"
    assert any("after 2999: counted as missing" in note for note in preparation.notes_)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_complete_numbers_pass_as_they_are(dtype):
    X = np.random.default_rng(0).normal(size=(30, 4)).astype(dtype)
    assert Preparation().fit(X).transform(X) is X
    table = sp.csr_array(X * (X > 0))
    assert Preparation().fit(table).transform(table) is table
    X[0, 0] = np.nan
    prepared = Preparation().fit_transform(X)
    assert prepared.dtype == dtype
    assert np.isnan(X[0, 0])


def test_a_wide_table_is_imputed_from_its_components():
    rng = np.random.default_rng(0)
    whole = rng.normal(size=(80, 3)) @ rng.normal(size=(3, 30)) + 5
    gaps = rng.random(whole.shape) < 0.2
    table = np.where(gaps, np.nan, whole)
    preparation = Preparation()
    filled = preparation.fit_transform(table)
    np.testing.assert_array_equal(filled[~gaps], whole[~gaps])
    error = np.mean((filled - whole)[gaps] ** 2) / whole.var()
    assert error < 0.1
    np.testing.assert_allclose(preparation.transform(table[:5]), filled[:5])
    again = Preparation.from_dict(json.loads(json.dumps(preparation.to_dict())))
    np.testing.assert_array_equal(again.transform(table), filled)


def families(n_rows=120, n_families=60, size=3):
    """Columns that are nearly alike in small families: more of these than components are sought."""
    rng = np.random.default_rng(1)
    shared = np.repeat(rng.normal(size=(n_rows, n_families)), size, axis=1)
    return shared + 0.1 * rng.normal(size=shared.shape)


def test_columns_alike_fill_what_the_components_leave():
    whole = families()
    gaps = np.random.default_rng(2).random(whole.shape) < 0.1
    table = np.where(gaps, np.nan, whole)
    preparation = Preparation().fit(table)
    model = preparation._imputation.low_rank
    errors = {}
    for how in (model, replace(model, neighbours=None)):
        filled = table.copy()
        how.fill(filled)
        np.testing.assert_array_equal(filled[~gaps], whole[~gaps])
        errors[how.neighbours is None] = np.mean((filled - whole)[gaps] ** 2)
    assert errors[False] < 0.7 * errors[True]
    assert "the columns most like each" in " ".join(preparation.notes_)
    filled = preparation.transform(table)
    np.testing.assert_allclose(preparation.transform(table[:5]), filled[:5], err_msg="row by row")
    again = Preparation.from_dict(json.loads(json.dumps(preparation.to_dict())))
    np.testing.assert_array_equal(again.transform(table), filled)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("targets", [180]),
        ("targets", [0, 0]),
        ("sources", [[0], [1, 2]]),
        ("weights", [["x"]]),
        ("weights", None),
    ],
)
def test_neighbours_that_were_edited_are_refused(key, value):
    table = families()
    table[np.random.default_rng(2).random(table.shape) < 0.1] = np.nan
    form = Preparation().fit(table).to_dict()
    form["imputation"]["low_rank"]["neighbours"][key] = value
    with pytest.raises(ValueError, match="form of a preparation is wrong"):
        Preparation.from_dict(form)


def test_columns_that_share_nothing_have_no_neighbours():
    rng = np.random.default_rng(0)
    whole = rng.normal(size=(80, 3)) @ rng.normal(size=(3, 30)) + rng.normal(size=(80, 30))
    table = np.where(rng.random(whole.shape) < 0.1, np.nan, whole)
    model = Preparation().fit(table)._imputation.low_rank
    assert model is not None
    assert model.neighbours is None


@pytest.mark.parametrize("seed", [0, 1])
def test_gaps_drawn_with_any_seed_leave_cells_to_learn_from(seed):
    table = np.random.default_rng(5).normal(size=(80, 3)) @ np.ones((3, 30))
    table[np.random.default_rng(seed).random(table.shape) < 0.2] = np.nan
    assert Preparation().fit(table)._imputation.low_rank is not None


CELLS = st.one_of(
    st.none(),
    st.floats(-1e6, 1e6),
    st.integers(-5, 5),
    st.booleans(),
    st.sampled_from(["a", "b", "yes", "no", "1,5", "2020-01-01", "NA", "", "9999-12-31"]),
    st.dates(),
)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_frame_is_prepared_or_refused_in_one_sentence(data):
    n_rows = data.draw(st.integers(2, 8))
    names = data.draw(
        st.lists(st.text(min_size=1, max_size=4), min_size=1, max_size=4, unique=True)
    )
    column = st.lists(CELLS, min_size=n_rows, max_size=n_rows)
    table = {}
    for name in names:
        table[name] = np.empty(n_rows, dtype=object)
        table[name][:] = data.draw(column)
    preparation = Preparation()
    try:
        prepared = preparation.fit_transform(table)
    except ValueError:
        with pytest.raises(ValueError, match="No column of the table can be used"):
            Preparation().fit(table)
        return
    assert np.isfinite(prepared).all()
    assert prepared.shape == (n_rows, len(preparation.get_feature_names_out()))
    assert set(preparation.groups_) | set(preparation.dropped_) == set(names)
    json.dumps(preparation.to_dict(), allow_nan=False)


TYPED = st.sampled_from(
    [
        st.one_of(st.none(), st.floats(-1e6, 1e6)),
        st.one_of(st.none(), st.sampled_from(["a", "b", "c"])),
        st.one_of(st.none(), st.sampled_from(["yes", "no"])),
        st.one_of(st.none(), st.datetimes(datetime(1990, 1, 1), datetime(2030, 1, 1))),
        st.booleans(),
        st.integers(-5, 5),
    ]
)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_pandas_polars_and_a_saved_form_give_the_same_numbers(data):
    n_rows = data.draw(st.integers(4, 12))
    names = data.draw(st.lists(st.sampled_from("αb#*é,'"), min_size=1, max_size=4, unique=True))
    columns = {
        name: data.draw(st.lists(data.draw(TYPED), min_size=n_rows, max_size=n_rows))
        for name in names
    }
    frames = [pd.DataFrame(columns), pl.DataFrame(columns, strict=False)]
    found = []
    for frame in frames:
        preparation = Preparation()
        with suppress(ValueError):  # no column can be used
            found.append((preparation.fit_transform(frame), preparation))
    assert len(found) in (0, 2)
    for prepared, preparation in found:
        np.testing.assert_allclose(prepared, found[0][0])
        assert preparation.groups_ == found[0][1].groups_
        again = Preparation.from_dict(json.loads(json.dumps(preparation.to_dict())))
        for frame in frames:
            np.testing.assert_array_equal(again.transform(frame), preparation.transform(frame))


@pytest.mark.slow
@pytest.mark.parametrize("scaling", ["none", "standard"])
def test_scikit_learn_accepts_it(scaling):
    check_estimator(Preparation(scaling=scaling), on_skip=None)
