"""Cases of the neighbour search and of the simple scores."""

from __future__ import annotations

import hashlib
from functools import partial
from typing import Any

import numpy as np

from benchmarks import data
from benchmarks.case import SKFEATURE, Case, fit


def _fingerprint(indices: Any) -> str:
    return hashlib.sha256(np.ascontiguousarray(indices, dtype=np.int64).tobytes()).hexdigest()


def _our_neighbors(X: Any) -> str:
    from tamis.graphs import nearest_neighbors

    return _fingerprint(nearest_neighbors(X, 5).indices)


def _sklearn_neighbors(X: Any) -> str:
    from sklearn.neighbors import NearestNeighbors

    search = NearestNeighbors(n_neighbors=5, algorithm="brute").fit(X)
    return _fingerprint(search.kneighbors(return_distance=False))


def _skfeature_laplacian_score(X: Any) -> None:
    from skfeature.function.similarity_based.lap_score import lap_score
    from skfeature.utility.construct_W import construct_W

    graph = construct_W(
        X, metric="euclidean", neighbor_mode="knn", weight_mode="heat_kernel", k=5, t=1
    )
    lap_score(X, mode="index", W=graph)


def _skfeature_spec(X: Any, style: int) -> None:
    from skfeature.function.similarity_based.SPEC import spec

    spec(X, mode="raw", style=style)


NEWS20 = partial(data.real_set, "News20")

CASES = (
    Case(
        "exact 5 nearest neighbours",
        "15,000 × 500",
        partial(data.noise, 15_000, 500),
        _our_neighbors,
        _sklearn_neighbors,
        "scikit-learn brute force",
        min_ratio=2,
        same_result=True,
        repeats=3,
    ),
    Case(
        "exact 5 nearest neighbours",
        "5000 × 256",
        partial(data.clusters, 5000, 256),
        _our_neighbors,
        _sklearn_neighbors,
        "scikit-learn brute force",
        same_result=True,
        repeats=3,
    ),
    Case(
        "LaplacianScore with its graph",
        "5000 × 256",
        partial(data.clusters, 5000, 256),
        partial(fit, method="laplacian_score"),
        _skfeature_laplacian_score,
        SKFEATURE,
        min_ratio=5,
        repeats=3,
    ),
    Case(
        "SPEC(style=1) with its graph",
        "5000 × 256",
        partial(data.clusters, 5000, 256),
        partial(fit, method="spec", style=1),
        partial(_skfeature_spec, style=-1),
        SKFEATURE,
        min_ratio=20,
    ),
    Case(
        "SPEC(style=2) with its graph",
        "5000 × 256",
        partial(data.clusters, 5000, 256),
        partial(fit, method="spec", style=2),
        partial(_skfeature_spec, style=0),
        SKFEATURE,
        min_ratio=20,
    ),
    Case(
        "SPEC(style=3) with its graph",
        "5000 × 256",
        partial(data.clusters, 5000, 256),
        partial(fit, method="spec", style=3),
        partial(_skfeature_spec, style=6),
        SKFEATURE,
    ),
    Case(
        "LaplacianScore with its graph",
        "20,000 × 100",
        partial(data.clusters, 20_000, 100),
        partial(fit, method="laplacian_score"),
        max_megabytes=500,
    ),
    *(
        Case(
            f"SPEC(style={style}) with its graph",
            "20,000 × 100",
            partial(data.clusters, 20_000, 100),
            partial(fit, method="spec", style=style),
            max_megabytes=500,
        )
        for style in (1, 2, 3)
    ),
    *(
        Case(
            label,
            "News20, sparse 18,221 × 36,568",
            NEWS20,
            partial(fit, method=method, **parameters),
            max_megabytes=1000,
            needs="News20",
        )
        for label, method, parameters in (
            ("RandomSubset", "random_subset", {"random_state": 0}),
            ("MaxVariance", "max_variance", {}),
            ("PCAScore", "pca_score", {}),
            ("LaplacianScore with its graph", "laplacian_score", {}),
            ("SPEC(style=1) with its graph", "spec", {"style": 1}),
            ("SPEC(style=2) with its graph", "spec", {"style": 2}),
            ("SPEC(style=3) with its graph", "spec", {"style": 3}),
        )
    ),
    Case(
        "exact 5 nearest neighbours",
        "News20, sparse 18,221 × 36,568",
        NEWS20,
        _our_neighbors,
        _sklearn_neighbors,
        "scikit-learn brute force",
        needs="News20",
    ),
    Case(
        "LaplacianScore with its graph",
        "MNIST, 70,000 × 784",
        partial(data.real_set, "MNIST"),
        partial(fit, method="laplacian_score"),
        max_megabytes=4000,
        needs="MNIST",
    ),
)
