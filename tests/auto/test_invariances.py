"""What must not change what Auto keeps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from references.tables import planted_groups
from sklearn.datasets import load_breast_cancer

from tamis import Auto

pytestmark = pytest.mark.slow

TABLES = {
    "planted": lambda: planted_groups()[0],
    "counts": lambda: np.floor(np.exp(planted_groups(60, 8)[0] / 2)) // 2,
    "cancer": lambda: load_breast_cancer().data[::5],
}
# The regression ends within 1e-4 of its optimality conditions.
SOLVED = 2e-5
few = settings(max_examples=6, deadline=None, derandomize=True)


def best_first(X, **parameters):
    return np.argsort(Auto(**parameters).fit(X).ranking_)


@pytest.mark.parametrize("name", TABLES)
@few
@given(seed=st.integers(0, 2**16))
def test_the_order_of_the_columns_plays_no_part(name, seed):
    X = TABLES[name]()
    shuffled = np.random.default_rng(seed).permutation(X.shape[1])
    expected, found = Auto().fit(X), Auto().fit(X[:, shuffled])
    np.testing.assert_allclose(found.scores_, expected.scores_[shuffled], atol=SOLVED)
    np.testing.assert_array_equal(found.get_support(), expected.get_support()[shuffled])
    np.testing.assert_allclose(found.structure_["p_value"], expected.structure_["p_value"])
    np.testing.assert_array_equal(found.labels_, expected.labels_)


@pytest.mark.parametrize("name", TABLES)
@few
@given(seed=st.integers(0, 2**16))
def test_the_order_of_the_rows_plays_no_part(name, seed):
    X = TABLES[name]()
    shuffled = np.random.default_rng(seed).permutation(len(X))
    expected, found = Auto().fit(X), Auto().fit(X[shuffled])
    np.testing.assert_allclose(found.scores_, expected.scores_, atol=SOLVED)
    np.testing.assert_array_equal(found.get_support(), expected.get_support())
    np.testing.assert_array_equal(found.labels_, expected.labels_[shuffled])
    np.testing.assert_allclose(found.structure_["p_value"], expected.structure_["p_value"])
    refits = (auto.reasons()["kept_by_refits"].dropna() for auto in (found, expected))
    np.testing.assert_array_equal(*refits)


@few
@given(seed=st.integers(0, 2**16))
def test_signs_and_offsets_play_no_part(seed):
    X, _ = planted_groups()
    rng = np.random.default_rng(seed)
    changed = X * rng.choice([-1, 1], X.shape[1]) + rng.integers(-5, 5, X.shape[1])
    np.testing.assert_allclose(Auto().fit(changed).scores_, Auto().fit(X).scores_, atol=SOLVED)


@pytest.mark.parametrize("scaling", ["auto", "standard", "pareto", "none"])
@pytest.mark.parametrize("unit", [1e-6, 0.37, 1e5])
def test_a_common_unit_plays_no_part(scaling, unit):
    X, _ = planted_groups()
    expected, found = Auto(scaling=scaling).fit(X), Auto(scaling=scaling).fit(X * unit)
    np.testing.assert_allclose(found.scores_, expected.scores_, atol=SOLVED)
    assert found.n_features_ == expected.n_features_


def test_units_of_single_columns_change_none_of_the_best_once_standardised():
    """The order of the samples changes with the units, and the partitions with it a little."""
    X, _ = planted_groups()
    units = np.logspace(-3, 3, X.shape[1])
    expected, found = Auto(scaling="standard").fit(X), Auto(scaling="standard").fit(X * units)
    assert set(np.argsort(found.ranking_)[:6]) == set(np.argsort(expected.ranking_)[:6])
    np.testing.assert_allclose(found.scores_, expected.scores_, atol=5e-3)


@few
@given(st.lists(st.integers(0, 25), min_size=1, max_size=6, unique=True), st.integers(0, 2**16))
def test_of_a_column_and_its_copy_the_second_comes_after_all_that_is_new(copied, seed):
    X, _ = planted_groups()
    factors = np.random.default_rng(seed).choice([-2.0, 1.0, 3.0], len(copied))
    order = best_first(np.hstack([X, X[:, copied] * factors]), scaling="standard")
    source = np.array([*range(26), *copied])[order]
    assert len(set(source[:26])) == 26, "a copy comes before a column that is new"


def test_copies_do_not_change_what_is_kept():
    X, _ = planted_groups()
    expected = Auto(scaling="standard").fit(X)
    found = Auto(scaling="standard").fit(np.hstack([X, X[:, 6:9]]))
    kept = {j if j < 26 else j - 20 for j in found.get_support(indices=True)}
    assert kept == set(expected.get_support(indices=True))


@few
@given(n_added=st.integers(1, 15), seed=st.integers(0, 2**16))
def test_added_noise_does_not_change_what_is_kept_of_the_rest(n_added, seed):
    X, _ = planted_groups()
    noise = np.random.default_rng(seed).standard_normal((len(X), n_added))
    found = Auto().fit(np.hstack([X, noise]))
    # Columns 0 and 1 tell the same, as do the next two pairs; two pairs tell all groups apart.
    first, second = np.argsort(found.ranking_)[:2]
    assert first < 6
    assert second < 6
    assert first // 2 != second // 2
    assert set(found.get_support(indices=True)) <= set(range(6))
    assert found.n_clusters_ == 3


@pytest.mark.parametrize("place", [0, 13, 26])
def test_added_constants_change_nothing(place):
    X, _ = planted_groups()
    expected = Auto().fit(X)
    found = Auto().fit(np.insert(X, [place, place], 7.0, axis=1))
    others = np.isin(np.arange(28), [place, place + 1], invert=True)
    np.testing.assert_allclose(found.scores_[others], expected.scores_, rtol=1e-9)
    np.testing.assert_array_equal(found.get_support()[others], expected.get_support())
    assert not found.get_support()[~others].any()
    assert found.structure_ == expected.structure_
