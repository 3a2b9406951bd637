"""Files that cannot be read: one line that says what is wrong and what to do."""

from __future__ import annotations

import builtins
import gzip
import importlib
import os

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from references.memory import with_peak_memory

from tamis import io
from tamis.io import TableError

SUFFIX = {name: extensions[0] for name, extensions in io.formats().items()}
BINARY = ("parquet", "feather", "npy", "npz", "mat", "excel", "h5ad")


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return io.Table(
        X=rng.normal(size=(200, 5)), feature_names=np.array(list("abcde"), dtype=object)
    )


def refusal(path, **options):
    with pytest.raises(TableError) as caught:
        io.read(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith((".", "?"))
    return message


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.npz", "t.h5ad", "t.zarr", "t.xlsx"])
def test_missing(tmp_path, name):
    assert "there is no such file" in refusal(tmp_path / name)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.h5ad"])
def test_folder(tmp_path, name):
    (tmp_path / name).mkdir()
    assert "this is a folder" in refusal(tmp_path / name)


def test_folder_that_is_no_store(tmp_path):
    (tmp_path / "t.zarr").mkdir()
    assert "t.zarr" in refusal(tmp_path / "t.zarr")


@pytest.mark.parametrize("format", [name for name in SUFFIX if name != "zarr"])
def test_empty(tmp_path, format):
    path = tmp_path / f"t{SUFFIX[format]}"
    path.touch()
    assert "the file is empty" in refusal(path)


@pytest.mark.parametrize("keep", [0.3, 0.7, 0.98])
@pytest.mark.parametrize("format", BINARY)
def test_cut_short(tmp_path, table, format, keep):
    path = tmp_path / f"t{SUFFIX[format]}"
    io.write_table(table, range(5), path)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * keep)])
    message = refusal(path)
    assert "damaged, cut short, or not" in message or "the content is zip" in message
    assert path.name in message


def test_cut_short_gzip(tmp_path, table):
    path = tmp_path / "t.csv.gz"
    io.write_table(table, range(5), path)
    path.write_bytes(path.read_bytes()[:-100])
    assert "damaged, cut short" in refusal(path)


@pytest.mark.parametrize("format", BINARY)
def test_binary_content_under_the_name_of_text(tmp_path, table, format):
    path = tmp_path / f"t{SUFFIX[format]}"
    io.write_table(table, range(5), path)
    for name in ("t.csv", "t.tsv", "t.arff", "t.libsvm"):
        path.rename(tmp_path / name)
        message = refusal(tmp_path / name)
        assert "the content is" in message
        assert "rename the file" in message
        (tmp_path / name).rename(path)


@pytest.mark.parametrize("format", BINARY)
def test_other_content_under_the_name_of_a_binary_format(tmp_path, format):
    path = tmp_path / f"t{SUFFIX[format]}"
    for content in (b"a,b\n1,2\n", gzip.compress(b"a,b\n1,2\n"), b"%PDF-1.7 ...", b"<html></html>"):
        path.write_bytes(content)
        message = refusal(path)
        assert "the content is" in message or "damaged, cut short, or not MATLAB" in message


def test_right_content_with_its_format_named(tmp_path, table):
    io.write_table(table, range(5), tmp_path / "t.parquet")
    (tmp_path / "t.parquet").rename(tmp_path / "t.csv")
    assert io.read(tmp_path / "t.csv", format="parquet").X.shape == (200, 5)


def test_gzip_that_is_none(tmp_path):
    (tmp_path / "t.csv.gz").write_text("a,b\n1,2\n")
    assert "the name says gzip, but the content is text" in refusal(tmp_path / "t.csv.gz")


def test_unknown_extensions_and_formats(tmp_path):
    (tmp_path / "t.qqq").write_text("a,b\n1,2\n")
    assert "'.qqq' stands for no known format; there are '.csv'" in refusal(tmp_path / "t.qqq")
    (tmp_path / "t").write_text("a,b\n1,2\n")
    assert "stands for no known format" in refusal(tmp_path / "t")
    assert "did you mean '.parquet'" in refusal(tmp_path / "t.parqet")
    assert "save it as .xlsx" in refusal(tmp_path / "t.xls")
    assert "neither read nor written compressed; leave out .gz" in refusal(tmp_path / "t.npy.gz")
    assert "the formats are csv, tsv" in refusal(tmp_path / "t", format="cvs")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_permission_denied_by_the_system(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    (tmp_path / "t.csv").chmod(0)
    assert "reading is not permitted" in refusal(tmp_path / "t.csv")


def test_permission_denied(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")

    def denied(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(builtins, "open", denied)
    assert "reading is not permitted" in refusal(tmp_path / "t.csv")


def test_memory_exhausted(tmp_path, monkeypatch):
    np.save(tmp_path / "t.npy", np.eye(3))

    def exhausted(*args, **kwargs):
        raise MemoryError

    monkeypatch.setattr(np, "load", exhausted)
    assert "does not fit into memory" in refusal(tmp_path / "t.npy")


@pytest.mark.parametrize("name", ["t.npy", "t.npz"])
def test_pickled_objects_are_never_loaded(tmp_path, name):
    evil = np.array([[print, 1], [2, 3]], dtype=object)
    if name == "t.npy":
        np.save(tmp_path / name, evil, allow_pickle=True)
    else:
        np.savez(tmp_path / name, X=evil)
    what = "the array" if name == "t.npy" else "the array 'X'"
    message = f"{what} holds Python objects, which could run code and are not loaded; save it as"
    assert message in refusal(tmp_path / name)


@pytest.mark.parametrize(
    ("format", "library", "extra"),
    [
        ("parquet", "pyarrow", "arrow"),
        ("feather", "pyarrow", "arrow"),
        ("excel", "openpyxl", "excel"),
        ("arff", "arff", "arff"),
        ("h5ad", "h5py", "anndata"),
        ("zarr", "zarr", "anndata"),
    ],
)
def test_missing_library(tmp_path, table, monkeypatch, format, library, extra):
    path = tmp_path / f"t{SUFFIX[format]}"
    io.write_table(table, range(5), path)
    original = importlib.import_module

    def without(name, *args):
        if name.partition(".")[0] == library:
            raise ImportError(name)
        return original(name, *args)

    monkeypatch.setattr(importlib, "import_module", without)
    expected = f"needs the library {library}: pip install 'tamis[{extra}]'."
    assert expected in refusal(path)
    with pytest.raises(TableError, match="needs the library"):
        io.write_table(table, range(5), tmp_path / f"u{SUFFIX[format]}")
    assert not (tmp_path / f"u{SUFFIX[format]}").exists()


class TestArrays:
    @pytest.mark.parametrize(
        ("X", "message"),
        [
            (np.ones(3), r"an array of shape (3,) is no table"),
            (np.array([["a", "b"]]), "the values are not numbers"),
            (np.ones((2, 2), dtype=complex), "the values are not numbers"),
            (np.ones((0, 3)), "columns but no rows"),
            (np.ones((3, 1)), "has 1 numeric column"),
            (np.ones((3, 0)), "has no numeric columns"),
            (np.array([[1, np.nan], [3, 4]]), "in column 'column1', in 1 of 2 rows"),
        ],
    )
    def test_values(self, tmp_path, X, message):
        np.save(tmp_path / "t.npy", X)
        assert message in refusal(tmp_path / "t.npy")
        if X.ndim == 2:
            np.savez(tmp_path / "t.npz", X=X)
            assert message in refusal(tmp_path / "t.npz")

    def test_npy_has_no_labels(self, tmp_path):
        np.save(tmp_path / "t.npy", np.eye(3))
        assert "holds one array and no labels" in refusal(tmp_path / "t.npy", labels="y")

    def test_npz_keys(self, tmp_path):
        np.savez(tmp_path / "t.npz", first=np.eye(3), second=np.eye(4))
        assert "which array is the table?" in refusal(tmp_path / "t.npz")
        assert "did you mean 'first'" in refusal(tmp_path / "t.npz", key="fist")
        assert io.read(tmp_path / "t.npz", key="second").X.shape == (4, 4)
        assert "to take as labels" in refusal(tmp_path / "t.npz", key="first", labels="y")

    def test_npz_lengths(self, tmp_path):
        np.savez(tmp_path / "t.npz", X=np.eye(3), y=np.arange(2))
        assert "2 labels for 3 rows" in refusal(tmp_path / "t.npz")
        np.savez(tmp_path / "t.npz", X=np.eye(3), feature_names=np.array(["a", "b"]))
        assert "2 column names for 3 columns" in refusal(tmp_path / "t.npz")
        np.savez(tmp_path / "t.npz", X=np.eye(3), feature_names=np.array(["a", "b", "a"]))
        assert "of the same name: column 'a'" in refusal(tmp_path / "t.npz")

    @pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
    def test_scipy_npz(self, tmp_path, kind):
        X = sp.random_array((6, 5), density=0.4, rng=np.random.default_rng(0), format=kind)
        sp.save_npz(tmp_path / "t.npz", X)
        table = io.read(tmp_path / "t.npz")
        assert sp.issparse(table.X)
        np.testing.assert_array_equal(table.X.toarray(), X.toarray())

    def test_sparse_parts_that_do_not_fit(self, tmp_path):
        np.savez(
            tmp_path / "t.npz",
            X_data=np.ones(1),
            X_indices=np.array([9]),
            X_indptr=np.array([0, 1, 1]),
            X_shape=np.array([2, 3]),
        )
        assert "damaged" in refusal(tmp_path / "t.npz")

    def test_sparse_nan(self, tmp_path):
        X = sp.csr_array(np.array([[0, np.nan, 1], [2, 0, 0]]))
        sp.save_npz(tmp_path / "t.npz", X)
        assert "in column 'column1', in 1 of 2 rows" in refusal(tmp_path / "t.npz")

    def test_a_benchmark_set(self, benchmark_set):
        X, y = benchmark_set("MouseBladder_sc")
        table = io.read(os.path.join(os.environ["TAMIS_DATA"], "MouseBladder_sc.npz"))
        assert sp.issparse(table.X)
        assert (table.X != X).nnz == 0
        np.testing.assert_array_equal(table.labels, y)


HUGE = 10**12


class TestSparseTablesThatClaimTooMuch:
    """Refused before anything is reserved for columns and rows that hold nothing."""

    @staticmethod
    def refused(path, **options):
        message, peak = with_peak_memory(refusal, path, **options)
        assert peak < 10_000_000
        return message

    @pytest.mark.parametrize("kind", ["csr", "coo"])
    def test_npz_of_scipy(self, tmp_path, kind):
        entries = (np.ones(3), ([0, 1, 2], [0, 5, HUGE - 1]))
        matrix = sp.coo_array(entries, shape=(3, HUGE))
        sp.save_npz(tmp_path / "t.npz", matrix.tocsr() if kind == "csr" else matrix)
        message = self.refused(tmp_path / "t.npz")
        assert "claims 3 rows and 1,000,000,000,000 columns, but holds only 3 values" in message

    def test_npz_of_parts(self, tmp_path):
        parts = {"X_data": np.ones(1), "X_indices": [4], "X_indptr": [0, 1], "X_shape": (1, HUGE)}
        np.savez(tmp_path / "t.npz", **parts)
        assert "1,000,000,000,000 columns" in self.refused(tmp_path / "t.npz")

    def test_rows(self, tmp_path):
        entries = (np.ones(2), ([0, HUGE - 1], [0, 1]))
        sp.save_npz(tmp_path / "t.npz", sp.coo_array(entries, shape=(HUGE, 3)))
        assert "claims 1,000,000,000,000 rows and 3 columns" in self.refused(tmp_path / "t.npz")

    @pytest.mark.parametrize("index", [HUGE, 10**9])
    def test_libsvm(self, tmp_path, index):
        (tmp_path / "t.libsvm").write_text(f"1 1:0.5 {index}:2\n0 2:1 3:1\n")
        message = self.refused(tmp_path / "t.libsvm")
        assert "check its" in message
        assert ("2,147,483,647" if index == HUGE else "1,000,000,000 columns") in message

    @pytest.mark.parametrize("empty", [False, True])
    def test_matlab_7_3(self, tmp_path, empty):
        h5py = pytest.importorskip("h5py")
        with h5py.File(tmp_path / "t.mat", "w") as file:
            group = file.create_group("X")
            group.attrs["MATLAB_sparse"] = HUGE
            group["jc"] = [0, 0, 0] if empty else [0, 1, 2]
            if not empty:
                group["data"], group["ir"] = np.ones(2), [0, HUGE - 1]
        assert "claims 1,000,000,000,000 rows" in self.refused(tmp_path / "t.mat")

    def test_matlab(self, tmp_path):
        rows = 2_000_000_000
        matrix = sp.coo_array((np.ones(2), ([0, rows - 1], [0, 1])), shape=(rows, 3)).tocsc()
        scipy.io.savemat(tmp_path / "t.mat", {"X": matrix})
        assert "claims 2,000,000,000 rows" in self.refused(tmp_path / "t.mat")

    @pytest.mark.slow
    def test_wide_tables_of_hashed_words_are_read(self, tmp_path):
        matrix = sp.coo_array((np.ones(3), ([0, 1, 2], [0, 5, 2**20 - 1])), shape=(3, 2**20))
        sp.save_npz(tmp_path / "t.npz", matrix.tocsr())
        assert io.read(tmp_path / "t.npz").X.shape == (3, 2**20)
