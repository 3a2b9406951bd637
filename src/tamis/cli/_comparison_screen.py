"""What ``tamis compare`` prints: the table of all methods, and how far their selections overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from tamis.cli._screen import print_aside, print_table, print_text

__all__ = ["MEASURES", "Layout", "print_comparison", "print_for_paper"]

Layout = Literal["markdown", "latex"]

# What is printed of each method, with its head. Those by labels come last.
MEASURES = {
    "redundancy": "redundancy",
    "variance": "variance kept",
    "noise": "noise level",
    "reconstruction": "rebuilding error",
    "neighbors": "neighbours kept",
    "agreement": "agreement",
    "kmeans_acc": "ACC",
    "kmeans_nmi": "NMI",
}


def print_comparison(result: dict[str, Any]) -> None:
    """Print the tables, then the warnings of the methods and why some failed."""
    heads, rows = _table(result)
    print_text("")
    print_table(heads, rows, right=("columns", "seconds", *MEASURES.values()))
    print_text("Seconds: processor time of the fit. Neighbours are searched once and shared.")
    lines = result["methods"]
    slow = [line["method"] for line in lines if line["over_time_limit"]]
    if slow:
        print_text(
            f"Stopped after {result['time_limit']:g} s: {', '.join(slow)}; --time-limit sets "
            "another number of seconds, 0 none."
        )
    overlap = result["overlap"]
    if len(overlap["methods"]) > 1:
        print_text("")
        print_text("Overlap of the selections (Jaccard index, %):")
        numbers = [str(number) for number in range(1, len(overlap["methods"]) + 1)]
        print_table(
            ("", "method", *numbers),
            [
                (number, name, *(f"{share:.0%}"[:-1] for share in shares))
                for number, name, shares in zip(
                    numbers, overlap["methods"], overlap["jaccard"], strict=True
                )
            ],
            right=("", *numbers),
        )
    _print_warnings(lines)


def print_for_paper(result: dict[str, Any], layout: Layout) -> None:
    """Print the table of all methods in Markdown or LaTeX; warnings and failures aside."""
    from tamis.evaluation.rendering import (
        latex_table,
        latex_text,
        markdown_table,
        markdown_text,
    )

    heads, rows = _table(result)
    title = f"{result['source']}: {result['n_kept']} of {result['n_columns']} columns"
    note = "Seconds: processor time of the fit."
    text, table = {
        "markdown": (markdown_text, markdown_table),
        "latex": (latex_text, latex_table),
    }[layout]
    print_text(table(title, [[text(cell) for cell in line] for line in (heads, *rows)], note))
    _print_warnings(result["methods"])


def _table(result: dict[str, Any]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The heads and the rows: a row per method."""
    lines = result["methods"]
    shown = [m for m in MEASURES if any(m in line["measures"] for line in lines)]
    return ("method", "columns", "seconds", *(MEASURES[measure] for measure in shown)), [
        (
            line["method"],
            str(line["n_columns"] or "–"),
            _seconds(line, result["time_limit"]),
            *(_figure(line["measures"].get(measure)) for measure in shown),
        )
        for line in lines
    ]


def _print_warnings(lines: Sequence[dict[str, Any]]) -> None:
    """What the methods warn of, and why some failed."""
    for line in lines:
        for warning in line["warnings"]:
            print_aside(f"warning: {line['method']}: {warning}")
        if line["error"]:
            print_aside(f"warning: {line['method']} failed: {line['error']}")


def _seconds(line: dict[str, Any], time_limit: float) -> str:
    if line["over_time_limit"]:
        return f"over {time_limit:g} s"
    return "–" if line["fit_seconds"] is None else f"{line['fit_seconds']:.2f}"


def _figure(estimate: dict[str, Any] | None) -> str:
    if estimate is None:
        return "–"
    if estimate["n"] == 1:
        return f"{estimate['mean']:.3f}"
    return f"{estimate['mean']:.3f} ± {estimate['sd']:.3f}"
