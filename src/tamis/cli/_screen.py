"""What the commands print: rich on a terminal, plain when piped, JSON when asked for."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "one_line",
    "print_aside",
    "print_json",
    "print_table",
    "print_text",
    "printable",
    "stderr",
    "stdout",
    "working",
]

# A pipe has no width: no line is broken or cut.
_PIPE_WIDTH = 100_000
# Longer words are cut in the tables of a terminal.
_LONGEST_WORD = 40
# Between the columns of a table.
_GAP = 3


def one_line(text: str) -> str:
    """The text with every run of white space, line breaks too, as one space."""
    return " ".join(text.split())


def printable(text: str) -> str:
    """The text with escape sequences and other control characters made visible.

    Column names come from files: they must not move the cursor or change colours.
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def stdout() -> Console:
    """The console of results."""
    return _console(sys.stdout.isatty(), stderr=False)


def stderr() -> Console:
    """The console of progress, warnings and failures."""
    return _console(sys.stderr.isatty(), stderr=True)


def _console(terminal: bool, stderr: bool) -> Console:
    from rich.console import Console

    class PipedConsole(Console):
        def on_broken_pipe(self) -> None:
            raise  # a reader that has seen enough is no failure: the commands end quietly

    return PipedConsole(
        stderr=stderr,
        width=None if terminal else _PIPE_WIDTH,
        highlight=False,
        markup=False,
        emoji=False,
    )


def print_text(text: str, style: str | None = None) -> None:
    """Print a line of the result, whole, whatever the width."""
    stdout().print(printable(text), style=style, soft_wrap=not sys.stdout.isatty())


def print_aside(text: str) -> None:
    """Print a line on standard error: a warning, a note or a failure."""
    console = stderr()
    console.print(printable(text), soft_wrap=not console.is_terminal)


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Sequence[str] = (),
    names: Sequence[str] = (),
) -> None:
    """Print a table: with a rule under the header on a terminal, aligned by spaces when piped.

    A terminal breaks lines between words; long words and names are cut there, and what is too wide
    is printed in parts. A pipe gets everything.

    Parameters
    ----------
    columns : sequence of str
        The header.
    rows : iterable of sequences of str
    right : sequence of str
        Columns that are set flush right: numbers.
    names : sequence of str
        Columns of names, which are one word whatever they are made of.
    """
    from tamis.utils.text_tables import aligned_lines

    console = stdout()
    cells = [[printable(cell) for cell in row] for row in rows]
    if not console.is_terminal:
        numbers = [i for i, name in enumerate(columns) if name in right]
        for line in aligned_lines([columns, *cells], right=numbers):
            print(line.rstrip())
        return
    from rich import box
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    whole = (*right, *names)
    cells = [
        [
            _cut(cell) if name in whole else " ".join(map(_cut, cell.split(" ")))
            for name, cell in zip(columns, row, strict=True)
        ]
        for row in cells
    ]
    widths = [_narrowest(columns, cells, whole, i) for i in range(len(columns))]
    for number, shown in enumerate(_parts_that_fit(widths, console.width)):
        if number:
            console.print()
        room = console.width - _GAP * (len(shown) - 1)
        natural = [max(cell_len(text[i]) for text in (columns, *cells)) for i in shown]
        given = _shared_out([widths[i] for i in shown], natural, room)
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False)
        for i, width in zip(shown, given, strict=True):
            justify: Any = "right" if columns[i] in right else "left"
            table.add_column(Text(columns[i]), justify=justify, width=width, overflow="fold")
        for row in cells:
            table.add_row(*(Text(row[i]) for i in shown))
        console.print(table)


def _cut(word: str) -> str:
    return word if len(word) <= _LONGEST_WORD else word[: _LONGEST_WORD - 1] + "…"


def _narrowest(
    columns: Sequence[str], rows: Sequence[Sequence[str]], whole: Sequence[str], index: int
) -> int:
    """The width at which no word of a column is broken, and no cell of those that stay whole."""
    from rich.cells import cell_len

    cells = [row[index] for row in rows]
    if columns[index] not in whole:
        cells = [word for cell in cells for word in cell.split(" ")]
    return max(cell_len(text) for text in (*columns[index].split(" "), *cells))


def _parts_that_fit(widths: Sequence[int], room: int) -> list[list[int]]:
    """The columns of each part of a table that is too wide to be shown as one.

    Every part begins with the first column, which tells the rows apart.
    """
    parts = [[0]]
    for i in range(1, len(widths)):
        if parts[-1] != [0] and sum(widths[j] + _GAP for j in [*parts[-1], i]) - _GAP > room:
            parts.append([0])
        parts[-1].append(i)
    return parts


def _shared_out(narrowest: Sequence[int], natural: Sequence[int], room: int) -> list[int]:
    """The widths of columns: what they would like, or a share of the room beyond what they need."""
    wanted = sum(natural) - sum(narrowest)
    share = min(1.0, max(0, room - sum(narrowest)) / wanted) if wanted else 1.0
    return [
        least + int((most - least) * share) for least, most in zip(narrowest, natural, strict=True)
    ]


def print_json(value: Any) -> None:
    """Print a value as JSON, and nothing else."""
    print(json.dumps(value, indent=2, ensure_ascii=False, default=_plain, allow_nan=False))


def _plain(value: Any) -> Any:
    """Numbers and arrays of numpy, paths, and mappings that only look like a dict."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "items"):
        return dict(value)
    return str(value)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show on a terminal that something is under way; nothing when piped."""
    console = stderr()
    if not console.is_terminal:
        yield
        return
    with console.status(f"{what} …"):
        yield
