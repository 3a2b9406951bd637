"""Auto: what it decides, what it is told, and what it answers to bad input."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from references.tables import planted_groups
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_wine

from tamis import Auto
from tamis.metrics import adjusted_rand_index, clustering_accuracy

NO_STRUCTURE = "Auto finds no structure"


def noise(n_samples=40, n_features=6, seed=0):
    return np.random.default_rng(seed).standard_normal((n_samples, n_features))


# --- what it decides --------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_planted_columns_are_found_with_their_groups_and_number(seed):
    X, groups = planted_groups(seed=seed)
    auto = Auto().fit(X)
    assert auto.n_clusters_ == 3
    assert adjusted_rand_index(groups, auto.labels_) == 1
    assert auto.structure_["found"]
    assert set(np.argsort(auto.ranking_)[:6]) == set(range(6))
    assert 2 <= auto.n_features_ <= 6
    assert auto.transform(X).shape == (90, auto.n_features_)


def test_the_candidates_say_which_was_taken():
    X, _ = planted_groups()
    auto = Auto().fit(X)
    assert [row["weight"] for row in auto.candidates_].count(1.0) == 1
    taken = max(auto.candidates_, key=lambda row: row["weight"])
    assert taken["scaling"] == auto.scaling_
    assert taken["agreement"] == max(row["agreement"] for row in auto.candidates_)
    assert auto.curve_["counts"][-1] == X.shape[1]


def test_told_their_number_the_growers_of_wine_are_found():
    X, y = load_wine(return_X_y=True)
    auto = Auto(n_clusters=3).fit(X)
    assert auto.scaling_ == "standard"
    assert auto.scaling_reason_ == "the columns are of different units"
    assert clustering_accuracy(y, auto.labels_) > 0.9


@pytest.mark.slow
def test_twenty_pixels_of_the_digits_lose_little_and_none_is_of_the_empty_edge():
    X, y = load_digits(return_X_y=True)
    auto = Auto(20).fit(X)
    share_of_ink = (X > 0).mean(axis=0)[auto.get_support()]
    assert share_of_ink.min() > 0.3
    assert auto.scaling_ == "pareto"

    def accuracy(table):
        runs = (KMeans(10, n_init=1, random_state=s).fit_predict(table) for s in range(10))
        return np.mean([clustering_accuracy(y, labels) for labels in runs])

    assert accuracy(auto.transform(X)) > accuracy(X) - 0.05


def test_noise_has_no_structure_and_nothing_is_left_out():
    with pytest.warns(UserWarning, match=rf"{NO_STRUCTURE}.*\(p = .*all columns that vary are"):
        auto = Auto().fit(noise())
    assert not auto.structure_["found"]
    assert auto.n_features_ == 6
    with pytest.warns(UserWarning, match=f"{NO_STRUCTURE}.*little more than chance"):
        assert Auto(2).fit(noise()).get_support().sum() == 2


def test_chance_is_fixed():
    X, _ = planted_groups()
    first, second = Auto().fit(X), Auto().fit(X)
    np.testing.assert_array_equal(first.scores_, second.scores_)
    assert first.structure_ == second.structure_
    assert Auto(random_state=1).fit(X).structure_ != first.structure_
    pd.testing.assert_frame_equal(first.reasons(), second.reasons())


# --- what it is told --------------------------------------------------------------------------


@pytest.mark.parametrize("number", [2, 5])
def test_a_given_number_of_groups_is_the_number(number):
    X, _ = planted_groups()
    auto = Auto(n_clusters=number).fit(X)
    assert auto.n_clusters_ == number
    assert len(np.unique(auto.labels_)) == number


@pytest.mark.parametrize("scaling", ["standard", "pareto", "none"])
def test_a_given_scale_is_the_only_one(scaling):
    X, _ = planted_groups()
    auto = Auto(scaling=scaling).fit(X)
    assert auto.scaling_ == scaling
    assert {row["scaling"] for row in auto.candidates_} == {scaling}
    assert auto.scaling_reason_ == "it was asked for"


def test_another_number_needs_no_new_fit():
    X, _ = planted_groups()
    auto = Auto().fit(X)
    found = auto.n_features_
    for number in (1, 4, 0.5, None, "auto"):
        fitted_anew = Auto(number).fit(X)
        auto.set_params(n_features_to_select=number)
        np.testing.assert_array_equal(auto.get_support(), fitted_anew.get_support())
    assert auto.get_support().sum() == found


def test_kept_columns_are_selected_and_the_others_complement_them():
    X, _ = planted_groups()
    auto = Auto(3, keep=[0, 20]).fit(X)
    kept = auto.get_support(indices=True)
    assert {0, 20} <= set(kept)
    assert set(kept) - {0, 20} <= {2, 3, 4, 5}, "column 1 tells what column 0 tells"
    assert set(auto.ranking_[[0, 20]]) == {1, 2}


def test_the_number_found_has_room_for_the_kept_columns():
    X, _ = planted_groups()
    listed = list(range(10, 20))
    auto = Auto(keep=listed).fit(X)
    assert auto.n_features_ >= 10
    assert auto.get_support()[listed].all()


def test_kept_columns_that_do_not_vary_are_selected_beside_those_that_were_found():
    X, _ = planted_groups()
    with_constant = np.hstack([X, np.ones((90, 1))])
    auto = Auto(keep=[26]).fit(with_constant)
    assert auto.n_features_ == Auto().fit(X).n_features_ + 1
    assert auto.get_support()[26]


def test_dropped_columns_are_never_seen():
    X, _ = planted_groups()
    X = pd.DataFrame(X, columns=[f"c{j}" for j in range(26)])
    auto = Auto(drop=["c0", "c20"]).fit(X)
    without = Auto().fit(X.drop(columns=["c0", "c20"]))
    assert auto.get_feature_names_out().tolist() == without.get_feature_names_out().tolist()
    others = np.isin(np.arange(26), [0, 20], invert=True)
    np.testing.assert_allclose(auto.scores_[others], without.scores_)
    assert auto.structure_ == without.structure_
    assert auto.n_features_ == without.n_features_
    assert set(auto.ranking_[[0, 20]]) == {25, 26}


def test_a_second_fit_forgets_the_first():
    X, _ = planted_groups()
    auto = Auto().fit(X)
    many = list(range(12))
    again = auto.set_params(keep=many).fit(X)
    assert again.get_support()[many].all()
    auto.set_params(keep=None)
    with pytest.warns(UserWarning, match="no column varies"):
        auto.fit(np.ones((5, 26)))
    assert set(auto.reasons()["reason"]) == {"does not vary"}
    np.testing.assert_array_equal(auto.fit(X).scores_, Auto().fit(X).scores_)


# --- kinds of tables --------------------------------------------------------------------------


def test_sparse_is_dense():
    X, _ = planted_groups()
    X = np.where(X > 1, X, 0)
    dense, sparse = Auto().fit(X), Auto().fit(sp.csr_array(X))
    np.testing.assert_array_equal(dense.ranking_, sparse.ranking_)
    np.testing.assert_allclose(dense.scores_, sparse.scores_, atol=1e-6)
    assert dense.reasons()["reason"].tolist() == sparse.reasons()["reason"].tolist()


def test_single_precision_selects_the_same():
    X, _ = planted_groups()
    X = X.astype(np.float32)
    single, double = Auto().fit(X), Auto().fit(X.astype(np.float64))
    np.testing.assert_array_equal(single.get_support(), double.get_support())
    assert single.transform(X).dtype == np.float32


def test_a_fitted_one_survives_pickling_and_a_clone_starts_anew():
    X, _ = planted_groups()
    auto = Auto(keep=[3]).fit(X)
    back = pickle.loads(pickle.dumps(auto))
    np.testing.assert_array_equal(back.get_support(), auto.get_support())
    pd.testing.assert_frame_equal(back.reasons(), auto.reasons())
    copy = clone(auto)
    assert copy.get_params() == auto.get_params()
    assert not hasattr(copy, "ranking_")


# --- bad input --------------------------------------------------------------------------------


def test_one_column():
    with pytest.warns(UserWarning, match=f"{NO_STRUCTURE}: only one column varies"):
        auto = Auto().fit(noise(30, 1))
    assert auto.get_support().tolist() == [True]
    assert len(auto.reasons()) == 1


@pytest.mark.parametrize("n_samples", [2, 3, 4])
def test_few_rows(n_samples):
    with pytest.warns(UserWarning, match=NO_STRUCTURE):
        auto = Auto().fit(noise(n_samples))
    assert auto.get_support().all()
    assert len(auto.reasons()) == 6


def test_one_row_is_refused():
    with pytest.raises(ValueError, match=r"1 sample.*minimum of 2"):
        Auto().fit(noise(1))


def test_copies_of_one_column():
    X = np.repeat(noise(30, 1), 5, axis=1) * [1, -2, 3, 1, 1]
    auto = Auto().fit(X)
    assert auto.n_features_ == 1
    reasons = auto.reasons()["reason"]
    kept = int(auto.get_support(indices=True)[0])
    assert set(reasons.drop(kept)) == {f"copy of x{kept}"}


@pytest.mark.parametrize(
    ("parameters", "kept", "said"),
    [
        ({}, [], "none is kept"),
        ({"n_features_to_select": 2}, [0, 1], "the first columns are kept"),
        ({"keep": [2]}, [2], "none is kept but those to keep"),
    ],
)
def test_nothing_but_constants(parameters, kept, said):
    with pytest.warns(UserWarning, match=f"{NO_STRUCTURE}: no column varies, so that {said}"):
        auto = Auto(**parameters).fit(np.ones((10, 4)))
    assert auto.get_support(indices=True).tolist() == kept
    assert auto.n_clusters_ == 1
    assert auto.reasons()["kept"].sum() == len(kept)


def test_one_group_is_shown_by_any_number():
    X, _ = planted_groups()
    with pytest.warns(UserWarning, match=r"no number of columns: with n_clusters=1.*all columns"):
        auto = Auto(n_clusters=1).fit(X)
    assert auto.n_features_ == X.shape[1]
    assert len(np.unique(auto.scores_)) > 1, "the graph still tells columns apart"
    assert Auto(3, n_clusters=1).fit(X).get_support().sum() == 3


def test_more_groups_than_rows_are_refused():
    with pytest.raises(ValueError, match=r"n_clusters=41 is too large for n_samples=40"):
        Auto(n_clusters=41).fit(noise())


def test_more_columns_than_vary():
    X = np.hstack([planted_groups()[0][:, :4], np.ones((90, 4))])
    with pytest.warns(UserWarning, match=r"keeps 3 columns that do not vary.*only 4 columns vary"):
        auto = Auto(7).fit(X)
    assert auto.get_support()[:4].all()
    assert auto.reasons()["kept"].sum() == 7
    with pytest.raises(ValueError, match="use a number from 1 to 8"):
        Auto(9).fit(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"keep": ["b"], "drop": ["b", "c"]}, "keep and drop both list column 'b'"),
        ({"keep": ["z"]}, "'z'"),
        ({"drop": ["z"]}, "'z'"),
        ({"keep": [9]}, "column 9"),
        ({"keep": ["a", "b"], "n_features_to_select": 1}, "keep lists 2"),
        ({"drop": ["a", "b"], "n_features_to_select": 5}, "drop leaves 4"),
        ({"drop": list("abcdef")}, "drop lists all 6 columns; leave at least one"),
        ({"scaling": "log"}, "'scaling' parameter of Auto"),
        ({"n_clusters": 0}, "'n_clusters' parameter of Auto"),
        ({"n_features_to_select": "all"}, "'n_features_to_select' parameter of Auto"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(parameters, message):
    X = pd.DataFrame(noise(), columns=list("abcdef"))
    with pytest.raises(ValueError, match=message):
        Auto(**parameters).fit(X)


# --- long tables -------------------------------------------------------------------------------


def long_table():
    """Four groups in the first six of twelve columns; the last is 1 in a single row."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 4, 900)
    X = rng.normal(size=(900, 12))
    X[:, :6] += 6 * rng.normal(size=(4, 6))[group]
    X[:, 11] = np.arange(900) == 400
    return X, group


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_of_many_rows_some_decide(form, monkeypatch):
    monkeypatch.setattr("tamis.auto._selector.SAMPLED_ROWS", 300)
    X, group = long_table()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        found = Auto(5, scaling="standard").fit(form(X))
    said = [str(one.message) for one in warned]
    assert any("Auto decides on 300 of the 900 rows, drawn at random" in one for one in said)
    assert any("ranks column 11 last, constant in the rows that" in one for one in said)
    assert found.ranking_[11] == 12
    assert found.labels_.shape == (900,)
    assert adjusted_rand_index(group, found.labels_) > 0.9
    assert set(np.flatnonzero(found.get_support())) < set(range(6))
    assert found.reasons()["kept"].sum() == 5


def test_the_order_of_many_rows_plays_no_part(monkeypatch):
    monkeypatch.setattr("tamis.auto._selector.SAMPLED_ROWS", 300)
    X = long_table()[0][:, :11]
    order = np.random.default_rng(1).permutation(len(X))
    with pytest.warns(UserWarning, match="decides on 300"):
        straight, shuffled = Auto(5).fit(X), Auto(5).fit(X[order])
    np.testing.assert_array_equal(shuffled.ranking_, straight.ranking_)
    np.testing.assert_array_equal(shuffled.labels_, straight.labels_[order])
