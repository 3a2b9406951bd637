"""Downloads into a cache that never holds half a file."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

import numpy as np
import pooch

from tamis.datasets.records import DatasetError, Raw
from tamis.io import csr_parts
from tamis.utils.files import WORK_PREFIX, replacing
from tamis.utils.sparse import is_sparse

__all__ = ["WorkFolder", "cache_folder", "cached_file", "fetch", "store"]

_ABANDONED_AFTER = 24 * 3600.0


def cache_folder() -> Path:
    """Where downloaded sets are kept: ``TAMIS_CACHE``, else the user's cache folder."""
    chosen = os.environ.get("TAMIS_CACHE")
    return Path(chosen).expanduser() if chosen else Path(pooch.os_cache("tamis")) / "datasets"


def cached_file(name: str) -> Path:
    """The file of the cache that holds, or will hold, a set."""
    return cache_folder() / f"{name}.npz"


class WorkFolder:
    """A folder inside the cache for one download; gone afterwards, whatever happens.

    Files become visible only by a rename from here. A process that is killed leaves its folder
    behind; nothing reads it, and a later download removes it once it is a day old.
    """

    def __enter__(self) -> Path:
        cache = cache_folder()
        try:
            cache.mkdir(parents=True, exist_ok=True)
            _remove_abandoned(cache)
            self.path = Path(tempfile.mkdtemp(prefix=WORK_PREFIX, dir=cache))
        except OSError as error:
            raise DatasetError(
                f"Cannot write to the cache folder {cache} ({error.strerror}); set TAMIS_CACHE to "
                "a folder that can be written."
            ) from error
        return self.path

    def __exit__(self, *error: object) -> None:
        shutil.rmtree(self.path, ignore_errors=True)


def _remove_abandoned(cache: Path) -> None:
    oldest = time.time() - _ABANDONED_AFTER
    for folder in cache.glob(f"{WORK_PREFIX}*"):
        with suppress(FileNotFoundError):  # another process may be clearing up as well
            if folder.stat().st_mtime < oldest:
                shutil.rmtree(folder, ignore_errors=True)


def fetch(addresses: Sequence[str], folder: Path) -> list[Path]:
    """Download files into a folder, each under the last part of its address."""
    download = pooch.HTTPDownloader(timeout=60)
    paths = []
    for address in addresses:
        path = folder / PurePosixPath(unquote(urlsplit(address).path)).name
        download(address, str(path), None)
        paths.append(path)
    return paths


def store(raw: Raw, name: str) -> Path:
    """Write a set into the cache: whole, or not at all."""
    arrays = csr_parts(raw.X.tocsr()) if is_sparse(raw.X) else {"X": raw.X}
    target = cached_file(name)
    try:
        with replacing(target) as beside:
            np.savez_compressed(beside, y=raw.y, **arrays)
    except OSError as error:
        raise DatasetError(
            f"Cannot write {target} ({error.strerror}); free some space, or set TAMIS_CACHE to "
            "another folder."
        ) from error
    return target
