"""Sparse tables in the form that others agree on."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from tamis.utils.sparse import with_zeros_implicit


@pytest.mark.parametrize("share", [0.05, 0.2])
def test_a_table_of_zeros_is_taken_as_a_sparse_one(share):
    X = np.zeros((10, 20))
    X.flat[: int(share * X.size)] = 3.0
    found = with_zeros_implicit(X, 0.1)
    assert sp.issparse(found) == (share <= 0.1)
    np.testing.assert_array_equal(found.toarray() if sp.issparse(found) else found, X)


def test_a_sparse_table_stays_as_it_is():
    X = sp.csr_array(np.eye(3))
    assert with_zeros_implicit(X, 0.1) is X
