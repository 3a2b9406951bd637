"""A comparison as a table for a paper or a page: sets by methods, in text, Markdown or LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tamis._typing import FloatArray
from tamis.evaluation.candidates import ALL_FEATURES
from tamis.evaluation.rendering import (
    latex_table,
    latex_text,
    markdown_table,
    markdown_text,
    plain_text_table,
)
from tamis.evaluation.results import Estimate, Pick, Results
from tamis.evaluation.ties import merge_ties

__all__ = ["ComparisonTable", "comparison_table"]

# Measures of which a smaller figure is the better one.
SMALLER_IS_BETTER = ("redundancy", "reconstruction", "noise")
# Figures are printed in per cent.
SCALE = 100.0


@dataclass(frozen=True)
class ComparisonTable:
    """A row per set, a column per method, and the means over the sets.

    Attributes
    ----------
    title : str
    columns : sequence of str
        The heads: "set" and the labels of the methods.
    rows : sequence of sequence of str
        As printed, without emphasis.
    best : sequence of sequence of int
        Which cells of each row are the best of its methods, all features left aside.
    note : str
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    best: Sequence[Sequence[int]]
    note: str

    def text(self) -> str:
        """Aligned plain text."""
        return plain_text_table(self.title, [self.columns, *self.rows], self.note)

    def markdown(self) -> str:
        """GitHub's Markdown, the best of each row in bold."""
        return markdown_table(
            self.title, self._emphasised(markdown_text, lambda cell: f"**{cell}**"), self.note
        )

    def latex(self) -> str:
        r"""LaTeX for the package booktabs, the best of each row by ``\textbf``."""
        return latex_table(
            self.title,
            self._emphasised(latex_text, lambda cell: rf"\textbf{{{cell}}}"),
            self.note,
        )

    def _emphasised(
        self, text: Callable[[str], str], bold: Callable[[str], str]
    ) -> list[list[str]]:
        lines = [[text(cell) for cell in line] for line in (self.columns, *self.rows)]
        for line, best in zip(lines[1:], self.best, strict=True):
            for i in best:
                line[i] = bold(line[i])
        return lines


def comparison_table(
    results: Results,
    measure: str = "kmeans_acc",
    n_features: int | None = None,
    *,
    pick: Pick = "best",
    title: str | None = None,
) -> ComparisonTable:
    r"""The figures of a comparison, in per cent, set by set.

    Parameters
    ----------
    results : Results
    measure : str, default="kmeans_acc"
    n_features : int or None, default=None
        At this number of features; None looks at all of them, as `pick` says.
    pick : {"best", "mean"}, default="best"
        As in :meth:`Results.estimate`.
    title : str or None, default=None
        None names the measure.

    Returns
    -------
    ComparisonTable

    Examples
    --------
    >>> from tamis.evaluation import Candidate, Protocol, comparison_table, evaluate
    >>> protocol = Protocol(n_features=(2,), n_repeats=5)
    >>> results = evaluate(["iris"], [Candidate("MRSF", "mrsf")], protocol)
    >>> print(comparison_table(results).markdown())
    **kmeans\_acc, %**
    <BLANKLINE>
    | set  | All features | Random subsets |       MRSF |
    | :--- | -----------: | -------------: | ---------: |
    | iris |   85.2 ± 0.3 | **78.8 ± 1.8** | 77.9 ± 0.3 |
    """
    found = [
        [results.estimate(name, label, measure, n_features, pick) for label in results.labels]
        for name in results.sets
    ]
    if not any(estimate for row in found for estimate in row):
        measures = sorted({row["measure"] for record in results.records for row in record.rows})
        raise ValueError(
            f"nothing was measured as {measure!r}"
            + (f" at n_features={n_features}" if n_features is not None else "")
            + f"; there are {', '.join(measures) or 'no results at all'}."
        )
    rows = [[name, *map(_printed, row)] for name, row in zip(results.sets, found, strict=True)]
    values = np.array([[np.nan if e is None else e.mean for e in row] for row in found])
    judged = _judged(results)
    best = [_best(row, judged, measure) for row in values]
    complete = ~np.isnan(values).any(axis=1)
    if complete.sum() > 1:
        means = values[complete].mean(axis=0)
        over = "mean" if complete.all() else f"mean of {complete.sum()}"
        rows.append([over, *(f"{SCALE * mean:.1f}" for mean in means)])
        best.append(_best(means, judged, measure))
    note = ""
    if not complete.all():
        note = "A dash: the run failed, or was not made. Means are over the sets without a dash."
    return ComparisonTable(title or f"{measure}, %", ("set", *results.labels), rows, best, note)


def _judged(results: Results) -> list[int]:
    """The places of the methods that may be the best of a row: those that select."""
    all_features = {
        record.key["label"]
        for record in results.records
        if record.key.get("method") == ALL_FEATURES
    }
    return [i for i, label in enumerate(results.labels) if label not in all_features]


def _best(values: FloatArray, judged: Sequence[int], measure: str) -> list[int]:
    """The cells of the best figures; the first cell of a row is the name of the set."""
    sign = -1 if measure in SMALLER_IS_BETTER else 1
    there = [i for i in judged if not np.isnan(values[i])]
    if len(there) == 0:
        return []
    merits = merge_ties([sign * values[i] for i in there])
    return [i + 1 for i, merit in zip(there, merits, strict=True) if merit == max(merits)]


def _printed(estimate: Estimate | None) -> str:
    if estimate is None:
        return "–"
    mean = f"{SCALE * estimate.mean:.1f}"
    return mean if np.isnan(estimate.sd) else f"{mean} ± {SCALE * estimate.sd:.1f}"
