"""Files of arrays: read when asked for, never unpickled, sparse parts checked before use."""

from __future__ import annotations

import pickle

import h5py
import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from tamis.io._array_files import (
    ArrayFileError,
    LazyArrays,
    checked_sparse,
    csr_from_parts,
    csr_parts,
    hdf5_sparse,
    is_hdf5,
    load_npy,
    matlab_variables,
    open_npz,
)

X = np.array([[0.0, 1.5, 0.0], [2.0, 0.0, 3.0]])
OBJECTS = np.array([print, None], dtype=object)


def broken(container=sp.csr_array):
    """A matrix with an index out of range, made behind its constructor's back."""
    matrix = container(X)
    matrix.indices[0] = 99
    return matrix


def test_arrays_are_read_when_asked_for():
    asked = []
    arrays = LazyArrays(["a", "b"], lambda name: asked.append(name) or name.upper())
    assert list(arrays) == ["a", "b"]
    assert len(arrays) == 2
    assert "b" in arrays
    assert "c" not in arrays
    assert asked == []
    assert arrays["b"] == "B"
    assert asked == ["b"]
    with pytest.raises(KeyError):
        arrays["c"]


def test_only_the_array_that_holds_objects_is_refused(tmp_path):
    np.savez(tmp_path / "t.npz", X=X, other=OBJECTS)
    with open_npz(tmp_path / "t.npz") as arrays:
        np.testing.assert_array_equal(arrays["X"], X)
        with pytest.raises(ArrayFileError, match=r"^the array 'other' holds Python objects"):
            arrays["other"]


def test_objects_of_an_npy_file_are_refused(tmp_path):
    np.save(tmp_path / "t.npy", OBJECTS, allow_pickle=True)
    with pytest.raises(ArrayFileError, match=r"^the array holds Python objects"):
        load_npy(tmp_path / "t.npy")


def test_what_is_no_archive_is_refused(tmp_path):
    np.save(tmp_path / "t.npy", X)
    with pytest.raises(ArrayFileError, match=r"not an \.npz archive"), open_npz(tmp_path / "t.npy"):
        pass
    (tmp_path / "t.npz").write_bytes(pickle.dumps(X))
    with pytest.raises(ArrayFileError, match="it holds Python obj"), open_npz(tmp_path / "t.npz"):
        pass


def test_other_errors_of_numpy_pass(tmp_path):
    np.save(tmp_path / "t.npy", X)
    content = (tmp_path / "t.npy").read_bytes()
    (tmp_path / "t.npy").write_bytes(content[:-8])
    with pytest.raises(ValueError, match=r"read|reshape") as caught:
        load_npy(tmp_path / "t.npy")
    assert not isinstance(caught.value, ArrayFileError)


def test_csr_parts_there_and_back():
    parts = csr_parts(sp.csr_array(X), "A")
    assert sorted(parts) == ["A_data", "A_indices", "A_indptr", "A_shape"]
    np.testing.assert_array_equal(csr_from_parts(parts, "A").toarray(), X)
    assert csr_from_parts(parts) is None
    del parts["A_shape"]
    assert csr_from_parts(parts, "A") is None


def test_sparse_indices_out_of_range_are_refused(tmp_path):
    with pytest.raises(ValueError, match="indices"):
        csr_from_parts(csr_parts(broken()))
    with pytest.raises(ValueError, match="indices"):
        checked_sparse(broken(sp.csc_array))
    matrix = sp.coo_array(X)
    assert checked_sparse(matrix) is matrix  # it is checked when it is made


def test_variables_of_matlab(tmp_path):
    scipy.io.savemat(tmp_path / "t.mat", {"X": X, "S": sp.csc_array(X)})
    assert not is_hdf5(tmp_path / "t.mat")
    variables = matlab_variables(tmp_path / "t.mat")
    assert sorted(variables) == ["S", "X"]
    np.testing.assert_array_equal(variables["S"].toarray(), variables["X"])


def test_sparse_variables_of_matlab_are_checked(tmp_path, monkeypatch):
    monkeypatch.setattr(scipy.io, "loadmat", lambda path: {"S": broken(sp.csc_array)})
    with pytest.raises(ValueError, match="indices"):
        matlab_variables(tmp_path / "t.mat")


@pytest.fixture
def group(tmp_path):
    with h5py.File(tmp_path / "t.h5", "w") as file:
        yield file.create_group("S")
    assert is_hdf5(tmp_path / "t.h5")


class TestSparseOfHdf5:
    def test_by_columns(self, group):
        S = sp.csc_array(X)
        assert hdf5_sparse(group) is None
        group.attrs["MATLAB_sparse"] = 2
        group["data"], group["ir"], group["jc"] = S.data, S.indices, S.indptr
        np.testing.assert_array_equal(hdf5_sparse(group).toarray(), X)

    def test_nothing_but_zeros(self, group):
        group.attrs["MATLAB_sparse"] = 2
        group["jc"] = np.zeros(4, dtype=int)
        np.testing.assert_array_equal(hdf5_sparse(group).toarray(), np.zeros((2, 3)))

    def test_indices_out_of_range(self, group):
        S = broken(sp.csc_array)
        group.attrs["MATLAB_sparse"] = 2
        group["data"], group["ir"], group["jc"] = S.data, S.indices, S.indptr
        with pytest.raises(ValueError, match="indices"):
            hdf5_sparse(group)
