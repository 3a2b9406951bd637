"""The same cut for new tables with gaps, categories and dates."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from tamis import MaxVariance
from tamis.preprocessing import Preparation, Selection


def messy(n_rows, seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "name": [f"person {seed} {row}" for row in range(n_rows)],
            "mass": rng.normal(70, 9, n_rows),
            "hue": rng.choice(["red", "green", "blue"], n_rows),
            "noise": rng.normal(0, 0.01, n_rows),
            "smokes": rng.choice(["yes", "no"], n_rows),
            "born": pd.Timestamp("1990-01-01")
            + pd.to_timedelta(rng.integers(0, 3000, n_rows), unit="D"),
        }
    )
    for column in ("mass", "hue", "smokes"):
        frame.loc[rng.choice(n_rows, 4, replace=False), column] = None
    return frame


@pytest.fixture(name="fitted")
def a_fitted_preparation():
    return Preparation().fit(messy(60, 0))


def selection_of(fitted, kept):
    kinds = {name: fitted.kinds_[name] for name in fitted.groups_}
    return Selection(kept=kept, columns=kinds, passthrough=["name"], preparation=fitted)


def test_a_column_is_kept_if_any_that_was_made_of_it_is(fitted):
    X = fitted.transform(messy(60, 0))
    selector = MaxVariance(n_features_to_select=3).fit(X)
    selection = Selection.from_selector(selector, fitted)
    made = np.asarray(fitted.get_feature_names_out())[selector.get_support()]
    assert set(selection.kept) == {
        name for name, outputs in fitted.groups_.items() if set(outputs) & set(made)
    }


def test_another_number_of_columns_is_refused(fitted):
    selector = MaxVariance().fit(np.diag([1.0, 2.0, 3.0]))
    with pytest.raises(ValueError, match="fitted on 3 columns, but the preparation makes"):
        Selection.from_selector(selector, fitted)


@pytest.mark.parametrize("kept", [["mass", "hue"], ["smokes"], ["born", "hue"]])
def test_a_file_gives_the_same_numbers(fitted, kept, tmp_path):
    selection = selection_of(fitted, kept)
    selection.to_json(tmp_path / "selection.json")
    again = Selection.from_json(tmp_path / "selection.json")
    new = messy(30, 1)
    columns = [list(fitted.get_feature_names_out()).index(n) for n in again.get_feature_names_out()]
    expected = fitted.transform(new)[:, columns]
    shuffled = new[list(new)[::-1]]
    for table in (new, shuffled, pl.from_pandas(new)):
        np.testing.assert_array_equal(again.transform(table), expected)
    np.testing.assert_array_equal(again.to_pipeline().transform(shuffled), expected)
    assert list(again.cut(shuffled, passthrough=True)) == ["name", *kept]


@pytest.mark.parametrize("missing", ["impute", "drop-rows"])
def test_lines_of_pandas_do_the_same(missing):
    fitted = Preparation(missing=missing).fit(messy(60, 0).drop(columns="born"))
    selection = selection_of(fitted, ["mass", "hue", "smokes"])
    new = messy(30, 1)
    variables = {"table": new}
    exec(selection.to_pandas(), variables)
    assert list(variables["small"]) == selection.get_feature_names_out().tolist()
    np.testing.assert_array_equal(variables["small"], selection.transform(new))


def test_what_takes_more_than_a_few_lines_of_pandas_says_so(fitted):
    with pytest.raises(ValueError, match="dates become cycles, which takes more than a few lines"):
        selection_of(fitted, ["born"]).to_pandas()
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2)) @ rng.normal(size=(2, 25)) + 0.1 * rng.normal(size=(50, 25))
    X[3, 4] = np.nan
    wide = Preparation().fit(X)
    with pytest.raises(ValueError, match="by what the other columns tell"):
        selection_of(wide, [next(iter(wide.groups_))]).to_pandas()


def test_a_new_table_of_other_columns_gets_a_clear_answer(fitted):
    selection = selection_of(fitted, ["mass", "hue"])
    new = messy(30, 1)
    with pytest.raises(ValueError, match="did you mean"):
        selection.transform(new.rename(columns={"mass": "Mass"}))
    with pytest.raises(ValueError, match="'mass' held numbers when fitted"):
        selection.transform(new.assign(mass="heavy"))


def test_a_made_up_preparation_is_refused(fitted):
    from tamis.preprocessing import _selection_file

    whole = json.loads(selection_of(fitted, ["mass"]).to_json())
    whole["preparation"]["readings"]["mass"] = {"__reduce__": "os.system"}
    whole.pop("checksum")
    whole["checksum"] = _selection_file._checksum(whole)
    with pytest.raises(ValueError, match="the selection: ") as caught:
        Selection.from_json(json.dumps(whole))
    assert "\n" not in str(caught.value)


def test_columns_that_the_preparation_does_not_make_are_refused(fitted):
    kinds = {name: fitted.kinds_[name] for name in fitted.groups_}
    with pytest.raises(ValueError, match="which is not what its preparation makes of it"):
        Selection(kept=["mass"], columns=kinds | {"mass": "category"}, preparation=fitted)
    with pytest.raises(ValueError, match="not those of its preparation"):
        Selection(kept=["mass"], columns={"mass": "number"}, preparation=fitted)
