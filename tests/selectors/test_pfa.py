"""PFA against its paper's steps, and the groups it finds."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from references.scores import principal_components
from references.tables import three_levels as table
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_wine
from sklearn.preprocessing import scale

from tamis import PFA

FORMS = [np.asarray, sp.csr_array]
SHAPES = {"more samples": (60, 15), "more features": (25, 50)}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("wanted", [3, 7])
def test_the_groups_are_a_k_means_of_absolute_loadings(wanted, shape, form):
    X = table(*shape)
    model = PFA(wanted, n_components=3).fit(form(X))
    _, directions = principal_components(X, 3)
    rows = np.abs(directions)
    labels = model.groups_ - 1
    assert sorted(set(labels)) == list(range(wanted))
    centres = np.array([rows[labels == group].mean(axis=0) for group in range(wanted)])
    squares = ((rows[:, None] - centres) ** 2).sum(axis=2)
    np.testing.assert_array_equal(squares.argmin(axis=1), labels)  # no row would change its group
    inertia = squares[np.arange(len(rows)), labels].sum()
    expected = KMeans(wanted, n_init=10, random_state=0).fit(rows).inertia_
    assert inertia <= 1.05 * expected
    for group in range(wanted):
        members = np.flatnonzero(labels == group)
        kept = members[model.get_support()[members]]
        assert len(kept) == 1
        assert squares[kept[0], group] <= squares[members, group].min() + 1e-12


def test_the_first_groups_carry_the_largest_shares():
    X = scale(load_wine().data)
    model = PFA(5, n_components=4).fit(X)
    variances, directions = principal_components(X, 4)
    carried = (directions**2) @ variances
    shares = np.bincount(model.groups_ - 1, carried) / carried.sum()
    assert (np.diff(shares) <= 0).all()
    kept = model.get_support(indices=True)
    np.testing.assert_allclose(model.scores_[kept], 1 + shares[model.groups_[kept] - 1])
    others = np.delete(model.scores_, kept)
    assert others.max() < 1
    np.testing.assert_allclose(model.explained_variance_, variances)


def test_columns_that_repeat_one_another_are_one_group():
    rng = np.random.default_rng(0)
    basis = rng.standard_normal((200, 4))
    X = np.repeat(basis, [6, 5, 4, 3], axis=1) * np.where(np.arange(18) % 2, 1, -1)
    X = X + 0.05 * rng.standard_normal(X.shape)
    model = PFA(4).fit(X)
    np.testing.assert_array_equal(model.groups_, np.repeat([1, 2, 3, 4], [6, 5, 4, 3]))


def test_components_are_as_many_as_carry_nine_tenths_but_no_more_than_groups():
    X = load_digits().data[:300]
    assert PFA(40).fit(X).n_components_ == PFA(40, n_components=0.9).fit(X).n_components_
    assert PFA(3).fit(X).n_components_ == 3


def test_fewer_distinct_columns_than_groups_leave_the_rest_behind():
    X = np.repeat(table(30, 2), 3, axis=1)
    model = PFA(4).fit(X)
    assert set(model.groups_) == {1, 2}
    assert set(model.ranking_[[0, 3]]) == {1, 2}


def test_another_number_of_features_needs_another_fit():
    model = PFA(3).fit(table(60, 15))
    with pytest.raises(ValueError, match="was fitted for 3 features"):
        model.set_params(n_features_to_select=4).get_support()


def test_too_many_components_are_refused():
    with pytest.raises(ValueError, match="n_components=16 is too large"):
        PFA(n_components=16).fit(table(60, 15))


@pytest.mark.slow
def test_a_real_table_with_few_samples(benchmark_set):
    X, _ = benchmark_set("lung_small")
    model = PFA(30).fit(scale(X))
    assert len(set(model.groups_)) == 30
    assert model.explained_variance_.sum() >= 0.8 * X.shape[1]
