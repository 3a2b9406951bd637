"""What one studio knows: the table, the decisions and what followed from them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tamis import registry
from tamis.charts.prepared import KINDS
from tamis.inspection import NumberEvidence, Selection, subsample_selections
from tamis.studio import _columns as columns
from tamis.studio import _pictures as pictures
from tamis.studio._choice import Chosen, Decisions, Numbers, choose, numbers_of, quick_answer
from tamis.studio._table import OpenTable
from tamis.studio._work import Worker

# Refits for the stability of methods that do not refit themselves, and their time.
N_REFITS = 6
REFIT_SECONDS = 20.0
MOST_UNDONE = 200
# Rows and columns of the table that are shown as they were read.
ROWS_SHOWN, MOST_SHOWN = 8, 40
# States of a column, as the page knows them by number.
FREE, KEEP, DROP, ASIDE, UNUSED = range(5)


class NotThereError(ValueError):
    """What was asked for is not there yet, or no longer."""


@dataclass
class Result:
    """What followed from some decisions; figures and reasons come after the ranking.

    Attributes
    ----------
    chosen : Chosen
    selection : Selection
    seconds : float
        Of the fit.
    quick : bool
        Whether the fit itself is still under way; see :func:`quick_answer`.
    reasons : list of dict
        One row per number that the method was given; empty where it gives none.
    sentences : list of str
        What the method decided by itself.
    stability : ndarray of shape (n_sources,) or None
        The share of refits that keep a column.
    figures : dict of str to Figure
    """

    chosen: Chosen
    selection: Selection
    seconds: float
    quick: bool = False
    reasons: list[dict[str, Any]] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    stability: Any = None
    figures: dict[str, pictures.Figure] = field(default_factory=dict)
    nearest: dict[str, Any] | None = None
    planes: pictures.Planes | None = None


class Session:
    """The state of a studio, which any number of pages look at.

    Parameters
    ----------
    read : callable or None
        Reads the table; None waits for one that is sent.
    changed : callable
        Told that the state is another.
    """

    def __init__(
        self, read: Callable[[], OpenTable] | None, changed: Callable[[], None] = lambda: None
    ) -> None:
        self.changed = changed
        self.lock = threading.RLock()
        self.table: OpenTable | None = None
        self.decisions = Decisions()
        self.result: Result | None = None
        self.remembered: Chosen | None = None
        self.compared: dict[str, Any] | None = None
        self.error = ""
        self.version = 0
        self.parts: dict[str, int] = {}
        self._read: Callable[[], OpenTable] | None = None
        self._doing: tuple[str, float] | None = None
        self._past: list[Decisions] = []
        self._future: list[Decisions] = []
        self._numbers: tuple[Any, Numbers] | None = None
        self._evidence: tuple[Any, NumberEvidence | None] | None = None
        self._before: tuple[Any, Any] | None = None
        self._kinds: dict[str, str] = {}
        self.worker = Worker(self._fail)
        if read is not None:
            self.open(read)

    # --- what the page asks for -----------------------------------------------------------------

    def open(self, read: Callable[[], OpenTable]) -> None:
        """Read another table and begin anew."""
        self._read = read

        def work() -> None:
            self._say("reading the table", 0.0)
            table = read()
            with self.lock:
                self.table, self.decisions, self.result = table, Decisions(), None
                self.remembered = self.compared = None
                self._past, self._future, self._kinds = [], [], {}
                self._numbers = self._evidence = self._before = None
            self._publish("table", "ranking", "figures")
            self._solve()

        self._start(work)

    def decide(self, decisions: Decisions) -> None:
        """Take a decision and see what follows."""
        with self.lock:
            if self.table is None or decisions == self.decisions:
                return
            self._check(decisions)
            self._past = [*self._past[-MOST_UNDONE:], self.decisions]
            self._future = []
            self.decisions = decisions
        self._start(self._solve)

    def undo(self) -> None:
        """Take the last decision back."""
        self._step(self._past, self._future)

    def redo(self) -> None:
        """Take back what was taken back."""
        self._step(self._future, self._past)

    def _step(self, source: list[Decisions], target: list[Decisions]) -> None:
        with self.lock:
            if not source:
                return
            target.append(self.decisions)
            self.decisions = source.pop()
        self._start(self._solve)

    def again(self) -> None:
        """Begin once more what was cancelled or failed."""
        if self.table is not None:
            self._start(self._solve)
        elif self._read is not None:
            self.open(self._read)

    def cancel(self) -> None:
        """Stop what is under way."""
        self.worker.cancel()
        with self.lock:
            self._doing = None
            if self.table is not None and self.result is None:
                self.error = "Stopped."
        self._publish()

    def remember(self) -> None:
        """Keep the selection as it is now, to compare others with it."""
        with self.lock:
            self.remembered = None if self.result is None else self.result.chosen
        self._publish()

    def compare(self, methods: list[str]) -> None:
        """Fit several methods for as many columns, side by side."""
        known = [registry.get(name).name for name in methods]

        def work() -> None:
            result = self._settled()
            rows: list[dict[str, Any]] = []
            for place, name in enumerate(known):
                self._say(f"comparing: {name}", place / len(known))
                rows.append(self._compared(name, result.chosen))
                with self.lock:
                    self.compared = {"number": result.chosen.number, "methods": list(rows)}
                self._publish()
            self._done()

        self._start(work)

    def close(self) -> None:
        """Stop the work."""
        self.worker.close()

    def run(self, function: Callable[[Result], Any], what: str) -> None:
        """Do something with the settled result, beside."""

        def work() -> None:
            result = self._settled()
            self._say(what, 0.0)
            function(result)
            self._done()

        self._start(work)

    # --- the work -------------------------------------------------------------------------------

    def _start(self, function: Callable[[], None]) -> None:
        with self.lock:
            self.error = ""
            self._doing = ("working", 0.0)
        self.worker.submit(function)
        self._publish()

    def _settled(self) -> Result:
        """The result of the decisions as they are; found first if need be."""
        result = self.result
        if result is None or result.quick or result.chosen.decisions != self.decisions:
            self._solve()
            result = self.result
        assert result is not None
        return result

    def _solve(self) -> None:
        table, decisions = self.table, self.decisions
        assert table is not None
        numbers = self._numbers_for(table, decisions)
        self._answer_quickly(numbers, decisions)
        method = decisions.method
        self._say(f"ranking {len(numbers.sources):,} columns by {method}", 0.1)
        start = time.perf_counter()
        chosen = choose(numbers, decisions)
        seconds = time.perf_counter() - start
        result = Result(chosen, pictures.selection_of(chosen), seconds)
        result.sentences, result.reasons = pictures.decided(chosen)
        result.stability = _stability_of_reasons(chosen, result.reasons)
        with self.lock:
            self.result = result
        self._publish("ranking", "figures")
        self._say("what stands for what", 0.4)
        result.nearest = columns.nearest_by_number(chosen)
        self._publish("nearest")
        self._say("the number of columns, against chance", 0.5)
        result.figures |= pictures.curve_figures(chosen, self._evidence_for(chosen))
        self._publish("figures")
        self._say("pictures", 0.8)
        drawn = pictures.map_figure(result.reasons) if result.reasons else None
        if drawn is not None:
            result.figures["map"] = drawn
        result.figures["scores"] = pictures.score_figure(chosen)
        cut = pictures.cut_to(result.selection, chosen, chosen.number)
        result.figures |= pictures.correlation_figures(chosen, cut)
        known = self._before[1] if self._before and self._before[0] == numbers.key() else None
        # What Auto scales by is its own; other scales are other planes.
        known = None if pictures.finds_itself(chosen.model) else known
        result.planes, known = pictures.planes_of(chosen, cut, known)
        self._before = (numbers.key(), known)
        self._publish("figures")
        if result.stability is None:
            self._say("refits on parts of the rows", 0.9)
            result.stability = self._refits(result)
            self._publish("stability")
        self._done()

    def _answer_quickly(self, numbers: Numbers, decisions: Decisions) -> None:
        before = self.result
        if before is None or before.quick or before.chosen.numbers is not numbers:
            return
        chosen = quick_answer(before.chosen, decisions)
        if chosen is None:
            return
        result = Result(chosen, before.selection, before.seconds, quick=True)
        result.figures, result.stability = dict(before.figures), before.stability
        result.sentences, result.planes = before.sentences, before.planes
        result.nearest = columns.nearest_by_number(chosen)
        with self.lock:
            self.result = result
        self._publish("ranking", "nearest")

    def _numbers_for(self, table: OpenTable, decisions: Decisions) -> Numbers:
        plain = table.matrix is not None and not decisions.kinds
        key = (id(table), decisions.kinds, () if plain else decisions.unseen)
        if self._numbers is None or self._numbers[0] != key:
            self._numbers = None  # let go of the old ones first
            if not plain:
                self._say("making numbers of the columns", 0.05)
            numbers = numbers_of(table, decisions)
            self._numbers = (key, numbers)
            if numbers.preparation is not None:
                self._kinds |= numbers.preparation.kinds_
            self._publish("table")
        return self._numbers[1]

    def _evidence_for(self, chosen: Chosen) -> NumberEvidence | None:
        key = (chosen.numbers.key(), chosen.decisions.method, chosen.ranking.tobytes())
        if self._evidence is None or self._evidence[0] != key:
            self._evidence = (key, pictures.number_evidence(chosen))
        return self._evidence[1]

    def _refits(self, result: Result) -> Any:
        chosen = result.chosen
        if chosen.number >= len(chosen.numbers.sources):
            return None
        found = subsample_selections(
            result.selection,
            n_subsamples=N_REFITS,
            fraction=0.5,
            time_limit=REFIT_SECONDS,
            random_state=0,
        )
        if not len(found.masks):
            return None
        return np.maximum.reduceat(found.frequencies, chosen.numbers.starts)

    def _compared(self, name: str, chosen: Chosen) -> dict[str, Any]:
        """What a method keeps, as many columns as another selection has."""
        if name == chosen.decisions.method:
            found, seconds = chosen, self.result.seconds if self.result else 0.0
        else:
            start = time.perf_counter()
            try:
                wanted = replace(chosen.decisions, method=name, number=chosen.number, clusters=None)
                found = choose(chosen.numbers, wanted)
            except (ValueError, ArithmeticError, RuntimeError, np.linalg.LinAlgError) as error:
                return {"method": name, "error": str(error), "kept": [], "seconds": 0.0}
            seconds = time.perf_counter() - start
        places = self.places(chosen.numbers)
        kept = [int(places[j]) for j in found.order[: chosen.number]]
        return {"method": name, "kept": kept, "seconds": round(seconds, 3), "error": ""}

    def _check(self, decisions: Decisions) -> None:
        """Refuse decisions that name no method or no column of the table."""
        assert self.table is not None
        registry.get(decisions.method)
        n_columns = len(self.table.names)
        if decisions.number is not None and not 1 <= decisions.number <= n_columns:
            raise ValueError(f"the number of columns must be from 1 to {n_columns}.")
        if decisions.clusters is not None and decisions.clusters < 1:
            raise ValueError("the number of groups must be at least 1.")

    def _fail(self, error: Exception) -> None:
        with self.lock:
            text = str(error).strip() or type(error).__name__
            known = isinstance(error, ValueError | LookupError | OSError)
            self.error = text if known else f"{type(error).__name__}: {text}"
            self._doing = None
        self._publish()

    def _say(self, what: str, share: float) -> None:
        with self.lock:
            self._doing = (what, share)
        self._publish()

    def _done(self) -> None:
        with self.lock:
            self._doing = None
        self._publish()

    def _publish(self, *parts: str) -> None:
        with self.lock:
            self.version += 1
            for part in parts:
                self.parts[part] = self.version
        self.changed()

    # --- what the page is told ------------------------------------------------------------------

    def places(self, numbers: Numbers) -> Any:
        """Where the sources of the numbers stand among all columns of the table."""
        assert self.table is not None
        where = {name: place for place, name in enumerate(self.table.names)}
        return np.array([where[name] for name in numbers.sources], dtype=np.intp)

    def state(self) -> dict[str, Any]:
        """Everything that is small."""
        with self.lock:
            table, result, decisions = self.table, self.result, self.decisions
            told: dict[str, Any] = {
                "version": self.version,
                "parts": dict(self.parts),
                "error": self.error,
                "busy": None
                if self._doing is None
                else {"what": self._doing[0], "share": self._doing[1]},
                "undo": len(self._past),
                "redo": len(self._future),
                "methods": [
                    {"name": m.name, "prefers": m.prefers, "family": m.family}
                    for m in registry.METHODS.values()
                ],
                "kinds": KINDS,
                "compared": self.compared,
            }
            if table is None:
                return {**told, "table": None, "decisions": None, "result": None}
            told["table"] = {
                "name": table.name,
                "n_rows": table.n_rows,
                "n_columns": len(table.names),
                "aside": list(table.aside),
                "notes": [*table.notes, *self._notes()],
                "image": list(table.image_shape) if table.image_shape else None,
                "is_file": table.is_file,
                "has_labels": table.labels is not None or decisions.labels is not None,
            }
            told["decisions"] = {
                "method": decisions.method,
                "number": decisions.number,
                "clusters": decisions.clusters,
                "keep": list(decisions.keep),
                "drop": list(decisions.drop),
                "kinds": dict(decisions.kinds),
                "labels": decisions.labels,
                "ids": list(decisions.ids),
            }
            told["result"] = None if result is None else self._told_result(result)
            told["remembered"] = self._told_remembered()
            return told

    def _notes(self) -> tuple[str, ...]:
        numbers = None if self._numbers is None else self._numbers[1]
        if numbers is None or numbers.preparation is None:
            return ()
        return numbers.preparation.notes_

    def _told_result(self, result: Result) -> dict[str, Any]:
        chosen = result.chosen
        return {
            "method": chosen.decisions.method,
            "number": chosen.number,
            "found": chosen.found,
            "settled": not result.quick and chosen.decisions == self.decisions,
            "n_ranked": len(chosen.numbers.sources) - self._n_unseen(chosen),
            "seconds": round(result.seconds, 3),
            "sentences": result.sentences,
            "said": list(chosen.said),
            "figures": sorted(result.figures),
            "reasons": bool(result.reasons),
        }

    def _n_unseen(self, chosen: Chosen) -> int:
        unseen = set(chosen.decisions.unseen)
        return sum(name in unseen for name in chosen.numbers.sources)

    def _told_remembered(self) -> dict[str, Any] | None:
        if self.remembered is None:
            return None
        chosen = self.remembered
        places = self.places(chosen.numbers)
        return {
            "method": chosen.decisions.method,
            "number": chosen.number,
            "kept": [int(places[j]) for j in chosen.order[: chosen.number]],
        }

    def table_data(self) -> bytes:
        """Names, kinds, gaps and histograms of all columns."""
        with self.lock:
            table, kinds = self.table, dict(self._kinds)
        if table is None:
            raise NotThereError("no table is open.")
        names = table.names
        if table.matrix is not None:
            bars = columns.matrix_histograms(columns.some_rows(table.matrix))
            gaps = np.zeros(len(names), dtype=np.float32)
        else:
            rows = columns.drawn(table.n_rows)
            held = table.columns
            bars = columns.histograms([np.asarray(held[name])[rows] for name in names])
            gaps = np.array([columns.share_missing(held[name]) for name in names], np.float32)
        listed = list(KINDS)
        codes = np.array([listed.index(kinds.get(name, "number")) for name in names], np.uint8)
        return columns.packed(
            {"bars": bars.ravel(), "gaps": gaps, "kinds": codes}, names=names, n_bins=columns.N_BINS
        )

    def ranking_data(self) -> bytes:
        """Scores, ranks and states of all columns; those not chosen among have rank 0."""
        with self.lock:
            table, result = self.table, self.result
        if table is None or result is None:
            raise NotThereError("nothing has been ranked yet.")
        chosen = result.chosen
        n_columns = len(table.names)
        places = self.places(chosen.numbers)
        scores, ranks = np.full(n_columns, np.nan), np.zeros(n_columns, dtype=np.uint32)
        states = np.full(n_columns, UNUSED, dtype=np.uint8)
        scores[places], ranks[places], states[places] = chosen.scores, chosen.ranking, FREE
        where = {name: place for place, name in enumerate(table.names)}
        decided = chosen.decisions
        for names, state in ((decided.keep, KEEP), (decided.drop, DROP)):
            states[[where[name] for name in names]] = state
        aside = (*decided.ids, *(() if decided.labels is None else (decided.labels,)))
        states[[where[name] for name in aside]] = ASIDE
        ranks[(states == DROP) | (states == ASIDE)] = 0
        return columns.packed(
            {"scores": scores.astype(np.float32), "ranks": ranks, "states": states},
            version=self.parts.get("ranking", 0),
        )

    def nearest_data(self) -> bytes:
        """Which kept column each is most like, for every number, and how stable each is."""
        with self.lock:
            table, result = self.table, self.result
        if table is None or result is None or result.nearest is None:
            raise NotThereError("nothing has been compared yet.")
        chosen = result.chosen
        places, n_columns = self.places(chosen.numbers), len(table.names)
        counts = np.zeros(n_columns, dtype=np.uint32)
        counts[places] = np.diff(result.nearest["starts"])
        stability = np.full(n_columns, np.nan, dtype=np.float32)
        if result.stability is not None:
            stability[places] = result.stability
        return columns.packed(
            {
                "starts": np.concatenate([[0], np.cumsum(counts)]).astype(np.uint32),
                "rank": result.nearest["rank"],
                "alike": result.nearest["alike"],
                "stability": stability,
            },
            most=columns.MOST_RANKED,
        )

    def column(self, place: int) -> dict[str, Any]:
        """Everything known of one column."""
        with self.lock:
            table, result = self.table, self.result
        if table is None or not 0 <= place < len(table.names):
            raise ValueError("there is no such column.")
        name = table.names[place]
        told: dict[str, Any] = {"name": name, "place": place, "sentences": [], "stands_for": []}
        told["examples"] = columns.examples(table.column(name))
        dropped = self._why_unused(name)
        if dropped:
            told["sentences"].append(dropped)
        if result is None or name not in (sources := result.chosen.numbers.sources):
            return told
        chosen, source = result.chosen, sources.index(name)
        numbers = chosen.numbers
        outputs = slice(numbers.starts[source], numbers.starts[source] + numbers.sizes[source])
        if result.reasons:
            rows = sorted(
                result.reasons[outputs], key=lambda row: (not row["kept"], row["rank"] or 0)
            )
            for row in rows[:3]:
                start = "Kept: " if row["kept"] else "Not kept: "
                of = f"{row['column']}: " if row["column"] != name else ""
                told["sentences"].append(f"{of}{start}{row['reason']}.")
            inside = {row["column"] for row in rows}
            near = [row for row in result.reasons if row["nearest"] in inside and not row["kept"]]
            near.sort(key=lambda row: -abs(row["correlation"]))
            told["stands_for"] = [[row["column"], row["correlation"]] for row in near[:12]]
        told["made_of"] = numbers.outputs[outputs] if numbers.sizes[source] > 1 else []
        return told

    def _why_unused(self, name: str) -> str:
        numbers = None if self._numbers is None else self._numbers[1]
        if numbers is None or numbers.preparation is None:
            return ""
        why = numbers.preparation.dropped_.get(name)
        return "" if why is None else f"Not chosen among: {why}."

    def figure(self, name: str, *, colour: str = "") -> dict[str, Any]:
        """A figure by name; planes by the colour of the samples."""
        with self.lock:
            table, result = self.table, self.result
        if table is None or result is None:
            raise NotThereError("nothing has been ranked yet.")
        if name.startswith("plane "):
            if result.planes is None:
                raise NotThereError("the picture is not drawn yet.")
            labels, source = self._colours(table, result, colour)
            figures = pictures.plane_figures(result.planes, result.chosen.number, labels, source)
            return figures[name].plain()
        if name not in result.figures:
            raise NotThereError("there is no such figure now.")
        return result.figures[name].plain()

    def _colours(self, table: OpenTable, result: Result, colour: str) -> tuple[Any, str]:
        """The values to colour samples by: "" for groups, "labels", or the name of a column."""
        if not colour:
            return None, ""
        if colour == "labels":
            named = result.chosen.decisions.labels
            values = table.labels if named is None else table.column(named)
            source = "the labels"
        elif colour.startswith("column:"):
            name = colour.removeprefix("column:")
            values, source = table.column(name), f"{name}"
        else:
            raise ValueError("there is no such colour.")
        if values is None:
            raise ValueError("the table has no labels.")
        assert result.planes is not None
        values = np.asarray(values)[result.chosen.numbers.rows]
        if values.dtype.kind == "M":
            values = values.astype("datetime64[s]").astype(np.float64)
        n_fitted = result.chosen.X.shape[0]
        if n_fitted < len(values):
            from tamis.preprocessing import drawn_samples

            values = values[drawn_samples(len(values), n_fitted, 0)]
        return values[result.planes.rows], source

    def rows(self) -> dict[str, Any]:
        """Some rows of the table as they were read."""
        with self.lock:
            table = self.table
        if table is None:
            raise NotThereError("no table is open.")
        names = [*table.aside, *table.names][:MOST_SHOWN]
        places = np.linspace(0, table.n_rows - 1, min(ROWS_SHOWN, table.n_rows))
        rows = np.unique(places.round().astype(np.intp))
        return {
            "columns": names,
            "rows": [int(row) + 1 for row in rows],
            "cells": [columns.cells(np.asarray(table.column(name))[rows]) for name in names],
            "left_out": len(table.names) + len(table.aside) - len(names),
        }

    def pixels(self, number: int) -> dict[str, Any]:
        """The kept pixels of a table of images."""
        with self.lock:
            table, result = self.table, self.result
        if table is None or result is None or table.image_shape is None or table.matrix is None:
            raise ValueError("the rows of the table are no images.")
        kept = result.chosen.order[: max(0, number)]
        mean = np.asarray(table.matrix.mean(axis=0), dtype=float).reshape(table.image_shape)
        return pictures.pixel_figure(table.image_shape, kept, mean).plain()


def _stability_of_reasons(chosen: Chosen, rows: list[dict[str, Any]]) -> Any:
    """The share of refits that keep a column, of a method that refits itself."""
    if not rows:
        return None
    shares = [row["kept_by_refits"] for row in rows]
    values = np.array([0.0 if share is None else share for share in shares])
    return np.maximum.reduceat(values, chosen.numbers.starts)
