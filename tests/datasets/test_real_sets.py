"""The sets themselves, where they are at hand."""

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
    if name not in datasets.present():
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


@pytest.mark.parametrize(
    "name",
    ["coil20", "warppie10p", "pixraw10p", "orl", "orl_644", "yaleb", "feret", "jaffe"],
)
def test_pictures_mirror_left_to_right_rather_than_top_to_bottom(name: str) -> None:
    """As faces, and most things that stand upright, do."""
    loaded = load(name)
    mean = loaded.image(loaded.X.mean(axis=0))
    assert np.abs(mean - mean[:, ::-1]).mean() < 0.8 * np.abs(mean - mean[::-1]).mean()


def test_profiles_of_umist_face_one_way() -> None:
    """Heads that turn are not symmetric; only the right shape and order make them smooth."""
    loaded = load("umist")
    picture = loaded.image(loaded.X.mean(axis=0))
    wrong = loaded.X.mean(axis=0).reshape(loaded.image_shape or (), order="C")
    roughness = [np.abs(np.diff(one, axis=1)).mean() for one in (picture, wrong)]
    assert roughness[0] < 0.5 * roughness[1]


@pytest.mark.parametrize("name", ["usps", "digits", "mnist_0123"])
def test_the_digit_one_is_higher_than_wide(name: str) -> None:
    loaded = load(name)
    one = loaded.image(loaded.X[loaded.y == 1].mean(axis=0))
    one = one - one.min()
    centred = [np.arange(size) - (size - 1) / 2 for size in one.shape]
    height, width = (one.sum(axis=1) @ centred[0] ** 2, one.sum(axis=0) @ centred[1] ** 2)
    assert height > 1.5 * width
