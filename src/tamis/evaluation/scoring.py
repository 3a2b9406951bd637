"""How good a selection is: clusterings and classifications of its columns, against the labels."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from tamis._typing import IntArray, Matrix
from tamis.evaluation.mixed import MixedTable
from tamis.evaluation.preparation import N_NEIGHBORS
from tamis.evaluation.protocol import Classifier, Protocol
from tamis.evaluation.seeds import fold_seeds
from tamis.graphs import neighbor_graph, spectral_embedding
from tamis.metrics import clustering_scores, normalized_mutual_information
from tamis.utils.sparse import is_sparse, with_short_indices

__all__ = ["classification_values", "clustering_values", "held_out_values", "repeated_kmeans"]

# Above this share of stored values a sparse table is clustered faster as a dense one.
DENSE_SHARE = 0.05


def repeated_kmeans(X: Matrix, n_clusters: int, protocol: Protocol, seeds: range) -> list[IntArray]:
    """Clusterings of X, one per seed."""
    if is_sparse(X) and X.nnz > DENSE_SHARE * X.shape[0] * X.shape[1]:
        X = X.toarray()
    X = with_short_indices(X)
    runs = []
    for seed in seeds:
        model = KMeans(
            n_clusters, init=protocol.kmeans_init, n_init=protocol.n_init, random_state=seed
        )
        with warnings.catch_warnings():
            # Fewer distinct samples than clusters: then there are fewer clusters.
            warnings.simplefilter("ignore", ConvergenceWarning)
            runs.append(model.fit_predict(X))
    return runs


def clustering_values(
    X: Matrix,
    y: IntArray | None,
    n_clusters: int,
    protocol: Protocol,
    seeds: range,
    reference: IntArray | None,
) -> dict[str, list[float]]:
    """Every measure of every clusterer, one value per seed.

    Parameters
    ----------
    X : matrix of shape (n_samples, n_selected)
    y : ndarray or None
        Labels to judge by; None leaves only the agreement.
    n_clusters : int
    protocol : Protocol
    seeds : range
        One clustering each.
    reference : ndarray or None
        A clustering of all columns; the agreement of K-means with it is measured too.

    Returns
    -------
    dict of str to list of float
        "kmeans_acc", "kmeans_nmi", ..., "ncut_acc", ..., "agreement".

    Notes
    -----
    O(n·k·c) per iteration of K-means with k columns; the graph of a normalised cut is made once.
    """
    values: dict[str, list[float]] = {}
    for clusterer in protocol.clusterers:
        table = X
        if clusterer == "ncut":
            table = _cut_embedding(X, n_clusters)
        for labels in repeated_kmeans(table, n_clusters, protocol, seeds):
            if y is not None:
                for name, score in clustering_scores(y, labels).items():
                    values.setdefault(f"{clusterer}_{name}", []).append(score)
            if reference is not None and clusterer == protocol.clusterers[0]:
                agreement = normalized_mutual_information(reference, labels)
                values.setdefault("agreement", []).append(agreement)
    return values


def _cut_embedding(X: Matrix, n_clusters: int) -> Matrix:
    n_neighbors = min(N_NEIGHBORS, X.shape[0] - 1)
    return spectral_embedding(neighbor_graph(X, n_neighbors), max(1, n_clusters - 1))[1]


def classification_values(X: Matrix, y: IntArray, protocol: Protocol) -> dict[str, list[float]]:
    """The accuracy of every classifier in each fold of each division into folds.

    The folds are the same for every selection. Samples that are alone in their class take no part:
    they cannot be both learned and predicted.
    """
    if not protocol.classifiers:
        return {}
    several = _in_company(y)
    if len(several) < len(y):
        X, y = X[several], np.unique(y[several], return_inverse=True)[1]
    n_folds = _n_folds(y, protocol)
    X = with_short_indices(X)
    values: dict[str, list[float]] = {name: [] for name in protocol.classifiers}
    for seed in fold_seeds(protocol):
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
        for name in protocol.classifiers:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # the last iterate is judged
                accuracies = cross_val_score(_classifier(name, seed, protocol), X, y, cv=folds)
            values[name] += [float(value) for value in accuracies]
    return values


def held_out_values(
    table: MixedTable, chosen: IntArray, y: IntArray, protocol: Protocol
) -> dict[str, list[float]]:
    """The accuracies of :func:`classification_values` on a table that is prepared in each fold.

    Gaps, categories and scales of the rows to predict are treated as the training rows say.

    Parameters
    ----------
    table : MixedTable
    chosen : ndarray of int
        Columns of the prepared table.
    y : ndarray of int
        Classes of its rows.
    protocol : Protocol
    """
    if not protocol.classifiers:
        return {}
    _, _, preparation, rows = table.prepared(protocol.max_samples, protocol.seed)
    several = _in_company(y)
    rows, y = rows[several], np.unique(y[several], return_inverse=True)[1]
    n_folds = _n_folds(y, protocol)
    outputs = preparation.get_feature_names_out()[np.sort(chosen)].tolist()
    sources = list(preparation.groups_)
    values: dict[str, list[float]] = {name: [] for name in protocol.classifiers}
    for seed in fold_seeds(protocol):
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
        for train, test in folds.split(rows, y):
            seen, unseen = table.held_out(
                rows[train], rows[test], outputs, sources, protocol.scaling
            )
            for name in protocol.classifiers:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ConvergenceWarning)
                    model = _classifier(name, seed, protocol).fit(seen, y[train])
                values[name].append(float(model.score(unseen, y[test])))
    return values


def _in_company(y: IntArray) -> IntArray:
    """The samples whose class has others."""
    several = np.flatnonzero(np.bincount(y)[y] > 1)
    if not len(several):
        raise ValueError("every class has a single sample: none can be learned and predicted.")
    return several


def _n_folds(y: IntArray, protocol: Protocol) -> int:
    return min(protocol.n_folds, int(np.bincount(y).min()))


def _classifier(name: Classifier, seed: int, protocol: Protocol) -> Any:
    if name == "svm":
        return LinearSVC(dual="auto", max_iter=5000, random_state=seed)
    if name == "rf":
        return RandomForestClassifier(protocol.n_trees, random_state=seed)
    return KNeighborsClassifier({"1nn": 1, "5nn": 5}[name])
