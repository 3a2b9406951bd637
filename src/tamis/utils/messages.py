"""What messages share: lists of columns by name, and names that come close to a wrong one."""

from __future__ import annotations

from typing import Any


def describe_columns(columns: Any, names: Any = None, most: int = 5) -> str:
    """A short list of columns for a message: by name where they have one, else by index."""
    shown = [repr(str(names[j])) if names is not None else str(j) for j in columns[:most]]
    if len(columns) > most:
        shown.append(f"… ({len(columns) - most} more)")
    return ("column " if len(columns) == 1 else "columns ") + ", ".join(shown)
