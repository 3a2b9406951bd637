"""Text files as bytes: compression by the suffix, encoding by the mark or by the bytes."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

_OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
COMPRESSIONS = tuple(_OPENERS)
_HEAD = 4096


@dataclass(frozen=True)
class Encoding:
    """A codec, and whether a mark of it comes first in the file."""

    codec: str = "utf-8"
    mark: bool = False


UTF_8 = Encoding()
# The longer mark first: that of UTF-32 begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def encoding_of(head: bytes) -> Encoding:
    """The encoding of a text by its first bytes; UTF-8 where nothing tells otherwise."""
    for mark, codec in _MARKS:
        if head.startswith(mark):
            return Encoding(codec, mark=True)
    # Of plain letters and digits, UTF-16 leaves every other byte zero.
    for first, codec in ((1, "utf-16-le"), (0, "utf-16-be")):
        zeros, others = head[first::2], head[1 - first :: 2]
        if zeros and zeros.count(0) > 0.9 * len(zeros) and 0 not in others:
            return Encoding(codec)
    return UTF_8


def open_binary(path: Path, mode: str = "r") -> IO[bytes]:
    """A file of bytes, decompressed or compressed as its suffix says."""
    return _OPENERS.get(path.suffix.lower(), open)(path, mode + "b")


def encoding_of_file(path: Path) -> Encoding:
    """The encoding of a text file, compressed or not, by its first bytes."""
    with open_binary(path) as file:
        return encoding_of(file.read(_HEAD))


@contextmanager
def open_text(path: Path, mode: str = "r", encoding: Encoding | None = None) -> Iterator[IO[str]]:
    """A text file, decompressed or compressed as its suffix says; line ends are left as they are.

    Parameters
    ----------
    path : Path
    mode : {"r", "w"}
    encoding : Encoding or None
        None finds it out on reading, and is UTF-8 on writing.
    """
    if encoding is None:
        encoding = encoding_of_file(path) if mode == "r" else UTF_8
    with open_binary(path, mode) as binary:
        text = io.TextIOWrapper(binary, encoding=encoding.codec, newline="")
        try:
            if encoding.mark and mode == "r":
                text.read(1)
            elif encoding.mark:
                text.write("\ufeff")
            yield text
        finally:
            text.close()
