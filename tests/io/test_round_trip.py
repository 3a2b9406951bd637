"""Every format gives back what was written: values, names, types, labels, ids."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tamis import MaxVariance, io
from tamis.io import TableError

NAMED = ("csv", "tsv", "parquet", "feather", "npz", "mat", "arff", "excel")
SUFFIX = {name: extensions[0] for name, extensions in io.formats().items()}
# Where the labels of a table written by us are found again.
LABELS = {"npz": None, "mat": None, "libsvm": None}
IDS = {"npz": None, "mat": None, "h5ad": None, "zarr": None}


def make_table(dtype=np.float64, sparse=False, names=("a", "b", "c", "d"), text_labels=True):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, len(names))) * (rng.random((6, len(names))) < 0.7)
    X = (X * 10).astype(dtype) if np.dtype(dtype).kind in "iu" else X.astype(dtype)
    X[0, 0] = X[0, -1] = 3
    labels = np.array(["x", "y", "x", "z", "y", "x"], dtype=object)
    return io.Table(
        X=sp.csr_array(X) if sparse else X,
        feature_names=np.array(names, dtype=object),
        labels=labels if text_labels else np.array([0, 1, 0, 2, 1, 0]),
        ids=np.array([f"s{i}" for i in range(6)], dtype=object),
        labels_name="kind",
        ids_name="sample",
    )


def read_back(path, format):
    return io.read(path, labels=LABELS.get(format, "kind"), ids=IDS.get(format, "sample"))


def dense(X):
    return X.toarray() if sp.issparse(X) else X


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("format", NAMED)
def test_named_formats(tmp_path, format, sparse, dtype):
    table = make_table(dtype, sparse)
    path = tmp_path / f"out{SUFFIX[format]}"
    io.write_table(table, [2, 0, 3], path)
    back = read_back(path, format)
    # Text holds the shortest decimal that is the same number in the table's own precision.
    expected = dense(table.X)[:, [2, 0, 3]]
    np.testing.assert_array_equal(dense(back.X).astype(dtype), expected)
    assert back.feature_names.tolist() == ["c", "a", "d"]
    assert back.labels.tolist() == table.labels.tolist()
    assert back.ids.tolist() == table.ids.tolist()
    assert back.format == format
    assert back.path == path
    assert sp.issparse(back.X) == (sparse and format in {"npz", "mat", "arff"})
    if format in {"parquet", "feather", "npz"} or (format == "mat" and not sparse):
        assert back.X.dtype == dtype


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("format", ["h5ad", "zarr"])
def test_anndata_keeps_all_columns_and_marks_the_selected(tmp_path, format, sparse):
    table = make_table(np.float32, sparse)
    path = tmp_path / f"out{SUFFIX[format]}"
    io.write_table(table, [2, 0], path)
    back = read_back(path, format)
    np.testing.assert_array_equal(dense(back.X), dense(table.X))
    assert back.X.dtype == np.float32
    assert sp.issparse(back.X) == sparse
    assert back.feature_names.tolist() == table.feature_names.tolist()
    assert back.labels.tolist() == table.labels.tolist()
    assert back.ids.tolist() == table.ids.tolist()


@pytest.mark.parametrize("sparse", [False, True])
def test_libsvm(tmp_path, sparse):
    table = make_table(sparse=sparse, text_labels=False)
    io.write_table(table, [0, 1, 3], tmp_path / "out.libsvm")
    back = io.read(tmp_path / "out.libsvm")
    np.testing.assert_allclose(back.X.toarray(), dense(table.X)[:, [0, 1, 3]], rtol=1e-15)
    assert back.labels.tolist() == table.labels.tolist()
    assert back.feature_names.tolist() == ["column0", "column1", "column2"]


def test_libsvm_refuses_labels_that_are_text(tmp_path):
    with pytest.raises(TableError, match="libsvm holds numbers as labels"):
        io.write_table(make_table(), [0, 1], tmp_path / "out.libsvm")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16, bool])
def test_npy(tmp_path, dtype):
    table = make_table(dtype)
    io.write_table(table, [0, 1, 3], tmp_path / "out.npy")
    back = io.read(tmp_path / "out.npy")
    np.testing.assert_array_equal(back.X, table.X[:, [0, 1, 3]])
    assert back.X.dtype == (np.uint8 if dtype is bool else dtype)


@pytest.mark.parametrize("ending", [".csv.gz", ".tsv.bz2", ".arff.xz", ".libsvm.gz"])
def test_compressed_text(tmp_path, ending):
    table = make_table(text_labels=False)
    path = tmp_path / f"out{ending}"
    io.write_table(table, [0, 1, 3], path)
    assert path.read_bytes()[:2] in (b"\x1f\x8b", b"BZ", b"\xfd7")
    back = io.read(path) if "libsvm" in ending else io.read(path, labels="kind", ids="sample")
    np.testing.assert_allclose(dense(back.X), table.X[:, [0, 1, 3]], rtol=1e-15)
    assert back.labels.tolist() == table.labels.tolist()


def test_another_format_by_name(tmp_path):
    io.write_table(make_table(), [0, 1], tmp_path / "out.dat", format="csv")
    back = io.read(tmp_path / "out.dat", format="csv", labels="kind", ids="sample")
    assert back.feature_names.tolist() == ["a", "b"]


def test_from_one_format_to_another(tmp_path):
    io.write_table(make_table(), [0, 1, 2, 3], tmp_path / "one.csv")
    table = io.read(tmp_path / "one.csv", labels="kind", ids="sample")
    io.write_table(table, [1, 3], tmp_path / "two.parquet")
    back = io.read(tmp_path / "two.parquet", labels="kind", ids="sample")
    np.testing.assert_array_equal(back.X, table.X[:, [1, 3]])
    assert back.labels.tolist() == table.labels.tolist()


def test_whole_numbers_are_written_without_a_point(tmp_path):
    np.save(tmp_path / "in.npy", np.array([[1, 0.5, 3], [2, 1, 4]]))
    io.write_table(io.read(tmp_path / "in.npy"), [0, 1], tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "column0,column1\n1,0.5\n2,1.0\n"


odd_names = st.lists(
    st.text(
        st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1, max_size=8
    ),
    min_size=2,
    max_size=4,
    unique=True,
)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(names=odd_names)
@example(
    names=["<script>alert(1)</script>", "a,b", 'q"u', "new\nline", "=1+1", " ", "é漢\U0001f600"]
)
@example(names=["1", "2"])
@example(names=["nan", ""])
@example(names=["a\r", "b\r\n", "\ufeffc", "'d'"])
@example(names=["0", " \r"])
@example(names=["0", "\n"])
@example(names=["MATLAB", "0"])
@pytest.mark.parametrize("format", [*NAMED, "h5ad"])
def test_odd_names_survive_or_are_refused(tmp_path, format, names):
    path = tmp_path / f"odd{SUFFIX[format]}"
    table = io.Table(
        X=np.arange(6.0).reshape(3, 2)[:, [0, 1] * 4][:, : len(names)],
        feature_names=np.array(names, dtype=object),
    )
    refusal = None
    try:
        io.write_table(table, range(len(names)), path)
    except TableError as error:
        refusal = str(error)
    if refusal is not None:
        assert format in {"arff", "excel"}
        assert "cannot hold" in refusal
        return
    if "" in names and format in {"csv", "tsv", "excel"}:
        return  # an empty name is read as a column without one
    assert io.read(path).feature_names.tolist() == names


class TestRanking:
    @pytest.fixture
    def selector(self):
        return MaxVariance(2).fit(np.array([[0.0, 0, 0], [1, 3, 2], [0, 0, 0]]))

    @pytest.mark.parametrize("ending", [".csv", ".tsv"])
    def test_delimited(self, tmp_path, selector, ending):
        io.write_ranking(selector, ["a", "b,x", "c"], tmp_path / f"r{ending}")
        with open(tmp_path / f"r{ending}", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t" if ending == ".tsv" else ","))
        assert [row["feature"] for row in rows] == ["b,x", "c", "a"]
        assert [row["index"] for row in rows] == ["1", "2", "0"]
        assert [row["rank"] for row in rows] == ["1", "2", "3"]
        assert [row["selected"] for row in rows] == ["True", "True", "False"]
        assert [float(row["score"]) for row in rows] == selector.scores_[[1, 2, 0]].tolist()

    def test_json(self, tmp_path, selector):
        io.write_ranking(selector, ["a", "b", "c"], tmp_path / "r.json")
        first = json.loads((tmp_path / "r.json").read_text())[0]
        assert first == {
            "feature": "b",
            "index": 1,
            "score": selector.scores_[1],
            "rank": 1,
            "selected": True,
        }

    def test_refusals(self, tmp_path, selector):
        with pytest.raises(TableError, match=r"written as \.csv, \.tsv or \.json"):
            io.write_ranking(selector, ["a", "b", "c"], tmp_path / "r.xlsx")
        with pytest.raises(TableError, match="2 names for 3 features"):
            io.write_ranking(selector, ["a", "b"], tmp_path / "r.csv")
        with pytest.raises(TableError, match="this is the input"):
            io.write_ranking(selector, list("abc"), tmp_path / "r.csv", source=tmp_path / "r.csv")
