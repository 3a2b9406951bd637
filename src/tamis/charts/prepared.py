"""How the table was prepared: what the page says of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tamis.charts.words import count, percent

# Columns of the source that are listed: beyond, those that nothing was done to come last.
MOST_SOURCES = 500

# What a column may be taken for, as a reader says it.
KINDS = {
    "number": "numbers",
    "boolean": "yes or no",
    "category": "categories",
    "date": "dates",
    "text": "free text",
    "identifier": "an identifier",
    "constant": "a constant",
    "empty": "empty",
}


@dataclass(frozen=True)
class Prepared:
    """What was done to a table before the fit.

    Attributes
    ----------
    sentences : tuple of str
    rows : tuple of dict
        The columns of the source: "column", "kind", "gaps" and "becomes". Those that something was
        done to come first.
    n_left_out : int
        How many are not listed.
    """

    sentences: tuple[str, ...]
    rows: tuple[dict[str, str], ...] = ()
    n_left_out: int = 0

    def __bool__(self) -> bool:
        return bool(self.sentences or self.rows)


def describe_preparation(sentences: Sequence[str], prepared_by: Any = None) -> Prepared:
    """What the section shows: sentences, and a table where a fitted preparation tells of columns.

    Parameters
    ----------
    sentences : sequence of str
        Told by whoever made the selection.
    prepared_by : Preparation or None, default=None
        Fitted; its notes come first, unless they are among the sentences.

    Returns
    -------
    Prepared
    """
    if isinstance(sentences, str):
        raise TypeError("preparation must be a sequence of sentences, not one text: [text].")
    if prepared_by is None:
        return Prepared(tuple(sentences))
    if not hasattr(prepared_by, "kinds_"):
        raise TypeError(
            f"prepared_by={prepared_by!r} must be a fitted tamis.preprocessing.Preparation; call "
            "its fit first."
        )
    rows = [_row(source, kind, prepared_by) for source, kind in prepared_by.kinds_.items()]
    rows.sort(key=lambda row: row["becomes"] == "itself" and not row["gaps"])  # stable
    notes = dict.fromkeys((*prepared_by.notes_, *sentences))
    return Prepared(tuple(notes), tuple(rows[:MOST_SOURCES]), max(0, len(rows) - MOST_SOURCES))


def _row(source: Any, kind: str, prepared_by: Any) -> dict[str, str]:
    outputs = prepared_by.groups_.get(source, ())
    share = prepared_by.imputed_.get(source, 0.0)
    if not len(outputs):
        becomes = "nothing: it is left out"
    elif list(outputs) == [source]:
        becomes = "itself"
    else:
        becomes = count(len(outputs), "column")
    return {
        "column": str(source),
        "kind": KINDS.get(kind, kind),
        "gaps": percent(share) if share else "",
        "becomes": becomes,
    }
