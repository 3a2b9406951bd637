"""``tamis select``: the selection of the Python interface, in files and on the screen."""

from __future__ import annotations

import errno
import json
import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler

from tamis import MRSF, UDFS, Auto, LaplacianScore, MaxVariance, RandomSubset, io
from tamis.registry import DEFAULT_METHOD, DEFAULT_METHOD_REASON


def kept_columns(result):
    assert result.exit_code == 0, result.output
    return [entry["name"] for entry in json.loads(result.stdout)["kept"]]


def best(selector, frame):
    """What the Python interface keeps of a frame, the best first."""
    names = np.array(frame.columns)
    order = np.argsort(selector.fit(frame).ranking_)
    return list(names[order][: selector.get_support().sum()])


def standardised(frame):
    return StandardScaler().set_output(transform="pandas").fit_transform(frame)


def test_the_default_is_the_recommended_method(run, wine, wine_csv):
    result = run("select", wine_csv, "--labels", "cultivar", "-k", 4)
    assert result.exit_code == 0
    assert result.stderr == ""
    assert "178 samples × 13 columns; labels set aside." in result.stdout
    assert "Scaling: every column is standardised; the columns are of diff" in result.stdout
    assert "Number: 4 of 13 columns, as asked for, where 5 would have been found." in result.stdout
    assert f"Method: {DEFAULT_METHOD}, {DEFAULT_METHOD_REASON}." in result.stdout
    rows = re.findall(r"^ +\d+ +\d+  (\S+) +\S+$", result.stdout, re.MULTILINE)
    assert rows == best(Auto(4), wine.drop(columns="cultivar"))


@pytest.mark.parametrize(
    ("options", "selector"),
    [
        (
            ("-m", "udfs", "--param", "gamma=0.01", "--clusters", 3),
            UDFS(4, gamma=0.01, n_clusters=3),
        ),
        (
            ("-m", "laplacian-score", "--param", "weights=binary"),
            LaplacianScore(4, weights="binary"),
        ),
        (("-m", "laplacian_score", "--param", "bandwidth=none"), LaplacianScore(4)),
        (("-m", "random_subset", "--seed", 7), RandomSubset(4, random_state=7)),
        (("-m", "mrsf"), MRSF(4)),
    ],
)
def test_the_selection_is_that_of_the_python_interface(run, wine, wine_csv, options, selector):
    X = standardised(wine.drop(columns="cultivar"))
    result = run("select", wine_csv, "--labels", "cultivar", "-k", 4, "--json", *options)
    assert kept_columns(result) == best(selector, X)


def test_max_variance_is_not_given_columns_of_one_variance(run, wine, wine_csv):
    result = run(
        "select", wine_csv, "--labels", "cultivar", "-k", 2, "-m", "max_variance", "--json"
    )
    assert kept_columns(result) == best(MaxVariance(2), wine.drop(columns="cultivar"))
    assert json.loads(result.stdout)["scaling"] == "none"


@pytest.mark.parametrize("scale", ["none", "unit", "columns", "standard"])
def test_scaling_in_place_is_that_of_the_evaluation(run, wine, wine_csv, scale):
    from tamis.preprocessing import scaled

    frame = wine.drop(columns="cultivar")
    X = pd.DataFrame(scaled(frame.to_numpy(), scale), columns=frame.columns)
    options = ("--labels", "cultivar", "-k", 4, "--scale", scale, "--json")
    assert kept_columns(run("select", wine_csv, "-m", "mrsf", *options)) == best(MRSF(4), X)
    result = run("select", wine_csv, *options)
    assert kept_columns(result) == best(Auto(4, scaling="none"), X)
    assert json.loads(result.stdout)["scaling"] == scale


@pytest.mark.slow
def test_a_file_that_is_written_holds_the_selected_columns_as_they_were(
    run, wine, wine_csv, tmp_path
):
    result = run(
        "select", wine_csv, "--labels", "cultivar", "-k", 4, "-o", "kept.parquet",
        "--ranking", "ranking.csv", "--report", "report.html",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    for name in ("kept.parquet", "ranking.csv", "report.html"):
        assert f"Wrote {name}" in result.stdout
    wanted = best(Auto(4), wine.drop(columns="cultivar"))
    kept = pd.read_parquet(tmp_path / "kept.parquet")
    assert set(kept.columns) == {*wanted, "cultivar"}
    pd.testing.assert_frame_equal(kept, wine[kept.columns], check_dtype=False)
    ranking = pd.read_csv(tmp_path / "ranking.csv")
    assert list(ranking.feature[:4]) == wanted
    assert list(ranking["rank"]) == list(range(1, 14))
    page = (tmp_path / "report.html").read_text()
    assert wanted[0] in page
    assert "tamis select" in page


def test_files_that_are_there_are_replaced_whole(run, wine_csv, tmp_path):
    (tmp_path / "kept.csv").write_text("old")
    (tmp_path / "kept.csv").chmod(0o640)
    (tmp_path / "link.csv").symlink_to("kept.csv")
    assert run("select", wine_csv, "-k", 2, "-o", "link.csv").exit_code == 0
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "kept.csv").stat().st_mode & 0o777 == 0o640
    assert len((tmp_path / "kept.csv").read_text().splitlines()) == 179
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept.csv", "link.csv", "wine.csv"]


def test_sparse_tables_are_scaled_without_centring(run, tmp_path):
    counts = sp.random_array((80, 30), density=0.2, rng=np.random.default_rng(0), format="csr")
    np.savez(
        tmp_path / "counts.npz",
        X_data=counts.data, X_indices=counts.indices, X_indptr=counts.indptr, X_shape=counts.shape,
    )  # fmt: skip
    result = run("select", "counts.npz", "-k", 3, "-m", "mrsf", "--json")
    expected = MRSF(3).fit(StandardScaler(with_mean=False).fit_transform(counts))
    columns = [entry["column"] for entry in json.loads(result.stdout)["kept"]]
    assert columns == list(np.argsort(expected.ranking_)[:3])
    said = run("select", "counts.npz", "-m", "mrsf").stdout
    assert "not centred: the table stays sparse" in said
    assert "sparse (20.00% stored)" in said


def test_whole_numbers_are_scaled_in_a_table_of_their_own(run, tmp_path):
    whole = np.random.default_rng(0).integers(0, 100, size=(50, 12))
    np.save(tmp_path / "whole.npy", whole)
    result = run("select", "whole.npy", "-k", 3, "-o", "kept.npy", "--json")
    columns = sorted(entry["column"] for entry in json.loads(result.stdout)["kept"])
    np.testing.assert_array_equal(np.load(tmp_path / "kept.npy"), whole[:, columns])


def test_single_precision_is_scaled_in_place(run, tmp_path, blobs):
    X = blobs.to_numpy(np.float32)
    np.save(tmp_path / "single.npy", X)
    result = run("select", "single.npy", "-m", "mrsf", "-k", 4, "-o", "kept.npy", "--json")
    columns = [entry["column"] for entry in json.loads(result.stdout)["kept"]]
    expected = MRSF(4).fit(StandardScaler().fit_transform(X))
    assert columns == list(np.argsort(expected.ranking_)[:4])
    np.testing.assert_array_equal(np.load(tmp_path / "kept.npy"), X[:, sorted(columns)])


def test_a_long_table_is_ranked_on_some_of_its_rows_and_written_whole(run, blobs, tmp_path):
    blobs.to_csv(tmp_path / "blobs.csv", index=False)
    result = run("select", "blobs.csv", "-k", 4, "--max-rows", 30, "-o", "kept.csv")
    assert "Ranked on 30 of the 60 rows, drawn at random, as --max-rows says" in result.stdout
    kept = pd.read_csv(tmp_path / "kept.csv")
    pd.testing.assert_frame_equal(kept, blobs[kept.columns])


def test_methods_that_compare_each_row_with_each_take_some_rows_by_themselves(
    run, monkeypatch, blobs, tmp_path
):
    monkeypatch.setattr("tamis.cli._preparation.NEIGHBOR_ROWS", 25)
    blobs.to_csv(tmp_path / "blobs.csv", index=False)
    result = json.loads(run("select", "blobs.csv", "--json").stdout)
    assert result["n_rows_used"] == 25
    result = json.loads(run("select", "blobs.csv", "-m", "mrsf", "--json").stdout)
    assert result["n_rows_used"] == 25
    result = json.loads(run("select", "blobs.csv", "-m", "pca_score", "--json").stdout)
    assert result["n_rows_used"] == 60


@pytest.mark.parametrize(
    ("n_columns", "n_kept"), [(2, 1), (13, 6), (20, 10), (40, 10), (150, 15), (3000, 100)]
)
def test_how_many_are_kept_by_default(n_columns, n_kept):
    from tamis.cli._options import number_to_keep

    number, why = number_to_keep(None, n_columns, "it")
    assert number == n_kept
    assert why.endswith("; -k sets another number")


@pytest.mark.parametrize(("text", "n_kept"), [("3", 3), ("0.5", 6), ("50%", 6), ("1.0", 13)])
def test_numbers_and_fractions(run, wine_csv, text, n_kept):
    result = run("select", wine_csv, "--labels", "cultivar", "-k", text, "--json")
    assert json.loads(result.stdout)["n_kept"] == n_kept


def test_only_the_top_is_printed(run, blobs, tmp_path):
    blobs.to_csv(tmp_path / "blobs.csv", index=False)
    result = run("select", "blobs.csv", "-m", "mrsf", "-k", 30, "--top", 3)
    assert len(re.findall(r"gene\d+", result.stdout)) == 3
    assert "… and 27 more" in result.stdout


def test_registered_sets_are_tables_too(run):
    frame = load_iris(as_frame=True).data
    result = run("select", "dataset:iris", "-k", 2, "--json")
    assert kept_columns(result) == best(Auto(2), frame)


def test_registered_sets_have_their_column_names(run):
    result = run("select", "dataset:iris", "-k", 4, "--json")
    assert sorted(kept_columns(result)) == sorted(load_iris().feature_names)


@pytest.mark.parametrize("options", [(), ("--scale", "none"), ("--max-rows", 30)])
def test_what_is_written_comes_from_the_file(run, tmp_path, options):
    rng = np.random.default_rng(0)
    lines = ["naïve;count;price;flag;day; kind"]
    for i in range(40):
        cells = [9007199254740993 + 2 * int(rng.integers(99)), f"{rng.random():.2f}0", i % 3 == 0]
        lines.append(f"{rng.normal():.3f};{cells[0]};{cells[1]};{cells[2]};2024-01-{i % 28 + 1};x")
    text = "\r\n".join(lines) + "\r\n"
    (tmp_path / "in.csv").write_bytes(text.encode("latin-1"))
    result = run(
        "select", "in.csv", "--labels", "kind", "--id", "day", "-m", "laplacian_score", "-k", 4,
        "-o", "out.csv", *options,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    rows = [line.split(";") for line in lines]
    expected = "\r\n".join(";".join([r[4], r[5], *r[:4]]) for r in rows) + "\r\n"
    assert (tmp_path / "out.csv").read_bytes() == expected.encode("latin-1")
    assert "The labels are the column ' kind', whose name has spaces around it." in result.stdout
    assert "The text is not UTF-8" in result.stdout


def test_types_of_a_frame_stay(run, wine, tmp_path):
    frame = wine.assign(
        count=np.arange(178) ** 2 + 9007199254740993,
        flag=np.arange(178) % 3 == 0,
        day=pd.date_range("2024-01-01", periods=178),
    )
    frame.to_parquet(tmp_path / "in.parquet")
    options = ("--labels", "cultivar", "--id", "day", "-k", 15)
    for name in ("out.parquet", "out.feather"):
        assert run("select", "in.parquet", *options, "-o", name).exit_code == 0
    kept = pd.read_parquet(tmp_path / "out.parquet")
    pd.testing.assert_frame_equal(kept, frame[kept.columns])
    pd.testing.assert_frame_equal(pd.read_feather(tmp_path / "out.feather"), frame[kept.columns])


def test_a_running_number_is_not_ranked_without_a_hint(run, wine, tmp_path):
    wine.reset_index().to_csv(tmp_path / "in.csv", index=False)
    result = run("select", "in.csv", "--labels", "cultivar", "-k", 3)
    assert result.stderr == (
        "warning: in.csv: Column 'index' looks like a running number or an id and is taken as a "
        "feature; if it only names the rows, set it aside with --id 'index'.\n"
    )
    result = run("select", "in.csv", "--labels", "cultivar", "-k", 3, "--id", "index")
    assert result.stderr == ""
    assert "13 columns; labels and ids set aside" in result.stdout
    wine.to_excel(tmp_path / "in.xlsx")
    result = run("select", "in.xlsx", "--labels", "cultivar", "-k", 3)
    assert "The first column has no name: taken as row ids." in result.stdout


@pytest.mark.parametrize("command", ["select", "compare"])
def test_a_header_of_numbers_can_be_told(run, blobs, tmp_path, command):
    blobs.iloc[:, :6].set_axis([5, 10, 20, 40, 60, 90], axis=1).to_csv("in.csv", index=False)
    methods = ("-m", "max_variance", "-k", 2)
    result = run(command, "in.csv", *methods)
    assert "(5, 10, 20, …) is read as data; does it hold names? Then say --header." in result.stderr
    assert "61 samples × 6 columns" in result.stdout
    result = run(command, "in.csv", *methods, "--header")
    assert result.stderr == ""
    assert "60 samples × 6 columns" in result.stdout


def test_columns_that_scaling_left_are_named(run, blobs, tmp_path):
    shares = np.random.default_rng(0).random((60, 6))
    shares /= shares.sum(axis=1, keepdims=True)
    table = blobs.assign(total=shares.sum(axis=1), far=2.0**53 + 20 * (np.arange(60) % 7))
    table.to_csv(tmp_path / "in.csv", index=False)
    result = run("select", "in.csv", "-m", "mrsf", "-k", 41, "--json")
    assert "column 'total' does not vary beyond rounding: left as constant" in result.stderr
    assert "far" not in result.stderr
    assert "total" not in kept_columns(result)


def test_warnings_are_lines_of_their_own(run, wine_csv):
    result = run("select", wine_csv, "-m", "udfs", "--param", "max_iter=2", "-k", 3, "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["parameters"]["max_iter"] == 2
    (line,) = result.stderr.splitlines()
    assert line.startswith("warning: UDFS did not converge")


def test_column_names_cannot_write_to_the_terminal(run, blobs, tmp_path):
    name = "\x1b[31mred[bold]"
    blobs.rename(columns={"gene0": name}).to_csv(tmp_path / "odd.csv", index=False)
    result = run("select", "odd.csv", "-k", 40, "--top", 40)
    assert "\x1b" not in result.stdout
    assert r"\x1b[31mred[bold]" in result.stdout


def test_nothing_is_written_when_the_disk_fills_up(refused, wine_csv, monkeypatch):
    def fill(table, columns, path, **options):
        path.write_text("half of it")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(io, "write_table", fill)
    line = refused("select", wine_csv, "-o", "kept.csv", "--ranking", "ranking.csv")
    assert "cannot write kept.csv: No space left on device" in line


def test_a_computation_that_fails_is_told_from_bad_input(refused, wine_csv, monkeypatch):
    def fail(self, X, y=None):
        raise np.linalg.LinAlgError("did not settle")

    monkeypatch.setattr(Auto, "fit", fail)
    assert "did not settle" in refused("select", wine_csv, code=1)


def test_what_nobody_foresaw_is_one_line_too(refused, wine_csv, monkeypatch):
    def fail(self, X, y=None):
        raise KeyError("surprise")

    monkeypatch.setattr(Auto, "fit", fail)
    assert "a fault of tamis" in refused("select", wine_csv, code=1)


def test_an_interrupt_leaves_nothing(refused, wine_csv, monkeypatch):
    def stop(self, X, y=None):
        raise KeyboardInterrupt

    monkeypatch.setattr(Auto, "fit", stop)
    assert "stopped" in refused("select", wine_csv, "-o", "kept.csv", code=130)


@pytest.mark.parametrize("ending", [".csv.gz", ".tsv.bz2", ".libsvm.xz"])
def test_text_is_written_compressed(run, wine_csv, tmp_path, ending):
    path = tmp_path / f"kept{ending}"
    result = run("select", wine_csv, "--labels", "cultivar", "-k", 3, "-o", path, "--json")
    assert len(kept_columns(result)) == 3
    assert io.read(path).X.shape[0] == 178
    with pytest.raises(UnicodeDecodeError):
        path.read_text(encoding="utf-8")


def test_a_percentage_is_kept_as_it_is_written(run, tmp_path):
    np.save(tmp_path / "d.npy", np.random.default_rng(0).normal(size=(9, 100)))
    for share, number in (("29%", 29), ("0.29", 29), ("57%", 57), ("0.295", 29)):
        result = run("select", "d.npy", "-m", "max_variance", "-k", share, "--json")
        assert len(kept_columns(result)) == number


def test_what_was_done_to_the_table_is_in_the_json(run, tmp_path):
    np.savetxt(tmp_path / "d.csv", np.random.default_rng(0).normal(size=(30, 5)), delimiter=",")
    options = ("-m", "mrsf", "-k", 2, "--max-rows", 20, "--json")
    result = json.loads(run("select", "d.csv", *options).stdout)
    assert result["notes"] == [
        "The first line holds numbers only: read as data, columns named column0, ….",
        "Ranked on 20 of the 30 rows, drawn at random, as --max-rows says; --max-rows sets another "
        "number.",
        "Columns standardised: mean 0, standard deviation 1.",
    ]


@pytest.mark.parametrize(
    ("scale", "code"),
    [
        ("standard", "X = StandardScaler().fit_transform(X)"),
        ("columns", "X = MinMaxScaler().fit_transform(X)"),
        ("unit", None),
        ("none", None),
    ],
)
def test_the_report_says_how_the_table_was_prepared(run, wine_csv, tmp_path, scale, code):
    result = run(
        "select", wine_csv, "--labels", "cultivar", "-k", 3, "-m", "max_variance",
        "--scale", scale, "--max-rows", 100, "--report", "r.html", "--json",
    )  # fmt: skip
    notes = json.loads(result.stdout)["notes"]
    assert len(notes) == 2
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    prepared = page[page.index('<section id="prepared">') :]
    prepared = prepared[: prepared.index("</section>")]
    for note in notes:
        assert f"<li>{note}</li>" in prepared
    repeat = page[page.index('<section id="repeat">') :]
    assert ("fit_transform(X)\nselector" in repeat) == (code is not None)
    assert code is None or code in repeat


@pytest.mark.parametrize("command", ["bench", "methods", "datasets"])
def test_usage_names_the_optional_argument_once(run, command):
    usage = run(command, "--help").stdout
    assert "[NAME]" in usage
    assert "[[" not in usage


@pytest.mark.parametrize("command", ["select", "compare"])
def test_a_table_of_constants_keeps_nothing(refused, tmp_path, command):
    pd.DataFrame({"a": [1, 1, 1], "b": [2, 2, 2]}).to_csv(tmp_path / "flat.csv", index=False)
    line = refused(command, "flat.csv", *(("-o", "kept.csv") if command == "select" else ()))
    assert "flat.csv: every column is constant" in line


def test_the_selected_columns_on_standard_output(run, wine_csv):
    options = ("select", wine_csv, "--labels", "cultivar", "-k", 3)
    result = run(*options, "-o", "-")
    assert result.exit_code == 0, result.output
    assert "Method: " in result.stderr
    assert "Wrote" not in result.stderr
    run(*options, "-o", "kept.csv")
    assert result.stdout == (wine_csv.parent / "kept.csv").read_text()
    tabbed = run(*options, "-o", "-", "--output-format", "tsv").stdout
    assert tabbed.count("\t") == result.stdout.count(",")
    assert not (wine_csv.parent / "-").exists()


def test_standard_output_holds_one_thing(refused, wine_csv):
    assert "leave one out" in refused("select", wine_csv, "-o", "-", "--json")
    line = refused("select", wine_csv, "-o", "-", "--output-format", "zarr")
    assert "is a folder" in line


@pytest.mark.parametrize(
    ("name", "better"),
    [("r.pdf", "r.html"), ("why", "why.html"), ("-", "report.html"), ("a.tar.gz", "a.tar.html")],
)
def test_a_report_is_html(refused, wine_csv, name, better):
    line = refused("select", wine_csv, "--report", name)
    assert f"--report {name}: a report is an HTML page; call it {better}." in line


@pytest.fixture
def cells(tmp_path, blobs):
    """60 cells, 40 genes: an h5ad file with two layers."""
    from tamis.io import Table, write_table

    X = blobs.to_numpy()
    path = tmp_path / "cells.h5ad"
    write_table(Table(X, blobs.columns.to_numpy()), range(40), path)
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "r+") as file:
        file["layers"]["counts"] = np.square(X) * np.linspace(9, 1, 40)
        file["layers"]["log1p"] = X
        file["uns"]["note"] = "kept"
    return path


def test_a_layer_is_ranked_instead_of_x(run, cells):
    chosen = ("-m", "max_variance", "-k", 5)
    layer = kept_columns(run("select", cells, *chosen, "--layer", "counts", "--json"))
    assert layer == kept_columns(run("select", cells, *chosen, "--key", "layers/counts", "--json"))
    assert layer != kept_columns(run("select", cells, *chosen, "--json"))


def test_a_wrong_layer_is_told_the_right_ones(refused, cells, wine_csv):
    line = refused("select", cells, "--layer", "cuonts")
    assert "there is no layer 'cuonts' (did you mean 'counts'?)" in line
    assert "its layers are 'counts', 'log1p'." in line
    assert "did you mean" not in refused("compare", cells, "--layer", "x")
    assert "has no layers" in refused("select", wine_csv, "--layer", "counts")
    assert "has no layers" in refused("select", "dataset:iris", "--layer", "counts")
    assert "leave one out" in refused("select", cells, "--layer", "counts", "--key", "X")


def test_an_h5ad_output_says_what_it_holds(run, cells, wine_csv):
    h5py = pytest.importorskip("h5py")
    result = run("select", cells, "--layer", "counts", "-k", 5, "-o", "out.h5ad")
    assert "a copy of" in result.stdout
    assert "all 40 columns, with X, obs, layers and everything else as they were" in result.stdout
    assert "The 5 kept columns, ranked on layers/counts, are marked in var" in result.stdout
    with h5py.File(cells) as before, h5py.File(cells.with_name("out.h5ad")) as after:
        for name in ("X", "layers/counts", "layers/log1p", "uns/note"):
            assert np.array_equal(before[name][()], after[name][()])
        assert after["var/tamis_selected"][()].sum() == 5
    result = run("select", wine_csv, "--labels", "cultivar", "-k", 5, "-o", "wine.h5ad", "--json")
    contents, marked = json.loads(result.stdout)["output_holds"]
    assert contents.startswith("It holds all 13 columns, unscaled, as X;")
    assert marked.startswith("The 5 kept columns are marked in var, as tamis_selected")
    with h5py.File(wine_csv.with_name("wine.h5ad")) as file:
        assert np.array_equal(file["X"][()], pd.read_csv(wine_csv).iloc[:, :-1])
    assert (
        json.loads(run("select", wine_csv, "-o", "kept.csv", "--json").stdout)["output_holds"] == []
    )


@pytest.mark.parametrize("method", ["mrsf", "mcfs", "jelsr", "lda_km", "laplacian_score", "track"])
def test_defaults_that_exceed_the_rows_are_lowered_and_said(run, tmp_path, method):
    X = np.random.default_rng(0).normal(size=(4, 6))
    pd.DataFrame(X, columns=list("abcdef")).to_csv(tmp_path / "small.csv", index=False)
    result = run("select", "small.csv", "-m", method)
    assert result.exit_code == 0, result.output
    assert "as there are only 4 rows" in result.stdout
