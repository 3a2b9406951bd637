from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

import tamis.datasets.registry
from tamis import datasets, registry, reproduction
from tamis.evaluation import Candidate, Protocol, Record, Results
from tamis.reproduction import running
from tamis.reproduction.experiment import Experiment
from tamis.reproduction.papers import fseval
from tamis.reproduction.papers.fseval import EXPERIMENT, PROTOCOL, QUICK_PROTOCOL, candidates
from tamis.reproduction.papers.fseval_published import (
    MEASURES,
    METHODS,
    SETS,
    published,
    published_figures,
)
from tamis.reproduction.papers.fseval_tables import (
    COMMON,
    check_table,
    set_table,
    shares_table,
    standings,
    standings_table,
)

FRACTIONS = (0.02, 0.1)
HEADER = {"n_features": list(FRACTIONS), "rounding": "up"}
ACCURACY = MEASURES[0]
# Of a made-up table with 325 columns, 2 and 10 %, rounded up.
COUNTS = (7, 33)
WIDTH = 325


def results_of(figures: Mapping[str, Mapping[str, tuple[float, float] | None]]) -> Results:
    """By label and set the figure at each of the two fractions, the same by every measure."""
    records = []
    for label, by_set in figures.items():
        whole = label == "All features"
        for name, values in by_set.items():
            rows = [
                {"n_features": WIDTH if whole else count, "measure": one.ours, "values": [value]}
                for one in MEASURES
                for count, value in zip(COUNTS, values or (), strict=False)
            ]
            key = {"set": name, "label": label, "parameters": {}}
            key["method"] = "all_features" if whole else label
            error = None if values is not None else "ValueError: no"
            records.append(Record(key, rows[:: 2 if whole else 1], {"fit": 0.5}, error))
    return Results(records, HEADER)


@pytest.fixture
def results() -> Results:
    both = ("colon", "lung_small")
    return results_of(
        {
            "All features": dict.fromkeys(both, (0.5, 0.5)),
            "Random subsets": dict.fromkeys(both, (0.3, 0.4)),
            "Good": {"colon": (0.98, 1.0), "lung_small": (0.96, 0.98)},
            "Mixed": {"colon": (0.6, 0.8), "lung_small": (0.1, 0.1)},
            "Fragile": {"colon": (0.9, 0.9), "lung_small": None},
        }
    )


# --------------------------------------------------------------------------------------
# The published figures
# --------------------------------------------------------------------------------------


def test_the_published_table_is_whole():
    figures = published()
    assert len(figures) == len(SETS) * len(MEASURES) * (len(METHODS) + 2)
    for (name, measure, method), by_fraction in figures.items():
        assert name in SETS
        assert measure in {one.published for one in MEASURES}
        expected = {1.0} if method == "All features" else {n / 200 for n in range(1, 21)}
        assert set(by_fraction) == expected
        assert all(0 <= value <= 1 for value in by_fraction.values())


def test_figures_are_those_of_the_dashboard():
    forest = MEASURES[2]
    found = published_figures("warpPIE10P", forest, "LIDFS", (0.01, 0.1))
    assert found == [0.9476, 0.9905]
    assert published_figures("COIL20", ACCURACY, "All features", (0.01, 0.1)) == [0.6603] * 2


def test_what_is_said_of_the_published_mcfs():
    idle = [name for name in SETS if not any(published()[name, "nmi", "MCFS"].values())]
    assert len(idle) == 8
    assert "on eight of the ten sets" in " ".join(EXPERIMENT.about.split())


def test_every_set_is_registered_and_every_fraction_published():
    assert set(SETS.values()) <= set(datasets.names())
    assert EXPERIMENT.sets == tuple(SETS.values())
    assert set(EXPERIMENT.quick_sets) <= set(EXPERIMENT.sets)
    some = published()["colon", "nmi", "Random"]
    assert set(PROTOCOL.n_features) | set(QUICK_PROTOCOL.n_features) <= set(some)


def test_numbers_of_features_are_those_of_the_benchmark():
    """It takes the ceiling of the product with its rounding, which matters at 3.5 % and others."""
    for name in SETS.values():
        width = datasets.entry(name).n_features
        for share in {*PROTOCOL.n_features, *QUICK_PROTOCOL.n_features}:
            (count,) = Protocol(n_features=(share,), rounding="up").counts(width)
            assert count == math.ceil(share * width)


# --------------------------------------------------------------------------------------
# What takes part
# --------------------------------------------------------------------------------------


def test_every_method_takes_part_on_its_own_scale(monkeypatch):
    by_method = {one.method: one for one in candidates()}
    assert set(by_method) == set(registry.METHODS) - {"random_subset"}
    for name, one in by_method.items():
        assert one.scaling == registry.get(name).scaling
        assert not one.parameters
        assert not one.grid
    added = replace(registry.get("spec"), name="later")
    monkeypatch.setattr(registry, "METHODS", MappingProxyType({**registry.METHODS, "later": added}))
    assert "later" in {one.method for one in candidates()}


def test_judging_is_on_the_columns_as_they_are():
    assert PROTOCOL.scaling == QUICK_PROTOCOL.scaling == "none"
    assert PROTOCOL.max_samples is None


def test_the_limit_is_for_the_fit_alone(monkeypatch, tmp_path):
    given = {}

    def remember(tasks, path, **options):
        given.update(options)
        return Results([], HEADER)

    monkeypatch.setattr(running, "sweep", remember)
    monkeypatch.setattr(datasets, "available", lambda: ())
    reproduction.run("fseval", output=tmp_path, progress=False)
    assert given["time_limit"] == 60
    assert given["limited_part"] == "fit"


# --------------------------------------------------------------------------------------
# Tables
# --------------------------------------------------------------------------------------


def test_standings_hold_ours_and_theirs(results):
    found = standings(results)
    assert found.sets == ("colon", "lung_discrete")
    assert set(found.labels) == {*results.labels, *(f"{name} (published)" for name in METHODS)}
    assert found.labels[0] == "Good"
    good, lidfs = found.labels.index("Good"), found.labels.index("LIDFS (published)")
    np.testing.assert_allclose(found.figures["ACC"][:, :, good], [[0.98, 1.0], [0.96, 0.98]])
    for measure in MEASURES:
        for i, name in enumerate(found.sets):
            expected = published_figures(name, measure, "LIDFS", FRACTIONS)
            np.testing.assert_array_equal(found.figures[measure.head][i, :, lidfs], expected)


def test_all_features_are_the_same_at_every_fraction(results):
    found = standings(results)
    whole = found.labels.index("All features")
    np.testing.assert_array_equal(found.figures["NMI"][:, :, whole], np.full((2, 2), 0.5))


def test_the_standings_table_has_means_ranks_and_wins(results):
    table = standings_table(standings(results))
    rows = {row["label"]: row for row in table.data}
    assert rows["Good"]["means"]["ACC"] == pytest.approx(0.98)
    assert rows["Mixed"]["means"]["forest"] == pytest.approx(0.4)
    assert rows["Good"]["ranks"] == {"ACC": 1.0, "NMI": 1.0, "forest": 1.0}
    assert rows["Good"]["against_all_features"]["NMI"] == [2, 0]
    assert rows["Mixed"]["against_all_features"]["ACC"] == [1, 1]
    assert rows["Good"]["fit_seconds"] == 0.5
    # The last place of one set, shared with nobody, and the second of the other.
    n_methods = len(rows)
    assert rows["Fragile"]["ranks"]["ACC"] == (2 + n_methods) / 2
    assert rows["Fragile"]["means"]["ACC"] is None
    assert rows["Fragile"]["failed"] == 1
    assert rows["LIDFS (published)"]["failed"] is None
    fragile = next(row for row in table.rows if row[0] == "Fragile")
    assert fragile[1:4] == ("–", "–", "–")
    assert "over the 2 of 2 sets" in table.note
    assert "2, 10 %" in table.note
    json.dumps(table.as_dict(), allow_nan=False)


def test_tables_by_fraction_and_by_set(results):
    found = standings(results)
    by_share = shares_table(found)
    assert by_share.columns[1:3] == ("ACC, 2 %", "ACC, 10 %")
    good = next(row for row in by_share.rows if row[0] == "Good")
    assert good[1:3] == ("97.0", "99.0")
    by_set = set_table(found, ACCURACY)
    assert by_set.columns == ("Method", "colon", "lung_discrete")
    assert next(row for row in by_set.rows if row[0] == "Fragile")[1:] == ("90.0", "–")
    for table in (by_share, by_set):
        json.dumps(table.as_dict(), allow_nan=False)


def test_what_both_have_measured_is_judged():
    theirs = published()["colon", "clustering_accuracy", "All features"][1.0]
    variance = published_figures("colon", ACCURACY, "Variance", FRACTIONS)
    found = results_of(
        {
            "All features": {"colon": (theirs, theirs)},
            "MaxVariance": {"colon": (variance[0] + 0.01, variance[1] + 0.01)},
            "LaplacianScore": {"colon": (0.01, 0.01)},
            "MCFS": {"colon": None},
        }
    )
    table = check_table(found, ACCURACY)
    verdicts = {column: table.cells["colon", column].verdict for column in COMMON}
    assert verdicts == {
        "All features": "reproduced",
        "Random subsets": "no data",
        "MaxVariance": "better",
        "LaplacianScore": "lower",
        "MCFS": "no data",
    }
    assert table.cells["ORL", "All features"].verdict == "no data"
    assert table.cells["colon", "MaxVariance"].paper == pytest.approx(np.mean(variance))


def test_without_any_set_there_are_only_gaps():
    tables = fseval.tables(Results([], HEADER))
    assert len(tables) == len(MEASURES)
    assert {verdict for table in tables for verdict in table.verdicts} == {"no data"}
    assert fseval.figures(Results([], HEADER), Path("unused")) == []


# --------------------------------------------------------------------------------------
# From the command to the files
# --------------------------------------------------------------------------------------


@pytest.fixture
def tiny_colon(monkeypatch, tmp_path) -> None:
    """Two small clusters in 60 columns under the name of colon, and no other set."""
    rng = np.random.default_rng(0)
    y = np.arange(24) % 2
    X = rng.standard_normal((24, 60))
    X[:, :6] += 4 * y[:, None]
    X = X.round(3)
    known = datasets.entry("colon")
    entry = replace(known, n_samples=24, n_features=60, n_classes=2, sha256=datasets.checksum(X, y))
    monkeypatch.setitem(tamis.datasets.registry._BY_PLAIN_NAME, "colon", entry)
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("TAMIS_DATA", str(folder))
    np.savez(folder / f"{known.files[0]}.npz", X=X, y=y)
    monkeypatch.setattr(datasets, "available", lambda: ("colon",))


def test_it_runs_by_name_and_goes_on(tiny_colon, tmp_path, monkeypatch):
    some = [Candidate("MRSF", "mrsf", scaling="standard"), Candidate("M3FS", "m3fs")]
    monkeypatch.setattr(fseval, "candidates", lambda: some)
    outcome = reproduction.run("fseval", output=tmp_path, quick=True, progress=False)
    assert outcome.data["failures"] == []
    assert outcome.data["too_long"] == []
    assert outcome.data["sets"] == ["colon"]
    assert set(outcome.data["absent"]) == {"lung_small", "warppie10p"}
    assert "Not available: lung_small" in outcome.text
    for words in (outcome.text, outcome.markdown):
        assert "LIDFS (published)" in words
        assert "arXiv 2605.22973" in words
    folder = tmp_path / "fseval-quick"
    for head in ("acc", "nmi", "forest"):
        assert (folder / f"critical_difference_{head}.png").stat().st_size > 1000
    rows = {row["label"]: row for row in outcome.data["tables"][0]["rows"]}
    assert rows["MRSF"]["means"]["forest"] > rows["Random subsets"]["means"]["forest"]
    assert rows["M3FS"]["means"]["ACC"] is not None
    raw = (folder / "results.jsonl").read_bytes()
    again = reproduction.run("fseval", output=tmp_path, quick=True, progress=False)
    assert (folder / "results.jsonl").read_bytes() == raw
    assert again.data == outcome.data


# --------------------------------------------------------------------------------------
# Other sets
# --------------------------------------------------------------------------------------


@pytest.fixture
def own_files(monkeypatch, tmp_path) -> Experiment:
    """The experiment with two small files: one of the user's, one under a published name."""
    rng = np.random.default_rng(0)
    y = np.arange(24) % 2
    X = rng.standard_normal((24, 60))
    X[:, :6] += 4 * y[:, None]
    folder = tmp_path / "data"
    folder.mkdir()
    np.savez(folder / "my_own.npz", X=X, y=y)
    np.savez(folder / "lung_discrete.npz", X=X, y=y)
    monkeypatch.setenv("TAMIS_DATA", str(folder))
    some = [Candidate("MRSF", "mrsf", scaling="standard")]
    monkeypatch.setattr(fseval, "candidates", lambda: some)
    small = replace(QUICK_PROTOCOL, n_repeats=2, n_folds=2, n_trees=2)
    return replace(EXPERIMENT, quick_protocol=small)


@pytest.mark.slow  # it draws three diagrams
@pytest.mark.filterwarnings("ignore::tamis.datasets.DatasetWarning")
def test_files_under_a_published_name_and_under_ones_own_are_taken(own_files, tmp_path):
    outcome = reproduction.run(
        own_files, output=tmp_path, quick=True, sets=["my_own", "lung_discrete"], progress=False
    )
    assert outcome.data["sets"] == ["lung_small", "my_own"]
    assert outcome.data["failures"] == []
    assert "lung_small" in outcome.data["differing"]
    tables = {table["title"]: table for table in outcome.data["tables"]}
    published = {row["label"] for row in tables["Standings on 1 sets"]["rows"]}
    assert {"MRSF", "LIDFS (published)"} <= published
    accuracy = tables["Clustering accuracy on other sets, %"]
    figures = {row["label"]: row["sets"] for row in accuracy["rows"]}
    assert set(figures) == {"All features", "Random subsets", "MRSF"}
    assert all(set(of) == {"my_own"} and 0.5 <= of["my_own"] <= 1 for of in figures.values())


def test_without_published_figures_there_are_no_standings(own_files, tmp_path):
    outcome = reproduction.run(
        own_files, output=tmp_path, quick=True, sets=["my_own"], progress=False
    )
    assert outcome.data["sets"] == ["my_own"]
    assert "LIDFS (published)" not in outcome.text
    assert "Accuracy of a random forest on other sets, %" in outcome.text
    assert outcome.data["figures"] == []


def test_a_set_that_is_nowhere_is_named_with_what_to_do(own_files, tmp_path):
    with pytest.raises(datasets.DatasetError, match=r"yale'.*once yale\.npz .* TAMIS_DATA names"):
        reproduction.run("fseval", output=tmp_path, sets=["yale"], progress=False)
    with pytest.raises(datasets.DatasetError, match="no data set 'my_own'"):
        reproduction.run("udfs", output=tmp_path, sets=["my_own"], progress=False)
