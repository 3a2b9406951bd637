"""The weighted ridge regression: every way to solve it gives what its definition does."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from tamis.solvers import weighted_ridge
from tamis.solvers.table_operator import TableOperator
from tamis.solvers.weighted_ridge import WeightedRidge

FORMS = [np.asarray, sp.csr_array]


@pytest.fixture(autouse=True)
def _small_tables_count(monkeypatch):
    """The tables here are smaller than those that a split pays for."""
    monkeypatch.setattr(weighted_ridge, "SAMPLES_PER_TARGET", 1)


def problem(n_samples=40, n_features=300, n_heavy=12, light=1e-8):
    """A wide table, targets, and weights of which few are not negligible."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_samples, n_features)) * (rng.random((n_samples, n_features)) < 0.4)
    weights = np.full(n_features, light)
    weights[rng.permutation(n_features)[:n_heavy]] = 10.0 ** rng.uniform(-1, 3, n_heavy)
    return X, rng.standard_normal((n_samples, 3)), weights


def by_definition(X, weights, Y):
    """The solution through the samples, where a tiny weight loses nothing."""
    S = np.linalg.solve(np.eye(len(X)) + (X * weights) @ X.T, Y)
    return weights[:, None] * (X.T @ S)


def solved(table, weights, Y, start):
    correlation, left = table.transposed_times(Y), Y - table.times(start)
    return WeightedRidge(table).solve(weights, Y, correlation, start, left)


def ways_taken(monkeypatch):
    """Names of the methods that `WeightedRidge` goes through, as they are called."""
    taken = []
    for name in ("_by_features", "_by_heavy_features", "_by_products"):
        original = getattr(WeightedRidge, name)

        def spy(self, *arguments, _original=original, _name=name):
            taken.append(_name)
            return _original(self, *arguments)

        monkeypatch.setattr(WeightedRidge, name, spy)
    return taken


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("light", [1e-14, 1e-8, 1e-6])
def test_few_heavy_features_alone_are_factorized(form, light, monkeypatch):
    taken = ways_taken(monkeypatch)
    X, Y, weights = problem(light=light)
    found = solved(TableOperator(form(X)), weights, Y, np.zeros((300, 3)))
    assert taken == ["_by_heavy_features"]
    expected = by_definition(X, weights, Y)
    # Rows of light features, too, are right to many digits.
    np.testing.assert_allclose(found / weights[:, None], expected / weights[:, None], rtol=1e-7)


@pytest.mark.parametrize("form", FORMS)
def test_a_centred_table_is_solved_as_such(form, monkeypatch):
    taken = ways_taken(monkeypatch)
    X, Y, weights = problem()
    found = solved(TableOperator.centred(form(X + 3.0 * (X != 0))), weights, Y, np.ones((300, 3)))
    assert taken == ["_by_heavy_features"]
    shifted = X + 3.0 * (X != 0)
    expected = by_definition(shifted - shifted.mean(axis=0), weights, Y)
    np.testing.assert_allclose(found, expected, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("start", ["zero", "solution", "far"])
def test_the_start_does_not_matter(start):
    X, Y, weights = problem()
    expected = by_definition(X, weights, Y)
    first = {"zero": 0 * expected, "solution": expected, "far": expected + 100 * weights[:, None]}
    found = solved(TableOperator(X), weights, Y, first[start])
    np.testing.assert_allclose(found, expected, atol=1e-9 * np.abs(expected).max())


def test_a_target_of_zeros_has_a_solution_of_zeros():
    X, Y, weights = problem()
    Y[:, 1] = 0
    found = solved(TableOperator(X), weights, Y, np.zeros((300, 3)))
    assert not found[:, 1].any()
    np.testing.assert_allclose(found, by_definition(X, weights, Y), atol=1e-9)


@pytest.mark.parametrize("n_heavy", [41, 76, 300])
def test_many_heavy_features_take_the_whole_system(n_heavy, monkeypatch):
    taken = ways_taken(monkeypatch)
    X, Y, weights = problem(n_heavy=n_heavy)
    found = solved(TableOperator(X), weights, Y, np.zeros((300, 3)))
    assert taken == []
    expected = by_definition(X, weights, Y)
    np.testing.assert_allclose(found, expected, atol=1e-9 * np.abs(expected).max())


def test_few_samples_take_the_whole_system(monkeypatch):
    monkeypatch.setattr(weighted_ridge, "SAMPLES_PER_TARGET", 14)  # 40 samples, three targets
    taken = ways_taken(monkeypatch)
    X, Y, weights = problem()
    found = solved(TableOperator(X), weights, Y, np.zeros((300, 3)))
    assert taken == []
    np.testing.assert_allclose(found, by_definition(X, weights, Y), atol=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_more_samples_than_features_are_solved_by_features(form, monkeypatch):
    taken = ways_taken(monkeypatch)
    X, Y, weights = problem(n_samples=350)
    found = solved(TableOperator(form(X)), weights, Y, np.zeros((300, 3)))
    assert taken == ["_by_features"]
    np.testing.assert_allclose(found, by_definition(X, weights, Y), atol=1e-10)


@pytest.mark.parametrize("form", FORMS)
def test_two_long_sides_are_solved_by_products(form, monkeypatch):
    monkeypatch.setattr(weighted_ridge, "SIDE_MAX", 10)
    taken = ways_taken(monkeypatch)
    X, Y, weights = problem()
    found = solved(TableOperator(form(X)), weights, Y, np.zeros((300, 3)))
    assert taken == ["_by_products"]
    expected = by_definition(X, weights, Y)
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())


def test_equal_columns_have_equal_rows():
    X, Y, weights = problem()
    X[:, 7], weights[7] = X[:, 200], weights[200]
    found = solved(TableOperator(X), weights, Y, np.zeros((300, 3)))
    np.testing.assert_allclose(found[7], found[200], rtol=1e-12)


@pytest.mark.parametrize("shape", [(40, 12), (12, 40)])
def test_a_system_in_which_rounding_hides_the_identity_is_solved(shape):
    rng = np.random.default_rng(0)
    X = 1e6 + rng.standard_normal(shape)
    Y = rng.standard_normal((shape[0], 2))
    e = np.full(shape[1], 1e6)
    found = solved(TableOperator(X), e, Y, np.zeros((shape[1], 2)))
    assert np.isfinite(found).all()
    assert np.linalg.norm(X @ found - Y) <= np.linalg.norm(Y)
