"""What a preparation says of the columns: why some are dropped, how gaps were filled."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tamis.preprocessing._imputation import Imputation
from tamis.preprocessing._readings import BooleanReading, CategoryReading, Reading
from tamis.utils.messages import describe_columns

# Why a column of a kind that does not become numbers is dropped.
WHY_DROPPED = {
    "text": "free text",
    "identifier": "an identifier",
    "constant": "all values are equal",
    "empty": "it holds no value",
}
# More sentences than this on single columns become one on all of them.
MOST_SENTENCES = 20


def reasons(dropped: Mapping[str, str]) -> str:
    """Why columns were dropped; of many, why the first ones were."""
    shown = [f"{name!r} ({why})" for name, why in list(dropped.items())[:3]]
    return ", ".join(shown) + (", …" if len(dropped) > 3 else "")


def notes_of_imputation(
    imputed: Mapping[str, float], readings: Mapping[str, Reading], imputation: Imputation | None
) -> list[str]:
    """How the gaps of the columns were filled.

    Parameters
    ----------
    imputed : mapping of str to float
        The share of imputed values of each column that had gaps.
    readings : mapping of str to Reading
        Of all columns that are used.
    imputation : Imputation or None
        What filled the gaps of numbers.
    """
    if not imputed:
        return []
    model = imputation.low_rank if imputation else None
    by_components, notes = [], []
    for name, share in imputed.items():
        if isinstance(readings[name], BooleanReading | CategoryReading):
            how = "the most frequent value"
        elif model is not None:
            by_components.append(share)
            continue
        else:
            how = "the median"
        notes.append(f"{name!r}: {_percent(share)} of its values imputed by {how}.")
    if by_components:
        assert model is not None
        rank = model.components.shape[1]
        sources = [f"{rank} principal components"] if rank else []
        sources += ["the columns most like each"] if model.neighbours is not None else []
        notes.append(
            f"{len(by_components)} columns with gaps imputed from {' and '.join(sources)}: "
            f"{_percent(float(np.mean(by_components)))} of their values."
        )
    if len(notes) > MOST_SENTENCES:
        mean = _percent(float(np.mean(list(imputed.values()))))
        notes = [f"{len(imputed)} columns with gaps imputed: {mean} of their values."]
    return notes


def notes_of_unused(kinds: Mapping[str, str]) -> list[str]:
    """Which columns hold one value, or none."""
    notes = []
    for kind in ("constant", "empty"):
        names = [name for name, one in kinds.items() if one == kind]
        if names:
            verb = "is" if len(names) == 1 else "are"
            columns = describe_columns(range(len(names)), names)
            notes.append(f"The {columns} {verb} {kind} and dropped.")
    return notes


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.01 else f"{share:.1g}"
