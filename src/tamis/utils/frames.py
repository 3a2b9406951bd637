"""Data frames of whichever library is installed."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, Literal

import narwhals.stable.v2 as nw

# The libraries that are looked for, in this order.
LIBRARIES: tuple[Literal["pandas", "polars", "pyarrow"], ...] = ("pandas", "polars", "pyarrow")


def frame_of_rows(rows: Sequence[dict[str, Any]]) -> Any:
    """A data frame with one row per dict, of pandas where it is installed."""
    for library in LIBRARIES:
        if find_spec(library) is not None:
            columns = {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}
            return nw.from_dict(columns, backend=library).to_native()
    raise ImportError(
        "a data frame needs pandas, polars or pyarrow, none of which is installed; "
        "pip install pandas."
    )
