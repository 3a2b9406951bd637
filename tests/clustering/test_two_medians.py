"""Two groups on a line: against all divisions."""

from __future__ import annotations

import numpy as np
import pytest
from references.spectral import two_medians

from tamis.clustering import upper_of_two


@pytest.mark.parametrize("seed", range(20))
def test_it_is_the_best_of_all_divisions(seed):
    rng = np.random.default_rng(seed)
    values = rng.standard_t(2, size=rng.integers(2, 30))
    np.testing.assert_array_equal(upper_of_two(values), two_medians(values))


def test_one_far_value_is_a_group():
    assert upper_of_two(np.array([1.0, 2.0, 100.0, 3.0])).tolist() == [False, False, True, False]


def test_equal_values_stay_together():
    values = np.array([0.0, 1.0, 1.0, 1.0, 0.0])
    assert upper_of_two(values).tolist() == [False, True, True, True, False]
    assert not upper_of_two(np.ones(4)).any()


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_an_offset_plays_no_part(offset):
    values = np.random.default_rng(0).standard_normal(40)
    np.testing.assert_array_equal(upper_of_two(values + offset), upper_of_two(values))
