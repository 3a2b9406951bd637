"""``tamis select`` on tables that are read in blocks."""

from __future__ import annotations

import errno
import json
import os

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from tamis import MRSF, io


@pytest.fixture(name="parts")
def parts_fixture(blobs, tmp_path):
    """The blobs, six times over, in three files with a column of text."""
    for part in range(3):
        rows = pd.concat([blobs, blobs], ignore_index=True).assign(name="a")
        rows.to_parquet(tmp_path / f"part-{part}.parquet", row_group_size=50)
    return "*.parquet"


def test_a_pattern(run, parts, tmp_path):
    result = run("select", parts, "--memory", "32MB", "-k", 4, "--drop", "name", "-m", "mrsf")
    assert result.exit_code == 0, result.output
    first, scale, method, number, *_ = result.stdout.splitlines()
    assert "360 rows × 40 columns, read in 9 blocks" in first
    assert "standardised" in scale
    assert method == "Method: mrsf, as asked for."
    assert number == "Keeps 4 columns: as asked for."
    assert "goes on from it" in result.stderr
    assert list(tmp_path.glob("*.checkpoint")) == []


def test_json_and_a_ranking(run, parts, tmp_path):
    result = run(
        *("select", ".", "--numeric-only", "-m", "mrsf", "-k", 4, "--json"),
        *("--ranking", "ranking.json"),
    )
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    table = io.open(tmp_path / "*.parquet", numeric_only=True, scaling="standard")
    expected = MRSF(4).fit(table)
    assert {one["name"] for one in told["kept"]} == set(expected.get_feature_names_out())
    assert told["notes"][-1] == "Left out, since not of numbers: name."
    ranking = pd.read_json(tmp_path / "ranking.json")
    np.testing.assert_allclose(np.sort(ranking["score"])[::-1], np.sort(expected.scores_)[::-1])


def test_nothing_to_tune(run, parts, blobs):
    command = ("select", parts, "--drop", "name", "--json")
    result = run(*command)
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["method"] == "auto"
    assert told["structure"]["found"]
    assert told["n_kept"] == len(told["kept"]) == told["n_features"]
    told = run(*command[:-1]).stdout
    assert "Structure: the columns know more of each other" in told
    assert "in refits" in told


def test_other_methods_and_scales(run, parts):
    keep = ("--drop", "name", "--keep", "gene7", "-k", 3, "--json")
    result = run("select", parts, "-m", "column_subset", "--scale", "none", *keep)
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["kept"][0]["name"] == "gene7"
    assert told["scaling"] == "none"


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ((), "column 'name' holds text, not numbers; leave it out with --drop NAME"),
        (("--drop", "nome"), "there is no column 'nome' to drop; did you mean 'name'?"),
        (("--drop", "name", "-m", "udfs"), "udfs needs all rows"),
        (("--drop", "name", "-k", "99"), "-k 99 is more than the 40 columns"),
        (("--report", "why.html"), "--report shows rows, and this table is read in blocks"),
        (("--prepared", "-o", "out.csv"), "--prepared needs the whole table in memory"),
        (("--drop", "name", "-o", "out.xlsx"), "Excel files are not written in blocks of rows"),
        (("--drop", "name", "-o", "out.h5ad"), "these are: CSV, TSV, Parquet, Feather, NPY"),
        (("--drop", "name", "-o", "part-1.parquet"), "is one of the files read"),
        (("--drop", "name", "-o", "out.parquet"), "would be read as a part of *.parquet"),
        (("--drop", "name", "-o", "none/out.csv"), "does not exist"),
        (("--id", "nome", "-o", "out.csv"), "there is no column 'nome' to drop"),
        (("--memory", "much"), "memory='much' is no amount"),
    ],
)
def test_what_is_refused(run, parts, arguments, what):
    result = run("select", parts, *arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert what in result.stderr.splitlines()[-1]


def test_nothing_is_written_among_the_parts_of_a_folder(parts, refused):
    for option in ("-o", "--ranking"):
        error = refused("select", ".", "--numeric-only", "-m", "mrsf", option, "out.csv")
        assert "out.csv would be read as a part of . the next time" in error


def test_files_that_are_not_there(refused):
    assert "none.parquet: there is no such file" in refused("select", "none.parquet")
    assert "none-*.parquet: no file matches" in refused("select", "none-*.parquet")
    assert "name it with --memory" in refused("select", "x.csv", "--checkpoint", "kept")


def test_a_gap_in_the_last_part_and_going_on(run, parts, blobs, tmp_path):
    last = tmp_path / "part-2.parquet"
    whole = last.read_bytes()
    pd.read_parquet(last).assign(gene3=np.nan).to_parquet(last, row_group_size=50)
    command = ("select", parts, "-m", "mrsf", "-k", 4, "--drop", "name", "--json")
    command += ("--checkpoint", "kept")
    result = run(*command)
    assert result.exit_code == 2
    assert "part-2.parquet, row group 0: it contains NaN in column 'gene3'" in result.stderr
    assert (tmp_path / "kept").exists()
    last.write_bytes(whole)
    again = run(*command)
    assert again.exit_code == 0
    assert "Goes on from kept" in again.stderr
    assert not (tmp_path / "kept").exists()
    assert json.loads(again.stdout)["kept"] == json.loads(run(*command).stdout)["kept"]


def test_a_checkpoint_of_something_else(run, parts, tmp_path):
    (tmp_path / "kept").write_text("anything")
    result = run("select", parts, "-m", "mrsf", "--drop", "name", "--checkpoint", "kept")
    assert result.exit_code == 2
    assert "kept: this is no checkpoint of tamis" in result.stderr
    assert (tmp_path / "kept").read_text() == "anything"


def rename_a_column(last):
    pd.read_parquet(last).rename(columns={"gene3": "gen3"}).to_parquet(last, row_group_size=50)


def damage_the_middle(last):
    """A row group in the middle; what is at the end, and tells where it is, is whole."""
    start = pq.ParquetFile(last).metadata.row_group(1).column(0).data_page_offset
    with last.open("r+b") as file:
        file.seek(start)
        file.write(b"\xff" * 300)


def cut_in_the_middle(last):
    os.truncate(last, last.stat().st_size // 2)


@pytest.mark.parametrize(
    ("harm", "what"),
    [
        (rename_a_column, "part-2.parquet has other columns than part-0.parquet"),
        (damage_the_middle, "part-2.parquet, row group 1: damaged or cut short"),
        (cut_in_the_middle, "part-2.parquet: damaged, cut short, or not Parquet"),
    ],
)
def test_a_part_that_is_wrong(harm, what, run, parts, tmp_path):
    harm(tmp_path / "part-2.parquet")
    result = run("select", parts, "-m", "mrsf", "--drop", "name", "--checkpoint", "kept")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert what in result.stderr.splitlines()[-1]
    assert (tmp_path / "kept").exists() == ("row group" in what)  # what was done is kept


def once_begun(monkeypatch, act):
    """Do something when the first block is worked on."""
    from tamis.distributed._survey import MomentsStep

    call, done = MomentsStep.__call__, []

    def acting(step, X, start, place):
        if not done:
            done.append(act())
        return call(step, X, start, place)

    monkeypatch.setattr(MomentsStep, "__call__", acting)


@pytest.mark.parametrize(
    ("harm", "what"),
    [
        (lambda last: last.unlink(), "the file is gone; put it back"),
        (lambda last: os.utime(last, ns=(1, 1)), "the file has changed since the table was opened"),
    ],
)
def test_a_part_that_goes_or_changes_while_it_is_read(
    harm, what, run, parts, tmp_path, monkeypatch
):
    last = tmp_path / "part-2.parquet"
    once_begun(monkeypatch, lambda: harm(last))
    result = run("select", parts, "-m", "mrsf", "--drop", "name", "--checkpoint", "kept")
    assert result.exit_code == 2
    assert f"part-2.parquet, row group 0: {what}" in result.stderr.splitlines()[-1]
    assert (tmp_path / "kept").exists()


def test_a_full_disk_and_an_interruption(run, parts, tmp_path, monkeypatch):
    from tamis.distributed._checkpoint import Checkpoint
    from tamis.utils import files

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    command = ("select", parts, "-m", "mrsf", "-k", 4, "--drop", "name", "--checkpoint", "kept")
    with monkeypatch.context() as patch:
        patch.setattr(files, "_flush", full)
        result = run(*command)
    assert result.exit_code == 2
    assert "kept: the checkpoint cannot be written (the disk is full)" in result.stderr
    write = Checkpoint.write

    def stopping(checkpoint, progress):
        write(checkpoint, progress)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "write", stopping)
        result = run(*command)
    assert result.exit_code == 130
    assert "stopped; what is done is kept in kept, and the same command goes on" in result.stderr
    result = run(*command)
    assert result.exit_code == 0
    assert "Goes on from kept" in result.stderr


def test_a_cluster_that_fails(run, parts, monkeypatch):
    """The advice is that of the cluster, not of other parameters."""
    from tamis import distributed

    class Lost:
        def __init__(self, table, address):
            vars(self).update(vars(table))
            self.shape, self.names, self.ndim = table.shape, table.names, 2

        def first_row(self):
            raise distributed.ClusterError("The connection was lost; call fit again.")

    monkeypatch.setattr(distributed, "on_cluster", Lost)
    monkeypatch.setattr("tamis.base.in_blocks", lambda X: X)
    result = run("select", parts, "--drop", "name", "-m", "mrsf", "--scheduler", "tcp://here:1")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1] == ("tamis: The connection was lost; call fit again.")


def test_no_scheduler(run, parts, monkeypatch):
    from tamis import distributed

    def nobody(*_):
        raise OSError("Timed out trying to connect")

    monkeypatch.setattr(distributed, "on_cluster", nobody)
    result = run("select", parts, "--drop", "name", "--scheduler", "tcp://127.0.0.1:9")
    assert result.exit_code == 2
    assert "--scheduler tcp://127.0.0.1:9: Timed out" in result.stderr


def whole_table(tmp_path):
    parts = sorted(tmp_path.glob("part-*.parquet"))
    return pd.concat([pd.read_parquet(part) for part in parts], ignore_index=True)


@pytest.mark.parametrize("name", ["small.csv", "small.tsv", "small.feather", "out/small.parquet"])
def test_the_selected_columns_are_written_in_blocks(name, run, parts, tmp_path):
    (tmp_path / "out").mkdir()
    result = run("select", parts, "--id", "name", "-m", "mrsf", "-k", 4, "-o", name, "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    kept = sorted((one["name"] for one in told["kept"]), key=lambda name: int(name[4:]))
    expected = whole_table(tmp_path)[["name", *kept]]
    read = {"csv": pd.read_csv, "tsv": pd.read_table, "feather": pd.read_feather}
    found = read.get(name.rpartition(".")[2], pd.read_parquet)(tmp_path / name)
    pd.testing.assert_frame_equal(found, expected, check_dtype=False, check_exact=True)
    assert told["files"] == {"output": name}
    assert list(tmp_path.glob("*.checkpoint")) == []


def test_the_selected_columns_as_npy_and_on_standard_output(run, parts, tmp_path):
    command = ("select", parts, "--id", "name", "-m", "mrsf", "-k", 4, "-o")
    assert run(*command, "small.npy").exit_code == 0
    found = np.load(tmp_path / "small.npy")
    result = run(*command, "-")
    assert result.exit_code == 0
    assert "Method: mrsf" in result.stderr
    head, *rows = result.stdout.splitlines()
    name, *kept = head.split(",")
    assert name == "name"
    np.testing.assert_array_equal(found, whole_table(tmp_path)[kept])
    assert len(rows) == 360


def test_cells_of_text_files_are_written_as_they_are(run, tmp_path):
    rng = np.random.default_rng(0)
    for part in range(2):
        lines = [f"00{i},{rng.normal():.3f}0,{i % 7},{rng.normal():.2e}" for i in range(40)]
        text = "\n".join(["id,a,b,c", *lines]) + "\n"
        (tmp_path / f"p{part}.csv").write_text(text)
    result = run("select", "p*.csv", "--id", "id", "-m", "max_variance", "-k", 2, "-o", "small.txt")
    assert result.exit_code == 0, result.output
    written = (tmp_path / "small.txt").read_text().splitlines()
    cells = [
        line.split(",")
        for part in range(2)
        for line in (tmp_path / f"p{part}.csv").read_text().splitlines()[1:]
    ]
    kept = [["id", "a", "b", "c"].index(name) for name in written[0].split(",")]
    assert kept[0] == 0
    assert len(kept) == 3
    assert written[1:] == [",".join(row[j] for j in kept) for row in cells]


def test_columns_without_names_are_called_as_in_memory(run, tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 5)) * [1, 2, 3, 4, 5]
    np.save(tmp_path / "x.npy", X)
    command = (
        "select",
        "x.npy",
        "-m",
        "max_variance",
        "-k",
        2,
        "-o",
        "small.csv",
        "--scale",
        "none",
    )
    assert run(*command, "--memory", "32MB").exit_code == 0
    in_blocks = pd.read_csv(tmp_path / "small.csv")
    assert run(*command).exit_code == 0
    pd.testing.assert_frame_equal(in_blocks, pd.read_csv(tmp_path / "small.csv"))


def test_a_part_that_breaks_while_it_is_written(run, parts, tmp_path, monkeypatch):
    from tamis.io import LazyTable

    cells = LazyTable.cells

    def cut(table, *arguments, **options):
        for block, found in cells(table, *arguments, **options):
            if block.part == 1:
                (tmp_path / "part-2.parquet").unlink(missing_ok=True)
            yield block, found

    monkeypatch.setattr(LazyTable, "cells", cut)
    result = run("select", parts, "--drop", "name", "-m", "mrsf", "-k", 4, "-o", "small.csv")
    assert result.exit_code == 2
    assert "part-2.parquet, row group 0: the file is gone" in result.stderr
    assert not (tmp_path / "small.csv").exists()


def test_a_saved_selection_cuts_new_tables(run, parts, tmp_path):
    saved = run("select", parts, "--id", "name", "-m", "mrsf", "-k", 4, "--save", "selection.json")
    assert saved.exit_code == 0, saved.output
    for options in ((), ("--memory", "32MB")):
        result = run("apply", "selection.json", "part-1.parquet", "-o", "cut.csv", *options)
        assert result.exit_code == 0, result.output
    one = pd.read_csv(tmp_path / "cut.csv")
    assert one.shape == (120, 5)
    result = run("apply", "selection.json", parts, "-o", "all.csv", "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["n_samples"] == 360
    assert told["passthrough"] == ["name"]
    found = pd.read_csv(tmp_path / "all.csv")
    pd.testing.assert_frame_equal(found, whole_table(tmp_path)[["name", *told["columns"]]])
    pd.testing.assert_frame_equal(found[120:240].reset_index(drop=True), one)


def test_what_apply_refuses_in_blocks(run, parts, tmp_path, refused):
    assert run("select", parts, "--id", "name", "-k", 4, "--save", "s.json").exit_code == 0
    pd.DataFrame({"gene1": [1.0, 2], "b": [1, 2]}).to_parquet(tmp_path / "other.parquet")
    error = refused("apply", "s.json", "other.parquet", "-o", "x.csv", "--memory", "32MB")
    assert "other.parquet" in error
    assert "gene" in error
    (tmp_path / "other.parquet").unlink()
    error = refused("apply", "s.json", parts, "-o", "x.xlsx")
    assert "Excel files are not written in blocks" in error
