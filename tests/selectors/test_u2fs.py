"""U2FS: each elimination against new fits without each column, and what leaves last."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from references.regression import backward_elimination as naive_elimination
from references.tables import planted_groups
from references.tables import three_levels as table
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from tamis import U2FS
from tamis.graphs import neighbor_graph, spectral_embedding
from tamis.solvers import backward_elimination as engine
from tamis.utils.columns import centred_unit_columns

FORMS = [np.asarray, sp.csr_array]
SHAPES = {"more samples": (40, 12), "more features": (12, 25)}


@pytest.mark.parametrize("filled", [0, 1])
@pytest.mark.parametrize("together", [1, 5, 128])
@pytest.mark.parametrize("refresh", [3, 200])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("ridge", [1e-3, 0.1])
def test_features_leave_in_the_order_of_new_fits(
    monkeypatch, ridge, shape, form, refresh, together, filled
):
    monkeypatch.setattr(engine, "TOGETHER", together)
    monkeypatch.setattr(engine, "REFRESH", refresh)
    monkeypatch.setattr(engine, "FILLED", filled)
    X = table(*shape)
    model = U2FS(n_clusters=2, ridge=ridge).fit(form(X))
    Y = centred_unit_columns(spectral_embedding(neighbor_graph(X, 5), 2)[1])
    np.testing.assert_allclose(model.embedding_, Y, atol=1e-8)
    centred = X - X.mean(axis=0)
    centred *= np.sqrt(shape[1]) / np.linalg.norm(centred)
    order, costs = naive_elimination(centred, Y, ridge)
    np.testing.assert_array_equal(np.argsort(model.scores_), order)
    np.testing.assert_allclose(model.utility_[order], costs, rtol=1e-5, atol=1e-9)


def test_the_costs_add_up_to_the_whole_fit():
    X = scale(load_wine().data)
    model = U2FS(n_clusters=3).fit(X)
    fit = X / np.linalg.norm(X) * np.sqrt(X.shape[1])
    Y = model.embedding_
    W = np.linalg.solve(fit.T @ fit + 0.01 * np.eye(13), fit.T @ Y)
    misfit = np.linalg.norm(fit @ W - Y) ** 2 + 0.01 * np.linalg.norm(W) ** 2
    assert model.utility_.sum() == pytest.approx(np.linalg.norm(Y) ** 2 - misfit)


def test_the_columns_of_planted_groups_come_first():
    X, _ = planted_groups()
    model = U2FS(6, n_clusters=2).fit(scale(X))
    assert model.get_support(indices=True).tolist() == [0, 1, 2, 3, 4, 5]


def test_of_equal_columns_one_leaves_before_all_that_tell_something():
    X = scale(load_wine().data)
    model = U2FS(n_clusters=2, ridge=1e-8).fit(np.hstack([X, X[:, :3]]))
    assert set(np.argsort(model.scores_)[:3]) == {13, 14, 15}


@pytest.mark.parametrize("factor", [1e-20, 1e20])
def test_the_unit_plays_no_part(factor):
    X = table(40, 12)
    np.testing.assert_array_equal(U2FS().fit(factor * X).ranking_, U2FS().fit(X).ranking_)


def test_tables_that_are_large_on_both_sides_are_refused(monkeypatch):
    monkeypatch.setattr(engine, "SIDE_MAX", 10)
    with pytest.raises(ValueError, match=r"smaller side exceeds 10.*use MCFS or MRSF"):
        U2FS().fit(table(30, 20))


@pytest.mark.slow
def test_a_real_table_with_few_samples(benchmark_set):
    X, _ = benchmark_set("lung_small")
    model = U2FS(30).fit(scale(X))
    assert model.utility_.min() >= -1e-9
    assert sorted(model.ranking_) == list(range(1, X.shape[1] + 1))
