"""What an automatic selection decided by itself, in words, and why it kept each column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tamis._typing import FloatArray, IntArray
from tamis.auto import Auto
from tamis.base import Selector

_SCALES = {
    "standard": "every column is standardised",
    "pareto": "every column is divided by the root of its standard deviation",
    "none": "the columns are taken as they are",
}
# The kinds of reasons against a column, in the words of a count: one, and several.
_NOT_KEPT = {
    "constant": ("does not vary", "do not vary"),
    "copy": ("is a copy of a kept one", "are copies of kept ones"),
    "rebuilt": ("is rebuilt from the kept ones", "are rebuilt from the kept ones"),
    "no structure": ("follows no structure", "follow no structure"),
    "adds little": ("adds little to the kept ones", "add little to the kept ones"),
}


@dataclass(frozen=True)
class NumberCurve:
    """What the number of columns was chosen by.

    Attributes
    ----------
    counts : ndarray of int
        Numbers of columns that were tried, ascending.
    agreement : ndarray of shape (n_counts,)
        How much of the groups the best columns show (NMI).
    chance : ndarray of shape (n_counts,)
        The same with each column shuffled.
    n_kept : int
        The number of columns that are kept.
    found : int or None
        The number that was found; None where there is no structure to find one by.
    """

    counts: IntArray
    agreement: FloatArray
    chance: FloatArray
    n_kept: int
    found: int | None


@dataclass(frozen=True)
class Decisions:
    """The decisions of a fitted :class:`tamis.Auto`.

    Attributes
    ----------
    scaling, structure, groups, number : str
        A sentence or two about each.
    structure_found : bool
    curve : NumberCurve or None
        None where no column varies.
    reasons : list of dict
        One row per column, as :meth:`tamis.Auto.reasons` has them; empty where there are none.
    note : str
        Why there are no reasons, or "".
    """

    scaling: str
    structure: str
    groups: str
    number: str
    structure_found: bool
    curve: NumberCurve | None
    reasons: list[dict[str, Any]]
    note: str = ""

    @property
    def sentences(self) -> tuple[str, str, str, str]:
        """All decisions, in the order in which they are made."""
        return self.structure, self.scaling, self.groups, self.number

    @property
    def kept(self) -> list[dict[str, Any]]:
        """The reasons of the kept columns, the best first."""
        return sorted((row for row in self.reasons if row["kept"]), key=lambda row: row["rank"])

    @property
    def not_kept(self) -> str:
        """How many columns are not kept, by kind of reason, as a sentence; "" if all are."""
        counts = Counter(row["kind"] for row in self.reasons if not row["kept"])
        if not counts:
            return ""
        parts = [
            f"{counts[kind]:,} {words[counts[kind] > 1]}"
            for kind, words in _NOT_KEPT.items()
            if counts[kind]
        ]
        return f"Not kept: {', '.join(parts)}."


def read_decisions(selector: Selector, names: Sequence[str]) -> Decisions | None:
    """What a fitted selector decided by itself; None of methods that are told everything.

    Parameters
    ----------
    selector : Selector
        Fitted.
    names : sequence of str
        One per column.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import Auto
    >>> from tamis.inspection import read_decisions
    >>> X = load_iris(as_frame=True).data
    >>> decisions = read_decisions(Auto(n_clusters=3).fit(X), list(X.columns))
    >>> print(decisions.groups)
    Groups: 3, as asked for.
    """
    if not isinstance(selector, Auto):
        return None
    reasons, note = [], ""
    try:
        reasons = selector._reason_rows(names)
    except ValueError as error:  # the number of columns was changed after the fit
        note = str(error)
    return Decisions(
        _scaling(selector),
        _structure(selector),
        _groups(selector),
        _number(selector),
        selector.structure_["found"],
        read_curve(selector),
        reasons,
        note,
    )


def read_curve(selector: Selector) -> NumberCurve | None:
    """What the number of columns was chosen by; None where there is nothing of the kind."""
    if not isinstance(selector, Auto) or not selector.curve_:
        return None
    curve = selector.curve_
    found = selector.n_features_ if selector.structure_["found"] else None
    n_kept = int(selector.get_support().sum())
    return NumberCurve(curve["counts"], curve["agreement"], curve["chance"], n_kept, found)


def _scaling(auto: Auto) -> str:
    if auto.scaling != "auto":
        return f"Scaling: {_SCALES[auto.scaling_]}, as asked for."
    sentence = f"Scaling: {_SCALES[auto.scaling_]}; {auto.scaling_reason_}."
    best: dict[str, float] = {}
    for candidate in auto.candidates_:
        scale, agreement = candidate["scaling"], candidate["agreement"]
        best[scale] = max(agreement, best.get(scale, agreement))
    others = {scale: value for scale, value in best.items() if scale != auto.scaling_}
    if not others:
        return sentence
    beside = " and ".join(f"{value:.2f} ({scale})" for scale, value in others.items())
    return (
        f"{sentence} Of the scales that suit such a table, the best columns agree with the groups "
        f"by {best[auto.scaling_]:.2f} on this one, beside {beside}."
    )


def _structure(auto: Auto) -> str:
    p_value = auto.structure_["p_value"]
    chance = "p < 0.0001" if p_value < 1e-4 else f"p = {p_value:.2g}"
    if auto.structure_["found"]:
        return (
            "Structure: the columns know more of each other than if each were shuffled by itself "
            f"({chance})."
        )
    if np.count_nonzero(~auto._set_aside) < 2:
        return "No structure: fewer than two columns vary. There is nothing to choose by."
    rest = (
        "all columns that vary are kept"
        if auto._finds_number()
        else "their order is little but chance"
    )
    return (
        "No structure: the columns know no more of each other than if each were shuffled by "
        f"itself ({chance}). There is nothing to choose by: {rest}."
    )


def _groups(auto: Auto) -> str:
    if auto.n_clusters is not None:
        return f"Groups: {auto.n_clusters_:,}, as asked for."
    if not auto.structure_["found"]:
        return (
            f"Groups: {auto.n_clusters_:,} in the graph of neighbours, as a table without "
            "structure has them, too."
            if auto.n_clusters_ > 1
            else "Groups: none; all samples are one."
        )
    if auto.n_clusters_ == 1:
        return "Groups: none were found; all samples are one."
    return f"Groups: {auto.n_clusters_:,} were found, communities of neighbouring samples."


def _number(auto: Auto) -> str:
    n_kept, n_features = int(auto.get_support().sum()), auto.n_features_in_
    number = f"Number: {n_kept:,} of {n_features:,} {'column' if n_features == 1 else 'columns'}"
    curve = read_curve(auto)
    if curve is None:
        return f"{number}: none of them varies."
    if not auto._finds_number():
        other = curve.found not in (None, n_kept)
        found = f", where {curve.found:,} would have been found" if other else ""
        return f"{number}, as asked for{found}."
    if curve.found is None:
        return f"{number}: all that vary, for want of structure."
    place = int(abs(curve.counts - n_kept).argmin())
    return (
        f"{number}; the number was found: about a tenth, more or fewer where that shows the groups "
        f"better (agreement {curve.agreement[place]:.2f}, at best {curve.agreement.max():.2f}, by "
        f"chance {curve.chance[place]:.2f})."
    )
