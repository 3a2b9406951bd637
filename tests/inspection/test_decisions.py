"""What an automatic selection decided, in words, and what more columns would add."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from tamis import Auto, MaxVariance
from tamis.inspection import as_chosen, measure_numbers, read_curve, read_decisions, read_selection

NAMES = [f"c{j}" for j in range(9)]


@pytest.fixture(name="X", scope="module")
def grouped():
    """Three groups in four columns of different units, four columns of noise and a constant."""
    rng = np.random.RandomState(0)
    told = 6 * rng.normal(size=(3, 4))[np.repeat(range(3), 30)] + rng.normal(size=(90, 4))
    return np.c_[told, rng.normal(size=(90, 4)), np.ones(90)] * np.logspace(0, 4, 9)


def test_decisions_are_those_of_the_selector(X):
    auto = Auto().fit(X)
    decisions = read_decisions(auto, NAMES)
    n_kept = auto.n_features_
    assert decisions.structure_found
    assert decisions.number.startswith(f"Number: {n_kept} of 9 columns; the number was found")
    assert decisions.scaling.startswith("Scaling: every column is standardised; the columns are")
    assert decisions.curve.found == decisions.curve.n_kept == n_kept
    assert [row["column"] for row in decisions.reasons] == NAMES
    assert [row["rank"] for row in decisions.kept] == list(range(1, n_kept + 1))
    counted = [int(part.split()[0]) for part in decisions.not_kept[10:].split(", ")]
    assert sum(counted) == 9 - n_kept


def test_what_is_asked_for_is_not_called_found(X):
    decisions = read_decisions(Auto(1, n_clusters=3, scaling="none").fit(X), NAMES)
    assert decisions.scaling == "Scaling: the columns are taken as they are, as asked for."
    assert decisions.groups == "Groups: 3, as asked for."
    assert decisions.number.startswith("Number: 1 of 9 columns, as asked for")


def test_reasons_are_those_of_the_fit(X):
    auto = Auto(2).fit(X).set_params(n_features_to_select=3)
    decisions = read_decisions(auto, NAMES)
    assert decisions.reasons == []
    assert "call fit again" in decisions.note
    assert decisions.curve.n_kept == 3


def test_constants_that_are_kept_have_their_reason(X):
    with pytest.warns(UserWarning, match="only 8 columns vary"):
        fitted = Auto(9).fit(X)
    decisions = read_decisions(fitted, NAMES)
    assert len(decisions.kept) == 9
    assert decisions.kept[-1]["reason"].startswith("does not vary, but fewer columns vary")
    assert decisions.not_kept == ""


def test_a_table_of_constants():
    decisions = read_decisions(Auto().fit(np.ones((5, 3))), ["a", "b", "c"])
    assert decisions.structure == (
        "No structure: fewer than two columns vary. There is nothing to choose by."
    )
    assert decisions.number == "Number: 0 of 3 columns: none of them varies."
    assert decisions.curve is None


def test_other_methods_have_decided_nothing(X):
    selector = MaxVariance(3).fit(X)
    assert read_decisions(selector, NAMES) is None
    assert read_curve(selector) is None
    selection = read_selection(selector, X)
    assert as_chosen(selection) is selection


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_the_table_is_judged_on_the_scale_of_the_choice(X, make):
    auto = Auto(3).fit(make(X))
    judged = as_chosen(read_selection(auto, make(X))).X
    judged = judged.toarray() if sp.issparse(judged) else judged
    assert auto.scaling_ == "standard"
    np.testing.assert_allclose(judged.std(axis=0), [1] * 8 + [0], atol=1e-12)


def test_more_columns_beside_random_ones(X):
    auto = Auto(3, n_clusters=3).fit(X)
    selection = as_chosen(read_selection(auto, X))
    found = measure_numbers(selection, 3, np.random.RandomState(0))
    assert 3 in found.counts
    assert found.counts[-1] == 8  # a constant is no choice
    assert found.variance.selected[-1] == pytest.approx(1)
    assert (np.diff(found.variance.selected) > 0).all()
    assert (found.variance.low <= found.variance.high).all()
    assert found.variance.low[-1] == found.variance.high[-1] == found.variance.selected[-1]
    place = list(found.counts).index(3)
    assert found.groups.selected[place] > 0.9
    assert found.n_rows == 90
    assert measure_numbers(selection, 1, np.random.RandomState(0)).groups is None
    again = measure_numbers(selection, 3, np.random.RandomState(0))
    np.testing.assert_array_equal(again.groups.high, found.groups.high)
