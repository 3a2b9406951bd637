"""What one studio knows: the table, the decisions and what followed from them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tamis import registry
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
        self.doing: tuple[str, float] | None = None
        self.past: list[Decisions] = []
        self.future: list[Decisions] = []
        self._numbers: tuple[Any, Numbers] | None = None
        self._evidence: tuple[Any, NumberEvidence | None] | None = None
        self._before: tuple[Any, Any] | None = None
        self.kinds: dict[str, str] = {}
        self.worker = Worker(self._fail)
        if read is not None:
            self.open(read)

    @property
    def numbers(self) -> Numbers | None:
        """What was made of the table; None before."""
        return None if self._numbers is None else self._numbers[1]

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
                self.past, self.future, self.kinds = [], [], {}
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
            self.past = [*self.past[-MOST_UNDONE:], self.decisions]
            self.future = []
            self.decisions = decisions
        self._start(self._solve)

    def undo(self) -> None:
        """Take the last decision back."""
        self._step(self.past, self.future)

    def redo(self) -> None:
        """Take back what was taken back."""
        self._step(self.future, self.past)

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
            self.doing = None
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
            self.doing = ("working", 0.0)
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
                self.kinds |= numbers.preparation.kinds_
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
        assert self.table is not None
        places = self.table.places(chosen.numbers.sources)
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
            self.doing = None
        self._publish()

    def _say(self, what: str, share: float) -> None:
        with self.lock:
            self.doing = (what, share)
        self._publish()

    def _done(self) -> None:
        with self.lock:
            self.doing = None
        self._publish()

    def _publish(self, *parts: str) -> None:
        with self.lock:
            self.version += 1
            for part in parts:
                self.parts[part] = self.version
        self.changed()


def _stability_of_reasons(chosen: Chosen, rows: list[dict[str, Any]]) -> Any:
    """The share of refits that keep a column, of a method that refits itself."""
    if not rows:
        return None
    shares = [row["kept_by_refits"] for row in rows]
    values = np.array([0.0 if share is None else share for share in shares])
    return np.maximum.reduceat(values, chosen.numbers.starts)
