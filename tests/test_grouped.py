"""Whole groups of columns, kept or dropped by any selector."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.utils.estimator_checks import check_estimator

from tamis import MRSF, Auto, ColumnSubset, GroupedSelector, LaplacianScore, MaxVariance
from tamis.registry import METHODS

GROUPS = {"low": ["a", "b"], "mixed": ["c", "f"]}


@pytest.fixture
def frame():
    """Six columns, whose variances are 1, 4, 9, 16, 25 and 36."""
    X = scale(np.random.default_rng(0).standard_normal((30, 6))) * np.arange(1.0, 7.0)
    return pd.DataFrame(X, columns=list("abcdef"))


def names_of(selector, X):
    return selector.fit(X).get_feature_names_out().tolist()


# --- scores, ranks and support ----------------------------------------------------------------


def test_the_score_of_a_group_is_the_root_mean_square_of_its_columns(frame):
    fitted = GroupedSelector(MaxVariance(), GROUPS, n_features_to_select=2).fit(frame)
    assert {name: columns.tolist() for name, columns in fitted.groups_.items()} == {
        "low": [0, 1],
        "mixed": [2, 5],
        "d": [3],
        "e": [4],
    }
    expected = [np.sqrt((1 + 16) / 2), np.sqrt((81 + 36**2) / 2), 16, 25]
    np.testing.assert_allclose(fitted.group_scores_, expected)
    assert fitted.group_ranking_.tolist() == [4, 1, 3, 2]
    np.testing.assert_allclose(fitted.scores_, np.arange(1, 7) ** 2)
    assert fitted.ranking_.tolist() == [6, 5, 2, 4, 3, 1]
    assert fitted.get_feature_names_out().tolist() == ["c", "e", "f"]


def test_equal_scores_make_equal_groups_whatever_their_size(frame):
    X = frame[["d"]].assign(**{f"copy {i}": frame["d"] for i in range(5)})
    fitted = GroupedSelector(MaxVariance(6), [1, 2, 2, 2, 3, 3], n_features_to_select=3).fit(X)
    np.testing.assert_allclose(fitted.group_scores_, 16)
    assert fitted.group_ranking_.tolist() == [1, 2, 3]


def test_scores_below_zero_are_counted_from_the_lowest(frame):
    columns = LaplacianScore().fit(frame).scores_
    shifted = columns - min(0, columns.min())
    fitted = GroupedSelector(LaplacianScore(), {"g": [0, 1]}, n_features_to_select=1).fit(frame)
    expected = np.r_[np.sqrt(np.mean(shifted[:2] ** 2)), shifted[2:]]
    np.testing.assert_allclose(fitted.group_scores_, expected)


@pytest.mark.parametrize(
    ("wanted", "inner", "n_groups"),
    [(None, None, 2), (None, 3, 3), (None, 0.25, 1), (1, 3, 1), (0.75, None, 3), (4, 1, 4)],
)
def test_the_number_is_of_groups(frame, wanted, inner, n_groups):
    fitted = GroupedSelector(MaxVariance(inner), GROUPS, n_features_to_select=wanted).fit(frame)
    support = fitted.get_support()
    whole = [support[columns].all() for columns in fitted.groups_.values()]
    part = [support[columns].any() for columns in fitted.groups_.values()]
    assert whole == part
    assert sum(whole) == n_groups


def test_the_number_is_read_anew_without_a_new_fit(frame):
    fitted = GroupedSelector(MaxVariance(), GROUPS, n_features_to_select=1).fit(frame)
    assert fitted.get_feature_names_out().tolist() == ["c", "f"]
    fitted.set_params(n_features_to_select=2)
    assert fitted.get_feature_names_out().tolist() == ["c", "e", "f"]
    swapping = GroupedSelector(ColumnSubset(), GROUPS, n_features_to_select=1).fit(frame)
    swapping.set_params(n_features_to_select=2)
    with pytest.raises(ValueError, match=r"was fitted for 1 groups of columns, .* call fit again"):
        swapping.get_support()


def test_auto_keeps_every_group_in_which_its_columns_lie():
    X = load_wine(as_frame=True).data
    groups = {"phenols": ["*phen*", "flavanoids"], "alcohol": ["alcohol", "malic_acid"]}
    columns = Auto().fit(X).get_feature_names_out()
    fitted = GroupedSelector(Auto(), groups).fit(X)
    support = set(fitted.get_feature_names_out())
    assert set(columns) <= support
    for members in fitted.groups_.values():
        names = set(X.columns[members])
        assert names <= support if names & set(columns) else not names & support


def test_groups_of_constants_come_after_those_that_vary(frame):
    frame["a"], frame["b"] = 1.0, 2.0
    fitted = GroupedSelector(LaplacianScore(), GROUPS, n_features_to_select=3).fit(frame)
    assert fitted.group_ranking_[0] == 4


# --- how groups are given ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "groups",
    [
        {"low": ["a", "b"], "mixed": ["c", "f"]},
        {"low": [0, "b"], "mixed": np.array([5, 2])},
        {"low": "[ab]", "mixed": ("c", "f")},
        ["low", "low", "mixed", None, np.nan, "mixed"],
        np.array([0, 0, 1, 2, 3, 1]),
        pd.Series(["x1", "x1", "x2", "x3", "x4", "x2"]),
    ],
)
def test_every_form_of_groups_gives_the_same(frame, groups):
    fitted = GroupedSelector(MaxVariance(), groups, n_features_to_select=2).fit(frame)
    assert [columns.tolist() for columns in fitted.groups_.values()] == [[0, 1], [2, 5], [3], [4]]
    assert fitted.get_feature_names_out().tolist() == ["c", "e", "f"]


def test_without_groups_it_is_the_selector(frame):
    grouped = GroupedSelector(MaxVariance(2)).fit(frame)
    np.testing.assert_array_equal(grouped.ranking_, MaxVariance(2).fit(frame).ranking_)
    assert list(GroupedSelector(MaxVariance()).fit(frame.to_numpy()).groups_) == [
        f"x{j}" for j in range(6)
    ]


# --- keep and drop ----------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*the columns to keep come first")
@pytest.mark.parametrize("keep", [["low"], ["a"], [1], ["l*"]])
@pytest.mark.parametrize("inner", [False, True])
def test_a_kept_group_or_column_keeps_the_whole_group(frame, keep, inner):
    selector = MaxVariance(keep=keep) if inner else MaxVariance()
    own = None if inner else keep
    grouped = GroupedSelector(selector, GROUPS, n_features_to_select=2, keep=own)
    assert names_of(grouped, frame) == ["a", "b", "c", "f"]
    assert grouped.group_ranking_[0] == 1


@pytest.mark.parametrize("method", ["max_variance", "mrsf", "column_subset", "laplacian_score"])
def test_dropped_groups_are_not_seen(method):
    X = StandardScaler().set_output(transform="pandas").fit_transform(
        load_wine(as_frame=True).data
    ) * np.arange(1, 14)
    groups = {"first": ["alcohol", "malic_acid", "ash"], "last": ["hue", "proline"]}
    make = METHODS[method].selector
    grouped = GroupedSelector(make(), groups, n_features_to_select=4, drop=["first"]).fit(X)
    left = X.drop(columns=groups["first"])
    alone = GroupedSelector(make(), {"last": groups["last"]}, n_features_to_select=4).fit(left)
    assert grouped.get_feature_names_out().tolist() == alone.get_feature_names_out().tolist()
    np.testing.assert_allclose(grouped.group_scores_[1:], alone.group_scores_)
    assert grouped.group_ranking_[0] == len(grouped.groups_)
    assert sorted(grouped.ranking_[:3]) == [11, 12, 13]


def test_the_rest_of_a_group_stays_a_group(frame):
    grouped = GroupedSelector(MaxVariance(), GROUPS, n_features_to_select=1, drop=["f"]).fit(frame)
    assert grouped.group_scores_[1] == pytest.approx(9)
    grouped.set_params(n_features_to_select=3)
    assert grouped.get_feature_names_out().tolist() == ["c", "d", "e"]


def test_others_are_chosen_given_a_kept_group():
    X = pd.DataFrame(scale(load_wine().data)).rename(columns=str)
    copies = X[["6", "9"]].set_axis(["copy 6", "copy 9"], axis=1)
    table = pd.concat([copies, X], axis=1)  # of equal columns the first is taken
    groups = {"kept": ["6", "9"], "copies": ["copy 6", "copy 9"]}
    free = GroupedSelector(MRSF(n_clusters=3), groups, n_features_to_select=2).fit(table)
    assert {"copy 6", "copy 9"} < set(free.get_feature_names_out())
    kept = clone(free).set_params(keep=["kept"]).fit(table)
    assert {"6", "9"} < set(kept.get_feature_names_out())
    assert not {"copy 6", "copy 9"} & set(kept.get_feature_names_out())


# --- scikit-learn's tools ---------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("selector", [MaxVariance(), MRSF(n_clusters=2, n_neighbors=2)], ids=type)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_it_keeps_the_contract_of_scikit_learn(selector):
    check_estimator(GroupedSelector(selector))


def test_frames_pipelines_copies_and_pickles(frame):
    grouped = GroupedSelector(MaxVariance(), GROUPS, n_features_to_select=1)
    pipeline = make_pipeline(StandardScaler(with_std=False), grouped).set_output(transform="pandas")
    cut = pipeline.fit_transform(frame)
    assert cut.columns.tolist() == ["c", "f"]
    np.testing.assert_allclose(cut, frame[["c", "f"]] - frame[["c", "f"]].mean())
    fitted = pipeline[-1]
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.transform(frame), fitted.transform(frame))
    copy = clone(fitted).set_params(selector__n_features_to_select=3, n_features_to_select=None)
    assert not hasattr(copy, "ranking_")
    assert copy.fit(frame).get_support().sum() == 4
    assert grouped.selector.n_features_to_select is None
    assert "tamis-top-features" in fitted._repr_html_()


def test_sparse_tables(frame):
    dense = GroupedSelector(MaxVariance(), [0, 0, 1, 2, 3, 1]).fit(frame.to_numpy())
    sparse = GroupedSelector(MaxVariance(), [0, 0, 1, 2, 3, 1]).fit(sp.csr_array(frame.to_numpy()))
    np.testing.assert_allclose(sparse.group_scores_, dense.group_scores_)


# --- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("groups", "options", "said"),
    [
        ({"g": ["a", "z"]}, {}, "groups['g'] lists the column 'z', but X has no column of that"),
        ({"g": ["a", "b"], "h": [1]}, {}, "groups has column 'b' in 'g' and in 'h'; a column can"),
        ({"g": []}, {}, "groups['g'] lists no column; leave it out, or list some."),
        ({"g": 1.5}, {}, "groups['g'] is 1.5; give a list of names or indices of columns."),
        ({"a": ["b", "c"]}, {}, "groups has a group 'a', but a column outside of it has that"),
        ([0, 1], {}, "groups has the shape (2,), but X has 6 features; give one label per column"),
        (GROUPS, {"n_features_to_select": 5}, "n_features_to_select=5, but X has 4 groups"),
        (GROUPS, {"keep": ["lowe"]}, "neither a column nor a group of that name (did you mean low"),
        (GROUPS, {"keep": ["low"], "drop": ["a"]}, "keep and drop both list column 'a'; take it"),
        (GROUPS, {"drop": ["*"]}, "drop lists all 6 columns; leave at least one."),
        (
            GROUPS,
            {"keep": ["a", "c", "d"], "n_features_to_select": 2},
            "asks for 2 groups of columns, but keep lists 3, and drop leaves 4 to choose from",
        ),
        (
            GROUPS,
            {"drop": ["low"], "n_features_to_select": 4},
            "asks for 4 groups of columns, but keep lists 0, and drop leaves 3",
        ),
    ],
)
def test_wrong_groups_and_lists_get_one_sentence(frame, groups, options, said):
    with pytest.raises(ValueError, match=r"\S") as caught:
        GroupedSelector(MaxVariance(), groups, **options).fit(frame)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_column_that_is_misspelt_is_guessed():
    X = load_wine(as_frame=True).data
    with pytest.raises(ValueError, match=r"'flavanoid', but .* \(did you mean flavanoids"):
        GroupedSelector(MaxVariance(), {"g": ["flavanoid"]}).fit(X)


def test_selectors_of_groups_do_not_nest(frame):
    with pytest.raises(ValueError, match="give the selector that it holds"):
        GroupedSelector(GroupedSelector(MaxVariance())).fit(frame)
    with pytest.raises(ValueError, match="'selector' parameter of GroupedSelector must be"):
        GroupedSelector(StandardScaler()).fit(frame)
