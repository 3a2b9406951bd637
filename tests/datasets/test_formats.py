from __future__ import annotations

import io
import pickle
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from tamis.datasets import DatasetError, Entry, checksum
from tamis.datasets.formats import read

X = np.round(np.random.default_rng(0).normal(size=(12, 5)), 4)
Y = np.array([3, 3, 1, 1, 1, 2, 2, 3, 1, 2, 3, 1])
ENTRY = Entry("small", 12, 5, 3, "table", files=("small",))
WRITTEN = checksum(X, Y)


def as_csv(path: Path, X: np.ndarray = X, y: Any = Y, names: str = "a,b,c,d,e,class") -> None:
    rows = [",".join([*map(str, row), str(label)]) for row, label in zip(X, y, strict=True)]
    path.write_text("\n".join([names, *rows]) + "\n")


def as_npz(path: Path) -> None:
    np.savez(path, X=X, y=Y)


def as_sparse_npz(path: Path) -> None:
    S = sp.csr_array(X)
    parts = {"X_data": S.data, "X_indices": S.indices, "X_indptr": S.indptr, "X_shape": S.shape}
    np.savez_compressed(path, y=Y, **parts)


def as_mat(path: Path) -> None:
    scipy.io.savemat(path, {"X": X, "Y": Y.reshape(-1, 1)}, do_compression=True)


def as_cai_mat(path: Path) -> None:
    scipy.io.savemat(path, {"fea": sp.csc_array(X), "gnd": Y.reshape(1, -1)})


def as_named_mat(path: Path) -> None:
    names = np.array(["", "apple", "beech", "cedar"], dtype=object)[Y].reshape(-1, 1)
    scipy.io.savemat(path, {"data": X, "label": names}, do_compression=True)


def as_turned_mat(path: Path) -> None:
    scipy.io.savemat(path, {"X": X.T, "Y": np.eye(4)[Y][:, 1:]})


def as_hdf5(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file["X"], file["Y"] = X, Y


def as_matlab_73(path: Path) -> None:
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, value in (("X", X), ("Y", Y.reshape(-1, 1))):
            file[name] = value.T  # as MATLAB does: by columns
            file[name].attrs["MATLAB_class"] = np.bytes_("double")
    with open(path, "r+b") as raw:
        raw.write(b"MATLAB 7.3 MAT-file".ljust(128))


def as_sparse_matlab_73(path: Path) -> None:
    S = sp.csc_array(X)
    with h5py.File(path, "w", userblock_size=512) as file:
        group = file.create_group("fea")
        group["data"], group["ir"], group["jc"] = S.data, S.indices, S.indptr
        group.attrs["MATLAB_sparse"] = np.uint64(S.shape[0])
        group.attrs["MATLAB_class"] = np.bytes_("double")
        file["gnd"] = Y.reshape(1, -1)
        file["gnd"].attrs["MATLAB_class"] = np.bytes_("double")
    with open(path, "r+b") as raw:
        raw.write(b"MATLAB 7.3 MAT-file".ljust(128))


WRITERS: list[tuple[str, Callable[[Path], None]]] = [
    ("small.npz", as_npz),
    ("small.npz", as_sparse_npz),
    ("small.mat", as_mat),
    ("small.mat", as_cai_mat),
    ("small.mat", as_named_mat),
    ("small.mat", as_turned_mat),
    ("small.mat", as_matlab_73),
    ("small.mat", as_sparse_matlab_73),
    ("small.h5", as_hdf5),
    ("small.csv", as_csv),
]


@pytest.mark.parametrize(("name", "write"), WRITERS)
@pytest.mark.parametrize("entry", [None, ENTRY])
def test_every_format_says_the_same(
    name: str, write: Callable[[Path], None], entry: Entry | None, tmp_path: Path
) -> None:
    path = tmp_path / name
    write(path)
    raw = read(path, entry)
    assert checksum(raw.X, raw.y) == WRITTEN
    np.testing.assert_array_equal(raw.y, Y - 1)


@pytest.mark.parametrize(("name", "write"), WRITERS)
def test_damaged_files_give_one_clear_line(
    name: str, write: Callable[[Path], None], tmp_path: Path
) -> None:
    path = tmp_path / name
    write(path)
    content = path.read_bytes()
    damaged = [content[: len(content) * part // 12] for part in range(12)]
    if write not in (as_cai_mat, as_turned_mat):
        # SciPy's reader can crash on uncompressed .mat files with wrong bytes, cut ones are fine.
        rng = np.random.default_rng(1)
        for position in rng.integers(0, len(content), size=40):
            damaged.append(content[:position] + b"\xff" + content[position + 1 :])
    messages = []
    for piece in damaged:
        path.write_bytes(piece)
        try:
            read(path, ENTRY)  # damage may go unseen here: the checksum is there for that
        except DatasetError as error:
            messages.append(str(error))
    assert len(messages) >= 3
    assert all(str(path) in message and "\n" not in message for message in messages)


class _Touch:
    """Unpickled, it would leave a file behind."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, tuple[str, str]]:
        return (open, (str(self.path), "w"))


def test_no_pickle_is_loaded(tmp_path: Path) -> None:
    trap = tmp_path / "opened"
    evil = np.array([_Touch(trap)], dtype=object)
    for name, arrays in (
        ("y", {"X": X, "y": evil}),
        ("X", {"X": evil, "y": Y}),
        ("more", {"X": X, "y": Y, "more": evil}),
    ):
        np.savez(tmp_path / "small.npz", **arrays)
        message = f"the array '{name}' holds Python objects, which could run code and are not load"
        with pytest.raises(DatasetError, match=message):
            read(tmp_path / "small.npz", ENTRY)
        assert not trap.exists()
    pickle.loads(pickle.dumps(evil))[0].close()  # the trap works when it is sprung
    assert trap.exists()


def test_a_bare_pickle_called_npz_is_not_loaded(tmp_path: Path) -> None:
    trap = tmp_path / "opened"
    (tmp_path / "small.npz").write_bytes(pickle.dumps(_Touch(trap)))
    with pytest.raises(DatasetError, match="Python objects"):
        read(tmp_path / "small.npz", ENTRY)
    assert not trap.exists()


def test_a_bare_array_called_npz(tmp_path: Path) -> None:
    with open(tmp_path / "small.npz", "wb") as file:
        np.save(file, X)
    with pytest.raises(
        DatasetError, match=r"small\.npz cannot be used: it is not an \.npz archive"
    ):
        read(tmp_path / "small.npz")


def test_sparse_indices_out_of_range_are_refused(tmp_path: Path) -> None:
    parts = {"X_data": [1.0], "X_indices": [9], "X_indptr": [0, 1], "X_shape": [1, 3]}
    np.savez(tmp_path / "small.npz", y=[0], **parts)
    with pytest.raises(DatasetError, match="damaged"):
        read(tmp_path / "small.npz")


def test_hdf5_without_h5py(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    as_matlab_73(tmp_path / "small.mat")
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(
        DatasetError, match=r"small\.mat.*needs the library h5py: pip install 'tamis\[hdf5\]'"
    ):
        read(tmp_path / "small.mat")


def test_an_archive_with_a_wrong_member(tmp_path: Path) -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("X.npy", b"not an array")
    (tmp_path / "small.npz").write_bytes(content.getvalue())
    with pytest.raises(DatasetError):
        read(tmp_path / "small.npz")


def test_among_several_variables_the_entry_decides(tmp_path: Path) -> None:
    views = np.empty((1, 2), dtype=object)
    views[0, 0], views[0, 1] = np.ones((12, 3)), X
    coarse = np.where(Y == 1, 1, 2)
    variables = {"views": views, "gnd": coarse, "gnd3": Y, "words": np.array(["a", "b"])}
    scipy.io.savemat(tmp_path / "small.mat", variables)
    raw = read(tmp_path / "small.mat", ENTRY)
    assert checksum(raw.X, raw.y) == WRITTEN
    with pytest.raises(DatasetError, match="unclear which variable is the table"):
        read(tmp_path / "small.mat")


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"y": Y}, "no table of numbers \\(found y\\); name it X"),
        ({"X": X}, "no classes for the 12 rows or 5 columns of X \\(found X\\)"),
        ({"X": X, "y": Y[:-1]}, "no classes for the 12 rows"),
        ({"X": X * 1j, "y": Y}, "no table of numbers"),
        ({"X": np.where(X[2, 3] == X, np.nan, X), "y": Y}, "1 column.*the first is column 3"),
        ({"X": X, "y": np.where(Y == 1, np.nan, Y)}, "classes hold NaN"),
    ],
)
def test_what_is_wrong_is_said(variables: dict[str, Any], message: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "small.npz", **variables)
    with pytest.raises(DatasetError, match=message):
        read(tmp_path / "small.npz")


def test_infinite_values_of_a_sparse_table(tmp_path: Path) -> None:
    parts = {"X_data": [1.0, np.inf], "X_indices": [0, 2], "X_indptr": [0, 2], "X_shape": [1, 3]}
    np.savez(tmp_path / "small.npz", y=[0], **parts)
    with pytest.raises(DatasetError, match="first is column 2"):
        read(tmp_path / "small.npz")


def test_large_finite_values_are_fine(tmp_path: Path) -> None:
    np.savez(tmp_path / "small.npz", X=np.full((3, 2), 1e308), y=[0, 1, 1])
    assert read(tmp_path / "small.npz").X.max() == 1e308


class TestCsv:
    @pytest.mark.parametrize("column", ["class", "Label", "y", "TARGET"])
    def test_named_class_column_anywhere(self, column: str, tmp_path: Path) -> None:
        path = tmp_path / "small.csv"
        path.write_text(f"a,{column},b\n1,yes,2\n3,no,4\n")
        raw = read(path)
        np.testing.assert_array_equal(raw.X, [[1, 2], [3, 4]])
        np.testing.assert_array_equal(raw.y, [1, 0])

    def test_otherwise_the_last_column(self, tmp_path: Path) -> None:
        path = tmp_path / "small.csv"
        path.write_text('\ufeff"a, the first",b,species\n1,2,"x, y"\n3,4,z\n')
        raw = read(path)
        np.testing.assert_array_equal(raw.X, [[1, 2], [3, 4]])
        np.testing.assert_array_equal(raw.y, [0, 1])

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "no header line"),
            ("only\n1\n", "no header line"),
            ("1,2,0\n3,4,1\n", "first line is numbers; it needs a header"),
            ("a,b,y\n1,two,0\n", "not numbers in column 'b' \\(for example 'two'\\)"),
            ("a,b,y\n1,,0\n", "missing, NaN or infinite values in column 'b'"),
            ("a,b,y\n1,2,0\n3\n", "row 1|row 2|column"),
            ("a,b,y\n1,2,\n", "'y' has no class in row 0"),
            ("a,b,y\n1,nan,0\n", "NaN or infinite values in column 'b', in 1 of 1 rows"),
        ],
    )
    def test_what_is_wrong_is_said(self, text: str, message: str, tmp_path: Path) -> None:
        path = tmp_path / "small.csv"
        path.write_text(text)
        with pytest.raises(DatasetError, match=message) as caught:
            read(path)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)

    def test_a_header_alone(self, tmp_path: Path) -> None:
        (tmp_path / "small.csv").write_text("a,b,y\n")
        with pytest.raises(DatasetError, match="no rows"):
            read(tmp_path / "small.csv")
