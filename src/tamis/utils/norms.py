"""The size of a whole table, dense or sparse."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from tamis._typing import Matrix
from tamis.utils.columns import weighted_moments


def squared_norm(X: Matrix) -> float:
    """``‖X‖²``. O(nd), or O(nnz) for sparse X."""
    values = X.data if sp.issparse(X) else X
    return float(np.linalg.norm(values) ** 2)


def variation(X: Matrix) -> float:
    """The norm of the centred table, as a share of that of the table. O(nd)."""
    scatter = weighted_moments(X, np.ones(X.shape[0]))[1]
    return float(np.sqrt(scatter.sum() / squared_norm(X)))


def largest_value(X: Matrix) -> float:
    """The largest absolute value. O(nd), or O(nnz) for sparse X."""
    values = X.data if sp.issparse(X) else X
    return float(max(values.max(initial=0), -values.min(initial=0)))
