"""Lengths of the columns of a product, sparse columns kept sparse."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from references.tables import off_centre

from tamis.solvers import column_forms
from tamis.solvers.column_forms import ColumnForms
from tamis.solvers.table_operator import TableOperator


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("filled", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("block_size", [1 << 21, 40])
def test_they_are_those_of_the_dense_table(monkeypatch, form, filled, block_size):
    monkeypatch.setattr(column_forms, "FILLED", filled)
    monkeypatch.setattr(column_forms, "BLOCK_SIZE", block_size)
    X = off_centre(20, 33, offset=0.5, zeros=0.4)
    B = np.random.default_rng(0).standard_normal((20, 6))
    found = ColumnForms(TableOperator.centred(form(X)))(B)
    expected = np.linalg.norm((X - X.mean(axis=0)).T @ B, axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
