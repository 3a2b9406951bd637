"""How many threads the linear algebra of a fit uses.

numpy and scipy each bring a BLAS with a pool of threads of its own. A fit goes from one to the
other many times a second, and the threads of a pool go on spinning for a while after each call: two
pools on the same cores take each other's time, and a product that one thread does in a millisecond
waits for a thread that another process keeps from running. So a fit runs on one thread
(:func:`on_one_thread`), and the few products and factorizations large enough to gain from more say
so (:func:`all_threads`). The number of threads follows from the sizes alone, so that results are
the same bit for bit. Only where rounding does not matter is it chosen by speed
(:class:`FasterThreads`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, wraps
from time import perf_counter
from typing import Any, TypeVar

import scipy.linalg  # noqa: F401  its BLAS must be loaded to be found
from threadpoolctl import ThreadpoolController

T = TypeVar("T")

# Multiplications and additions, about a tenth of a second of one thread. Less is over before a
# second thread has been of use, and its spinning outlasts it.
LARGE = 5e9
# One of so many like pieces of work is done with the number of threads that was slower.
TRY_AGAIN = 16

# Threads of the pools outside of the fit under way in this thread; 0 outside of any.
_outside: ContextVar[int] = ContextVar("_outside", default=0)


@cache
def _pools() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep the linear algebra inside on one thread, but for what :func:`all_threads` encloses.

    A pool belongs to the process: of fits that run in several Python threads at once, threadpoolctl
    lets the first decide.
    """
    # Pools may differ: some libraries bring a BLAS of their own, built for one thread.
    numbers = [pool.get_num_threads() or 1 for pool in _pools().lib_controllers]
    with _pools().limit(limits=1):
        before = _outside.set(max(_outside.get(), *numbers, 1))
        try:
            yield
        finally:
            _outside.reset(before)


def threads_of_a_fit() -> int:
    """How many threads the fit under way may use for pieces of work of its own; 1 outside of any.

    The pools' number before the fit: variables such as ``OMP_NUM_THREADS`` decide it.
    """
    return max(1, _outside.get())


@contextmanager
def all_threads(work: float) -> Iterator[None]:
    """Let a product or factorization use every thread, where it is large enough.

    Outside of :func:`one_thread` this does nothing: the pools have their threads already.

    Parameters
    ----------
    work : float
        Its multiplications and additions, counted together.
    """
    if work < LARGE or _outside.get() <= 1:
        yield
        return
    with _pools().limit(limits=_outside.get()):
        yield


def side_by_side(work: Callable[[T], Any], pieces: Iterable[T]) -> list[Any]:
    """What `work` returns for each piece, with as many threads as the fit under way may use.

    For pieces large enough, of work that numpy does without Python's lock; what they are must not
    follow from the number of threads.
    """
    pieces = list(pieces)
    n_threads = min(threads_of_a_fit(), len(pieces))
    if n_threads <= 1:
        return [work(piece) for piece in pieces]
    with ThreadPoolExecutor(n_threads) as workers:
        return list(workers.map(work, pieces))


class FasterThreads:
    """Chooses between one and all threads for each of many like pieces of work, by their speed.

    Beside another busy process one thread may be faster than all, and that may change while we
    work. Only for pieces whose rounding does not matter to the result.

    Parameters
    ----------
    work : float
        Multiplications and additions of all pieces together. Below ``LARGE`` one thread has them.
    """

    def __init__(self, work: float) -> None:
        self._n_threads = _outside.get() if work >= LARGE else 1
        self._n_pieces = 0
        self._speed = {False: 0.0, True: 0.0}

    @contextmanager
    def piece(self, size: float) -> Iterator[None]:
        """Run a piece of work of this size, in any unit."""
        if self._n_threads <= 1:
            yield
            return
        on_all = self._choice()
        start = perf_counter()
        with _pools().limit(limits=self._n_threads if on_all else 1):
            yield
        self._speed[on_all] = size / max(perf_counter() - start, 1e-9)
        self._n_pieces += 1

    def _choice(self) -> bool:
        all_faster = self._speed[True] >= self._speed[False]
        # The first two are tried, one each; later what was slower is tried again now and then.
        return all_faster != (self._n_pieces == 1 or self._n_pieces % TRY_AGAIN == TRY_AGAIN - 1)


def on_one_thread(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, run inside :func:`one_thread`."""

    @wraps(function)
    def held(*args: Any, **kwargs: Any) -> Any:
        with one_thread():
            return function(*args, **kwargs)

    return held
