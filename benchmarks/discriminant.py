"""Cases of TRACK and LDA-Km, and the literal dense form of TRACK's step."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

from benchmarks import data
from benchmarks.case import Case, fit

N_STEPS = 20


def _labels(X: Any, n_clusters: int) -> Any:
    from tamis.clustering import kmeans

    return kmeans(X, n_clusters, n_init=1, random_state=0).labels


def _one_round(X: Any, n_clusters: int, gamma: float) -> dict[str, float]:
    """The projection for given clusters: seconds without those of K-means."""
    from tamis.clustering import between_root
    from tamis.solvers.indefinite import IndefiniteGram
    from tamis.solvers.table_operator import TableOperator
    from tamis.solvers.trace_ratio import TraceRatio, first_directions, trace_ratio_l21

    labels = _labels(X, n_clusters)
    start = time.perf_counter()
    gram = IndefiniteGram(TableOperator.centred(X, norm=1.0))
    problem = TraceRatio(gram, between_root(gram.X, labels), gamma, 1 / X.shape[1])
    W = first_directions(problem, n_clusters - 1)
    trace_ratio_l21(problem, W, max_iter=N_STEPS, tol=0)
    return {"seconds": time.perf_counter() - start}


def _literal_round(X: Any, n_clusters: int, gamma: float) -> dict[str, float]:
    """Equations 17 and 21 as printed: dense scatters, all eigenvectors at every step."""
    labels = _labels(X, n_clusters)
    start = time.perf_counter()
    X = X - X.mean(axis=0)
    X /= np.linalg.norm(X)
    G = np.eye(n_clusters)[labels]
    residual = X - G @ np.linalg.solve(G.T @ G, G.T @ X)
    ridge = np.eye(X.shape[1]) / X.shape[1]
    total, within = X.T @ X + ridge, residual.T @ residual + ridge
    W = np.linalg.eigh(total - within)[1][:, 1 - n_clusters :]
    for _ in range(N_STEPS):
        t = np.trace(W.T @ total @ W)
        ratio = np.trace(W.T @ within @ W) / t
        D = np.diag(1 / (2 * np.sqrt((W**2).sum(axis=1) + 1e-10)))
        W = np.linalg.eigh(within - ratio * total + gamma * t * D)[1][:, : n_clusters - 1]
    return {"seconds": time.perf_counter() - start}


CASES = (
    *(
        Case(
            f"TRACK, γ = {gamma:g}, {N_STEPS} steps",
            f"{name}, {shape}",
            partial(data.real_set, name),
            partial(_one_round, n_clusters=n_clusters, gamma=gamma),
            partial(_literal_round, n_clusters=n_clusters, gamma=gamma),
            "the printed step, all eigenvectors",
            min_ratio=target,
            needs=name,
            repeats=3,
        )
        for name, shape, n_clusters in (("Isolet", "1560 × 617", 26), ("ORL_644", "400 × 644", 40))
        for gamma, target in ((0.1, 5), (0.001, None))
    ),
    *(
        Case(
            label,
            "pixraw10P, 100 × 10,000",
            partial(data.real_set, "pixraw10P"),
            partial(fit, method=method, n_clusters=10, random_state=0),
            max_megabytes=1000,
            needs="pixraw10P",
        )
        for label, method in (("TRACK", "track"), ("LDA-Km", "lda_km"))
    ),
    *(
        Case(
            label,
            f"{name}, {shape}",
            partial(data.real_set, name),
            partial(fit, method=method, n_clusters=n_clusters, random_state=0),
            needs=name,
        )
        for name, shape, n_clusters in (
            ("MSRC_v1_CENT", "210 × 1302", 7),
            ("ORL_644", "400 × 644", 40),
            ("warpPIE10P", "210 × 2420", 10),
        )
        for label, method in (("TRACK", "track"), ("LDA-Km", "lda_km"))
    ),
)
