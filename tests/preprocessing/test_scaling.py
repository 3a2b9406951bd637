"""Scaling columns whatever their offset and unit, or saying which were left."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from tamis.preprocessing import scaled


@pytest.fixture(name="X")
def whole_numbers():
    return np.random.default_rng(0).integers(0, 1000, size=(200, 4)).astype(float)


SCALERS = {"standard": StandardScaler, "columns": MinMaxScaler}


@pytest.mark.parametrize("scaling", ["standard", "columns"])
def test_ordinary_columns_are_scaled_as_by_scikit_learn_to_the_last_digit(X, scaling):
    X = np.hstack([X, np.random.default_rng(1).normal(3, 5, size=(200, 6)), np.full((200, 1), 7)])
    np.testing.assert_array_equal(scaled(X, scaling), SCALERS[scaling]().fit_transform(X))


@pytest.mark.parametrize("scaling", ["standard", "columns"])
@pytest.mark.parametrize(
    ("factor", "offset"),
    [(2, 2.0**53), (1e-200, 0), (1e-320, 0), (1e300, 0), (1, 1e15), (-2, -(2.0**53)), (1, 2.0**52)],
)
def test_offsets_and_units_do_not_matter(X, scaling, factor, offset):
    expected = SCALERS[scaling]().fit_transform(np.sign(factor) * X)
    tolerance = 1e-3 if factor == 1e-320 else 1e-12  # such small numbers have three digits
    np.testing.assert_allclose(scaled(X * factor + offset, scaling), expected, atol=tolerance)


@pytest.mark.parametrize("factor", [1e-200, 1e200, 1])
def test_sparse_columns_of_any_unit(X, factor):
    table = sp.csr_array(X * (X > 500))
    expected = StandardScaler(with_mean=False).fit_transform(table)
    actual = scaled(table * factor, "standard")
    np.testing.assert_allclose(actual.toarray(), expected.toarray(), rtol=1e-12)
    expected = MaxAbsScaler().fit_transform(table)
    actual = scaled(table * factor, "columns")
    np.testing.assert_allclose(actual.toarray(), expected.toarray(), rtol=1e-12)


def test_a_sparse_column_far_from_zero(X):
    table = sp.csr_array(X * 2 + 2.0**53)
    np.testing.assert_allclose(
        scaled(table, "standard").toarray(), table.toarray() / (2 * X.std(axis=0)), rtol=1e-12
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("sparse", [False, True])
def test_columns_of_rounding_are_left_and_named(X, sparse, dtype):
    shares = np.random.default_rng(0).random((200, 6)).astype(dtype)
    shares /= shares.sum(axis=1, keepdims=True)
    table = np.hstack([X.astype(dtype), shares.sum(axis=1, keepdims=True)])
    assert np.ptp(table[:, 4]) > 0
    names = ["a", "b", "c", "d", "total"]
    with pytest.warns(UserWarning, match="column 'total' does not vary beyond rounding: left"):
        done = scaled(sp.csr_array(table) if sparse else table, "standard", names)
    left = done.toarray()[:, 4] if sparse else done[:, 4]
    np.testing.assert_array_equal(left, table[:, 4] if sparse else np.zeros(200))
