"""MRSF by its optimality conditions, and by what it promises of the selection."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from references.spectral import generalized_eigenvectors, l21_by_reweighting, row_norms
from references.tables import three_levels
from scipy.optimize import brentq
from sklearn.datasets import load_breast_cancer, load_wine, make_blobs
from sklearn.preprocessing import scale

from tamis import MRSF, LaplacianScore
from tamis.graphs import n_components, neighbor_graph
from tamis.metrics import redundancy

FORMS = [np.asarray, sp.csr_array]
SHAPES = {"more samples": (80, 20), "more features": (30, 60)}


table = partial(three_levels, zeros=0.2)


def gradient(X, model):
    X = X - X.mean(axis=0)
    return 2 * X.T @ (model.embedding_ - X @ model.coef_)


def assert_optimal(X, model, tol=2e-6):
    push = gradient(X, model)
    norms = row_norms(model.coef_)
    support = norms > 0
    direction = model.coef_[support] / norms[support, None]
    misfit = row_norms(push[support] - model.penalty_ * direction)
    assert misfit.max(initial=0) <= tol * model.penalty_
    assert row_norms(push[~support]).max(initial=0) <= (1 + tol) * model.penalty_


# --- the definition ---------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("alpha", [0.01, 0.1, 0.4, 0.8])
def test_the_solution_is_optimal(alpha, shape, form):
    X = table(*shape)
    model = MRSF(n_clusters=4, alpha=alpha).fit(form(X))
    assert_optimal(X, model)
    assert model.optimality_ <= 1e-6
    assert model.n_support_ == np.count_nonzero(model.coef_.any(axis=1)) > 0
    correlation = (X - X.mean(axis=0)).T @ model.embedding_
    assert model.penalty_ == pytest.approx(alpha * 2 * row_norms(correlation).max())
    assert (np.diff(model.objective_) <= 0).all()


def test_the_solution_is_that_of_reweighting_run_to_convergence():
    X = table(80, 12)
    model = MRSF(n_clusters=4, alpha=0.3, tol=1e-8).fit(X)
    expected = l21_by_reweighting(X - X.mean(axis=0), model.embedding_, model.penalty_)
    np.testing.assert_allclose(model.coef_, expected, atol=1e-6 * np.abs(expected).max())


def test_the_embedding_is_that_of_dense_eigenvectors():
    X = table(80, 20)
    graph = neighbor_graph(X, 6)
    assert n_components(graph) == 1
    Y = generalized_eigenvectors(graph.toarray(), 4)[1][:, 1:]
    Y = Y - Y.mean(axis=0)
    Y /= np.linalg.norm(Y, axis=0)
    model = MRSF(n_clusters=4, n_neighbors=6).fit(X)
    assert model.embedding_.shape == (80, 3)
    signs = np.sign(np.einsum("ij,ij->j", Y, model.embedding_))
    np.testing.assert_allclose(model.embedding_, Y * signs, atol=1e-7)


@pytest.mark.parametrize("form", FORMS)
def test_single_precision_is_solved_in_double(form):
    X = table(80, 20).astype(np.float32)
    expected = MRSF().fit(X.astype(np.float64)).scores_
    np.testing.assert_allclose(MRSF().fit(form(X)).scores_, expected, atol=1e-6 * expected.max())


# --- scores -----------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("alpha", [0.3, 0.5, 0.8])
def test_features_outside_the_support_are_ordered_by_their_entry(alpha, shape, form):
    X = table(*shape)
    model = MRSF(n_clusters=4, alpha=alpha, tol=1e-9).fit(form(X))
    support = model.coef_.any(axis=1)
    np.testing.assert_allclose(model.scores_[support], row_norms(model.coef_[support]))
    assert model.scores_[~support].max() < model.scores_[support].min()
    order, levels = order_of_entry(X, model.embedding_, model.coef_, min(shape) - 1)
    assert len(order) > 3
    n_support = model.n_support_
    np.testing.assert_array_equal(np.argsort(model.ranking_)[n_support:][: len(order)], order)
    expected = model.scores_[support].min() * np.array(levels) / (model.penalty_ / 2)
    np.testing.assert_allclose(model.scores_[order], expected, rtol=1e-5)


def order_of_entry(X, Y, W, rank):
    """The features that reach the correlation of the active ones as W goes to least squares."""
    X = X - X.mean(axis=0)
    active = np.flatnonzero(W.any(axis=1)).tolist()
    order, levels = [], []
    residual = Y - X @ W
    while len(active) < min(rank, X.shape[1]):
        level = row_norms(X.T @ residual).max()
        if active:
            move = X[:, active] @ np.linalg.lstsq(X[:, active], residual, rcond=None)[0]

            def excess(share, j, residual=residual, move=move, level=level):
                return np.linalg.norm(X[:, j] @ (residual - share * move)) - (1 - share) * level

            others = [j for j in range(X.shape[1]) if j not in active]
            shares = [brentq(excess, 0, 1, args=(j,), xtol=1e-14) for j in others]
            entering, share = others[int(np.argmin(shares))], min(shares)
            residual = residual - share * move
            level *= 1 - share
        else:
            entering = int(row_norms(X.T @ residual).argmax())
        active.append(entering)
        order.append(entering)
        levels.append(level)
    return order, levels


@pytest.mark.parametrize("form", FORMS)
def test_the_largest_penalty_leaves_nothing_but_ranks_by_entry(form):
    X = table(80, 20)
    model = MRSF(alpha=1.0).fit(form(X))
    assert not model.coef_.any()
    assert model.n_support_ == 0
    order, levels = order_of_entry(X, model.embedding_, model.coef_, 20)
    np.testing.assert_array_equal(np.argsort(model.ranking_), order)
    np.testing.assert_allclose(model.scores_[order], np.array(levels) / levels[0], rtol=1e-6)


@pytest.mark.parametrize("factor", [1e-3, 1e3])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_the_scale_of_the_data_plays_no_part(shape, factor):
    X = table(*shape)
    plain, scaled = MRSF().fit(X), MRSF().fit(factor * X)
    largest = np.abs(plain.coef_).max()
    np.testing.assert_allclose(factor * scaled.coef_, plain.coef_, atol=1e-5 * largest)
    assert scaled.n_support_ == plain.n_support_
    np.testing.assert_array_equal(scaled.ranking_, plain.ranking_)


def test_smaller_penalties_keep_more_rows():
    X = table(80, 20)
    kept = [MRSF(alpha=alpha).fit(X).n_support_ for alpha in (1.0, 0.7, 0.3, 0.1, 0.01)]
    assert kept == sorted(kept)
    assert kept[0] == 0
    assert kept[-1] == 20


@pytest.mark.parametrize("n_clusters", [1, 2])
def test_one_cluster_still_uses_an_eigenvector(n_clusters):
    model = MRSF(n_clusters=n_clusters).fit(table(80, 20))
    assert model.coef_.shape == (20, 1)
    assert model.n_support_ > 0


@pytest.mark.parametrize("form", FORMS)
def test_constant_features_come_last_and_change_nothing(form):
    X = table(80, 10)
    X[:, [3, 7]] = 0.0, 2.0
    model = MRSF().fit(form(X))
    assert set(model.ranking_[[3, 7]]) == {9, 10}
    without = MRSF().fit(form(np.delete(X, [3, 7], axis=1)))
    np.testing.assert_allclose(np.delete(model.scores_, [3, 7]), without.scores_, atol=1e-8)


# --- what it is for ---------------------------------------------------------------------------


def test_planted_features_are_found():
    informative, _ = make_blobs(200, 4, centers=5, cluster_std=1.0, random_state=0)
    noise = np.random.default_rng(0).standard_normal((200, 16))
    model = MRSF(4, n_clusters=5).fit(np.hstack([informative, 0.1 * noise]))
    assert set(np.flatnonzero(model.get_support())) == {0, 1, 2, 3}


@pytest.mark.parametrize("seed", range(3))
def test_copies_are_not_kept_together(seed):
    rng = np.random.default_rng(seed)
    X, _ = make_blobs(150, 5, centers=6, cluster_std=1.5, random_state=seed)
    X = scale(X)
    copies = [X + 0.1 * rng.standard_normal(X.shape) for _ in range(4)]
    X = scale(np.hstack([X, *copies]))
    sparse = MRSF(5, n_clusters=6).fit(X).get_support()
    smooth = LaplacianScore(5).fit(X).get_support()
    assert redundancy(X, sparse) < redundancy(X, smooth)


def values(X, chosen):
    """The chosen columns, whatever their order."""
    return sorted(map(tuple, np.round(X[:, chosen].T, 6)))


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("alpha", [0.02, 0.4, 1.0])
def test_every_column_comes_before_any_copy(alpha, sign):
    X = scale(load_breast_cancer().data)
    model = MRSF(30, alpha=alpha).fit(np.hstack([X, sign * X]))
    assert len(set(model.get_support(indices=True) % 30)) == 30
    assert (model.scores_ > 0).all()
    alone = MRSF(alpha=alpha, affinity=neighbor_graph(X, 5)).fit(X)
    np.testing.assert_array_equal(np.argsort(model.ranking_)[:30] % 30, np.argsort(alone.ranking_))


@pytest.mark.parametrize("n_selected", [10, 25, 35])
def test_the_order_of_the_columns_plays_no_part_among_copies(n_selected):
    X = scale(load_breast_cancer().data)
    X = np.hstack([X, X])
    expected = values(X, MRSF(n_selected).fit(X).get_support())
    for seed in range(3):
        columns = np.random.default_rng(seed).permutation(60)
        found = MRSF(n_selected).fit(X[:, columns]).get_support()
        assert values(X[:, columns], found) == expected


@pytest.mark.parametrize("noise", [1e-7, 1e-6, 1e-5, 1e-4, 1e-3])
@pytest.mark.parametrize("alpha", [0.02, 0.4])
def test_near_copies_are_solved_and_come_last(alpha, noise):
    X = scale(load_breast_cancer().data)
    rng = np.random.default_rng(0)
    X = np.hstack([X, X + noise * rng.standard_normal(X.shape)])
    model = MRSF(30, alpha=alpha).fit(X)  # a warning is an error
    assert model.optimality_ <= 1e-6
    assert_optimal(X, model)
    assert len(set(model.get_support(indices=True) % 30)) >= 29


def test_any_number_of_features_can_be_read_off_one_fit():
    X = scale(load_breast_cancer().data)
    model = MRSF(5).fit(X)
    for n_selected in (2, 10, 20, 30):
        model.set_params(n_features_to_select=n_selected)
        refitted = MRSF(n_selected).fit(X)
        np.testing.assert_array_equal(model.get_support(), refitted.get_support())


def test_a_disconnected_graph_is_no_obstacle():
    X, y = make_blobs([40, 30, 20], 5, random_state=0, cluster_std=0.1)
    model = MRSF(n_clusters=3).fit(X)
    for label in range(3):
        np.testing.assert_allclose(np.ptp(model.embedding_[y == label], axis=0), 0, atol=1e-10)
    assert_optimal(X, model)


def test_too_few_epochs_warn():
    with pytest.warns(UserWarning, match="did not converge in max_iter=1"):
        MRSF(alpha=0.001, max_iter=1, tol=1e-12).fit(scale(load_wine().data))


# --- real tables ------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ["UMIST", "Isolet"])
@pytest.mark.parametrize("alpha", [0.05, 0.4])
def test_large_real_tables_are_solved(benchmark_set, name, alpha):
    X, _ = benchmark_set(name)
    model = MRSF(alpha=alpha).fit(X)
    assert_optimal(X, model)
    assert (np.diff(model.objective_) <= 0).all()


@pytest.mark.filterwarnings("ignore:.* takes neighbours by their angles")
@pytest.mark.slow
def test_words_that_occur_together_have_no_scores_of_rounding(benchmark_set):
    X, _ = benchmark_set("BASEHOCK")
    model = MRSF(50).fit(scale(X))
    by_rank = -np.sort(-model.scores_)
    assert by_rank[49] > 1e-6 * by_rank[0]
    assert (np.diff(by_rank[:50]) < 0).all()


@pytest.mark.filterwarnings("ignore:.* reads a graph in which one sample")
@pytest.mark.parametrize("name", ["MouseBladder_sc", "News20"])
@pytest.mark.parametrize("n_features", [100, 500])
def test_sparse_and_dense_real_tables_have_the_same_scores(fullest_columns, name, n_features):
    X = fullest_columns(name, n_features)
    sparse, dense = MRSF().fit(X), MRSF().fit(X.toarray())
    np.testing.assert_allclose(sparse.scores_, dense.scores_, atol=1e-8 * dense.scores_.max())
