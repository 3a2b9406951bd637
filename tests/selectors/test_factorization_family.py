"""JDLUFS, RUFS, EUFS and CUFS on tables at the edge of what they are made for."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from tamis import CUFS, EUFS, JDLUFS, RUFS

FAMILY = [JDLUFS, RUFS, EUFS, CUFS]
LABELLED = [JDLUFS, RUFS, EUFS]


def fitted(method, X, **parameters):
    """Ten iterations, whatever the tolerance: nothing to warn of."""
    if method in LABELLED:
        parameters = {"n_clusters": 3, **parameters}
    return method(random_state=0, max_iter=10, tol=0, **parameters).fit(X)


def assert_sound(model):
    assert np.isfinite(model.scores_).all()
    assert sorted(model.ranking_) == list(range(1, len(model.scores_) + 1))
    assert (np.diff(model.objective_) <= 1e-9 * model.objective_[0]).all()


def zeros_and_ones(n_empty):
    """A sparse table of words: two topics, and rows without any word."""
    rng = np.random.default_rng(0)
    X = rng.random((60, 30)) < 0.03
    X[:30, :5] |= rng.random((30, 5)) < 0.6
    X[30:, 5:10] |= rng.random((30, 5)) < 0.6
    X[:n_empty] = 0
    return X.astype(float)


def words_of_topics(model):
    """How many of the ten best features are words of the topics."""
    return int((model.ranking_[:10] <= 10).sum())


@pytest.mark.parametrize("n_empty", [0, 15])
@pytest.mark.parametrize("method", FAMILY)
def test_zeros_and_ones_with_empty_rows_are_learned(method, n_empty):
    X = zeros_and_ones(n_empty)
    settings = {"n_clusters": 2} if method in LABELLED else {}
    for form in (np.asarray, sp.csr_array):
        model = fitted(method, form(X), **settings)
        assert_sound(model)
        assert words_of_topics(model) >= 7


@pytest.mark.parametrize("n_empty", [0, 15])
@pytest.mark.parametrize("method", FAMILY)
def test_sparse_words_score_as_dense_ones(method, n_empty):
    # Weighted, since of zeros and ones many are equally far from the mean: the first atoms of
    # JDLUFS and CUFS then hang on rounding.
    X = zeros_and_ones(n_empty)
    X *= np.random.default_rng(1).uniform(0.5, 1, X.shape)
    settings = {"n_clusters": 2} if method in LABELLED else {}
    sparse, dense = (fitted(method, form(X), **settings) for form in (sp.csr_array, np.asarray))
    np.testing.assert_allclose(sparse.scores_, dense.scores_, atol=1e-6 * dense.scores_.max())


@pytest.mark.parametrize("n_samples", [2, 3, 4])
@pytest.mark.parametrize("method", FAMILY)
def test_a_handful_of_samples_will_do(method, n_samples):
    X = np.random.default_rng(0).random((n_samples, 7))
    settings = {"n_clusters": 2, "n_neighbors": 1} if method in LABELLED else {}
    assert_sound(fitted(method, X, **settings))


@pytest.mark.parametrize("init", ["spectral", "kmeans"])
@pytest.mark.parametrize("method", LABELLED)
def test_one_cluster_has_all_samples(method, init):
    X = np.random.default_rng(0).random((30, 8))
    model = fitted(method, X, n_clusters=1, init=init)
    assert_sound(model)
    assert model.embedding_.shape == (30, 1)
    assert not model.labels_.any()


@pytest.mark.parametrize("method", [JDLUFS, CUFS])
@pytest.mark.parametrize("n_atoms", [1, 30])
def test_one_atom_and_an_atom_a_sample(method, n_atoms):
    model = fitted(method, np.random.default_rng(0).random((30, 8)), n_atoms=n_atoms)
    assert_sound(model)
    assert model.dictionary_.shape == (8, n_atoms)


@pytest.mark.parametrize("method", [JDLUFS, CUFS])
def test_more_atoms_than_samples_are_refused(method):
    with pytest.raises(ValueError, match="n_atoms=31 is too large for n_samples=30"):
        fitted(method, np.random.default_rng(0).random((30, 8)), n_atoms=31)


@pytest.mark.parametrize("method", FAMILY)
def test_a_single_entry_is_the_best_feature(method):
    X = sp.csr_array(([1.0], ([3], [2])), shape=(20, 6))
    model = fitted(method, X, **({"n_clusters": 2} if method in LABELLED else {}))
    assert_sound(model)
    assert model.ranking_[2] == 1


def scaled_set(benchmark_set, name, scaler):
    X, _ = benchmark_set(name)
    return scaler().fit_transform(X)


def best(method, X, k, **parameters):
    return set(method(k, random_state=0, **parameters).fit(X).get_support(indices=True))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "scaler"), [("Sonar", MinMaxScaler), ("lung_small", StandardScaler)]
)
@pytest.mark.parametrize("method", FAMILY)
def test_a_fit_stops_when_its_selection_has_settled(benchmark_set, method, name, scaler):
    X = scaled_set(benchmark_set, name, scaler)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # 1e-7 may take more
        settled = best(method, X, 15, tol=1e-7, max_iter=300)
    assert len(best(method, X, 15) & settled) >= 15


@pytest.mark.parametrize("factor", [1e8, 1e-8])
@pytest.mark.parametrize("method", FAMILY)
def test_the_unit_of_the_table_plays_no_part(method, factor):
    X = zeros_and_ones(0) * np.random.default_rng(1).uniform(0.5, 1, (60, 30))
    plain, other = fitted(method, X), fitted(method, factor * X)
    np.testing.assert_allclose(other.scores_, plain.scores_, atol=1e-6 * plain.scores_.max())
    assert other.scale_ == pytest.approx(factor * plain.scale_)


@pytest.mark.parametrize("method", FAMILY)
def test_an_offset_that_drowns_the_table_is_told(method):
    rng = np.random.default_rng(0)
    X = rng.random((60, 12)) + 1e6
    with pytest.warns(UserWarning, match=f"{method.__name__} does not centre the table"):
        model = fitted(method, X)
    assert_sound(model)


def planted(seed):
    """Three to five clusters in 20 of 200 standardised columns; the rest is noise."""
    rng = np.random.default_rng(seed)
    n_clusters = 3 + seed % 3
    X = rng.standard_normal((200, 200))
    X[:, :20] += 1.5 * rng.standard_normal((n_clusters, 20))[rng.integers(0, n_clusters, 200)]
    return StandardScaler().fit_transform(X)


def found_among(method, X, **parameters):
    return sum(j < 20 for j in best(method, X, 20, **parameters))


@pytest.mark.filterwarnings("ignore:.* reads a graph in which one sample")
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_planted_clusters_are_found_by_eufs_and_by_cufs_with_a_larger_penalty(seed):
    X = planted(seed)
    assert found_among(EUFS, X) >= 16
    # The page of CUFS says so: alone, its default asks for what no other column tells, noise.
    assert found_among(CUFS, X) <= 4
    assert found_among(CUFS, X, reg=30.0) >= 16
