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
    MiniBatchKMeans(1000, n_init=1, random_state=0).fit(X)


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
            "MRSF by landmarks",
            shape,
            partial(data.real_set, name),
            partial(_agreement, n_features=n_features, reference=_exact_graph),
            needs=name,
        )
        for name, shape, n_features in (
            ("MNIST", "MNIST, 70,000 × 784", 392),
            ("celeba_attr", "celeba, 202,599 × 39", 20),
        )
    ),
)
