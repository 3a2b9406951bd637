"""How the objective of JDLUFS falls over thirty iterations, on the sets of its poster.

Sets that are not at hand are left out; with none at all, some of scikit-learn's digits stand in.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import numpy as np
from matplotlib import pyplot as plt

from tamis import JDLUFS, datasets
from tamis.preprocessing import scaled

N_ITERATIONS = 30


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=["warppie10p", "pixraw10p", "isolet"])
    parser.add_argument("--output", type=Path, default=Path("demo"))
    arguments = parser.parse_args()
    names = [name for name in arguments.sets if name in datasets.available()] or ["digits"]
    figure, axis = plt.subplots(figsize=(5, 3.4))
    for name in names:
        data = datasets.load(name)
        X = scaled(data.X if name != "digits" else data.X[:300], "unit")
        model = JDLUFS(n_clusters=data.n_classes, max_iter=N_ITERATIONS, tol=0, random_state=0)
        objective = model.fit(X).objective_
        assert (np.diff(objective) <= 1e-9 * objective[0]).all()
        axis.plot(np.arange(1, N_ITERATIONS + 1), objective / objective[0], label=name)
        print(f"{name}: {objective[-1] / objective[0]:.3f} of the first value is left", flush=True)
    axis.set_xlabel("iteration")
    axis.set_ylabel("objective / its first value")
    axis.set_title("JDLUFS", fontsize=10)
    axis.legend()
    figure.tight_layout()
    arguments.output.mkdir(parents=True, exist_ok=True)
    path = arguments.output / "convergence_jdlufs.png"
    figure.savefig(path, dpi=80)
    print(f"Picture: {path}")


if __name__ == "__main__":
    main()
