"""Every bad input: one line on standard error, exit code 2, nothing written."""

from __future__ import annotations

import os
import stat

import numpy as np
import pandas as pd
import pytest

BOTH = pytest.mark.parametrize("command", ["select", "compare"])


@BOTH
def test_a_missing_file(refused, command):
    assert "missing.csv: there is no such file" in refused(command, "missing.csv")


@BOTH
def test_an_empty_file(refused, command, tmp_path):
    (tmp_path / "empty.csv").touch()
    assert "empty.csv: " in refused(command, "empty.csv")


@BOTH
def test_another_format_than_the_name_says(refused, command, blobs, tmp_path):
    blobs.to_parquet(tmp_path / "table.csv")
    assert "Parquet" in refused(command, "table.csv")


@BOTH
def test_a_parquet_file_cut_short(refused, command, blobs, tmp_path):
    blobs.to_parquet(tmp_path / "whole.parquet")
    whole = (tmp_path / "whole.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    assert "cut.parquet: " in refused(command, "cut.parquet")


@BOTH
def test_nothing_but_text(refused, command, tmp_path):
    rows = "".join(f"x{i},y{i}\n" for i in range(9))
    (tmp_path / "words.csv").write_text("a,b\n" + rows)
    assert refused(command, "words.csv") == (
        "tamis: words.csv: nothing to select: no column can be used: 'a' (an identifier), 'b' (an "
        "identifier)."
    )


@BOTH
def test_a_single_usable_column(refused, command, blobs, tmp_path):
    blobs[["gene0"]].assign(tissue="liver").to_csv(tmp_path / "text.csv", index=False)
    assert refused(command, "text.csv") == (
        "tamis: text.csv: nothing to select: only 'gene0' can be used, not 'tissue' (all values "
        "are equal)."
    )


@BOTH
def test_two_rows(refused, command, tmp_path):
    (tmp_path / "two.csv").write_text("a,b,c\nx,2,3\ny,5,6\n")
    assert refused(command, "two.csv") == (
        "tamis: two.csv: nothing to select: it has 2 rows, and a choice takes 3."
    )


@BOTH
def test_missing_values_that_are_to_be_refused(refused, command, blobs, tmp_path):
    gappy = blobs.copy()
    gappy.iloc[3, 7] = np.nan
    gappy.to_csv(tmp_path / "gaps.csv", index=False)
    line = refused(command, "gaps.csv", "--missing", "refuse")
    assert "missing values in column 'gene7'; use --missing impute" in line


@BOTH
def test_all_rows_with_a_gap(refused, command, blobs, tmp_path):
    gappy = blobs.copy()
    for row in range(len(gappy) - 1):
        gappy.iloc[row, row % 40] = np.nan
    gappy.to_csv(tmp_path / "gaps.csv", index=False)
    line = refused(command, "gaps.csv", "--missing", "drop-rows")
    assert "Only 1 of 60 rows are without a gap; use --missing impute" in line


@BOTH
def test_values_too_large_to_square(refused, command, tmp_path):
    X = np.random.default_rng(0).normal(size=(10, 3))
    X[0, 1] = 1e200
    np.save(tmp_path / "large.npy", X)
    assert "column 'column1'" in refused(command, "large.npy")


@BOTH
def test_no_rows(refused, command, tmp_path):
    (tmp_path / "header.csv").write_text("a,b,c\n")
    assert "no rows" in refused(command, "header.csv")


@BOTH
def test_a_single_row(refused, command, tmp_path):
    (tmp_path / "one.csv").write_text("a,b,c\n1,2,3\n")
    assert "a single row" in refused(command, "one.csv")


@BOTH
@pytest.mark.parametrize(
    ("number", "said"),
    [
        ("15", "-k 15 is more than the 14 columns"),
        ("0", "keeps nothing"),
        ("-1", "keeps nothing"),
        ("1.5", "not a fraction"),
        ("0%", "not a fraction"),
        ("many", "not a number"),
        ("nan%", "not a fraction"),
    ],
)
def test_numbers_that_cannot_be_kept(refused, command, wine_csv, number, said):
    assert said in refused(command, wine_csv, "-k", number)


@pytest.mark.parametrize("option", ["-o", "--ranking", "--report"])
def test_a_folder_that_does_not_exist(refused, wine_csv, option):
    ending = "html" if option == "--report" else "csv"
    line = refused("select", wine_csv, option, f"nowhere/out.{ending}")
    assert "nowhere" in line
    assert "does not exist; create it" in line


def test_outputs_are_checked_before_the_table_is_read(refused):
    line = refused("select", "missing.csv", "-o", "nowhere/out.csv")
    assert "nowhere" in line


@pytest.mark.parametrize("name", ["wine.csv", "./wine.csv", "link.csv"])
def test_the_input_is_not_written_over(refused, wine_csv, tmp_path, name):
    (tmp_path / "link.csv").symlink_to(wine_csv)
    assert "is the input" in refused("select", "wine.csv", "-o", name)


def test_two_outputs_of_one_name(refused, wine_csv):
    line = refused("select", wine_csv, "-o", "out.csv", "--ranking", "./out.csv")
    assert "name the same file" in line


def test_a_folder_as_output(refused, wine_csv, tmp_path):
    (tmp_path / "out.csv").mkdir()
    assert "is a folder" in refused("select", wine_csv, "-o", "out.csv")


@pytest.mark.parametrize(
    "options",
    [("--output",), ("--output-format", "csv", "--output"), ("--report",)],
    ids=" ".join,
)
def test_a_folder_of_something_else_is_not_replaced(refused, wine_csv, tmp_path, options):
    (tmp_path / "p.zarr").mkdir()
    (tmp_path / "p.zarr" / "thesis.txt").write_text("years of work")
    line = refused("select", wine_csv, *options, "p.zarr")
    assert line.startswith(f"tamis: {options[-1]} p.zarr: ")
    assert "folder" in line


def test_a_report_does_not_replace_a_zarr_store(refused, wine_csv, tmp_path):
    (tmp_path / "p.zarr").mkdir()
    (tmp_path / "p.zarr" / ".zgroup").write_text("{}")
    assert "--report p.zarr: this is a folder" in refused("select", wine_csv, "--report", "p.zarr")


@pytest.mark.parametrize("option", ["-o", "--ranking", "--report"])
def test_nothing_is_written_into_the_input(refused, tmp_path, option):
    (tmp_path / "in.zarr").mkdir()
    (tmp_path / "in.zarr" / ".zgroup").write_text("{}")
    (tmp_path / "link").symlink_to(tmp_path / "in.zarr")
    for folder in ("in.zarr", "link"):
        line = refused("select", "in.zarr", option, f"{folder}/r.csv")
        assert f"{folder}/r.csv lies inside the input" in line


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("select", "data.xyz"), "Or name the format with --format NAME."),
        (("select", "table.npy"), "name its format with --format NAME."),
        (("select", "several.npz"), "Name it with --key NAME;"),
        (("select", "dataset:qqqqqq"), "`tamis datasets` lists those there are."),
        (("datasets", "qqqqqq"), "`tamis datasets` lists those there are."),
    ],
)
def test_advice_is_in_words_of_the_command_line(refused, tmp_path, arguments, said):
    (tmp_path / "data.xyz").write_text("a,b\n1,2\n")
    (tmp_path / "table.npy").write_text("a,b\n1,2\n")
    np.savez(tmp_path / "several.npz", first=np.eye(3), second=np.ones((3, 3)))
    line = refused(*arguments)
    assert said in line
    assert "=…" not in line


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_to(refused, wine_csv, tmp_path):
    (tmp_path / "locked").mkdir()
    (tmp_path / "locked").chmod(stat.S_IRUSR | stat.S_IXUSR)
    assert "cannot be written to" in refused("select", wine_csv, "-o", "locked/out.csv")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("-m", "udsf"), "there is no method 'udsf' (did you mean udfs?)"),
        (("-m", "mrsf", "--param", "alhpa=1"), "did you mean alpha?"),
        (("--param", "alpha"), "is not NAME=VALUE"),
        (("--param", "n_clusters=2", "--param", "n_clusters=3"), "twice"),
        (("-m", "mrsf", "--param", "alpha=2"), "'alpha' parameter of MRSF must be"),
        (("-m", "mrsf", "--param", "alpha=much"), "'alpha' parameter of MRSF must be"),
        (("--param", "scaling=much"), "'scaling' parameter of Auto must be"),
        (("--param", "n_features_to_select=3"), "has no parameter 'n_features_to_select'"),
        (("--param", "n_clusters=3", "--clusters", 3), "set the same"),
        (("-m", "max_variance", "--clusters", 3), "knows no clusters"),
        (("-m", "mrsf", "--param", "n_neighbors=178"), "use at most 177"),
        (("--clusters", 1000), "use at most 178"),
        (("--labels", "cultivr"), "did you mean 'cultivar'?"),
        (("--id", "name"), "there is no column 'name'"),
        (("--image-shape", "3x3"), "9 pixels"),
        (("--image-shape", "large"), "HEIGHTxWIDTH"),
        (("-o", "out.xyz"), "stands for no known format; there are"),
        (("-o", "out.xyz"), "with --output-format NAME."),
        (("-o", ".csv"), "--output .csv: the extension ''"),
        (("-o", "out.npy.gz"), "--output out.npy.gz: NPY files are neither read nor written"),
        (("-o", "out", "--output-format", "word"), "--output-format word is unknown"),
        (("--ranking", "out.html"), "must end in"),
        (("--format", "word"), "no format 'word'"),
        (("--scale", "huge"), "--scale"),
        (("--max-rows", 1), "--max-rows"),
        (("--seed", "x"), "--seed"),
        (("--sed", 1), "--sed"),
    ],
)
def test_options_that_make_no_sense(refused, wine_csv, options, said):
    assert said in refused("select", wine_csv, *options)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("select",), "FILE"),
        (("selct", "a.csv"), "Did you mean 'select'?"),
        (("methods", "udsf"), "did you mean udfs?"),
        (("datasets", "irsi"), "iris"),
        (("bench", "udsf"), "did you mean udfs?"),
        (("bench", "udfs", "--sets", "irsi"), "iris"),
        (("bench", "udfs", "--sets", ","), "names no data set"),
        (("bench", "udfs", "--sets", "iris"), "iris is no set of this experiment"),
        (("bench", "udfs", "-o", "nowhere/results"), "does not exist"),
        (("select", "dataset:irsi"), "iris"),
        (("select", "dataset:iris", "--labels", "y"), "leave out --labels"),
    ],
)
def test_other_mistakes(refused, arguments, said):
    assert said in refused(*arguments)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("-m", "udfs,mscf"), "there is no method 'mscf'"),
        (("-m", ","), "names no method"),
        (("--labels", "alcohol"), "different values"),
        (("--clusters", 179), "more than the 178 samples"),
        (("-o", "nowhere/deep"), "does not exist"),
        (("-o", "wine.csv"), "is a file, not a folder"),
    ],
)
def test_comparisons_that_make_no_sense(refused, wine_csv, options, said):
    assert said in refused("compare", wine_csv, *options)


def test_labels_with_gaps_judge_nothing(refused, blobs, tmp_path):
    labels = ["a", "b", None] * 20
    blobs.assign(kind=labels).to_csv(tmp_path / "gaps.csv", index=False)
    line = refused("compare", "gaps.csv", "--labels", "kind")
    assert "20 of 60 labels are missing" in line


def test_a_table_of_few_samples_says_what_to_lower(refused, tmp_path):
    pd.DataFrame(np.eye(5), columns=list("abcde")).to_csv(tmp_path / "small.csv", index=False)
    line = refused("select", "small.csv", "-m", "mrsf", "--clusters", 10)
    assert "n_clusters=10 is too large for n_samples=5; use at most 5" in line
    assert "--param" in line
