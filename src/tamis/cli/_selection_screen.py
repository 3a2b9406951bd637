"""What ``tamis select`` says of a selection, on the screen and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tamis.cli._decisions import found_in_json, print_reasons
from tamis.cli._outputs import plain_parameters
from tamis.cli._screen import print_table, print_text

if TYPE_CHECKING:
    from tamis.base import Selector
    from tamis.cli._grouping import SourceRanking
    from tamis.inspection import Decisions

__all__ = ["Told", "print_kept", "print_selection", "selection_in_json"]


@dataclass(frozen=True)
class Told:
    """A selection, and what is to be said of it.

    Attributes
    ----------
    source : str
        The table, as the user named it.
    size : str
        The sentence on its size.
    n_samples, n_columns : int
    n_rows : int
        As many samples were ranked on.
    n_numbers : int
        As many columns of numbers were made of the columns.
    names : sequence of str
        Of the columns that were chosen among.
    method, why : str
    why_so_many : str
    model : Selector
        Fitted, on the numbers.
    ranked : Selector or SourceRanking
        Scores and ranks of the columns.
    decisions : Decisions or None
        What the method decided by itself.
    scaling : str
    scale_asked_for : bool
    notes : sequence of str
        What was done to the table, a sentence each.
    seconds : float
    holds : sequence of str
        What the output holds, a sentence each.
    """

    source: str
    size: str
    n_samples: int
    n_columns: int
    n_rows: int
    n_numbers: int
    names: Sequence[str]
    method: str
    why: str
    why_so_many: str
    model: Selector
    ranked: Selector | SourceRanking
    decisions: Decisions | None
    scaling: str
    scale_asked_for: bool
    notes: Sequence[str]
    seconds: float
    holds: Sequence[str]

    def kept(self) -> list[dict[str, Any]]:
        """Rank, column, name and score of the columns that are kept, the best first."""
        import numpy as np

        number = int(self.ranked.get_support().sum())
        return [
            {
                "rank": rank,
                "column": int(column),
                "name": str(self.names[column]),
                "score": float(self.ranked.scores_[column]),
            }
            for rank, column in enumerate(np.argsort(self.ranked.ranking_)[:number], start=1)
        ]


def selection_in_json(told: Told, files: Mapping[str, Path]) -> dict[str, Any]:
    """Everything that is said, for JSON.

    Parameters
    ----------
    told : Told
    files : mapping of option to path
        What was written.
    """
    kept = told.kept()
    return {
        "source": told.source,
        "n_samples": told.n_samples,
        "n_columns": told.n_columns,
        "n_rows_used": told.n_rows,
        "method": told.method,
        "why": told.why,
        "parameters": plain_parameters(told.model),
        "scaling": told.scaling,
        "notes": list(told.notes),
        "seconds": round(told.seconds, 3),
        "n_kept": len(kept),
        "kept": kept,
        "output_holds": list(told.holds),
        "files": {option.removeprefix("--"): str(path) for option, path in files.items()},
        **found_in_json(told.model, told.decisions, scale_asked_for=told.scale_asked_for),
    }


def print_selection(told: Told, top: int, files: Sequence[Path]) -> None:
    """Print what was done, the first `top` of the kept columns, why they are kept, what is written.

    Parameters
    ----------
    told : Told
    top : int
    files : sequence of Path
        What was written, but for standard output.
    """
    kept = told.kept()
    print_text(told.size)
    for sentence in told.notes:
        print_text(sentence)
    print_text(f"Method: {told.method}, {told.why}.")
    sentences = told.decisions.sentences if told.decisions is not None else ()
    for sentence in sentences or (f"Keeps {len(kept):,} columns: {told.why_so_many}.",):
        print_text(sentence)
    if sentences and told.n_numbers > told.n_columns:
        print_text(
            f"Numbers made of one column are one decision: {len(kept):,} of {told.n_columns:,} "
            "columns of the table are kept."
        )
    print_text("")
    print_kept(kept, top)
    if told.decisions is not None:
        print_reasons(told.decisions)
    for path in files:
        print_text(f"Wrote {path}")
    for sentence in told.holds:
        print_text(sentence)


def print_kept(kept: Sequence[Mapping[str, Any]], top: int) -> None:
    """Print rank, column, name and score of the first kept columns, and how many more there are."""
    print_table(
        ("rank", "column", "name", "score"),
        [
            (str(row["rank"]), str(row["column"]), str(row["name"]), f"{row['score']:.4g}")
            for row in kept[:top]
        ],
        right=("rank", "column", "score"),
        names=("name",),
    )
    if len(kept) > top:
        print_text(f"… and {len(kept) - top:,} more (--top shows more, --ranking writes all)")
