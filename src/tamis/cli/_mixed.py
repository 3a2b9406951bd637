"""Tables of mixed types, with gaps: prepared, and chosen among by their own columns."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from tamis.cli._failures import CommandError, reason

if TYPE_CHECKING:
    from tamis._typing import BoolArray
    from tamis.io import RawTable, Table
    from tamis.preprocessing import Preparation, Selection

__all__ = [
    "Cut",
    "Missing",
    "Mixed",
    "listed",
    "prepared_columns",
    "prepared_table",
    "refuse_both",
]

Missing = Literal["impute", "drop-rows", "drop-columns", "refuse"]

# Columns that a sentence names; of more it gives the number.
MOST_NAMED = 5
# Columns of the table that have to be usable for a choice.
FEWEST_COLUMNS = 2
# With fewer rows nothing can be said of how columns go together.
FEWEST_ROWS = 3

_KINDS = {
    "category": "categories",
    "boolean": "yes or no",
    "date": "dates",
    "text": "free text, not chosen among",
    "identifier": "identifiers, not chosen among",
    "constant": "constant, left out",
    "empty": "empty, left out",
}


@dataclass(frozen=True)
class Cut:
    """What options say of the columns before any is chosen.

    Attributes
    ----------
    missing : {"impute", "drop-rows", "drop-columns", "refuse"}
    keep, drop : sequence of str
        Names and patterns.
    numeric_only : bool
    """

    missing: Missing = "impute"
    keep: Sequence[str] = ()
    drop: Sequence[str] = ()
    numeric_only: bool = False


@dataclass(frozen=True)
class Mixed:
    """A table of mixed types and what was made of it.

    Attributes
    ----------
    raw : RawTable
    preparation : Preparation
        Fitted on the columns that are chosen among.
    passthrough : tuple of str
        Columns that belong to the row: ids, labels, text, dates; they are not chosen among, but
        for the dates.
    notes : tuple of str
        What columns were taken for, imputed and left out, a sentence each.
    keep : tuple of str
        The columns to keep that can be chosen.
    """

    raw: RawTable
    preparation: Preparation
    passthrough: tuple[str, ...]
    notes: tuple[str, ...]
    keep: tuple[str, ...]

    def beside(self, kept: Sequence[str]) -> list[str]:
        """The columns that go through to the output beside the kept ones."""
        return [name for name in self.passthrough if name not in set(kept)]

    def selection(self, kept: Sequence[str], method: str, parameters: dict[str, Any]) -> Selection:
        """What is kept, to be cut from other tables."""
        from tamis.preprocessing import Selection

        kinds = self.preparation.kinds_
        return Selection(
            kept=kept,
            columns={name: kinds[name] for name in self.preparation.groups_},
            passthrough=self.beside(kept),
            preparation=self.preparation,
            method=method,
            parameters=parameters,
        )


def listed(patterns: Sequence[str], option: str, names: Sequence[str], source: str) -> BoolArray:
    """Which columns an option names; a name that is not there is answered with one like it."""
    from tamis.utils.named_columns import column_mask

    try:
        return column_mask(patterns, option, len(names), list(names))
    except ValueError as error:
        text = re.sub(r"\bX\b", source.replace("\\", r"\\"), reason(error))
        raise CommandError(f"{text}{'' if text.endswith('?') else '.'}") from None


def refuse_both(keep: BoolArray, drop: BoolArray, names: Sequence[str]) -> None:
    """Refuse to keep and to drop one column."""
    both = [name for name, one, other in zip(names, keep, drop, strict=True) if one and other]
    if both:
        raise CommandError(f"--keep and --drop both name {_named(both)}; take it out of one.")


def prepared_table(raw: RawTable, cut: Cut, source: str) -> tuple[Table, Mixed]:
    """The numbers of a table of mixed types, and how they were made.

    What cannot be chosen from ends in one line that says why.
    """
    import numpy as np

    from tamis.io import Table
    from tamis.preprocessing import Preparation

    names = [name for name in raw.names if name not in raw.aside]
    keep, drop = (
        listed(patterns, option, names, source)
        for patterns, option in ((cut.keep, "--keep"), (cut.drop, "--drop"))
    )
    refuse_both(keep, drop, names)
    to_keep = [name for name, one in zip(names, keep, strict=True) if one]
    chosen = [name for name, one in zip(names, drop, strict=True) if not one]
    if cut.numeric_only:
        others = [name for name in chosen if raw.columns[name].dtype.kind not in "biuf"]
        chosen = [name for name in chosen if name not in set(others) or name in set(to_keep)]
    if raw.n_rows < FEWEST_ROWS:
        raise _nothing(source, f"it has {raw.n_rows} rows, and a choice takes {FEWEST_ROWS}")
    if len(chosen) < FEWEST_COLUMNS:
        raise _nothing(source, f"{_number(len(chosen))} left to choose from")
    preparation = Preparation(missing=cut.missing)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # its notes tell the same
            X = preparation.fit_transform({name: raw.columns[name] for name in chosen})
    except ValueError as error:
        text = reason(error)
        if "No column of the table can be used" in text:
            text = text.split(": ", 1)[1].removesuffix("; say in kinds what they hold")
            raise _nothing(source, f"no column can be used: {text}") from None
        text = re.sub(r"missing='([a-z-]+)'", r"--missing \1", text)
        raise CommandError(f"{source}: {text.removeprefix('X ')}.") from None
    usable = list(preparation.groups_)
    if len(usable) < FEWEST_COLUMNS:
        why = ", ".join(f"{name!r} ({why})" for name, why in list(preparation.dropped_.items())[:3])
        raise _nothing(source, f"only {usable[0]!r} can be used" + (f", not {why}" if why else ""))
    kinds = preparation.kinds_
    unusable = [name for name in to_keep if name not in preparation.groups_]
    beside = {name for name in chosen if kinds[name] in ("text", "identifier", "date")}
    beside |= {*raw.aside, *unusable}
    if cut.numeric_only:
        beside -= set(others)
    notes = [*told(preparation)]
    if unusable:
        notes.append(f"Kept in the output, but not chosen among: {_named(unusable)}.")
    mixed = Mixed(
        raw,
        preparation,
        tuple(name for name in raw.names if name in beside),
        tuple(notes),
        tuple(name for name in to_keep if name in preparation.groups_),
    )
    labels = None if raw.labels_name is None else raw.columns[raw.labels_name]
    ids = [name for name in raw.aside if name != raw.labels_name]
    table = Table(
        X=X,
        feature_names=np.array(preparation.get_feature_names_out(), dtype=object),
        labels=None if labels is None else labels[preparation.rows_],
        ids=raw.columns[ids[0]][preparation.rows_] if ids else None,
        path=raw.path,
        format=raw.format,
        notes=raw.notes,
    )
    return table, mixed


def told(preparation: Preparation) -> list[str]:
    """What was made of a table, one sentence for each kind of thing."""
    import numpy as np

    kinds: dict[str, list[str]] = {}
    for name, kind in preparation.kinds_.items():
        kinds.setdefault(kind, []).append(name)
    sentences = []
    taken = [f"{words}: {_named(kinds[kind])}" for kind, words in _KINDS.items() if kind in kinds]
    if taken:
        sentences.append(f"Taken for {'; '.join(taken)}.")
    cautions = preparation.cautions_
    sentences += cautions[:MOST_NAMED]
    if len(cautions) > MOST_NAMED:
        sentences.append(f"… and {len(cautions) - MOST_NAMED} more such remarks, in the report.")
    if preparation.imputed_:
        shares = list(preparation.imputed_.values())
        sentences.append(
            f"Imputed: {_percent(float(np.mean(shares)))} of the values of "
            f"{_named(list(preparation.imputed_))}."
        )
    kinds_of_note = ("missing", "categories are dropped")
    gappy = [
        name
        for name, why in preparation.dropped_.items()
        if any(words in why for words in kinds_of_note)
    ]
    if gappy:
        sentences.append(f"Left out, as too many values are missing: {_named(gappy)}.")
    n_rows, n_used = len(preparation.rows_), int(preparation.rows_.sum())
    if n_used < n_rows:
        sentences.append(f"Left out, as they have a gap: {n_rows - n_used:,} of {n_rows:,} rows.")
    return sentences


def prepared_columns(raw: RawTable, selection: Selection, beside: Sequence[str]) -> RawTable:
    """The kept columns as prepared numbers, after those that belong to the row."""
    from tamis.utils.sparse import is_sparse

    X = selection.transform(raw.columns)
    X = X.toarray() if is_sparse(X) else X
    rows = selection.rows(raw.columns)
    made = selection.get_feature_names_out().tolist()
    columns = {name: raw.columns[name][rows] for name in beside if name not in set(made)}
    columns |= {name: X[:, place] for place, name in enumerate(made)}
    return replace(raw, typed=columns, table=None, origin=None, aside=tuple(beside), format="")


def _nothing(source: str, why: str) -> CommandError:
    return CommandError(f"{source}: nothing to select: {why}.")


def _number(number: int) -> str:
    return {0: "no column is", 1: "one column is"}.get(number, f"{number} columns are")


def _named(names: Sequence[str]) -> str:
    if len(names) > MOST_NAMED:
        first = ", ".join(repr(name) for name in names[: MOST_NAMED - 2])
        return f"{len(names):,} columns, such as {first}"
    return ", ".join(repr(name) for name in names)


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.01 else f"{share:.1%}"
