"""Which tables come in blocks."""

from __future__ import annotations

from typing import Any

from tamis.distributed._dask import DaskTable, dask_table
from tamis.distributed._passes import RowSource
from tamis.io import LazyTable

__all__ = ["in_blocks"]


def in_blocks(X: Any) -> RowSource | None:
    """The table as one that comes in blocks of rows; None if it does not."""
    return X if isinstance(X, LazyTable | DaskTable) else dask_table(X)
