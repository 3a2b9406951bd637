"""Results of a set are those of the copy that was loaded."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

import tamis.datasets.loading
from tamis import datasets, reproduction
from tamis.evaluation import Candidate, Protocol, evaluate, selection_tasks
from tamis.evaluation.preparation import contents_name, differences
from tamis.evaluation.results import Results
from tamis.reproduction.experiment import Experiment
from tamis.reproduction.papers import m3fs, track
from tamis.reproduction.projection import projection_tasks

PROTOCOL = Protocol(n_features=(3,), n_repeats=2, n_random=1)
NAME = "sonar"  # a small set that scikit-learn does not carry


@pytest.fixture
def folder(monkeypatch, tmp_path) -> Path:
    """A folder for copies of a set, of which a made-up one is the registry's."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("TAMIS_DATA", str(folder))
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 8)).round(3), np.arange(30) % 2
    entry = replace(
        datasets.entry(NAME),
        n_samples=30,
        n_features=8,
        n_classes=2,
        sha256=datasets.checksum(X, y),
    )
    monkeypatch.setitem(tamis.datasets.registry._BY_PLAIN_NAME, NAME, entry)
    np.savez(folder / "Sonar.npz", X=X, y=y)
    return folder


def permute(folder: Path) -> None:
    with np.load(folder / "Sonar.npz") as file:
        X, y = file["X"], file["y"]
    np.savez(folder / "Sonar.npz", X=X[::-1, ::-1], y=y)


def fingerprints() -> list[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", datasets.DatasetWarning)
        tasks = selection_tasks([NAME], [Candidate("MV", "max_variance")], PROTOCOL)
    return [task.fingerprint for task in tasks]


def test_the_registrys_copy_has_the_registrys_name(folder):
    assert contents_name(NAME) == datasets.entry(NAME).sha256
    assert differences([NAME, "iris"]) == {}
    before = fingerprints()
    (folder / "Sonar.npz").unlink()
    assert fingerprints() == before  # what is not here can only come as the registry has it
    (folder / "Sonar.npz").write_bytes(b"damaged")
    assert fingerprints() == before


def test_another_copy_has_its_own_name_and_is_told(folder):
    right = fingerprints()
    permute(folder)
    with pytest.warns(
        datasets.DatasetWarning, match="local copy of 'sonar' has the right shape, but"
    ):
        name = contents_name(NAME)
    assert name == datasets.local_copy(NAME).sha256 != datasets.entry(NAME).sha256
    assert not set(fingerprints()) & set(right)
    assert "checksum differs" in differences([NAME, "iris"])[NAME]
    permute(folder)
    assert fingerprints() == right


def test_results_of_a_wrong_copy_do_not_pass_for_the_right_ones(folder, tmp_path):
    path = tmp_path / "r.jsonl"

    def rows(path: Path | None) -> list[object]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", datasets.DatasetWarning)
            results = evaluate([NAME], [Candidate("MV", "max_variance")], PROTOCOL, path=path)
        return [record.rows for record in results.records]

    right = rows(None)
    permute(folder)
    wrong = rows(path)
    assert wrong != right
    permute(folder)
    assert rows(path) == right


def test_a_set_is_hashed_once_while_its_file_stays(folder, monkeypatch):
    hashed = []

    def remember(X, y):
        hashed.append(X.shape)
        return datasets.checksum(X, y)

    monkeypatch.setattr(tamis.datasets.loading, "checksum", remember)
    monkeypatch.setattr(tamis.datasets.loading, "_hashed", {})
    read = []
    whole = tamis.datasets.formats.read
    monkeypatch.setattr(
        tamis.datasets.formats, "read", lambda *given: (read.append(given), whole(*given))[1]
    )
    for _ in range(3):
        fingerprints()
    assert (len(hashed), len(read)) == (1, 1)
    datasets.load(NAME)
    assert len(hashed) == 1
    permute(folder)
    fingerprints()
    assert len(hashed) == 2


def test_a_file_of_your_own_is_known_by_what_it_holds(folder):
    iris = load_iris()
    np.savez(folder / "mine.npz", X=iris.data, y=iris.target)
    assert contents_name("mine") == datasets.checksum(iris.data, iris.target)
    results = evaluate(["mine"], [], replace(PROTOCOL, n_repeats=1))
    assert [record.error for record in results.records] == [None, None]
    with pytest.raises(datasets.DatasetError, match="no data set 'minne'"):
        contents_name("minne")


def test_the_finished_pages_name_a_copy_that_differs(folder, tmp_path):
    tiny = Experiment(
        name="tiny",
        paper="A paper.",
        about="About it.",
        sets=(NAME,),
        protocol=PROTOCOL,
        quick_protocol=PROTOCOL,
        quick_sets=(NAME,),
        tasks=lambda sets, protocol: selection_tasks(sets, [], protocol),
        tables=lambda results: [],
        figures=lambda results, folder: [],
    )
    line = "Not the registry's copy: sonar has the right shape"
    right = reproduction.run(tiny, output=tmp_path, progress=False)
    assert "differing" not in right.data
    assert line not in right.text
    permute(folder)
    with pytest.warns(datasets.DatasetWarning):
        wrong = reproduction.run(tiny, output=tmp_path, progress=False)
    written = json.loads((tmp_path / "tiny" / "tiny.json").read_text(encoding="utf-8"))
    assert list(written["differing"]) == [NAME]
    assert line in (tmp_path / "tiny" / "tiny.md").read_text(encoding="utf-8")
    assert line in " ".join(wrong.text.split())
    assert Results.load(tmp_path / "tiny" / "results.jsonl").records[0].rows


@pytest.mark.parametrize(("experiment", "name"), [(m3fs, "ionosphere"), (track, "msrc_v1")])
def test_every_task_of_these_experiments_has_a_fingerprint_of_its_table(
    experiment, name, monkeypatch
):
    module = tamis.evaluation.preparation.datasets
    found = []
    for sha256 in ("a", "b"):
        copy = datasets.Copy(sha256, None)
        monkeypatch.setattr(module, "local_copy", lambda name, copy=copy: copy)
        work = experiment.EXPERIMENT.tasks([name], experiment.EXPERIMENT.protocol)
        found.append([task.fingerprint for task in work])
    assert all(found[0])
    assert all(one != other for one, other in zip(*found, strict=True))


def test_projections_hang_on_the_number_of_features():
    first, second = (
        projection_tasks("iris", [], number, PROTOCOL)[0].fingerprint for number in (2, 3)
    )
    assert first != second
