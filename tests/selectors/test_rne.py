"""RNE: the objective of the definition, its descent, and the problem that it relaxes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from references.spectral import rne_objective
from references.tables import planted_groups
from references.tables import three_levels as table
from sklearn.preprocessing import scale

from tamis import RNE
from tamis.graphs import lle_weights, neighbor_graph
from tamis.solvers.nonnegative_factor import EntryLoss
from tamis.solvers.table_operator import TableOperator

FORMS = [np.asarray, sp.csr_array]
SHAPES = {"more samples": (40, 12), "more features": (20, 40)}


def rebuilt(X):
    S = lle_weights(X, 5).toarray()
    return S, np.abs(X - S @ X).sum(axis=0)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_the_objective_is_that_of_the_definition_and_never_rises(shape, form):
    X = table(*shape)
    model = RNE(n_components=3, max_iter=4, tol=0).fit(form(X))
    S, errors = rebuilt(X)
    unit = errors.mean()
    smoothing = 1e-4 / len(X) ** 2
    expected = rne_objective(X / unit, S, model.coef_, 10, smoothing)
    assert model.objective_[-1] == pytest.approx(expected, rel=1e-9)
    assert (np.diff(model.objective_) <= 1e-9 * model.objective_[0]).all()
    chosen = np.zeros_like(model.coef_)
    chosen[np.argsort(errors)[:3], range(3)] = 1
    assert model.objective_[0] < rne_objective(X / unit, S, chosen, 10, smoothing)
    assert model.coef_.min() >= 0
    np.testing.assert_allclose(model.errors_, errors / len(X), rtol=1e-9)


def test_no_feasible_direction_descends_at_the_end():
    X = table(40, 12)
    model = RNE(n_components=3, tol=1e-10, max_iter=300).fit(X)
    S, errors = rebuilt(X)

    def value(H):
        return rne_objective(X / errors.mean(), S, H, 10, 1e-4 / len(X) ** 2)

    rng = np.random.default_rng(0)
    here = value(model.coef_)
    for _ in range(200):
        step = 1e-4 * rng.standard_normal(model.coef_.shape)
        assert value(np.maximum(model.coef_ + step, 0)) > here - 1e-9


@pytest.mark.parametrize("form", FORMS)
def test_the_slope_of_the_loss_is_that_of_its_values(form):
    X = table(20, 7)
    R = sp.eye_array(20) - lle_weights(X, 5)
    loss = EntryLoss(sp.csr_array(R), TableOperator.centred(form(X)), 1e-3)
    U = np.random.default_rng(0).random((7, 2))
    _, slope = loss.value_and_gradient(U)
    for i, j in np.ndindex(7, 2):
        step = np.zeros_like(U)
        step[i, j] = 1e-6
        rise = loss.value_and_gradient(U + step)[0] - loss.value_and_gradient(U - step)[0]
        assert rise / 2e-6 == pytest.approx(slope[i, j], abs=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_without_groups_the_smallest_errors_come_first(form):
    X = table(40, 12)
    model = RNE(n_components=None).fit(form(X))
    _, errors = rebuilt(X)
    np.testing.assert_array_equal(np.argsort(model.ranking_), np.argsort(errors))
    assert model.coef_.shape == (12, 0)
    assert len(model.objective_) == 0


def test_a_given_graph_rebuilds_by_means():
    X = table(30, 6)
    graph = neighbor_graph(X, 4)
    model = RNE(n_components=None, affinity=graph).fit(X)
    S = graph.toarray() / graph.toarray().sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.errors_, np.abs(X - S @ X).mean(axis=0), rtol=1e-9)


def test_columns_that_neighbours_share_come_before_noise():
    X, _ = planted_groups()
    model = RNE(6, n_components=None).fit(scale(X))
    assert model.get_support(indices=True).tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("n_components", [None, 3])
def test_the_unit_plays_no_part(n_components):
    X = table(40, 12)
    plain, scaled = RNE(n_components=n_components).fit(X), RNE(n_components=n_components).fit(8 * X)
    np.testing.assert_allclose(scaled.scores_, plain.scores_, atol=1e-6 * plain.scores_.max())


def test_too_few_rounds_are_told():
    with pytest.warns(UserWarning, match="did not converge in max_iter=1"):
        RNE(max_iter=1).fit(table(40, 12))


@pytest.mark.slow
def test_a_real_table_with_few_samples(benchmark_set):
    X, _ = benchmark_set("lung_small")
    model = RNE(30, max_iter=5, tol=0).fit(scale(X))
    assert (np.diff(model.objective_) <= 1e-9 * model.objective_[0]).all()
