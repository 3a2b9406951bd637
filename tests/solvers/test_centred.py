"""The centred table: every product equals that of the dense table minus its means."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from references.tables import off_centre

from tamis.solvers.centred import Centred

FORMS = [np.asarray, sp.csr_array]


table = partial(off_centre, offset=0.5, zeros=0.4)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(30, 7), (7, 30), (2, 1)])
def test_products_are_those_of_the_centred_table(shape, dtype, form):
    X = table(*shape, dtype=dtype)
    expected = X.astype(np.float64) - X.mean(axis=0, dtype=np.float64)
    centred = Centred(form(X))
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
    ]:
        assert isinstance(found, np.ndarray)
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12 * shape[0] * shape[1])


@pytest.mark.parametrize("form", FORMS)
def test_the_input_is_left_as_it_was(form):
    X = table(20, 5)
    given = form(X.copy())
    centred = Centred(given)
    centred.gram_of_features()
    centred.gram_of_samples(np.full(5, 2.0))
    kept = given.toarray() if sp.issparse(given) else given
    np.testing.assert_array_equal(kept, X)


def test_a_sparse_table_is_not_densified_and_a_dense_one_is_centred():
    X = table(20, 5)
    assert Centred(sp.csr_array(X)).is_sparse
    assert not Centred(X).is_sparse


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_large_offset_of_a_dense_table_costs_no_precision(dtype):
    X = table(50, 4)
    offset = 2.0**20 if dtype == np.float64 else 2.0**6
    shifted = (X + offset).astype(dtype)
    exact = shifted.astype(np.float64) - offset
    expected = exact - exact.mean(axis=0)
    found = Centred(shifted).gram_of_features()
    np.testing.assert_allclose(found, expected.T @ expected, rtol=1e-9, atol=1e-9)


def test_a_full_column_of_a_sparse_table_keeps_its_digits_beside_a_large_offset():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 4))
    X[:, 0] *= rng.random(30) < 0.5
    X[:, 1:] += 1e8
    expected = X - X.mean(axis=0)
    sparse = Centred(sp.csr_array(X))
    np.testing.assert_allclose(sparse.gram_of_features(), expected.T @ expected, atol=1e-5)
    np.testing.assert_allclose(sparse.times(np.eye(4)), expected, atol=1e-7)


def test_the_norm_is_the_one_asked_for():
    X = np.random.default_rng(0).standard_normal((20, 5)) + 3
    for form in (np.asarray, sp.csr_array):
        table = Centred(form(X), norm=2.5)
        assert np.linalg.norm(table.times(np.eye(5))) == pytest.approx(2.5)
        squares = table.squared_column_norms()
        np.testing.assert_allclose(squares, table.gram_of_features().diagonal())
