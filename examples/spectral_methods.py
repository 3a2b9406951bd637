"""UDFS, JELSR, MCFS and MRSF on real images and sounds: objective curves and the pixels they keep.

Reads the sets UMIST, COIL20, Isolet and USPS from the folder that TAMIS_DATA names, as .npz files
with `X`. Sets that are not there are left out; with none at all, scikit-learn's digits stand in.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.preprocessing import StandardScaler

from tamis import JELSR, MCFS, MRSF, UDFS
from tamis.graphs import neighbor_graph

N_KEPT = 100
CLASSES = {"Isolet": 26, "UMIST": 20, "COIL20": 20, "USPS": 10, "digits": 10}
# Height, width, and whether pixels are stored column by column.
IMAGES = {"UMIST": (28, 23, True), "COIL20": (32, 32, True), "digits": (8, 8, False)}
SWEEPS = (
    (UDFS, "gamma", (1e-3, 1e-2, 0.1, 1.0)),
    (JELSR, "alpha", (0.1, 1.0, 10.0, 100.0)),
    (JELSR, "beta", (1e-3, 0.1, 1.0, 10.0)),
    (MRSF, "alpha", (0.1, 0.2, 0.4, 0.6)),
    (MCFS, "n_nonzero_coefs", (10, 30, 100, 200)),
)


def tables() -> dict[str, np.ndarray]:
    """The sets at hand, standardised."""
    folder = Path(os.environ.get("TAMIS_DATA", "."))
    found = {}
    for name in ("Isolet", "UMIST", "COIL20", "USPS"):
        path = folder / f"{name}.npz"
        if path.exists():
            with np.load(path) as file:
                found[name] = StandardScaler().fit_transform(file["X"].astype(np.float64))
    return found or {"digits": StandardScaler().fit_transform(load_digits().data)}


def selector(cls: type, name: str, **parameters: Any) -> Any:
    """A selector of a fitting size for the set."""
    size = "n_components" if cls is JELSR else "n_clusters"
    n_kept = min(N_KEPT, 30) if name == "digits" else N_KEPT
    return cls(n_kept, **{size: CLASSES[name], **parameters})


def objective_curves(data: dict[str, np.ndarray], path: Path) -> None:
    """Fit all four methods on every set; draw how the objectives fall."""
    figure, axes = plt.subplots(1, len(data), figsize=(3.6 * len(data), 3.2), squeeze=False)
    print(f"{'set':8}{'method':8}{'seconds':>9}{'iterations':>12}{'rows kept':>11}")
    for axis, (name, X) in zip(axes.flat, data.items(), strict=True):
        graph = neighbor_graph(X)
        for cls in (UDFS, JELSR, MCFS, MRSF):
            model = selector(cls, name, **({"affinity": graph} if cls in (MCFS, MRSF) else {}))
            start = time.perf_counter()
            model.fit(X)
            seconds = time.perf_counter() - start
            objective = getattr(model, "objective_", None)
            n_rows = int(np.count_nonzero(np.linalg.norm(model.coef_, axis=1) > 1e-6))
            steps = "" if objective is None else len(objective)
            print(f"{name:8}{cls.__name__:8}{seconds:9.2f}{steps:>12}{n_rows:11}", flush=True)
            if objective is not None:
                assert (np.diff(objective) <= 1e-9 * abs(objective[0])).all()
                axis.plot(
                    np.arange(1, len(objective) + 1), objective / objective[0], label=cls.__name__
                )
        axis.set_xscale("log")
        axis.set_title(f"{name}, {X.shape[0]} × {X.shape[1]}", fontsize=10)
        axis.set_xlabel("iteration (MRSF: working set)")
    axes[0, 0].set_ylabel("objective / its first value")
    axes[0, 0].legend()
    save(figure, path)


def draw_kept(axis: Any, name: str, model: Any) -> None:
    height, width, by_columns = IMAGES[name]
    order = "F" if by_columns else "C"
    axis.imshow(model.get_support().reshape(height, width, order=order), cmap="Greys")
    axis.set_xticks([])
    axis.set_yticks([])


def kept_pixels(data: dict[str, np.ndarray], path: Path) -> None:
    """The pixels that each method keeps, with its defaults."""
    names = [name for name in data if name in IMAGES]
    size = (8.8, 0.4 + 2.4 * len(names))
    figure, axes = plt.subplots(len(names), 4, figsize=size, squeeze=False)
    for row, name in zip(axes, names, strict=True):
        for axis, cls in zip(row, (UDFS, JELSR, MCFS, MRSF), strict=True):
            model = selector(cls, name).fit(data[name])
            draw_kept(axis, name, model)
            axis.set_title(f"{cls.__name__}, {name}", fontsize=9)
    figure.suptitle("kept pixels in black")
    save(figure, path)


def parameter_sweeps(name: str, X: np.ndarray, folder: Path) -> None:
    """How the kept pixels change with each method's parameters: a picture a method."""
    for cls in (UDFS, JELSR, MCFS, MRSF):
        sweeps = [sweep[1:] for sweep in SWEEPS if sweep[0] is cls]
        size = (8.8, 2.5 * len(sweeps))
        figure, axes = plt.subplots(len(sweeps), 4, figsize=size, squeeze=False)
        for row, (parameter, values) in zip(axes, sweeps, strict=True):
            for axis, value in zip(row, values, strict=True):
                model = selector(cls, name, **{parameter: value})
                model.set_params(n_features_to_select=None).fit(X)
                n_rows = int(np.count_nonzero(np.linalg.norm(model.coef_, axis=1) > 1e-6))
                model.set_params(n_features_to_select=min(N_KEPT, X.shape[1] // 2))
                draw_kept(axis, name, model)
                axis.set_title(f"{parameter}={value:g}", fontsize=9)
                axis.set_xlabel(f"{n_rows} rows of W", fontsize=8)
        save(figure, folder / f"parameters_{cls.__name__.lower()}.png")


def save(figure: Any, path: Path) -> None:
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=80)
    print(f"Picture: {path}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("demo"))
    output = parser.parse_args().output
    data = tables()
    objective_curves(data, output / "objective_curves.png")
    kept_pixels(data, output / "kept_pixels.png")
    name = "UMIST" if "UMIST" in data else "digits"
    if name in data:
        parameter_sweeps(name, data[name], output)


if __name__ == "__main__":
    main()
