"""
A selector of your own
======================

A method is a class with ``_fit``, which gives the columns of a table their scores. The rest of the
contract (checks, ranking, selection, column names, pipelines) comes with the base class.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from tamis import Selector
from tamis._typing import FloatArray, Matrix
from tamis.testing import check_selector
from tamis.utils.columns import extent

# %%
# This one prefers columns of a wide range. ``fit`` refuses what no method can use, sets the
# constant columns aside, hands the others to ``_fit``, and ranks them all.


class RangeScore(Selector):
    """Rank features by the width of their range."""

    def _fit(self, X: Matrix) -> FloatArray:
        lowest, highest = extent(X)
        return highest - lowest


# %%
# Does it keep the contract? ``check_selector`` runs scikit-learn's checks and the invariances of
# our field. A check that fails raises, and says what broke.

for check, outcome in check_selector(RangeScore()).items():
    print(f"{check:28}{outcome}")

# %%
# And what does it keep? Of the chemistry of wines, the columns in the largest unit: a range, like a
# variance, is only as good as the units are comparable.

X = load_wine(as_frame=True).data
scores = RangeScore().fit(X).scores_
order = np.argsort(scores)
figure, axis = plt.subplots(figsize=(6, 3.6), layout="constrained")
axis.barh(X.columns[order], scores[order], color="#0b6e4f")
axis.set_xscale("log")
axis.set_xlabel("range, in each column's own unit (logarithmic)")
axis.set_title("RangeScore on unscaled wines")
plt.show()
