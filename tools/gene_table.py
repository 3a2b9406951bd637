"""Genes chosen on one half of the cells, judged on the other: ours beside four flavours of scanpy.

make scanpy   # an environment with scanpy
.venv-scanpy/bin/pip install leidenalg igraph
TAMIS_DATA=… .venv-scanpy/bin/python tools/gene_table.py --halves 4

Labels judge only. The composite of a choice is the mean of five numbers on the cells of the
other half, after logging, scaling and 50 principal components: ARI and NMI of K-means with the
true number of types, ARI and NMI of Leiden communities, and the share of a cell's 15 neighbours
that are of its type. Runs that are in docs/results/genes/runs.csv are not made again; --times
measures the times of whole sets anew, into times.csv.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

# Of whole sets: so often each, one after the other, and so many batches.
REPEATS = 9
N_BATCHES = 100
TIMED = ("seurat_v3", "tamis", "tamis in batches")
RESULTS = Path(__file__).parent.parent / "docs" / "results" / "genes"
SIZES = (200, 500, 1000, 2000)
FLAVOURS = ("seurat", "cell_ranger", "seurat_v3", "pearson_residuals")
MEASURES = ("kmeans_ari", "kmeans_nmi", "leiden_ari", "leiden_nmi", "purity")
FIELDS = ("set", "half", "method", "n_genes", *MEASURES, "seconds")
REAL = {"worm neurons": "WormNeuron_sc", "mouse bladder": "MouseBladder_sc"}
# Seed, cells, genes, types, depth, share and size of differences, ambient share, rare types,
# programmes that cross the types, and extra variance of the genes.
MADE: dict[str, dict[str, Any]] = {
    "made, eight types": {"seed": 1},
    "made, twelve types, shallow": {
        "seed": 2,
        "n_cells": 1500,
        "n_types": 12,
        "depth": 1500,
        "share": 0.03,
        "size": 0.9,
        "rare": (0.01, 0.01, 0.02),
    },
    "made, five types, noisy": {
        "seed": 3,
        "n_cells": 2400,
        "n_types": 5,
        "depth": 6000,
        "share": 0.02,
        "size": 0.6,
        "n_programmes": 6,
        "noise": 0.4,
    },
    "made, ten types, ambient": {
        "seed": 4,
        "n_cells": 1200,
        "n_genes": 15000,
        "n_types": 10,
        "depth": 2500,
        "share": 0.02,
        "size": 1.0,
        "ambient": 0.15,
        "rare": (0.015,),
        "n_programmes": 5,
    },
}


def made(
    *,
    seed: int,
    n_cells: int = 2000,
    n_genes: int = 8000,
    n_types: int = 8,
    depth: float = 3000,
    share: float = 0.05,
    size: float = 0.7,
    ambient: float = 0.05,
    rare: tuple[float, ...] = (0.01, 0.02),
    n_programmes: int = 3,
    noise: float = 0.2,
) -> tuple[Any, Any]:
    """Counts of planted types: negative binomial, of uneven depth, with ambient molecules.

    Every third type is a variant of the one before. Programmes such as the cell cycle run across
    the types.
    """
    rng = np.random.default_rng(seed)
    mean = rng.gamma(0.6, 1 / 0.3, n_genes) + 1e-3
    high = rng.random(n_genes) < 0.03
    mean[high] *= rng.lognormal(3, 0.5, high.sum())
    common = rng.dirichlet(np.full(n_types - len(rare), 3.0)) * (1 - sum(rare))
    kinds = rng.choice(n_types, n_cells, p=np.r_[common, rare])
    effect = np.zeros((n_types, n_genes))
    for kind in range(n_types):
        variant = kind % 3 == 2
        if variant:
            effect[kind] = effect[kind - 1]
        differs = rng.random(n_genes) < (share / 3 if variant else share)
        sign = np.where(rng.random(differs.sum()) < 0.8, 1, -1)
        effect[kind, differs] += rng.normal(size, size / 1.5, differs.sum()) * sign
    logs = np.log(mean) + effect[kinds]
    for _ in range(n_programmes):
        takes_part = rng.random(n_genes) < 0.01
        activity = np.maximum(0, rng.normal(0, 1, n_cells))
        logs += activity[:, None] * (np.abs(rng.normal(0.5, 0.3, n_genes)) * takes_part)
    rate = np.exp(logs)
    rate /= rate.sum(axis=1, keepdims=True)
    rate = (1 - ambient) * rate + ambient * rate.mean(axis=0)
    rate *= rng.lognormal(np.log(depth), 0.45, n_cells)[:, None]
    dispersion = noise * rng.chisquare(10, n_genes) / 10 + 0.02
    counts = rng.poisson(rng.gamma(1 / dispersion, dispersion * rate))
    return sp.csr_matrix(counts.astype(np.float32)), kinds


def real(name: str) -> tuple[Any, Any]:
    """A set of TAMIS_DATA."""
    with np.load(Path(os.environ["TAMIS_DATA"]) / f"{name}.npz") as file:
        parts = (file["X_data"].astype(np.float32), file["X_indices"], file["X_indptr"])
        counts = sp.csr_matrix(parts, shape=tuple(file["X_shape"]))
        return counts, np.unique(file["y"], return_inverse=True)[1]


def choose(counts: Any, method: str, n_genes: int) -> Any:
    """The genes that a method chooses, as indices."""
    import anndata
    import scanpy as sc

    from tamis import genes

    adata = anndata.AnnData(counts.copy())
    if method == "tamis":
        genes.select(adata, n_top_genes=n_genes)
    elif method == "pearson_residuals":
        sc.experimental.pp.highly_variable_genes(adata, n_top_genes=n_genes)
    else:
        if method != "seurat_v3":
            sc.pp.normalize_total(adata, target_sum=1e4)
            sc.pp.log1p(adata)
        sc.pp.highly_variable_genes(adata, flavor=method, n_top_genes=n_genes)
    return np.flatnonzero(adata.var["highly_variable"].to_numpy())


def judge(counts: Any, kinds: Any, chosen: Any) -> list[float]:
    """The five measures of a choice of genes."""
    import anndata
    import scanpy as sc
    from sklearn.cluster import KMeans
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
    from sklearn.neighbors import NearestNeighbors

    adata = anndata.AnnData(counts.copy())
    sc.pp.normalize_total(adata, target_sum=1e4)
    sc.pp.log1p(adata)
    adata = adata[:, chosen].copy()
    sc.pp.scale(adata, max_value=10)
    sc.pp.pca(adata, n_comps=50, svd_solver="arpack", random_state=0)
    sc.pp.neighbors(adata, n_neighbors=15, random_state=0)
    sc.tl.leiden(adata, flavor="igraph", n_iterations=2, random_state=0)
    Z = adata.obsm["X_pca"]
    found = KMeans(len(np.unique(kinds)), n_init=10, random_state=0).fit_predict(Z)
    measured = []
    for labels in (found, adata.obs["leiden"].to_numpy()):
        measured += [
            adjusted_rand_score(kinds, labels),
            normalized_mutual_info_score(kinds, labels),
        ]
    near = NearestNeighbors(n_neighbors=15).fit(Z).kneighbors(return_distance=False)
    return [float(value) for value in (*measured, (kinds[near] == kinds[:, None]).mean())]


def measure(
    name: str,
    seed: int,
    turned: bool,
    done: set[tuple[str, str, str, str]],
    write: Callable[..., None],
) -> None:
    """All methods and sizes on one half of a set that are not done yet; `turned`, on the other."""
    half = f"{seed} turned" if turned else str(seed)
    wanted = [
        (method, size)
        for method in (*FLAVOURS, "tamis")
        for size in SIZES
        if (name, half, method, str(size)) not in done
    ]
    if not wanted:
        return
    counts, kinds = real(REAL[name]) if name in REAL else made(**MADE[name])
    order = np.random.default_rng(seed).permutation(len(kinds))
    first, second = np.split(order, [len(order) // 2])
    if turned:
        first, second = second, first
    seen = np.asarray((counts[first] > 0).sum(axis=0)).ravel() >= 3
    counts = counts[:, np.flatnonzero(seen)]
    for method, size in wanted:
        start = time.process_time()
        chosen = choose(counts[first], method, size)
        seconds = time.process_time() - start
        measures = judge(counts[second], kinds[second], chosen)
        write(name, half, method, size, *(f"{v:.4f}" for v in measures), f"{seconds:.3f}")


def whole_times(name: str) -> list[object]:
    """Median processor times of choosing 2000 genes of a whole set, by turns."""
    import anndata
    import scanpy as sc

    from tamis import genes

    counts, kinds = real(REAL[name])
    seen = np.asarray((counts > 0).sum(axis=0)).ravel() >= 3
    adata = anndata.AnnData(counts[:, np.flatnonzero(seen)])
    batch = np.random.default_rng(0).integers(0, N_BATCHES, len(kinds))
    adata.obs["batch"] = batch.astype(str)
    functions = {
        "seurat_v3": lambda: sc.pp.highly_variable_genes(
            adata, flavor="seurat_v3", n_top_genes=2000
        ),
        "tamis": lambda: genes.select(adata, n_top_genes=2000),
        "tamis in batches": lambda: genes.select(adata, n_top_genes=2000, batch_key="batch"),
    }
    spent: dict[str, list[float]] = {method: [] for method in TIMED}
    for repeat in range(REPEATS + 1):  # the first is not counted
        for method in TIMED:
            start = time.process_time()
            functions[method]()
            if repeat:
                spent[method].append(time.process_time() - start)
    return [name, *adata.shape, *(f"{np.median(spent[method]):.3f}" for method in TIMED)]


def table_of_times(path: Path) -> list[str]:
    """Times of whole sets and their ratios, as lines of the page."""
    lines = [
        "",
        f"Processor time of 2000 genes of a whole set, of one thread, median of {REPEATS}, by",
        f"turns; genes that fewer than three cells have are left out, and the {N_BATCHES} batches",
        "are drawn at random.",
        "",
        f"| set | cells | genes | seurat_v3 | tamis | ratio | {N_BATCHES} batches | to one |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in read_runs(path):
        theirs, ours, batches = (float(row[method]) for method in TIMED)
        lines.append(
            f"| {row['set']} | {row['cells']} | {row['genes']} | {theirs:.2f} s | {ours:.2f} s | "
            f"{ours / theirs:.1f} | {batches:.2f} s | {batches / ours:.1f} |"
        )
    return lines


def read_runs(path: Path) -> list[dict[str, str]]:
    """What is measured so far."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def differences(
    name: str, composite: dict[tuple[str, str, int], list[float]]
) -> tuple[list[float], list[float]]:
    """Of tamis to the flavour that is best on average, at each size, and their standard errors."""
    gain, error = [], []
    for size in SIZES:
        best = max(FLAVOURS, key=lambda flavour: float(np.mean(composite[name, flavour, size])))
        of_halves = np.subtract(composite[name, "tamis", size], composite[name, best, size])
        gain.append(float(of_halves.mean()))
        error.append(float(of_halves.std(ddof=1) / np.sqrt(len(of_halves))))
    return gain, error


def table(runs: list[dict[str, str]], times: Path) -> str:
    """The page: composites per set, method and size, and their differences to the best flavour."""
    n_runs = Counter((run["set"], run["half"]) for run in runs)
    whole = (len(FLAVOURS) + 1) * len(SIZES)
    runs = [run for run in runs if n_runs[run["set"], run["half"]] == whole]
    runs.sort(key=lambda run: run["half"])  # so that differences are of one half
    composite: dict[tuple[str, str, int], list[float]] = {}
    for run in runs:
        key = run["set"], run["method"], int(run["n_genes"])
        composite.setdefault(key, []).append(float(np.mean([float(run[m]) for m in MEASURES])))
    sets = [name for name in (*REAL, *MADE) if any(run["set"] == name for run in runs)]
    lines = [
        "# Genes: beside scanpy's highly variable genes",
        "",
        "Genes are chosen on a random half of the cells and judged on the other, and the other way",
        "round: the mean of ARI and NMI of K-means (with the true number of types), of Leiden",
        "communities, and the share of 15 neighbours of a cell's own type, after logging, scaling",
        "and 50 principal components. Labels judge only. Made sets have planted types, rare ones",
        "among them. Differences are to the flavour that is best on average at that size, with the",
        "standard error of their mean over the halves, which share cells.",
        "Measured by `tools/gene_table.py`; every run is in `runs.csv` beside this page.",
        "",
        "| set | halves | method | " + " | ".join(f"{size} genes" for size in SIZES) + " |",
        "| --- | --- | --- | " + " | ".join("---" for _ in SIZES) + " |",
    ]
    gains: dict[str, list[list[float]]] = {"real": [], "made": []}
    for name in sets:
        means = {
            method: [float(np.mean(composite[name, method, size])) for size in SIZES]
            for method in (*FLAVOURS, "tamis")
            if (name, method, SIZES[-1]) in composite
        }
        n_halves = len(composite[name, "tamis", SIZES[-1]])
        for method, values in means.items():
            cells = " | ".join(f"{value:.3f}" for value in values)
            lines.append(f"| {name} | {n_halves} | {method} | {cells} |")
        gain, error = differences(name, composite)
        gains["real" if name in REAL else "made"].append(gain)
        cells = " | ".join(f"{g:+.3f} ± {e:.3f}" for g, e in zip(gain, error, strict=True))
        lines.append(f"| {name} | {n_halves} | **tamis − best flavour** | {cells} |")
    lines.append("")
    for what, rows in gains.items():
        if rows:
            cells = ", ".join(
                f"{value:+.3f} at {size}"
                for value, size in zip(np.mean(rows, axis=0), SIZES, strict=True)
            )
            lines.append(f"Mean difference to the best flavour of each set, {what} sets: {cells}.")
    seconds = {
        method: float(np.median([float(run["seconds"]) for run in runs if run["method"] == method]))
        for method in (*FLAVOURS, "tamis")
    }
    told = ", ".join(f"{method} {value:.2f} s" for method, value in seconds.items())
    lines += ["", f"Median processor time of a choice on one half, of one thread: {told}."]
    lines += table_of_times(times)
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure what is missing, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="*", choices=[*REAL, *MADE], default=[*REAL, *MADE])
    parser.add_argument("--halves", type=int, default=4, help="random halvings, each both ways")
    parser.add_argument("--times", action="store_true", help="measure the times of whole sets")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / "runs.csv"
    done = {(r["set"], r["half"], r["method"], r["n_genes"]) for r in read_runs(path)}

    def write(*values: object) -> None:
        new = not path.exists()
        with path.open("a", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            if new:
                writer.writerow(FIELDS)
            writer.writerow(values)

    for seed in range(options.halves):
        for name in options.sets:
            for turned in (False, True):
                measure(name, seed, turned, done, write)
    times = RESULTS / "times.csv"
    if options.times:
        rows = [whole_times(name) for name in REAL]
        with times.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerows([["set", "cells", "genes", *TIMED], *rows])
    (RESULTS / "genes.md").write_text(table(read_runs(path), times), encoding="utf-8")


if __name__ == "__main__":
    main()
