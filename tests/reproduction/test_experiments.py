from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tamis import datasets, reproduction
from tamis.evaluation.candidates import Candidate
from tamis.evaluation.protocol import Protocol
from tamis.evaluation.provenance import commit, provenance
from tamis.evaluation.results import Estimate, Record, Results
from tamis.evaluation.runs import selection_tasks
from tamis.evaluation.sweep import SweepError, Task
from tamis.reproduction.assembly import cells_beside, curves
from tamis.reproduction.experiment import Experiment
from tamis.reproduction.figures import draw
from tamis.reproduction.papers import jdlufs, jelsr, udfs
from tamis.reproduction.published_tables import published_table
from tamis.reproduction.tables import PaperTable
from tamis.utils.files import write_atomically

METHODS = ("All features", "Random subsets", "Max variance")
PRINTED = published_table("""
      | All features | Max variance
iris  | 80.0±15.0    | 20.0±1.0
lung  | 50.0±1.0     | 50.0±1.0
""")
CANDIDATES = (Candidate("Max variance", "max_variance"),)


def tasks(sets: Sequence[str], protocol: Protocol) -> list[Task]:
    return selection_tasks(list(sets), CANDIDATES, protocol)


def tables(results: Results) -> list[PaperTable]:
    def ours(row: str, column: str) -> tuple[str, Estimate | None]:
        return row, results.estimate(row, column, "kmeans_acc")

    rows = ("iris", "lung")
    return [PaperTable("ACC, %", METHODS, rows, cells_beside(PRINTED, rows, METHODS, ours))]


def figures(results: Results, folder: Path) -> list[Path]:
    panel = curves(results, "iris", METHODS, "kmeans_acc", title="iris", y_label="ACC, %")
    return draw([panel] if panel is not None else [], "iris", folder, "figure_1")


PROTOCOL = Protocol(n_features=(1, 2), n_repeats=3, n_random=2)
TINY = Experiment(
    name="tiny",
    paper="A. Author. A paper. 2011.",
    about="What the paper tells.\n\nWhat was decided.",
    sets=("iris", "lung"),
    protocol=PROTOCOL,
    quick_protocol=replace(PROTOCOL, n_repeats=2),
    quick_sets=("iris",),
    tasks=tasks,
    tables=tables,
    figures=figures,
)


@pytest.fixture(autouse=True)
def no_sets_of_the_machine(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Only the bundled sets are available, whatever this machine has."""
    monkeypatch.setenv("TAMIS_DATA", str(tmp_path_factory.mktemp("empty")))
    monkeypatch.setattr(datasets, "available", lambda: ("iris", "digits"))


def test_an_experiment_end_to_end(tmp_path: Path) -> None:
    outcome = reproduction.run(TINY, output=tmp_path, progress=False)
    assert outcome.data["failures"] == []
    folder = tmp_path / "tiny"
    assert [path.relative_to(folder).as_posix() for path in outcome.files] == [
        "tiny.md",
        "tiny.json",
        "figure_1.png",
        "figure_1.svg",
        "results.jsonl",
    ]
    assert all(path.stat().st_size > 0 for path in outcome.files)
    assert dict(outcome.verdicts) == {
        "reproduced": 1,
        "better": 1,
        "lower": 0,
        "no data": 3,
        "–": 1,
    }
    data = json.loads((folder / "tiny.json").read_text(encoding="utf-8"))
    assert data == outcome.data
    assert data["verdicts"] == dict(outcome.verdicts)
    assert data["protocol"]["n_repeats"] == 3
    assert {"python", "numpy", "scipy", "scikit-learn", "tamis", "platform"} <= set(
        data["made_with"][0]
    )
    assert data["sets"] == ["iris"]
    assert list(data["absent"]) == ["lung"]
    assert (folder / "tiny.md").read_text(encoding="utf-8") == outcome.markdown
    for words in (outcome.text, outcome.markdown):
        assert "A. Author. A paper. 2011." in words
        assert "Not available: lung" in words
        assert ".npz" in words
        assert "TAMIS" in words
        assert "Verdicts: 1 reproduced, 1 better, 0 lower, 3 no data" in words
        assert "scikit-learn" in words
    assert "What was decided." in outcome.markdown
    assert "![figure 1](figure_1.png)" in outcome.markdown


@pytest.mark.slow
def test_a_run_goes_on_where_it_was(tmp_path: Path) -> None:
    whole = reproduction.run(TINY, output=tmp_path / "whole", progress=False)
    folder = tmp_path / "cut" / "tiny"
    folder.mkdir(parents=True)
    raw = (tmp_path / "whole" / "tiny" / "results.jsonl").read_bytes()
    lines = raw.splitlines(keepends=True)
    kept = b"".join(lines[:3]) + lines[3][:30]  # killed while it wrote the second record
    (folder / "results.jsonl").write_bytes(kept)
    resumed = reproduction.run(TINY, output=tmp_path / "cut", progress=False)
    assert resumed.data == whole.data
    assert resumed.markdown == whole.markdown
    now = (folder / "results.jsonl").read_bytes().splitlines(keepends=True)
    assert now[:3] == lines[:3]
    assert len(now) == len(lines)

    again = reproduction.run(TINY, output=tmp_path / "cut", progress=False)
    assert (folder / "results.jsonl").read_bytes().splitlines(keepends=True) == now
    assert again.text == resumed.text


@pytest.mark.slow
def test_results_of_another_seed_are_refused_until_discarded(tmp_path: Path) -> None:
    reproduction.run(TINY, output=tmp_path, progress=False)
    with pytest.raises(SweepError, match="seed=0"):
        reproduction.run(TINY, output=tmp_path, seed=1, progress=False)
    outcome = reproduction.run(TINY, output=tmp_path, seed=1, fresh=True, progress=False)
    assert outcome.data["protocol"]["seed"] == 1


def test_the_quick_version_has_its_own_folder_sets_and_repeats(tmp_path: Path) -> None:
    outcome = reproduction.run(TINY, output=tmp_path, quick=True, progress=False)
    assert outcome.files[0] == tmp_path / "tiny-quick" / "tiny.md"
    assert outcome.data["protocol"]["n_repeats"] == 2
    assert outcome.data["absent"] == {}
    assert [list(table.rows) for table in outcome.tables] == [["iris"]]
    assert "(quick version)" in outcome.text


def test_sets_can_be_chosen(tmp_path: Path) -> None:
    outcome = reproduction.run(TINY, output=tmp_path, sets=["Iris"], progress=False)
    assert list(outcome.tables[0].rows) == ["iris"]
    assert "no data" not in outcome.tables[0].verdicts


@pytest.mark.parametrize(
    ("sets", "message"),
    [(["digits"], "digits is no set of this experiment; its sets are iris, lung"), ([], "no set")],
)
def test_sets_of_other_experiments_are_refused(
    tmp_path: Path, sets: list[str], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        reproduction.run(TINY, output=tmp_path, sets=sets)
    assert list(tmp_path.iterdir()) == []


def test_without_any_set_every_cell_is_without_data(tmp_path: Path) -> None:
    outcome = reproduction.run(TINY, output=tmp_path, sets=["lung"], progress=False)
    assert set(outcome.tables[0].verdicts) == {"no data"}
    assert "Made with" not in outcome.text
    assert "Nothing was run." in outcome.text
    assert [path.name for path in outcome.files] == ["tiny.md", "tiny.json", "results.jsonl"]


def fails(data: str) -> list[dict[str, object]]:
    raise RuntimeError(f"no luck with {data}")


def failing_tasks(sets: Sequence[str], protocol: Protocol) -> list[Task]:
    key = {"set": "iris", "label": "Max variance", "method": "max_variance", "parameters": {}}
    return [Task(key, fails, {"data": "iris"})]


def test_runs_that_fail_are_named(tmp_path: Path) -> None:
    outcome = reproduction.run(replace(TINY, tasks=failing_tasks), output=tmp_path, progress=False)
    assert outcome.data["failures"][0]["error"] == "RuntimeError: no luck with iris"
    assert "Failed: set=iris, label=Max variance" in outcome.text
    assert "no luck with iris" in outcome.markdown


def spins(data: str) -> list[dict[str, object]]:
    while True:
        pass


def slow_tasks(sets: Sequence[str], protocol: Protocol) -> list[Task]:
    key = {"set": "iris", "label": "Max variance", "method": "max_variance", "parameters": {}}
    return [Task(key, spins, {"data": "iris"})]


def test_to_take_too_long_is_no_failure(tmp_path: Path) -> None:
    slow = replace(TINY, tasks=slow_tasks, time_limit=0.1)
    outcome = reproduction.run(slow, output=tmp_path, progress=False)
    assert outcome.data["failures"] == []
    (run,) = outcome.data["too_long"]
    assert run["key"]["label"] == "Max variance"
    assert "limit of 0.1 s" in run["error"]
    assert "Not finished: set=iris, label=Max variance" in outcome.text
    assert "Failed: set" not in outcome.text


@pytest.mark.parametrize("name", reproduction.names())
def test_texts_repeat_no_number_in_which_the_quick_version_differs(name: str) -> None:
    """One text stands on both pages; the protocol below it has the numbers."""
    experiment = reproduction.find(name)
    full, quick = experiment.protocol, experiment.quick_protocol
    ours = experiment.about.split("\n\n")[-1]  # what comes before tells of the paper
    if full.max_samples != quick.max_samples:
        assert str(full.max_samples) not in ours
    for number in (full.n_repeats, quick.n_repeats):
        assert f"{number} times" not in ours
        assert f"{number} runs" not in ours.replace("and 4 runs, and gave", "")
    if len(full.n_features) > 1 and full.n_features != quick.n_features:
        assert f"{full.n_features[-2]} and {full.n_features[-1]} features" not in ours


def partly_failing_tasks(sets: Sequence[str], protocol: Protocol) -> list[Task]:
    return [
        replace(task, function=fails, arguments={"data": "iris"})
        if task.key["label"] == "Max variance"
        else task
        for task in tasks(sets, protocol)
    ]


@pytest.mark.slow
def test_failures_are_told_from_absent_sets(tmp_path: Path) -> None:
    experiment = replace(TINY, tasks=partly_failing_tasks)
    outcome = reproduction.run(experiment, output=tmp_path, progress=False)
    cells = outcome.tables[0].cells
    assert cells["iris", "Max variance"].verdict == "failed"
    assert cells["iris", "All features"].verdict == "reproduced"
    assert cells["lung", "Max variance"].verdict == "no data"
    assert outcome.verdicts["failed"] == 1
    assert outcome.data["verdicts"]["failed"] == 1
    assert outcome.data["tables"][0]["verdicts"]["failed"] == 1
    for words in (outcome.text, outcome.markdown):
        assert "1 failed." in words
        assert "Failed: there is no figure because runs failed" in words
    whole = reproduction.run(TINY, output=tmp_path / "whole", progress=False)
    assert "failed" not in whole.data["verdicts"]
    assert "ailed" not in whole.text


def test_an_unreadable_file_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "lung.npz").write_bytes(b"no archive")
    monkeypatch.setenv("TAMIS_DATA", str(folder))
    monkeypatch.setattr(datasets, "available", lambda: ("iris", "lung"))
    outcome = reproduction.run(TINY, output=tmp_path, progress=False)
    assert {place: cell.verdict for place, cell in outcome.tables[0].cells.items()} == {
        ("iris", "All features"): "reproduced",
        ("iris", "Random subsets"): "–",
        ("iris", "Max variance"): "better",
        **{("lung", method): "failed" for method in METHODS},
    }
    assert "lung.npz cannot be used" in outcome.data["failures"][0]["error"]


@pytest.mark.parametrize("name", ["udfs", "jelsr", "jdlufs"])
def test_the_experiments_have_work_for_all_their_sets(name: str) -> None:
    experiment = reproduction.find(name)
    assert experiment.name == name
    assert set(experiment.quick_sets) <= set(experiment.sets) <= set(datasets.names())
    for protocol in (experiment.protocol, experiment.quick_protocol):
        work = experiment.tasks(experiment.sets, protocol)
        assert {task.key["set"] for task in work} == set(experiment.sets)
        labels = {task.key["label"] for task in work}
        assert {"All features", "Random subsets"} <= labels
        keys = [json.dumps(task.key, sort_keys=True) for task in work]
        assert len(set(keys)) == len(keys)
    empty = experiment.tables(Results([], experiment.protocol.as_dict()))
    assert {verdict for table in empty for verdict in table.verdicts} == {"no data"}
    named = {name for table in empty for name in (*table.columns, *table.rows)}
    assert named & labels == labels


def made_up(experiment: Experiment) -> Results:
    """Results of every task of an experiment, as if all sets were available."""
    rng = np.random.default_rng(0)
    protocol = experiment.quick_protocol
    measures = [f"{c}_{m}" for c in protocol.clusterers for m in ("acc", "nmi")]
    records = []
    for task in experiment.tasks(experiment.sets, protocol):
        whole = task.key["method"] == "all_features"
        counts = [9999] if whole else task.arguments["protocol"].n_features
        rows = [
            {"n_features": count, "measure": measure, "values": list(rng.random(3))}
            for count in counts
            for measure in (*measures, *protocol.classifiers)
        ]
        records.append(Record(dict(task.key), rows))
    return Results(records, protocol.as_dict())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "stems"),
    [
        ("udfs", ["figure_1"]),
        ("jelsr", ["figure_1", "figure_2", "figure_3"]),
        ("jdlufs", ["accuracy"]),
    ],
)
def test_results_fill_every_cell_and_draw_every_figure(
    tmp_path: Path, name: str, stems: list[str]
) -> None:
    experiment = reproduction.find(name)
    results = made_up(experiment)
    for table in experiment.tables(results):
        assert table.verdicts["no data"] == 0
        assert len(table.cells) == len(table.rows) * len(table.columns)
        assert {cell.dataset for cell in table.cells.values()} <= set(experiment.sets)
    files = experiment.figures(results, tmp_path)
    assert [path.name for path in files] == [
        f"{stem}.{e}" for stem in stems for e in ("png", "svg")
    ]
    assert all(path.stat().st_size > 10_000 for path in files)


@pytest.mark.parametrize(
    ("name", "sizes"), [("udfs", [36, 36]), ("jelsr", [30, 30]), ("jdlufs", [54, 54, 54])]
)
def test_every_printed_figure_has_a_place_in_the_tables(name: str, sizes: list[int]) -> None:
    tables = reproduction.find(name).tables(Results([], {}))
    printed = [[c for c in table.cells.values() if c.paper is not None] for table in tables]
    assert [len(cells) for cells in printed] == sizes


def test_printed_figures_stand_in_their_own_cells() -> None:
    accuracy, information = udfs.EXPERIMENT.tables(Results([], {}))
    assert accuracy.cells["USPS", "UDFS"].paper == 0.658
    assert information.cells["USPS", "UDFS"].paper == 0.616
    assert accuracy.cells["USPS", "UDFS"].dataset == "usps"


def test_udfs_judges_usps_at_the_numbers_of_the_paper() -> None:
    work = udfs.EXPERIMENT.tasks(["usps", "umist"], udfs.EXPERIMENT.protocol)
    numbers = {task.key["set"]: task.arguments["protocol"].n_features for task in work}
    assert numbers["usps"] == (50, 80, 110, 140, 170, 200)
    assert numbers["umist"] == (50, 100, 150, 200, 250, 300)


def tried(experiment: Experiment, label: str) -> list[dict[str, float]]:
    """The settings of a method that the full experiment runs."""
    work = experiment.tasks(experiment.sets[:1], experiment.protocol)
    return [dict(task.key["parameters"]) for task in work if task.key["label"] == label]


def test_udfs_is_given_every_gamma_of_the_paper() -> None:
    gammas = {setting["gamma"] for setting in tried(udfs.EXPERIMENT, "UDFS")}
    assert gammas >= {10.0**power for power in range(-9, 10, 3)}


def test_jelsr_is_given_the_range_of_the_paper() -> None:
    settings = tried(jelsr.EXPERIMENT, "JELSR")
    near = {
        (setting["alpha"], setting["beta"])
        for setting in settings
        if 1.5 <= setting["alpha"] <= 2.4 and 0.01 <= setting["beta"] <= 0.1
    }
    assert {(alpha, beta) for alpha in (1.5, 2.4) for beta in (0.01, 0.1)} < near
    assert f"are {len(settings)} settings" in jelsr.EXPERIMENT.about


def test_dictionaries_have_the_size_that_the_poster_names() -> None:
    sizes = {
        candidate.label: candidate.parameters["n_atoms"]
        for candidate in jdlufs.candidates(n_samples=100, n_classes=10)
        if candidate.method == "jdlufs"
    }
    assert sizes == {
        "JDLUFS (0.2)": 20,
        "JDLUFS (0.4)": 40,
        "JDLUFS (0.6)": 60,
        "JDLUFS (0.8)": 80,
    }


def test_an_unknown_experiment_is_named_with_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"'jelrs' \(did you mean jelsr\?\); the experiments"):
        reproduction.find("jelrs")


def test_files_are_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "folder" / "file.txt"
    write_atomically(path, "old ✓")
    assert path.read_text(encoding="utf-8") == "old ✓"

    def refuse(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("os.fsync", refuse)
    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, "new")
    assert path.read_text(encoding="utf-8") == "old ✓"
    assert list(path.parent.iterdir()) == [path]


def test_commit_is_of_the_package_and_of_nothing_around_it(tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        who = ["-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
        command = ["git", "-C", str(tmp_path), *who, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    assert commit(tmp_path) == ""
    try:
        git("init", "-q")
    except FileNotFoundError:
        pytest.skip("git is not installed")
    (tmp_path / "__init__.py").write_text("")
    assert commit(tmp_path) == ""  # a repository, but it does not track the package
    git("add", "__init__.py")
    git("commit", "-qm", "A package")
    assert commit(tmp_path) == git("rev-parse", "HEAD")
    (tmp_path / "__init__.py").write_text("changed = True")
    assert commit(tmp_path) == git("rev-parse", "HEAD") + " and changes"


def test_provenance_names_versions() -> None:
    made = provenance()
    assert made["numpy"][0].isdigit()
    assert made["platform"]
