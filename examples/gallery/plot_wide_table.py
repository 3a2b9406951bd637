"""
Genes: a wide table in a pipeline
=================================

120 samples of four kinds, 3000 columns, of which a few differ between the kinds; the rest is noise
that no two columns share. Who finds the few, and from how many on?
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tamis import MRSF, LaplacianScore, MaxVariance, PCAScore, RandomSubset

n_kinds, n_genes, n_kept = 4, 3000, 20
kind = np.repeat(np.arange(n_kinds), 30)


def measured(n_real: int) -> np.ndarray:
    """A table whose first `n_real` columns differ between the kinds, in widely different units."""
    rng = np.random.default_rng(0)
    level, spread = rng.normal(6, 2, n_genes), rng.gamma(2, 0.5, n_genes)
    shift = np.zeros((n_kinds, n_genes))
    shift[np.arange(n_real) % n_kinds, np.arange(n_real)] = 2.5
    return level + spread * (rng.standard_normal((len(kind), n_genes)) + shift[kind])


# %%
# A selector is a step of a pipeline like any other, after the scaler. Whatever comes next sees 20
# columns.

selectors = {
    "PCAScore": PCAScore(n_kept, n_components=3),
    "LaplacianScore": LaplacianScore(n_kept),
    "MRSF": MRSF(n_kept, n_clusters=n_kinds),
    "MRSF, 15 neighbours": MRSF(n_kept, n_clusters=n_kinds, n_neighbors=15, weights="cosine"),
    "MaxVariance, unscaled": MaxVariance(n_kept),
    "random": RandomSubset(n_kept, random_state=0),
}
numbers = (20, 40, 60, 80, 100)
found: dict[str, list[int]] = {name: [] for name in selectors}
for n_real in numbers:
    X = measured(n_real)
    Z = StandardScaler().fit_transform(X)
    for name, selector in selectors.items():
        kept = selector.fit(X if "unscaled" in name else Z).get_support(indices=True)
        found[name].append(int((kept < n_real).sum()))

# %%
# The picture: how many of the 20 kept columns are real; and, with 60 real ones, two principal
# components before and after the selection, coloured by the kind that nobody was told.

figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained", width_ratios=(1.5, 1, 1))
for name, hits in found.items():
    style = {"color": "0.6", "linestyle": "--"} if name == "random" else {"marker": "o"}
    axes[0].plot(numbers, hits, label=name, **style)
axes[0].set_xlabel("real columns among 3000")
axes[0].set_ylabel("real ones among the 20 kept")
axes[0].legend(fontsize=8)
X = measured(60)
before = make_pipeline(StandardScaler(), PCA(2))
after = make_pipeline(StandardScaler(), selectors["LaplacianScore"], PCA(2))
for axis, pipeline, title in ((axes[1], before, "all columns"), (axes[2], after, "20 columns")):
    axis.scatter(*pipeline.fit_transform(X).T, c=kind, cmap="tab10", s=14)
    axis.set_title(f"{title}, two components")
    axis.set_xticks([])
    axis.set_yticks([])
plt.show()

# %%
# Where nearly all columns are noise and samples are few, distances are noise too, and 3000 columns
# of noise can rebuild the embedding of any 120 samples: methods that judge columns *together*, as
# MRSF, are misled. Scores of single columns hold out longer. A graph with more neighbours, compared
# by angle, helps. Real tables, whose columns share much, are seldom that bad; but if you fear so,
# look at ``PCAScore`` and ``LaplacianScore`` too.
