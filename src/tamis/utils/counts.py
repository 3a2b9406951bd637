"""Numbers of columns and rows."""

from __future__ import annotations

# Methods that search the neighbours of every row compare each with each: minutes at 100,000 rows.
NEIGHBOR_ROWS = 20_000
# Of a table so wide that a tenth is more than this, this many columns are kept by default.
MOST_BY_DEFAULT = 100
FEWEST_BY_DEFAULT = 10


def share_of(fraction: float, n_columns: int) -> int:
    """How many columns a fraction of them is: rounded down, but at least one."""
    # Rounded first: 0.29 * 100 is a little less than 29 in binary.
    return max(1, int(round(fraction * n_columns, 9)))


def number_by_default(n_columns: int) -> int:
    """How many columns are kept where nobody says: a tenth, 10 to 100, at most half.

    >>> from tamis.utils.counts import number_by_default
    >>> [number_by_default(n_columns) for n_columns in (1, 12, 50, 300, 9000)]
    [1, 6, 10, 30, 100]
    """
    half = max(1, n_columns // 2)
    return min(max(n_columns // 10, FEWEST_BY_DEFAULT), MOST_BY_DEFAULT, half)
