"""A table as an operator: every product equals that of the dense table, shifted and scaled."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from references.tables import off_centre

from tamis.solvers.table_operator import TableOperator

FORMS = [np.asarray, sp.csr_array]


table = partial(off_centre, offset=0.5, zeros=0.4)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(30, 7), (7, 30), (2, 1)])
def test_products_are_those_of_the_centred_table(shape, dtype, form):
    X = table(*shape, dtype=dtype)
    expected = X.astype(np.float64) - X.mean(axis=0, dtype=np.float64)
    centred = TableOperator.centred(form(X))
    rng = np.random.default_rng(1)
    V, U = rng.standard_normal((shape[1], 3)), rng.standard_normal((shape[0], 3))
    weights = rng.random(shape[1])
    chosen = np.array([shape[1] - 1, 0])
    for found, wanted in [
        (centred.times(V), expected @ V),
        (centred.times(V[:, 0]), expected @ V[:, 0]),
        (centred.transposed_times(U), expected.T @ U),
        (centred.transposed_times(U[:, 0]), expected.T @ U[:, 0]),
        (centred.columns(chosen), expected[:, chosen]),
        (centred.gram_of_features(), expected.T @ expected),
        (centred.gram_of_samples(), expected @ expected.T),
        (centred.gram_of_samples(weights), expected * weights @ expected.T),
        (centred.with_columns(chosen).times(V[chosen]), expected[:, chosen] @ V[chosen]),
        (centred.with_columns(chosen).transposed_times(U), expected[:, chosen].T @ U),
        (
            centred.with_columns(weights > 0.5).gram_of_samples(),
            expected[:, weights > 0.5] @ expected[:, weights > 0.5].T,
        ),
        (
            centred.with_columns(chosen).squared_column_norms(),
            (expected[:, chosen] ** 2).sum(axis=0),
        ),
    ]:
        assert isinstance(found, np.ndarray)
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12 * shape[0] * shape[1])


@pytest.mark.parametrize("form", FORMS)
def test_the_input_is_left_as_it_was(form):
    X = table(20, 5)
    given = form(X.copy())
    centred = TableOperator.centred(given)
    centred.gram_of_features()
    centred.gram_of_samples(np.full(5, 2.0))
    kept = given.toarray() if sp.issparse(given) else given
    np.testing.assert_array_equal(kept, X)


def test_a_sparse_table_is_not_densified_and_a_dense_one_is_centred():
    X = table(20, 5)
    assert TableOperator.centred(sp.csr_array(X)).is_sparse
    assert not TableOperator.centred(X).is_sparse


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_large_offset_of_a_dense_table_costs_no_precision(dtype):
    X = table(50, 4)
    offset = 2.0**20 if dtype == np.float64 else 2.0**6
    shifted = (X + offset).astype(dtype)
    exact = shifted.astype(np.float64) - offset
    expected = exact - exact.mean(axis=0)
    found = TableOperator.centred(shifted).gram_of_features()
    np.testing.assert_allclose(found, expected.T @ expected, rtol=1e-9, atol=1e-9)


def test_a_full_column_of_a_sparse_table_keeps_its_digits_beside_a_large_offset():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 4))
    X[:, 0] *= rng.random(30) < 0.5
    X[:, 1:] += 1e8
    expected = X - X.mean(axis=0)
    sparse = TableOperator.centred(sp.csr_array(X))
    np.testing.assert_allclose(sparse.gram_of_features(), expected.T @ expected, atol=1e-5)
    np.testing.assert_allclose(sparse.times(np.eye(4)), expected, atol=1e-7)


def test_the_norm_is_the_one_asked_for():
    X = np.random.default_rng(0).standard_normal((20, 5)) + 3
    for form in (np.asarray, sp.csr_array):
        centred = TableOperator.centred(form(X), norm=2.5)
        assert np.linalg.norm(centred.times(np.eye(5))) == pytest.approx(2.5)
        squares = centred.squared_column_norms()
        np.testing.assert_allclose(squares, centred.gram_of_features().diagonal())


@pytest.mark.parametrize("form", FORMS)
def test_a_scaled_table_is_the_scaled_table(form):
    X, Y = table(20, 9), np.random.default_rng(4).standard_normal((20, 3))
    scale = np.random.default_rng(1).random(20)
    operator, SX = TableOperator(form(X), row_scale=scale), scale[:, None] * X
    V, weights = np.random.default_rng(2).random((9, 2)), np.random.default_rng(3).random(9)
    np.testing.assert_allclose(operator.times(V), SX @ V)
    np.testing.assert_allclose(operator.times(V[:, 0]), SX @ V[:, 0])
    np.testing.assert_allclose(operator.transposed_times(Y), SX.T @ Y)
    np.testing.assert_allclose(operator.transposed_times(Y[:, 0]), SX.T @ Y[:, 0])
    np.testing.assert_allclose(operator.columns(np.array([4, 1])), SX[:, [4, 1]])
    np.testing.assert_allclose(operator.gram_of_features(), SX.T @ SX, atol=1e-12)
    np.testing.assert_allclose(operator.gram_of_samples(weights), (SX * weights) @ SX.T, atol=1e-12)
    np.testing.assert_allclose(operator.gram_of_samples(), SX @ SX.T, atol=1e-12)
    np.testing.assert_allclose(operator.squared_column_norms(), (SX**2).sum(axis=0))
    plain = TableOperator(form(X))
    np.testing.assert_allclose(plain.times(V), X @ V)
    centred = TableOperator.centred(form(X))
    expected = ((X - X.mean(axis=0)) ** 2).sum(axis=0)
    np.testing.assert_allclose(centred.squared_column_norms(), expected)


def with_full_columns(n_samples, n_features):
    """A table of which the first two columns have no zero."""
    X = table(n_samples, n_features)
    X[:, :2] = np.random.default_rng(5).random((n_samples, 2)) + 1
    return X


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", [(30, 7), (7, 30)])
def test_any_shift_goes_with_any_scale_of_the_rows(shape, form):
    X = with_full_columns(*shape)
    rng = np.random.default_rng(1)
    shift, scale = rng.standard_normal(shape[1]), rng.random(shape[0])
    operator = TableOperator(form(X), shift=shift, row_scale=scale)
    expected = scale[:, None] * (X - shift)
    V, U = rng.standard_normal((shape[1], 3)), rng.standard_normal((shape[0], 3))
    weights = rng.standard_normal(shape[1])
    some, chosen = slice(2, 5), np.array([3, 0])
    for found, wanted in [
        (operator.times(V), expected @ V),
        (operator.times(V[:, 0]), expected @ V[:, 0]),
        (operator.transposed_times(U), expected.T @ U),
        (operator.transposed_times(U[some], some), expected[some].T @ U[some]),
        (operator.rows(some), expected[some]),
        (operator.columns(chosen), expected[:, chosen]),
        (operator.column_means(), expected.mean(axis=0)),
        (operator.squared_column_norms(), (expected**2).sum(axis=0)),
        (operator.gram_of_features(), expected.T @ expected),
        (operator.gram_of_samples(weights), expected * weights @ expected.T),
        (operator.gram_of_samples(weights**2, by_roots=False), expected * weights**2 @ expected.T),
        (operator.origin, shift),
    ]:
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("form", FORMS)
def test_standardised_columns_have_the_given_origin_and_unit(form):
    X = with_full_columns(30, 7)
    mean, scale = X.mean(axis=0), X.std(axis=0)
    given = form(X.copy())
    operator = TableOperator.standardised(given, mean, scale)
    expected = (X - mean) / scale
    np.testing.assert_allclose(operator.rows(slice(3, 9)), expected[3:9], atol=1e-12)
    np.testing.assert_allclose(operator.times(np.eye(7)), expected, atol=1e-12)
    np.testing.assert_allclose(operator.origin, mean / scale)
    np.testing.assert_array_equal(given.toarray() if sp.issparse(given) else given, X)
    assert sp.issparse(operator.stored) == sp.issparse(given)
    stored = operator.stored.toarray() if sp.issparse(given) else operator.stored
    np.testing.assert_allclose(stored - stored[0], expected - expected[0], atol=1e-12)


def test_a_table_that_is_centred_already_is_not_copied():
    X = table(50, 4)
    X -= X.mean(axis=0)
    assert TableOperator.centred(X).stored is X
    assert not TableOperator.centred(X).origin.any()
    assert TableOperator.centred(X + 1).stored is not X


@pytest.mark.parametrize("shape", [(9, 40), (40, 9)])
def test_means_that_are_small_may_stay_in_a_large_table(shape, monkeypatch):
    monkeypatch.setattr("tamis.solvers.table_operator.LARGE_TABLE", 100)
    monkeypatch.setattr("tamis.utils.blocks.LARGE_TABLE", 100)
    rng = np.random.default_rng(0)
    X = rng.standard_normal(shape) + 3 * rng.standard_normal(shape[1])
    expected, found = TableOperator.centred(X), TableOperator.centred(X, copied=False)
    assert found.stored is X
    V, U = rng.standard_normal((shape[1], 2)), rng.standard_normal((shape[0], 2))
    chosen = np.array([4, 1])
    for product in (
        lambda T: T.times(V),
        lambda T: T.transposed_times(U),
        lambda T: T.transposed_times(U[:, 0]),
        lambda T: T.columns(chosen),
        lambda T: T.rows(slice(2, 7)),
        lambda T: T.squared_column_norms(),
        lambda T: T.gram_of_features(),
        lambda T: T.gram_of_samples(),
        lambda T: T.rows_scaled(np.arange(1.0, shape[0] + 1)).gram_of_features(),
    ):
        np.testing.assert_allclose(product(found), product(expected), atol=1e-12)


@pytest.mark.parametrize(
    "X",
    [
        np.arange(400.0).reshape(20, 20) + 1e6,  # digits would be lost
        np.random.default_rng(0).standard_normal((20, 20)).astype(np.float32) + 1,
    ],
)
def test_other_means_are_subtracted_from_a_large_table(X, monkeypatch):
    monkeypatch.setattr("tamis.solvers.table_operator.LARGE_TABLE", 100)
    centred = TableOperator.centred(X, copied=False)
    np.testing.assert_allclose(centred.stored, X - X.mean(axis=0, dtype=np.float64), atol=1e-6)
