"""Selectors of other packages on the command line, and tables for papers."""

from __future__ import annotations

import json
import sys

import pandas as pd
import pytest
from references.tables import planted_groups


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    X, _ = planted_groups()
    pd.DataFrame(X).add_prefix("x").to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "my_scores.py").write_text(
        "import numpy as np\n\ndef spread(X):\n    return np.ptp(X, axis=0)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield
    sys.modules.pop("my_scores", None)


COMPARE = ("compare", "data.csv", "-k", "6", "--repeats", "2", "--scale", "none")


def test_a_function_by_name_beside_the_methods(run):
    result = run(*COMPARE, "-m", "max_variance,my_scores:spread", "--json")
    assert result.exit_code == 0, result.output
    lines = {line["method"]: line for line in json.loads(result.stdout)["methods"]}
    assert set(lines) == {"all_features", "random_subset", "max_variance", "my_scores:spread"}
    assert set(lines["my_scores:spread"]["selected"]) == set(range(6))


@pytest.mark.parametrize(
    ("form", "wanted"), [("markdown", "| method "), ("latex", r"\begin{tabular}{lr")]
)
def test_the_table_alone_for_a_paper(run, form, wanted):
    result = run(*COMPARE, "-m", "max_variance", "--table", form)
    assert result.exit_code == 0, result.output
    assert wanted in result.stdout
    assert "Overlap of the selections" not in result.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((*COMPARE, "-m", "my_scores:sprea"), "my_scores has no 'sprea' (did you mean spread?)"),
        ((*COMPARE, "-m", "nowhere:f"), "there is no module 'nowhere'"),
        ((*COMPARE, "--table", "latex", "--json"), "--table and --json are two forms of one"),
        (("select", "data.csv", "-m", "my_scores:spread"), "tamis compare and tamis bench"),
        (("bench", "jelsr", "-m", "my_scores:spread"), "nobody else joins it; the leaderboard"),
    ],
)
def test_what_cannot_take_part_is_told_in_a_line(refused, arguments, words):
    assert words in refused(*arguments)
