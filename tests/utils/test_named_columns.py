"""Columns that a parameter lists."""

from __future__ import annotations

import numpy as np
import pytest

from tamis.utils.named_columns import column_mask

NAMES = np.array(["a", "b", "c", "b"], dtype=object)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (None, []),
        ([], []),
        (["a"], [0]),
        (["b"], [1, 3]),
        ([2, "a"], [0, 2]),
        (np.array([3, 0, 0]), [0, 3]),
        (np.array(["c"]), [2]),
    ],
)
def test_names_and_indices(wanted, expected):
    assert np.flatnonzero(column_mask(wanted, "keep", 4, NAMES)).tolist() == expected


@pytest.mark.parametrize(
    ("wanted", "names", "said"),
    [
        (["z"], NAMES, "keep lists the column 'z', but X has no column of that name."),
        (["a"], None, "keep lists the column 'a', but the columns of X have no names"),
        ([4], NAMES, "keep lists column 4, but X has 4 features; use indices from 0 to 3."),
        ([-1], NAMES, "keep lists column -1"),
        ([True, False], NAMES, "keep lists True, which is neither the name nor the index"),
        ([1.5], NAMES, "keep lists 1.5"),
    ],
)
def test_what_is_no_column_is_refused(wanted, names, said):
    with pytest.raises(ValueError, match=r"^keep lists") as caught:
        column_mask(wanted, "keep", 4, names)
    assert said in str(caught.value)
