"""Approximate neighbours: what is made of pynndescent's answer, whatever it is."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from references.graphs import assert_brute_neighbors, brute_neighbors
from references.nn_descent import farthest, itself_and_nearest, stand_in
from scipy.spatial.distance import cdist

from tamis.graphs import _neighbors
from tamis.graphs._neighbors import nearest_neighbors


def test_approximate_search_needs_pynndescent(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynndescent", None)
    with pytest.raises(ImportError, match=r"tamis\[approximate\].*approximate=False"):
        nearest_neighbors(np.eye(5), 2, approximate=True)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("n_neighbors", [1, 5, 29])
def test_a_perfect_approximate_search_equals_the_exact_one(monkeypatch, container, n_neighbors):
    stand_in(monkeypatch, itself_and_nearest)
    X = np.random.default_rng(0).standard_normal((30, 4))
    found = nearest_neighbors(container(X), n_neighbors, approximate=True, random_state=0)
    assert found.method == "nn_descent"
    assert_brute_neighbors(X, n_neighbors, found)


def test_the_sample_itself_is_no_neighbour_wherever_it_is_found(monkeypatch):
    stand_in(monkeypatch, lambda X, n: itself_and_nearest(X, n)[:, ::-1])
    X = np.random.default_rng(0).standard_normal((30, 4))
    assert_brute_neighbors(X, 5, nearest_neighbors(X, 5, approximate=True))


def test_a_low_recall_is_measured_and_warned_of(monkeypatch):
    stand_in(monkeypatch, farthest)
    X = np.random.default_rng(0).standard_normal((60, 4))
    with pytest.warns(UserWarning, match="only 0% of the 5 nearest") as caught:
        found = nearest_neighbors(X, 5, approximate=True)
    assert found.recall == 0
    assert caught[0].filename == __file__


def test_the_recall_is_the_share_of_true_neighbours(monkeypatch):
    """Four places to fill, of which the search knows the two nearest and the farthest ones."""

    def half_right(X, n_neighbors):
        return np.hstack([itself_and_nearest(X, 3), farthest(X, n_neighbors - 3)])

    stand_in(monkeypatch, half_right)
    X = np.random.default_rng(0).standard_normal((60, 4))
    with pytest.warns(UserWarning, match="50%"):
        found = nearest_neighbors(X, 4, approximate=True)
    assert found.recall == 0.5


def test_other_neighbours_at_the_same_distance_count_as_found(monkeypatch):
    stand_in(monkeypatch, lambda X, n: np.argsort(cdist(X, X), axis=1)[:, ::-1][:, :n])
    found = nearest_neighbors(np.eye(12), 3, approximate=True)
    assert found.recall == 1


def test_the_recall_is_measured_on_a_sample_of_rows(monkeypatch):
    stand_in(monkeypatch, itself_and_nearest)
    sampled = []

    def recall(X, sample, squared):
        sampled.append(sample)
        return 1.0

    monkeypatch.setattr(_neighbors, "_recall", recall)
    monkeypatch.setattr(_neighbors, "RECALL_SAMPLE_SIZE", 7)
    X = np.random.default_rng(0).standard_normal((50, 3))
    nearest_neighbors(X, 3, approximate=True, random_state=0)
    nearest_neighbors(X, 3, approximate=True, random_state=0)
    nearest_neighbors(X, 3, approximate=True, random_state=1)
    assert [len(set(sample)) for sample in sampled] == [7, 7, 7]
    np.testing.assert_array_equal(sampled[0], sampled[1])
    assert set(sampled[0]) != set(sampled[2])


def test_too_few_neighbours_found_is_an_error(monkeypatch):
    def lost(X, n_neighbors):
        indices = itself_and_nearest(X, n_neighbors)
        indices[3, 1:] = -1
        return indices

    stand_in(monkeypatch, lost)
    with pytest.raises(RuntimeError, match="approximate=False"):
        nearest_neighbors(np.random.default_rng(0).standard_normal((20, 3)), 4, approximate=True)


def test_seed_and_threads_reach_the_approximate_search(monkeypatch):
    calls = stand_in(monkeypatch, itself_and_nearest)
    X = np.random.default_rng(0).standard_normal((20, 3))
    for seed in (0, 0, 1):
        nearest_neighbors(X, 2, approximate=True, random_state=seed, n_jobs=2)
    assert [call.n_jobs for call in calls] == [2, 2, 2]
    assert calls[0].random_state == calls[1].random_state != calls[2].random_state


@pytest.mark.parametrize("scale", [1e-150, 1e-30, 1.0, 1e30, 1e150])
@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_the_approximate_search_is_given_numbers_that_single_precision_can_hold(
    monkeypatch, scale, offset
):
    def in_single_precision(X, n_neighbors):
        return itself_and_nearest(X.astype(np.float32).astype(np.float64), n_neighbors)

    calls = stand_in(monkeypatch, in_single_precision)
    X = offset + np.random.default_rng(0).standard_normal((60, 3))
    found = nearest_neighbors(X * scale, 4, approximate=True, random_state=0)
    largest = np.abs(calls[0].data).max()
    assert 1e-9 < largest < 1e9
    assert found.recall > 0.95


def clusters(n_samples=400):
    rng = np.random.default_rng(0)
    centres = 10 * rng.standard_normal((8, 6))
    return centres[rng.integers(0, 8, n_samples)] + rng.standard_normal((n_samples, 6))


@pytest.mark.slow
def test_pynndescent_itself():
    """In one test, since every process that comes to it compiles it anew."""
    pytest.importorskip("pynndescent")
    finds_the_neighbours_of_clustered_data_reproducibly()
    warns_of_isotropic_noise()
    takes_sparse_tables()


def finds_the_neighbours_of_clustered_data_reproducibly():
    X = clusters()
    found = nearest_neighbors(X, 5, approximate=True, random_state=0)
    again = nearest_neighbors(X, 5, approximate=True, random_state=0)
    np.testing.assert_array_equal(found.indices, again.indices)
    assert found.recall == again.recall > 0.97
    exact = brute_neighbors(X, 5)[0]
    overlap = [len(set(a) & set(b)) for a, b in zip(found.indices, exact, strict=True)]
    assert np.mean(overlap) / 5 == pytest.approx(found.recall, abs=0.03)
    assert not (found.indices == np.arange(len(X))[:, None]).any()
    few = nearest_neighbors(X[:6], 5, approximate=True, random_state=0)
    assert_brute_neighbors(X[:6], 5, few)


def warns_of_isotropic_noise():
    X = np.random.default_rng(0).standard_normal((600, 300))
    with pytest.warns(UserWarning, match="approximate=False"):
        found = nearest_neighbors(X, 5, approximate=True, random_state=0)
    assert 0 < found.recall < 0.9


def takes_sparse_tables():
    X = clusters()
    found = nearest_neighbors(sp.csr_array(X * (X > 0)), 5, approximate=True, random_state=0)
    assert found.recall > 0.9
