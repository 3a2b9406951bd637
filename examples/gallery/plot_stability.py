"""
Would another sample choose the same?
=====================================

Each method selects on ten random halves of the samples. Nogueira's measure is 1 for equal choices
and 0 for chance. Stable is not good: a method may be sure of itself and wrong. But a choice that
changes with every other sample is no ground for a story about *these* columns.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from tamis.metrics import nogueira_stability
from tamis.registry import make

X = StandardScaler().fit_transform(load_breast_cancer().data)
rng = np.random.default_rng(0)
halves = [rng.choice(len(X), len(X) // 2, replace=False) for _ in range(10)]
numbers = range(1, 16)
names = ("random_subset", "pca_score", "laplacian_score", "mcfs", "mrsf", "udfs")

# %%
# One fit for each half; the ranking serves all numbers of columns.

figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
for name in names:
    selectors = [make(name) for _ in halves]
    if name == "random_subset":
        for seed, selector in enumerate(selectors):
            selector.set_params(random_state=seed)
    ranks = np.array([s.fit(X[half]).ranking_ for s, half in zip(selectors, halves, strict=True)])
    stability = [nogueira_stability(ranks <= number) for number in numbers]
    print(f"{name:16} keeping five: {stability[4]:.2f}")
    style = {"color": "0.6", "linestyle": "--"} if name == "random_subset" else {}
    axis.plot(numbers, stability, label=name, **style)
axis.set_xlabel("columns kept, of 30")
axis.set_ylabel("Nogueira stability over ten halves")
axis.set_title("breast cancer measurements")
axis.legend(ncols=2, fontsize=9)
plt.show()

# %%
# The Laplacian score is the most stable: the same group of near copies comes first each time. MCFS
# and MRSF keep one column of each group, now one copy, now another, and pay for it here. PCAScore
# has many columns of nearly the same score, whose order chance decides.
