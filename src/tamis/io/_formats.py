"""The formats there are, and how a file is told apart from one of another format."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tamis.io._anndata import read_anndata, write_anndata
from tamis.io._arff import copy_arff, read_arff, typed_arff, write_arff
from tamis.io._arrow import copy_arrow, read_arrow, typed_arrow, write_arrow
from tamis.io._encoding import COMPRESSIONS, encoding_of
from tamis.io._errors import TableError, close_matches
from tamis.io._excel import copy_excel, read_excel, typed_excel, write_excel
from tamis.io._libsvm import copy_libsvm, read_libsvm, write_libsvm
from tamis.io._matlab import read_mat, write_mat
from tamis.io._numpy import read_npy, read_npz, write_npy, write_npz
from tamis.io._raw import RawTable
from tamis.io._raw_files import raw_arff, raw_arrow, raw_delimited, raw_excel
from tamis.io._table import Table
from tamis.io._text import read_delimited
from tamis.io._text_copy import copy_delimited, typed_delimited
from tamis.io._text_writing import write_delimited

_TEXT, _WIDE_TEXT = "text", "UTF-16 text"


@dataclass(frozen=True)
class Format:
    """One format: its names, its functions, and the kinds of content its files may have.

    ``copy`` writes columns of a file as they are there, to a file of a format with the same
    function; ``typed`` reads them as arrays of the types that they have there; ``raw`` reads all
    columns, of whatever types, where a file may have others than numbers.
    """

    name: str
    title: str
    extensions: tuple[str, ...]
    read: Callable[..., Table]
    write: Callable[..., None]
    kinds: tuple[str, ...]
    keeps_all_columns: bool = False
    has_header: bool = False
    copy: Callable[..., None] | None = None
    typed: Callable[..., Any] | None = None
    raw: Callable[..., RawTable] | None = None


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        format.name: format
        for format in (
            Format(
                "csv",
                "CSV",
                (".csv", ".txt"),
                read_delimited,
                write_delimited,
                (_TEXT, _WIDE_TEXT),
                has_header=True,
                copy=copy_delimited,
                typed=typed_delimited,
                raw=raw_delimited,
            ),
            Format(
                "tsv",
                "TSV",
                (".tsv", ".tab"),
                read_delimited,
                write_delimited,
                (_TEXT, _WIDE_TEXT),
                has_header=True,
                copy=copy_delimited,
                typed=typed_delimited,
                raw=raw_delimited,
            ),
            Format(
                "parquet",
                "Parquet",
                (".parquet", ".pq"),
                read_arrow,
                write_arrow,
                ("Parquet",),
                copy=copy_arrow,
                typed=typed_arrow,
                raw=raw_arrow,
            ),
            Format(
                "feather",
                "Feather",
                (".feather", ".arrow", ".ipc"),
                read_arrow,
                write_arrow,
                ("Arrow",),
                copy=copy_arrow,
                typed=typed_arrow,
                raw=raw_arrow,
            ),
            Format("npy", "NPY", (".npy",), read_npy, write_npy, ("NPY",)),
            Format("npz", "NPZ", (".npz",), read_npz, write_npz, ("NPZ", "zip")),
            # MATLAB's version 4 has no mark of its own.
            Format("mat", "MATLAB", (".mat",), read_mat, write_mat, ("MATLAB", "HDF5", "unknown")),
            Format(
                "arff",
                "ARFF",
                (".arff",),
                read_arff,
                write_arff,
                (_TEXT, _WIDE_TEXT),
                copy=copy_arff,
                typed=typed_arff,
                raw=raw_arff,
            ),
            Format(
                "libsvm",
                "libsvm",
                (".libsvm", ".svmlight", ".svm"),
                read_libsvm,
                write_libsvm,
                (_TEXT,),
                copy=copy_libsvm,
            ),
            Format(
                "excel",
                "Excel",
                (".xlsx", ".xlsm"),
                read_excel,
                write_excel,
                ("Excel", "zip"),
                has_header=True,
                copy=copy_excel,
                typed=typed_excel,
                raw=raw_excel,
            ),
            Format("h5ad", "h5ad", (".h5ad",), read_anndata, write_anndata, ("HDF5",), True),
            Format("zarr", "Zarr", (".zarr",), read_anndata, write_anndata, ("folder",), True),
        )
    }
)

_MARKS = (
    (b"PAR1", "Parquet"),
    (b"ARROW1", "Arrow"),
    (b"FEA1", "Feather version 1"),
    (b"\x93NUMPY", "NPY"),
    (b"PK\x03\x04", "zip"),
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\x89HDF\r\n\x1a\n", "HDF5"),
    (b"MATLAB 5.0 MAT-file", "MATLAB"),
    (b"MATLAB 7.3 MAT-file", "MATLAB"),
    (b"\xd0\xcf\x11\xe0", "old Excel (.xls)"),
    (b"%PDF", "PDF"),
)
_COMPRESSED_KINDS = dict(zip(COMPRESSIONS, ("gzip", "bzip2", "xz"), strict=True))


def formats() -> Mapping[str, tuple[str, ...]]:
    """Names of the formats and the file extensions that stand for them.

    >>> from tamis import io
    >>> io.formats()["parquet"]
    ('.parquet', '.pq')
    """
    return MappingProxyType({name: format.extensions for name, format in FORMATS.items()})


def format_of(path: Path, name: str | None) -> Format:
    """The format that is named, or that the extension stands for."""
    if name is not None:
        if name not in FORMATS:
            raise TableError(f"There is no format {name!r}; the formats are {', '.join(FORMATS)}.")
        return FORMATS[name]
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compressed = bool(suffixes) and suffixes[-1] in COMPRESSIONS
    extension = suffixes[-2] if compressed and len(suffixes) > 1 else "".join(suffixes[-1:])
    for format in FORMATS.values():
        if extension in format.extensions:
            if compressed and _TEXT not in format.kinds:
                raise TableError(
                    f"{path}: {format.title} files are neither read nor written compressed; leave "
                    f"out {suffixes[-1]}."
                )
            return format
    if extension == ".xls":
        raise TableError(f"{path}: the old .xls format is not read; save it as .xlsx or .csv.")
    known = [extension for format in FORMATS.values() for extension in format.extensions]
    raise TableError(
        f"{path}: the extension {extension!r} stands for no known format; "
        f"{close_matches(extension, known, most=len(known))} Or name the format with format=…."
    )


def check_content(path: Path, format: Format, *, encoded: bool = False) -> None:
    """Refuse an empty file, a folder, and a file of another format than is expected."""
    if path.is_dir():
        if "folder" not in format.kinds:
            raise TableError(f"{path}: this is a folder; name a file in it.")
        return
    with open(path, "rb") as file:
        head = file.read(4096)
    if not head:
        raise TableError(f"{path}: the file is empty; check how it was made.")
    kind = _kind(path, head)
    if encoded and kind in ("unknown", _WIDE_TEXT):  # who names an encoding says that it is text
        kind = _TEXT
    expected = _COMPRESSED_KINDS.get(path.suffix.lower())
    if expected is not None and _TEXT in format.kinds:
        if kind != expected:
            raise TableError(
                f"{path}: the name says {expected}, but the content is {kind}; rename the file."
            )
        return
    if kind not in format.kinds and not (kind == _TEXT and "unknown" in format.kinds):
        raise TableError(
            f"{path}: the content is {kind}, not {format.title}; rename the file, or name its "
            "format with format=…."
        )


def _kind(path: Path, head: bytes) -> str:
    for mark, kind in _MARKS:
        if head.startswith(mark):
            return _zip_kind(path) if kind == "zip" else kind
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<!doctype html", b"<html")):
        return "an HTML page"
    if encoding_of(head).codec != "utf-8":
        return _WIDE_TEXT
    return "unknown" if b"\0" in head else _TEXT


def _zip_kind(path: Path) -> str:
    """NPZ, Excel, or a zip of something else (also a damaged one)."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError):
        return "zip"
    if names and all(name.endswith(".npy") for name in names):
        return "NPZ"
    return "Excel" if "[Content_Types].xml" in names else "zip"


def columns_of_var(selector: Any, mask: Any) -> dict[str, Any]:
    """What a selection adds to the columns' table of AnnData."""
    if selector is None:
        return {"tamis_selected": mask}
    return {
        "tamis_score": selector.scores_,
        "tamis_rank": selector.ranking_,
        "tamis_selected": mask,
    }
