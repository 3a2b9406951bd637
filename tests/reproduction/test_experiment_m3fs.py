"""The experiments of the M3FS paper: the transcription, the runs, and the verdict on its words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_digits

from tamis import datasets, reproduction
from tamis.evaluation.protocol import Protocol
from tamis.evaluation.results import Record, Results
from tamis.reproduction import margin_runs
from tamis.reproduction.margin_runs import CASES, NOISY_SET, Case
from tamis.reproduction.papers import m3fs
from tamis.reproduction.published_tables import Printed
from tamis.reproduction.tables import PaperTable

ONCE = Protocol(scaling="unit", n_features=(10,), n_repeats=1)
HEADS = {case.head: name for name, case in CASES.items()}


def record(name: str, label: str, values: Mapping[str, list[float]], **parameters: float) -> Record:
    rows = [{"n_features": 4, "measure": m, "values": found} for m, found in values.items()]
    key = {"set": name, "label": label, "method": "m3fs", "parameters": parameters}
    return Record(key, rows)


def results_of(figure: Callable[[Printed], float]) -> Results:
    """Results made of the paper's own figures, each changed."""
    found = []
    for head, name in HEADS.items():
        for label in m3fs.COLUMNS:
            printed = [
                table.get((head, label), Printed())
                for table in (m3fs.TABLE_2_ACCURACY, m3fs.TABLE_2_RAND)
            ]
            if printed[0].mean is not None:
                values = [[figure(p)] for p in printed]
                found.append(record(name, label, dict(zip(m3fs.MEASURES, values, strict=True))))
        if (head, "subset") in m3fs.TABLE_3_ACCURACY:
            values = [
                [figure(table[head, "subset"])]
                for table in (m3fs.TABLE_3_ACCURACY, m3fs.TABLE_3_RAND)
            ]
            found.append(record(name, m3fs.UNSEEN, dict(zip(m3fs.MEASURES, values, strict=True))))
    return Results(found)


def paper_table(results: Results, start: str) -> PaperTable:
    return next(t for t in m3fs.tables(results) if t.title.startswith(start))


def mean(printed: Printed) -> float:
    assert printed.mean is not None
    return printed.mean


# ------------------------------------------------------------------------------------------------
# Transcription
# ------------------------------------------------------------------------------------------------


def test_figures_are_those_of_the_paper():
    accuracy, rand = m3fs.TABLE_2_ACCURACY, m3fs.TABLE_2_RAND
    assert accuracy["digits0689", "LapKM"].mean == pytest.approx(0.5484)
    assert accuracy["ionosphere", "M3FS"].mean == pytest.approx(0.8557)
    assert accuracy["letterABCD", "FSGMM"].mean == pytest.approx(0.6567)
    assert accuracy["mnist01234", "LapKM"].mean is None
    assert rand["digits1279", "LapMMC"].mean == 0.583
    assert rand["mnist01234", "FSGMM"].mean == 0.811
    assert m3fs.TABLE_3_RAND["letterABCD", "subset"].mean == 0.852


def test_table_3_repeats_table_2():
    for whole, printed in (
        (m3fs.TABLE_2_ACCURACY, m3fs.TABLE_3_ACCURACY),
        (m3fs.TABLE_2_RAND, m3fs.TABLE_3_RAND),
    ):
        heads = {head for head, _ in printed}
        assert heads == {case.head for case in CASES.values() if case.subset is not None}
        for head in heads:
            assert printed[head, "all samples"] == whole[head, "M3FS"]


def test_every_set_is_a_row_of_table_2():
    assert {head for head, _ in m3fs.TABLE_2_ACCURACY} == set(HEADS)
    assert m3fs.TABLE_2_ACCURACY.keys() == m3fs.TABLE_2_RAND.keys()


# ------------------------------------------------------------------------------------------------
# Verdicts
# ------------------------------------------------------------------------------------------------


def test_the_papers_own_figures_reproduce_it_and_bear_out_its_words():
    results = results_of(mean)
    for one in m3fs.tables(results)[:-1]:
        printed = [cell for cell in one.cells.values() if cell.paper is not None and cell.ours]
        assert {cell.verdict for cell in printed} == {"reproduced"}
    words = m3fs.tables(results)[-1]
    verdicts = {cell.verdict for cell in words.cells.values() if cell.dataset != NOISY_SET}
    assert verdicts == {"reproduced"}


def test_a_manifold_term_that_does_harm_refutes_the_paper():
    figures = results_of(mean)
    worse = [
        replace(
            one,
            rows=[{**row, "values": [row["values"][0] - 0.2]} for row in one.rows],
        )
        if one.key["label"] == "M3FS"
        else one
        for one in figures.records
    ]
    words = paper_table(Results(worse), "What the paper says")
    for claim in ("M3FS not below M3FS (λ=0)", "M3FS not below MMC-all"):
        verdicts = {c.verdict for (row, _), c in words.cells.items() if row == claim}
        assert verdicts == {"lower"}
    comparable = "M3FS (λ=0) comparable to MMC-all"
    assert {c.verdict for (row, _), c in words.cells.items() if row == comparable} == {"reproduced"}
    assert paper_table(Results(worse), "Table 2. Cl").cells["digits1279", "M3FS"].verdict == "lower"


@pytest.mark.parametrize(("noise", "silent"), [(0.0, True), (1e-9, True), (0.2, False)])
def test_noise_with_saliency_is_noticed(noise, silent):
    values = [1.0] * 4 + [0.0] * 9 + [noise]
    results = Results(
        record(NOISY_SET, label, {"saliency": values}) for label in m3fs.SALIENCY_LABELS
    )
    words = paper_table(results, "What the paper says")
    found = {
        row: cell.verdict for (row, _), cell in words.cells.items() if cell.dataset == NOISY_SET
    }
    assert found == {
        "M3FS, 3 clusters: all noise has saliency 0": "reproduced" if silent else "lower",
        "M3FS, 2 clusters: all noise has saliency 0": "reproduced" if silent else "lower",
        "Laplacian score: some noise has saliency": "lower" if silent else "reproduced",
        "FSGMM: some noise has saliency": "lower" if silent else "reproduced",
    }


def test_the_bound_is_the_best_setting_and_says_that_labels_chose_it():
    settings = [
        record("ionosphere", m3fs.GRID_LABEL, {"accuracy": [value]}, C=C)
        for C, value in ((1.0, 0.6), (3.0, 0.86), (10.0, 0.7))
    ]
    bound = paper_table(Results(settings, {"tuning": "oracle"}), "Table 2, M3FS")
    (cell,) = bound.cells.values()
    assert cell.ours is not None
    assert cell.ours.parameters == {"C": 3.0}
    assert cell.verdict == "better"
    assert "±" not in bound.text()  # one start tells no spread
    assert cell.as_dict()["ours"]["sd"] is None
    assert "a bound, no result" in bound.note
    assert "chosen by the labels" in bound.title


# ------------------------------------------------------------------------------------------------
# Runs
# ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_only_a_tuned_run_tries_the_grid_and_never_on_mnist():
    def labels(name: str, tuning: str) -> list[str]:
        found = m3fs.tasks([name], replace(ONCE, tuning=tuning))
        return [task.key["label"] for task in found]

    assert labels("digits1v7", "defaults") == list(m3fs.COLUMNS)
    assert labels("digits1v7", "oracle").count(m3fs.GRID_LABEL) == len(m3fs.GRID)
    assert labels("mnist_0123", "oracle") == [*m3fs.COLUMNS, m3fs.UNSEEN]


def test_a_large_set_is_run_less_often_and_its_mixture_learned_from_a_sample():
    case = CASES["mnist_0123"]
    assert case.seeds(Protocol(n_repeats=10)) == range(3)
    assert CASES["digits1v7"].seeds(Protocol(n_repeats=10)) == range(10)
    tasks = {task.key["label"]: task for task in m3fs.tasks(["mnist_0123"], ONCE)}
    assert tasks["FSGMM"].key["parameters"] == {"n_learned": 1000}


@pytest.mark.parametrize("method", ["all_features", "laplacian_score+margin", "margin", "m3fs"])
def test_clusterings_of_an_easy_set(method):
    protocol = replace(ONCE, n_repeats=2)
    rows = margin_runs.run_clusterings("digits1v7", method, {}, protocol)
    assert [row["measure"] for row in rows] == ["accuracy", "rand"]
    assert {row["n_features"] for row in rows} == {
        64 if method in ("all_features", "margin") else 10
    }
    for row in rows:
        assert len(row["values"]) == 2
        assert min(row["values"]) > 0.95


def test_tables_have_one_scale_around_their_mean():
    digits = load_digits()
    kept = np.isin(digits.target, (0, 6, 8, 9))
    shades = digits.data[kept] / 16
    table, y = margin_runs.centred("digits0689", ONCE)
    np.testing.assert_allclose(table, shades - shades.mean(axis=0), atol=1e-12)
    assert len(y) == len(shades)


def test_letters_are_told_apart_on_their_own_scale():
    if "letter_abcd" not in datasets.available():
        pytest.skip("the benchmark set letter_abcd is not available: see docs/datasets.md")
    rows = margin_runs.run_clusterings("letter_abcd", "margin", {"C": 10.0}, ONCE)
    assert rows[0]["values"][0] > 0.65  # every column scaled by itself: 0.495


def test_half_the_rms_distance_is_the_width_without_one():
    X = load_digits().data[:80] / 16
    differences = X[:, None] - X[None]
    distance = float(np.sqrt((differences**2).sum(axis=2).mean()))
    model = margin_runs._m3fs(X, 2, 10, seed=0, width=0.5, C=1.0)
    assert model.bandwidth == pytest.approx(0.5 * distance)
    assert model.graph == "full"
    default = margin_runs._m3fs(X, 2, 10, seed=0, C=1.0)
    np.testing.assert_allclose(model.fit(X).sigma_, default.fit(X).sigma_, atol=1e-6)


def test_learning_from_a_subset_clusters_all_samples(monkeypatch):
    monkeypatch.setitem(margin_runs.CASES, "digits1v7", Case("digits1v7", 10, subset=100))
    rows = margin_runs.run_unseen("digits1v7", m3fs.SETTINGS, replace(ONCE, n_repeats=3))
    accuracies = rows[0]["values"]
    assert len(accuracies) == 3
    assert min(accuracies) > 0.95
    correct = 361 * np.array(accuracies)  # of all samples, not of the 100 learned from
    np.testing.assert_allclose(correct, np.round(correct), atol=1e-9)


def test_a_mixture_learned_from_a_sample_clusters_all():
    part = margin_runs.run_clusterings("digits1v7", "fsgmm", {"n_learned": 150}, ONCE)
    assert part[0]["values"][0] > 0.9


@pytest.mark.slow
def test_a_tiny_run_end_to_end(tmp_path):
    tiny = replace(
        m3fs.EXPERIMENT, quick_protocol=replace(m3fs.EXPERIMENT.quick_protocol, n_repeats=1)
    )
    outcome = reproduction.run(
        tiny, output=tmp_path, quick=True, sets=[NOISY_SET, "digits1v7"], progress=False
    )
    assert outcome.data["failures"] == []
    accuracy = next(t for t in outcome.tables if t.title.startswith("Table 2. Cl"))
    assert accuracy.rows == ["digits1v7"]
    assert accuracy.cells["digits1v7", "M3FS (λ=0)"].verdict == "reproduced"  # 100 %
    assert accuracy.cells["digits1v7", "LapKM"].verdict == "better"
    assert accuracy.cells["digits1v7", "RandKM"].verdict == "–"
    words = outcome.tables[-1]
    noise = words.cells["M3FS, 2 clusters: all noise has saliency 0", "iris + noise"]
    assert noise.verdict == "reproduced"
    assert {path.name for path in outcome.files} == {
        "m3fs.md",
        "m3fs.json",
        "figure_1.png",
        "figure_1.svg",
        "results.jsonl",
    }
    assert all(path.stat().st_size > 0 for path in outcome.files)
