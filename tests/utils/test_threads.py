"""A fit keeps the linear algebra on one thread, lets large pieces have all, and gives them back."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import scipy.linalg
from threadpoolctl import OpenBLASController, ThreadpoolController, threadpool_limits

from tamis import MaxVariance, Selector
from tamis.graphs import nearest_neighbors
from tamis.utils import threads as _threads
from tamis.utils.threads import LARGE, FasterThreads, all_threads, one_thread


def numbers():
    """Threads of each BLAS in the process that has any to choose from: numpy's and scipy's."""
    pools = ThreadpoolController().select(user_api="blas").lib_controllers
    return [pool.get_num_threads() for pool in pools if pool.filepath in CHOOSING]


CHOOSING: set[str] = set()


@pytest.fixture(autouse=True)
def two_threads_each():
    # A thread of another test may still have the say over the pools.
    OpenBLASController.clear_controlling_thread(force=True)
    with threadpool_limits(2, user_api="blas"):
        # Other libraries may have brought a BLAS of their own, built for one thread.
        pools = ThreadpoolController().select(user_api="blas").lib_controllers
        CHOOSING.update(pool.filepath for pool in pools if pool.get_num_threads() == 2)
        assert CHOOSING, "no BLAS can be told how many threads to use"
        yield


class Watching(Selector):
    """Notes how many threads there are while it fits."""

    def _fit(self, X):
        self.threads_ = numbers()
        if X.shape[1] == 1:
            raise ArithmeticError("a column alone")
        return np.arange(X.shape[1])


@pytest.fixture(name="X")
def small_table():
    return np.random.default_rng(0).standard_normal((10, 3))


def test_a_fit_has_one_thread_and_gives_the_others_back(X):
    assert set(Watching().fit(X).threads_) == {1}
    assert set(numbers()) == {2}


def test_a_fit_that_fails_gives_the_threads_back(X):
    with pytest.raises(ArithmeticError):
        Watching().fit(X[:, :1])
    assert set(numbers()) == {2}


def test_every_fit_of_ours_is_held_once(X):
    assert MaxVariance.fit.__wrapped__ is not None
    assert "held" not in MaxVariance.fit.__wrapped__.__qualname__


def test_large_work_has_all_threads_and_small_work_has_one():
    with one_thread():
        with all_threads(LARGE):
            assert set(numbers()) == {2}
        assert set(numbers()) == {1}
        with all_threads(LARGE / 2):
            assert set(numbers()) == {1}
    assert set(numbers()) == {2}


def test_a_limit_of_the_user_holds_for_large_work_too():
    with threadpool_limits(1, user_api="blas"), one_thread(), all_threads(LARGE):
        assert set(numbers()) == {1}


def test_outside_of_a_fit_nothing_is_changed():
    with all_threads(LARGE):
        assert set(numbers()) == {2}
    assert set(numbers()) == {2}


def test_a_fit_inside_a_fit_leaves_the_outer_one_its_limit():
    with one_thread():
        with one_thread():
            assert set(numbers()) == {1}
        assert set(numbers()) == {1}
    assert set(numbers()) == {2}


@pytest.mark.slow
def test_of_like_pieces_the_faster_number_of_threads_has_most(monkeypatch):
    now = 0.0
    monkeypatch.setattr(_threads, "perf_counter", lambda: now)
    used = []
    with one_thread():
        threads = FasterThreads(LARGE)
        for k in range(200):
            with threads.piece(1.0):
                used += set(numbers())
                one_is_faster = k < 100
                now += 1.0 if (used[-1] == 1) == one_is_faster else 2.0
    assert used[:2] == [2, 1]
    assert used[:100].count(1) > 90
    assert used[100:].count(2) > 75
    assert set(numbers()) == {2}


def test_small_pieces_have_one_thread():
    with one_thread():
        threads = FasterThreads(LARGE / 2)
        with threads.piece(1.0):
            assert set(numbers()) == {1}


def test_neighbours_are_the_same_on_any_number_of_threads(monkeypatch):
    X = np.random.default_rng(0).standard_normal((3000, 40))
    alone = nearest_neighbors(X, 5)
    monkeypatch.setattr(_threads, "LARGE", 1.0)
    with one_thread():
        changing = nearest_neighbors(X, 5)
    np.testing.assert_array_equal(alone.indices, changing.indices)
    np.testing.assert_array_equal(alone.distances, changing.distances)


@pytest.mark.slow
def test_fits_at_the_same_time_leave_the_threads_as_they_were(X):
    started = threading.Barrier(4)

    def fit():
        started.wait()
        for _ in range(20):
            Watching().fit(X)

    others = [threading.Thread(target=fit) for _ in range(4)]
    for other in others:
        other.start()
    for other in others:
        other.join()
    assert set(numbers()) == {2}


def test_both_libraries_are_found():
    assert scipy.linalg is not None
    assert {pool.filepath for pool in _threads._pools().lib_controllers} >= CHOOSING
