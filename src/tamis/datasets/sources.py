"""Readers of files as the public sources publish them."""

from __future__ import annotations

import gzip
import io
import re
import zipfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from tamis.datasets.formats import read
from tamis.datasets.records import DatasetError, Download, Entry, Raw

__all__ = ["archive_of_faces", "digit_text", "github", "idx_images", "uci"]


def github(repository: str, path: str, version: str = "HEAD") -> Download:
    """One .mat, .npz or .h5 file of a GitHub repository."""
    address = f"https://raw.githubusercontent.com/{repository}/{version}/{path}"
    return Download((address.replace(" ", "%20"),), _read_table)


def uci(
    address: str, members: tuple[str, ...], class_column: int, delimiter: str | None = ","
) -> Download:
    """A zip archive of the UCI repository; the rows of its members follow each other."""
    read_archive = partial(
        _read_uci, members=members, class_column=class_column, delimiter=delimiter
    )
    return Download((f"https://archive.ics.uci.edu/static/public/{address}",), read_archive)


def digit_text(*addresses: str) -> Download:
    """Compressed text files with the class and then the pixels on each line."""
    return Download(addresses, _read_digit_text)


def idx_images(*addresses: str) -> Download:
    """Compressed IDX files: images, labels, images, labels, …"""
    return Download(addresses, _read_idx)


def archive_of_faces(address: str) -> Download:
    """A zip archive with pictures ``s<subject>/<number>.pgm``."""
    return Download((address,), _read_faces)


def _read_table(paths: Sequence[Path], entry: Entry) -> Raw:
    return read(paths[0], entry)


def _read_uci(
    paths: Sequence[Path],
    entry: Entry,
    *,
    members: tuple[str, ...],
    class_column: int,
    delimiter: str | None,
) -> Raw:
    with zipfile.ZipFile(paths[0]) as archive:
        text = "".join(archive.read(member).decode("ascii").strip() + "\n" for member in members)
    cells = np.loadtxt(io.StringIO(text), dtype=str, delimiter=delimiter, ndmin=2)
    return Raw(np.delete(cells, class_column, axis=1).astype(np.float64), cells[:, class_column])


def _read_digit_text(paths: Sequence[Path], entry: Entry) -> Raw:
    rows = np.vstack([np.loadtxt(path) for path in paths])
    return Raw(rows[:, 1:], rows[:, 0].astype(np.intp))


def _read_idx(paths: Sequence[Path], entry: Entry) -> Raw:
    arrays = [_idx_array(path) for path in paths]
    images = np.concatenate([array.reshape(len(array), -1) for array in arrays[0::2]])
    return Raw(images, np.concatenate(arrays[1::2]))


def _idx_array(path: Path) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    with gzip.open(path) as file:
        content = file.read()
    # Two zero bytes, the type (8: unsigned bytes), the number of axes, then each axis' length.
    if content[:3] != b"\0\0\x08":
        raise DatasetError(f"{path.name} is not an IDX file of bytes.")
    n_axes = content[3]
    shape = np.frombuffer(content, ">i4", count=n_axes, offset=4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * n_axes).reshape(shape)


def _read_faces(paths: Sequence[Path], entry: Entry) -> Raw:
    found = []
    with zipfile.ZipFile(paths[0]) as archive:
        for member in archive.namelist():
            place = re.search(r"(?:^|/)s(\d+)/(\d+)\.pgm$", member)
            if place:
                pixels = _pgm_pixels(archive.read(member), member)
                found.append((int(place[1]), int(place[2]), pixels))
    found.sort(key=lambda face: face[:2])
    return Raw(np.array([pixels for *_, pixels in found]), np.array([face[0] for face in found]))


def _pgm_pixels(content: bytes, name: str) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    header = re.match(rb"P5\s+(?:#.*\n\s*)*(\d+)\s+(\d+)\s+255\s", content)
    if not header:
        raise DatasetError(f"{name} is not a binary PGM picture of bytes.")
    return np.frombuffer(content, np.uint8, int(header[1]) * int(header[2]), header.end())
