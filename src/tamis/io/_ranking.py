"""Write the ranking of the columns."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tamis.io._errors import TableError
from tamis.io._text_writing import delimited_writer
from tamis.io._writing import refuse_input_as_output, writing

__all__ = ["write_ranking"]


def write_ranking(
    selector: Any,
    feature_names: Sequence[str] | np.ndarray[Any, Any],
    path: str | os.PathLike[str],
    *,
    source: str | os.PathLike[str] | None = None,
) -> None:
    """Write feature, index, score, rank and selected of every column, best first.

    Parameters
    ----------
    selector : fitted selector
    feature_names : sequence of str
    path : path
        ``.csv``, ``.tsv`` or ``.json`` (a list of objects).
    source : path or None
        The input file, which is never written over.
    """
    target = Path(path)
    refuse_input_as_output(target, None if source is None else Path(source))
    kind = target.suffix.lower()
    if kind not in (".csv", ".tsv", ".json"):
        raise TableError(f"{target}: a ranking is written as .csv, .tsv or .json; rename it.")
    support = selector.get_support()
    if len(feature_names) != len(support):
        raise TableError(
            f"{target}: {len(feature_names)} names for {len(support)} features; pass one per "
            "feature."
        )
    records = [
        {
            "feature": str(feature_names[j]),
            "index": int(j),
            "score": float(selector.scores_[j]),
            "rank": int(selector.ranking_[j]),
            "selected": bool(support[j]),
        }
        for j in np.argsort(selector.ranking_, kind="stable")
    ]
    with writing(target) as beside, beside.open("w", encoding="utf-8", newline="") as file:
        if kind == ".json":
            json.dump(records, file, ensure_ascii=False, indent=1)
            file.write("\n")
        else:
            separator = "\t" if kind == ".tsv" else ","
            names = [str(record["feature"]) for record in records]
            writer = delimited_writer(file, separator, names)
            writer.writerow(records[0])
            writer.writerows(record.values() for record in records)
