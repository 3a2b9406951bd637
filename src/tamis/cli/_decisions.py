"""What an automatic selection decided by itself: on the screen and in JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tamis.cli._screen import print_table, print_text

if TYPE_CHECKING:
    from tamis.base import Selector
    from tamis.inspection import Decisions

__all__ = ["found_in_json", "print_reasons"]

# Kept columns whose reasons are printed.
REASONS_SHOWN = 5
# What is told in JSON under the name of the attribute, without its last character.
_ATTRIBUTES = (
    "n_features_",
    "n_clusters_",
    "scaling_reason_",
    "structure_",
    "candidates_",
    "curve_",
)


def found_in_json(
    model: Selector, decisions: Decisions | None, *, scale_asked_for: bool
) -> dict[str, Any]:
    """What was found, for JSON; nothing of methods that are told everything."""
    if decisions is None:
        return {}
    found = {name.rstrip("_"): getattr(model, name) for name in _ATTRIBUTES}
    if not scale_asked_for:
        found["scaling"] = model.scaling_
    return {
        **found,
        "number_found": isinstance(model.n_features_to_select, str),
        "decisions": list(decisions.sentences),
        "reasons": decisions.reasons,
    }


def print_reasons(decisions: Decisions) -> None:
    """Print why the first columns are kept, and for what reasons the others are not."""
    kept = decisions.kept
    if kept and decisions.structure_found:
        print_text("")
        print_table(
            ("kept", "in refits", "why"),
            [
                (row["column"], _share(row["kept_by_refits"]), row["reason"])
                for row in kept[:REASONS_SHOWN]
            ],
            right=("in refits",),
            names=("kept",),
        )
        if len(kept) > REASONS_SHOWN:
            print_text("… and so on (--json and --report tell of all columns)")
    if decisions.not_kept:
        print_text(decisions.not_kept)


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"
