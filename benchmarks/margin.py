"""Cases of M3FS: its inner problem against the paper's cone program, MNIST, and growth with n."""

from __future__ import annotations

import os
import time
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import data
from benchmarks.case import Case

N_CUTS, N_SELECTED, LAM, C, BALANCE = 20, 50, 0.01, 10.0, 0.03
SIZES = (1000, 4000, 16_000)


def _scaled_clusters(n_samples: int, n_features: int) -> Any:
    from sklearn.preprocessing import minmax_scale

    return minmax_scale(data.clusters(n_samples, n_features))


def _digits_with_labels() -> Any:
    """MNIST's digits 0 to 3 as means of 2 × 2 pixels in [0, 1]; the labels in the last column."""
    with np.load(Path(os.environ["TAMIS_DATA"]) / "MNIST.npz") as file:
        X, y = file["X"], file["y"]
    kept = y < 4
    images = X[kept].reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4))
    return np.column_stack([images.reshape(-1, 196) / 255, y[kept]])


def _laplacian(X: Any) -> Any:
    from tamis.graphs import neighbor_graph, normalized_laplacian

    return normalized_laplacian(neighbor_graph(X, 5))


def _inner_problem(X: Any) -> Any:
    """The convex problem after some cuts, with the labels of K-means."""
    from tamis.clustering import kmeans
    from tamis.solvers.margin import _Task
    from tamis.solvers.margin_classes import TwoClasses
    from tamis.solvers.margin_hessian import SparseLaplacian, manifold_hessian
    from tamis.solvers.table_operator import TableOperator

    samples = TableOperator.centred(X)
    hessian = manifold_hessian(samples, SparseLaplacian(_laplacian(X)), LAM, 1)
    task = _Task(samples, TwoClasses(samples), C, N_SELECTED, BALANCE, 0.0, hessian)
    labels = kmeans(X, 2, n_init=1, random_state=0).labels
    cuts = task.first_cut(labels)
    for _ in range(N_CUTS - 1):
        _, solution = task.inner(cuts)
        cuts.add(task.most_violated(task.decision(solution), labels)[0])
    return task.inner(cuts)[0]


def _four_digits(objective: float) -> float:
    return float(f"{objective:.4g}")


def _inner(X: Any) -> dict[str, Any]:
    """Seconds of the solver alone."""
    from tamis.solvers.margin_ipm import solve_inner

    problem = _inner_problem(X)
    start = time.perf_counter()
    found = solve_inner(problem)
    seconds = time.perf_counter() - start
    note = f"gap {found.optimality / found.objective[-1]:.0e} of the objective"
    return {"seconds": seconds, "result": _four_digits(found.objective[-1]), "note": note}


def _cone_program(X: Any) -> dict[str, Any]:
    """Equation 10 as printed, in CVXPY: seconds to state and to solve it, without those of L^½."""
    import cvxpy as cp

    problem = _inner_problem(X)
    n, d = X.shape
    values, vectors = np.linalg.eigh(_laplacian(X).toarray())
    root = (vectors * np.sqrt(values.clip(min=0))) @ vectors.T  # L^½
    seen = X - X.mean(axis=0)
    A, a, h = problem.cuts[:, :, 0], problem.cut_biases, problem.cut_bounds

    start = time.perf_counter()
    v, sigma, t = cp.Variable(d), cp.Variable(d), cp.Variable(d)
    b, xi, s = cp.Variable(), cp.Variable(), cp.Variable()
    f = seen @ v + b
    constraints = [
        A @ v + a * b >= h - xi,
        sigma >= 0,
        sigma <= 1,
        *(cp.norm(cp.hstack([2 * v[k], t[k] - sigma[k]])) <= t[k] + sigma[k] for k in range(d)),
        cp.norm(cp.hstack([2 * (root @ f), s - 1])) <= s + 1,
        xi >= 0,
        cp.sum(sigma) == N_SELECTED,
        cp.abs(cp.sum(f)) <= BALANCE * n,
    ]
    program = cp.Problem(cp.Minimize(0.5 * cp.sum(t) + C * xi + LAM * s), constraints)
    program.solve(solver=cp.CLARABEL)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "result": _four_digits(program.value)}


def _digits(table: Any, **parameters: Any) -> dict[str, Any]:
    """A fit, and the accuracy of its clusters as a note."""
    from tamis import M3FS
    from tamis.metrics import clustering_accuracy, rand_index

    X, y = table[:, :-1], table[:, -1].astype(int)
    model = M3FS(50, random_state=0, **parameters)
    start = time.perf_counter()
    model.fit(X)
    seconds = time.perf_counter() - start
    accuracy = f"accuracy {100 * clustering_accuracy(y, model.labels_):.1f} %"
    note = f"{accuracy}, Rand index {rand_index(y, model.labels_):.3f}, {model.n_cuts_} cuts"
    return {"seconds": seconds, "note": note}


def _growth(X: Any, lam: float) -> dict[str, Any]:
    """Fits of more and more samples: the exponent of n as a note, the seconds of the largest."""
    from sklearn.exceptions import ConvergenceWarning

    from tamis import M3FS

    sizes = [n for n in SIZES if n <= len(X)] or [len(X)]
    seconds = []
    for n in sizes:
        # λ weighs a sum over the samples, C a mean.
        model = M3FS(10, lam=lam * SIZES[0] / n, graph="knn", random_state=0)
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X[:n])
        seconds.append(time.perf_counter() - start)
    if len(sizes) == 1:
        return {"seconds": seconds[0]}
    exponent = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
    times = ", ".join(f"{t:.2f} s for {n}" for n, t in zip(sizes, seconds, strict=True))
    return {"seconds": seconds[-1], "note": f"n^{exponent:.1f}: {times}"}


CASES = (
    Case(
        f"M3FS, inner problem with {N_CUTS} cuts, λ = {LAM:g}",
        "1000 × 500",
        partial(_scaled_clusters, 1000, 500),
        _inner,
        _cone_program,
        "cone program (10), CVXPY and Clarabel",
        min_ratio=20,
        same_result=True,
        repeats=3,
    ),
    *(
        Case(
            f"M3FS, {n_clusters} clusters, 50 features, {label}",
            "MNIST 0 to 3, 28,911 × 196",
            _digits_with_labels,
            partial(_digits, n_clusters=n_clusters, **parameters),
            max_megabytes=4000,
            needs="MNIST",
        )
        for n_clusters in (5, 4)  # the paper counts five classes, its 28,911 samples are four
        for label, parameters in (("λ = 0", {"lam": 0.0}), ("λ = 0.01", {}))
    ),
    *(
        Case(
            f"M3FS, growth with n, λ = {lam:g}",
            "1000, 4000 and 16,000 × 50",
            partial(_scaled_clusters, SIZES[-1], 50),
            partial(_growth, lam=lam),
        )
        for lam in (0.0, 0.01)
    ),
)
