"""Tables that set our figure beside a paper's, with a verdict for every cell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from rich.table import Table as RichTable
from rich.text import Text

from tamis.evaluation.rendering import markdown_table, markdown_text, plain_text_table
from tamis.evaluation.ties import TOLERANCE

if TYPE_CHECKING:
    from tamis.evaluation.results import Estimate

__all__ = [
    "VERDICTS",
    "Cell",
    "PaperTable",
    "Verdict",
    "summary",
]

Verdict = Literal["reproduced", "better", "lower", "no data", "–", "failed"]

# Those that a summary always counts; failures only where there are any.
VERDICTS: tuple[Verdict, ...] = ("reproduced", "better", "lower", "no data", "–")
_STYLES: Mapping[str, str] = {
    "reproduced": "green",
    "better": "bold cyan",
    "lower": "yellow",
    "no data": "dim",
    "–": "dim",
    "failed": "bold red",
}


@dataclass(frozen=True)
class Cell:
    """One figure of ours and the paper's.

    Attributes
    ----------
    ours : Estimate or None
        What we measured; None if the set is not available, or if the runs failed.
    paper : float or None
        What the paper prints, in the unit of ours; None if it prints nothing.
    paper_sd : float or None
        The standard deviation beside it, if any.
    resolution : float
        Half the last digit that the paper prints: nearer than this nobody can tell figures apart.
    larger_is_better : bool
        False for a cost, such as an error rate.
    dataset : str
        The set that the figure is of, by its registered name; "" if it is of several.
    failed : bool
        Whether there is no figure of ours because runs failed.
    """

    ours: Estimate | None = None
    paper: float | None = None
    paper_sd: float | None = None
    resolution: float = 0.0
    larger_is_better: bool = True
    dataset: str = ""
    failed: bool = False

    @property
    def tolerance(self) -> float:
        """The difference that still counts as the same figure.

        The larger of the two standard deviations, or the paper's rounding if that is larger still.
        """
        spread = [self.ours.sd if self.ours is not None else None, self.paper_sd, self.resolution]
        return max(float(value) for value in spread if value is not None and np.isfinite(value))

    @property
    def verdict(self) -> Verdict:
        """How our figure compares: reproduced, better, lower, or – (nothing printed).

        Without a figure of ours: failed, or no data.
        """
        if self.ours is None:
            return "failed" if self.failed else "no data"
        if self.paper is None:
            return "–"
        difference = float(self.ours.mean) - self.paper
        if abs(difference) <= self.tolerance + TOLERANCE:
            return "reproduced"
        return "better" if (difference > 0) == self.larger_is_better else "lower"

    def as_dict(self) -> dict[str, Any]:
        """Both figures and the verdict, ready for JSON."""
        ours = self.ours
        return {
            "ours": None
            if ours is None
            else {
                "mean": _number(ours.mean),
                "sd": _number(ours.sd),
                "low": _number(ours.low),
                "high": _number(ours.high),
                "n_features": ours.n_features,
                "parameters": None if ours.parameters is None else dict(ours.parameters),
            },
            "paper": self.paper,
            "paper_sd": self.paper_sd,
            "verdict": self.verdict,
        }


@dataclass(frozen=True)
class PaperTable:
    """A table of a paper, with our figures in it.

    Attributes
    ----------
    title : str
        Which table it is and what it measures, with the unit.
    columns, rows : sequence of str
        The heads, in the order of printing.
    cells : mapping
        ``(row, column)`` to :class:`Cell`; a pair that is missing stays blank.
    note : str
        What the reader should know: how the figures arose, doubts about the print.
    corner : str
        The head of the column of row names.
    scale : float
        Figures are shown multiplied by this (100: per cent).
    decimals : int
        Digits after the point.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[str]
    cells: Mapping[tuple[str, str], Cell]
    note: str = ""
    corner: str = ""
    scale: float = 100.0
    decimals: int = 1

    def __post_init__(self) -> None:
        names = {(row, column) for row in self.rows for column in self.columns}
        strangers = sorted(set(self.cells) - names)
        if strangers:
            raise ValueError(
                f"{self.title!r} has a cell for {strangers[0]}, which is no row and column of it."
            )

    @property
    def verdicts(self) -> Counter[str]:
        """How often each verdict was given."""
        return Counter(cell.verdict for cell in self.cells.values())

    def restricted(self, sets: Collection[str]) -> PaperTable | None:
        """The table without the rows and columns that are only of other sets; None if all are."""
        wanted = {
            place: cell
            for place, cell in self.cells.items()
            if not cell.dataset or cell.dataset in sets
        }
        if len(wanted) == len(self.cells):
            return self
        if not wanted:
            return None
        rows = [row for row in self.rows if any(row == place[0] for place in wanted)]
        columns = [name for name in self.columns if any(name == place[1] for place in wanted)]
        return replace(self, rows=rows, columns=columns, cells=wanted)

    def with_failures(
        self, failed: Mapping[str, Collection[str]], finished: Mapping[str, Collection[str]]
    ) -> PaperTable:
        """The table with its gaps told apart: runs that failed, and what was never measured.

        Parameters
        ----------
        failed, finished : mapping
            Of each set the labels of runs that failed, and of those that did not. A gap in a row
            or column of a method that has finished runs on the set is no failure: it was not
            measured there.
        """

        def is_failed(place: tuple[str, str], cell: Cell) -> bool:
            if cell.ours is not None or not failed.get(cell.dataset):
                return False
            return not set(place) & set(finished.get(cell.dataset, ()))

        cells = {
            place: replace(cell, failed=True) if is_failed(place, cell) else cell
            for place, cell in self.cells.items()
        }
        return replace(self, cells=cells)

    def text(self) -> str:
        """Aligned plain text: ours, the paper's and the verdict below one another."""
        lines = [[self.corner, *self.columns]]
        for row in self.rows:
            stacks = [self._stack(row, column) for column in self.columns]
            lines += [
                [head, *(stack[depth] for stack in stacks)]
                for depth, head in enumerate((row, "  paper", ""))
                if depth == 0 or any(stack[depth] for stack in stacks)
            ]
        return plain_text_table(self.title, lines, self.note)

    def markdown(self) -> str:
        """The table in GitHub's Markdown, its source aligned."""
        cells = [[markdown_text(head) for head in (self.corner, *self.columns)]]
        for row in self.rows:
            stacks = (self._stack(row, column, prefix=True) for column in self.columns)
            cells.append(
                [markdown_text(row), *(_unbroken("<br>".join(filter(None, x))) for x in stacks)]
            )
        return markdown_table(self.title, cells, self.note)

    def rich(self) -> RichTable:
        """The table for a terminal, coloured by verdict."""
        table = RichTable(title=self.title, caption=self.note or None, show_lines=True)
        table.add_column(self.corner)
        for column in self.columns:
            table.add_column(column, justify="right", no_wrap=True)
        for row in self.rows:
            entries = [Text(row if self._ours_alone else f"{row}\n  paper")]
            for column in self.columns:
                ours, paper, verdict = self._stack(row, column)
                figures = ours if self._ours_alone else f"{ours}\n{paper}\n"
                entries.append(Text.assemble(figures, (verdict, _STYLES.get(verdict, ""))))
            table.add_row(*entries)
        return table

    def as_dict(self) -> dict[str, Any]:
        """Everything in the table, ready for JSON; figures are not multiplied by ``scale``."""
        return {
            "title": self.title,
            "note": self.note,
            "rows": list(self.rows),
            "columns": list(self.columns),
            "cells": [
                {"row": row, "column": column, **self.cells[row, column].as_dict()}
                for row in self.rows
                for column in self.columns
                if (row, column) in self.cells
            ],
            "verdicts": dict(self.verdicts),
        }

    def _stack(self, row: str, column: str, prefix: bool = False) -> tuple[str, str, str]:
        """The three lines of one cell."""
        cell = self.cells.get((row, column))
        if cell is None:
            return "", "", ""
        ours = "" if cell.ours is None else self._figure(cell.ours.mean, cell.ours.sd)
        paper = "" if cell.paper is None else self._figure(cell.paper, cell.paper_sd)
        verdict = "" if self._ours_alone and cell.verdict == "–" else cell.verdict
        return ours, f"paper {paper}" if paper and prefix else paper, verdict

    @property
    def _ours_alone(self) -> bool:
        """Whether the paper prints none of these figures: then nothing is said of it."""
        return all(cell.paper is None for cell in self.cells.values())

    def _figure(self, mean: float, sd: float | None) -> str:
        text = f"{self.scale * float(mean):.{self.decimals}f}"
        if sd is None or not np.isfinite(sd):
            return text
        return f"{text} ± {self.scale * float(sd):.{self.decimals}f}"


class _Judged(Protocol):
    @property
    def verdicts(self) -> Counter[str]: ...


def summary(tables: Iterable[_Judged]) -> Counter[str]:
    """Verdicts of several tables together; but for failures every kind is there, if only as 0."""
    total: Counter[str] = Counter(dict.fromkeys(VERDICTS, 0))
    for table in tables:
        total.update(table.verdicts)
    return total


def _unbroken(figures: str) -> str:
    """Figures that a browser does not break before their deviation."""
    return figures.replace(" ", "\N{NO-BREAK SPACE}").replace("no\N{NO-BREAK SPACE}data", "no data")


def _number(value: float | None) -> float | None:
    """A float that JSON can hold: what is not finite becomes null."""
    return None if value is None or not np.isfinite(value) else float(value)
