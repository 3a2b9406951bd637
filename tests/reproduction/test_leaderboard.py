from __future__ import annotations

import json

import pytest

from tamis import registry, reproduction
from tamis.reproduction.leaderboard import EXPERIMENT, TOLD_LABEL, candidates, eligible, tables


def test_every_method_takes_part_as_it_comes():
    assert {c.method for c in candidates()} == set(registry.METHODS) - {"random_subset"}
    defaults = [c for c in candidates() if c.label != TOLD_LABEL]
    assert all(not c.parameters and not c.grid for c in defaults)
    assert len(defaults) == len(registry.METHODS) - 1


def test_auto_has_a_row_that_sees_the_number_of_classes_and_the_page_says_so():
    blind, told = (c for c in candidates() if c.method == "auto")
    assert (blind.label, told.label) == ("Auto", TOLD_LABEL)
    assert blind.scaling == told.scaling == "none"
    (setting,) = told.settings(tuned=False)
    assert told.make(setting, n_classes=7, seed=0).n_clusters == 7
    (setting,) = blind.settings(tuned=False)
    assert blind.make(setting, n_classes=7, seed=0).n_clusters is None
    assert f"{TOLD_LABEL} sees the number of classes" in EXPERIMENT.about


def test_narrow_and_derived_sets_do_not():
    assert eligible(["iris", "digits", "digits1v7"]) == ["digits"]


def test_tables_show_every_method_and_set(leaderboard_results):
    standing, figures = tables(leaderboard_results)
    for table in (standing, figures):
        for words in (table.text(), table.markdown()):
            assert "Fragile" in words
        json.dumps(table.as_dict(), allow_nan=False)
    assert "–" in figures.text()
    widths = {len(line) for line in figures.markdown().splitlines() if line.startswith("|")}
    assert len(widths) == 1


def test_the_note_says_over_how_many_sets_means_are(leaderboard_results):
    standing, _ = tables(leaderboard_results)
    assert "means over the 3 of 4 sets" in standing.note
    assert "other samples" in standing.note
    assert "A dash in the brackets" not in standing.note
    assert "by NMI" in standing.columns
    assert "(3 : 1)" in standing.text()


def test_brackets_have_a_dash_where_no_test_could_show_anything(leaderboard_of):
    results = leaderboard_of(
        {"All features": [0.5] * 3, "Random subsets": [0.4] * 3, "Good": [0.9] * 3}, 5
    )
    standing, _ = tables(results)
    good = next(row for row in standing.rows if row[0] == "Good")
    assert "3 : 0 (–)" in good
    assert "A dash in the brackets" in standing.note
    (data,) = (row for row in standing.as_dict()["rows"] if row["label"] == "Good")
    assert data["surely_beats_all"] is None


def test_what_labels_had_a_hand_in_is_said():
    assert "chosen with labels of these sets" in EXPERIMENT.about
    assert "MRSF" in EXPERIMENT.about


@pytest.mark.slow
def test_it_runs_by_name(tmp_path):
    outcome = reproduction.run(
        "leaderboard", output=tmp_path, quick=True, sets=["breast_cancer"], progress=False
    )
    folder = tmp_path / "leaderboard-quick"
    data = json.loads((folder / "leaderboard.json").read_text())
    assert {row["label"] for row in data["tables"][0]["rows"]} >= {"MRSF", "All features"}
    assert data["made_with"][0]["numpy"]
    for name in ("critical_difference.png", "critical_difference.svg"):
        assert (folder / name).stat().st_size > 1000
    assert "Standings on 1 sets" in outcome.text
    assert EXPERIMENT.time_limit
