"""Columns that must stay or go, in every selector alike."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from references.quick import QUICK, quick
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.preprocessing import minmax_scale, scale

from tamis import MCFS, MRSF, Auto, ColumnSubset, MaxVariance
from tamis.registry import METHODS

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

ITERATIVE = {"auto", *QUICK}
KEEP, DROP = ["ash", "hue"], ["alcohol", "proline"]
every_method = pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow) if name in ITERATIVE else name for name in METHODS],
)


@pytest.fixture(name="X")
def wine():
    """Every third wine, in columns between 0 and 1."""
    data = load_wine(as_frame=True).data[::3]
    return pd.DataFrame(minmax_scale(data), columns=data.columns)


def made(name, n_features=4, **options):
    return quick(name, n_features_to_select=n_features, **options)


def fitted(selector, X):
    """The fitted selector; what it warns of is another test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return selector.fit(X)


def refusal(selector, X):
    with pytest.raises(ValueError, match=r"\S") as caught:
        fitted(selector, X)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@every_method
def test_kept_columns_are_always_selected_and_first(name, X):
    # The worst two of a fit without lists, so that it is not the method that wants them.
    worst = X.columns[np.argsort(fitted(made(name), X).ranking_)[-2:]].tolist()
    kept = fitted(made(name, keep=worst), X)
    assert set(worst) < set(kept.get_feature_names_out())
    assert kept.get_support().sum() == 4
    places = kept.ranking_[X.columns.isin(worst)]
    assert sorted(places) == [1, 2]
    others = kept.scores_[~X.columns.isin(worst)]
    assert kept.scores_[X.columns.isin(worst)].min() > others.max()


@every_method
def test_dropped_columns_are_not_seen(name, X):
    dropped = fitted(made(name, drop=DROP), X)
    assert sorted(dropped.ranking_[X.columns.isin(DROP)]) == [12, 13]
    assert not set(DROP) & set(dropped.get_feature_names_out())
    if name == "random_subset":
        return  # its scores are drawn by position
    alone = fitted(made(name), X.drop(columns=DROP))
    np.testing.assert_allclose(dropped.scores_[~X.columns.isin(DROP)], alone.scores_)
    np.testing.assert_array_equal(dropped.ranking_[~X.columns.isin(DROP)], alone.ranking_)
    changed = X.assign(**{column: np.arange(len(X)) * 1e6 for column in DROP})
    other = fitted(made(name, drop=DROP), changed)
    np.testing.assert_array_equal(other.scores_, dropped.scores_)


@every_method
def test_names_indices_and_patterns_list_the_same(name, X):
    by_name = fitted(made(name, keep=KEEP, drop=DROP), X)
    indices = {p: [X.columns.get_loc(c) for c in v] for p, v in (("keep", KEEP), ("drop", DROP))}
    by_index = fitted(made(name, **indices), X.to_numpy())
    by_pattern = fitted(made(name, keep=["as?", 10], drop=["alcohol", "prol*"]), X)
    for other in (by_index, by_pattern):
        np.testing.assert_array_equal(other.ranking_, by_name.ranking_)
    again = clone(by_name)
    assert (again.get_params()["keep"], again.get_params()["drop"]) == (KEEP, DROP)
    np.testing.assert_array_equal(fitted(again, X).scores_, by_name.scores_)


@pytest.mark.parametrize("name", METHODS)
def test_lists_that_cannot_be_get_one_sentence(name, X):
    assert refusal(made(name, keep=["hue"], drop=["hue", "ash"]), X) == (
        "keep and drop both list column 'hue'; take it out of one of them."
    )
    assert "'flavanoid', but X has no column of that name (did you mean flavanoids" in refusal(
        made(name, keep=["flavanoid"]), X
    )
    assert "drop lists column 13, but X has 13 features" in refusal(made(name, drop=[13]), X)
    assert refusal(made(name, 2, keep=[0, 1, 2]), X) == (
        "n_features_to_select=2 asks for 2 features, but keep lists 3, and drop leaves 13 to "
        "choose from; use a number from 3 to 13."
    )
    assert "and drop leaves 11 to choose from" in refusal(made(name, 12, drop=DROP), X)
    assert "drop lists all 13 columns; leave at least one." in refusal(made(name, drop=["*"]), X)
    assert "have no names; list indices" in refusal(made(name, keep=["hue"]), X.to_numpy())


def test_half_of_the_columns_is_as_many_as_the_lists_allow(X):
    dropped = MaxVariance(drop=list(range(10))).fit(X)
    assert dropped.get_support().sum() == 3
    kept = fitted(MaxVariance(keep=list(range(9))), X)
    assert kept.get_support().sum() == 9


@pytest.mark.parametrize("name", METHODS)
def test_a_constant_column_can_be_kept(name, X):
    X["ash"] = 1.0
    if name in ITERATIVE:
        X = X * 0 + 1  # of a table of constants, nothing is learned
    kept = fitted(made(name, 2, keep=["ash"]), X)
    assert kept.ranking_[X.columns.get_loc("ash")] == 1
    assert np.isfinite(kept.scores_).all()


# --- given the kept columns, or not -----------------------------------------------------------

GIVEN = [MRSF(n_clusters=3), MCFS(n_clusters=2), ColumnSubset(), ColumnSubset(swaps=False), Auto()]


@pytest.mark.parametrize("selector", GIVEN, ids=lambda s: type(s).__name__)
def test_a_copy_of_a_kept_column_is_not_chosen_next(selector):
    X = scale(load_wine().data)
    best = int(np.argmin(fitted(clone(selector).set_params(n_features_to_select=2), X).ranking_))
    table = np.column_stack([X[:, best] * 2 + 1, X])
    kept = clone(selector).set_params(n_features_to_select=2, keep=[best + 1])
    chosen = fitted(kept, table).get_support(indices=True)
    assert best + 1 in chosen
    assert 0 not in chosen


@pytest.mark.parametrize("name", METHODS)
def test_a_method_says_whether_it_chooses_given_the_kept_columns(name, X):
    method = METHODS[name].selector
    told = " ".join(method.__doc__.split())
    if method._keeps == "given":
        assert "ranked as without" not in told
        return
    assert "ranked as without" in told
    with pytest.warns(UserWarning, match="the others are ranked as without keep"):
        made(name, 2, keep=["hue"]).fit(X * 0 + 1)
