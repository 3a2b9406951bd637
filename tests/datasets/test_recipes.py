from __future__ import annotations

import numpy as np
import pytest

from tamis import datasets
from tamis.datasets.recipes import classes, noise_columns, pooled_images
from tamis.datasets.records import Raw


def test_classes() -> None:
    X, y = np.arange(12.0).reshape(6, 2), np.array([0, 1, 2, 0, 1, 2])
    kept = classes("base", (0, 2), "about").make(Raw(X, y))
    np.testing.assert_array_equal(kept.X, X[[0, 2, 3, 5]])
    np.testing.assert_array_equal(kept.y, [0, 2, 0, 2])


def test_pooled_images() -> None:
    image = np.array([[1, 3, 0, 0], [5, 7, 0, 4], [2, 2, 255, 255], [2, 2, 255, 255]], np.uint8)
    raw = Raw(np.array([image.ravel(), np.zeros(16, np.uint8)]), np.array([1, 0]))
    pooled = pooled_images("base", (1,), 4, "about").make(raw)
    np.testing.assert_array_equal(pooled.X, [[4, 1, 2, 255]])
    np.testing.assert_array_equal(pooled.y, [1])


def test_noise_columns() -> None:
    raw = Raw(np.arange(2000.0).reshape(1000, 2), np.zeros(1000, int), ("a", "b"))
    noisy = noise_columns("base", 3, 0, "about").make(raw)
    np.testing.assert_array_equal(noisy.X[:, :2], raw.X)
    noise = noisy.X[:, 2:]
    assert noise.shape == (1000, 3)
    assert noisy.names == ("a", "b", "noise0", "noise1", "noise2")
    assert abs(noise.mean()) < 0.1
    assert abs(noise.std() - 1) < 0.1
    np.testing.assert_array_equal(noise, noise_columns("base", 3, 0, "about").make(raw).X[:, 2:])
    assert not np.array_equal(noise, noise_columns("base", 3, 1, "about").make(raw).X[:, 2:])


@pytest.mark.parametrize(
    ("name", "digits", "n_samples"),
    [
        ("digits1v7", [1, 7], 361),
        ("digits2v7", [2, 7], 356),
        ("digits0689", [0, 6, 8, 9], 713),
        ("digits1279", [1, 2, 7, 9], 718),
    ],
)
def test_digits(name: str, digits: list[int], n_samples: int) -> None:
    whole, part = datasets.load("digits"), datasets.load(name)
    kept = np.isin(whole.y, digits)
    assert part.X.shape == (n_samples, 64)
    np.testing.assert_array_equal(part.X, whole.X[kept])
    np.testing.assert_array_equal(np.array(digits)[part.y], whole.y[kept])
