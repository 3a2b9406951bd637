"""TRACK and LDA-Km on faces and scenes: what their features show, and how K-means does on them.

Reads the sets MSRC_v1_CENT, ORL_644 and JAFFE_1024 from the folder that TAMIS_DATA names, as .npz
files with `X` and `y`. Sets that are not there are left out; with none at all, scikit-learn's
digits stand in. Labels are used to colour and to judge, never to select.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import numpy as np
from matplotlib import pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.metrics import silhouette_score

from tamis import (
    JELSR,
    LDAKM,
    MCFS,
    MRSF,
    SPEC,
    TRACK,
    UDFS,
    LaplacianScore,
    MaxVariance,
    RandomSubset,
)
from tamis.metrics import clustering_accuracy

COUNTS = (20, 40, 60, 80, 100)  # of fewer features, all
REPEATS = 20
GAMMAS = (1e-4, 1e-3, 1e-2, 0.1)
N_SHOWN = 30
MARKERS = "os^vD*P"

Table = tuple[np.ndarray, np.ndarray]


def tables() -> dict[str, Table]:
    """The sets at hand, unscaled."""
    folder = Path(os.environ.get("TAMIS_DATA", "."))
    found = {}
    for name in ("MSRC_v1_CENT", "ORL_644", "JAFFE_1024"):
        path = folder / f"{name}.npz"
        if path.exists():
            with np.load(path) as file:
                found[name] = (file["X"].astype(np.float64), file["y"])
    if not found:
        digits = load_digits()
        found["digits"] = (digits.data[:500], digits.target[:500])
    return found


def methods(n_clusters: int) -> Iterator[tuple[str, Any]]:
    """The paper's comparison, and both methods at several weights of the penalty."""
    yield "max variance", MaxVariance()
    yield "Laplacian score", LaplacianScore()
    yield "SPEC", SPEC()
    yield "MCFS", MCFS(n_clusters=n_clusters)
    for cls in (LDAKM, TRACK):
        for gamma in GAMMAS:
            model = cls(n_clusters=n_clusters, gamma=gamma, random_state=0)
            yield f"{cls.__name__}, γ = {gamma:g}", model


def accuracy(X: np.ndarray, y: np.ndarray, seed: int) -> float:
    """Of one K-means from random samples."""
    model = KMeans(len(np.unique(y)), init="random", n_init=1, random_state=seed)
    return float(clustering_accuracy(y, model.fit_predict(X)))


def accuracies(X: np.ndarray, y: np.ndarray, ranking: np.ndarray) -> list[float]:
    """Mean accuracy in percent for each number of best features."""
    best_first = np.argsort(ranking)
    return [
        100 * float(np.mean([accuracy(X[:, best_first[:k]], y, seed) for seed in range(REPEATS)]))
        for k in COUNTS
    ]


def accuracy_table(name: str, X: np.ndarray, y: np.ndarray) -> None:
    """Print accuracy against the number of features, as a Markdown table."""
    n_classes = len(np.unique(y))
    everything = 100 * np.mean([accuracy(X, y, seed) for seed in range(REPEATS)])
    print(
        f"\n{name}, {X.shape[0]} × {X.shape[1]}, {n_classes} classes; all features {everything:.1f}"
    )
    print("| features kept |" + "".join(f" {k} |" for k in COUNTS))
    print("|---|" + "---:|" * len(COUNTS))
    subsets = [RandomSubset(random_state=seed).fit(X).ranking_ for seed in range(REPEATS)]
    at_random = np.mean(
        [
            [100 * accuracy(X[:, ranking <= k], y, seed) for k in COUNTS]
            for seed, ranking in enumerate(subsets)
        ],
        axis=0,
    )
    print("| random subsets |" + "".join(f" {value:.1f} |" for value in at_random))
    for label, model in methods(n_classes):
        row = accuracies(X, y, model.fit(X).ranking_)
        print(f"| {label} |" + "".join(f" {value:.1f} |" for value in row), flush=True)


def scatter(name: str, X: np.ndarray, y: np.ndarray, path: Path) -> None:
    """The first two principal components of the best features of each method, by class."""
    n_classes = len(np.unique(y))
    shown: list[tuple[str, Any]] = [
        ("all features", None),
        ("random subset", RandomSubset(random_state=0)),
        *((label, model) for label, model in methods(n_classes) if "γ" not in label),
        ("MRSF", MRSF(n_clusters=n_classes)),
        ("UDFS", UDFS(n_clusters=n_classes)),
        ("JELSR", JELSR(n_components=n_classes)),
        ("LDA-Km", LDAKM(n_clusters=n_classes, random_state=0)),
        ("TRACK", TRACK(n_clusters=n_classes, random_state=0)),
    ]
    figure, axes = plt.subplots(3, 4, figsize=(12, 8.4))
    for axis, (label, model) in zip(axes.flat, shown, strict=False):
        kept = X if model is None else X[:, model.fit(X).ranking_ <= N_SHOWN]
        plane = PCA(2).fit_transform(kept)
        for j, value in enumerate(np.unique(y)):
            chosen = y == value
            marker = MARKERS[j % len(MARKERS)]
            axis.scatter(*plane[chosen].T, s=10, marker=marker, color=plt.cm.tab10(j % 10))
        axis.set_title(f"{label}: silhouette {silhouette_score(plane, y):.2f}", fontsize=10)
        axis.set_xticks([])
        axis.set_yticks([])
    for axis in axes.flat[len(shown) :]:
        axis.axis("off")
    figure.suptitle(f"{name}: two principal components of the {N_SHOWN} best features, by class")
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=72)
    print(f"Picture: {path}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("demo"))
    output = parser.parse_args().output
    data = tables()
    name = next(iter(data))
    scatter(name, *data[name], output / "discriminant_scatter.png")
    print(f"\nAccuracy of K-means from random samples, mean of {REPEATS} runs, in percent")
    for name, (X, y) in data.items():
        accuracy_table(name, X, y)


if __name__ == "__main__":
    main()
