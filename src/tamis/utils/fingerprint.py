"""A name for the contents of a table."""

from __future__ import annotations

import hashlib

import numpy as np
import scipy.sparse as sp

from tamis._typing import Matrix


def fingerprint(X: Matrix) -> str:
    """A name for the contents of a table. O(nd)."""
    digest = hashlib.blake2b(f"{X.shape} {X.dtype} {sp.issparse(X)}".encode(), digest_size=16)
    for part in (X.data, X.indices, X.indptr) if sp.issparse(X) else (X,):
        digest.update(np.ascontiguousarray(part).data)
    return digest.hexdigest()
