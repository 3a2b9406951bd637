"""
How many columns?
=================

One ``fit`` ranks all columns; the number to keep is read afterwards. Three curves over that number,
none of which needs a label, beside the same curves for random subsets.
"""

from __future__ import annotations

from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import cross_val_predict
from sklearn.preprocessing import StandardScaler

from tamis import MRSF, RandomSubset, Selector
from tamis.graphs import nearest_neighbors, neighbor_graph, spectral_embedding
from tamis.metrics import normalized_mutual_information

X = StandardScaler().fit_transform(load_digits().data[:600])
numbers = (2, 5, 10, 15, 20, 30, 45)

# %%
# What the whole table says: each sample's neighbours, and the groups of a spectral clustering.

neighbors = nearest_neighbors(X, 10).indices
_, embedding = spectral_embedding(neighbor_graph(X), 10)
groups = KMeans(10, n_init=3, random_state=0).fit_predict(embedding)


def rebuilt(kept: np.ndarray) -> float:
    """Share of the table's variance that a linear map rebuilds in rows it has not seen."""
    predicted = cross_val_predict(RidgeCV(np.logspace(-2, 5, 15)), kept, X, cv=5)
    return float(1 - np.square(X - predicted).sum() / np.square(X).sum())


def overlap(kept: np.ndarray) -> float:
    """Share of the ten neighbours that stay neighbours."""
    after = nearest_neighbors(kept, 10).indices
    return float(np.mean([np.isin(a, b).mean() for a, b in zip(neighbors, after, strict=True)]))


def agreement(kept: np.ndarray) -> float:
    """How well K-means on the kept columns finds the groups of all columns."""
    found = KMeans(10, n_init=2, random_state=0).fit_predict(kept)
    return normalized_mutual_information(groups, found)


# %%
# Changing ``n_features_to_select`` after ``fit`` costs nothing.


def curve(selector: Selector, measure: Callable[[np.ndarray], float]) -> list[float]:
    """A measure at each number of columns."""
    masks = [selector.set_params(n_features_to_select=n).get_support() for n in numbers]
    return [measure(X[:, mask]) for mask in masks]


selector = MRSF(n_clusters=10).fit(X)
chance = [RandomSubset(random_state=seed).fit(X) for seed in range(3)]
titles = {
    "variance rebuilt": rebuilt,
    "neighbours kept": overlap,
    "groups found (NMI)": agreement,
}
figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
for axis, (title, measure) in zip(axes, titles.items(), strict=True):
    random = np.array([curve(one, measure) for one in chance])
    axis.fill_between(numbers, random.min(axis=0), random.max(axis=0), color="0.85")
    axis.plot(numbers, random.mean(axis=0), color="0.5", label="random, three seeds")
    axis.plot(numbers, curve(selector, measure), color="#0b6e4f", marker="o", label="MRSF")
    axis.set_title(title)
    axis.set_xlabel("columns kept, of 64")
    axis.set_ylim(0, 1)
axes[0].legend()
plt.show()

# %%
# The groups are found with about 15 columns; more add little. The variance is another question:
# there chance catches up at about 20 columns, since MRSF looks for groups and not for variance. Ask
# the question that your use asks.
