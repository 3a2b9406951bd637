"""The experiments of the TRACK paper: its claims in both directions, its figures, a tiny run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from tamis import datasets, reproduction
from tamis.evaluation import preparation
from tamis.evaluation.protocol import Protocol
from tamis.evaluation.results import Record, Results
from tamis.reproduction import projection
from tamis.reproduction.papers import track
from tamis.reproduction.tables import PaperTable

TWO = (track.OURS, track.PRINTED)
Line = Callable[[str, float | None, int], float]  # label, γ, number of features


def results_of(line: Line, name: str = "jaffe") -> Results:
    """Results on one set in which a method scores `line`, by every measure alike."""
    records = []
    for candidate in track.CANDIDATES:
        for setting in candidate.settings(tuned=True):
            gamma = setting.get("gamma")
            rows = [
                {"n_features": n, "measure": m, "values": [line(candidate.label, gamma, n)]}
                for n in track.NUMBERS
                for m in track.MEASURES
            ]
            key = {"label": candidate.label, "method": candidate.method, "parameters": setting}
            records.append(Record({"set": name, **key}, rows))
    rows = [{"n_features": 1024, "measure": m, "values": [0.5]} for m in track.MEASURES]
    key = {"set": name, "label": "All features", "method": "all_features", "parameters": {}}
    return Results([*records, Record(key, rows)], {"tuning": "oracle"})


def as_the_paper_says(label: str, gamma: float | None, number: int) -> float:
    place = ("SPEC", "LS", "MaxVar", "ldaKm", "MCFS", *TWO).index(label)
    return 0.42 + 0.02 * place + number / 5000


def the_other_way_round(label: str, gamma: float | None, number: int) -> float:
    away = 0.0 if gamma is None else 0.02 * (np.log10(gamma) + 4)
    return 0.5 - as_the_paper_says(label, gamma, number) / 2 - away


def words(results: Results) -> PaperTable:
    return track.tables(results)[0]


def verdicts(results: Results, name: str) -> dict[str, str]:
    head = track.SETS[name]
    return {row: c.verdict for (row, column), c in words(results).cells.items() if column == head}


# ------------------------------------------------------------------------------------------------
# Claims
# ------------------------------------------------------------------------------------------------


def test_the_protocol_is_the_papers():
    assert tuple(10.0**power for power in range(-4, 5)) == track.GAMMAS
    assert tuple(range(10, 101, 10)) == track.NUMBERS
    assert track.EXPERIMENT.protocol.n_repeats == 20
    assert track.EXPERIMENT.protocol.tuning == "oracle"
    assert list(track.MEASURES) == ["kmeans_acc", "kmeans_nmi_max", "kmeans_purity"]
    assert datasets.entry("orl_644").n_features == 644
    titles = [table.title.split(".")[0] for table in track.tables(Results([]))[1:]]
    assert titles == [f"Figure {number}" for number in range(1, 10)]


def test_results_as_the_paper_has_them_bear_out_its_words():
    found = verdicts(results_of(as_the_paper_says), "jaffe")
    assert len(found) == 16
    assert set(found.values()) == {"reproduced"}


def test_results_the_other_way_round_refute_them():
    found = verdicts(results_of(the_other_way_round), "jaffe")
    assert len(found) == 16
    assert set(found.values()) == {"lower"}


def test_one_number_at_which_track_is_behind_is_enough():
    def line(label: str, gamma: float | None, number: int) -> float:
        behind = label == "TRACK" and number == 70
        return as_the_paper_says(label, gamma, number) - 0.03 * behind

    found = results_of(line)
    assert verdicts(found, "jaffe")["TRACK not below MCFS"] == "lower"
    assert verdicts(found, "jaffe")["TRACK not below SPEC"] == "reproduced"
    share = words(found).cells["TRACK not below MCFS", "JAFFE"].ours
    assert share is not None
    assert share.mean == pytest.approx(0.9)


@pytest.mark.parametrize(("drop", "verdict"), [(0.04, "reproduced"), (0.06, "lower")])
def test_sensitivity_is_a_matter_of_five_points(drop, verdict):
    def line(label: str, gamma: float | None, number: int) -> float:
        return as_the_paper_says(label, gamma, number) - drop * (gamma == 1e4)

    claim = "TRACK within 5 points of its best γ"
    assert verdicts(results_of(line), "jaffe")[claim] == verdict


def test_all_features_may_be_reached_from_20_to_50_features_only():
    def line(label: str, gamma: float | None, number: int) -> float:
        return 0.6 if number > 50 else 0.4

    claim = "TRACK reaches all features with 20 to 50"
    assert verdicts(results_of(line), "jaffe")[claim] == "lower"
    assert verdicts(results_of(lambda *_: 0.5), "jaffe")[claim] == "reproduced"


def test_a_set_that_is_not_at_hand_has_no_data():
    results = results_of(as_the_paper_says)
    assert set(verdicts(results, "xm2vts").values()) == {"no data"}
    figure_5 = track.tables(results)[5]
    assert "XM2VTS" in figure_5.title
    assert set(figure_5.verdicts) == {"no data"}


@pytest.mark.parametrize("sign", [1, -1])
def test_planes_are_compared_by_how_the_classes_part(sign):
    heights = {
        "MaxVar": 0,
        "LS": 1,
        "SPEC": 2,
        "All features": 3,
        "MCFS": 4,
        "ldaKm": 5,
        "TRACK": 6,
        "TRACK as printed": 7,
    }
    results = Results(
        Record(
            {
                "set": track.PROJECTED,
                "label": projection.projection_label(label),
                "method": "max_variance",
                "parameters": {},
            },
            [{"n_features": 30, "measure": "silhouette", "values": [sign * height / 10]}],
        )
        for label, height in heights.items()
    )
    found = verdicts(results, track.PROJECTED)
    for claim, verdict in found.items():
        if claim.startswith("Figure 1"):
            assert verdict == ("reproduced" if sign > 0 else "lower")
    for label in TWO:
        assert f"Figure 1: {label} much better than the others" in found


def test_track_as_printed_has_the_number_of_columns_of_the_paper():
    (candidate,) = (one for one in track.CANDIDATES if one.label == track.PRINTED)
    X = np.random.default_rng(0).normal(size=(12, 30))
    for setting in candidate.settings(tuned=True):
        model = candidate.make(setting, n_classes=4, seed=0)
        assert model.ridge == 0
        if setting["gamma"] == 0.1:
            assert model.fit(X).coef_.shape == (30, 4 - 1 + 30 - 12)
            assert model.fit(X[:, :10]).coef_.shape == (10, 4 - 1)
    assert {setting["gamma"] for setting in candidate.settings(tuned=True)} == set(track.GAMMAS)


def test_gamma_is_the_best_by_the_labels_cell_by_cell():
    def line(label: str, gamma: float | None, number: int) -> float:
        best = 1e-4 if number <= 50 else 10.0
        return 0.5 + 0.2 * (gamma == best)

    results = results_of(line)
    figure_4, figure_8 = track.tables(results)[4], track.tables(results)[8]
    for column, gamma in (("ACC 20", 1e-4), ("NMI 100", 10.0)):
        ours = figure_4.cells["TRACK", column].ours
        assert ours is not None
        assert ours.parameters["gamma"] == gamma
        cell = figure_8.cells[f"{gamma:g}", column]
        assert cell.ours is not None
        assert cell.ours.mean == pytest.approx(0.7)
        assert cell.verdict == "–"


# ------------------------------------------------------------------------------------------------
# Runs
# ------------------------------------------------------------------------------------------------


@pytest.fixture
def small_scenes(monkeypatch):
    """A small table in place of MSRC-v1: three classes that 40 of 120 columns tell apart."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    X = rng.normal(size=(60, 120))
    X[:, :40] += 2 * rng.normal(size=(3, 40))[y]
    table = datasets.Dataset("msrc_v1", X, y, datasets.entry("msrc_v1"))
    monkeypatch.setattr(datasets, "load", lambda name: {"msrc_v1": table}[name])
    monkeypatch.setattr(datasets, "available", lambda: ("msrc_v1",))
    grids = {"gamma": (1e-3, 0.1)}
    candidates = tuple(replace(c, grid=grids if c.grid else {}) for c in track.CANDIDATES)
    monkeypatch.setattr(track, "CANDIDATES", candidates)
    preparation._prepared_by_name.cache_clear()
    yield table
    preparation._prepared_by_name.cache_clear()


@pytest.mark.slow
def test_a_tiny_run_end_to_end(small_scenes, tmp_path):
    tiny = replace(
        track.EXPERIMENT,
        quick_protocol=replace(track.EXPERIMENT.quick_protocol, n_repeats=2, n_random=2),
        quick_sets=("msrc_v1", "xm2vts"),
    )
    outcome = reproduction.run(tiny, output=tmp_path, quick=True, progress=False)
    assert outcome.data["failures"] == []
    assert list(outcome.data["absent"]) == ["xm2vts"]
    claims, planes, figure_2, figure_5, figure_6, figure_9 = outcome.tables
    assert claims.columns == ["MSRC-v1", "XM2VTS"]
    assert planes.verdicts == {"–": len(track.METHODS)}
    assert figure_2.verdicts == {"–": 9 * len(track.METHODS)}
    assert set(figure_5.verdicts) == set(figure_9.verdicts) == {"no data"}
    # The planted columns vary most; of those drawn at random two thirds tell nothing.
    drawn = planes.cells["A random subset", "silhouette"].ours  # one draw, and called so
    best = planes.cells["MaxVar", "silhouette"].ours
    assert "±" not in planes.text()
    assert best is not None
    assert drawn is not None
    assert best.mean > drawn.mean
    run = {row for (row, _), cell in figure_6.cells.items() if cell.ours is not None}
    assert run == {"0.001", "0.1"}
    names = {path.name for path in outcome.files}
    assert {f"figure_{n}.{kind}" for n in (1, 2, 6) for kind in ("png", "svg")} <= names
    assert not any(name.startswith(("figure_5", "figure_9")) for name in names)


def test_the_plane_of_all_features_is_that_of_principal_components(small_scenes):
    protocol = Protocol(scaling="none", n_features=(20,), n_repeats=1)
    tasks = projection.projection_tasks("msrc_v1", track.CANDIDATES[:1], 30, protocol)
    assert [task.key["label"] for task in tasks] == [
        "All features, projected",
        "Random subsets, projected",
        "MaxVar, projected",
    ]
    rows = {row["measure"]: row for row in tasks[0].function(**tasks[0].arguments)}
    centred = small_scenes.X - small_scenes.X.mean(axis=0)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    first = np.abs(left[:, 0] * sizes[0])
    np.testing.assert_allclose(np.abs(rows["first"]["values"]), first, rtol=1e-8)
    assert rows["class"]["values"] == small_scenes.y.tolist()
    chosen = tasks[2].function(**tasks[2].arguments)
    assert {row["n_features"] for row in chosen} == {30}
