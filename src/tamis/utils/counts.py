"""Numbers of columns."""

from __future__ import annotations


def share_of(fraction: float, n_columns: int) -> int:
    """How many columns a fraction of them is: rounded down, but at least one."""
    # Rounded first: 0.29 * 100 is a little less than 29 in binary.
    return max(1, int(round(fraction * n_columns, 9)))
