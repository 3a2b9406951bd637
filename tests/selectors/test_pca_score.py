"""The PCA score against a singular value decomposition."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from references.scores import pca_scores, principal_components
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.decomposition import PCA

from tamis import PCAScore
from tamis.solvers import principal

FORMS = {
    "dense": np.asarray,
    "sparse": sp.csr_array,
    "single": lambda X: np.asarray(X, dtype=np.float32),
}


def random_table(n_samples, n_features, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_features)) * np.linspace(1, 3, n_features)
    return X * (rng.random((n_samples, n_features)) < 0.7)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_components", [1, 3, 12])
@pytest.mark.parametrize("shape", [(60, 12), (12, 60), (12, 12)])
def test_random_tables_have_the_scores_of_the_equation(shape, n_components, form):
    X = FORMS[form](random_table(*shape))
    fitted = PCAScore(n_components=n_components).fit(X)
    expected = pca_scores(X, n_components)
    np.testing.assert_allclose(fitted.scores_, expected, rtol=1e-8, atol=1e-10 * expected.max())
    variances = principal_components(X, n_components)[0]
    np.testing.assert_allclose(fitted.explained_variance_, variances, atol=1e-10 * variances[0])
    assert fitted.n_components_ == n_components


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits])
def test_real_tables_have_the_scores_of_the_equation(load, form):
    X = FORMS[form](load().data[::3])
    expected = pca_scores(X, 3)
    found = PCAScore(n_components=3).fit(X).scores_
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-10 * expected.max())


def test_five_components_are_taken_unless_there_are_fewer():
    X = random_table(40, 12)
    np.testing.assert_allclose(PCAScore().fit(X).scores_, pca_scores(X, 5), rtol=1e-9)
    assert PCAScore().fit(X).n_components_ == 5
    assert PCAScore().fit(X[:, :3]).n_components_ == 3
    assert PCAScore().fit(X[:4]).n_components_ == 4


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", [(60, 12), (12, 60)])
def test_with_all_components_the_score_is_the_variance(shape, form):
    X = FORMS[form](random_table(*shape))
    dense = X.toarray() if sp.issparse(X) else X.astype(np.float64)
    np.testing.assert_allclose(
        PCAScore(n_components=12).fit(X).scores_, dense.var(axis=0), rtol=1e-8
    )


def test_no_score_exceeds_the_variance_and_more_components_never_lower_it():
    X = random_table(40, 12)
    scores = [PCAScore(n_components=m).fit(X).scores_ for m in range(1, 13)]
    assert (np.diff(scores, axis=0) >= -1e-12).all()
    assert (scores[-2] <= X.var(axis=0) + 1e-12).all()


@pytest.mark.parametrize("fraction", [0.1, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("shape", [(90, 45), (45, 90)])
def test_a_fraction_takes_the_fewest_components_that_carry_it(shape, form, fraction):
    X = random_table(*shape)
    variances = principal_components(X, 45)[0]
    needed = 1 + int(np.flatnonzero(np.cumsum(variances) / variances.sum() >= fraction)[0])
    fitted = PCAScore(n_components=fraction).fit(FORMS[form](X))
    assert fitted.n_components_ == len(fitted.explained_variance_) == needed
    np.testing.assert_allclose(fitted.scores_, pca_scores(X, needed), rtol=1e-8)


def test_a_fraction_means_what_it_means_in_scikit_learn():
    X = load_wine().data / load_wine().data.std(axis=0)
    for fraction in (0.3, 0.6, 0.8, 0.95):
        expected = PCA(n_components=fraction, svd_solver="full").fit(X).n_components_
        assert PCAScore(n_components=fraction).fit(X).n_components_ == expected


def test_a_fraction_next_to_one_takes_all_components():
    X = random_table(40, 12)
    fitted = PCAScore(n_components=np.nextafter(1, 0)).fit(X)
    assert fitted.n_components_ == 12
    np.testing.assert_allclose(fitted.scores_, X.var(axis=0), rtol=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_rounding_asks_for_no_component_beyond_the_rank(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 2)) @ rng.standard_normal((2, 40))
    assert PCAScore(n_components=np.nextafter(1, 0)).fit(X).n_components_ == 2


def test_variance_that_no_other_feature_shares_does_not_count():
    rng = np.random.default_rng(0)
    shared = rng.standard_normal(500)
    X = np.column_stack([shared + 0.1 * rng.standard_normal(500) for _ in range(5)])
    X = np.column_stack([X, 1.5 * rng.standard_normal(500)])
    assert X.var(axis=0).argmax() == 5
    assert PCAScore(n_components=1).fit(X).ranking_[5] == 6


def test_too_many_components_are_refused():
    X = random_table(20, 12)
    for table in (X, sp.csr_array(X)):
        with pytest.raises(ValueError, match="n_components") as caught:
            PCAScore(n_components=13).fit(table)
        assert str(caught.value) == (
            "n_components=13 is too large for n_samples=20 and n_features=12; use at most 12."
        )


@pytest.mark.parametrize("n_components", [0, -1, 0.0, 1.0, 1.5, "all"])
def test_senseless_numbers_of_components_are_refused(n_components):
    with pytest.raises(ValueError, match="'n_components' parameter of PCAScore"):
        PCAScore(n_components=n_components).fit(random_table(20, 12))


# --- degenerate tables ------------------------------------------------------------------------


@pytest.mark.parametrize("n_components", [None, 1, 0.5, 20])
@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("shape", [(30, 20), (20, 30)])
@pytest.mark.parametrize("level", [0.0, 3.0])
def test_a_table_of_constants_has_no_variance_to_carry(level, shape, form, n_components):
    X = FORMS[form](np.full(shape, level))
    fitted = PCAScore(n_components=n_components).fit(X)
    np.testing.assert_array_equal(fitted.scores_, 0)
    np.testing.assert_allclose(fitted.explained_variance_, 0, atol=1e-12)


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_a_table_of_constants_has_no_variance_for_lanczos(monkeypatch, form):
    monkeypatch.setattr(principal, "DENSE_GRAM_MAX", 0)
    X = FORMS[form](np.tile(np.arange(20.0), (30, 1)))
    np.testing.assert_array_equal(PCAScore(n_components=2).fit(X).scores_, 0)


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("shape", [(40, 30), (30, 40)])
def test_components_beyond_the_rank_carry_nothing(shape, form):
    rng = np.random.default_rng(0)
    X = np.outer(rng.standard_normal(shape[0]), rng.standard_normal(shape[1]))
    fitted = PCAScore(n_components=4).fit(FORMS[form](X))
    np.testing.assert_allclose(fitted.scores_, X.var(axis=0), rtol=1e-9)
    np.testing.assert_allclose(fitted.explained_variance_[1:], 0, atol=1e-10)


def test_two_samples_have_one_component():
    X = np.array([[0.0, 1.0, 5.0], [4.0, 3.0, 5.0]])
    fitted = PCAScore(n_components=1).fit(X)
    assert fitted.scores_.tolist() == pytest.approx([4, 1, 0])
    assert fitted.explained_variance_.tolist() == pytest.approx([5])


# --- real data --------------------------------------------------------------------------------


@pytest.mark.slow
def test_lanczos_on_a_real_sparse_table_finds_the_components(benchmark_set):
    X = benchmark_set("News20")[0][:120]
    expected = pca_scores(X, 5)
    found = PCAScore(n_components=5).fit(X).scores_
    np.testing.assert_allclose(found, expected, atol=1e-8 * expected.max())
