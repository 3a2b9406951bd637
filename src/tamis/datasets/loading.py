"""Find a set, read it, check it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import sklearn.datasets

from tamis.datasets import cache, formats
from tamis.datasets.contents import checksum, label_codes
from tamis.datasets.records import Copy, Dataset, DatasetError, DatasetWarning, Entry, Raw
from tamis.datasets.registry import ENTRIES, entry, find, plain
from tamis.utils.sparse import is_sparse

__all__ = ["Origin", "available", "load", "local_copy", "origin"]

_BUNDLED = "scikit-learn"

# What tells a file from the one that lay there before: its path, number, size and time.
Origin = tuple[str | int, ...]
# Copies that were hashed, by set and origin: no file is hashed twice while it stays as it is.
_hashed: dict[tuple[str, Origin], Copy] = {}


def load(name: str, *, data_home: str | Path | None = None, download: bool = True) -> Dataset:
    """Load a set by name.

    Looked for in this order: the sets that scikit-learn carries, the local folder, the cache of
    earlier downloads, the public source. What is found is compared with the registry's checksum.
    A name that is not registered may be that of a file of your own in the local folder.

    Parameters
    ----------
    name : str
        A name of :func:`names`; case, ``-`` and ``_`` do not matter.
    data_home : path, optional
        The local folder, with files such as ``USPS.npz``, ``usps.mat`` or ``usps.csv``. Default:
        the folder that the environment variable ``TAMIS_DATA`` names, if any.
    download : bool, default=True
        Whether the network may be used.

    Returns
    -------
    Dataset
        Values as float64 (dense or CSR) and classes as 0, 1, …

    Warns
    -----
    DatasetWarning
        If a local file is not what the registry describes, with the file's name.

    Raises
    ------
    DatasetError
        If the set cannot be had, with what to do in one sentence.

    Examples
    --------
    >>> from tamis import datasets
    >>> digits = datasets.load("digits1v7")
    >>> digits.X.shape, digits.n_classes, digits.image_shape
    ((361, 64), 2, (8, 8))
    """
    folder = _local_folder(data_home)
    own_path = _local_file(folder, (name,)) if find(name) is None else None
    if own_path is not None:
        return _own_file(name, own_path)
    known = entry(name)
    return _dataset(_obtain(known, folder, download)[0], known)


def available(*, data_home: str | Path | None = None) -> tuple[str, ...]:
    """Names of the registered sets that :func:`load` finds without the network.

    Files are looked for, not read. ``data_home`` is as in :func:`load`.

    >>> from tamis import datasets
    >>> {"iris", "digits1v7"} <= set(datasets.available())
    True
    """
    folder = _local_folder(data_home)

    def found(known: Entry) -> bool:
        if known.recipe is not None:
            return found(entry(known.recipe.base))
        return (
            known.source == _BUNDLED
            or _local_file(folder, known.files) is not None
            or cache.cached_file(known.name).is_file()
        )

    return tuple(name for name, known in ENTRIES.items() if found(known))


def local_copy(name: str, *, data_home: str | Path | None = None) -> Copy:
    """Which copy of a set :func:`load` would find without the network.

    The set is read when first asked for, and not again while its file stays as it is.

    Parameters
    ----------
    name, data_home
        As in :func:`load`.

    Returns
    -------
    Copy
        The checksum of what it holds, and how it differs from the registry's copy.

    Raises
    ------
    DatasetError
        If there is none on this machine, or it cannot be read.

    Examples
    --------
    >>> from tamis import datasets
    >>> datasets.local_copy("iris").difference is None
    True
    """
    state = origin(name, data_home=data_home)
    known = find(name)
    place = name if known is None else known.name, state
    if state is not None and place in _hashed:
        return _hashed[place]
    folder = _local_folder(data_home)
    own_path = _local_file(folder, (name,)) if known is None else None
    if own_path is not None:
        return _own_copy(formats.read(own_path), name, own_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DatasetWarning)  # what is returned tells it
        return _obtain(entry(name), folder, download=False)[1]


def origin(name: str, *, data_home: str | Path | None = None) -> Origin | None:
    """Where :func:`load` would find a set without the network, and in which state; None if nowhere.

    It changes when the file does, which is not read.
    """
    folder = _local_folder(data_home)
    own_path = _local_file(folder, (name,)) if find(name) is None else None
    return _file_state(own_path) if own_path is not None else _origin(entry(name), folder)


def _local_folder(data_home: str | Path | None) -> Path | None:
    chosen = os.environ.get("TAMIS_DATA") if data_home is None else data_home
    if not chosen:
        return None
    folder = Path(chosen).expanduser()
    if not folder.is_dir():
        by = "TAMIS_DATA" if data_home is None else "data_home"
        raise DatasetError(
            f"{by} names {folder}, which is not a folder; create it or correct {by}."
        )
    return folder


def _local_file(folder: Path | None, stems: tuple[str, ...]) -> Path | None:
    if folder is None:
        return None
    wanted = {plain(stem) for stem in stems}
    found = [
        path
        for path in folder.iterdir()
        if path.suffix.lower() in formats.SUFFIXES and plain(path.stem) in wanted and path.is_file()
    ]
    return min(
        found,
        key=lambda path: (formats.SUFFIXES.index(path.suffix.lower()), path.name),
        default=None,
    )


def _origin(known: Entry, folder: Path | None) -> Origin | None:
    """Where a set comes from; None if it is not on this machine."""
    if known.recipe is not None:
        return _origin(entry(known.recipe.base), folder)
    if known.source == _BUNDLED:
        return (_BUNDLED, sklearn.__version__)
    return _file_state(_local_file(folder, known.files) or cache.cached_file(known.name))


def _file_state(path: Path) -> Origin | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return (str(path.absolute()), found.st_ino, found.st_size, found.st_mtime_ns)


def _obtain(known: Entry, folder: Path | None, download: bool) -> tuple[Raw, Copy]:
    state = _origin(known, folder)
    if known.recipe is not None:
        base, _ = _obtain(entry(known.recipe.base), folder, download)
        made = known.recipe.make(base)
        raw = Raw(made.X, label_codes(made.y), made.names)
        what = f"{known.name!r}, made of {known.recipe.base!r},"
        return raw, _copy_with_warning(raw, known, state, what)
    if known.source == _BUNDLED:
        bunch = getattr(sklearn.datasets, f"load_{known.name}")()
        names = tuple(map(str, bunch.feature_names))
        raw = Raw(bunch.data, label_codes(bunch.target), names)
        return raw, _copy_with_warning(raw, known, state, f"scikit-learn's {known.name!r}")
    path = _local_file(folder, known.files)
    if path is not None:
        raw = formats.read(path, known)
        return raw, _copy_with_warning(raw, known, state, str(path))
    path = cache.cached_file(known.name)
    if path.is_file():
        try:
            raw = formats.read(path, known)
            return raw, _verified(_copy(raw, known, state), str(path))
        except DatasetError as error:
            if not download or known.download is None:
                raise
            warnings.warn(f"{error} It is fetched anew.", DatasetWarning, stacklevel=3)
    return _fetch(known, download)


def _fetch(known: Entry, download: bool) -> tuple[Raw, Copy]:
    supply = (
        f"put a file {known.files[0]}.npz, .mat or .csv into a folder and name the folder in "
        "TAMIS_DATA or data_home"
    )
    if known.download is None:
        raise DatasetError(
            f"{known.name!r} cannot be downloaded (to be had from: {known.source}); {supply}."
        )
    if not download:
        raise DatasetError(
            f"{known.name!r} is not on this machine and download=False; allow the download or "
            f"{supply}."
        )
    with cache.WorkFolder() as work_folder:
        try:
            paths = cache.fetch(known.download.addresses, work_folder)
        except OSError as error:  # includes every error of requests
            reason = " ".join(str(error).split())[:200]
            raise DatasetError(
                f"{known.name!r} could not be downloaded from {known.source} ({reason}); try again "
                f"online, or {supply}."
            ) from error
        try:
            raw = known.download.read(paths, known)
        except Exception as error:  # the server may have sent anything
            reason = " ".join(str(error).replace(f"{work_folder}{os.sep}", "").split())
            raise DatasetError(
                f"What {known.source} sent for {known.name!r} cannot be used ({reason}); try again "
                f"later, or {supply}."
            ) from error
        raw = Raw(raw.X, label_codes(raw.y))
        try:
            copy = _verified(_copy(raw, known, None), f"what {known.source} sent")
        except DatasetError as error:
            raise DatasetError(f"{error} Nothing was kept; {supply}.") from error
    cache.store(raw, known.name)
    return raw, copy


def _copy(raw: Raw, known: Entry, state: Origin | None) -> Copy:
    """What was read of a registered set."""
    return _cached_copy(
        known.name, state, raw, lambda sha256: Copy(sha256, _difference(raw, sha256, known))
    )


def _own_copy(raw: Raw, name: str, path: Path) -> Copy:
    """What was read of a file that the registry does not know: there is nothing to compare."""
    return _cached_copy(name, _file_state(path), raw, lambda sha256: Copy(sha256, None))


def _cached_copy(name: str, state: Origin | None, raw: Raw, copy: Callable[[str], Copy]) -> Copy:
    """The copy made of a checksum, which is computed once for each origin."""
    if state is not None and (name, state) in _hashed:
        return _hashed[name, state]
    made = copy(checksum(raw.X, raw.y))
    if state is not None:
        _hashed[name, state] = made
    return made


def _difference(raw: Raw, sha256: str, known: Entry) -> str | None:
    """How a set differs from its entry, or None."""
    if raw.X.shape != (known.n_samples, known.n_features):
        return (
            f"has {raw.X.shape[0]} × {raw.X.shape[1]} values where the registry has "
            f"{known.n_samples} × {known.n_features}"
        )
    n_classes = np.unique(raw.y).size
    if n_classes != known.n_classes:
        return f"has {n_classes} classes where the registry has {known.n_classes}"
    if known.sha256 is not None and sha256 != known.sha256:
        return (
            "has the right shape, but other values, classes or order of rows than the registry's "
            "copy (checksum differs)"
        )
    return None


def _copy_with_warning(raw: Raw, known: Entry, state: Origin | None, what: str) -> Copy:
    copy = _copy(raw, known, state)
    if copy.difference:
        warnings.warn(
            f"{what} {copy.difference}; results on {known.name!r} may not compare with others'.",
            DatasetWarning,
            stacklevel=4,
        )
    return copy


def _verified(copy: Copy, what: str) -> Copy:
    if copy.difference:
        raise DatasetError(f"{what[0].upper()}{what[1:]} {copy.difference}.")
    return copy


def _own_file(name: str, path: Path) -> Dataset:
    raw = formats.read(path)
    n_samples, n_features = raw.X.shape
    own = Entry(
        name,
        n_samples,
        n_features,
        n_classes=int(np.unique(raw.y).size),
        kind="table",
        sparse=is_sparse(raw.X),
        source=str(path),
        licence="your own",
        sha256=_own_copy(raw, name, path).sha256,
        files=(path.stem,),
        note="a file of your own",
    )
    return _dataset(raw, own)


def _dataset(raw: Raw, known: Entry) -> Dataset:
    if known.sparse:
        X = sp.csr_array(raw.X, dtype=np.float64)
    else:
        dense = raw.X.toarray() if is_sparse(raw.X) else raw.X
        X = np.ascontiguousarray(dense, dtype=np.float64)
    return Dataset(known.name, X, raw.y, known, raw.names)
