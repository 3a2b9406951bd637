"""The size of a whole table, dense or sparse."""

from __future__ import annotations

import numpy as np

from tamis._typing import Matrix
from tamis.utils.sparse import is_sparse


def squared_norm(X: Matrix) -> float:
    """``‖X‖²``. O(nd), or O(nnz) for sparse X."""
    values = X.data if is_sparse(X) else X
    return float(np.linalg.norm(values) ** 2)


def largest_value(X: Matrix) -> float:
    """The largest absolute value. O(nd), or O(nnz) for sparse X."""
    values = X.data if is_sparse(X) else X
    return float(max(values.max(initial=0), -values.min(initial=0)))
