"""Maximum variance."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.feature_selection import VarianceThreshold

from tamis import MaxVariance


@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits])
def test_the_scores_are_the_population_variances(load):
    X = load().data
    for table in (X, sp.csr_array(X), X.astype(np.float32)):
        np.testing.assert_allclose(
            MaxVariance().fit(table).scores_, X.var(axis=0), rtol=1e-6, atol=1e-12
        )


def test_the_hand_worked_case():
    X = np.array([[0.0, 1.0, 5.0], [2.0, 1.0, 5.0], [4.0, 4.0, 5.0]])
    fitted = MaxVariance(1).fit(X)
    assert fitted.scores_.tolist() == pytest.approx([8 / 3, 2, 0])
    assert fitted.ranking_.tolist() == [1, 2, 3]
    assert fitted.transform(X).ravel().tolist() == [0, 2, 4]


def test_the_selection_is_that_of_a_threshold_between_two_variances():
    X = load_wine().data
    variances = np.sort(X.var(axis=0))
    threshold = VarianceThreshold((variances[-4] + variances[-5]) / 2).fit(X)
    np.testing.assert_array_equal(MaxVariance(4).fit(X).get_support(), threshold.get_support())


def test_an_offset_of_a_hundred_million_costs_no_precision():
    X = np.random.default_rng(0).standard_normal((500, 4)) * [1, 2, 3, 4]
    moved = X + 1e8
    expected = (moved - 1e8).var(axis=0)
    for table in (moved, sp.csr_array(moved)):
        np.testing.assert_allclose(MaxVariance().fit(table).scores_, expected, rtol=1e-9)


def test_a_column_scaled_by_c_has_its_score_scaled_by_c_squared():
    X = load_iris().data
    np.testing.assert_allclose(
        MaxVariance().fit(X * [1, 2, 3, 4]).scores_,
        MaxVariance().fit(X).scores_ * [1, 4, 9, 16],
    )
