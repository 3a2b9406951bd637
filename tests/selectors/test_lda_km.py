"""LDA-Km with the l2,1 term against its equations."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from references.discriminant import (
    lda_km_path,
    never_rises,
    normalised,
    row_norms,
    scatters,
    whole_path,
)
from references.memory import with_peak_memory
from references.tables import clusters_in_noise as table
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.preprocessing import scale

from tamis import LDAKM
from tamis.clustering import kmeans
from tamis.solvers import ratio_trace
from tamis.solvers.ratio_trace import scatter_root
from tamis.solvers.table_operator import TableOperator

SHAPES = {"more samples": (60, 25), "more features": (25, 60)}


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize(("gamma", "ridge"), [(1e-3, 1.0), (0.3, 1.0), (0.1, 0.01)])
def test_a_round_has_the_path_of_the_equations(gamma, ridge, shape, form):
    X = table(*shape)
    labels = kmeans(X, 4, random_state=np.random.RandomState(0)).labels
    model = LDAKM(n_clusters=4, gamma=gamma, ridge=ridge, max_iter=1, max_inner=12, tol=0)
    model.set_params(random_state=0).fit(form(X))
    Z = normalised(X, np.sqrt(X.shape[1]))
    W, objective = lda_km_path(Z, labels, gamma, ridge, 3, 12)
    np.testing.assert_allclose(whole_path(model), objective, rtol=1e-7)
    np.testing.assert_allclose(model.scores_, row_norms(W), atol=1e-5 * row_norms(W).max())
    np.testing.assert_array_equal(model.labels_, labels)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("gamma", [1e-3, 0.1, 1.0])
def test_the_result_is_feasible_stationary_and_a_fixed_point(gamma, shape):
    X = table(*shape)
    model = LDAKM(n_clusters=4, gamma=gamma, tol=1e-12, max_inner=5000, random_state=0).fit(X)
    Z, W = normalised(X, np.sqrt(X.shape[1])), model.coef_
    total, within = scatters(Z, model.labels_)
    eye = model.ridge * np.eye(len(total))
    np.testing.assert_allclose(W.T @ (total + eye) @ W, np.eye(3), atol=1e-7)
    assert np.trace(W.T @ (within + eye) @ W) / 3 == pytest.approx(model.ratio_, abs=1e-9)
    norms = np.sqrt(row_norms(W) ** 2 + 1e-10 / model.ridge)
    gradient = (within + eye) @ W + gamma * W / (2 * norms[:, None])
    along = gradient - (total + eye) @ W @ (W.T @ gradient)
    assert np.linalg.norm(along) < 1e-3 * np.linalg.norm(gradient)
    projected = Z @ W
    means = np.array([projected[model.labels_ == j].mean(axis=0) for j in range(4)])
    distances = ((projected[:, None] - means) ** 2).sum(axis=2)
    np.testing.assert_array_equal(distances.argmin(axis=1), model.labels_)


def test_without_a_penalty_the_projection_is_that_of_discriminant_analysis():
    X = scale(load_wine().data)
    model = LDAKM(n_clusters=3, gamma=1e-9, ridge=1e-9, random_state=0).fit(X)
    lda = LinearDiscriminantAnalysis(solver="eigen").fit(X, model.labels_)
    ours, theirs = X @ model.coef_, X @ lda.scalings_[:, :2]
    ours, theirs = (np.linalg.qr(Y - Y.mean(axis=0))[0] for Y in (ours, theirs))
    np.testing.assert_allclose(np.linalg.svd(ours.T @ theirs)[1], 1, atol=1e-5)


@pytest.mark.parametrize("gamma", [1e-3, 0.1, 1.0])
@pytest.mark.parametrize("load", [load_breast_cancer, load_wine, load_digits])
def test_the_objective_never_rises_on_bundled_sets(load, gamma):
    for values in (load().data, scale(load().data)):
        model = LDAKM(n_clusters=3, gamma=gamma, tol=1e-4, random_state=0).fit(values)
        assert never_rises(whole_path(model))


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    gamma=st.floats(1e-4, 3),
    ridge=st.floats(1e-3, 10),
    n_samples=st.integers(8, 40),
    n_features=st.integers(3, 40),
)
def test_the_objective_never_rises(seed, gamma, ridge, n_samples, n_features):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_features)) * 10 ** rng.uniform(-2, 2, n_features)
    model = LDAKM(
        n_clusters=4, gamma=gamma, ridge=ridge, max_inner=20, max_iter=6, tol=0, random_state=0
    ).fit(X)
    assert never_rises(whole_path(model))


def test_informative_columns_come_first():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 30))
    X[:, [3, 11, 19]] += 6 * np.eye(3)[np.arange(120) % 3]
    model = LDAKM(n_features_to_select=3, n_clusters=3, random_state=0).fit(X)
    assert set(np.flatnonzero(model.get_support())) == {3, 11, 19}


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("shape", [(30, 12), (12, 30), (12, 20), (10, 10)])
def test_the_root_is_the_root(shape, form):
    X = table(*shape)
    root = scatter_root(TableOperator.centred(form(X)), 0.3)
    R = root(np.eye(shape[1]))
    Z = X - X.mean(axis=0)
    np.testing.assert_allclose(R @ R, Z.T @ Z + 0.3 * np.eye(shape[1]), atol=1e-9)
    np.testing.assert_allclose(R[:, 0], root(np.eye(shape[1])[:, 0]), atol=1e-12)


def test_a_table_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(ratio_trace, "SIDE_MAX", 20)
    with pytest.raises(ValueError, match=r"\(60, 25\).*use TRACK"):
        LDAKM(random_state=0).fit(table(60, 25))


def test_a_wide_table_makes_no_square_matrix():
    X = np.random.default_rng(0).standard_normal((40, 6000))
    model = LDAKM(n_clusters=4, max_iter=2, max_inner=5, tol=0, random_state=0)
    _, peak = with_peak_memory(model.fit, X)
    assert peak < 6000 * 6000 * 8 / 5
