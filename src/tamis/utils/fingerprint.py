"""A name for the contents of a table."""

from __future__ import annotations

import hashlib

import numpy as np

from tamis._typing import Matrix
from tamis.utils.sparse import is_sparse


def fingerprint(X: Matrix) -> str:
    """A name for the contents of a table. O(nd)."""
    digest = hashlib.blake2b(f"{X.shape} {X.dtype} {is_sparse(X)}".encode(), digest_size=16)
    for part in (X.data, X.indices, X.indptr) if is_sparse(X) else (X,):
        digest.update(np.ascontiguousarray(part).data)
    return digest.hexdigest()
