"""Selections that may be good, each a ranking of the columns, and what speaks for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tamis._typing import BoolArray, FloatArray, IntArray, Matrix
from tamis.auto._scales import Scale
from tamis.auto._shape import Shape
from tamis.clustering import kmeans, modularity
from tamis.graphs import spectral_embedding
from tamis.metrics import normalized_mutual_information
from tamis.solvers.l21 import alpha_max, l21_regression
from tamis.solvers.lars import NEWS, least_angle_regression, scores_along_paths
from tamis.solvers.residual import left_of
from tamis.solvers.row_norms import row_norms
from tamis.solvers.table_operator import TableOperator
from tamis.utils.columns import centred_unit_columns

Target = Literal["groups", "groups and eigenvectors"]

# The penalty of the regression, as a share of the one that leaves no column.
ALPHA = 0.4
TOLERANCE = 1e-4
MAX_EPOCHS = 2000


@dataclass(frozen=True)
class Regression:
    """Columns that together rebuild the targets, and how the others follow.

    Attributes
    ----------
    scale : {"standard", "pareto", "none"}
    target : {"groups", "groups and eigenvectors"}
    coef : ndarray of shape (n_features, n_targets)
    correlation : ndarray of shape (n_features, n_targets)
        ``XᵀY``.
    scores : ndarray of shape (n_features,)
        Larger is better; see :func:`tamis.solvers.lars.scores_along_paths`.
    """

    scale: Scale
    target: Target
    coef: FloatArray
    correlation: FloatArray
    scores: FloatArray

    def best(self, n_features: int) -> IntArray:
        """The columns of the highest scores."""
        return np.argsort(-self.scores, kind="stable")[:n_features]


def targets_of(shape: Shape, target: Target) -> FloatArray:
    """What is to be rebuilt from few columns, as centred unit columns.

    Indicators of the groups or, beside them, as many of the smoothest eigenvectors of the graph as
    tell the groups apart.
    """
    indicators = np.eye(shape.n_groups)[shape.labels]
    parts = [indicators]
    if target == "groups and eigenvectors":
        n_connected = int(np.count_nonzero(np.diff(shape.graph.indptr)))
        n_vectors = min(max(1, shape.n_groups - 1), n_connected - 1)
        if n_vectors >= 1:
            parts.append(spectral_embedding(shape.graph, n_vectors)[1])
    Y = centred_unit_columns(np.hstack(parts))
    return Y[:, Y.any(axis=0)]


def regress(
    X: TableOperator,
    Y: FloatArray,
    n_ranked: int,
    scale: Scale,
    target: Target,
    kept: BoolArray | None = None,
) -> Regression:
    """The l2,1 regression of the targets, and a ranking of at least so many columns.

    Columns that are to be kept come first, and the others rebuild what they leave of the targets.
    """
    if kept is not None and kept.any():
        Y = left_of(Y, X.columns(np.flatnonzero(kept)))
        Y = Y[:, Y.any(axis=0)]
    correlation = X.transposed_times(Y)
    coef = np.zeros_like(correlation)
    if correlation.any():
        penalty = ALPHA * alpha_max(X, Y)
        coef = l21_regression(X, Y, penalty, tol=TOLERANCE, max_iter=MAX_EPOCHS).solution
    scores = path_scores(X, coef, correlation, n_ranked, kept)
    return Regression(scale, target, coef, correlation, scores)


def path_scores(
    X: TableOperator,
    coef: FloatArray,
    correlation: FloatArray,
    n_ranked: int,
    kept: BoolArray | None = None,
) -> FloatArray:
    """The scores of the columns, at least so many of them in the order of the regression's path."""
    scores = np.zeros(X.shape[1])
    if correlation.any():
        path = least_angle_regression(X, correlation, n_ranked, start=coef, news=NEWS)
        scores = scores_along_paths(row_norms(coef), [path], correlation)
    return scores if kept is None else np.where(kept, 1 + scores.max(), scores)


@dataclass(frozen=True)
class Evidence:
    """What speaks for some columns without labels.

    Attributes
    ----------
    agreement : float
        NMI of the groups of all columns with K-means clusters on these columns.
    modularity : float
        Of those clusters, on the graph of all columns.
    """

    agreement: float
    modularity: float


def evidence(columns: FloatArray, shape: Shape) -> Evidence:
    """How much of the groups some columns, standardised, still show.

    K-means starts at the means of the groups, so that nothing is left to chance.
    """
    clusters = kmeans(columns, shape.n_groups, start=shape.labels).labels
    return Evidence(
        float(normalized_mutual_information(shape.labels, clusters)),
        modularity(shape.graph, clusters),
    )


def standardised_columns(X: Matrix, columns: IntArray) -> FloatArray:
    """The columns, dense, each with mean 0 and variance 1."""
    chosen = TableOperator.centred(X[:, columns]).columns(np.arange(len(columns)))
    return chosen / np.sqrt(np.einsum("ij,ij->j", chosen, chosen) / len(chosen))
