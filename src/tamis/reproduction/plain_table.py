"""Tables of words and figures that no paper has printed before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.table import Table as RichTable

from tamis.reproduction.tables import aligned, markdown_grid, markdown_text

__all__ = ["PlainTable"]


@dataclass(frozen=True)
class PlainTable:
    """A table to be read, the first column to the left and the others to the right.

    Attributes
    ----------
    title : str
    columns : sequence of str
        The heads.
    rows : sequence of sequence of str
        As printed.
    note : str
        What the reader should know.
    data : sequence of dict
        The same for programs, a dict a row.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    data: Sequence[dict[str, Any]] = ()

    @property
    def verdicts(self) -> Counter[str]:
        """None: there is no paper to compare with."""
        return Counter()

    def restricted(self, sets: Collection[str]) -> PlainTable:
        """The table as it is: it was made of the sets that were run."""
        return self

    def with_failures(
        self, failed: Mapping[str, Collection[str]], finished: Mapping[str, Collection[str]]
    ) -> PlainTable:
        """The table as it is: it tells of failures itself."""
        return self

    def text(self) -> str:
        """Aligned plain text."""
        lines = [list(self.columns), *map(list, self.rows)]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.columns))]
        printed = [aligned(line, widths, "  ").rstrip() for line in lines]
        rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
        parts = [self.title, rule, printed[0], rule, *printed[1:], rule]
        return "\n".join([*parts, self.note] if self.note else parts)

    def markdown(self) -> str:
        """The table in GitHub's Markdown, its source aligned."""
        lines = [[markdown_text(cell) for cell in line] for line in (self.columns, *self.rows)]
        parts = [f"**{markdown_text(self.title)}**", markdown_grid(lines)]
        return "\n\n".join([*parts, markdown_text(self.note)] if self.note else parts)

    def rich(self) -> RichTable:
        """The table for a terminal."""
        table = RichTable(title=self.title, caption=self.note or None)
        for i, column in enumerate(self.columns):
            table.add_column(column, justify="right" if i else "left", no_wrap=True)
        for row in self.rows:
            table.add_row(*row)
        return table

    def as_dict(self) -> dict[str, Any]:
        """Everything in the table, ready for JSON."""
        return {"title": self.title, "note": self.note, "rows": list(self.data)}
