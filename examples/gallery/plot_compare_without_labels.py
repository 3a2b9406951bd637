"""
Comparing methods without labels
================================

Which selection is best, if nobody knows the answer? Two candidates for a judge: the silhouette of
K-means on the kept columns, and the agreement of that clustering with a spectral clustering of
*all* columns. Here the labels exist, so that the judges can be judged.
"""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics import silhouette_score
from sklearn.preprocessing import StandardScaler

from tamis import EUFS, MCFS, MRSF, UDFS, LaplacianScore, PCAScore, RandomSubset, Selector
from tamis.graphs import neighbor_graph, spectral_embedding
from tamis.metrics import clustering_accuracy, normalized_mutual_information

X, digit = load_digits(return_X_y=True)
X, digit = StandardScaler().fit_transform(X[:800]), digit[:800]
graph = neighbor_graph(X)
_, embedding = spectral_embedding(graph, 10)
whole = KMeans(10, n_init=3, random_state=0).fit_predict(embedding)

# %%
# Sixteen pixels by each of many candidates.

shared: dict[str, Any] = {"n_features_to_select": 16, "affinity": graph}
candidates: dict[str, Selector] = {
    **{f"MRSF {alpha}": MRSF(n_clusters=10, alpha=alpha, **shared) for alpha in (0.2, 0.4, 0.6)},
    "MCFS": MCFS(n_clusters=10, **shared),
    "LaplacianScore": LaplacianScore(**shared),
    "UDFS": UDFS(16, n_clusters=10),
    "EUFS": EUFS(n_clusters=10, random_state=0, **shared),
    "PCAScore": PCAScore(16),
    **{f"random {seed}": RandomSubset(16, random_state=seed) for seed in range(6)},
}
accuracy, agreement, silhouette = {}, {}, {}
for name, selector in candidates.items():
    kept = selector.fit(X).transform(X)
    runs = [KMeans(10, n_init=1, random_state=seed).fit_predict(kept) for seed in range(5)]
    accuracy[name] = np.mean([clustering_accuracy(digit, run) for run in runs])
    agreement[name] = np.mean([normalized_mutual_information(whole, run) for run in runs])
    silhouette[name] = np.mean([silhouette_score(kept, run) for run in runs])

# %%
# A judge is good if its dots rise from left to right. The silhouette is at its best for the worst
# selection: nearly constant pixels, which make few, tight clusters of nothing.

figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharey=True, layout="constrained")
for axis, judge, title in (
    (axes[0], agreement, "agreement with the groups of all columns"),
    (axes[1], silhouette, "silhouette on the kept columns"),
):
    for position, name in enumerate(candidates):
        colour = "0.6" if name.startswith("random") else "#0b6e4f"
        axis.scatter(judge[name], accuracy[name], color=colour)
        if not name.startswith("random"):
            # Every other name to the left of its dot: close ones do not cover each other.
            side = {"ha": "right", "xytext": (-6, -3)} if position % 2 else {"xytext": (6, -3)}
            here = (judge[name], accuracy[name])
            axis.annotate(name, here, textcoords="offset points", fontsize=8, **side)
    values = [judge[name] for name in candidates]
    correlation = np.corrcoef(values, [accuracy[name] for name in candidates])[0, 1]
    axis.set_title(f"correlation {correlation:.2f}")
    axis.set_xlabel(title)
    axis.margins(x=0.15)
axes[0].set_ylabel("accuracy, by the labels nobody has")
figure.suptitle("16 of 64 pixels; grey: random subsets")
plt.show()
