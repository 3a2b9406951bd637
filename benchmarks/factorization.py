"""Cases of JDLUFS, RUFS, EUFS and CUFS; K-means is the measure of what JDLUFS may cost."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks import data
from benchmarks.case import Case, fit


def _within_unit_interval(name: str) -> Any:
    """A real set, its values brought within [0, 1] together."""
    X = data.real_set(name)
    return (X - X.min()) / np.ptp(X)


def _kmeans(X: Any) -> None:
    from sklearn.cluster import KMeans

    KMeans(10, n_init=10, random_state=0).fit(X)


METHODS = (
    ("RUFS", partial(fit, method="rufs", n_clusters=10, random_state=0)),
    ("EUFS", partial(fit, method="eufs", n_clusters=10, random_state=0)),
    ("CUFS", partial(fit, method="cufs", random_state=0)),
)
JDLUFS = partial(fit, method="jdlufs", n_clusters=10, random_state=0)

CASES = (
    Case(
        "JDLUFS",
        "USPS, 9298 × 256",
        partial(_within_unit_interval, "USPS"),
        JDLUFS,
        _kmeans,
        "K-means of 10 starts",
        min_ratio=0.1,
        max_megabytes=1000,
        needs="USPS",
        repeats=3,
    ),
    *(
        Case(
            label,
            f"{name}, {shape}",
            partial(_within_unit_interval, name),
            work,
            max_megabytes=1000,
            needs=name,
        )
        for name, shape, methods in (
            ("USPS", "9298 × 256", METHODS),
            ("pixraw10P", "100 × 10,000", (("JDLUFS", JDLUFS), *METHODS)),
        )
        for label, work in methods
    ),
)
