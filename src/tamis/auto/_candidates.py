"""Selections that may be good, each a ranking of the columns, and what speaks for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.sparse as sp
from scipy.linalg import qr

from tamis._typing import BoolArray, FloatArray, IntArray, Matrix, SparseMatrix
from tamis.auto._scales import Scale
from tamis.auto._shape import Shape
from tamis.clustering import kmeans, modularity
from tamis.graphs import spectral_embedding
from tamis.metrics import normalized_mutual_information
from tamis.solvers.dense import eigh
from tamis.solvers.l21 import l21_regression, largest_penalty
from tamis.solvers.lars import NEWS, least_angle_regression, scores_along_paths
from tamis.solvers.residual import left_of
from tamis.solvers.row_norms import row_norms
from tamis.solvers.table_operator import TableOperator
from tamis.utils.columns import centred_unit_columns, variances

Target = Literal["groups", "eigenvector"]

# The penalty of the regression, as a share of the one that leaves no column.
ALPHA = 0.4
TOLERANCE = 1e-4
MAX_EPOCHS = 2000
# Share of the variance of all indicators that is rebuilt.
CARRIED = 0.99
# Up to so many groups of all partitions together their products are decomposed directly.
MOST_GROUPS = 2000
# Of more groups so many components are sought, at most: a table with hundreds of groups has little
# that a few hundred leave.
MOST_COMPONENTS = 256
# Of subspace iteration, from random directions.
N_ITERATIONS = 4


@dataclass(frozen=True)
class Regression:
    """Columns that together rebuild the targets, and how the others follow.

    Attributes
    ----------
    scale : {"standard", "pareto", "none"}
    target : {"groups", "eigenvector"}
    Y : ndarray of shape (n_samples, n_targets)
        What is rebuilt.
    coef : ndarray of shape (n_features, n_targets)
    correlation : ndarray of shape (n_features, n_targets)
        ``XᵀY``.
    scores : ndarray of shape (n_features,)
        Larger is better; see :func:`tamis.solvers.lars.scores_along_paths`.
    """

    scale: Scale
    target: Target
    Y: FloatArray
    coef: FloatArray
    correlation: FloatArray
    scores: FloatArray

    def best(self, n_features: int) -> IntArray:
        """The columns of the highest scores."""
        return np.argsort(-self.scores, kind="stable")[:n_features]


def targets_of(shape: Shape) -> tuple[Target, FloatArray]:
    """What is to be rebuilt from few columns, centred, and what it is called.

    The indicators of the groups of all partitions together, or rather the leading principal
    components of these indicators, as many as carry 99 % of their variance, or 256. Let B have a
    column for every group of every partition, centred and of unit length; then ``B Bᵀ`` says how
    often two samples are in one group, in how many of the partitions, and the regression depends on
    nothing else: ``‖XW − B‖² + α‖W‖21`` is the same for B and for BQ with an orthogonal Q. Groups
    that only some partitions have weigh less, and none appears or vanishes with the last digits of
    the table.

    With one group only, there is no indicator: the smoothest eigenvector of the graph stands in.
    """
    everyone = (*shape.partitions, *shape.others) or (shape.labels,)
    several = [labels for labels in everyone if labels.any()]
    if several:
        return "groups", _leading(_indicators(several))
    if np.count_nonzero(np.diff(shape.graph.indptr)) < 2:
        return "eigenvector", np.zeros((shape.graph.shape[0], 0))
    Y = centred_unit_columns(spectral_embedding(shape.graph, 1)[1])
    return "eigenvector", Y[:, Y.any(axis=0)]


def _indicators(several: Sequence[IntArray]) -> SparseMatrix:
    """A column per group of every partition, of unit length once it is centred; still sparse."""
    blocks = []
    for labels in several:
        share = np.bincount(labels) / len(labels)
        lengths = np.sqrt(len(labels) * share * (1 - share))
        rows = np.arange(len(labels))
        shape = (len(labels), len(share))
        blocks.append(sp.csr_array((1 / lengths[labels], (rows, labels)), shape=shape))
    return sp.csr_array(sp.hstack(blocks) / np.sqrt(len(several)))


def _leading(B: SparseMatrix) -> FloatArray:
    """The centred table in its principal components that carry 99 % of its variance.

    A dense problem as wide as the groups of all partitions are many or, where they are very many,
    at most 256 components.
    """
    if B.shape[1] > MOST_GROUPS:
        return _sketched(TableOperator.centred(B), CARRIED * variances(B).sum())
    mean = B.mean(axis=0)
    values, vectors = eigh((B.T @ B).toarray() - B.shape[0] * np.outer(mean, mean))
    values, vectors = values[::-1].clip(min=0), vectors[:, ::-1]
    n_needed = int(np.searchsorted(np.cumsum(values), CARRIED * values.sum())) + 1
    directions = vectors[:, :n_needed]
    return B @ directions - mean @ directions


def _sketched(B: TableOperator, wanted: float) -> FloatArray:
    """Of very many components the leading 256, found by subspace iteration, or fewer.

    Groups that all partitions agree on have one common eigenvalue, often hundreds of them, at which
    Lanczos does not end: they are all alike, and any 256 directions among them, drawn at random,
    stand for them all as well as others. O(g n_partitions 256 + g 256²) for g groups.
    """
    directions = np.random.default_rng(0).standard_normal((B.shape[1], MOST_COMPONENTS))
    for _ in range(N_ITERATIONS):
        directions, _ = qr(B.transposed_times(B.times(directions)), mode="economic")
    components = B.times(directions)
    values, vectors = eigh(components.T @ components)
    carried = np.cumsum(values[::-1]) / B.shape[0]
    n_needed = min(int(np.searchsorted(carried, wanted)) + 1, MOST_COMPONENTS)
    return components @ vectors[:, ::-1][:, :n_needed]


def regress(
    X: TableOperator,
    Y: FloatArray,
    n_ranked: int,
    scale: Scale,
    target: Target,
    kept: BoolArray | None = None,
    *,
    tol: float = TOLERANCE,
) -> Regression:
    """The l2,1 regression of the targets, and a ranking of at least so many columns.

    Columns that are to be kept come first, and the others rebuild what they leave of the targets.
    """
    left = Y
    if kept is not None and kept.any():
        left = left_of(Y, X.columns(np.flatnonzero(kept)))
        left = left[:, left.any(axis=0)]
    correlation = X.transposed_times(left)
    coef = np.zeros_like(correlation)
    if correlation.any():
        penalty = ALPHA * largest_penalty(correlation)
        coef = l21_regression(
            X, left, penalty, correlation=correlation, tol=tol, max_iter=MAX_EPOCHS
        ).solution
    scores = path_scores(X, coef, correlation, n_ranked, kept)
    return Regression(scale, target, Y, coef, correlation, scores)


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
        NMI of partitions of all columns with K-means clusters on these columns, in the mean.
    modularity : float
        Of those clusters, on the graph of all columns.
    """

    agreement: float
    modularity: float


def evidence(columns: FloatArray, shape: Shape) -> Evidence:
    """How much of the groups some columns, standardised, still show.

    The mean over some of the partitions.
    """
    each = []
    for labels in shape.witnesses:
        clusters = clusters_from(columns, labels)
        agreement = normalized_mutual_information(labels, clusters)
        each.append((float(agreement), modularity(shape.graph, clusters)))
    agreement, modular = np.mean(each, axis=0).tolist()
    return Evidence(agreement, modular)


def clusters_from(columns: FloatArray, labels: IntArray) -> IntArray:
    """K-means on the columns from the means of given groups: nothing is left to chance."""
    return kmeans(columns, int(labels.max()) + 1, start=labels).labels


def standardised_columns(X: Matrix, columns: IntArray) -> FloatArray:
    """The columns, dense, each with mean 0 and variance 1."""
    chosen = TableOperator.centred(X[:, columns]).columns(np.arange(len(columns)))
    return chosen / np.sqrt(np.einsum("ij,ij->j", chosen, chosen) / len(chosen))
