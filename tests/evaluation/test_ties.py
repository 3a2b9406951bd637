from __future__ import annotations

import numpy as np
import pytest

from tamis.evaluation.ties import merge_ties, not_less


def test_what_parts_over_rounding_is_equal_and_nothing_else_is():
    values = merge_ties([0.3, 0.1 + 0.2, 0.3 - 1e-6, np.inf, np.inf])
    assert values[0] == values[1] != values[2]
    assert values[3] == values[4] == np.inf
    assert merge_ties([]).size == 0


def test_a_step_of_rounding_parts_no_equals():
    step = 0.0009765625  # a decimal that ends on a five
    near = np.nextafter(step, [0.0, 1.0])
    assert np.unique(np.round(near, 9)).size == 2
    assert np.unique(merge_ties(near)).size == 1


@pytest.mark.parametrize(("first", "holds"), [(0.3, True), (0.5, True), (0.3 - 1e-6, False)])
def test_not_less(first, holds):
    assert not_less(first, 0.1 + 0.2) is holds
