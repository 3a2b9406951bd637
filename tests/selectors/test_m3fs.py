"""M3FS: what its solution must satisfy, and what it finds on real data."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from references.margin import labelled_optimum, normalised_gaussian_laplacian
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.preprocessing import minmax_scale

from tamis import M3FS
from tamis.clustering import MaximumMarginClustering
from tamis.graphs import neighbor_graph
from tamis.metrics import clustering_accuracy
from tamis.solvers import margin


def digits(*classes):
    X, y = load_digits(return_X_y=True)
    kept = np.isin(y, classes)
    return X[kept] / 16, y[kept]


def iris_with_noise(seed):
    noise = np.random.default_rng(seed).standard_normal((150, 10))
    return np.hstack([load_iris().data, noise])


def decision(model, X):
    return X @ model.coef_ + model.intercept_


# --- the solution -----------------------------------------------------------------------------


@pytest.mark.parametrize("lam", [0.0, 0.01])
@pytest.mark.parametrize("n_clusters", [2, 3])
def test_the_solution_meets_the_constraints(n_clusters, lam):
    X = minmax_scale(load_wine().data)
    model = M3FS(5, n_clusters=n_clusters, lam=lam, random_state=0).fit(X)
    assert model.sigma_.min() >= 0
    assert model.sigma_.max() <= 1
    np.testing.assert_allclose(model.sigma_.sum(), 5)
    means = decision(model, X).mean(axis=0)
    if n_clusters == 2:
        assert abs(means[0]) <= 0.03 + 1e-6
    else:
        assert np.ptp(means) <= 0.01 + 1e-6
        assert not model.intercept_.any()
    assert (np.linalg.norm(model.coef_[model.sigma_ == 0], axis=1) == 0).all()
    np.testing.assert_array_equal(np.unique(model.labels_), np.arange(n_clusters))
    assert len(model.objective_) == model.n_iter_
    assert model.n_cuts_ >= 1


@pytest.mark.parametrize("n_clusters", [2, 3])
def test_the_objective_is_optimal_for_the_labels_within_epsilon(n_clusters):
    X = minmax_scale(load_wine().data)[::2]
    settings = {"C": 10.0, "lam": 0.005, "epsilon": 0.01, "bandwidth": 0.8}
    model = M3FS(4, n_clusters=n_clusters, tol=0, random_state=0, **settings).fit(X)
    seen = X - X.mean(axis=0) if n_clusters == 2 else X
    wide = np.column_stack([seen, np.ones(len(X))]) if n_clusters == 2 else seen
    H = 2 * model.lam * wide.T @ normalised_gaussian_laplacian(X, 0.8) @ wide

    class Settings:
        C, n_selected, limit = 10.0, 4, 0.03 if n_clusters == 2 else 0.01

    expected = labelled_optimum(seen, model.labels_, Settings, H)
    assert expected * (1 - 1e-5) <= model.objective_[-1] <= expected + 10.0 * 0.01


def test_scores_follow_the_scale_factors_then_the_weights():
    X, _ = digits(1, 7)
    model = M3FS(8, lam=0, random_state=0).fit(X)
    sizes = np.linalg.norm(model.coef_, axis=1)
    order = np.argsort(model.ranking_)
    assert (np.diff(model.sigma_[order]) <= 1e-12).all()
    full = order[model.sigma_[order] == 1]
    assert len(full) >= 2
    assert (np.diff(sizes[full]) <= 1e-12).all()
    assert (model.scores_[full] >= 2).all()
    between = (model.sigma_ > 0) & (model.sigma_ < 1)
    np.testing.assert_allclose(model.scores_[between], 1 + model.sigma_[between])
    outside = model.sigma_ == 0
    assert (model.scores_[outside] <= 1).all()
    varying = outside & (X.std(axis=0) > 0)
    assert len(np.unique(model.scores_[varying])) > varying.sum() // 2
    assert model.get_support().sum() == 8


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("n_clusters", [2, 4])
def test_predict_gives_the_labels_of_the_training_samples(n_clusters, form):
    X, _ = digits(0, 6, 8, 9)
    model = M3FS(20, n_clusters=n_clusters, random_state=0).fit(form(X))
    np.testing.assert_array_equal(model.predict(form(X)), model.labels_)
    np.testing.assert_array_equal(model.predict(form(X)[:5]), model.labels_[:5])


def test_unseen_samples_get_the_right_cluster():
    X, y = digits(2, 7)
    model = M3FS(10, random_state=0).fit(X[::2])
    assert clustering_accuracy(y[1::2], model.predict(X[1::2])) > 0.97
    with pytest.raises(ValueError, match="64"):
        model.predict(X[:, :9])
    with pytest.raises(NotFittedError):
        M3FS().predict(X)


# --- the graph --------------------------------------------------------------------------------


@pytest.mark.parametrize("n_clusters", [2, 3])
def test_the_complete_graph_is_the_precomputed_gaussian_graph(n_clusters):
    X = minmax_scale(load_wine().data)
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    for bandwidth in (0.4, None):
        rho = bandwidth or 0.5 * np.sqrt(squared.mean())
        W = np.exp(-squared / (2 * rho**2))
        np.fill_diagonal(W, 0)
        model = M3FS(4, n_clusters=n_clusters, bandwidth=bandwidth, random_state=0)
        found = model.fit(X).scores_
        expected = model.set_params(affinity=W).fit(X).scores_
        np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_the_neighbour_graph_is_the_precomputed_one():
    X, _ = digits(1, 7)
    knn = M3FS(10, graph="knn", n_neighbors=7, random_state=0).fit(X)
    given = M3FS(10, affinity=neighbor_graph(X, 7), random_state=0).fit(X)
    np.testing.assert_allclose(knn.scores_, given.scores_)


@pytest.mark.parametrize(("n_samples", "graph"), [(3000, "full"), (3001, "knn")])
def test_many_samples_are_joined_to_their_neighbours_only(n_samples, graph):
    rng = np.random.default_rng(0)
    X = rng.random((n_samples, 4)) + (np.arange(n_samples) % 2)[:, None]
    auto = M3FS(2, lam=1e-3, random_state=0).fit(X)
    named = M3FS(2, lam=1e-3, graph=graph, random_state=0).fit(X)
    np.testing.assert_array_equal(auto.scores_, named.scores_)


def test_a_manifold_term_makes_the_function_smoother():
    X, y = digits(2, 7)
    graph = neighbor_graph(X, 5)
    degree = np.asarray(graph.sum(axis=1)).ravel()
    edges = sp.coo_array(graph)
    left, right = edges.coords

    def roughness(lam):
        model = M3FS(10, lam=lam, affinity=graph, init=y == 7).fit(X)
        g = decision(model, X)[:, 0] / np.sqrt(degree)
        return (edges.data * (g[left] - g[right]) ** 2).sum()

    assert roughness(0.1) < 0.75 * roughness(0.01) < 0.75 * roughness(0.0)


# --- real data --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
def test_the_noise_added_to_iris_gets_no_weight(seed):
    """Figure 1: all four real features outrank all ten of noise, with two clusters."""
    model = M3FS(4, n_clusters=2, C=0.3, lam=0, random_state=0).fit(iris_with_noise(seed))
    assert sorted(model.ranking_[:4]) == [1, 2, 3, 4]
    assert (model.sigma_[4:] == 0).all()


@pytest.mark.parametrize(("classes", "least"), [((1, 7), 0.99), ((2, 7), 0.99)])
@pytest.mark.parametrize("lam", [0.0, 0.01])
def test_digits_are_told_apart_by_ten_pixels(classes, least, lam):
    """Table 2."""
    X, y = digits(*classes)
    model = M3FS(10, lam=lam, random_state=0).fit(X)
    assert clustering_accuracy(y, model.labels_) >= least


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_digits])
@pytest.mark.parametrize("n_clusters", [2, 3])
def test_clusters_do_not_collapse_with_the_defaults(load, n_clusters):
    X = minmax_scale(load().data)[::2]
    labels = M3FS(n_clusters=n_clusters, random_state=0).fit(X).labels_
    assert np.bincount(labels).max() <= 0.8 * len(X)


@pytest.mark.parametrize("lam", [0.0, 0.01])
@pytest.mark.parametrize("half", [slice(0, None, 2), slice(1, None, 2), slice(None)])
@pytest.mark.parametrize(("load", "n_clusters"), [(load_iris, 3), (load_wine, 4)])
def test_no_cluster_is_empty_with_the_defaults(load, n_clusters, half, lam):
    """Labellings with fewer clusters, which have a lower objective, lie on the way."""
    X = minmax_scale(load().data)[half]
    labels = M3FS(n_clusters=n_clusters, lam=lam, random_state=0).fit(X).labels_
    assert np.bincount(labels, minlength=n_clusters).min() > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Ionosphere", "Sonar", "Satellite", "Letter", "USPS", "colon"])
@pytest.mark.parametrize("n_clusters", [2, 3])
def test_clusters_of_benchmark_sets_do_not_collapse(name, n_clusters, benchmark_set):
    X, _ = benchmark_set(name)
    rng = np.random.default_rng(0)
    X = minmax_scale(X[rng.permutation(len(X))[:200]][:, :200])
    labels = M3FS(0.3, n_clusters=n_clusters, random_state=0).fit(X).labels_
    assert np.bincount(labels).max() <= 0.8 * len(X)


# --- parameters -------------------------------------------------------------------------------


def test_another_number_of_features_needs_another_fit():
    X = minmax_scale(load_wine().data)
    model = M3FS(4, random_state=0).fit(X)
    assert model.transform(X).shape == (178, 4)
    model.set_params(n_features_to_select=4 / 13)  # the same number
    assert model.get_support().sum() == 4
    model.set_params(n_features_to_select=5)
    for ask in (model.get_support, lambda: model.transform(X), model.get_feature_names_out):
        with pytest.raises(ValueError, match=r"fitted for 4 features.* asks for 5.* fit again"):
            ask()
    assert model.fit(X).get_support().sum() == 5


def test_columns_of_very_different_scale_are_warned_of():
    X = minmax_scale(load_wine().data)
    X[:, 3] *= 1e4
    with pytest.warns(UserWarning, match="deviation of column 3 is 8e.03 times .*MinMaxScaler"):
        M3FS(random_state=0).fit(X)
    X[:, 3] *= 1e-8  # a column that hardly varies rules nothing
    M3FS(random_state=0).fit(X)


def test_labels_to_start_from():
    X, y = digits(1, 2, 7, 9)
    start = np.unique(y, return_inverse=True)[1]
    model = M3FS(20, n_clusters=4, lam=0, init=start).fit(X)
    assert clustering_accuracy(y, model.labels_) > 0.94
    for bad in (start + 1, start[:-1], start - 0.5):
        with pytest.raises(ValueError, match="init must hold a label from 0 to 3"):
            M3FS(20, n_clusters=4, init=bad).fit(X)


def test_the_order_of_the_paper_solves_two_clusters():
    X, y = digits(1, 7)
    model = M3FS(10, lam=0, order="cuts", random_state=0).fit(X)
    assert clustering_accuracy(y, model.labels_) > 0.99


@pytest.mark.filterwarnings("ignore:.*the same score")
def test_one_cluster_has_no_margin():
    model = M3FS(2, n_clusters=1).fit(load_iris().data)
    assert not model.scores_.any()
    assert not model.labels_.any()


def test_too_few_labellings_are_warned_of():
    X = minmax_scale(load_digits().data)[:200]
    with pytest.warns(ConvergenceWarning, match="max_iter=1 labellings; raise max_iter, or tol"):
        M3FS(20, n_clusters=5, max_iter=1, init=np.arange(200) % 5).fit(X)


@pytest.mark.parametrize("estimator", [M3FS(), MaximumMarginClustering()], ids=["M3FS", "MMC"])
def test_a_solver_that_stalls_is_warned_of_with_the_advice_to_rescale(estimator, monkeypatch):
    monkeypatch.setattr(margin, "solve_inner", partial(margin.solve_inner, max_iter=1))
    with pytest.warns(ConvergenceWarning) as caught:
        estimator.set_params(epsilon=1e-4, random_state=0).fit(minmax_scale(load_wine().data))
    message = str(caught[0].message)
    assert "scale the columns" in message
    assert "max_iter" not in message


def test_too_few_cuts_are_warned_of(monkeypatch):
    monkeypatch.setattr(margin, "MOST_CUTS", 2)
    with pytest.warns(ConvergenceWarning, match="with 2 cuts; raise epsilon, or lower C"):
        M3FS(epsilon=1e-4, random_state=0).fit(minmax_scale(load_wine().data))


def test_all_features_is_maximum_margin_clustering():
    X = minmax_scale(load_wine().data)
    model = M3FS(1.0, lam=0, random_state=0).fit(X)
    np.testing.assert_array_equal(model.sigma_, 1)
    reference = MaximumMarginClustering(random_state=0).fit(X)
    np.testing.assert_array_equal(model.labels_, reference.labels_)
    np.testing.assert_allclose(model.coef_, reference.coef_)
    np.testing.assert_allclose(model.objective_, reference.objective_)


@pytest.mark.slow
def test_sparse_tables_are_not_densified():
    rng = np.random.default_rng(0)
    X = sp.random_array((300, 4000), density=0.01, rng=rng, format="csr")
    X = X + sp.csr_array((np.arange(300) % 2)[:, None] * (np.arange(4000) < 20) * 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = M3FS(20, lam=1e-3, random_state=0).fit(sp.csr_array(X))
    assert (np.flatnonzero(model.get_support()) < 20).all()


# --- clusters that would stay empty -----------------------------------------------------------


@pytest.mark.parametrize("C", [0.01, 0.1, 0.3])
@pytest.mark.parametrize("n_clusters", [2, 3])
def test_wide_margins_keep_all_clusters(n_clusters, C):
    X = minmax_scale(load_iris().data)
    model = M3FS(2, n_clusters=n_clusters, C=C, random_state=0).fit(X)  # a warning is an error
    assert (np.bincount(model.labels_, minlength=n_clusters) > 0).all()


def test_a_cluster_that_stays_empty_is_told_with_the_counts():
    X = minmax_scale(load_iris().data)
    with pytest.warns(
        UserWarning, match=r"M3FS found 3 of n_clusters=4.*sizes: (.*)\).*raise C"
    ) as w:
        model = M3FS(2, n_clusters=4, random_state=0).fit(X)
    sizes = np.bincount(model.labels_)
    assert (sizes > 0).sum() == 3
    assert f"(sizes: {', '.join(map(str, sizes))})" in str(w[0].message)
