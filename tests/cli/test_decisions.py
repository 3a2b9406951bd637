"""What ``tamis select`` finds out by itself, and how it says so."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from tamis import Auto


@pytest.fixture
def grouped(blobs, tmp_path):
    """Three clusters, with a constant, a copy, its negative, and 36 columns of noise."""
    frame = blobs.assign(flat=3.0, again=2 * blobs.gene0 + 1, negative=-blobs.gene0)
    frame.to_csv(tmp_path / "grouped.csv", index=False)
    return frame


def test_without_options_the_number_is_found(run, grouped):
    found = json.loads(run("select", "grouped.csv", "--json").stdout)
    auto = Auto().fit(grouped)
    assert found["number_found"]
    assert found["n_features"] == found["n_kept"] == auto.get_support().sum() < 43
    assert {entry["name"] for entry in found["kept"]} == set(auto.get_feature_names_out())
    assert found["n_clusters"] == auto.n_clusters_
    assert found["scaling"] == auto.scaling_
    assert found["scaling_reason"] == auto.scaling_reason_
    assert found["structure"] == auto.structure_
    assert found["candidates"] == auto.candidates_
    assert found["curve"] == {name: list(values) for name, values in auto.curve_.items()}
    assert [row["reason"] for row in found["reasons"]] == list(auto.reasons()["reason"])
    assert [row["column"] for row in found["reasons"]] == list(grouped.columns)


def test_the_decisions_and_reasons_are_said(run, grouped):
    said = run("select", "grouped.csv").stdout
    auto = Auto().fit(grouped)
    n_kept = auto.get_support().sum()
    assert "Structure: the columns know more of each other than if" in said
    assert "Scaling: every column is " in said
    assert "; the columns are of one unit" in said
    assert f"Groups: {auto.n_clusters_} were found" in said
    assert f"Number: {n_kept} of 43 columns; the number was found" in said
    assert "tells group " in said
    assert "Not kept: 1 does not vary, 2 are copies of kept ones, " in said


def test_a_number_and_groups_that_are_asked_for(run, grouped):
    said = run("select", "grouped.csv", "-k", 3, "--clusters", 3).stdout
    assert "Groups: 3, as asked for." in said
    assert "Number: 3 of 43 columns, as asked for" in said
    found = json.loads(run("select", "grouped.csv", "-k", 3, "--clusters", 3, "--json").stdout)
    assert (found["n_kept"], found["n_clusters"], found["number_found"]) == (3, 3, False)
    assert sum(row["kept"] for row in found["reasons"]) == 3


def test_other_methods_decide_nothing(run, grouped):
    result = run("select", "grouped.csv", "-m", "max_variance", "--json")
    found = json.loads(result.stdout)
    assert not {"n_features", "structure", "reasons"} & set(found)
    assert found["n_kept"] == 10
    assert "Keeps 10 columns" in run("select", "grouped.csv", "-m", "max_variance").stdout


def test_noise_is_called_so_and_kept_whole(run, tmp_path):
    noise = np.random.default_rng(0).normal(size=(80, 9))
    pd.DataFrame(np.c_[noise, np.ones(80)]).to_csv(tmp_path / "noise.csv", index=False)
    result = run("select", "noise.csv", "--header")
    assert result.stderr.startswith("warning: Auto finds no structure")
    assert "There is nothing to choose by: all columns that vary are kept." in result.stdout
    assert "Number: 9 of 10 columns: all that vary, for want of structure." in result.stdout
    assert "tells group" not in result.stdout
    assert "Not kept: 1 does not vary." in result.stdout


@pytest.mark.parametrize(
    ("X", "options", "n_kept"),
    [
        (np.random.default_rng(0).normal(size=(2, 5)), (), 5),
        (np.random.default_rng(0).normal(size=(3, 5)), ("-k", 2), 2),
        (np.repeat(np.random.default_rng(0).normal(size=(30, 1)), 4, axis=1), (), 1),
        (np.c_[np.random.default_rng(0).normal(size=30), np.ones((30, 2))], (), 1),
        (np.c_[np.random.default_rng(0).normal(size=(30, 2)), np.ones((30, 2))], ("-k", 3), 3),
        (np.random.default_rng(0).normal(size=(30, 4)), ("--clusters", 1), 4),
        (np.random.default_rng(0).normal(size=(30, 4)), ("--clusters", 30), 4),
    ],
    ids=["two rows", "three rows", "copies", "one varies", "k above", "one group", "all groups"],
)
def test_awkward_tables_have_an_answer(run, tmp_path, X, options, n_kept):
    np.save(tmp_path / "table.npy", X)
    result = run("select", "table.npy", *options, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["n_kept"] == n_kept
    assert [row["kept"] for row in found["reasons"]].count(True) == n_kept
    said = run("select", "table.npy", *options)
    assert said.exit_code == 0, said.output
    assert "Number: " in said.stdout


def test_more_groups_than_rows_are_refused(refused, tmp_path):
    np.save(tmp_path / "table.npy", np.random.default_rng(0).normal(size=(5, 4)))
    line = refused("select", "table.npy", "--clusters", 9)
    assert "n_clusters=9 is too large for n_samples=5; use at most 5" in line
