"""The random baseline."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from tamis import RandomSubset


@pytest.fixture(name="X")
def ten_columns():
    return np.random.default_rng(0).standard_normal((4, 10))


def test_the_same_seed_gives_the_same_subset_and_another_seed_another(X):
    first = RandomSubset(random_state=3).fit(X).ranking_
    np.testing.assert_array_equal(RandomSubset(random_state=3).fit(X).ranking_, first)
    assert (RandomSubset(random_state=4).fit(X).ranking_ != first).any()


def test_a_generator_is_used_up(X):
    generator = np.random.RandomState(0)
    first = RandomSubset(random_state=generator).fit(X).scores_
    second = RandomSubset(random_state=generator).fit(X).scores_
    assert (first != second).all()
    np.testing.assert_array_equal(
        np.concatenate([first, second]), np.random.RandomState(0).rand(20)
    )


def test_without_a_seed_every_fit_differs(X):
    selector = RandomSubset()
    assert (selector.fit(X).scores_ != selector.fit(X).scores_).any()


def test_the_values_of_the_table_do_not_matter(X):
    expected = RandomSubset(random_state=0).fit(X).scores_
    for table in (X * 1e6, sp.csr_array(X), X.astype(np.float32), X[:2]):
        np.testing.assert_array_equal(RandomSubset(random_state=0).fit(table).scores_, expected)


def test_the_scores_are_uniform_numbers():
    scores = RandomSubset(random_state=0).fit(np.eye(2000)).scores_
    assert 0 <= scores.min() < scores.max() < 1
    counts = np.histogram(scores, bins=10, range=(0, 1))[0]
    assert np.abs(counts - 200).max() < 5 * np.sqrt(2000 * 0.1 * 0.9)


@pytest.mark.slow
def test_every_feature_is_selected_equally_often(X):
    n_seeds, wanted = 2000, 3
    counts = sum(
        RandomSubset(wanted, random_state=seed).fit(X).get_support().astype(int)
        for seed in range(n_seeds)
    )
    share = wanted / X.shape[1]
    assert counts.sum() == n_seeds * wanted
    assert np.abs(counts - n_seeds * share).max() < 5 * np.sqrt(n_seeds * share * (1 - share))


def test_a_constant_feature_is_never_drawn_before_another(X):
    X[:, [0, 5]] = 1
    for seed in range(50):
        assert set(RandomSubset(random_state=seed).fit(X).ranking_[[0, 5]]) == {9, 10}
