"""The sets themselves, where they are available."""

from __future__ import annotations

import os

import numpy as np
import pytest
import scipy.sparse as sp

from tamis import datasets
from tamis.datasets.registry import ENTRIES


def load(name: str) -> datasets.Dataset:
    if not os.environ.get("TAMIS_DATA"):
        pytest.skip("real benchmark sets: set TAMIS_DATA to the folder that holds them")
    if name not in datasets.available():
        pytest.skip(f"{name} is neither in TAMIS_DATA nor in the cache")
    return datasets.load(name, download=False)  # a difference from the registry would warn


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name == "mnist" else ())
        for name, entry in ENTRIES.items()
        if entry.sha256
    ],
)
def test_sets_match_the_registry(name: str) -> None:
    loaded = load(name)
    assert loaded.X.shape == (loaded.entry.n_samples, loaded.entry.n_features)
    np.testing.assert_array_equal(np.unique(loaded.y), np.arange(loaded.entry.n_classes))
    assert isinstance(loaded.X, sp.csr_array if loaded.entry.sparse else np.ndarray)
    assert loaded.X.dtype == np.float64


def mirrors_left_to_right(picture: np.ndarray) -> bool:
    """Rather than top to bottom, as faces and most things that stand upright do."""
    return np.abs(picture - picture[:, ::-1]).mean() < 0.8 * np.abs(picture - picture[::-1]).mean()


@pytest.mark.parametrize(
    "name", ["warppie10p", "pixraw10p", "orl", "orl_644", "yaleb", "feret", "jaffe"]
)
def test_faces_stand_upright(name: str) -> None:
    loaded = load(name)
    assert mirrors_left_to_right(loaded.image(loaded.X.mean(axis=0)))


def test_the_mushroom_of_coil20_stands_upright() -> None:
    loaded = load("coil20")
    assert mirrors_left_to_right(loaded.image(loaded.X[720]))


def test_profiles_of_umist_hold_together() -> None:
    """Heads that turn are not symmetric, but neighbouring pixels are alike in the right layout."""
    loaded = load("umist")
    mean = loaded.X.mean(axis=0)
    right, wrong = loaded.image(mean), mean.reshape(28, 23)
    roughness = [
        max(np.abs(np.diff(one, axis=axis)).mean() for axis in (0, 1)) for one in (right, wrong)
    ]
    assert roughness[0] < 0.5 * roughness[1]


@pytest.mark.parametrize("name", ["usps", "digits", "mnist_0123"])
def test_the_digit_one_is_higher_than_wide(name: str) -> None:
    loaded = load(name)
    one = loaded.image(loaded.X[loaded.y == 1].mean(axis=0))
    one = one - one.min()
    centred = [np.arange(size) - (size - 1) / 2 for size in one.shape]
    height, width = (one.sum(axis=1) @ centred[0] ** 2, one.sum(axis=0) @ centred[1] ** 2)
    assert height > 1.5 * width
