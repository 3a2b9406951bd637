"""Tables as they come, with gaps, categories, dates, ids and text: select, compare, apply."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from tamis.preprocessing import Selection

BOTH = pytest.mark.parametrize("command", ["select", "compare"])
QUICK = {"select": ("-m", "max_variance"), "compare": ("-m", "max_variance", "--repeats", "1")}


def messy(n_rows, seed):
    """People in two groups, and what a form asks of them."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, n_rows)
    frame = pd.DataFrame(
        {
            "person": [f"P-{seed}{row:04d}" for row in range(n_rows)],
            "mass": rng.normal(60, 5, n_rows) + 30 * group,
            "height": rng.normal(160, 5, n_rows) + 20 * group,
            "town": np.where(group, "Metz", rng.choice(["Nice", "Tours"], n_rows)),
            "smokes": rng.choice(["yes", "no"], n_rows),
            "luck": rng.normal(size=n_rows),
            "born": pd.Timestamp("1990-03-01")
            + pd.to_timedelta(rng.integers(0, 9000, n_rows), unit="D"),
            "planet": "Earth",
        }
    )
    for name in ("mass", "town", "smokes"):
        frame.loc[rng.choice(n_rows, 3, replace=False), name] = None
    return frame


@BOTH
def test_a_constant_column_of_text_is_left_out(run, command, blobs, tmp_path):
    blobs.to_csv(tmp_path / "numbers.csv", index=False)
    blobs.assign(tissue="liver").to_csv(tmp_path / "text.csv", index=False)
    plain = run(command, "numbers.csv", "--json", *QUICK[command])
    result = run(command, "text.csv", "--json", *QUICK[command])
    assert result.exit_code == 0, result.output
    where = "kept" if command == "select" else "column_names"
    assert json.loads(result.stdout)[where] == json.loads(plain.stdout)[where]
    said = run(command, "text.csv", *QUICK[command]).stdout
    assert "Taken for constant, left out: 'tissue'." in said


@BOTH
def test_gaps_are_imputed_and_told(run, command, blobs, tmp_path):
    gappy = blobs.copy()
    gappy.iloc[3, 7] = np.nan
    gappy.to_csv(tmp_path / "gaps.csv", index=False)
    result = run(command, "gaps.csv", *QUICK[command])
    assert result.exit_code == 0, result.output
    assert "Imputed: 2% of the values of 'gene7'." in result.stdout


@BOTH
def test_names_that_occur_twice_are_told_apart(run, command, blobs, tmp_path):
    text = blobs.to_csv(index=False).replace("gene1,", "gene0,", 1)
    (tmp_path / "twice.csv").write_text(text)
    result = run(command, "twice.csv", *QUICK[command])
    assert result.exit_code == 0, result.output
    assert "Columns of the same name are told apart: 'gene0' as 'gene0_2'." in result.stdout


@pytest.mark.parametrize("method", [(), ("-m", "max_variance", "-k", "3")], ids=["auto", "other"])
@pytest.mark.parametrize("missing", ["impute", "drop-rows"])
def test_the_round_trip_equals_python(run, tmp_path, method, missing):
    messy(80, 0).to_csv(tmp_path / "old.csv", index=False)
    new = messy(30, 1)
    new[list(new)[::-1]].to_csv(tmp_path / "new.csv", index=False)
    saved = run("select", "old.csv", *method, "--missing", missing, "--save", "cut.json")
    assert saved.exit_code == 0, saved.output
    result = run("apply", "cut.json", "new.csv", "-o", "small.csv")
    assert result.exit_code == 0, result.output
    selection = Selection.from_json(tmp_path / "cut.json")
    small = pd.read_csv(tmp_path / "small.csv")
    made = selection.get_feature_names_out().tolist()
    rows = selection.rows(new)
    assert list(small)[-len(made) :] == made
    np.testing.assert_array_equal(small[made], selection.transform(new))
    assert small["person"].tolist() == new["person"][rows].tolist()
    assert rows.all() == (missing == "impute")


def test_cells_go_through_as_they_are(run, tmp_path):
    new = messy(30, 1)
    messy(80, 0).to_csv(tmp_path / "old.csv", index=False)
    new.to_csv(tmp_path / "new.csv", index=False)
    assert run("select", "old.csv", "--keep", "town", "--save", "cut.json").exit_code == 0
    assert run("apply", "cut.json", "new.csv", "-o", "small.csv", "--raw").exit_code == 0
    small = pd.read_csv(tmp_path / "small.csv")
    assert {"person", "town"} <= set(small)
    pd.testing.assert_frame_equal(small, pd.read_csv(tmp_path / "new.csv")[list(small)])


def test_a_column_that_is_not_kept_and_not_there_is_named_with_the_remedy(run, refused, tmp_path):
    messy(80, 0).to_csv(tmp_path / "old.csv", index=False)
    messy(30, 1).drop(columns="mass").to_csv(tmp_path / "new.csv", index=False)
    options = ("--keep", "town", "-k", 1, "-m", "laplacian_score", "--save", "cut.json")
    assert run("select", "old.csv", *options).exit_code == 0
    said = refused("apply", "cut.json", "new.csv", "-o", "small.csv")
    assert "new.csv: lacks column 'mass', which is not kept" in said
    assert "with --raw" in said
    assert not (tmp_path / "small.csv").exists()
    assert run("apply", "cut.json", "new.csv", "-o", "small.csv", "--raw").exit_code == 0


def test_new_levels_and_single_words_are_told(run, tmp_path):
    messy(80, 0).to_csv(tmp_path / "old.csv", index=False)
    new = messy(30, 1)
    new.loc[4, "town"] = "Atlantis"
    new["mass"] = new["mass"].astype(object)
    new.loc[5, "mass"] = "heavy"
    new.to_csv(tmp_path / "new.csv", index=False)
    options = ("--keep", "town", "--keep", "mass", "--save", "cut.json")
    assert run("select", "old.csv", *options).exit_code == 0
    result = run("apply", "cut.json", "new.csv", "-o", "small.csv")
    assert result.exit_code == 0, result.output
    said = " ".join(result.stderr.split())
    assert "'town' has levels that were not there when fitted, such as 'Atlantis'" in said
    assert "'mass' holds 1 values that are no numbers, such as 'heavy'" in said


@pytest.mark.parametrize("kind", ["a number", "categories"])
def test_what_may_be_an_identifier_is_never_used_silently(run, blobs, tmp_path, kind):
    rng = np.random.default_rng(0)
    ids = rng.integers(1000, 1020, len(blobs))
    ids = ids if kind == "a number" else [f"N{number}" for number in ids]
    blobs.assign(id=ids, tissue="liver").to_csv(tmp_path / "ids.csv", index=False)
    result = run("select", "ids.csv", *QUICK["select"])
    assert result.exit_code == 0, result.output
    said = " ".join(result.stdout.split())
    assert f"'id' is named like an identifier, but its values repeat: taken for {kind}" in said


def test_an_id_that_repeats_is_told_among_numbers_alone_too(run, blobs, tmp_path):
    several_rows_each = np.arange(len(blobs)) // 3
    blobs.assign(id=several_rows_each).to_csv(tmp_path / "ids.csv", index=False)
    result = run("select", "ids.csv", *QUICK["select"])
    assert result.exit_code == 0, result.output
    assert "Column 'id' looks like a running number or an id" in result.stderr


@pytest.mark.parametrize("name", ["Row.names", "row_name", "rownames"])
def test_row_names_that_skip_some_numbers_are_told(run, blobs, tmp_path, name):
    some = np.delete(np.arange(len(blobs) + 2), [5, 9])
    blobs.assign(**{name: some}).to_csv(tmp_path / "ids.csv", index=False)
    result = run("select", "ids.csv", *QUICK["select"])
    assert result.exit_code == 0, result.output
    assert f"Column '{name}' looks like a running number or an id" in result.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--keep", "mass", "--drop", "mas*"), "--keep and --drop both name 'mass'"),
        (("--keep", "Mass"), "did you mean mass?"),
        (("--drop", "towns"), "did you mean town?"),
        (("--drop", "*"), "nothing to select: no column is left to choose from"),
        (("--keep", "mass", "--keep", "luck", "-k", "1"), "-k keeps 1 columns, but --keep names 2"),
        (("--sep", "::"), "'::' is no separator"),
        (("--sheet", "two"), "have no sheets"),
        (("--decimal", ";"), "is no decimal sign"),
        (("--encoding", "utf-99"), "is no encoding of text"),
        (("--id", "persons"), "did you mean 'person'?"),
        (("--prepared",), "--prepared says how -o is written"),
    ],
)
def test_options_that_cannot_be(refused, tmp_path, options, said):
    messy(20, 0).to_csv(tmp_path / "old.csv", index=False)
    assert said in refused("select", "old.csv", *options)


def test_patterns_and_numbers_only(run, tmp_path):
    messy(40, 0).to_csv(tmp_path / "old.csv", index=False)
    options = (*QUICK["select"], "--drop", "lu*", "--numeric-only", "--keep", "town", "--json")
    result = run("select", "old.csv", *options, "-k", 3)
    assert result.exit_code == 0, result.output
    assert {entry["name"] for entry in json.loads(result.stdout)["kept"]} == {
        "mass",
        "height",
        "town",
    }


def test_a_european_file_is_read_and_told(run, tmp_path):
    frame = messy(40, 0).drop(columns="planet")
    frame["mass"] = [
        "" if pd.isna(value) else f"{1000 * value:,.1f}".translate(str.maketrans(",.", ".,"))
        for value in frame["mass"]
    ]
    frame["town"] = frame["town"].str.replace("Nice", "Nîmes")
    text = frame.to_csv(index=False, sep=";", decimal=",")
    (tmp_path / "ventes.csv").write_bytes(text.encode("cp1252"))
    result = run("select", "ventes.csv", *QUICK["select"], "--keep", "mass", "-o", "small.csv")
    assert result.exit_code == 0, result.output
    said = " ".join(result.stdout.split())
    assert "The cells are parted by semicolons." in said
    assert "decimal comma" in said
    assert "Western European (cp1252)" in said
    written = (tmp_path / "small.csv").read_bytes().decode("cp1252").splitlines()
    assert {line.split(";")[written[0].split(";").index("mass")] for line in written[1:]} == set(
        frame["mass"]
    )


def test_a_sheet_is_taken_by_its_name(run, tmp_path):
    pytest.importorskip("openpyxl")
    with pd.ExcelWriter(tmp_path / "book.xlsx") as book:
        pd.DataFrame({"note": ["nothing here"]}).to_excel(book, sheet_name="cover", index=False)
        messy(30, 0).to_excel(book, sheet_name="people", index=False)
    result = run("select", "book.xlsx", "--sheet", "people", *QUICK["select"], "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["n_samples"] == 30
