"""Farthest columns: equal ones, and products by columns or by the Gram matrix."""

from __future__ import annotations

import numpy as np
import pytest
from references.tables import three_levels as table

from tamis.solvers import column_products
from tamis.solvers.column_products import ColumnProducts
from tamis.solvers.farthest_columns import farthest_columns
from tamis.solvers.table_operator import TableOperator


@pytest.mark.parametrize("shape", [(30, 8), (10, 25)])
def test_products_of_a_column_are_those_of_the_table(shape, monkeypatch):
    X = table(*shape)
    centred = X - X.mean(axis=0)
    for side in (6000, 1):
        monkeypatch.setattr(column_products, "SIDE_MAX", side)
        products = ColumnProducts(TableOperator.centred(X))
        for j in (0, shape[1] - 1):
            np.testing.assert_allclose(products.with_column(j), centred.T @ centred[:, j])


def test_copies_are_at_no_distance_and_come_last():
    X = table(30, 5)
    copies = TableOperator.centred(np.hstack([X, X, -X]))
    nobody = np.zeros(15, dtype=bool)
    found = farthest_columns(copies, np.arange(15.0), 7, nobody, signed=False)
    assert sorted(found.order[:5] % 5) == [0, 1, 2, 3, 4]
    assert found.distances[5:].tolist() == [0, 0]
    assert not found.left.any()
