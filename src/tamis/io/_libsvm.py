"""The libsvm (svmlight) format: a label and the values that are not zero."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from tamis.io._array_files import checked_sparse
from tamis.io._encoding import open_binary
from tamis.io._errors import TableError
from tamis.io._origin import Origin
from tamis.io._table import Table, make_table
from tamis.io._values import matrix


def read_libsvm(
    path: Path, *, format: str, labels: str | None, ids: str | None, key: str | None
) -> Table:
    """Read a sparse table; its labels come with the format, and columns have no names."""
    for what, wanted in (("labels", labels), ("ids", ids)):
        if wanted is not None:
            raise TableError(
                f"{path}: libsvm files name no columns, so there is no {wanted!r} to take as "
                f"{what}; leave it out (the first number of a line is read as its label)."
            )
    with open_binary(path) as file:
        try:
            X, y = load_svmlight_file(file)
        except OverflowError as error:
            raise TableError(
                f"{path}: an index is larger than 2,147,483,647, the most columns that a libsvm "
                "file may have; check its indices."
            ) from error
    checked_sparse(X)
    labels_read = y.astype(np.intp) if np.array_equal(y, np.rint(y)) else y
    # As load_svmlight_file does: indices count from 0 where a 0 is among them.
    first = 0 if _has_index_zero(path) else 1
    origin = Origin.of(path, format, range(X.shape[1]), None, None, first)
    return make_table(path, format, X, None, labels=labels_read, origin=origin)


def _has_index_zero(path: Path) -> bool:
    with open_binary(path) as file:
        return any(b" 0:" in b" " + line.partition(b"#")[0] for line in file)


def copy_libsvm(origin: Origin, path: Path, columns: Sequence[int], *, format: str) -> None:
    """Write some columns of a libsvm file, indices from 1, labels and values as written there."""
    place = {
        str(origin.layout + column).encode(): str(k).encode() + b":"
        for k, column in enumerate(columns, start=1)
    }
    order = {index: k for k, index in enumerate(place)}
    with open_binary(origin.path) as file, open_binary(path, "w") as target:
        for line in file:
            content, mark, comment = line.rstrip(b"\r\n").partition(b"#")
            words = content.split()
            if not words:
                continue
            beside, kept = words[:1], []
            for entry in words[1:]:
                index, _, value = entry.partition(b":")
                if index == b"qid":
                    beside.append(entry)
                elif index in place:
                    kept.append((order[index], place[index] + value))
            written = b" ".join([*beside, *(entry for _, entry in sorted(kept))])
            target.write(written + (b" #" + comment if mark else b"") + b"\n")


def write_libsvm(table: Table, path: Path, *, format: str) -> None:
    """Write indices from 1, with numeric labels or 0."""
    y = table.labels if table.labels is not None else np.zeros(table.X.shape[0], dtype=np.intp)
    if y.dtype.kind not in "biuf":
        raise TableError(
            f"{path}: libsvm holds numbers as labels, and these are text; write another format, "
            "or read the table without labels."
        )
    X = sp.csr_matrix(matrix(table.X))
    with open_binary(path, "w") as file:
        dump_svmlight_file(X, y, file, zero_based=False)
