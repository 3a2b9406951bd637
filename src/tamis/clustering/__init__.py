"""Clustering: K-means that does not depend on the order of the samples, normalised cut, and
maximum margin.

>>> from sklearn.datasets import load_digits
>>> from tamis.clustering import MaximumMarginClustering
>>> from tamis.metrics import clustering_accuracy
>>> X, y = load_digits(n_class=2, return_X_y=True)
>>> float(clustering_accuracy(y, MaximumMarginClustering(random_state=0).fit_predict(X / 16)))
1.0
"""

from tamis.clustering._communities import communities, modularity
from tamis.clustering._consensus import consensus, partitions
from tamis.clustering._kmeans import Clusters, between_root, cluster_means, indicator, kmeans
from tamis.clustering._manifold import ManifoldGraph, is_complete, manifold_laplacian
from tamis.clustering._maximum_margin import (
    MaximumMarginClustering,
    balance_limit,
    decided_labels,
    margin_failure,
    margin_shortage,
    margin_starts,
    n_functions,
)
from tamis.clustering._normalized_cut import normalized_cut
from tamis.clustering._sparse_kmeans import WeightedClusters, bounded_weights, sparse_kmeans
from tamis.clustering._two_medians import upper_of_two

__all__ = [
    "Clusters",
    "ManifoldGraph",
    "MaximumMarginClustering",
    "WeightedClusters",
    "balance_limit",
    "between_root",
    "bounded_weights",
    "cluster_means",
    "communities",
    "consensus",
    "decided_labels",
    "indicator",
    "is_complete",
    "kmeans",
    "manifold_laplacian",
    "margin_failure",
    "margin_shortage",
    "margin_starts",
    "modularity",
    "n_functions",
    "normalized_cut",
    "partitions",
    "sparse_kmeans",
    "upper_of_two",
]
