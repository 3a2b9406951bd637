"""The size of a whole table, dense or sparse."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from tamis._typing import Matrix


def squared_norm(X: Matrix) -> float:
    """``‖X‖²``. O(nd), or O(nnz) for sparse X."""
    values = X.data if sp.issparse(X) else X
    return float(np.linalg.norm(values) ** 2)


def largest_value(X: Matrix) -> float:
    """The largest absolute value. O(nd), or O(nnz) for sparse X."""
    values = X.data if sp.issparse(X) else X
    return float(max(values.max(initial=0), -values.min(initial=0)))
