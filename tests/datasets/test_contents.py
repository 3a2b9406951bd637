from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tamis.datasets import checksum
from tamis.datasets.contents import label_codes

TABLE = arrays(
    np.float64,
    st.tuples(st.integers(1, 6), st.integers(1, 6)),
    elements=st.integers(-3, 3).map(lambda value: value / 4),
)


@given(TABLE)
def test_storage_does_not_matter(X: np.ndarray) -> None:
    y = np.arange(len(X)) % 2
    expected = checksum(X, y)
    assert checksum(sp.csr_array(X), y) == expected
    assert checksum(sp.csc_array(X), y) == expected
    assert checksum(np.asfortranarray(X), y) == expected
    assert checksum(X.astype(np.float32), y) == expected
    assert checksum(X + 1e-9, y) == expected


@given(TABLE, st.data())
def test_every_value_matters(X: np.ndarray, data: st.DataObject) -> None:
    y = np.zeros(len(X))
    changed = X.copy()
    cell = tuple(data.draw(st.integers(0, size - 1)) for size in X.shape)
    changed[cell] += 0.001
    assert checksum(changed, y) != checksum(X, y)


def test_values_in_every_block_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tamis.datasets.contents._BLOCK_VALUES", 8)
    X = np.arange(40.0).reshape(10, 4)
    y = np.zeros(10)
    expected = checksum(X, y)
    assert checksum(sp.csr_array(X), y) == expected
    for row in range(10):
        changed = X.copy()
        changed[row, 0] += 1
        assert checksum(changed, y) != expected


def test_shape_and_order_matter() -> None:
    X, y = np.arange(6.0).reshape(2, 3), [0, 1]
    others = (
        checksum(X.reshape(3, 2), [0, 1, 1]),
        checksum(X[::-1], y),
        checksum(X[:, ::-1], y),
        checksum(np.zeros((2, 3)), y),
        checksum(np.zeros((2, 4)), y),
        checksum(X, [0, 0]),
    )
    assert len({checksum(X, y), *others}) == 1 + len(others)


def test_unsorted_and_split_entries_of_a_sparse_table_agree() -> None:
    X = np.array([[0.0, 1.0, 3.0]])
    untidy = sp.csr_array((np.array([1.0, 1, 2, 0]), np.array([2, 1, 2, 0]), np.array([0, 4])))
    assert checksum(untidy, [0]) == checksum(X, [0])
    assert untidy.nnz == 4  # the caller's table is left as it was


def test_negative_zero_is_zero() -> None:
    assert checksum(np.array([[-0.0, -1e-12]]), [0]) == checksum(np.zeros((1, 2)), [0])


def test_names_of_classes_do_not_matter_but_the_partition_does() -> None:
    X = np.eye(4)
    expected = checksum(X, ["b", "a", "b", "c"])
    assert checksum(X, [0, 9, 0, 4]) == expected
    assert checksum(X, [0, 9, 9, 4]) != expected


def test_label_codes() -> None:
    np.testing.assert_array_equal(label_codes(np.array([7.0, 1, 3, 1])), [2, 0, 1, 0])
    np.testing.assert_array_equal(label_codes(np.array(["10", " 2", "2.0"])), [1, 0, 0])
    np.testing.assert_array_equal(label_codes(np.array(["M", "R", "M "])), [0, 1, 0])
    np.testing.assert_array_equal(label_codes(np.array([b"x", b"a"])), [1, 0])
    np.testing.assert_array_equal(label_codes(np.array(["1", "nan", "2"])), [0, 2, 1])
    assert label_codes(np.array([1, 2], dtype=np.uint8)).dtype == np.intp
