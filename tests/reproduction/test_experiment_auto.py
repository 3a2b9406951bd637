"""The experiment on Auto: halves, noise, tables of made-up results, a tiny run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

from tamis import datasets, reproduction
from tamis.evaluation import preparation
from tamis.evaluation.results import Record, Results
from tamis.reproduction import auto, auto_runs, auto_tables
from tamis.reproduction.leaderboard import TOLD_LABEL

LABELS = ("Auto", "All features", "Random subsets")


def record(name: str, label: str, rows: Mapping[str, Mapping[int, list[Any]]]) -> Record:
    """A run with these values by measure and number of features."""
    method = "all_features" if label == "All features" else label
    return Record(
        {"set": name, "label": label, "method": method, "parameters": {}},
        [
            {"n_features": number, "measure": measure, "values": values}
            for measure, by_number in rows.items()
            for number, values in by_number.items()
        ],
    )


# ------------------------------------------------------------------------------------------------
# Halves and rows
# ------------------------------------------------------------------------------------------------


def test_halves_have_every_second_name_by_hash():
    first, second = auto_tables.halves(["a", "b", "c"])
    # SHA-256 of b begins with 3e, of c with 2e, of a with ca.
    assert (first, second) == (["c", "a"], ["b"])
    assert auto_tables.halves(["c", "a", "b"]) == (first, second)


def test_the_halves_do_not_depend_on_what_is_available():
    assert len(auto.HALF_A) == len(auto.HALF_B) == 15
    assert {*auto.HALF_A, *auto.HALF_B, *auto.NEVER_SEEN} == set(auto.EXPERIMENT.sets)
    assert "coil20" in auto.HALF_A
    assert "arcene" in auto.HALF_B


def test_one_row_sees_the_number_of_classes_and_the_page_says_so():
    assert auto.labels()[:3] == ["Auto", TOLD_LABEL, "MRSF"]
    assert [one.label for one in auto.candidates() if one.parameters] == [TOLD_LABEL]
    assert f"{TOLD_LABEL} sees the number of classes" in auto.EXPERIMENT.about


def test_there_are_a_hundred_tables_of_noise():
    work = auto.tasks(["sonar", "digits"], auto.EXPERIMENT.protocol)
    noise = [task for task in work if "noise" in task.key]
    assert len(noise) == 100
    assert {task.key["of"] for task in noise} == {None, "sonar", "digits"}
    keys = [json.dumps(task.key, sort_keys=True) for task in work]
    assert len(set(keys)) == len(keys)


def test_tasks_on_a_table_have_a_fingerprint_of_it(monkeypatch):
    found = []
    for sha256 in ("a", "b"):
        copy = datasets.Copy(sha256, None)
        monkeypatch.setattr(preparation.datasets, "local_copy", lambda name, copy=copy: copy)
        work = auto.tasks(["digits"], auto.EXPERIMENT.protocol)
        found.append([t.fingerprint for t in work if "set" in t.key or t.key["of"] is not None])
    assert all(one != other for one, other in zip(*found, strict=True))


# ------------------------------------------------------------------------------------------------
# Noise and numbers
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [np.array, sp.csr_array])
def test_permuted_columns_keep_their_values_and_forget_each_other(make):
    rng = np.random.default_rng(0)
    column = rng.integers(0, 5, (200, 1)).astype(float)
    X = make(np.hstack([column, column, rng.normal(size=(200, 1))]))
    shuffled = auto_runs.permuted(X, rng)
    assert sp.issparse(shuffled) == sp.issparse(X)
    before, after = (table.toarray() if sp.issparse(table) else table for table in (X, shuffled))
    np.testing.assert_array_equal(np.sort(after, axis=0), np.sort(before, axis=0))
    assert abs(np.corrcoef(after[:, 0], after[:, 1])[0, 1]) < 0.3
    assert abs(np.corrcoef(after[:, 2], before[:, 2])[0, 1]) < 0.3


def test_noise_is_the_same_in_every_run_and_differs_between_draws():
    blind = auto.candidates()[0]
    protocol = auto.EXPERIMENT.quick_protocol
    first, again, other = (
        auto_runs.run_noise("normal", None, draw, blind, protocol) for draw in (0, 0, 1)
    )
    assert first == again
    assert first[0]["n_features"] != other[0]["n_features"]


@pytest.mark.parametrize(
    ("n_features", "last", "number"), [(3, 3, 3), (50, 50, 12), (999, 400, 12)]
)
def test_numbers_to_judge_end_with_all_columns_or_400(n_features, last, number):
    numbers = auto_runs.numbers_to_judge(n_features)
    assert numbers == sorted(set(numbers))
    assert (numbers[0], numbers[-1]) == (1, last)
    assert number - 2 <= len(numbers) <= number


# ------------------------------------------------------------------------------------------------
# Tables
# ------------------------------------------------------------------------------------------------


def test_sets_are_won_and_lost_and_tested(leaderboard_of):
    gains = [0.1, 0.2, 0.3, 0.4, -0.05, 0.15]
    results = leaderboard_of(
        {
            "Auto": [0.5 + gain for gain in gains],
            "All features": [0.5] * 6,
            "Random subsets": [0.3] * 6,
        }
    )
    table = auto_tables.record_table(results, LABELS, results.sets, "Sets")
    assert table.title == "Sets: 6 sets"
    row = table.data[0]
    assert row["mean_ACC"] == pytest.approx(0.5 + np.mean(gains), abs=1e-3)
    against = row["ACC_against"]["All features"]
    assert (against["won"], against["lost"]) == (5, 1)
    assert against["p_value"] == pytest.approx(stats.wilcoxon(gains).pvalue)
    assert row["NMI_against"]["Random subsets"]["won"] == 6
    assert "Random subsets" not in table.data[2]["ACC_against"]
    json.dumps(table.as_dict(), allow_nan=False)


def test_a_set_with_a_failure_is_left_out_and_named(leaderboard_of):
    results = leaderboard_of(
        {
            "Auto": [0.9, None, 0.8],
            "All features": [0.5, 0.1, 0.6],
            "Random subsets": [0.4, 0.1, 0.4],
        }
    )
    table = auto_tables.record_table(results, LABELS, results.sets, "Sets")
    assert table.title == "Sets: 2 sets"
    assert table.data[1]["mean_ACC"] == pytest.approx(0.55, abs=1e-2)
    assert "set1" in table.note
    by_set = auto_tables.figures_table(results, LABELS, results.sets, "kmeans_acc")
    assert [row["Auto"] is None for row in by_set.data] == [False, True, False]
    assert "–" in by_set.rows[1]


def number_results(name: str, accuracy: Mapping[int, float], chosen: int, p: float) -> Record:
    rows: dict[str, dict[int, list[Any]]] = {
        "n_clusters": {chosen: [4]},
        "scaling": {chosen: ["pareto"]},
        "p_value": {chosen: [p]},
        "found": {chosen: [int(p < 0.001)]},
        "n_classes": {chosen: [3]},
        "n_usual": {chosen: [1]},
        "kmeans_acc": {number: [value, value] for number, value in accuracy.items()},
    }
    return record(name, auto_runs.NUMBER_LABEL, rows)


def test_the_loss_is_to_the_best_number_of_the_curve():
    results = Results(
        [
            number_results("coil20", {1: 0.2, 10: 0.7, 30: 0.6}, 30, 0.0),
            number_results("arcene", {1: 0.2, 10: 0.5}, 10, 0.0),
            record("coil20", "All features", {"kmeans_acc": {99: [0.4, 0.6]}}),
        ]
    )
    table = auto_tables.number_table(results, results.sets, {"coil20": "A", "arcene": "B"})
    first, second = table.data
    assert (first["n_features"], first["best_n_features"]) == (30, 10)
    assert first["loss"] == pytest.approx(0.1)
    assert first["usual_loss"] == pytest.approx(0.5)
    assert first["n_classes"] == 3
    assert first["all_features"] == pytest.approx(0.5)
    assert (second["loss"], second["all_features"]) == (0, None)
    means = {row[0]: row[8] for row in table.rows[2:]}
    assert means == {
        "mean over half A": "10.0",
        "mean over half B": "0.0",
        "mean over all sets": "5.0",
    }


def test_noise_that_is_called_so_is_counted():
    def noise(kind: str, draw: int, p: float, error: str | None = None) -> Record:
        values = {"p_value": p, "found": int(p < 0.001)}
        rows = [{"n_features": 9, "measure": m, "values": [v]} for m, v in values.items()]
        return Record({"noise": kind, "of": None, "draw": draw}, [] if error else rows, error=error)

    results = Results(
        [
            noise("normal", 0, 0.4),
            noise("normal", 1, 0.0001),
            noise("Cauchy", 0, 0.02),
            noise("Cauchy", 1, 0.5, "ValueError: no"),
            number_results("coil20", {5: 0.3}, 5, 1e-9),
            number_results("arcene", {5: 0.3}, 5, 0.2),
        ]
    )
    table = auto_tables.structure_table(results, results.sets)
    found = {row["tables"]: (row["number"], row["no_structure"]) for row in table.data}
    assert found == {
        "normal": (2, 1),
        "Cauchy": (1, 1),
        "all tables of noise": (3, 2),
        "real sets": (2, 1),
    }
    assert table.note.endswith("Real sets called without structure: arcene.")


# ------------------------------------------------------------------------------------------------
# Runs
# ------------------------------------------------------------------------------------------------


@pytest.fixture
def small_digits(monkeypatch):
    """A small table in place of digits: three classes that 8 of 40 columns tell apart."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 30)
    X = rng.normal(size=(90, 40))
    X[:, :8] += 4 * rng.normal(size=(3, 8))[y]
    table = datasets.Dataset("digits", X, y, datasets.entry("digits"))
    monkeypatch.setattr(datasets, "load", lambda name: {"digits": table}[name])
    monkeypatch.setattr(datasets, "available", lambda: ("digits",))
    preparation._prepared_by_name.cache_clear()
    yield table
    preparation._prepared_by_name.cache_clear()


def test_auto_chooses_the_number_and_every_number_is_judged(small_digits):
    protocol = replace(auto.EXPERIMENT.quick_protocol, n_repeats=2)
    (task,) = auto_runs.number_tasks(["digits"], auto.candidates()[0], protocol)
    rows = task.function(**task.arguments)
    by_measure: dict[str, dict[int, list[Any]]] = {}
    for row in rows:
        by_measure.setdefault(row["measure"], {})[row["n_features"]] = row["values"]
    (chosen,) = by_measure["n_clusters"]
    assert 2 <= chosen <= 12
    assert by_measure["found"][chosen] == [1]
    assert by_measure["n_classes"][chosen] == [3]
    assert by_measure["n_usual"][chosen] == [4]
    assert set(by_measure["kmeans_acc"]) == {*auto_runs.numbers_to_judge(40), 4, chosen}
    assert all(len(values) == 2 for values in by_measure["kmeans_acc"].values())
    assert np.mean(by_measure["kmeans_acc"][chosen]) > 0.9


@pytest.mark.slow
def test_sets_of_ones_own_belong_to_neither_half(monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20)
    np.savez(tmp_path / "mine.npz", X=rng.normal(size=(40, 30)) + 2 * y[:, None], y=y)
    monkeypatch.setenv("TAMIS_DATA", str(tmp_path))
    tiny = replace(
        auto.EXPERIMENT,
        quick_protocol=replace(auto.EXPERIMENT.quick_protocol, n_repeats=2, n_random=1),
    )
    outcome = reproduction.run(
        tiny, output=tmp_path / "out", quick=True, sets=["mine"], progress=False
    )
    assert outcome.data["failures"] == []
    against, _, _, numbers, structure = outcome.data["tables"]
    assert against["title"] == "Other sets: 1 sets"
    assert [row["label"] for row in against["rows"]] == auto.labels()
    assert (numbers["rows"][0]["half"], numbers["rows"][0]["n_classes"]) == ("", 2)
    assert {row["tables"] for row in structure["rows"]} >= {"real sets", auto_runs.PERMUTED}


@pytest.mark.slow
def test_a_tiny_run_end_to_end(small_digits, tmp_path):
    tiny = replace(
        auto.EXPERIMENT,
        quick_protocol=replace(auto.EXPERIMENT.quick_protocol, n_repeats=2, n_random=1),
        quick_sets=("digits", "lung"),
    )
    outcome = reproduction.run(tiny, output=tmp_path, quick=True, progress=False)
    assert outcome.data["failures"] == []
    assert list(outcome.data["absent"]) == ["lung"]
    whole, half, accuracy, _, numbers, structure, fixed = outcome.data["tables"]
    assert half["title"].startswith("Half B")
    assert [row["label"] for row in whole["rows"]] == auto.labels()
    means = accuracy["rows"][0]
    assert means["n_features"] == 4
    assert means["Auto"] > means["Random subsets"]
    assert numbers["rows"][0]["half"] == "B"
    counted = {row["tables"]: row["number"] for row in structure["rows"]}
    assert counted["all tables of noise"] == 5
    assert counted["real sets"] == 1
    assert {row["label"]: row["n_features"] for row in fixed["rows"]} == {
        label: 40 if label == "All features" else 20 for label in auto.labels()
    }
