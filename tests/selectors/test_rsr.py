"""RSR against Algorithm 1 of its paper, and against the optimality conditions of its problem."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from references.regression import rsr_objective, rsr_path
from references.tables import planted_groups
from references.tables import three_levels as table
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import scale

from tamis import RSR
from tamis.solvers import self_representation
from tamis.solvers.row_norms import row_norms

FORMS = [np.asarray, sp.csr_array]
SHAPES = {"more samples": (60, 15), "more features": (25, 50)}


def smoothing_of(X):
    """ζ of the loss: a hundredth of the mean row, squared."""
    return (row_norms(X).mean() / 100) ** 2


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("accelerated", [False, True])
def test_random_tables_have_the_path_of_algorithm_1(monkeypatch, accelerated, alpha, shape, form):
    if not accelerated:
        monkeypatch.setattr(self_representation, "momentum_share", lambda inertia: 0)
    X = table(*shape)
    centred = X - X.mean(axis=0)
    model = RSR(alpha=alpha, max_iter=12, tol=0).fit(form(X))
    smoothing = smoothing_of(centred)
    W, objective = rsr_path(centred, model.penalty_, 12, smoothing, accelerated=accelerated)
    np.testing.assert_allclose(model.objective_, objective, rtol=1e-8)
    np.testing.assert_allclose(model.scores_, row_norms(W), atol=1e-6 * row_norms(W).max())


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_momentum_takes_fewer_steps_to_an_objective_that_is_no_higher(monkeypatch, shape):
    X = table(*shape)
    fast = RSR().fit(X)
    monkeypatch.setattr(self_representation, "momentum_share", lambda inertia: 0)
    plain = RSR().fit(X)
    assert fast.n_iter_ < plain.n_iter_
    assert fast.objective_[-1] <= plain.objective_[-1] * (1 + 1e-6)
    assert (np.diff(fast.objective_) <= 0).all()


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_the_optimum_has_no_slope(load):
    X = scale(load().data)
    model = RSR(alpha=0.6, tol=1e-13, max_iter=5000).fit(X)
    W, _ = rsr_path(X, model.penalty_, model.n_iter_, smoothing_of(X))
    weights = 1 / np.sqrt(row_norms(X - X @ W) ** 2 + smoothing_of(X))
    pull = X.T @ (weights[:, None] * (X - X @ W))
    norms = row_norms(W)
    support = norms > 1e-4
    assert support.any()
    slope = pull[support] - model.penalty_ * W[support] / norms[support, None]
    assert row_norms(slope).max() < 1e-3 * model.penalty_
    assert row_norms(pull[~support]).max(initial=0) <= model.penalty_ * (1 + 1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_the_problem_is_convex_so_that_no_other_w_is_better(shape):
    X = table(*shape)
    X = X - X.mean(axis=0)
    model = RSR(alpha=0.5, tol=1e-12, max_iter=3000).fit(X)
    rng = np.random.default_rng(0)
    W, _ = rsr_path(X, model.penalty_, 300, smoothing_of(X))
    for size in (1e-3, 1e-2, 0.1, 1):
        other = W + size * rng.standard_normal(W.shape)
        value = rsr_objective(X, other, model.penalty_, smoothing_of(X))
        assert model.objective_[-1] <= value
    identity = rsr_objective(X, np.eye(shape[1]), model.penalty_, smoothing_of(X))
    assert model.objective_[-1] <= identity


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_the_largest_penalty_is_the_one_that_empties_w(shape):
    X = table(*shape)
    above, below = (RSR(alpha=alpha, max_iter=1000, tol=0).fit(X) for alpha in (1.0, 0.9))
    assert above.scores_.max() < 0.05 < below.scores_.max()


@pytest.mark.parametrize("factor", [1e-20, 1e20])
def test_the_ranking_does_not_depend_on_the_unit(factor):
    X = table(60, 15)
    plain, scaled = RSR().fit(X), RSR().fit(factor * X)
    np.testing.assert_allclose(scaled.scores_, plain.scores_, rtol=1e-6)


def test_columns_that_others_rebuild_come_first_at_a_high_penalty_and_last_at_a_low_one():
    X, _ = planted_groups()
    high = RSR(n_features_to_select=6, alpha=0.8).fit(scale(X))
    low = RSR(n_features_to_select=6, alpha=0.2).fit(scale(X))
    assert high.get_support(indices=True).tolist() == [0, 1, 2, 3, 4, 5]
    assert set(range(6)) == set(np.argsort(low.ranking_)[-6:])


def test_tables_that_are_large_on_both_sides_are_refused(monkeypatch):
    monkeypatch.setattr(self_representation, "SIDE_MAX", 10)
    with pytest.raises(ValueError, match=r"smaller side exceeds 10.*use ColumnSubset"):
        RSR().fit(table(30, 20))


@pytest.mark.parametrize("form", FORMS)
def test_too_few_steps_warn(form):
    with pytest.warns(UserWarning, match="did not converge in max_iter=2"):
        RSR(max_iter=2, tol=1e-12).fit(form(table(60, 15)))


@pytest.mark.slow
def test_a_real_table_with_few_samples(benchmark_set):
    X, _ = benchmark_set("lung_small")
    model = RSR(n_features_to_select=30).fit(scale(X))
    assert (np.diff(model.objective_) <= 1e-9 * model.objective_[0]).all()
    assert model.solver_.startswith("reweighting by a system of the samples")
