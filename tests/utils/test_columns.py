"""Column statistics against numpy, where numpy is exact enough to be the judge."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from references.tables import off_centre

from tamis.utils import blocks
from tamis.utils.blocks import row_blocks
from tamis.utils.columns import (
    columns_not_finite,
    columns_of_rounding,
    extent,
    variances,
    varying_columns,
    weighted_moments,
)
from tamis.utils.messages import describe_columns
from tamis.utils.rows import squared_row_norms

FORMS = {"dense": np.asarray, "sparse": sp.csr_array}


def plain_moments(X, weights):
    mean = np.average(X, axis=0, weights=weights)
    return mean, weights @ (X - mean) ** 2


@pytest.fixture(params=FORMS.values(), ids=FORMS)
def form(request):
    return request.param


@pytest.fixture
def table():
    return off_centre(200, 7, offset=0.0, zeros=0.4)


# --- row blocks -------------------------------------------------------------------------------


@pytest.mark.parametrize("n_rows", [0, 1, 9, 10, 11])
def test_row_blocks_cover_all_rows_once_and_in_order(monkeypatch, n_rows):
    monkeypatch.setattr(blocks, "BLOCK_SIZE", 12)
    slices = list(row_blocks(n_rows, 4))
    assert [row for rows in slices for row in range(rows.start, rows.stop)] == list(range(n_rows))
    assert all(rows.stop - rows.start <= 3 for rows in slices)


def test_row_blocks_have_the_size_that_is_asked_for():
    lengths = [rows.stop - rows.start for rows in row_blocks(10, 4, block_size=12)]
    assert lengths == [3, 3, 3, 1]


@pytest.mark.parametrize("row_length", [0, 13, 10**6])
def test_row_blocks_hold_a_row_however_long_it_is(monkeypatch, row_length):
    monkeypatch.setattr(blocks, "BLOCK_SIZE", 12)
    lengths = [rows.stop - rows.start for rows in row_blocks(5, row_length)]
    assert lengths == ([5] if row_length == 0 else [1] * 5)


# --- extent -----------------------------------------------------------------------------------


def test_extent_is_the_smallest_and_largest_value(form, table):
    lowest, highest = extent(form(table))
    np.testing.assert_array_equal(lowest, table.min(axis=0))
    np.testing.assert_array_equal(highest, table.max(axis=0))


def test_extent_counts_the_zeros_that_are_not_stored():
    X = np.array([[3.0, -2.0], [0.0, 0.0], [5.0, -1.0]])
    lowest, highest = extent(sp.csr_array(X))
    assert lowest.tolist() == [0, -2]
    assert highest.tolist() == [5, 0]


def test_extent_of_a_column_without_zeros_ignores_zero():
    lowest, highest = extent(sp.csr_array(np.array([[3.0], [4.0]])))
    assert (lowest[0], highest[0]) == (3, 4)


def test_extent_is_nan_where_a_column_holds_nan(form):
    X = np.array([[1.0, 0.0, 7.0], [2.0, np.nan, np.nan], [0.0, 5.0, 7.0]])
    for end in extent(form(X)):
        assert np.isnan(end).tolist() == [False, True, True]


def test_extent_keeps_infinity(form):
    X = np.array([[1.0, -np.inf], [np.inf, 0.0]])
    lowest, highest = extent(form(X))
    assert lowest.tolist() == [1, -np.inf]
    assert highest.tolist() == [np.inf, 0]


# --- rows, and columns that vary --------------------------------------------------------------


def test_squared_row_norms_are_their_definition(form, table):
    table[5] = 0
    np.testing.assert_allclose(squared_row_norms(form(table)), (table**2).sum(axis=1), rtol=1e-14)


def test_varying_columns_leave_out_the_constant_ones(form, table):
    constant = np.array([False, True, False, False, True, False, False])
    left = varying_columns(form(table), constant)
    expected = table[:, ~constant]
    np.testing.assert_array_equal(left.toarray() if sp.issparse(left) else left, expected)


def test_without_constant_columns_a_table_is_not_copied(table):
    assert varying_columns(table, np.zeros(7, dtype=bool)) is table


# --- values that are not finite ---------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 12, 10**6])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_columns_with_values_that_are_not_finite(monkeypatch, form, table, dtype, size):
    monkeypatch.setattr(blocks, "BLOCK_SIZE", size)
    X = table.astype(dtype)
    X[3] = 0  # a row of which nothing is stored
    assert columns_not_finite(form(X))[0].size == columns_not_finite(form(X))[1] == 0
    X[4, 6], X[4, 1], X[150, 1], X[199, 1] = np.nan, np.inf, -np.inf, np.nan
    found, n_rows = columns_not_finite(form(X))
    np.testing.assert_array_equal(found, [1, 6])
    assert n_rows == 3


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64])
def test_integers_are_finite(form, dtype):
    found, n_rows = columns_not_finite(form(np.eye(3, dtype=dtype)))
    assert found.size == n_rows == 0


def test_large_values_whose_sum_overflows_are_finite(form):
    assert columns_not_finite(form(np.full((3, 2), 1e308)))[0].size == 0


# --- moments ----------------------------------------------------------------------------------


def test_moments_agree_with_numpy(form, table):
    weights = np.random.default_rng(1).random(len(table))
    mean, scatter = weighted_moments(form(table), weights)
    expected_mean, expected_scatter = plain_moments(table, weights)
    np.testing.assert_allclose(mean, expected_mean, rtol=1e-12)
    np.testing.assert_allclose(scatter, expected_scatter, rtol=1e-12)


@pytest.mark.parametrize("offset", [1e4, 1e6, 1e8])
def test_a_large_offset_costs_no_precision(form, offset):
    rng = np.random.default_rng(0)
    X = offset + rng.standard_normal((1000, 3))
    weights = rng.random(1000)
    expected_mean, expected_scatter = plain_moments(X - offset, weights)  # the difference is exact
    mean, scatter = weighted_moments(form(X), weights)
    np.testing.assert_allclose(mean, offset + expected_mean, rtol=1e-14)
    np.testing.assert_allclose(scatter, expected_scatter, rtol=1e-10)


def test_samples_of_weight_zero_do_not_count(form, table):
    weights = np.ones(len(table))
    weights[50:] = 0
    table[50:] *= 1e6
    mean, scatter = weighted_moments(form(table), weights)
    np.testing.assert_allclose(mean, table[:50].mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(scatter, 50 * table[:50].var(axis=0), rtol=1e-12)


def test_stored_zeros_count_as_zeros(table):
    stored = sp.csr_array(table)
    stored.data[::3] = 0
    weights = np.random.default_rng(1).random(len(table))
    for found, expected in zip(
        weighted_moments(stored, weights), plain_moments(stored.toarray(), weights), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("size", [1, 10, 64, 10**4])
def test_the_block_size_does_not_change_the_moments(monkeypatch, table, size):
    weights = np.random.default_rng(1).random(len(table))
    monkeypatch.setattr(blocks, "BLOCK_SIZE", size)
    for found, expected in zip(
        weighted_moments(table, weights), plain_moments(table, weights), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_single_precision_is_summed_in_double(form):
    X = (1000 + np.random.default_rng(0).random((5000, 2))).astype(np.float32)
    mean, scatter = weighted_moments(form(X), np.ones(5000))
    assert mean.dtype == scatter.dtype == np.float64
    expected_mean, expected_scatter = plain_moments(X.astype(np.float64), np.ones(5000))
    np.testing.assert_allclose(mean, expected_mean, rtol=1e-13)
    np.testing.assert_allclose(scatter, expected_scatter, rtol=1e-9)


def test_the_table_and_the_weights_are_left_alone(form, table):
    X, weights = form(table), np.random.default_rng(1).random(len(table))
    kept = weights.copy()
    weighted_moments(X, weights)
    np.testing.assert_array_equal(X.toarray() if sp.issparse(X) else X, table)
    np.testing.assert_array_equal(weights, kept)


@settings(deadline=None, max_examples=60)
@given(
    X=arrays(
        np.float64,
        st.tuples(st.integers(1, 12), st.integers(1, 4)),
        elements=st.one_of(st.just(0.0), st.floats(-1e3, 1e3, allow_subnormal=False)),
    ),
    seed=st.integers(0, 10),
)
def test_sparse_and_dense_moments_are_the_same(X, seed):
    weights = np.random.default_rng(seed).random(len(X)) + 0.01
    mean, scatter = weighted_moments(X, weights)
    sparse_mean, sparse_scatter = weighted_moments(sp.csr_array(X), weights)
    scale = max(1.0, np.abs(X).max())
    np.testing.assert_allclose(sparse_mean, mean, atol=1e-12 * scale)
    np.testing.assert_allclose(sparse_scatter, scatter, atol=1e-11 * scale**2)


def test_variances_are_population_variances(form, table):
    np.testing.assert_allclose(variances(form(table)), table.var(axis=0), rtol=1e-12)


def test_a_constant_column_has_no_variance(form):
    X = np.column_stack([np.zeros(9), np.full(9, 4.0), np.arange(9.0)])
    assert variances(form(X)).tolist() == pytest.approx([0, 0, 60 / 9])


# --- descriptions -----------------------------------------------------------------------------


def test_columns_without_names_are_described_by_index():
    assert describe_columns([4]) == "column 4"
    assert describe_columns(np.array([0, 4])) == "columns 0, 4"


def test_columns_with_names_are_described_by_name():
    assert describe_columns([1], ["age", "income"]) == "column 'income'"
    assert describe_columns([0, 1], np.array(["age", "income"])) == "columns 'age', 'income'"


def test_a_long_list_of_columns_is_shortened():
    assert describe_columns(range(5)) == "columns 0, 1, 2, 3, 4"
    assert describe_columns(range(8)) == "columns 0, 1, 2, 3, 4, … (3 more)"
    assert describe_columns(range(3), most=1) == "columns 0, … (2 more)"


# --- columns of rounding ------------------------------------------------------------------------


def rounding_in(X):
    return columns_of_rounding(X, *extent(X)).tolist()


def shares(rng, n_samples=178, n_shares=6):
    P = rng.random((n_samples, n_shares))
    return P / P.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_sum_of_shares_is_rounding_as_it_is_and_centred(kind, dtype):
    P = shares(np.random.default_rng(0)).astype(dtype)
    total = P.sum(axis=1)
    assert np.ptp(total) > 0
    wide = np.random.default_rng(1).standard_normal((len(P), 3)).astype(dtype)
    X = np.column_stack([wide, total, total - total.mean()])
    assert rounding_in(kind(X)) == [3, 4]


@pytest.mark.parametrize("unit", [1e-12, 1e-30])
def test_a_measured_column_in_tiny_units_is_not_rounding(unit):
    X = 1e6 * np.random.default_rng(0).standard_normal((100, 4))
    X[:, 2] *= unit / 1e6
    assert rounding_in(X) == []


def test_a_flag_beside_large_values_in_single_precision_is_not_rounding():
    X = 1e7 * np.random.default_rng(0).standard_normal((100, 4)).astype(np.float32)
    X[:, 1] = np.arange(100) % 2
    X[:, 3] = 1e7 + np.arange(100) % 3
    assert rounding_in(X) == []


def test_whole_numbers_beyond_the_precision_of_floats_are_rounding():
    X = np.random.default_rng(0).standard_normal((100, 3))
    X[:, 0] = 2.0**60 + 256 * (np.arange(100) % 3)
    assert rounding_in(X) == [0]


def test_constant_columns_alone_are_not_rounding():
    assert rounding_in(np.ones((5, 3))) == []
