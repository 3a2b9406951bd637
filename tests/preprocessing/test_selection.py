"""The same cut for new data: selections of plain numbers, and their files."""

from __future__ import annotations

import json
import pickle
import re

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.cluster import KMeans

from tamis import MaxVariance
from tamis.preprocessing import Selection

NAMES = ["mass", "size", "speed", "price"]


@pytest.fixture(name="frame")
def a_frame():
    X = np.random.default_rng(0).normal(size=(12, 4)) * [1, 0.1, 3, 2]
    return pd.DataFrame(X, columns=NAMES)


@pytest.fixture(name="selection")
def a_selection(frame):
    selector = MaxVariance(n_features_to_select=2).fit(frame)
    return Selection.from_selector(selector, passthrough=["id"])


def rewritten(selection, **changes):
    """The file with some fields changed, as if it had been written so."""
    from tamis.preprocessing import _selection_file

    contents = json.loads(selection.to_json()) | changes
    contents.pop("checksum")
    whole = {name: value for name, value in contents.items() if value is not ...}
    whole["checksum"] = _selection_file._checksum(whole)
    return json.dumps(whole)


def test_a_selector_says_what_is_kept(selection, frame):
    assert selection.kept == ("speed", "price")
    assert selection.columns == dict.fromkeys(NAMES, "number")
    assert selection.method == "MaxVariance"
    assert selection.parameters["n_features_to_select"] == 2
    np.testing.assert_array_equal(selection.transform(frame), frame[["speed", "price"]])


def test_columns_of_an_array_have_numbers_for_names(frame):
    selection = Selection.from_selector(MaxVariance(n_features_to_select=1).fit(frame.to_numpy()))
    assert selection.kept == ("x2",)
    np.testing.assert_array_equal(selection.transform(frame.to_numpy()), frame[["speed"]])


@pytest.mark.parametrize(
    "make",
    [
        lambda frame: frame,
        lambda frame: pl.DataFrame({name: frame[name].to_numpy() for name in frame}),
        lambda frame: pa.table({name: frame[name].to_numpy() for name in frame}),
        lambda frame: {name: frame[name].to_numpy() for name in frame},
    ],
    ids=["pandas", "polars", "Arrow", "mapping"],
)
def test_tables_with_names_may_be_reordered_and_wider(selection, frame, make):
    table = make(frame.assign(other=1.0)[["other", "price", "speed", "size", "mass"]])
    np.testing.assert_array_equal(selection.transform(table), frame[["speed", "price"]])
    cut = selection.cut(table)
    assert type(cut) is type(table)
    names = cut if isinstance(cut, dict) else nw.from_native(cut).columns
    assert list(names) == ["speed", "price"]


def test_sparse_tables_stay_sparse(selection, frame):
    table = sp.csr_array(frame.to_numpy())
    assert sp.issparse(selection.transform(table))
    np.testing.assert_array_equal(selection.transform(table).toarray(), frame[["speed", "price"]])
    assert sp.issparse(selection.cut(table))


def test_columns_that_belong_to_the_row_come_along_where_they_are(selection, frame):
    assert list(selection.cut(frame, passthrough=True)) == ["speed", "price"]
    with_ids = frame.assign(id=list("abcdefghijkl"))
    assert list(selection.cut(with_ids, passthrough=True)) == ["id", "speed", "price"]


def test_text_comes_back_as_the_same_selection(selection, frame, tmp_path):
    text = selection.to_json(tmp_path / "selection.json")
    assert (tmp_path / "selection.json").read_text(encoding="utf-8") == text
    for source in (text, tmp_path / "selection.json", str(tmp_path / "selection.json")):
        again = Selection.from_json(source)
        assert again.to_json() == text
        np.testing.assert_array_equal(again.transform(frame), selection.transform(frame))


def test_names_of_any_alphabet_are_readable_in_the_file():
    selection = Selection(kept=["Größe"], columns={"Größe": "number", "価格": "number"})
    assert "Größe" in selection.to_json()
    assert Selection.from_json(selection.to_json()).columns == selection.columns


def test_the_layout_of_the_file_does_not_matter(selection):
    contents = dict(reversed(json.loads(selection.to_json()).items()))
    assert Selection.from_json(json.dumps(contents, indent=8)).kept == selection.kept


def test_a_pipeline_does_the_same(selection, frame):
    pipeline = selection.to_pipeline()
    expected = selection.transform(frame)
    np.testing.assert_array_equal(pipeline.transform(frame), expected)
    np.testing.assert_array_equal(pipeline.transform(frame[NAMES[::-1]]), expected)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(pipeline)).transform(frame), expected)
    np.testing.assert_array_equal(clone(pipeline).fit(frame * 2).transform(frame), expected)
    pipeline.steps.append(("model", KMeans(2, n_init=1, random_state=0)))
    assert pipeline.fit(frame).predict(frame).shape == (12,)


def test_lines_of_pandas_do_the_same(selection, frame):
    variables = {"table": frame[NAMES[::-1]]}
    exec(selection.to_pandas(), variables)
    pd.testing.assert_frame_equal(variables["small"], frame[["speed", "price"]])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: t.drop(columns="price"), "the table has no column 'price'; give"),
        (
            lambda t: t.rename(columns={"price": "Price "}),
            "the table has no column 'price' (did you mean Price ?)",
        ),
        (lambda t: t.assign(price="dear"), "column 'price' holds String, but numbers when"),
        (
            lambda t: t.assign(price=pd.Timestamp("2024-01-01")),
            "column 'price' holds Datetime",
        ),
        (lambda t: t.assign(price=np.nan), "missing or infinite values in column 'price', in 12"),
        (lambda t: t.assign(price=np.inf), "missing or infinite values in column 'price', in 12"),
        (lambda t: t.to_numpy()[:, 1:], "has 3 columns without names, but the selection was made"),
        (lambda t: t["price"].to_numpy(), "of shape (12,) is no table"),
        (
            lambda t: {name: t[name].to_numpy() for name in t} | {"price": np.array(["x"] * 12)},
            "column 'price' holds text, but numbers",
        ),
    ],
)
def test_a_table_of_other_columns_gets_a_clear_answer(selection, frame, change, said):
    with pytest.raises(ValueError, match=re.escape(said)) as caught:
        selection.transform(change(frame))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "this is no JSON"),
        ("{" * 100_000, "this is no JSON"),
        ('{"a":' * 100_000, "nested too deeply"),
        ('{"a": 1, "a": 2}', "a name occurs twice"),
        ('{"a": NaN}', "NaN is not JSON"),
        ('{"a": 1e999}', "too large a number"),
        ('{"format": "tamis report"}', "this is JSON, but no selection"),
        ("{}", "this is JSON, but no selection"),
    ],
)
def test_what_is_no_selection_is_refused(text, said):
    with pytest.raises(ValueError, match=re.escape(said)) as caught:
        Selection.from_json(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"version": 2}, "of version 2 of the format, written by tamis"),
        ({"version": True}, "of version True"),
        ({"version": "1"}, "of version 1 of the format"),
        ({"kept": ...}, "'kept' is missing"),
        ({"kept": "speed"}, "'kept' must be a list"),
        ({"kept": [1]}, "'kept' must hold nothing but text"),
        ({"kept": []}, "must keep at least one column"),
        ({"kept": ["speed", "speed"]}, "kept lists column 'speed' twice"),
        ({"kept": ["sped"]}, "which the columns of the selection lack"),
        ({"columns": {"speed": 1}}, "'columns' must hold nothing but text"),
        ({"columns": {"speed": "category", "price": "number"}}, "without a preparation"),
        ({"passthrough": ["speed"]}, "both list column 'speed'"),
        ({"command": "rm -rf"}, "'command' has no meaning in a selection"),
        ({"preparation": []}, "'preparation' must be an object"),
        ({"tamis": None}, "'tamis' must be text"),
    ],
)
def test_files_that_were_made_up_are_refused(selection, changes, said):
    with pytest.raises(ValueError, match=re.escape(said)) as caught:
        Selection.from_json(rewritten(selection, **changes))
    assert "\n" not in str(caught.value)


def test_a_file_that_was_edited_is_refused(selection, tmp_path):
    path = tmp_path / "selection.json"
    path.write_text(selection.to_json().replace('"price"\n', '"size"\n'))
    with pytest.raises(ValueError, match="changed after it was written; save the selection again"):
        Selection.from_json(path)


def test_a_file_that_is_no_text_is_refused(tmp_path):
    (tmp_path / "model.pkl").write_bytes(pickle.dumps({"format": "tamis selection"}))
    with pytest.raises(ValueError, match=r"not text|no JSON"):
        Selection.from_json(tmp_path / "model.pkl")


def test_a_file_larger_than_any_selection_is_refused(monkeypatch, selection, tmp_path):
    from tamis.preprocessing import _selection_file

    monkeypatch.setattr(_selection_file, "MOST_BYTES", 100)
    selection.to_json(tmp_path / "selection.json")
    for source in (tmp_path / "selection.json", selection.to_json()):
        with pytest.raises(ValueError, match="larger than"):
            Selection.from_json(source)
