"""Products of columns with a kernel that is never held, and a forward search by them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from references.scores import gaussian_kernel
from references.tables import three_levels as table

from tamis.solvers import similarity
from tamis.solvers.similarity import aligned_columns, gaussian_forms
from tamis.solvers.table_operator import TableOperator

FORMS = [np.asarray, sp.csr_array]


@pytest.mark.parametrize("block_size", [50, 1 << 20])
@pytest.mark.parametrize("form", FORMS)
def test_the_forms_of_the_kernel_in_blocks_are_those_of_the_kernel(form, block_size, monkeypatch):
    monkeypatch.setattr(similarity, "BLOCK_SIZE", block_size)
    X = table(30, 8)
    K = gaussian_kernel(X, 2.0)
    found = gaussian_forms(TableOperator.centred(form(X)), 2.0)
    np.testing.assert_allclose(found.forms, np.diag(X.T @ K @ X), rtol=1e-9)
    assert found.squared_norm == pytest.approx(np.linalg.norm(K) ** 2)


def test_the_default_width_is_the_mean_squared_distance_of_all_pairs():
    X = table(30, 8)
    K = gaussian_kernel(X)
    found = gaussian_forms(TableOperator.centred(X))
    np.testing.assert_allclose(found.forms, np.diag(X.T @ K @ X), rtol=1e-9)


@pytest.mark.parametrize("shape", [(30, 8), (10, 25)])
def test_columns_that_all_tell_the_same_reach_no_more_together(shape):
    X = np.outer(np.arange(shape[0]), np.linspace(1, 2, shape[1]))
    operator = TableOperator.centred(X)
    found = aligned_columns(operator, gaussian_forms(operator), 5, np.zeros(shape[1], dtype=bool))
    np.testing.assert_allclose(found.alignment, found.alignment[0])
    assert found.order.tolist() == [0, 1, 2, 3, 4]  # equally good: by index
