"""Principal components by every route, against a singular value decomposition."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from references import scores as reference
from references.tables import distinct_components

from tamis.solvers import principal
from tamis.solvers.principal import principal_components
from tamis.utils import blocks


def dense_gram(monkeypatch, X):
    return X


def small_blocks(monkeypatch, X):
    monkeypatch.setattr(blocks, "BLOCK_SIZE", 50)
    return X


def lanczos(monkeypatch, X):
    monkeypatch.setattr(principal, "DENSE_GRAM_MAX", 0)
    return X


def sparse(monkeypatch, X):
    return sp.csr_array(X)


ROUTES = [dense_gram, small_blocks, lanczos, sparse]


@pytest.mark.parametrize("offset", [0.0, 1e4])
@pytest.mark.parametrize("n_components", [1, 4, 7, 14])
@pytest.mark.parametrize("shape", [(50, 14), (14, 50), (14, 14)])
@pytest.mark.parametrize("route", ROUTES)
def test_every_route_finds_the_components(monkeypatch, route, shape, n_components, offset):
    X = distinct_components(shape, offset)
    variances, directions = principal_components(route(monkeypatch, X), n_components)
    expected, expected_directions = reference.principal_components(X, n_components)
    assert variances.shape == (n_components,)
    assert directions.shape == (shape[1], n_components)
    assert (np.diff(variances) <= 0).all()
    np.testing.assert_allclose(variances, expected, atol=1e-9 * expected[0])
    carried = expected > 1e-9 * expected[0]  # a centred square or wide table has one less
    cosines = np.abs(np.sum(directions * expected_directions, axis=0))
    np.testing.assert_allclose(cosines[carried], 1, atol=1e-6)


@pytest.mark.parametrize("shape", [(50, 14), (14, 50)])
@pytest.mark.parametrize("route", ROUTES)
def test_directions_are_orthonormal(monkeypatch, route, shape):
    _, directions = principal_components(route(monkeypatch, distinct_components(shape)), 5)
    np.testing.assert_allclose(directions.T @ directions, np.eye(5), atol=1e-8)


@pytest.mark.parametrize("route", ROUTES)
def test_lanczos_runs_only_where_no_gram_matrix_is_formed(monkeypatch, route):
    calls = []
    original = principal.eigsh
    monkeypatch.setattr(principal, "eigsh", lambda *a, **k: calls.append(1) or original(*a, **k))
    principal_components(route(monkeypatch, distinct_components((50, 14))), 4)
    assert bool(calls) == (route in {lanczos, sparse})


@pytest.mark.parametrize("fraction", [0.3, 0.9, 0.99, 0.9999999])
@pytest.mark.parametrize("shape", [(90, 40), (40, 90)])
@pytest.mark.parametrize("route", ROUTES)
def test_a_fraction_takes_the_fewest_components(monkeypatch, route, shape, fraction):
    X = np.random.default_rng(0).standard_normal(shape) * np.linspace(1, 2, shape[1])
    expected, _ = reference.principal_components(X, 40)
    needed = 1 + int(np.flatnonzero(np.cumsum(expected) / expected.sum() >= fraction)[0])
    variances, directions = principal_components(route(monkeypatch, X), fraction)
    assert directions.shape == (shape[1], needed)
    np.testing.assert_allclose(variances, expected[:needed], rtol=1e-9)


@pytest.mark.parametrize("route", ROUTES)
def test_the_result_is_the_same_to_the_last_bit_every_time(monkeypatch, route):
    X = route(monkeypatch, distinct_components((50, 14)))
    first, second = principal_components(X, 5), principal_components(X, 5)
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("route", ROUTES)
def test_the_table_is_left_as_it_is(monkeypatch, route):
    X = route(monkeypatch, distinct_components((50, 14), offset=3))
    kept = X.copy()
    principal_components(X, 5)
    assert abs(X - kept).max() == 0


@pytest.mark.parametrize("route", ROUTES)
def test_a_large_offset_costs_little_precision(monkeypatch, route):
    X = distinct_components((50, 14), offset=1e8)
    variances, _ = principal_components(route(monkeypatch, X), 3)
    expected, _ = reference.principal_components(X - 1e8, 3)
    np.testing.assert_allclose(variances, expected, rtol=1e-6)


@pytest.mark.parametrize("wanted", [1, 3, 0.5])
@pytest.mark.parametrize("shape", [(30, 8), (8, 30)])
@pytest.mark.parametrize("route", ROUTES)
def test_a_table_without_variance_has_components_without_variance(
    monkeypatch, route, shape, wanted
):
    X = np.tile(np.arange(1.0, shape[1] + 1), (shape[0], 1))
    variances, directions = principal_components(route(monkeypatch, X), wanted)
    np.testing.assert_allclose(variances, 0, atol=1e-20)
    assert directions.shape == (shape[1], len(variances))
    assert np.isfinite(directions).all()
