"""Tables of results as plain text, as Markdown and as LaTeX."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tamis.utils.text_tables import aligned_lines, column_widths

__all__ = [
    "latex_table",
    "latex_text",
    "markdown_table",
    "markdown_text",
    "percent",
    "plain_text_table",
]

Lines = Sequence[Sequence[str]]


def plain_text_table(title: str, lines: Lines, note: str) -> str:
    """Rows of cells, the heads first, between rules; the first column to the left, others right."""
    printed = [line.rstrip() for line in aligned_lines(lines, right=range(1, len(lines[0])))]
    widths = column_widths(lines)
    rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
    parts = [title, rule, printed[0], rule, *printed[1:], rule]
    return "\n".join([*parts, note] if note else parts)


def markdown_table(title: str, lines: Lines, note: str) -> str:
    """Rows of cells in GitHub's Markdown, the heads first, as a table whose source is aligned.

    The cells are Markdown already; the title and the note are text.
    """
    widths = [max(3, width) for width in map(max, zip(*(map(len, x) for x in lines), strict=True))]
    rule = [":" + "-" * (widths[0] - 1), *("-" * (width - 1) + ":" for width in widths[1:])]
    right = range(1, len(widths))
    body = aligned_lines([lines[0], rule, *lines[1:]], right=right, widths=widths, between=" | ")
    parts = [f"**{markdown_text(title)}**", "\n".join(f"| {line} |" for line in body)]
    return "\n\n".join([*parts, markdown_text(note)] if note else parts)


def markdown_text(text: str) -> str:
    """Text that Markdown shows as it stands, in or out of a table."""
    for sign in "\\`*_|<>[]":
        text = text.replace(sign, "\\" + sign)
    return " ".join(text.split())


def percent(value: float | None) -> str:
    """A share in per cent, with one digit after the point; a dash where there is none."""
    return "–" if value is None or math.isnan(value) else f"{100 * value:.1f}"


def latex_table(title: str, lines: Lines, note: str) -> str:
    r"""Rows of cells as a LaTeX table, the heads first; it needs ``\usepackage{booktabs}``.

    The cells are LaTeX already; the title and the note are text.
    """
    printed = aligned_lines(lines, right=range(1, len(lines[0])), between=" & ")
    head, *body = (f"  {line} \\\\" for line in printed)
    parts = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{latex_text(title)}}}",
        rf"\begin{{tabular}}{{l{'r' * (len(lines[0]) - 1)}}}",
        r"  \toprule",
        head,
        r"  \midrule",
        *body,
        r"  \bottomrule",
        r"\end{tabular}",
        *([rf"\par\smallskip {latex_text(note)}"] if note else []),
        r"\end{table}",
    ]
    return "\n".join(parts)


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: "\\" + sign for sign in "&%$#_{}"},
    "±": r"$\pm$",
    "–": "--",
}


def latex_text(text: str) -> str:
    """Text that LaTeX sets as it stands."""
    return " ".join("".join(_LATEX.get(sign, sign) for sign in text).split())
