"""Tables as lines of text, their columns aligned by spaces."""

from __future__ import annotations

from collections.abc import Container, Sequence

from rich.cells import cell_len

__all__ = ["aligned_lines", "column_widths"]


def column_widths(lines: Sequence[Sequence[str]]) -> list[int]:
    """The places that the widest cell of each column takes on a screen."""
    return [max(cell_len(line[i]) for line in lines) for i in range(len(lines[0]))]


def aligned_lines(
    lines: Sequence[Sequence[str]],
    *,
    right: Container[int],
    widths: Sequence[int] | None = None,
    between: str = "  ",
) -> list[str]:
    """Rows of cells as lines whose columns are as wide as they need be.

    Parameters
    ----------
    lines : sequence of sequences of str
    right : container of int
        The columns that are set flush right: numbers.
    widths : sequence of int or None, default=None
        None is :func:`column_widths`.
    between : str, default="  "
        What parts the columns.

    Examples
    --------
    >>> from tamis.utils.text_tables import aligned_lines
    >>> for line in aligned_lines([("method", "ACC"), ("udfs", "71.2")], right=(1,)):
    ...     print(line)
    method   ACC
    udfs    71.2
    """
    widths = column_widths(lines) if widths is None else widths

    def padded(cell: str, column: int) -> str:
        space = " " * (widths[column] - cell_len(cell))
        return space + cell if column in right else cell + space

    return [between.join(padded(cell, i) for i, cell in enumerate(line)) for line in lines]
