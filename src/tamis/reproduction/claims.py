"""What a paper says in words, counted over the comparisons that it speaks of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tamis.evaluation.results import Estimate, Results
from tamis.evaluation.ties import not_less
from tamis.reproduction.tables import Cell, PaperTable

__all__ = ["Claim", "Figure", "claims_table", "mean_of", "not_below", "outcomes_over"]

#: ``figure(results, set)``: one figure of ours, None if it was not measured.
Figure = Callable[[Results, str], float | None]


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper that figures can confirm or refute.

    Attributes
    ----------
    text : str
        The sentence, short, as the table prints it.
    outcomes : callable
        ``outcomes(results, set)``: for each comparison that the sentence covers whether it holds;
        nothing for a set that was not measured.
    sets : tuple of str
        The sets that it speaks of.
    """

    text: str
    outcomes: Callable[[Results, str], Sequence[bool]]
    sets: tuple[str, ...]

    def cell(self, results: Results, name: str) -> Cell:
        """The share of comparisons that hold; the paper's figure is all of them."""
        outcomes = np.asarray(self.outcomes(results, name), dtype=float)
        if outcomes.size == 0:
            return Cell(dataset=name)
        # The comparisons are not repeats of one measurement: their share has no deviation within
        # which "nearly always" could pass for "always".
        share = Estimate(
            mean=float(outcomes.mean()),
            sd=float("nan"),
            low=float("nan"),
            high=float("nan"),
            values=outcomes,
            n_features=None,
            parameters={},
        )
        return Cell(share, paper=1.0, dataset=name)


def claims_table(
    results: Results,
    claims: Sequence[Claim],
    sets: Mapping[str, str],
    *,
    title: str,
    note: str = "",
) -> PaperTable:
    """The share of comparisons, in per cent, in which each claim holds on each set.

    Parameters
    ----------
    results : Results
    claims : sequence of Claim
        The rows.
    sets : mapping
        Names of datasets, each with its head.
    title, note : str
        Of the table.
    """
    return PaperTable(
        title=title,
        columns=list(sets.values()),
        rows=[claim.text for claim in claims],
        cells={
            (claim.text, head): claim.cell(results, name)
            for claim in claims
            for name, head in sets.items()
            if name in claim.sets
        },
        corner="claim",
        note=note,
        decimals=0,
    )


def mean_of(label: str, measure: str, n_features: int | None = None) -> Figure:
    """The mean of a measure, at a number of features or, for None, at the best of them."""

    def figure(results: Results, name: str) -> float | None:
        found = results.estimate(name, label, measure, n_features=n_features)
        return None if found is None else found.mean

    return figure


def outcomes_over(
    comparisons: Iterable[Callable[[Results, str], bool | None]],
) -> Callable[[Results, str], list[bool]]:
    """All comparisons that could be made, one after the other; None is one that could not."""
    listed = tuple(comparisons)

    def outcomes(results: Results, name: str) -> list[bool]:
        found = (compare(results, name) for compare in listed)
        return [outcome for outcome in found if outcome is not None]

    return outcomes


def not_below(
    first: Figure, second: Figure, *, margin: float = 0.0
) -> Callable[[Results, str], bool | None]:
    """Whether the first figure is at least the second less ``margin``, but for rounding."""

    def compare(results: Results, name: str) -> bool | None:
        one, other = first(results, name), second(results, name)
        return None if one is None or other is None else not_less(one, other - margin)

    return compare
