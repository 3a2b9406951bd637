"""``tamis compare``: methods side by side, judged and kept as they come."""

from __future__ import annotations

import json
import sys
import time

import numpy as np
import pytest

from tamis import MRSF, LaplacianScore
from tamis.cli._comparison_screen import MEASURES
from tamis.evaluation import runs
from tamis.metrics import jaccard, redundancy

QUICK = ("-m", "mrsf,laplacian_score", "--repeats", 3, "-k", 4)


@pytest.fixture
def blobs_csv(blobs, tmp_path):
    path = tmp_path / "blobs.csv"
    blobs.assign(kind=np.repeat(["a", "b", "c"], 20)).to_csv(path, index=False)
    return path


@pytest.fixture
def compared(run, blobs_csv):
    def compared(*options):
        result = run("compare", blobs_csv, "--labels", "kind", *QUICK, "--json", *options)
        assert result.exit_code == 0, result.output
        assert result.stderr == ""
        return json.loads(result.stdout)

    return compared


def figures(found, method):
    return next(line for line in found["methods"] if line["method"] == method)


def test_all_columns_and_random_subsets_are_always_there(compared):
    found = compared()
    names = [line["method"] for line in found["methods"]]
    assert names == ["all_features", "random_subset", "mrsf", "laplacian_score"]
    assert found["complete"]
    assert found["n_clusters"] == 3
    assert figures(found, "all_features")["n_columns"] == 40
    assert all(set(line["measures"]) == set(MEASURES) for line in found["methods"])


def test_the_figures_are_true(compared, blobs):
    from sklearn.preprocessing import StandardScaler

    found = compared()
    X = StandardScaler().fit_transform(blobs)
    kept = {
        name: list(np.argsort(selector.fit(X).ranking_)[:4])
        for name, selector in (("mrsf", MRSF(4)), ("laplacian_score", LaplacianScore(4)))
    }
    for name, columns in kept.items():
        line = figures(found, name)
        assert line["selected"] == columns
        assert line["measures"]["redundancy"]["mean"] == pytest.approx(redundancy(X[:, columns]))
        assert line["measures"]["noise"]["mean"] == pytest.approx(4 / 40)
        assert 0.1 <= line["measures"]["variance"]["mean"] < 1
        error = line["measures"]["reconstruction"]["mean"]  # of standardised columns: the same
        assert line["measures"]["variance"]["mean"] == pytest.approx(1 - error**2)
        for measure in ("agreement", "kmeans_acc", "kmeans_nmi"):
            assert line["measures"][measure]["n"] == 3
    whole = figures(found, "all_features")["measures"]
    assert whole["variance"]["mean"] == pytest.approx(1)
    assert whole["neighbors"]["mean"] == pytest.approx(1)
    assert found["overlap"]["methods"] == list(kept)
    between = jaccard(kept["mrsf"], kept["laplacian_score"])
    assert found["overlap"]["jaccard"] == [[1, between], [between, 1]]
    assert found["column_names"][str(kept["mrsf"][0])] == f"gene{kept['mrsf'][0]}"


def test_informative_columns_are_judged_above_random_ones(compared):
    found = compared("--clusters", 3)
    accuracy = {line["method"]: line["measures"]["kmeans_acc"]["mean"] for line in found["methods"]}
    assert accuracy["laplacian_score"] > accuracy["random_subset"] + 0.1


def test_of_one_value_no_deviation_is_told(compared):
    """JSON has no NaN, and a deviation of 0 would be a claim."""
    line = figures(compared("--repeats", 1), "mrsf")
    assert {measure["sd"] for measure in line["measures"].values()} == {None}
    line = figures(compared(), "mrsf")
    assert line["measures"]["kmeans_nmi"]["sd"] is not None


def test_labels_judge_and_select_nothing(run, blobs_csv, compared):
    with_labels = compared()
    plain = blobs_csv.with_name("plain.csv")
    lines = blobs_csv.read_text().splitlines()
    plain.write_text("\n".join(line.rpartition(",")[0] for line in lines) + "\n")
    without = json.loads(run("compare", plain, *QUICK, "--clusters", 3, "--json").stdout)
    for method in ("mrsf", "laplacian_score"):
        assert "kmeans_acc" not in figures(without, method)["measures"]
    assert (
        figures(without, "laplacian_score")["selected"]
        == (figures(with_labels, "laplacian_score")["selected"])
    )


def test_the_table_as_text(run, blobs_csv):
    result = run("compare", blobs_csv, "--labels", "kind", *QUICK)
    assert result.exit_code == 0
    header = next(line for line in result.stdout.splitlines() if line.startswith("method"))
    for head in MEASURES.values():
        assert head in header
    assert "Overlap of the selections (Jaccard index, %):" in result.stdout
    assert " ± " in result.stdout
    assert "labels set aside" in result.stdout


@pytest.mark.slow
def test_two_processes_give_the_same(compared):
    def without_times(found):
        for line in found["methods"]:
            del line["fit_seconds"]
        return found

    assert without_times(compared()) == without_times(compared("--jobs", 2))


def test_what_is_done_is_not_done_again(compared, monkeypatch, tmp_path):
    first = compared("-o", "kept")
    assert json.loads((tmp_path / "kept" / "comparison.json").read_text()) == first

    def refuse(self, X, y=None):
        raise AssertionError("fitted again")

    monkeypatch.setattr(MRSF, "fit", refuse)
    assert compared("-o", "kept") == first


def test_an_interrupt_keeps_what_is_done(run, blobs_csv, monkeypatch, compared, tmp_path):
    def stop(self, X, y=None):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(LaplacianScore, "fit", stop)
        result = run("compare", blobs_csv, "--labels", "kind", *QUICK, "-o", "kept")
    assert result.exit_code == 130
    (line,) = result.stderr.splitlines()
    assert "stopped after 3 of 4 methods; they are kept in kept" in line
    assert "mrsf" in result.stdout
    assert "laplacian_score" not in result.stdout
    assert (tmp_path / "kept" / "results.jsonl").read_text().count('"key":') == 3
    assert len(compared("-o", "kept")["methods"]) == 4


def test_an_interrupt_without_a_folder_says_how_to_go_on(run, blobs_csv, monkeypatch):
    def stop(self, X, y=None):
        raise KeyboardInterrupt

    monkeypatch.setattr(MRSF, "fit", stop)
    result = run("compare", blobs_csv, *QUICK, "--labels", "kind", "--json")
    assert result.exit_code == 130
    assert "with --output FOLDER" in result.stderr
    assert not json.loads(result.stdout)["complete"]


def test_results_of_another_table_are_not_mixed_in(
    run, refused, compared, blobs, blobs_csv, tmp_path
):
    compared("-o", "kept")
    before = (tmp_path / "kept" / "results.jsonl").read_text()
    changed = blobs.assign(kind=np.repeat(["a", "b", "c"], 20))
    changed.iloc[0, 0] += 1
    changed.to_csv(blobs_csv, index=False)
    result = run("compare", blobs_csv, "--labels", "kind", *QUICK, "-o", "kept")
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert "--fresh" in line
    assert (tmp_path / "kept" / "results.jsonl").read_text() == before
    assert compared("-o", "kept", "--fresh")["complete"]


def test_a_refusal_names_only_what_differs(run, compared, blobs_csv):
    compared("-o", "kept")
    options = [*QUICK, "--seed", "3"]
    result = run("compare", blobs_csv, "--labels", "kind", *options, "-o", "kept")
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert "seed=0, not 3" in line
    assert "scaling" not in line
    assert "fresh=True" not in line
    assert "(--fresh)" in line


def test_a_method_that_fails_does_not_take_the_others_with_it(run, blobs_csv, monkeypatch):
    def fail(self, X, y=None):
        raise np.linalg.LinAlgError("did not settle")

    monkeypatch.setattr(MRSF, "fit", fail)
    result = run("compare", blobs_csv, "--labels", "kind", *QUICK)
    assert result.exit_code == 1
    assert "warning: mrsf failed: LinAlgError: did not settle" in result.stderr
    assert result.stderr.splitlines()[-1] == "tamis: mrsf failed; see above why."
    assert "laplacian_score" in result.stdout


def test_what_a_method_warns_of_is_kept(run, blobs_csv):
    options = ("-m", "udfs", "--repeats", 2, "-k", 40, "--labels", "kind")
    result = run("compare", blobs_csv, *options, "--json", "-o", "kept")
    again = run("compare", blobs_csv, *options, "-o", "kept")
    warnings = figures(json.loads(result.stdout), "udfs")["warnings"]
    assert [f"warning: udfs: {text}" for text in warnings] == again.stderr.splitlines()


def test_max_variance_sees_the_columns_as_they_are(run, blobs_csv, blobs):
    result = run("compare", blobs_csv, "--labels", "kind", "-m", "max_variance", "-k", 4, "--json")
    widest = list(np.argsort(-blobs.to_numpy().var(axis=0))[:4])
    assert figures(json.loads(result.stdout), "max_variance")["selected"] == widest


def test_missing_labels_of_a_frame_are_refused_as_those_of_text(refused, blobs, tmp_path):
    labels = [None, *["a", "b"] * 29, "a"]
    blobs.assign(kind=labels).to_parquet(tmp_path / "blobs.parquet")
    line = refused("compare", "blobs.parquet", "--labels", "kind")
    assert "1 of 60 labels are missing" in line


def test_the_number_of_clusters_is_given_to_each_method_that_thinks_of_one(run, blobs_csv):
    result = run(
        "compare", blobs_csv, "--labels", "kind", "-k", 4, "--repeats", 1, "--clusters", 4,
        "-m", "jelsr,mcfs,pca_score,max_variance", "-o", "kept", "--json",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    lines = (blobs_csv.parent / "kept" / "results.jsonl").read_text().splitlines()
    keys = [json.loads(line)["key"] for line in lines if '"key":' in line]
    assert {key["method"]: key["parameters"] for key in keys} == {
        "all_features": {},
        "random_subset": {},
        "jelsr": {"n_components": 4},
        "mcfs": {"n_clusters": 4},
        "pca_score": {},
        "max_variance": {},
    }


def test_warnings_of_methods_cannot_move_the_cursor(run, blobs_csv, monkeypatch):
    def fail(self, X, y=None):
        raise ValueError("column \x1b[2J is bad")

    monkeypatch.setattr(LaplacianScore, "fit", fail)
    result = run("compare", blobs_csv, "--labels", "kind", *QUICK)
    assert result.exit_code == 1
    assert "\x1b" not in result.stderr
    assert r"laplacian_score failed: " in result.stderr
    assert r"column \x1b[2J is bad" in result.stderr


def spin(self, X, y=None):
    """A fit that never ends."""
    while True:
        pass


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a clock of processor time")
def test_a_method_over_the_time_limit_is_a_row_that_says_so(run, blobs_csv, monkeypatch):
    monkeypatch.setattr(MRSF, "fit", spin)
    options = ("--labels", "kind", *QUICK, "--time-limit", 0.3)
    result = run("compare", blobs_csv, *options)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    row = next(line for line in result.stdout.splitlines() if line.startswith("mrsf"))
    assert "over 0.3 s" in row
    assert set(row.split()[5:]) == {"–"}
    assert "Stopped after 0.3 s: mrsf; --time-limit sets another" in result.stdout
    found = json.loads(run("compare", blobs_csv, *options, "--json").stdout)
    assert found["time_limit"] == 0.3
    slow, done = figures(found, "mrsf"), figures(found, "laplacian_score")
    assert slow["over_time_limit"]
    assert (slow["error"], slow["fit_seconds"], slow["selected"]) == (None, None, None)
    assert not done["over_time_limit"]
    assert set(done["measures"]) == set(MEASURES)
    assert found["overlap"]["methods"] == ["laplacian_score"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a clock of processor time")
def test_another_time_limit_is_another_try(run, blobs_csv, monkeypatch, tmp_path):
    options = ("--labels", "kind", *QUICK, "-o", "kept", "--json")
    with monkeypatch.context() as patch:
        patch.setattr(MRSF, "fit", spin)
        run("compare", blobs_csv, *options, "--time-limit", 0.3)
    same = json.loads(run("compare", blobs_csv, *options, "--time-limit", 0.3).stdout)
    assert figures(same, "mrsf")["over_time_limit"]
    again = json.loads(run("compare", blobs_csv, *options, "--time-limit", 0).stdout)
    assert again["time_limit"] is None
    assert len(figures(again, "mrsf")["selected"]) == 4


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a clock of processor time")
def test_judging_does_not_count_for_the_time_limit(run, blobs_csv, monkeypatch):
    score = runs.label_free_scores

    def slow_score(*arguments):
        end = time.process_time() + 0.5
        while time.process_time() < end:
            pass
        return score(*arguments)

    monkeypatch.setattr(runs, "label_free_scores", slow_score)
    result = run(
        "compare",
        blobs_csv,
        "--labels",
        "kind",
        *QUICK[2:],
        "-m",
        "mrsf",
        "--time-limit",
        0.4,
        "--json",
    )
    assert not any(line["over_time_limit"] for line in json.loads(result.stdout)["methods"])


def test_results_are_kept_in_a_folder(refused, blobs_csv):
    assert "--json" in refused("compare", blobs_csv, *QUICK, "-o", "-")


@pytest.fixture
def messy_csv(blobs, tmp_path):
    rng = np.random.default_rng(0)
    messy = blobs.mask(rng.random(blobs.shape) < 0.1)
    messy["colour"] = rng.choice(["red", "green"], len(messy))
    path = tmp_path / "messy.csv"
    messy.assign(kind=np.repeat(["a", "b", "c"], 20)).to_csv(path, index=False)
    return path


def test_a_table_with_gaps_and_text_is_compared(run, messy_csv):
    result = run("compare", messy_csv, "--labels", "kind", *QUICK, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert {"mrsf", "laplacian_score"} <= {line["method"] for line in found["methods"]}
    assert all(line["error"] is None for line in found["methods"])
    assert len(figures(found, "mrsf")["selected"]) == 4
    assert figures(found, "mrsf")["measures"]["kmeans_acc"]["mean"] > 0.5


def test_what_was_done_about_gaps_and_text_is_said(run, messy_csv):
    result = run("compare", messy_csv, "--labels", "kind", *QUICK)
    assert result.exit_code == 0, result.output
    assert "Imputed" in result.stdout
    assert "'colour'" in result.stdout


def test_gaps_are_refused_where_that_is_asked_for(refused, messy_csv):
    assert "--missing" in refused("compare", messy_csv, *QUICK, "--missing", "refuse")
