"""The best features of a fitted selector, as HTML for a notebook."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

MOST_SHOWN = 10

# Colours come from the notebook, so that the table suits its theme.
_CELL = 'style="text-align:left;padding:2px 14px 2px 0;border:0"'


def top_features(selector: Any) -> str:
    """A table of the best features, with their scores; names are escaped."""
    order = np.argsort(selector.ranking_)[:MOST_SHOWN]
    names = getattr(selector, "feature_names_in_", None)
    scores = selector.scores_
    lowest = min(0.0, float(scores.min()))
    reach = float(scores[order[0]]) - lowest
    try:
        kept = selector.get_support()
    except ValueError:  # n_features_to_select was changed to what this fit cannot give
        kept, heading = np.zeros(len(scores), dtype=bool), f"Best of {len(scores):,} features"
    else:
        heading = f"{kept.sum():,} of {len(scores):,} features selected, best first"
    rows = []
    for place, column in enumerate(order):
        name = f"x{column}" if names is None else str(names[column])
        width = 100 * (float(scores[column]) - lowest) / reach if reach > 0 else 0
        weight = "600" if kept[column] else "400"
        rows.append(
            f"<tr><td {_CELL}>{place + 1}</td>"
            f'<td {_CELL}><span style="font-weight:{weight}">{escape(name)}</span></td>'
            f"<td {_CELL}>{scores[column]:.4g}</td>"
            f'<td {_CELL}><div style="width:8em"><div style="width:{width:.0f}%;height:.6em;'
            'background:currentColor;opacity:.55"></div></div></td></tr>'
        )
    n_more = int(kept.sum()) - int(kept[order].sum())
    more = f"<p>… and {n_more:,} more.</p>" if n_more > 0 else ""
    return (
        f'<details open class="tamis-top-features"><summary>{heading}</summary>'
        f'<table style="border-collapse:collapse"><tbody>{"".join(rows)}</tbody></table>'
        f"{more}</details>"
    )
