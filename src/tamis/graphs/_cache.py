"""Neighbour searches that are made once and shared: between methods, and between processes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile

import numpy as np

from tamis._typing import Matrix
from tamis.utils.files import replacing
from tamis.utils.fingerprint import fingerprint

if TYPE_CHECKING:
    from tamis.graphs._neighbors import Neighbors

__all__ = ["cached", "shared_neighbors"]

# The rule for equal distances, in the names of the files: it was the row number before.
TIE_RULE = "by-content"

_folder: ContextVar[Path | None] = ContextVar("tamis_neighbors", default=None)


@contextmanager
def shared_neighbors(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Keep every exact neighbour search made inside, and look it up instead of repeating it.

    A search is known by the bytes of the table and the number of neighbours, so that what is found
    is what the search would have given, whichever method or process made it.

    Parameters
    ----------
    folder : path
        Where the searches are kept, one file each; it is created. Removing it is up to you.

    Notes
    -----
    O(nd) to recognise a table, O(nk) on disk a search.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from tamis import MCFS, LaplacianScore
    >>> from tamis.graphs import shared_neighbors
    >>> X = load_iris().data
    >>> with tempfile.TemporaryDirectory() as folder, shared_neighbors(folder):
    ...     rankings = [s.fit(X).ranking_ for s in (LaplacianScore(), MCFS())]  # one search
    """
    Path(folder).mkdir(parents=True, exist_ok=True)
    token = _folder.set(Path(folder))
    try:
        yield
    finally:
        _folder.reset(token)


def cached(X: Matrix, n_neighbors: int, search: Callable[[], Neighbors]) -> Neighbors:
    """What `search` returns, from the shared folder if it is there."""
    folder = _folder.get()
    if folder is None:
        return search()
    from tamis.graphs._neighbors import Neighbors

    path = folder / f"{fingerprint(X)}-{n_neighbors}-{TIE_RULE}.npz"
    try:
        with np.load(path, allow_pickle=False) as file:
            return Neighbors(file["indices"], file["distances"], str(file["method"]))
    except (OSError, ValueError, KeyError, BadZipFile):
        pass  # it is not there, or damaged
    found = search()
    # Sharing spares time; where there is no room for it, or the folder is gone, nothing is lost.
    with suppress(OSError), replacing(path) as beside:  # nobody sees half a file
        np.savez(beside, indices=found.indices, distances=found.distances, method=found.method)
    return found
