from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tamis import registry, reproduction
from tamis.reproduction import auto
from tamis.reproduction.leaderboard import (
    CLUSTERED,
    EXPERIMENT,
    PROTOCOL,
    QUICK_CLUSTERED,
    QUICK_PROTOCOL,
    TOLD_LABEL,
    candidates,
    eligible,
    tables,
)
from tamis.reproduction.leaderboard_rows import MEASURES


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


def test_every_method_ranks_on_the_scale_that_it_is_recommended_for():
    for one in candidates():
        assert (one.scaling or PROTOCOL.scaling) == registry.get(one.method).scaling
    scales = {one.method: one.scaling for one in candidates()}
    # What has not changed keeps its fingerprint in earlier journals.
    assert scales["mrsf"] is scales["m3fs"] is None
    assert scales["cufs"] == scales["jdlufs"] == "columns"
    assert scales["max_variance"] == scales["auto"] == "none"


def test_judging_is_the_same_for_all_and_not_under_the_limit():
    assert PROTOCOL.scaling == QUICK_PROTOCOL.scaling == "standard"
    assert set(PROTOCOL.classifiers) == {"5nn", "rf"}
    assert EXPERIMENT.limited_part == "fit"
    assert f"small ({PROTOCOL.n_trees} trees" in EXPERIMENT.about


def test_auto_is_clustered_as_the_leaderboard_is():
    """Its journals are those of a protocol without classifiers."""
    assert auto.EXPERIMENT.protocol == CLUSTERED
    assert auto.EXPERIMENT.quick_protocol == QUICK_CLUSTERED
    assert replace(PROTOCOL, classifiers=(), n_trees=100, n_random_classified=None) == CLUSTERED


def test_tables_show_every_method_and_set(leaderboard_results):
    standing, means, times, *by_set = tables(leaderboard_results)
    assert [table.on_second_page for table in (standing, means, times)] == [False] * 3
    assert len(by_set) == len(MEASURES)
    for table in (standing, means, times, *by_set):
        for words in (table.text(), table.markdown()):
            assert "Fragile" in words
        json.dumps(table.as_dict(), allow_nan=False)
    for table in by_set:
        assert table.on_second_page
        assert table.columns == ("Method", "set0", "set1", "set2", "set3")
        assert "–" in next(row for row in table.rows if row[0] == "Fragile")
        widths = {len(line) for line in table.markdown().splitlines() if line.startswith("|")}
        assert len(widths) == 1


def test_tables_by_set_fit_a_page(leaderboard_of):
    names = {"All features": [0.5] * 23, "Random subsets": [0.4] * 23}
    _, _, _, *by_set = tables(leaderboard_of(names))
    assert {len(table.columns) for table in by_set} == {11, 4}
    shown = [name for table in by_set[:3] for name in table.columns[1:]]
    assert shown == [f"set{i}" for i in range(23)]


def test_the_table_of_run_times_leaves_out_the_baselines(leaderboard_results):
    times = tables(leaderboard_results)[2]
    assert {row[0] for row in times.rows} == {"Good", "Bad", "Fragile"}
    fragile = next(row for row in times.rows if row[0] == "Fragile")
    assert fragile[1:] == ("standard", "0.50", "0.50", "set0", "0", "1")
    assert "0 of 12 runs (0.0 %)" in times.note


def test_the_note_says_over_how_many_sets_means_are(leaderboard_results):
    standing, means, *_ = tables(leaderboard_results)
    assert "over the 3 of 4 sets" in means.note
    assert "other samples" in standing.note
    assert "A dash in the brackets" not in standing.note
    assert [f"by {one.head}" for one in MEASURES] == list(standing.columns[2:7])
    assert "(3 : 1)" in standing.text()


def test_brackets_have_a_dash_where_no_test_could_show_anything(leaderboard_of):
    results = leaderboard_of(
        {"All features": [0.5] * 3, "Random subsets": [0.4] * 3, "Good": [0.9] * 3}, 5
    )
    standing, *_ = tables(results)
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
    for name in ("acc", "nmi", "ari", "5nn", "rf"):
        for ending in ("png", "svg"):
            assert (folder / f"critical_difference_{name}.{ending}").stat().st_size > 1000
    second = (folder / "leaderboard_by_set.md").read_text()
    assert "(leaderboard_by_set.md)" in (folder / "leaderboard.md").read_text()
    assert "Accuracy of a random forest, %: breast\\_cancer" in second
    assert "Accuracy of a random forest" not in outcome.text
    assert str(folder / "leaderboard_by_set.md") in map(str, outcome.files)
    assert "Standings on 1 sets" in outcome.text
    assert EXPERIMENT.time_limit
