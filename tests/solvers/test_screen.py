"""A path that looks at few features of a wide table is the path that looks at all."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from tamis.solvers import lars, screen
from tamis.solvers.l21 import alpha_max, l21_regression
from tamis.solvers.lars import NEWS, least_angle_regression
from tamis.solvers.table_operator import TableOperator


def latent(rng, n_samples=40, n_features=900, rank=6):
    """Columns that mostly lie in few directions, as those of measurements do."""
    return rng.standard_normal((n_samples, rank)) @ rng.standard_normal(
        (rank, n_features)
    ) + 0.3 * rng.standard_normal((n_samples, n_features))


def noise(rng, n_samples=40, n_features=900):
    return rng.standard_normal((n_samples, n_features))


def copies(rng, n_samples=40, n_features=900):
    base = rng.standard_normal((n_samples, 30))
    chosen = base[:, rng.integers(0, 30, n_features)]
    return chosen * rng.choice([-2.0, 1.0, 3.0], n_features)


def near_copies(rng, n_samples=40, n_features=900):
    return copies(rng, n_samples, n_features) + 1e-3 * rng.standard_normal((n_samples, n_features))


def offset(rng):
    return latent(rng) + 50


TABLES = [latent, noise, copies, near_copies, offset]


@pytest.fixture(autouse=True)
def _screened(monkeypatch):
    """Screen small tables, and look at few of their features."""
    monkeypatch.setattr(screen, "FEWEST_CELLS", 0)
    monkeypatch.setattr(screen, "FIRST_LOOK", 12)
    monkeypatch.setattr(screen, "MOST_DIRECTIONS", 8)
    monkeypatch.setattr(screen, "FEATURES_AT_ONCE", 100)
    monkeypatch.setattr(screen, "BLOCK", 7)


def both(X, Y, n_steps, monkeypatch, **options):
    centred = TableOperator.centred(X)
    assert screen.is_worth_screening(centred)
    correlation = centred.transposed_times(Y)
    found = least_angle_regression(centred, correlation, n_steps, **options)
    monkeypatch.setattr(lars, "is_worth_screening", lambda X: False)
    return found, least_angle_regression(centred, correlation, n_steps, **options)


def assert_same(found, expected, X):
    """The same path, but for which of equal columns stands for them."""
    np.testing.assert_array_equal(X[:, found.entered], X[:, expected.entered])
    np.testing.assert_allclose(found.objective, expected.objective, rtol=1e-8)
    np.testing.assert_allclose(found.sizes, expected.sizes, atol=1e-9 * expected.first_level)
    assert found.level == pytest.approx(expected.level, abs=1e-9 * expected.first_level)
    if np.array_equal(found.entered, expected.entered):
        np.testing.assert_array_equal(found.dependent, expected.dependent)
    fit, scale = X @ expected.solution, np.abs(X @ expected.solution).max()
    np.testing.assert_allclose(X @ found.solution, fit, atol=1e-8 * scale)
    assert len(found.breakpoints) == len(expected.breakpoints)


@pytest.mark.parametrize("n_targets", [1, 4])
@pytest.mark.parametrize("n_steps", [1, 9, 30])
@pytest.mark.parametrize("table", TABLES)
def test_a_path_from_zero(table, n_steps, n_targets, monkeypatch):
    rng = np.random.default_rng(n_steps)
    X = table(rng)
    Y = rng.standard_normal((len(X), n_targets))
    found, expected = both(X, Y - Y.mean(axis=0), n_steps, monkeypatch, news=NEWS)
    assert_same(found, expected, X)


@pytest.mark.parametrize("table", TABLES)
def test_a_path_from_a_penalised_optimum(table, monkeypatch):
    rng = np.random.default_rng(3)
    X = table(rng)
    Y = X[:, :5] @ rng.standard_normal((5, 3)) + rng.standard_normal((len(X), 3))
    Y -= Y.mean(axis=0)
    centred = TableOperator.centred(X)
    start = l21_regression(centred, Y, 0.4 * alpha_max(centred, Y)).solution
    n_support = np.count_nonzero(start.any(axis=1))
    assert n_support > 0
    found, expected = both(X, Y, n_support + 20, monkeypatch, start=start, news=NEWS)
    assert_same(found, expected, X)


@pytest.mark.parametrize("table", [latent, noise, copies])
def test_a_path_to_the_perfect_fit(table, monkeypatch):
    rng = np.random.default_rng(4)
    X = table(rng)
    Y = rng.standard_normal((len(X), 2))
    found, expected = both(X, Y - Y.mean(axis=0), len(X) + 10, monkeypatch, news=NEWS)
    np.testing.assert_array_equal(found.entered, expected.entered)
    np.testing.assert_array_equal(found.dependent, expected.dependent)
    scale = expected.first_level
    np.testing.assert_allclose(found.sizes, expected.sizes, atol=1e-7 * scale)


def test_targets_that_a_few_features_explain(monkeypatch):
    rng = np.random.default_rng(5)
    X = latent(rng)
    Y = X[:, [3, 500]] - X[:, [3, 500]].mean(axis=0)
    found, expected = both(X, Y, 20, monkeypatch, news=NEWS)
    np.testing.assert_array_equal(found.entered, expected.entered)
    np.testing.assert_allclose(found.solution, expected.solution, atol=1e-9)


@pytest.mark.parametrize("scale", [1e-60, 1e60])
def test_the_scale_of_the_table_plays_no_part(scale, monkeypatch):
    rng = np.random.default_rng(8)
    X = latent(rng)
    Y = rng.standard_normal((len(X), 2))
    found, expected = both(scale * X, Y - Y.mean(axis=0), 20, monkeypatch, news=NEWS)
    np.testing.assert_array_equal(found.entered, expected.entered)
    np.testing.assert_allclose(found.sizes, expected.sizes, rtol=1e-7)
    np.testing.assert_array_equal(found.dependent, expected.dependent)


def test_columns_of_unlike_scales(monkeypatch):
    rng = np.random.default_rng(9)
    X = latent(rng) * 10.0 ** rng.uniform(-30, 0, 900)
    Y = rng.standard_normal((len(X), 2))
    found, expected = both(X, Y - Y.mean(axis=0), 20, monkeypatch, news=NEWS)
    assert_same(found, expected, X)


def test_few_features_are_looked_at_where_few_matter(monkeypatch):
    """Else the screen would be of no use: most features are read but now and then."""
    rng = np.random.default_rng(6)
    X = noise(rng, 60, 3000)
    signal = X[:, :10] - X[:, :10].mean(axis=0)
    Y = signal @ rng.standard_normal((10, 2))
    looked_at, n_read = [], []
    settled, known = screen.Screen.is_settled, screen.Screen._set_known

    def counted(self, *options):
        looked_at.append(len(self._active.features))
        return settled(self, *options)

    def read(self, *options):
        n_read.append(1)
        return known(self, *options)

    monkeypatch.setattr(screen.Screen, "is_settled", counted)
    monkeypatch.setattr(screen.Screen, "_set_known", read)
    found, expected = both(X, Y, 9, monkeypatch, news=NEWS)
    assert_same(found, expected, X)
    assert max(looked_at) < 1000
    assert len(n_read) <= 9


def test_long_and_sparse_tables_are_read_whole():
    rng = np.random.default_rng(7)
    assert not screen.is_worth_screening(TableOperator(noise(rng, 900, 40)))
    assert not screen.is_worth_screening(TableOperator(sp.csr_array(noise(rng))))
