"""A selector of your own, and the checks that it keeps the contract."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import _fit_context

from tamis import Selector
from tamis.columns import extent
from tamis.testing import check_selector


class RangeScore(Selector):
    """Rank features by the width of their range."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Compute the ranges; `y` is ignored."""
        X, constant = self._check_input(X)
        lowest, highest = extent(X)
        return self._set_scores(highest - lowest, constant)


if __name__ == "__main__":
    for check, outcome in check_selector(RangeScore()).items():
        print(f"{check:28}{outcome}")
