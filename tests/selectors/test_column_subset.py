"""Column subset selection: what it keeps, in what order, and what it says of it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from references.column_subset import best_exchange, best_of_all, explained, greedy
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

from tamis import ColumnSubset
from tamis.solvers.column_subset import RISE

FORMS = {
    "dense": np.asarray,
    "sparse": sp.csr_array,
    "single": lambda X: np.asarray(X, dtype=np.float32),
}


def correlated(n_samples, n_features, seed=0):
    rng = np.random.default_rng(seed)
    shared = rng.standard_normal((n_samples, 4)) @ rng.standard_normal((4, n_features))
    X = shared + 0.4 * rng.standard_normal((n_samples, n_features))
    return X * (rng.random((n_samples, n_features)) < 0.8)


def wine():
    frame = load_wine(as_frame=True).data
    return pd.DataFrame(scale(frame), columns=frame.columns)


# --- what is kept -----------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", [(50, 10), (8, 12)])
def test_the_greedy_order_serves_every_number(shape, form):
    X = FORMS[form](correlated(*shape))
    rank = min(shape[0] - 1, shape[1])
    fitted = ColumnSubset(swaps=False).fit(X)
    expected = greedy(X, rank)
    assert fitted.order_.tolist() == expected
    steps = [explained(X, expected[: i + 1]) for i in range(rank)]
    np.testing.assert_allclose(fitted.explained_variance_, steps, rtol=1e-6)
    for count in range(1, rank + 1):
        fitted.set_params(n_features_to_select=count)
        assert set(fitted.get_support(indices=True)) == set(expected[:count])
        anew = ColumnSubset(count, swaps=False).fit(X)
        np.testing.assert_array_equal(anew.get_support(), fitted.get_support())


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", [(50, 10), (8, 12)])
@pytest.mark.parametrize("count", [1, 2, 4, 6])
def test_no_exchange_rebuilds_more(shape, form, count):
    X = FORMS[form](correlated(*shape))
    fitted = ColumnSubset(count).fit(X)
    kept = fitted.get_support(indices=True).tolist()
    assert sorted(fitted.order_) == kept
    reached = explained(X, kept)
    np.testing.assert_allclose(fitted.explained_variance_[-1], reached, rtol=1e-6)
    np.testing.assert_allclose(fitted.objective_[-1], 1 - reached, atol=1e-6)
    assert best_exchange(X, kept) <= reached + 2 * RISE
    assert reached <= best_of_all(X, count) + 1e-12


def test_exchanges_find_better_pixels():
    X = load_digits().data
    few = ColumnSubset(10, swaps=False).fit(X)
    swapped = ColumnSubset(10).fit(X)
    assert swapped.n_swaps_ == 3
    assert swapped.explained_variance_[-1] > few.explained_variance_[9] + 0.02
    bound = PCA(10).fit(X).explained_variance_ratio_.sum()
    assert bound - 0.11 < swapped.explained_variance_[-1] < bound


def test_wide_and_long_tables_agree():
    """Samples that repeat leave the covariance, and make the table longer than wide."""
    X = correlated(15, 30)
    wide, long = ColumnSubset(6).fit(X), ColumnSubset(6).fit(np.vstack([X, X, X]))
    np.testing.assert_array_equal(wide.order_, long.order_)
    np.testing.assert_allclose(wide.scores_, long.scores_, rtol=1e-8)
    np.testing.assert_allclose(wide.objective_, long.objective_, rtol=1e-8)


def test_a_real_set_is_rebuilt_from_few_columns():
    X = scale(load_breast_cancer().data)
    fitted = ColumnSubset(5).fit(X)
    bound = PCA(5).fit(X).explained_variance_ratio_.sum()
    assert 0.9 * bound < fitted.explained_variance_[-1] < bound
    assert best_exchange(X, fitted.order_.tolist()) <= fitted.explained_variance_[-1] + 2 * RISE


@pytest.mark.parametrize("count", [2, 3, 4])
def test_wine_is_rebuilt_as_well_as_by_any_set_of_columns(count):
    X = wine()
    fitted = ColumnSubset(count).fit(X)
    best = best_of_all(X.to_numpy(), count)
    np.testing.assert_allclose(fitted.explained_variance_[-1], best, rtol=1e-10)


@pytest.mark.parametrize("unit", [1e-145, 1e-30, 1e90])
def test_the_unit_of_the_table_plays_no_part(unit):
    X = correlated(30, 8)
    expected, found = ColumnSubset(3).fit(X), ColumnSubset(3).fit(X * unit)
    np.testing.assert_allclose(found.scores_, expected.scores_, rtol=1e-9)


# --- scores and order -------------------------------------------------------------------------


@pytest.mark.parametrize("swaps", [True, False])
def test_scores_are_the_shares_that_are_not_yet_rebuilt(swaps):
    X = correlated(40, 10)
    fitted = ColumnSubset(4, swaps=swaps).fit(X)
    before = 1 - np.concatenate([[0], fitted.explained_variance_[:-1]])
    np.testing.assert_allclose(fitted.scores_[fitted.order_], before, atol=1e-12)
    np.testing.assert_array_equal(np.argsort(fitted.ranking_)[:4], fitted.order_[:4])
    if swaps:
        now = explained(X, fitted.order_)
        for j in set(range(10)) - set(fitted.order_):
            adds = explained(X, [*fitted.order_, j]) - now
            np.testing.assert_allclose(fitted.scores_[j], adds, atol=1e-10)


def test_another_number_needs_another_fit_with_exchanges():
    fitted = ColumnSubset(3).fit(correlated(40, 10))
    fitted.set_params(n_features_to_select=4)
    with pytest.raises(ValueError, match="was fitted for 3") as caught:
        fitted.get_support()
    assert str(caught.value) == (
        "ColumnSubset was fitted for 3 features, but n_features_to_select now asks for 4: the "
        "number is part of its objective; call fit again."
    )
    assert fitted.set_params(n_features_to_select=0.3).get_support().sum() == 3


def test_the_objective_falls_with_each_pass_of_exchanges():
    X = load_digits().data
    fitted = ColumnSubset(10).fit(X)
    assert fitted.n_iter_ == len(fitted.objective_) == 3
    assert fitted.objective_[1] < fitted.objective_[0]
    assert fitted.objective_[2] == fitted.objective_[1]  # the last pass finds nothing
    greedy_only = ColumnSubset(10, swaps=False).fit(X)
    assert greedy_only.n_iter_ == 1
    assert greedy_only.n_swaps_ == 0


def test_too_few_passes_are_told():
    with pytest.warns(ConvergenceWarning, match="after max_iter=2 passes; raise max_iter"):
        fitted = ColumnSubset(10, max_iter=2).fit(load_digits().data)
    assert fitted.n_iter_ == 2


# --- keep and drop ----------------------------------------------------------------------------


@pytest.mark.parametrize("swaps", [True, False])
def test_the_others_are_chosen_given_the_kept_ones(swaps):
    X = wine()
    kept = ["ash", "hue"]
    fitted = ColumnSubset(5, keep=kept, swaps=swaps).fit(X)
    places = [X.columns.get_loc(name) for name in kept]
    assert set(kept) < set(fitted.get_feature_names_out())
    assert set(fitted.order_[:2]) == set(places)
    table = X.to_numpy()
    if swaps:
        columns = fitted.get_support(indices=True).tolist()
        assert best_exchange(table, columns, places) <= explained(table, columns) + 2 * RISE
    else:
        assert fitted.order_[2:5].tolist() == greedy(table, 5, places)[2:]
    by_index = ColumnSubset(5, keep=places, swaps=swaps).fit(table)
    np.testing.assert_array_equal(by_index.scores_, fitted.scores_)


@pytest.mark.parametrize("swaps", [True, False])
def test_dropped_columns_play_no_part(swaps):
    X = wine()
    names = ["flavanoids", "proline"]
    fitted = ColumnSubset(4, drop=names, swaps=swaps).fit(X)
    alone = ColumnSubset(4, swaps=swaps).fit(X.drop(columns=names))
    np.testing.assert_array_equal(fitted.get_feature_names_out(), alone.get_feature_names_out())
    np.testing.assert_array_equal(fitted.explained_variance_, alone.explained_variance_)
    assert sorted(fitted.ranking_[[X.columns.get_loc(name) for name in names]]) == [12, 13]


def test_dropped_columns_come_after_constant_ones():
    X = np.column_stack([correlated(30, 3), np.ones(30), np.zeros(30)])
    fitted = ColumnSubset(4, drop=[0]).fit(X)
    assert fitted.get_support(indices=True).tolist() == [1, 2, 3, 4]
    assert fitted.ranking_[0] == 5


def test_kept_columns_are_kept_though_they_add_nothing():
    X = correlated(30, 5)
    X = np.column_stack([X, np.ones(30), X[:, 0]])
    fitted = ColumnSubset(3, keep=[5, 6, 0]).fit(X)
    assert fitted.get_support(indices=True).tolist() == [0, 5, 6]
    fitted = ColumnSubset(1, keep=[5]).fit(X)
    assert fitted.get_support(indices=True).tolist() == [5]
    assert fitted.explained_variance_.size == 0
    fitted = ColumnSubset(2, keep=[5]).fit(X)
    assert fitted.order_.tolist() == greedy(X, 1)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        (
            {"keep": ["asch"]},
            "keep lists the column 'asch', but X has no column of that name (did you mean ash?).",
        ),
        ({"drop": [13]}, "drop lists column 13, but X has 13 features"),
        (
            {"keep": ["ash", "hue"], "drop": ["hue"]},
            "keep and drop both list column 'hue'; take it out of one of them.",
        ),
        (
            {"keep": ["ash", "hue"], "n_features_to_select": 1},
            "n_features_to_select=1 asks for 1 features, but keep lists 2, and drop leaves 13 to "
            "choose from; use a number from 2 to 13.",
        ),
        (
            {"drop": list(range(10)), "n_features_to_select": 6},
            "n_features_to_select=6 asks for 6 features, but keep lists 0, and drop leaves 3 to "
            "choose from; use a number from 1 to 3.",
        ),
        ({"keep": "ash"}, "The 'keep' parameter of ColumnSubset must be"),
        ({"swaps": "no"}, "The 'swaps' parameter of ColumnSubset must be"),
    ],
)
def test_what_cannot_be_kept_or_dropped_is_refused(parameters, said):
    with pytest.raises(ValueError, match=r"keep|drop|swaps") as caught:
        ColumnSubset(**parameters).fit(wine())
    assert said in str(caught.value)


def test_a_late_number_below_the_kept_ones_is_refused():
    fitted = ColumnSubset(5, keep=["ash", "hue"], swaps=False).fit(wine())
    fitted.set_params(n_features_to_select=1)
    with pytest.raises(ValueError, match="keep lists 2"):
        fitted.get_support()


# --- degenerate tables ------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("swaps", [True, False])
def test_copies_come_after_all_that_adds(form, swaps):
    X = correlated(40, 6)
    X = FORMS[form](np.hstack([X, X, 2 * X]))
    fitted = ColumnSubset(6, swaps=swaps).fit(X)
    assert fitted.get_support(indices=True).tolist() == [0, 1, 2, 3, 4, 5]
    np.testing.assert_allclose(fitted.explained_variance_[-1], 1, rtol=1e-6)


def test_more_columns_than_the_rank_are_filled_up_by_what_each_rebuilds_alone():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3)) @ rng.standard_normal((3, 9))
    fitted = ColumnSubset(5).fit(X)
    assert len(fitted.order_) == 3
    rest = [j for j in range(9) if j not in fitted.order_]
    rest.sort(key=lambda j: -explained(X, [j]))
    assert set(fitted.get_support(indices=True)) == {*fitted.order_, *rest[:2]}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("swaps", [True, False])
def test_constant_columns_are_neither_chosen_nor_rebuilt(form, swaps):
    X = correlated(40, 6)
    with_constants = np.insert(X, [0, 3], [5.0, 0.0], axis=1)
    fitted = ColumnSubset(3, swaps=swaps).fit(FORMS[form](with_constants))
    expected = ColumnSubset(3, swaps=swaps).fit(FORMS[form](X))
    np.testing.assert_allclose(fitted.scores_[[1, 2, 3, 5, 6, 7]], expected.scores_, rtol=1e-12)
    assert fitted.scores_[[0, 4]].tolist() == [0, 0]


@pytest.mark.parametrize("swaps", [True, False])
def test_a_table_of_constants(swaps):
    fitted = ColumnSubset(2, swaps=swaps).fit(np.tile(np.arange(4.0), (5, 1)))
    assert fitted.get_support(indices=True).tolist() == [0, 1]
    assert fitted.order_.size == fitted.explained_variance_.size == fitted.objective_.size == 0
    assert fitted.n_iter_ == fitted.n_swaps_ == 0


@pytest.mark.parametrize("swaps", [True, False])
def test_one_column_and_two_samples(swaps):
    one = ColumnSubset(swaps=swaps).fit(correlated(10, 1))
    assert one.get_support().tolist() == [True]
    two = ColumnSubset(1, swaps=swaps).fit(np.array([[0.0, 0, 1], [1, 3, 1]]))
    assert two.order_.tolist() == [0]  # each of two samples is rebuilt from any column that varies
    np.testing.assert_allclose(two.explained_variance_, [1])
