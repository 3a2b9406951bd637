"""Sums over blocks of rows are as good as two passes over all of them, in whatever blocks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.distributed import DistinctValues, Moments


def in_blocks(X, bounds, **options):
    total = None
    for start, stop in zip([0, *bounds], [*bounds, len(X)], strict=True):
        part = Moments.of(X[start:stop], X[0], **options)
        total = part if total is None else total.merge(part)
    return total


def exact(X):
    """Mean and products of the centred columns, each sum rounded once."""
    n = len(X)
    mean = np.array([math.fsum(column) / n for column in X.T])
    D = X.astype(np.longdouble) - mean.astype(np.longdouble)
    left = D.sum(axis=0) / n
    D -= left
    return (mean + left).astype(np.float64), (D.T @ D).astype(np.float64)


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e8, -1e12])
@pytest.mark.parametrize("drift", [0.0, 1e4])
def test_as_good_as_two_passes(offset, drift):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4)) + offset + drift * np.arange(500)[:, None]
    mean, products = exact(X)
    found = in_blocks(X, [3, 4, 120, 400])
    centred = X - X.mean(axis=0)
    two_passes = centred.T @ centred
    unit = np.sqrt(np.outer(products.diagonal(), products.diagonal()))
    error = np.abs(found.products - products) / unit
    np.testing.assert_allclose(found.mean, mean, rtol=4e-16, atol=1e-15)
    assert error.max() <= max(2 * (np.abs(two_passes - products) / unit).max(), 2e-15)
    np.testing.assert_array_equal(found.lowest, X.min(axis=0))
    np.testing.assert_array_equal(found.highest, X.max(axis=0))
    assert found.count == 500


@settings(max_examples=40, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=6),
    scale=st.sampled_from([1e-8, 1.0, 1e8]),
    seed=st.integers(0, 99),
)
def test_any_blocks_add_up(sizes, scale, seed):
    X = np.random.default_rng(seed).normal(size=(sum(sizes), 3)) * scale
    bounds = np.cumsum(sizes)[:-1].tolist()
    found = in_blocks(X, bounds)
    mean, products = exact(X)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-12, atol=1e-14 * scale)
    np.testing.assert_allclose(found.products, products, rtol=1e-12, atol=1e-13 * scale**2)
    squares = in_blocks(X, bounds, full=False)
    np.testing.assert_allclose(squares.products, products.diagonal(), rtol=1e-12)


def test_the_same_blocks_give_the_same_bits():
    X = np.random.default_rng(0).normal(size=(1000, 5)).astype(np.float32)
    first, again = (in_blocks(X, [300, 301, 777]) for _ in range(2))
    assert first.products.tobytes() == again.products.tobytes()
    through = Moments.from_arrays(in_blocks(X[:301], [300]).arrays())
    for start, stop in ((301, 777), (777, 1000)):
        through = through.merge(Moments.of(X[start:stop], X[0]))
    assert first.products.tobytes() == through.products.tobytes()
    assert first.shift.tobytes() == through.shift.tobytes()


def test_a_column_with_gaps_is_seen():
    X = np.ones((10, 2))
    X[7, 1] = np.nan
    found = in_blocks(X, [5])
    np.testing.assert_array_equal(np.isnan(found.lowest), [False, True])


def test_other_origins_and_no_rows_are_refused():
    X = np.ones((4, 2))
    with pytest.raises(ValueError, match="different origins"):
        Moments.of(X, X[0]).merge(Moments.of(X, X[0] + 1))
    with pytest.raises(ValueError, match="no rows"):
        Moments.of(X[:0], X[0])


def test_whole_numbers_and_truth_values():
    X = np.random.default_rng(0).integers(0, 2, size=(50, 3)).astype(bool)
    np.testing.assert_allclose(in_blocks(X, [20]).variances, X.var(axis=0))


@pytest.mark.parametrize("n_values", [1, 3, 64, 65, 2000])
def test_distinct_values(n_values):
    X = np.column_stack([np.arange(4000) % n_values, np.full(4000, 7)]).astype(float)
    found = in_blocks(X, [10, 2500], distinct=True).distinct
    assert found.counts.tolist() == [min(n_values, 65), 1]
    assert found.many.tolist() == [n_values > 64, False]
    if n_values <= 64:
        np.testing.assert_array_equal(found.of_column(0), np.arange(n_values))


def test_distinct_values_that_come_late():
    X = np.zeros((3000, 1))
    X[2900:, 0] = np.arange(100) / 7
    assert DistinctValues.of(X).many.all()
    X[2950:] = 0
    np.testing.assert_array_equal(DistinctValues.of(X).of_column(0), np.arange(50) / 7)
