"""Maximum margin clustering: equation 1, and scikit-learn's contract."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from references.margin import labelled_optimum
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import minmax_scale
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_estimator

from tamis.clustering import MaximumMarginClustering
from tamis.metrics import clustering_accuracy


@pytest.mark.slow
def test_scikit_learns_contract():
    check_estimator(MaximumMarginClustering(random_state=0), on_skip=None)


@pytest.mark.parametrize("n_clusters", [2, 3])
def test_the_objective_is_that_of_the_best_machine_for_the_labels(n_clusters):
    X = minmax_scale(load_wine().data)[::2]
    model = MaximumMarginClustering(n_clusters, tol=0, random_state=0).fit(X)

    class Settings:
        C, n_selected, limit = 10.0, 13, 0.03 if n_clusters == 2 else 0.01

    seen = X - X.mean(axis=0) if n_clusters == 2 else X
    expected = labelled_optimum(seen, model.labels_, Settings, None)
    assert expected * (1 - 1e-5) <= model.objective_[-1] <= expected + 10.0 * 0.01
    assert (np.diff(model.objective_) < 0).all()


def test_two_balanced_clusters_are_parted_by_a_support_vector_machine():
    half, _ = make_blobs(30, 3, centers=[[2.0, 1.0, 0.0]], random_state=0)
    X = np.vstack([half, -half])  # its mean function value is zero
    model = MaximumMarginClustering(C=10.0, epsilon=1e-5, random_state=0).fit(X)
    machine = SVC(kernel="linear", C=10.0 / 60, tol=1e-6).fit(X, model.labels_)
    np.testing.assert_allclose(model.coef_[:, 0], machine.coef_[0], atol=1e-2)
    np.testing.assert_allclose(model.intercept_, machine.intercept_, atol=1e-2)


@pytest.mark.parametrize("classes", [(1, 7), (2, 7)])
def test_pairs_of_digits(classes):
    X, y = load_digits(return_X_y=True)
    kept = np.isin(y, classes)
    labels = MaximumMarginClustering(random_state=0).fit_predict(X[kept] / 16)
    assert clustering_accuracy(y[kept], labels) > 0.97


@pytest.mark.parametrize("n_clusters", [2, 3])
def test_sparse_and_dense_tables_give_the_same_clusters(n_clusters):
    X = minmax_scale(load_iris().data)
    dense = MaximumMarginClustering(n_clusters, random_state=0).fit(X)
    sparse = MaximumMarginClustering(n_clusters, random_state=0).fit(sp.csr_array(X))
    np.testing.assert_array_equal(sparse.labels_, dense.labels_)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-4, atol=1e-6)
    np.testing.assert_array_equal(sparse.predict(sp.csr_array(X)), dense.labels_)
    np.testing.assert_array_equal(dense.predict(X), dense.labels_)


def test_offsets_do_not_matter_to_two_clusters():
    X = minmax_scale(load_wine().data)
    found = MaximumMarginClustering(random_state=0).fit(X + 50.0).coef_
    expected = MaximumMarginClustering(random_state=0).fit(X).coef_
    np.testing.assert_allclose(np.abs(found), np.abs(expected), rtol=1e-5, atol=1e-6)


def test_degenerate_input():
    for X in (np.ones((5, 2)), np.array([[0.0], [1.0]]), np.repeat([[0.0], [1.0]], 5, axis=0)):
        labels = MaximumMarginClustering(random_state=0).fit_predict(X)
        assert len(np.unique(labels)) == len(np.unique(X))
    assert not MaximumMarginClustering(1).fit_predict(load_iris().data).any()
    with pytest.raises(ValueError, match="n_clusters=3 is too large for n_samples=2; use at most"):
        MaximumMarginClustering(3).fit(np.eye(2))


def test_too_few_labellings_are_warned_of():
    X = minmax_scale(load_digits().data)[:300]
    with pytest.warns(ConvergenceWarning, match="max_iter=1 "):
        MaximumMarginClustering(6, max_iter=1, n_init=1, random_state=3).fit(X)


def test_a_cluster_that_stays_empty_is_told_with_the_counts():
    X = minmax_scale(load_iris().data)[:, :2]
    with pytest.warns(
        UserWarning, match=r"MaximumMarginClustering found \d of n_clusters=6.*sizes"
    ):
        model = MaximumMarginClustering(6, C=0.1, random_state=0).fit(X)
    assert np.count_nonzero(np.bincount(model.labels_)) < 6
