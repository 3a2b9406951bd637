"""Coordinates of the span of the samples: a rotation, of dense and sparse tables."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from tamis.solvers.sample_span import SampleSpan
from tamis.solvers.table_operator import TableOperator

FORMS = [np.asarray, sp.csr_array]


@pytest.mark.parametrize("form", FORMS)
def test_inner_products_are_kept_and_vectors_come_back(form):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 40)) * (rng.random((12, 40)) < 0.5)
    span = SampleSpan(TableOperator(form(X)))
    Z = span.table.times(np.eye(span.table.shape[1]))
    assert span.is_rotated
    assert Z.shape == (12, 12)
    np.testing.assert_allclose(Z @ Z.T, X @ X.T, atol=1e-12)
    D = X.T @ rng.standard_normal((12, 3))
    coordinates = span.of_features(D)
    np.testing.assert_allclose(coordinates.T @ coordinates, D.T @ D, rtol=1e-10)
    np.testing.assert_allclose(span.table.times(coordinates), X @ D, rtol=1e-10)
    np.testing.assert_allclose(span.to_features(coordinates), D, atol=1e-10)


def test_repeated_samples_take_fewer_coordinates():
    X = np.repeat(np.random.default_rng(0).standard_normal((3, 20)), 4, axis=0)
    assert SampleSpan(TableOperator(X)).table.shape == (12, 3)


def test_a_long_table_stays_as_it_is():
    table = TableOperator(np.random.default_rng(0).standard_normal((20, 5)))
    span = SampleSpan(table)
    assert not span.is_rotated
    assert span.table is table


def test_a_table_that_repeats_values_is_centred_as_a_sparse_one():
    rng = np.random.default_rng(0)
    X = np.where(
        rng.random((60, 30)) < 0.03, rng.standard_normal((60, 30)), rng.standard_normal(30)
    )
    table = TableOperator.centred(X)
    assert table.is_sparse
    V = rng.standard_normal((30, 2))
    np.testing.assert_allclose(table.times(V), (X - X.mean(axis=0)) @ V, atol=1e-10)
    np.testing.assert_allclose(table.origin, X.mean(axis=0), atol=1e-12)
    assert not TableOperator.centred(rng.standard_normal((60, 30))).is_sparse
