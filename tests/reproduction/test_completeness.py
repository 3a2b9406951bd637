from __future__ import annotations

import numpy as np

from tamis.reproduction.completeness import comparable

NONE = float("nan")


def test_a_method_that_fails_often_does_not_narrow_the_means():
    figures = np.array(
        [
            [0.1, 0.2, NONE],
            [0.1, NONE, NONE],
            [0.1, 0.2, 0.3],
            [0.1, 0.2, 0.3],
        ]
    )
    methods, sets = comparable(figures)
    assert methods.tolist() == [True, True, False]
    assert sets.tolist() == [True, False, True, True]


def test_nothing_failed():
    methods, sets = comparable(np.zeros((3, 2)))
    assert methods.all()
    assert sets.all()
