"""select, save and apply: the same columns and values of a new file as in Python."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from tamis.preprocessing import Selection


@pytest.fixture
def saved(run, wine_csv):
    """A selection of wine, and a new file of other rows and another order of columns."""
    result = run(
        "select",
        wine_csv,
        "-m",
        "max_variance",
        "-k",
        4,
        "--labels",
        "cultivar",
        "--save",
        "s.json",
    )
    assert result.exit_code == 0, result.output
    assert "Wrote s.json" in result.stdout
    return wine_csv.parent / "s.json"


@pytest.fixture
def new(wine, tmp_path):
    frame = wine.sample(40, random_state=1)[list(wine)[::-1]]
    frame.to_csv(tmp_path / "new.csv", index=False)
    return frame


@pytest.mark.parametrize("raw", [False, True])
def test_a_new_file_is_cut_as_in_python(run, saved, new, tmp_path, raw):
    options = ["--raw"] if raw else []
    result = run("apply", saved, "new.csv", "-o", "small.csv", *options)
    assert result.exit_code == 0, result.output
    selection = Selection.from_json(saved)
    small = pd.read_csv(tmp_path / "small.csv")
    assert list(small) == ["cultivar", *selection.kept]  # the labels belong to the row
    np.testing.assert_array_equal(small["cultivar"], new["cultivar"])
    small = small[list(selection.kept)]
    np.testing.assert_array_equal(small, selection.transform(new))
    np.testing.assert_array_equal(small, new[list(selection.kept)])


def test_the_columns_are_those_that_select_writes(run, saved, wine_csv, tmp_path):
    options = ("-m", "max_variance", "-k", 4, "--labels", "cultivar")
    run("select", wine_csv, *options, "-o", "selected.csv")
    run("apply", saved, wine_csv, "--raw", "--labels", "cultivar", "-o", "applied.csv")
    assert (tmp_path / "selected.csv").read_text() == (tmp_path / "applied.csv").read_text()


def test_json_and_standard_output(run, saved, new, tmp_path):
    found = json.loads(run("apply", saved, "new.csv", "-o", "small.csv", "--json").stdout)
    assert found["n_samples"] == 40
    assert found["columns"] == list(Selection.from_json(saved).kept)
    text = run("apply", saved, "new.csv", "-o", "-").stdout
    assert text == (tmp_path / "small.csv").read_text()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace('"proline"\n', '"hue"\n'), "changed after it was written"),
        (lambda text: text.replace('"version": 1', '"version": 7'), "of version 7 of the format"),
        (lambda text: "{" + text, "this is no JSON"),
        (lambda text: text[:100], "this is no JSON"),
        (lambda text: '{"a": [' * 50_000, "nested too deeply"),
        (lambda text: "[]", "no selection"),
    ],
)
def test_a_selection_that_cannot_be_trusted(refused, saved, new, change, said):
    saved.write_text(change(saved.read_text()))
    assert said in refused("apply", saved, "new.csv", "-o", "small.csv")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda new: new.drop(columns="proline"), "the table has no column 'proline'"),
        (
            lambda new: new.rename(columns={"proline": "Proline"}),
            "the table has no column 'proline' (did you mean Proline?)",
        ),
        (lambda new: new.assign(proline="much"), "proline"),
    ],
)
@pytest.mark.parametrize("options", [(), ("--raw",)])
def test_a_table_of_other_columns(refused, saved, new, tmp_path, change, said, options):
    change(new).to_csv(tmp_path / "new.csv", index=False)
    if options and "much" in (tmp_path / "new.csv").read_text():
        return  # as it is, whatever it is
    assert said in refused("apply", saved, "new.csv", "-o", "small.csv", *options)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("apply", "no.json", "new.csv", "-o", "small.csv"), "no.json: there is no such file"),
        (("apply", "s.json", "no.csv", "-o", "small.csv"), "no.csv: there is no such file"),
        (("apply", "s.json", "new.csv", "-o", "new.csv"), "new.csv is the input"),
        (("apply", "s.json", "new.csv", "-o", "s.json"), "s.json"),
        (("apply", "s.json", "new.csv", "-o", "nowhere/s.csv"), "does not exist"),
        (("apply", "s.json", "new.csv", "-o", "small.xyz"), "no known format"),
        (("apply", "s.json", "new.csv"), "--output"),
        (("select", "new.csv", "--save", "s.pkl"), "a selection is a JSON file"),
        (("select", "new.csv", "--save", "nowhere/s.json"), "does not exist"),
    ],
)
def test_arguments_that_make_no_sense(refused, saved, new, arguments, said):
    assert said in refused(*arguments)
