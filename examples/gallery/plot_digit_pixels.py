"""
Which pixels of handwritten digits?
===================================

Sixteen of 64 pixels, chosen without labels. Methods that judge pixels one by one keep
patches, since neighbouring pixels are near copies; methods that judge them together spread out.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

from tamis import MCFS, MRSF, LaplacianScore, MaxVariance, RandomSubset, Selector
from tamis.graphs import neighbor_graph
from tamis.metrics import clustering_accuracy, redundancy

# %%
# One graph of neighbouring samples serves all methods that read one. Pixels share a unit, so that
# they need no scaling: standardised, the nearly black edge of the picture would count as much as
# its middle.

X, digit = load_digits(return_X_y=True)
graph = neighbor_graph(X, n_neighbors=5)
selectors: dict[str, Selector] = {
    "random": RandomSubset(16, random_state=0).fit(X),
    "MaxVariance": MaxVariance(16).fit(X),
    "LaplacianScore": LaplacianScore(16, affinity=graph).fit(X),
    "MCFS": MCFS(16, n_clusters=10, affinity=graph).fit(X),
    "MRSF": MRSF(16, n_clusters=10, affinity=graph).fit(X),
    "all pixels": MaxVariance(1.0).fit(X),
}

# %%
# The labels judge, and nothing else: how well does K-means find the ten digits in the kept pixels?


def accuracy(table: np.ndarray) -> float:
    """Mean over ten starts."""
    runs = [KMeans(10, n_init=1, random_state=seed).fit_predict(table) for seed in range(10)]
    return float(np.mean([clustering_accuracy(digit, labels) for labels in runs]))


figure, axes = plt.subplots(2, 3, figsize=(8, 6), layout="constrained")
for axis, (name, selector) in zip(axes.flat, selectors.items(), strict=True):
    mask = selector.get_support()
    axis.imshow(X.mean(axis=0).reshape(8, 8), cmap="Greys")
    for row, column in np.argwhere(mask.reshape(8, 8)):
        corner = (column - 0.42, row - 0.42)
        axis.add_patch(plt.Rectangle(corner, 0.84, 0.84, fill=False, color="C3", linewidth=2))
    judged, copies = accuracy(X[:, mask]), redundancy(X, mask)
    axis.set_title(name)
    axis.set_xlabel(f"accuracy {judged:.2f}, redundancy {copies:.2f}")
    axis.set_xticks([])
    axis.set_yticks([])
figure.suptitle("16 of 64 pixels, over the mean digit")
plt.show()
