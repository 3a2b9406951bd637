"""
Words that tell topics: sparse text
===================================

Documents: the docstrings of scikit-learn. Topics: the modules that they belong to, which no method
is told. The table of tf-idf weights stays sparse from beginning to end.
"""

from __future__ import annotations

from inspect import getdoc
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import StandardScaler
from sklearn.utils.discovery import all_estimators, all_functions

from tamis import MCFS, MRSF, LaplacianScore, MaxVariance, RandomSubset
from tamis.metrics import clustering_accuracy

topics = (
    "cluster",
    "linear_model",
    "ensemble",
    "feature_selection",
    "metrics",
    "preprocessing",
    "decomposition",
    "datasets",
)
things = [thing for _, thing in [*all_estimators(), *all_functions()]]
things = [thing for thing in things if thing.__module__.split(".")[1] in topics]
topic = np.array([thing.__module__.split(".")[1] for thing in things])
vectorizer = TfidfVectorizer(
    min_df=5, token_pattern="[a-z]{3,}", stop_words="english", sublinear_tf=True
)
counts = vectorizer.fit_transform([getdoc(thing) or "" for thing in things])
X = sp.csr_array(StandardScaler(with_mean=False).fit_transform(counts))
share = X.nnz / (X.shape[0] * X.shape[1])
print(f"{X.shape[0]} documents, {X.shape[1]} words, {share:.0%} of the table is not zero")

# %%
# ``weights="cosine"`` compares documents by direction, so that their length plays no part.


def accuracy(table: Any) -> float:
    """Mean over five starts of K-means; the topics only judge."""
    runs = [
        KMeans(len(topics), n_init=1, random_state=seed).fit_predict(table) for seed in range(5)
    ]
    return float(np.mean([clustering_accuracy(topic, labels) for labels in runs]))


numbers = (10, 20, 40, 80, 160)
selectors = {
    "MRSF": MRSF(n_clusters=len(topics), weights="cosine"),
    "MCFS": MCFS(n_clusters=len(topics), weights="cosine"),
    "LaplacianScore": LaplacianScore(weights="cosine"),
    "MaxVariance, tf-idf": MaxVariance(),
    "random": RandomSubset(random_state=0),
}
figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
for name, selector in selectors.items():
    selector.fit(counts if "tf-idf" in name else X)
    masks = [selector.set_params(n_features_to_select=n).get_support() for n in numbers]
    style = {"color": "0.6", "linestyle": "--"} if name == "random" else {"marker": "o"}
    table = counts if "tf-idf" in name else X
    axis.plot(numbers, [accuracy(table[:, mask]) for mask in masks], label=name, **style)
axis.axhline(accuracy(counts), color="0.2", linestyle=":", label="all words, tf-idf")
axis.axhline(accuracy(X), color="0.6", linestyle=":", label="all words, standardised")
axis.set_xscale("log")
axis.set_xticks(numbers, [str(number) for number in numbers])
axis.set_xlabel("words kept")
axis.set_ylabel("clustering accuracy")
axis.legend(fontsize=8, ncols=2, loc="lower right")
axis.set_ylim(0.25, 0.7)
plt.show()

# %%
# The words that MRSF puts first, best first:

words = vectorizer.get_feature_names_out()
print(" ".join(words[np.argsort(selectors["MRSF"].ranking_)[:40]]))
