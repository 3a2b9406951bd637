"""Tables of words and figures that no paper has printed before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.table import Table as RichTable

from tamis.evaluation.rendering import markdown_table, markdown_text, plain_text_table

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
        The same for programs, one dict per row.
    on_second_page : bool, default=False
        Whether it stands behind the others, on a page of its own.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    data: Sequence[dict[str, Any]] = ()
    on_second_page: bool = False

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
        return plain_text_table(self.title, [self.columns, *self.rows], self.note)

    def markdown(self) -> str:
        """The table in GitHub's Markdown, its source aligned."""
        lines = [[markdown_text(cell) for cell in line] for line in (self.columns, *self.rows)]
        return markdown_table(self.title, lines, self.note)

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
