"""
How hard may a margin look?
===========================

M3FS gives every column a scale factor σ between 0 and 1. Beside the four columns of iris stand ten
of pure noise. C weighs the samples inside the margin against its width: a small one looks at the
bulk of the samples and gives all noise σ = 0, a large one follows single samples, for which noise
does as well as anything.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from tamis import M3FS

noise = np.random.default_rng(0).standard_normal((150, 10))
X = np.hstack([load_iris().data, noise])
weights = (0.3, 3.0, 10.0)

# %%
# With four columns to select, σ sums to four. Two clusters: one kind of iris and the other two.

figure, axes = plt.subplots(1, 3, figsize=(10, 3), sharey=True, layout="constrained")
for axis, C in zip(axes, weights, strict=True):
    sigma = M3FS(4, C=C, lam=0, random_state=0).fit(X).sigma_
    share = sigma[4:].sum() / sigma.sum()
    print(f"C = {C:<4g} {100 * share:3.0f} % of σ on noise")
    axis.bar(np.arange(1, 15), sigma, color=["tab:blue"] * 4 + ["tab:orange"] * 10)
    axis.set_title(f"C = {C:g}")
    axis.set_xlabel("column: iris, then noise")
axes[0].set_ylabel("σ")
plt.show()

# %%
# With many noisy columns begin with a small C.
