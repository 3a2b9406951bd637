"""Which pixels of handwritten digits are worth keeping? Every method's answer, without labels.

Prints what Auto keeps by itself and why, then the pixels that each method keeps, and writes these,
over the mean digit, to a PNG.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from tamis import Auto
from tamis.metrics import clustering_accuracy
from tamis.registry import METHODS, make

N_KEPT = 20
PER_ROW = 6
REPEATS = 10
N_REASONS = 3


def by_itself(n_samples: int) -> str:
    """What Auto keeps when it is told nothing, and the first reasons for it and against others."""
    auto = Auto().fit(load_digits(as_frame=True).data.head(n_samples))
    reasons = auto.reasons()
    kept = reasons[reasons["kept"]].sort_values("rank")
    by_kind = reasons[~reasons["kept"]].drop_duplicates("kind")  # one of each
    lines = [
        f"Auto, told nothing, finds {auto.n_clusters_} groups and keeps {auto.n_features_} pixels:",
        *("".join("██" if on else "··" for on in row) for row in auto.get_support().reshape(8, 8)),
        *(f"{row.column} is kept: {row.reason}" for row in kept.head(N_REASONS).itertuples()),
        *(f"{row.column} is not: {row.reason}" for row in by_kind.itertuples()),
    ]
    return "\n".join(lines)


def selections(X: np.ndarray) -> dict[str, np.ndarray]:
    """The pixels that each method keeps, as masks."""
    masks = {}
    for name in METHODS:
        selector = make(name, n_features_to_select=N_KEPT)
        known = selector.get_params()
        # There are ten digits; one start each, to be quick.
        settings = {"random_state": 0, "n_clusters": 10, "n_components": 10, "n_init": 1}
        selector.set_params(**{key: value for key, value in settings.items() if key in known})
        with warnings.catch_warnings():
            # CUFS has not settled by its 300th iteration; what it keeps by then is shown.
            warnings.simplefilter("ignore", ConvergenceWarning)
            masks[name] = selector.fit(X).get_support()
    return masks


def accuracy(X: np.ndarray, y: np.ndarray) -> float:
    """Mean clustering accuracy of K-means; the labels only judge."""
    runs = [KMeans(10, n_init=1, random_state=seed).fit_predict(X) for seed in range(REPEATS)]
    return float(np.mean([clustering_accuracy(y, labels) for labels in runs]))


def as_text(masks: dict[str, np.ndarray], judged: dict[str, float]) -> str:
    """The masks side by side, two characters a pixel."""
    columns = []
    for name, mask in masks.items():
        rows = ["".join("██" if kept else "··" for kept in row) for row in mask.reshape(8, 8)]
        columns.append([name, *rows, f"accuracy {judged[name]:.2f}", ""])
    lines = []
    for start in range(0, len(columns), PER_ROW):
        for line in zip(*columns[start : start + PER_ROW], strict=True):
            lines.append("   ".join(cell.ljust(16) for cell in line).rstrip())
    return "\n".join(lines)


def draw(X: np.ndarray, masks: dict[str, np.ndarray], judged: dict[str, float], path: Path) -> None:
    """The masks over the mean digit, as a picture."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    n_rows = -(-len(masks) // PER_ROW)
    size = (2.0 * PER_ROW, 0.3 + 2.3 * n_rows)
    figure, axes = plt.subplots(n_rows, PER_ROW, figsize=size, squeeze=False)
    for axis in axes.flat[len(masks) :]:
        axis.set_visible(False)
    for axis, (name, mask) in zip(axes.flat, masks.items(), strict=False):
        axis.imshow(X.mean(axis=0).reshape(8, 8), cmap="Greys")
        for row, column in np.argwhere(mask.reshape(8, 8)):
            square = plt.Rectangle(
                (column - 0.42, row - 0.42), 0.84, 0.84, fill=False, color="C3", linewidth=2
            )
            axis.add_patch(square)
        axis.set_title(name, fontsize=10)
        axis.set_xlabel(f"accuracy {judged[name]:.2f}", fontsize=9)
        axis.set_xticks([])
        axis.set_yticks([])
    figure.suptitle(
        f"{N_KEPT} of 64 pixels, over the mean digit; K-means on all pixels: {judged['all']:.2f}",
        fontsize=11,
    )
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=80)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("demo/digits.png"))
    parser.add_argument("--samples", type=int, help="use the first so many digits only")
    arguments = parser.parse_args()
    output, n_samples = arguments.output, arguments.samples
    X, y = (part[:n_samples] for part in load_digits(return_X_y=True))
    print(by_itself(len(X)), end="\n\n")
    masks = selections(X)
    judged = {name: accuracy(X[:, mask], y) for name, mask in masks.items()}
    judged["all"] = accuracy(X, y)
    print(f"{N_KEPT} of the 64 pixels of {len(X)} handwritten digits, chosen without labels\n")
    print(as_text(masks, judged))
    print(
        f"\nMean K-means clustering accuracy over {REPEATS} starts; all pixels: {judged['all']:.2f}"
    )
    draw(X, masks, judged, output)
    print(f"Picture: {output}")


if __name__ == "__main__":
    main()
