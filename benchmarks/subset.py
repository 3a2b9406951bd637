"""Cases of column subset selection, and the explicit deflation that it replaces."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks import data
from benchmarks.case import Case, fit

N_COLUMNS = 50


def _greedy(X: Any) -> list[int]:
    from tamis import ColumnSubset

    fitted = ColumnSubset(N_COLUMNS, swaps=False).fit(X)
    order: list[int] = fitted.order_[:N_COLUMNS].tolist()
    return order


def _explicit_deflation(X: Any) -> list[int]:
    """The covariance less what the chosen columns explain, formed anew for each of them."""
    X = X - X.mean(axis=0)
    left = X.T @ X
    first_lengths = left.diagonal().copy()
    chosen: list[int] = []
    while len(chosen) < N_COLUMNS:
        lengths = left.diagonal()
        adds = lengths > 1e-10 * first_lengths
        gains = np.divide((left**2).sum(axis=0), lengths, out=np.zeros(len(left)), where=adds)
        best = int(gains.argmax())
        left = left - np.outer(left[best], left[best] / left[best, best])
        chosen.append(best)
    return chosen


def _with_exchanges(X: Any) -> dict[str, str]:
    """A fit, and what the exchanges have gained."""
    from tamis import ColumnSubset

    fitted = ColumnSubset(N_COLUMNS).fit(X)
    before, after = 1 - fitted.objective_[[0, -1]]
    return {
        "note": f"{fitted.n_swaps_} exchanges: {100 * before:.1f} to {100 * after:.1f} % rebuilt"
    }


CASES = (
    Case(
        f"ColumnSubset, {N_COLUMNS} features with exchanges",
        "5000 × 1000",
        partial(data.clusters, 5000, 1000),
        _with_exchanges,
        _explicit_deflation,
        "explicit deflation of the covariance, without exchanges",
    ),
    Case(
        f"ColumnSubset, {N_COLUMNS} features with exchanges",
        "200 × 5000",
        partial(data.clusters, 200, 5000),
        _with_exchanges,
        _explicit_deflation,
        "explicit deflation of the covariance, without exchanges",
        min_ratio=10,
        max_megabytes=100,
    ),
    Case(
        "ColumnSubset(swaps=False), all features",
        "200 × 5000",
        partial(data.clusters, 200, 5000),
        _greedy,
        _explicit_deflation,
        f"explicit deflation of the covariance, {N_COLUMNS} features",
        min_ratio=10,
        same_result=True,
    ),
    Case(
        f"ColumnSubset, {N_COLUMNS} features with exchanges",
        "News20, sparse 18,221 × 36,568",
        partial(data.real_set, "News20"),
        partial(fit, method="column_subset", n_features_to_select=N_COLUMNS),
        max_megabytes=1000,
        needs="News20",
    ),
)
