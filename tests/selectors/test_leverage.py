"""Leverage scores against a singular value decomposition."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from references.scores import principal_components
from references.tables import three_levels as table
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from tamis import LeverageScore

FORMS = [np.asarray, sp.csr_array]
SHAPES = {"more samples": (60, 15), "more features": (25, 50)}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("n_components", [1, 3, 12])
def test_random_tables_have_the_scores_of_the_equation(n_components, shape, form):
    X = table(*shape)
    model = LeverageScore(n_components=n_components).fit(form(X))
    variances, directions = principal_components(X, n_components)
    expected = [sum(v**2 for v in row) / n_components for row in directions]
    np.testing.assert_allclose(model.scores_, expected, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(model.explained_variance_, variances, rtol=1e-8)
    assert model.scores_.sum() == pytest.approx(1)


def test_it_is_the_projection_on_the_subspace():
    X = scale(load_wine().data)
    model = LeverageScore(n_components=4).fit(X)
    _, directions = principal_components(X, 4)
    projector = directions @ directions.T
    np.testing.assert_allclose(projector @ projector, projector, atol=1e-12)
    np.testing.assert_allclose(model.leverage_, np.diag(projector) / 4, atol=1e-12)


def test_half_of_the_variance_is_carried_by_default():
    X = scale(load_wine().data)
    variances = principal_components(X, 13)[0]
    needed = 1 + int(np.flatnonzero(np.cumsum(variances) >= variances.sum() / 2)[0])
    assert LeverageScore().fit(X).n_components_ == needed


def test_components_beyond_the_rank_have_no_part():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3)) @ rng.standard_normal((3, 20))
    model = LeverageScore(n_components=10).fit(X)
    assert model.n_components_ == 3
    np.testing.assert_allclose(model.scores_, LeverageScore(n_components=3).fit(X).scores_)


def test_all_components_tell_nothing_and_say_so():
    with pytest.warns(UserWarning, match="same score"):
        LeverageScore(n_components=15).fit(table(60, 15))


def test_draws_have_probabilities_in_proportion_to_leverage():
    X = scale(load_wine().data)
    model = LeverageScore(1, n_components=2, sample=True)
    first = [model.set_params(random_state=seed).fit(X).ranking_.argmin() for seed in range(600)]
    found = np.bincount(first, minlength=13) / 600
    expected = model.leverage_
    assert np.abs(found - expected).max() < 4 * np.sqrt(0.25 / 600)
    assert np.corrcoef(found, expected)[0, 1] > 0.9
    np.testing.assert_allclose(np.sort(model.scores_), np.arange(1, 14) / 13)


def test_a_seed_draws_the_same_again():
    X = table(60, 15)
    model = LeverageScore(5, sample=True, random_state=3)
    np.testing.assert_array_equal(model.fit(X).ranking_, model.fit(X).ranking_)
    other = LeverageScore(5, sample=True, random_state=4).fit(X)
    assert (other.ranking_ != model.ranking_).any()


def test_too_many_components_are_refused():
    with pytest.raises(ValueError, match="n_components=16 is too large"):
        LeverageScore(n_components=16).fit(table(60, 15))


def test_a_real_table_with_few_samples(benchmark_set):
    X, _ = benchmark_set("lung_small")
    model = LeverageScore(30, n_components=5).fit(scale(X))
    _, directions = principal_components(scale(X), 5)
    np.testing.assert_allclose(model.scores_, (directions**2).mean(axis=1), atol=1e-10)
