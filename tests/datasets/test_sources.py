"""Files written as the public sources publish them, served, downloaded, verified."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from tamis import datasets
from tamis.datasets import Entry, checksum

RNG = np.random.default_rng(0)
PIXELS = RNG.integers(0, 256, size=(20, 6), dtype=np.uint8)
Y = np.arange(20) // 2 % 3
X = np.round(RNG.normal(size=(20, 6)), 4) * (RNG.random((20, 6)) < 0.5)


def mat(**variables: Any) -> bytes:
    content = io.BytesIO()
    scipy.io.savemat(content, variables, do_compression=True)
    return content.getvalue()


def zipped(**members: str | bytes) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return content.getvalue()


def rows(X: np.ndarray, y: list[str], first: bool, separator: str) -> str:
    lines = [
        separator.join([label, *map(str, row)] if first else [*map(str, row), label])
        for row, label in zip(X, y, strict=True)
    ]
    return "\n".join(lines) + "\n"


def idx(array: np.ndarray) -> bytes:
    header = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">i4").tobytes()
    return gzip.compress(header + array.astype(np.uint8).tobytes())


def hdf5(**variables: np.ndarray) -> bytes:
    content = io.BytesIO()
    with h5py.File(content, "w") as file:
        for name, value in variables.items():
            file[name] = value
    return content.getvalue()


def npz(**arrays: np.ndarray) -> bytes:
    content = io.BytesIO()
    np.savez(content, **arrays)
    return content.getvalue()


def digit_lines(first: int, last: int) -> bytes:
    lines = [
        f"{label:.4f} " + " ".join(f"{value:.4f}" for value in row) + " \n"
        for row, label in (zip(X[first:last], Y[first:last], strict=True))
    ]
    return gzip.compress("".join(lines).encode())


def views() -> np.ndarray:
    cells = np.empty((1, 3), dtype=object)
    cells[0, 0], cells[0, 1], cells[0, 2] = np.ones((20, 2)), X, np.ones((20, 9))
    return cells


LETTERS = ["ABC"[code] for code in Y]
ONE_HOT = np.eye(3)[Y]
PUBLISHED: list[tuple[str, np.ndarray, dict[str, bytes]]] = [
    ("coil20", X, {"COIL20.mat": mat(X=X, Y=Y.reshape(-1, 1) + 1)}),
    ("umist", X, {"umist.mat": mat(X=X.T, Y=ONE_HOT)}),
    ("yaleb", PIXELS, {"YaleB_32x32.mat": mat(fea=PIXELS, gnd=Y.reshape(-1, 1) + 1)}),
    ("feret", PIXELS, {"FERET.mat": mat(all_data=PIXELS.T, all_label=Y.reshape(1, -1) + 1)}),
    ("msrc_v1", X, {"MSRCV1.mat": mat(X=views(), Y=Y.reshape(-1, 1))}),
    ("basehock", X, {"BASEHOCK.mat": mat(X=sp.csc_array(X), Y=Y)}),
    ("news20", X, {"20newsgroups.mat": mat(A=sp.csc_array(X.T), gnd=Y % 2, gnd3=Y + 1)}),
    ("worm_neuron", X, {"worm.h5": hdf5(X=X, Y=Y + 1)}),
    ("donors", X, {"11_donors.npz": npz(X=X, y=Y)}),
    ("usps", X, {"zip.train.gz": digit_lines(0, 12), "zip.test.gz": digit_lines(12, 20)}),
    ("sonar", X, {"s.zip": zipped(**{"sonar.all-data": rows(X, LETTERS, False, ",")})}),
    ("letter", X, {"l.zip": zipped(**{"letter-recognition.data": rows(X, LETTERS, True, ",")})}),
    (
        "satellite",
        PIXELS,
        {
            "s.zip": zipped(
                **{
                    "sat.tst": rows(PIXELS[13:], [str(code + 1) for code in Y[13:]], False, " "),
                    "sat.trn": rows(PIXELS[:13], [str(code + 1) for code in Y[:13]], False, " "),
                }
            )
        },
    ),
    (
        "mnist",
        PIXELS,
        {
            "train-images": idx(PIXELS[:15].reshape(15, 3, 2)),
            "train-labels": idx(Y[:15]),
            "test-images": idx(PIXELS[15:].reshape(5, 3, 2)),
            "test-labels": idx(Y[15:]),
        },
    ),
]


@pytest.mark.parametrize(("name", "table", "files"), PUBLISHED, ids=[case[0] for case in PUBLISHED])
def test_published_form_is_read_kept_and_found_again(
    name: str,
    table: np.ndarray,
    files: dict[str, bytes],
    machine: Path,
    source: Any,
    register: Callable[[Entry], Entry],
) -> None:
    entry = source.serve(
        datasets.entry(name),
        files,
        n_samples=20,
        n_features=6,
        n_classes=3,
        sha256=checksum(table, Y),
    )
    register(entry)
    assert name not in datasets.available()
    first = datasets.load(name)
    assert source.requests == list(files)
    assert name in datasets.available()
    again = datasets.load(name, download=False)
    assert source.requests == list(files)
    for loaded in (first, again):
        assert sp.issparse(loaded.X) == entry.sparse
        assert loaded.X.dtype == np.float64
        np.testing.assert_array_equal(loaded.X.toarray() if entry.sparse else loaded.X, table)
        np.testing.assert_array_equal(loaded.y, Y)
    assert [path.name for path in machine.iterdir()] == [f"{name}.npz"]


def test_archive_of_faces(machine: Path, source: Any, register: Callable[[Entry], Entry]) -> None:
    subjects, numbers = [1, 2, 10], range(1, 11)
    faces = RNG.integers(0, 256, size=(30, 6), dtype=np.uint8)
    members: dict[str, str | bytes] = {
        f"Repo-HEAD/datasets/att_faces/s{subject}/{number}.pgm": b"P5\n# a comment\n2 3\n255\n"
        + faces[10 * place + number - 1].tobytes()
        for place, subject in enumerate(subjects)
        for number in numbers
    }
    shuffled = dict(sorted(members.items()))
    shuffled["Repo-HEAD/README.md"] = "nothing"
    y = np.repeat([0, 1, 2], 10)
    entry = source.serve(
        datasets.entry("orl_644"),
        {"HEAD.zip": zipped(**shuffled)},
        n_samples=30,
        n_features=6,
        n_classes=3,
        sha256=checksum(faces, y),
    )
    register(entry)
    loaded = datasets.load("orl_644")
    np.testing.assert_array_equal(loaded.X, faces)
    np.testing.assert_array_equal(loaded.y, y)
