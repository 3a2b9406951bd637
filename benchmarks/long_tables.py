"""Cases of long tables: landmarks beside PCA and mini-batch K-means on the same table."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks import data
from benchmarks.case import Case, fit

PEER = "scikit-learn: PCA(20).fit and MiniBatchKMeans(1000).fit"


def _peer(X: Any) -> None:
    from sklearn.cluster import MiniBatchKMeans
    from sklearn.decomposition import PCA

    PCA(20, random_state=0).fit(X)
    MiniBatchKMeans(min(1000, len(X)), n_init=1, random_state=0).fit(X)


def _auto(X: Any) -> dict[str, str]:
    """Auto, which decides on 20,000 of the rows."""
    from tamis import Auto

    fitted = Auto().fit(X)
    return {"note": f"{fitted.n_features_} columns, {fitted.n_clusters_} groups"}


def _agreement_of_auto(X: Any, n_features: int) -> dict[str, Any]:
    """Auto on 20,000 rows: how many of its columns other rows give, and how many all rows."""
    import sys
    import time

    from tamis import Auto

    start = time.perf_counter()
    found = Auto(n_features).fit(X)
    seconds = time.perf_counter() - start
    module = sys.modules[Auto.__module__]
    rows, module.SAMPLED_ROWS = module.SAMPLED_ROWS, len(X)  # type: ignore[attr-defined]
    whole = Auto(n_features).fit(X)
    module.SAMPLED_ROWS = rows  # type: ignore[attr-defined]
    same = np.mean(whole.get_support()[found.get_support()])
    others = np.random.default_rng(1).choice(len(X), rows, replace=False)
    other = Auto(n_features).fit(X[np.sort(others)])
    again = np.mean(other.get_support()[found.get_support()])
    note = f"{same:.0%} of {n_features} columns are those of all rows, {again:.0%} of other rows"
    return {"seconds": seconds, "note": note}


def _agreement(X: Any, n_features: int, reference: Any) -> dict[str, Any]:
    """MRSF by landmarks, and how many of its columns are those of the exact graph."""
    import time

    from tamis import MRSF

    start = time.perf_counter()
    found = MRSF(n_features, neighbors="landmarks").fit(X)
    seconds = time.perf_counter() - start
    exact = MRSF(n_features, affinity=reference(X)).fit(X)
    same = np.mean(exact.get_support()[found.get_support()])
    return {"seconds": seconds, "note": f"{same:.0%} of {n_features} columns are the exact ones"}


def _exact_graph(X: Any) -> Any:
    from tamis.graphs import neighbor_graph

    return neighbor_graph(X)


# Sets with rows enough, and half of their columns.
REAL = (
    ("MNIST", "MNIST, 70,000 × 784", 392),
    ("celeba_attr", "celeba, 202,599 × 39", 20),
)

CASES = (
    *(
        Case(
            "MRSF by landmarks",
            f"{n_samples:,} × 100",
            partial(data.clusters, n_samples, 100),
            partial(fit, method="mrsf", neighbors="landmarks"),
            _peer,
            PEER,
            min_ratio=1 / 3,
            max_megabytes=1500,
        )
        for n_samples in (10_000, 100_000, 1_000_000)
    ),
    *(
        Case(
            "Auto, long",
            f"{n_samples:,} × 100",
            partial(data.clusters, n_samples, 100),
            _auto,
            _peer,
            PEER,
            min_ratio=1 / 3 if n_samples == 1_000_000 else None,
            max_megabytes=1500,
        )
        for n_samples in (10_000, 100_000, 1_000_000)
    ),
    *(
        Case(
            "MRSF by landmarks",
            shape,
            partial(data.real_set, name),
            partial(_agreement, n_features=n_features, reference=_exact_graph),
            needs=name,
        )
        for name, shape, n_features in REAL
    ),
    *(
        Case(
            "Auto, long",
            shape,
            partial(data.real_set, name),
            partial(_agreement_of_auto, n_features=n_features),
            needs=name,
        )
        for name, shape, n_features in REAL
    ),
)
