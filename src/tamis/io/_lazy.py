"""A table that is read in blocks of rows, from one file or many, and never held whole."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tamis._typing import FloatArray
from tamis.io._errors import TableError
from tamis.io._lazy_checks import chosen_columns, refuse_other_columns
from tamis.io._libraries import need
from tamis.io._table import default_names
from tamis.utils.blocks import row_blocks
from tamis.utils.columns import single_or_double
from tamis.utils.messages import refuse_repeated_columns

__all__ = ["Block", "LazyTable", "Part", "Piece"]

LazyScaling = Literal["none", "standard", "columns", "unit"]
# Of the memory, what a block may take in double precision. One is read while up to four are worked
# on, each with the centred and single-precision copies that are made of it.
SHARE_OF_BLOCK = 1 / 32
# Numbers of a block: more do not make anything faster.
LARGEST_BLOCK = 1 << 22
FEWEST_ROWS = 16


@dataclass(frozen=True)
class Piece:
    """Rows of a file that are read at once; the label says where they stand, "" for nothing."""

    label: str
    n_rows: int


@dataclass(frozen=True)
class Block:
    """Consecutive rows of a table.

    Attributes
    ----------
    number : int
        From 0.
    start, n_rows : int
        The first row, and how many there are.
    part : int
        Which file.
    place : str
        The file, and the place in it where it has such: what messages say.
    """

    number: int
    start: int
    n_rows: int
    part: int
    place: str


class Part(ABC):
    """One file of a table: what is in it, and its rows in pieces.

    Attributes
    ----------
    path : Path
    names : list of str or None
        Of all columns; None where the file has none.
    kinds : list of dtype or str
        The type of each column: a dtype of numbers or truth values, or a word for what it is
        instead, such as "text".
    n_rows : int
    """

    path: Path
    names: list[str] | None
    kinds: list[np.dtype[Any] | str]
    n_rows: int

    @abstractmethod
    def pieces(self, most_rows: int) -> list[Piece]:
        """How the rows are read where at most so many are wanted at once."""

    @abstractmethod
    def read(
        self, most_rows: int, first: int, columns: Sequence[int], dtype: Any
    ) -> Iterator[FloatArray]:
        """The pieces from the `first` on, some columns of them."""

    def cells(self, most_rows: int, columns: Sequence[int], *, text: bool = False) -> Iterator[Any]:
        """The pieces with some columns of any kind, of the types that they have in the file.

        Arrays of numbers, or tables of Arrow. If `text`, cells of a text file are not parsed.
        """
        dtype = np.result_type(*(self.kinds[j] for j in columns))
        return self.read(most_rows, 0, columns, dtype)

    def types(self, columns: Sequence[int]) -> list[Any]:
        """The Arrow types of some columns of :meth:`cells`, where these are not text."""
        pyarrow = need("pyarrow", "arrow")
        dtype = np.result_type(*(self.kinds[j] for j in columns))
        return [pyarrow.from_numpy_dtype(dtype)] * len(columns)

    def stamp(self) -> tuple[int, int]:
        """Size and time of the last change, of all files below if it is a folder."""
        paths = [self.path]
        if self.path.is_dir():
            paths += sorted(self.path.rglob("*"))
        stats = [os.stat(path) for path in paths]
        return sum(s.st_size for s in stats), max(s.st_mtime_ns for s in stats)


class LazyTable:
    """A table of numbers that is read in blocks of rows, each time it is needed.

    Made by :func:`tamis.io.open`; the selectors that can, see :doc:`/large_tables`, take it in
    `fit`.

    Parameters
    ----------
    parts : sequence of Part
        With the same columns.
    memory : int
        Bytes that a fit may take; it decides how many rows are read at once.
    drop : sequence of str, default=()
        Columns to leave out, by name or pattern.
    numeric_only : bool, default=False
        Whether to leave out the columns that do not hold numbers.
    scaling : {"none", "standard", "columns", "unit"}, default="none"
        What is done to the columns, by statistics of all rows.
    checkpoint : Path or None, default=None
        Where to keep what is done after each block, so that a fit that was stopped goes on.
    verbose : bool, default=False
        Whether to show a progress bar, on a terminal.

    Attributes
    ----------
    shape : tuple of int
    names : list of str or None
    dtype : dtype
        In which the blocks are read: float32 where it holds all values, else float64.
    most_rows : int
        How many rows are read at once, at most.
    blocks : list of Block
    left_out : list of str
        The columns that `numeric_only` left out.
    """

    def __init__(
        self,
        parts: Sequence[Part],
        *,
        memory: int,
        drop: Sequence[str] = (),
        numeric_only: bool = False,
        scaling: LazyScaling = "none",
        checkpoint: Path | None = None,
        verbose: bool = False,
    ) -> None:
        self.parts = list(parts)
        self.memory, self.scaling, self.verbose = memory, scaling, verbose
        self.checkpoint = checkpoint
        self._stamps = [part.stamp() for part in self.parts]
        refuse_other_columns(self.parts)
        first = self.parts[0]
        if first.names is not None:
            refuse_repeated_columns(first.names, str(first.path), TableError)
        self.columns, self.left_out = chosen_columns(self.parts, drop, numeric_only)
        names = first.names
        self.names = None if names is None else [names[j] for j in self.columns]
        self.dtype = single_or_double([part.kinds[j] for part in self.parts for j in self.columns])
        n_rows = sum(part.n_rows for part in self.parts)
        self.shape: tuple[int, int] = n_rows, len(self.columns)
        if n_rows < 2:
            raise TableError(f"{self.name}: {n_rows} rows are too few; at least 2 are needed.")
        numbers = min(LARGEST_BLOCK, int(memory * SHARE_OF_BLOCK) // 8)
        self.most_rows = max(FEWEST_ROWS, numbers // self.shape[1])
        self.blocks = list(self._laid_out())

    @property
    def name(self) -> str:
        """What messages call it."""
        more = f" and {len(self.parts) - 1} more" if len(self.parts) > 1 else ""
        return f"{self.parts[0].path}{more}"

    @property
    def ndim(self) -> int:
        """Two."""
        return 2

    @property
    def all_names(self) -> list[str]:
        """The names of all columns of the files, also of those that are not chosen among."""
        first = self.parts[0]
        return first.names or default_names(len(first.kinds))

    @property
    def column_names(self) -> list[str]:
        """The names of the columns, or column0, column1 and so on."""
        names = self.all_names
        return [names[j] for j in self.columns]

    def __repr__(self) -> str:
        n_rows, n_columns = self.shape
        return (
            f"<LazyTable {self.name}: {n_rows:,} rows × {n_columns:,} columns, {self.dtype}, "
            f"{len(self.blocks):,} blocks>"
        )

    def _laid_out(self) -> Iterator[Block]:
        number = start = 0
        for i, part in enumerate(self.parts):
            for piece in part.pieces(self.most_rows):
                place = f"{part.path}{', ' * bool(piece.label)}{piece.label}"
                yield Block(number, start, piece.n_rows, i, place)
                number, start = number + 1, start + piece.n_rows

    def first_row(self) -> FloatArray:
        """The first row."""
        for _, rows in self.read():
            return rows[0].astype(np.float64)
        raise AssertionError("A table has two rows at least.")

    def layout(self) -> list[list[Any]]:
        """Of each file its path, size and time of change, and the rows of its blocks."""
        rows: list[list[int]] = [[] for _ in self.parts]
        for block in self.blocks:
            rows[block.part].append(block.n_rows)
        return [
            [str(part.path.resolve()), *stamp, counts]
            for part, stamp, counts in zip(self.parts, self._stamps, rows, strict=True)
        ]

    def read(self, first: int = 0) -> Iterator[tuple[Block, FloatArray]]:
        """The blocks from the `first` on, with their rows.

        Raises
        ------
        TableError
            Where a file is damaged, has changed or is gone; it names the file and the place in it.
        """
        remaining = self.blocks[first:]
        while remaining:
            number = remaining[0].part
            own = [block for block in remaining if block.part == number]
            before = sum(block.part == number for block in self.blocks) - len(own)
            remaining = remaining[len(own) :]
            reading = self.parts[number].read(self.most_rows, before, self.columns, self.dtype)
            for block in own:
                yield block, self._next_rows(block, reading, self.shape[1])

    def cells(self, names: Sequence[str], *, text: bool = False) -> Iterator[tuple[Block, Any]]:
        """The blocks with some columns of any kind, as :meth:`Part.cells` gives them.

        Parameters
        ----------
        names : sequence of str
            Of :attr:`all_names`.
        text : bool, default=False
            Whether to leave the cells of text files as they are written.
        """
        columns = list(map(self.all_names.index, names))
        for number, part in enumerate(self.parts):
            reading = part.cells(self.most_rows, columns, text=text)
            for block in self.blocks:
                if block.part == number:
                    yield block, self._next_rows(block, reading, len(columns))

    def _next_rows(self, block: Block, reading: Iterator[Any], n_columns: int) -> Any:
        """The rows of a block, from a file that is as it was when the table was opened."""
        try:
            self._refuse_changed(block)
            rows = next(reading, None)
            self._refuse_changed(block)
        except TableError:
            raise
        except FileNotFoundError as error:
            raise TableError(
                f"{block.place}: the file is gone; put it back, or open the table anew."
            ) from error
        except MemoryError as error:
            raise TableError(
                f"{block.place}: {block.n_rows:,} rows do not fit into memory; allow less memory, "
                "so that fewer rows are read at once."
            ) from error
        except Exception as error:  # parsers fail in many ways on damaged files; the cause is kept
            self._refuse_changed(block)
            reason = " ".join(str(error).split()) or type(error).__name__
            raise TableError(
                f"{block.place}: damaged or cut short ({reason[:200]}); check how it was made or "
                "copied."
            ) from error
        if rows is None or rows.shape != (block.n_rows, n_columns):
            found = "no" if rows is None else f"{len(rows):,}"
            raise TableError(
                f"{block.place}: {found} rows instead of {block.n_rows:,}; the file is cut short."
            )
        return rows

    def _refuse_changed(self, block: Block) -> None:
        part = self.parts[block.part]
        try:
            now = part.stamp()
        except FileNotFoundError as error:
            raise TableError(
                f"{block.place}: the file is gone; put it back, or open the table anew."
            ) from error
        if now != self._stamps[block.part]:
            raise TableError(
                f"{block.place}: the file has changed since the table was opened; open it anew "
                "when nothing writes to it."
            )


def piece_sizes(n_rows: int, most_rows: int) -> list[int]:
    """About equal numbers of rows, none larger than the most."""
    n_pieces = -(-n_rows // most_rows)
    bounds = [n_rows * i // n_pieces for i in range(n_pieces + 1)] if n_pieces else [0]
    return [stop - start for start, stop in pairwise(bounds)]


def pieces_of_rows(n_rows: int, most_rows: int) -> list[Piece]:
    """Pieces of a file that has no places of its own."""
    found, start = [], 0
    for rows in row_blocks(n_rows, 1, block_size=most_rows):
        start = rows.start
        found.append(Piece(f"rows {start:,} to {rows.stop - 1:,}", rows.stop - start))
    return found
