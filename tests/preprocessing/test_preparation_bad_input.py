"""Tables and forms that a preparation must answer: gaps, odd columns, edited forms, memory."""

from __future__ import annotations

import copy
import datetime
import json
import tracemalloc

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.preprocessing import Preparation


def objects(values):
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


NUMBERS = np.random.default_rng(0).normal(size=20)


@pytest.mark.parametrize("values", [[None] * 20, [np.nan] * 20, ["NA", ""] * 10])
def test_a_column_missing_throughout_is_dropped_and_named(values):
    preparation = Preparation().fit({"a": NUMBERS, "gone": objects(values)})
    assert preparation.kinds_["gone"] == "empty"
    assert list(preparation.groups_) == ["a"]
    assert any("'gone' is empty and dropped" in note for note in preparation.notes_)


def test_no_row_without_a_gap_is_refused_with_the_remedy():
    table = {"a": NUMBERS.copy(), "b": NUMBERS[::-1].copy()}
    table["a"][::2] = np.nan
    table["b"][1::2] = np.nan
    with pytest.raises(ValueError, match="Only 0 of 20 rows are without a gap; use missing="):
        Preparation(missing="drop-rows").fit(table)


def test_as_many_levels_as_rows_are_no_category():
    table = {"a": NUMBERS, "each": objects([f"level {j}" for j in range(20)])}
    preparation = Preparation().fit(table)
    assert list(preparation.groups_) == ["a"]
    assert "'each' is taken for an identifier" in " ".join(preparation.notes_)
    said = Preparation(kinds={"each": "category"}).fit(table)
    assert list(said.groups_) == ["a"]
    assert "none of its 20 levels is frequent" in " ".join(said.notes_)


def test_mixed_types_are_told():
    table = {"a": NUMBERS, "mixed": objects([1, "two", 3.5, "four"] * 5)}
    preparation = Preparation().fit(table)
    assert preparation.kinds_["mixed"] == "category"
    assert "'mixed' mixes numbers (50% of its values) and words" in " ".join(preparation.notes_)


def test_dates_out_of_range_do_not_reach_the_numbers():
    days = [datetime.date(2020, 1, 1) + datetime.timedelta(j) for j in range(19)]
    table = {"a": NUMBERS, "when": objects([*days, datetime.date(9999, 12, 31)])}
    preparation = Preparation()
    prepared = preparation.fit_transform(table)
    assert "1 date before the year 1000 or after 2999" in " ".join(preparation.notes_)
    assert np.abs(prepared).max() < 20


@pytest.fixture(name="form")
def form_of_a_preparation():
    rng = np.random.default_rng(0)
    table = {f"x{j}": rng.normal(size=40) for j in range(25)}
    table["x3"][::5] = np.nan
    table["when"] = np.datetime64("2020-01-01", "D") + np.arange(40)
    table["flag"] = objects(["yes", "no"] * 20)
    table["colour"] = objects(["red", "blue"] * 20)
    return Preparation(scaling="standard").fit(table).to_dict()


def places(value, path=()):
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value[:2]):
            yield from places(inner, (*path, number))


def accepted(form):
    """The preparation of a form, or None and why it is refused."""
    try:
        return Preparation.from_dict(form), ""
    except ValueError as error:
        return None, str(error)


@pytest.mark.slow
@pytest.mark.parametrize(
    "hostile", [None, [], {}, "__import__('os')", -1, 1e308, float("nan"), [[1]], {"a": 1}, True]
)
def test_whatever_is_put_into_a_form_is_refused_or_harmless(form, hostile):
    table = pd.DataFrame({name: ["2020-01-01"] * 3 for name in form["names"]})
    for path in places(form):
        edited = copy.deepcopy(form)
        if path:
            inner = edited
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = hostile
        else:
            edited = hostile
        preparation, refusal = accepted(edited)
        if preparation is None:
            assert "\n" not in refusal
            continue
        assert json.loads(json.dumps(preparation.to_dict())) is not None
        with pytest.raises(ValueError, match=r"held|lacks"):
            preparation.transform(table)


COLUMNS = {
    "numbers": st.floats(-1e6, 1e6),
    "whole": st.integers(-50, 50),
    "flags": st.booleans(),
    "words": st.sampled_from(["a", "b", "c", "d e"]),
    "dates": st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2100, 1, 1)),
}


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_form_gives_the_same_numbers_for_any_frame(data):
    n_rows = data.draw(st.integers(5, 12))
    names = data.draw(
        st.lists(st.text(max_size=4), min_size=1, max_size=5, unique=True).map(sorted)
    )
    table = {}
    for name in names:
        cells = st.one_of(COLUMNS[data.draw(st.sampled_from(sorted(COLUMNS)))], st.none())
        table[name] = objects(data.draw(st.lists(cells, min_size=n_rows, max_size=n_rows)))
    scaling = data.draw(st.sampled_from(["none", "standard", "columns"]))
    try:
        preparation = Preparation(scaling=scaling).fit(table)
    except ValueError:
        with pytest.raises(ValueError, match="No column of the table can be used"):
            Preparation(scaling=scaling).fit(table)
        return
    again = Preparation.from_dict(json.loads(json.dumps(preparation.to_dict(), allow_nan=False)))
    np.testing.assert_array_equal(again.transform(table), preparation.transform(table))
    shuffled = {name: table[name] for name in reversed(names)}
    np.testing.assert_array_equal(again.transform(shuffled), preparation.transform(table))
    assert list(again.get_feature_names_out()) == list(preparation.get_feature_names_out())


def test_sparse_passes_through_sparse():
    X = sp.random_array((50, 8), density=0.3, rng=np.random.default_rng(0), format="csr")
    prepared = Preparation().fit_transform(X)
    assert sp.issparse(prepared)
    np.testing.assert_array_equal(prepared.toarray(), X.toarray())


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(40000, 60), (2000, 1500)])
@pytest.mark.parametrize("share", [0.0, 0.1])
def test_memory_is_within_twice_the_table_and_the_output(share, shape, dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(shape[0], 2)) @ rng.normal(size=(2, shape[1]))
    X = (X + rng.normal(size=shape)).astype(dtype)
    X[rng.random(shape) < share] = np.nan
    tracemalloc.start()
    prepared = Preparation().fit_transform(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert prepared.dtype == dtype
    assert peak < 2 * X.nbytes + prepared.nbytes
