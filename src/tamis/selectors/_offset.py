"""A warning for methods that do not centre their table, and a table that is mostly offset."""

from __future__ import annotations

from tamis._typing import Matrix
from tamis.base import Selector
from tamis.utils.norms import variation

# Where the columns vary by less than this share of their size, their means decide.
LEAST_VARIATION = 1e-3


def warn_of_offset(selector: Selector, X: Matrix) -> None:
    """Warn if the columns hardly vary beside their means, which the method has to rebuild."""
    share = variation(X)
    if share < LEAST_VARIATION:
        selector._warn(
            f"does not centre the table, and its values vary by only {share:.1g} of their size: "
            "the means of the columns decide, not how they vary. Subtract an offset first, for "
            "example with sklearn.preprocessing.MinMaxScaler."
        )
