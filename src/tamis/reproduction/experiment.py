"""What an experiment is: sets, protocol, tasks, and the tables and figures made of the results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from tamis.evaluation.protocol import Protocol
from tamis.evaluation.results import Results
from tamis.evaluation.sweep import Task
from tamis.reproduction.plain_table import PlainTable
from tamis.reproduction.tables import PaperTable

__all__ = ["Experiment", "Outcome"]


@dataclass(frozen=True)
class Experiment:
    """A paper's experiment.

    Attributes
    ----------
    name : str
        As on the command line.
    paper : str
        The citation.
    about : str
        The protocol as far as the paper tells it, and what was decided where it does not.
    sets : tuple of str
        Names of datasets; those not available give cells without data.
    protocol, quick_protocol : Protocol
        How the sets are judged, in full and in a few minutes.
    quick_sets : tuple of str
        The sets of the quick version.
    tasks : callable
        ``tasks(sets, protocol)``: the work to do.
    tables : callable
        ``tables(results)``: the paper's tables with our figures beside.
    figures : callable
        ``figures(results, folder)``: draws the paper's figures, each as PNG and SVG, and returns
        the files.
    time_limit : float or None
        Processor seconds that one run may take.
    limited_part : {"all", "fit"}
        Whether the limit is for all of a run, judging too, or for the fit alone.
    takes_candidates : bool
        Whether candidates of the user's may join: its tables take every label there is.
    takes_sets : bool
        Whether other sets may be named, registered ones and files of the user's.
    other_names : mapping of str to str
        Our names of sets by those that the paper has.
    """

    name: str
    paper: str
    about: str
    sets: tuple[str, ...]
    protocol: Protocol
    quick_protocol: Protocol
    quick_sets: tuple[str, ...]
    tasks: Callable[[Sequence[str], Protocol], list[Task]]
    tables: Callable[[Results], Sequence[PaperTable | PlainTable]]
    figures: Callable[[Results, Path], list[Path]]
    time_limit: float | None = None
    limited_part: Literal["all", "fit"] = "all"
    takes_candidates: bool = False
    takes_sets: bool = False
    other_names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """What an experiment gave.

    Attributes
    ----------
    name : str
        The experiment.
    text, markdown : str
        The tables, what made them and what is missing, for reading.
    data : mapping
        The same for programs, JSON-able.
    files : tuple of Path
        What was written.
    verdicts : Counter
        How often each verdict was given.
    tables : tuple of PaperTable
        The tables themselves, for a terminal.
    """

    name: str
    text: str
    markdown: str
    data: Mapping[str, Any]
    files: tuple[Path, ...]
    verdicts: Counter[str]
    tables: tuple[PaperTable | PlainTable, ...] = ()
