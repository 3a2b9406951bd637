"""What a column holds: numbers, truth values, categories, dates, text or an identifier."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np

from tamis._typing import FloatArray
from tamis.preprocessing._column import Column
from tamis.preprocessing._notation import (
    CODE,
    DATE_FORMATS,
    FIRST_YEAR,
    LAST_YEAR,
    NOTATIONS,
    NumberNotation,
    out_of_range,
    read_dates,
    truth_words,
)
from tamis.preprocessing._readings import (
    BooleanReading,
    CategoryReading,
    DateReading,
    NumberReading,
    Reading,
    cycles_of,
    days_of,
)

KINDS = ("number", "boolean", "category", "date", "text", "identifier", "constant", "empty")
# The kinds that may be asked for.
CHOOSABLE = KINDS[:6]

# A column is of a kind if as many of its values are; the others are then missing.
NEARLY_ALL = 0.95
# Running numbers of fewer rows may be chance.
FEWEST_RUNNING = 5
# What a note says that asks for a second look.
CAUTIONS = (
    "named like an identifier",
    "runs on in equal steps",
    "which is a guess",
    "as missing",
    "mixes numbers",
)
# Text of more words on average is prose, not a code or a name.
WORDS_OF_A_NAME = 4
ID_NAME = re.compile(
    r"(row|case|record|sample|subject|patient|customer|user|item|obs|observation)?[ _.-]?"
    r"(id|uuid|guid|rownames?|index|key|no|nr|num|number)"
    r"|row[ _.-]?names?|unnamed: ?\d+|\w+[ _.-](id|uuid|guid|key)|id[ _.-]\w+|\w*[a-z]ID|",
)


@dataclass(frozen=True)
class Recognised:
    """What a column was taken for.

    Attributes
    ----------
    kind : str
        One of :data:`KINDS`.
    reading : Reading or None
        How it becomes numbers; None if it is dropped.
    notes : tuple of str
        What is odd about it, each a sentence that begins with the column's name.
    """

    kind: str
    reading: Reading | None
    notes: tuple[str, ...] = ()


def recognised(
    name: str, column: Column, wanted: str | None = None, rare: float = 0.01
) -> Recognised:
    """Recognise a column.

    Parameters
    ----------
    name : str
    column : Column
    wanted : str or None, default=None
        The kind that the user says it is.
    rare : float, default=0.01
        Levels of a smaller share of the rows are rare.
    """
    if column.missing().all():
        return Recognised("empty", None)
    if wanted in ("text", "identifier"):
        found = Recognised(wanted, None)
    elif wanted is not None:
        found = _as_wanted(name, column, wanted, rare)
    elif column.is_text:
        found = _recognised_text(name, column, rare)
    elif column.values.dtype.kind == "M":
        found = _dates(name, column, "iso")
    elif column.values.dtype.kind == "b":
        found = Recognised("boolean", BooleanReading())
    else:
        found = _recognised_numbers(name, column)
    if column.said_missing:
        words = ", ".join(map(repr, column.said_missing))
        found = replace(found, notes=(*found.notes, f"{name!r}: {words} read as no value."))
    return _unless_constant(found, column)


def _unless_constant(found: Recognised, column: Column) -> Recognised:
    if found.reading is None:
        return found
    values = found.reading.read(column).values
    present = values[values >= 0] if values.dtype.kind == "i" else values[~np.isnan(values)]
    if len(present) == 0:
        return Recognised("empty", None, found.notes)
    if (present == present[0]).all():
        return Recognised("constant", None, found.notes)
    return found


# --- numbers ------------------------------------------------------------------------------------


def _recognised_numbers(
    name: str, column: Column, notation: NumberNotation | None = None
) -> Recognised:
    reading = NumberReading(notation or NumberNotation())
    read = reading.read(column)
    notes = []
    if notation is not None and (guessed := notation.described()):
        notes.append(f"{name!r} holds numbers written as text: {guessed}.")
    n_wrong = int(np.count_nonzero(read.wrong))
    if n_wrong:
        notes.append(
            f"{name!r} holds numbers and {_times(n_wrong, 'word')} such as "
            f"{_example(column, read.wrong)!r}: the words count as missing."
        )
    n_infinite = _n_infinite(column, reading)
    if n_infinite:
        notes.append(f"{name!r} holds {_times(n_infinite, 'infinite value')}: counted as missing.")
    reason = why_identifier(name, read.values)
    if reason:
        return Recognised(
            "identifier", None, (f"{name!r} is taken for an identifier: {reason}.", *notes)
        )
    caution = odd_number(name, read.values)
    return Recognised("number", reading, (*([caution] if caution else []), *notes))


def why_identifier(name: str, values: FloatArray) -> str:
    """Why a column of numbers tells rows apart instead of measuring them; empty if it does not."""
    if np.isnan(values).any() or not (values == np.rint(values)).all():
        return ""
    steps = np.diff(values)
    starts = values[0] in (0, 1)
    if starts and (steps == 1).all() and len(values) >= FEWEST_RUNNING:
        return "it counts the rows"
    if not is_named_id(name):
        return ""
    if starts and np.isin(steps, (0, 1)).all() and (steps == 1).any():
        return "its name says so, and it runs on"
    if len(np.unique(values)) == len(values):
        return "its name says so, and no value occurs twice"
    return ""


def odd_number(name: str, values: FloatArray) -> str:
    """A sentence about a column that might have been an identifier, but is used as a number."""
    if len(values) < FEWEST_RUNNING or np.isnan(values).any():
        return ""
    if not (values == np.rint(values)).all():
        return ""
    steps = np.diff(values)
    if (steps == steps[0]).all() and steps[0] != 0:
        return f"{name!r} runs on in equal steps and is taken for a number, such as a time."
    if is_named_id(name) and name.strip():
        return _repeated_id(name, "a number")
    return ""


def is_caution(note: str) -> bool:
    """Whether a note asks for a second look, by whoever knows the table."""
    return any(words in note for words in CAUTIONS)


def _repeated_id(name: str, kind: str) -> str:
    return (
        f"{name!r} is named like an identifier, but its values repeat: taken for {kind}; drop it "
        "if it only tells rows apart."
    )


def is_named_id(name: str) -> bool:
    """Whether a column is named like one that tells rows apart."""
    name = name.strip()
    return bool(ID_NAME.fullmatch(name) or ID_NAME.fullmatch(name.casefold()))


def _n_infinite(column: Column, reading: NumberReading) -> int:
    if column.is_text:
        infinite = np.isinf(reading.notation.read(column.levels))
        return int(column.counts()[infinite].sum())
    return int(np.count_nonzero(np.isinf(column.values))) if column.values.dtype.kind == "f" else 0


# --- text ---------------------------------------------------------------------------------------


def _recognised_text(name: str, column: Column, rare: float) -> Recognised:
    if column.is_category:
        return _categories(name, column, rare)
    words = truth_words(column.levels)
    if words:
        return Recognised("boolean", BooleanReading(*words))
    counts = column.counts()
    notation = _number_notation(column)
    if notation is not None:
        return _recognised_numbers(name, column, notation)
    form = _date_form(column)
    if form is not None:
        return _dates(name, column, form)
    numeric = float(counts[~np.isnan(NumberNotation().read(column.levels))].sum() / counts.sum())
    found = _words(name, column, rare)
    if numeric >= 1 - NEARLY_ALL and not any(map(CODE.fullmatch, column.levels)):
        note = (
            f"{name!r} mixes numbers ({numeric:.0%} of its values) and words: taken for "
            f"{_with_article(found.kind)}."
        )
        found = replace(found, notes=(note, *found.notes))
    return found


def _words(name: str, column: Column, rare: float) -> Recognised:
    """Text that is neither numbers nor dates: categories, codes, names or prose."""
    counts = column.counts()
    n_levels, n_values = len(column.levels), int(counts.sum())
    if n_levels < n_values and n_levels <= max(3, n_values / 2):
        found = _categories(name, column, rare)
        if found.kind == "category" and name.strip() and is_named_id(name):
            found = replace(found, notes=(_repeated_id(name, "categories"), *found.notes))
        return found
    words = np.mean([len(level.split()) for level in column.levels])
    if n_levels >= NEARLY_ALL * n_values and (words < WORDS_OF_A_NAME or is_named_id(name)):
        once = "no value occurs twice" if n_levels == n_values else "hardly a value occurs twice"
        return Recognised("identifier", None, (f"{name!r} is taken for an identifier: {once}.",))
    note = f"{name!r} is taken for free text: {n_levels} different values in {n_values} rows."
    return Recognised("text", None, (note,))


def _number_notation(column: Column) -> NumberNotation | None:
    """How the numbers of a text column are written, if nearly all its values are numbers."""
    if any(map(CODE.fullmatch, column.levels)):  # 01234: the code of a place, not a number
        return None
    counts = column.counts()
    for notation in NOTATIONS:
        numbers = notation.read(column.levels)
        if counts[~np.isnan(numbers)].sum() > NEARLY_ALL * counts.sum() - 1e-9:
            return notation
    return None


def _categories(name: str, column: Column, rare: float) -> Recognised:
    counts = column.counts()
    order = np.argsort(np.array(column.levels, dtype=object), kind="stable")
    levels = [(column.levels[j], int(counts[j])) for j in order if counts[j]]
    least = max(2, int(np.ceil(rare * len(column))))
    few = tuple(level for level, count in levels if count < least)
    if len(few) < 2:
        few = ()  # a single one is no other than its own column
    kept = tuple(level for level, _ in levels if level not in set(few))
    if not kept:
        note = f"{name!r} is taken for free text: none of its {len(levels)} levels is frequent."
        return Recognised("text", None, (note,))
    notes: tuple[str, ...] = ()
    if few:
        notes = (f"{name!r}: {len(few)} levels of fewer than {least} rows each count as one.",)
    return Recognised("category", CategoryReading(kept, few), notes)


# --- dates --------------------------------------------------------------------------------------


def _date_form(column: Column) -> str | None:
    """How the dates of a text column are written, if nearly all its values are dates."""
    counts = column.counts()
    first = column.levels[:20]
    for form in DATE_FORMATS:
        if not np.isnat(read_dates(first, form)).all():
            read = ~np.isnat(read_dates(column.levels, form))
            if counts[read].sum() >= NEARLY_ALL * counts.sum():
                return form
    return None


def _dates(name: str, column: Column, form: str) -> Recognised:
    reading = DateReading(form)
    read = reading.read(column)
    notes = []
    if column.is_text:
        notes.append(f"{name!r} is taken for dates{_shown(column, form)}.")
    n_wrong = int(np.count_nonzero(read.wrong))
    if n_wrong:
        notes.append(
            f"{name!r} holds {_times(n_wrong, 'value')} such as {_example(column, read.wrong)!r} "
            "among its dates: counted as missing."
        )
    beyond = _n_beyond(column, form)
    if beyond:
        notes.append(
            f"{name!r} holds {_times(beyond, 'date')} before the year {FIRST_YEAR} or after "
            f"{LAST_YEAR}: counted as missing."
        )
    days = read.values
    if np.isnan(days).all():
        return Recognised("empty", None, tuple(notes))
    origin = float(np.floor(np.nanmin(days)))
    return Recognised("date", DateReading(form, origin, cycles_of(days)), tuple(notes))


def _shown(column: Column, form: str) -> str:
    """How the dates were read, where it could be read in another way."""
    swapped = form.replace("%m", "%_").replace("%d", "%m").replace("%_", "%d")
    if form == "iso" or swapped == form or swapped not in DATE_FORMATS:
        return ""
    counts = column.counts()
    also = ~np.isnat(read_dates(column.levels, swapped))
    first = "month" if form.index("%m") < form.index("%d") else "day"
    doubt = ", which is a guess" if counts[also].sum() >= NEARLY_ALL * counts.sum() else ""
    return f" with the {first} first{doubt}"


def _n_beyond(column: Column, form: str) -> int:
    if column.is_text:
        return int(column.counts()[out_of_range(read_dates(column.levels, form))].sum())
    return int(np.count_nonzero(out_of_range(column.values)))


# --- what the user says -------------------------------------------------------------------------


def _as_wanted(name: str, column: Column, wanted: str, rare: float) -> Recognised:
    if wanted == "category":
        return _categories(name, column.as_levels(), rare)
    if wanted == "boolean":
        words = truth_words(column.levels) if column.is_text else ("true", "false")
        reading: Reading = BooleanReading(*(words or ("true", "false")))
        found = Recognised("boolean", reading)
    elif wanted == "number":
        notation = NumberNotation()
        if column.is_text:
            counts = column.counts()
            shares = [counts[~np.isnan(one.read(column.levels))].sum() for one in NOTATIONS]
            notation = NOTATIONS[int(np.argmax(shares))]
        found = Recognised("number", NumberReading(notation))
    else:
        form = "iso"
        if column.is_text:
            counts = column.counts()
            shares = [counts[~np.isnat(read_dates(column.levels, f))].sum() for f in DATE_FORMATS]
            form = DATE_FORMATS[int(np.argmax(shares))]
        found = _dates(name, column, form)
    reading = found.reading if found.reading is not None else DateReading()
    read = reading.read(column)
    if read.wrong.all() or (read.wrong | column.missing()).all():
        raise ValueError(
            f"kinds says that {name!r} holds a {wanted}, but no value of it is one, such as "
            f"{_example(column, read.wrong)!r}; leave it out of kinds, or give another kind."
        )
    n_wrong = int(np.count_nonzero(read.wrong))
    if n_wrong and wanted != "date":
        note = (
            f"{name!r} holds {_times(n_wrong, 'value')} such as "
            f"{_example(column, read.wrong)!r} that are no {wanted}: counted as missing."
        )
        found = replace(found, notes=(*found.notes, note))
    return found


# --- words --------------------------------------------------------------------------------------


def _example(column: Column, rows: np.ndarray) -> str:
    return example(column, rows)


def example(column: Column, rows: np.ndarray) -> str:
    """The first value of a column among some rows, as text."""
    first = int(np.argmax(rows))
    if column.is_text:
        return column.levels[column.codes[first]]
    return str(column.values[first])


def _times(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("s" if count != 1 else "")


def _with_article(kind: str) -> str:
    return {"category": "categories", "identifier": "an identifier", "text": "free text"}.get(
        kind, kind
    )


__all__ = [
    "CHOOSABLE",
    "KINDS",
    "Recognised",
    "days_of",
    "example",
    "is_caution",
    "is_named_id",
    "odd_number",
    "recognised",
    "why_identifier",
]
