"""``tamis select`` on tables that are read in blocks."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from tamis import MRSF, io


@pytest.fixture(name="parts")
def parts_fixture(blobs, tmp_path):
    """The blobs, six times over, in three files with a column of text."""
    for part in range(3):
        rows = pd.concat([blobs, blobs], ignore_index=True).assign(name="a")
        rows.to_parquet(tmp_path / f"part-{part}.parquet", row_group_size=50)
    return "*.parquet"


def test_a_pattern(run, parts, tmp_path):
    result = run("select", parts, "--memory", "32MB", "-k", 4, "--drop", "name", "-m", "mrsf")
    assert result.exit_code == 0, result.output
    first, scale, method, number, *_ = result.stdout.splitlines()
    assert "360 rows × 40 columns, read in 9 blocks" in first
    assert "standardised" in scale
    assert method == "Method: mrsf, as asked for."
    assert number == "Keeps 4 columns: as asked for."
    assert "goes on from it" in result.stderr
    assert list(tmp_path.glob("*.checkpoint")) == []


def test_json_and_a_ranking(run, parts, tmp_path):
    result = run(
        *("select", ".", "--numeric-only", "-m", "mrsf", "-k", 4, "--json"),
        *("--ranking", "ranking.csv"),
    )
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    table = io.open(tmp_path / "*.parquet", numeric_only=True, scaling="standard")
    expected = MRSF(4).fit(table)
    assert {one["name"] for one in told["kept"]} == set(expected.get_feature_names_out())
    assert told["notes"][-1] == "Left out, since not of numbers: name."
    ranking = pd.read_csv(tmp_path / "ranking.csv")
    np.testing.assert_allclose(np.sort(ranking["score"])[::-1], np.sort(expected.scores_)[::-1])


def test_nothing_to_tune(run, parts, blobs):
    command = ("select", parts, "--drop", "name", "--json")
    result = run(*command)
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["method"] == "auto"
    assert told["structure"]["found"]
    assert told["n_kept"] == len(told["kept"]) == told["n_features"]
    told = run(*command[:-1]).stdout
    assert "Structure: the columns know more of each other" in told
    assert "in refits" in told


def test_other_methods_and_scales(run, parts):
    keep = ("--drop", "name", "--keep", "gene7", "-k", 3, "--json")
    result = run("select", parts, "-m", "column_subset", "--scale", "none", *keep)
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["kept"][0]["name"] == "gene7"
    assert told["scaling"] == "none"


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ((), "column 'name' holds text, not numbers; leave it out with --drop NAME"),
        (("--drop", "nome"), "there is no column 'nome' to drop; did you mean 'name'?"),
        (("--drop", "name", "-m", "udfs"), "udfs needs all rows"),
        (("--drop", "name", "-k", "99"), "-k 99 is more than the 40 columns"),
        (("--report", "why.html"), "--report needs the whole table in memory"),
        (("-o", "out.csv"), "--output needs the whole table in memory"),
        (("--memory", "much"), "memory='much' is no amount"),
    ],
)
def test_what_is_refused(run, parts, arguments, what):
    result = run("select", parts, *arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert what in result.stderr.splitlines()[-1]


def test_files_that_are_not_there(refused):
    assert "none.parquet: there is no such file" in refused("select", "none.parquet")
    assert "none-*.parquet: no file matches" in refused("select", "none-*.parquet")
    assert "name it with --memory" in refused("select", "x.csv", "--checkpoint", "kept")


def test_a_gap_in_the_last_part_and_going_on(run, parts, blobs, tmp_path):
    last = tmp_path / "part-2.parquet"
    whole = last.read_bytes()
    pd.read_parquet(last).assign(gene3=np.nan).to_parquet(last, row_group_size=50)
    command = ("select", parts, "-m", "mrsf", "-k", 4, "--drop", "name", "--json")
    command += ("--checkpoint", "kept")
    result = run(*command)
    assert result.exit_code == 2
    assert "part-2.parquet, row group 0: it contains NaN in column 'gene3'" in result.stderr
    assert (tmp_path / "kept").exists()
    last.write_bytes(whole)
    again = run(*command)
    assert again.exit_code == 0
    assert "Goes on from kept" in again.stderr
    assert not (tmp_path / "kept").exists()
    assert json.loads(again.stdout)["kept"] == json.loads(run(*command).stdout)["kept"]


def test_a_checkpoint_of_something_else(run, parts, tmp_path):
    (tmp_path / "kept").write_text("anything")
    result = run("select", parts, "-m", "mrsf", "--drop", "name", "--checkpoint", "kept")
    assert result.exit_code == 2
    assert "kept: this is no checkpoint of tamis" in result.stderr
    assert (tmp_path / "kept").read_text() == "anything"


def test_no_scheduler(run, parts, monkeypatch):
    from tamis import distributed

    def nobody(*_):
        raise OSError("Timed out trying to connect")

    monkeypatch.setattr(distributed, "on_cluster", nobody)
    result = run("select", parts, "--drop", "name", "--scheduler", "tcp://127.0.0.1:9")
    assert result.exit_code == 2
    assert "--scheduler tcp://127.0.0.1:9: Timed out" in result.stderr
