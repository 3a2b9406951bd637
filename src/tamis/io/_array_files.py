"""Files of named arrays (NPZ, MATLAB, HDF5), opened safely: nothing that a file holds is run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

from tamis._typing import SparseMatrix
from tamis.io._libraries import need

__all__ = [
    "ArrayFileError",
    "LazyArrays",
    "checked_sparse",
    "csr_from_parts",
    "csr_parts",
    "hdf5_sparse",
    "is_hdf5",
    "load_npy",
    "matlab_variables",
    "named_arrays",
    "open_matlab",
    "open_npz",
    "part_names",
]

_PARTS = ("data", "indices", "indptr", "shape")
_SCIPY_NAMES = {"data", "indices", "indptr", "shape", "format", "_is_array"}
# A sparse table costs memory for every row and column, also where they hold nothing: their names,
# scores and sums. More than this many of them for each value is no table but a wrong index.
_MOST_EMPTY = 1000
_ALWAYS_TAKEN = 10_000_000


class ArrayFileError(ValueError):
    """What is wrong with a file, as a clause: the reader adds the file's name and a full stop."""


class LazyArrays(Mapping[str, Any]):
    """Arrays by name, each read when it is asked for.

    Parameters
    ----------
    names : iterable of str
    read : callable
        The array of a name.
    """

    def __init__(self, names: Iterable[str], read: Callable[[str], Any]) -> None:
        self._names, self._read = dict.fromkeys(names), read

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise KeyError(name)
        return self._read(name)

    def __contains__(self, name: object) -> bool:
        return name in self._names  # without reading it, which a mapping does by itself

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def load_npy(path: Path) -> Any:
    """The array of an NPY file."""
    with _without_objects("the array"):
        return np.load(path, allow_pickle=False)


@contextmanager
def open_npz(path: Path) -> Iterator[LazyArrays]:
    """The arrays of an NPZ archive."""
    with open(path, "rb") as file:  # opened here: numpy leaves a damaged archive open
        with _without_objects("it"):
            archive = np.load(file, allow_pickle=False)
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise ArrayFileError("it is not an .npz archive of arrays")

        def array(name: str) -> Any:
            with _without_objects(f"the array {name!r}"):
                return archive[name]

        with archive:
            yield _with_sparse(LazyArrays(archive.files, array), path)


def _with_sparse(arrays: LazyArrays, path: Path) -> LazyArrays:
    """The arrays, the parts of a sparse matrix put together under one name."""
    if {"format", "shape", "data"} <= set(arrays):  # as scipy.sparse.save_npz writes it
        others = [name for name in arrays if name not in _SCIPY_NAMES]

        def scipy_matrix() -> SparseMatrix:
            return sp.csr_array(checked_sparse(sp.load_npz(path)))

        return LazyArrays(
            ["X", *others], lambda name: scipy_matrix() if name == "X" else arrays[name]
        )
    first = f"_{_PARTS[0]}"
    stems = [name.removesuffix(first) for name in arrays if name.endswith(first)]
    sparse = [stem for stem in stems if all(part in arrays for part in part_names(stem))]
    parts = {part for stem in sparse for part in part_names(stem)}
    return LazyArrays(
        [*sparse, *(name for name in arrays if name not in parts)],
        lambda name: csr_from_parts(arrays, name) if name in sparse else arrays[name],
    )


@contextmanager
def _without_objects(what: str) -> Iterator[None]:
    """Say it plainly where numpy declines to unpickle."""
    try:
        yield
    except ValueError as error:
        if "allow_pickle" not in str(error):
            raise
        raise ArrayFileError(
            f"{what} holds Python objects, which could run code and are not loaded; save it as "
            "numbers or text"
        ) from error


def part_names(name: str) -> list[str]:
    """Names under which the parts of a CSR matrix are kept: ``X_data``, ``X_indices``, …."""
    return [f"{name}_{part}" for part in _PARTS]


def csr_parts(X: SparseMatrix, name: str = "X") -> dict[str, Any]:
    """The parts of a CSR matrix by their names, as :func:`csr_from_parts` reads them."""
    values = (np.asarray(getattr(X, part)) for part in _PARTS)
    return dict(zip(part_names(name), values, strict=True))


def csr_from_parts(arrays: Mapping[str, Any], name: str = "X") -> SparseMatrix | None:
    """The CSR matrix that is kept as parts, or None where they are not all there."""
    if not all(part in arrays for part in part_names(name)):
        return None
    data, indices, indptr, shape = (arrays[part] for part in part_names(name))
    return checked_sparse(sp.csr_array((data, indices, indptr), shape=tuple(map(int, shape))))


def checked_sparse(matrix: SparseMatrix) -> SparseMatrix:
    """The matrix itself, if its size is credible and its indices are within its shape.

    A size that is not credible is refused before anything is reserved for it; indices that are
    outside would crash the interpreter as soon as they are used. O(nnz).
    """
    longest, n_values = max(matrix.shape), max(1, matrix.nnz)
    if longest > _ALWAYS_TAKEN and longest > _MOST_EMPTY * n_values:
        raise ArrayFileError(
            f"the sparse table claims {matrix.shape[0]:,} rows and {matrix.shape[1]:,} columns, "
            f"but holds only {matrix.nnz:,} values; check its shape and indices, or leave out what "
            "is empty"
        )
    if hasattr(matrix, "check_format"):
        matrix.check_format(full_check=True)
    return matrix


def is_hdf5(path: Path) -> bool:
    """Whether a file is HDF5, as those of MATLAB from version 7.3 on are."""
    with open(path, "rb") as file:
        return file.read(10).startswith((b"\x89HDF\r\n\x1a\n", b"MATLAB 7.3"))


def matlab_variables(path: Path) -> dict[str, Any]:
    """The variables of a MATLAB file before version 7.3."""
    variables = {
        name: value for name, value in scipy.io.loadmat(path).items() if not name.startswith("__")
    }
    for value in variables.values():
        if sp.issparse(value):
            checked_sparse(value)
    return variables


@contextmanager
def open_matlab(path: Path) -> Iterator[LazyArrays]:
    """The variables of a MATLAB file of any version, or the arrays of another HDF5 file."""
    if not is_hdf5(path):
        variables = matlab_variables(path)
        yield LazyArrays(variables, variables.__getitem__)
        return
    with need("h5py", "hdf5").File(path, "r") as file:
        names = [
            name
            for name, node in file.items()
            if hasattr(node, "shape") or "MATLAB_sparse" in node.attrs
        ]
        turned = path.suffix.lower() == ".mat"
        yield LazyArrays(names, lambda name: _hdf5_value(file, file[name], turned))


def _hdf5_value(file: Any, node: Any, turned: bool) -> Any:
    """A variable of HDF5; MATLAB puts columns first, and text into arrays of code units."""
    matrix = hdf5_sparse(node)
    if matrix is not None:
        return matrix
    if node.dtype.kind != "O":
        values = np.asarray(node[()])
        return values.T if turned or "MATLAB_class" in node.attrs else values
    if need("h5py", "hdf5").check_string_dtype(node.dtype) is not None:
        return np.asarray(node.asstr()[()]).astype(str)
    cells = [file[reference][()] for reference in node[()].ravel()]
    if all(cell.dtype == np.uint16 for cell in cells):
        return np.array([cell.tobytes().decode("utf-16-le") for cell in cells])
    found = np.empty(len(cells), dtype=object)
    found[:] = [cell.T for cell in cells]
    return found


@contextmanager
def named_arrays(path: Path) -> Iterator[LazyArrays]:
    """The arrays of an NPZ, MATLAB or HDF5 file by their names, each read when asked for.

    Raises
    ------
    ArrayFileError
        What is wrong with the file, as a clause.
    TableError
        That a library is missing.
    """
    with (open_npz if path.suffix.lower() == ".npz" else open_matlab)(path) as arrays:
        yield arrays


def hdf5_sparse(node: Any) -> SparseMatrix | None:
    """The sparse matrix that MATLAB 7.3 keeps in a group, or None if the node is something else."""
    if "MATLAB_sparse" not in node.attrs:
        return None
    indptr = node["jc"][()]
    shape = (int(node.attrs["MATLAB_sparse"]), len(indptr) - 1)
    if "data" not in node:  # nothing but zeros
        return checked_sparse(sp.csc_array(shape))
    return checked_sparse(sp.csc_array((node["data"][()], node["ir"][()], indptr), shape=shape))
