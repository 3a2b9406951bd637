"""An experiment's outcome as text, Markdown and data."""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tamis.evaluation.protocol import Protocol
from tamis.evaluation.rendering import markdown_text
from tamis.reproduction.experiment import Experiment
from tamis.reproduction.plain_table import PlainTable
from tamis.reproduction.tables import PaperTable, summary

__all__ = ["Document"]

_LEGEND = (
    "Each cell has our mean ± standard deviation (of a single value there is none), the paper's "
    "figure below, and a verdict: reproduced (apart by no more than the larger of the two standard "
    "deviations, or than the paper's rounding), better, lower, no data, or – where the paper has "
    "no figure."
)
_FAILED = "Failed: there is no figure because runs failed or took too long; they are named below."
_WIDTH = 100


@dataclass(frozen=True)
class Document:
    """What there is to tell of a run.

    Attributes
    ----------
    experiment : Experiment
    quick : bool
        Whether it was the quick version.
    protocol : Protocol
        As it was run.
    tables : tuple of PaperTable
    figures : tuple of Path
    available : tuple of str
        The sets that were run.
    absent : mapping
        The sets that were not available, each with what to do.
    differing : mapping
        The sets whose local copy is not the registry's, each with how it differs.
    failures : tuple
        Key and error of every run that failed.
    too_long : tuple
        The same of runs that took longer than the experiment lets them: a result, no failure.
    made_with : tuple of mapping
        Commit, versions, platform; several if it was made in several goes.
    """

    experiment: Experiment
    quick: bool
    protocol: Protocol
    tables: tuple[PaperTable | PlainTable, ...]
    figures: tuple[Path, ...]
    available: tuple[str, ...]
    absent: Mapping[str, str]
    differing: Mapping[str, str]
    failures: tuple[tuple[Mapping[str, Any], str | None], ...]
    too_long: tuple[tuple[Mapping[str, Any], str | None], ...]
    made_with: tuple[Mapping[str, str], ...]

    @property
    def verdicts(self) -> Counter[str]:
        """How often each verdict was given, in all tables."""
        return summary(self.tables)

    def text(self) -> str:
        """For a terminal or a log."""
        parts = [self._title(), _fill(self.experiment.paper)]
        parts += [table.text() for table in self._first_page]
        parts += [_fill(text) for text in self._legend()]
        parts += [_fill(line) for line in self._gaps()]
        parts.append("\n".join(_fill(text) for text in self._origin()))
        return "\n\n".join(parts) + "\n"

    def markdown(self) -> str:
        """A page with the tables and the figures."""
        parts = [f"# {markdown_text(self._title())}", markdown_text(self.experiment.paper)]
        parts += [markdown_text(text) for text in self.experiment.about.split("\n\n")]
        parts += [markdown_text(text) for text in self._legend()]
        parts += [table.markdown() for table in self._first_page]
        if self._second_page:
            parts.append(f"[The figures set by set]({self.second_name}.md)")
        parts += [
            f"![{figure.stem.replace('_', ' ')}]({figure.name})"
            for figure in self.figures
            if figure.suffix == ".png"
        ]
        parts += [markdown_text(line) for line in self._gaps()]
        parts += [markdown_text(text) for text in self._origin()]
        return "\n\n".join(parts) + "\n"

    @property
    def second_name(self) -> str:
        """What the second page is called."""
        return f"{self.experiment.name}_by_set"

    def second_markdown(self) -> str | None:
        """A page with the tables that stand behind the others, if there are any."""
        if not self._second_page:
            return None
        parts = [
            f"# {markdown_text(self._title())}, set by set",
            f"What stands behind [the first page]({self.experiment.name}.md).",
            *(table.markdown() for table in self._second_page),
        ]
        return "\n\n".join(parts) + "\n"

    def data(self) -> dict[str, Any]:
        """For programs, as JSON has it."""
        return {
            "experiment": self.experiment.name,
            "paper": self.experiment.paper,
            "about": self.experiment.about,
            "quick": self.quick,
            "protocol": self.protocol.as_dict(),
            "made_with": [dict(made) for made in self.made_with],
            "sets": list(self.available),
            "absent": dict(self.absent),
            **({"differing": dict(self.differing)} if self.differing else {}),
            **{
                kind: [{"key": dict(key), "error": error} for key, error in runs]
                for kind, runs in (("failures", self.failures), ("too_long", self.too_long))
            },
            "verdicts": dict(self.verdicts),
            "tables": [table.as_dict() for table in self.tables],
            "figures": [figure.name for figure in self.figures],
        }

    def _title(self) -> str:
        beside = ": our figures beside the paper's" if self._judged else ""
        return self.experiment.name + beside + (" (quick version)" if self.quick else "")

    @property
    def _first_page(self) -> list[PaperTable | PlainTable]:
        return [table for table in self.tables if not getattr(table, "on_second_page", False)]

    @property
    def _second_page(self) -> list[PlainTable]:
        return [t for t in self.tables if isinstance(t, PlainTable) and t.on_second_page]

    @property
    def _judged(self) -> bool:
        """Whether there are figures of a paper to judge by."""
        return any(isinstance(table, PaperTable) for table in self.tables)

    def _legend(self) -> list[str]:
        if not self._judged:
            return []
        failed = [_FAILED] if self.verdicts["failed"] else []
        return [_LEGEND, *failed, f"Verdicts: {self._verdict_words()}."]

    def _verdict_words(self) -> str:
        words = {"–": "without a figure of the paper"}
        return ", ".join(
            f"{number} {words.get(verdict, verdict)}" for verdict, number in self.verdicts.items()
        )

    def _gaps(self) -> list[str]:
        """What is missing or otherwise than it should be, and why."""
        gaps = [f"Not available: {name} ({advice})" for name, advice in self.absent.items()]
        gaps += [
            f"Not the registry's copy: {name} {difference}; its figures may not compare with "
            "others'."
            for name, difference in self.differing.items()
        ]
        for word, runs in (("Failed", self.failures), ("Not finished", self.too_long)):
            for key, error in runs:
                what = ", ".join(
                    f"{name}={value}" if isinstance(value, str) else f"{name}={json.dumps(value)}"
                    for name, value in key.items()
                )
                gaps.append(f"{word}: {what}: {error}")
        return gaps

    def _origin(self) -> list[str]:
        made = (
            ", ".join(f"{name} {value}" for name, value in some.items()) for some in self.made_with
        )
        made_with = (
            f"Made with {'; and with '.join(made)}." if self.made_with else "Nothing was run."
        )
        return [f"Protocol: {self.protocol.describe()}.", made_with]


def _fill(text: str) -> str:
    return textwrap.fill(text, _WIDTH, break_long_words=False, break_on_hyphens=False)
