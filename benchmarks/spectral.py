"""Cases of UDFS, JELSR, MCFS and MRSF, their peers, and the naive dense forms they replace."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

from benchmarks import data
from benchmarks.case import SKFEATURE, Case, fit

N_ITERATIONS = 10


class _SecondStep(Exception):  # noqa: N818 - a signal, not an error
    pass


def _skfeature_udfs(X: Any) -> dict[str, float]:
    """Seconds for ten iterations, from the preparation and one iteration."""
    import scipy.linalg
    from skfeature.function.sparse_learning_based import UDFS

    steps: list[float] = []
    eigh = scipy.linalg.eigh

    def watched(*args: Any, **kwargs: Any) -> Any:
        steps.append(time.perf_counter())
        if len(steps) == 2:
            raise _SecondStep
        return eigh(*args, **kwargs)

    start = time.perf_counter()
    scipy.linalg.eigh = watched
    try:
        UDFS.udfs(X, mode="raw", gamma=0.1, k=5, n_clusters=5)
    except _SecondStep:
        pass
    finally:
        scipy.linalg.eigh = eigh
    first, second = steps
    return {"seconds": first - start + N_ITERATIONS * (second - first)}


def _skfeature_mcfs(X: Any) -> None:
    from skfeature.function.sparse_learning_based.MCFS import mcfs
    from skfeature.utility.construct_W import construct_W

    graph = construct_W(
        X, metric="euclidean", neighbor_mode="knn", weight_mode="heat_kernel", k=5, t=1
    )
    mcfs(X, n_selected_features=50, mode="index", W=graph, n_clusters=5)


def _naive_jelsr(X: Any) -> dict[str, float]:
    """Equations 13 and 16 as printed, dense: seconds for ten iterations, from one."""
    import scipy.sparse as sp

    from tamis.graphs import lle_weights

    start = time.perf_counter()
    remainder = sp.eye_array(len(X)) - lle_weights(X, 5)
    L = (remainder.T @ remainder).toarray()
    X = X - X.mean(axis=0)
    prepared = time.perf_counter()
    inverse = np.linalg.inv(X.T @ X + np.eye(X.shape[1]))
    _, vectors = np.linalg.eigh(L + np.eye(len(X)) - X @ inverse @ X.T)
    W = inverse @ X.T @ vectors[:, :5]
    np.linalg.norm(W, axis=1)
    step = time.perf_counter() - prepared
    return {"seconds": prepared - start + N_ITERATIONS * step}


def _own_search(X: Any) -> None:
    from tamis.graphs import nearest_neighbors

    nearest_neighbors(X, 5)


def _beyond_search(X: Any, method: str, **parameters: Any) -> dict[str, Any]:
    """A fit, and how much of its time is not the neighbour search."""
    start = time.perf_counter()
    _own_search(X)
    searched = time.perf_counter()
    fit(X, method, **parameters)
    seconds = time.perf_counter() - searched
    beyond = max(0.0, seconds - (searched - start))
    return {"seconds": seconds, "note": f"{beyond:.0f} s beyond the neighbour search"}


_TEN = {"max_iter": N_ITERATIONS, "tol": 0}

CASES = (
    Case(
        "UDFS, 10 iterations",
        "200 × 5000",
        partial(data.clusters, 200, 5000),
        partial(fit, method="udfs", **_TEN),
        _skfeature_udfs,
        f"{SKFEATURE}, extrapolated from one iteration",
        min_ratio=200,
    ),
    Case(
        "UDFS, 10 iterations",
        "1000 × 2000",
        partial(data.clusters, 1000, 2000),
        partial(fit, method="udfs", **_TEN),
        _skfeature_udfs,
        f"{SKFEATURE}, extrapolated from one iteration",
        min_ratio=8,
        repeats=2,
    ),
    Case(
        "UDFS",
        "5000 × 256",
        partial(data.clusters, 5000, 256),
        partial(fit, method="udfs"),
        _own_search,
        "its own neighbour search",
        min_ratio=0.5,
        repeats=3,
    ),
    Case(
        "UDFS, 10 iterations",
        "500 × 20,000",
        partial(data.clusters, 500, 20_000),
        partial(fit, method="udfs", **_TEN),
        max_megabytes=1000,
    ),
    Case(
        "JELSR, 10 iterations",
        "5000 × 256",
        partial(data.clusters, 5000, 256),
        partial(fit, method="jelsr", **_TEN),
        _naive_jelsr,
        "naive dense form, extrapolated from one iteration",
        min_ratio=40,
    ),
    Case(
        "JELSR, 10 iterations",
        "203 × 3312",
        partial(data.clusters, 203, 3312),
        partial(fit, method="jelsr", **_TEN),
        _naive_jelsr,
        "naive dense form, extrapolated from one iteration",
        min_ratio=100,
        repeats=2,
    ),
    Case(
        "MCFS, 50 features",
        "5000 × 256",
        partial(data.clusters, 5000, 256),
        partial(fit, method="mcfs", n_features_to_select=50),
        _skfeature_mcfs,
        SKFEATURE,
        min_ratio=20,
    ),
    *(
        Case(
            name,
            "MNIST, 70,000 × 784",
            partial(data.real_set, "MNIST"),
            partial(_beyond_search, method=method, **parameters),
            max_megabytes=6000,
            needs="MNIST",
        )
        for name, method, parameters in (
            ("UDFS", "udfs", {"n_clusters": 10}),
            ("MCFS, 50 features", "mcfs", {"n_clusters": 10, "n_features_to_select": 50}),
            ("MRSF", "mrsf", {"n_clusters": 10}),
        )
    ),
)
