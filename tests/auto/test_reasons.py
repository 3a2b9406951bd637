"""Why a column is kept or not: the numbers by their definitions, and the words."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from references.tables import planted_groups, planted_groups_with_a_copy
from scipy.stats import f_oneway
from sklearn.linear_model import LinearRegression

from tamis import Auto
from tamis.auto._reasons import reasons_for

FORMS = {"dense": np.asarray, "sparse": sp.csr_array}


def reasons(X, groups, kept=(0, 3, 5, 7), refits=None):
    n_features = X.shape[1]
    refits = np.zeros(n_features) if refits is None else refits
    return reasons_for(X, np.array(kept, dtype=np.intp), groups, refits)


# --- numbers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_explained_is_the_r_squared_of_a_regression(form):
    X, groups = planted_groups_with_a_copy()
    found = reasons(FORMS[form](X), groups).explained
    kept = X[:, [0, 3, 5, 7]]
    expected = [LinearRegression().fit(kept, x).score(kept, x) for x in X.T]
    np.testing.assert_allclose(found, expected, atol=1e-10)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_kept", [1, 4, 40])
def test_the_nearest_kept_column_has_the_strongest_correlation(form, n_kept):
    """Forty kept columns are more than are looked at in one go."""
    X, groups = planted_groups_with_a_copy()
    kept = np.arange(n_kept)
    found = reasons(FORMS[form](X), groups, kept)
    R = np.corrcoef(X.T)[:, :n_kept]
    R[kept, kept] = 0
    np.testing.assert_allclose(np.abs(found.correlation), np.abs(R).max(axis=1), atol=1e-10)
    has_one = found.nearest >= 0
    assert has_one.all() == (n_kept > 1)
    at = np.arange(X.shape[1])[has_one]
    np.testing.assert_allclose(R[at, found.nearest[at]], found.correlation[at], atol=1e-10)


@pytest.mark.parametrize("form", FORMS)
def test_group_shares_are_those_of_an_analysis_of_variance(form):
    X, groups = planted_groups_with_a_copy()
    found = reasons(FORMS[form](X), groups)
    means = np.array([X[groups == g].mean(axis=0) for g in range(3)])
    between = ((means - X.mean(axis=0)) ** 2 * np.bincount(groups)[:, None]).sum(axis=0)
    total = ((X - X.mean(axis=0)) ** 2).sum(axis=0)
    np.testing.assert_allclose(found.group_share, between / total, rtol=1e-9)
    expected = f_oneway(*(X[groups == g] for g in range(3))).pvalue
    np.testing.assert_allclose(found.group_chance, expected, rtol=1e-6, atol=1e-300)


@pytest.mark.parametrize("form", FORMS)
def test_the_group_that_a_column_tells_apart_lies_farthest_from_the_others(form):
    X, groups = planted_groups_with_a_copy()
    groups[:10] = 2  # of unequal size
    found = reasons(FORMS[form](X), groups)
    sizes = np.bincount(groups)
    shifts = np.array(
        [
            (X[groups == g].mean(axis=0) - X[groups != g].mean(axis=0)) / X.std(axis=0)
            for g in range(3)
        ]
    )
    errors = np.sqrt(1 / sizes + 1 / (len(X) - sizes))[:, None]
    np.testing.assert_array_equal(found.group, np.abs(shifts / errors).argmax(axis=0))
    expected = shifts[found.group, np.arange(X.shape[1])]
    np.testing.assert_allclose(found.shift, expected, rtol=1e-9)


@pytest.mark.parametrize("labels", [np.zeros(60, dtype=int), np.arange(60)])
def test_one_group_or_one_per_sample_cannot_be_tested(labels):
    X, _ = planted_groups_with_a_copy()
    assert np.isnan(reasons(X, labels).group_chance).all()


# --- words ------------------------------------------------------------------------------------


def row(frame, column):
    return frame[frame["column"] == column].iloc[0]


def fitted(n_features_to_select=3, **parameters):
    """Columns 0 to 5 tell groups apart, 6 to 25 are noise, then a copy, a mixture, a constant."""
    X, _ = planted_groups()
    mixture = X[:, [0]] + X[:, [2]] + 0.1 * X[:, [20]]
    X = np.hstack([X, -3 * X[:, :6], mixture, np.ones((len(X), 1))])
    return Auto(n_features_to_select, **parameters).fit(X)


def test_there_is_a_row_per_column_and_the_kept_ones_have_their_rank():
    auto = fitted(3)
    frame = auto.reasons()
    assert frame["column"].tolist() == [f"x{j}" for j in range(34)]
    np.testing.assert_array_equal(frame["kept"], auto.get_support())
    ranks = frame["rank"].dropna()
    assert sorted(ranks) == [1, 2, 3]
    np.testing.assert_array_equal(ranks, auto.ranking_[ranks.index])


def test_reasons_are_true_of_a_table_that_was_made():
    frame = fitted(3).reasons()
    kept = frame[frame["kept"]]
    assert set(kept["column"]) <= {*(f"x{j}" for j in (*range(6), *range(26, 33)))}
    for _, reason in kept["reason"].items():
        assert "apart" in reason
    first = kept.iloc[0]["column"]
    number = int(first[1:])
    if number < 32:
        twin = f"x{number + 26 if number < 6 else number - 26}"
        assert row(frame, twin)["reason"] == f"copy of {first}"
        assert row(frame, twin)["correlation"] == pytest.approx(-1)
    assert row(frame, "x33")["reason"] == "does not vary"
    assert set(frame["kind"]) >= {"kept", "constant", "copy", "no structure"}
    np.testing.assert_array_equal(frame["kind"] == "kept", frame["kept"])
    noise = [row(frame, f"x{j}")["reason"] for j in range(6, 26)]
    assert noise.count("follows no structure") >= 18
    assert (kept["stands_for"] > 0).all()
    assert (kept["kept_by_refits"] > 0).any()
    shares = frame["kept_by_refits"].dropna()
    np.testing.assert_allclose((shares * 6) % 1, 0, atol=1e-9)
    np.testing.assert_allclose(shares.sum(), 3)


def test_listed_columns_say_so():
    frame = fitted(4, keep=[10, 33], drop=[1]).reasons()
    assert row(frame, "x10")["reason"].startswith("listed in keep; ")
    assert row(frame, "x33")["reason"] == "listed in keep; does not vary"
    assert row(frame, "x1")["reason"] == "listed in drop"
    assert row(frame, "x1")["kind"] == "dropped"
    np.testing.assert_array_equal(frame["kind"] == "kept", frame["kept"])
    assert row(frame, "x33")["kept"]
    assert frame["kept"].sum() == 4


def test_columns_that_are_kept_for_the_number_alone_say_so():
    with pytest.warns(UserWarning, match="keeps 1 columns that do not vary"):
        frame = fitted(34).reasons()
    assert frame["kept"].all()
    assert "fewer columns vary" in row(frame, "x33")["reason"]


def test_reasons_are_of_the_number_that_was_fitted():
    auto = fitted(3)
    assert len(auto.reasons()) == 34
    auto.set_params(n_features_to_select=5)
    assert auto.get_support().sum() == 5
    with pytest.raises(ValueError, match=r"fitted for 3 features.*now asks for 5.*call fit again"):
        auto.reasons()
    assert auto.set_params(n_features_to_select=3).reasons()["kept"].sum() == 3


def test_two_rows_cannot_be_halved():
    X = np.random.default_rng(0).standard_normal((3, 4))
    assert Auto().fit(X).reasons()["kept_by_refits"].isna().all()
