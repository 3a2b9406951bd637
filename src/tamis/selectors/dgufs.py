"""DGUFS: prefers the columns on which cluster labels depend that also depend on the graph."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval

from tamis._typing import BoolArray, FloatArray, IntArray, Matrix
from tamis.base import OBJECTIVE, Keeps
from tamis.clustering import between_root, kmeans
from tamis.graphs import Method, Weights, spectral_embedding
from tamis.selectors._graph import GraphSelector
from tamis.solvers.table_operator import TableOperator
from tamis.utils.columns import centred_unit_columns, extent
from tamis.utils.sparse import is_sparse


class DGUFS(GraphSelector):
    r"""Dependence guided selection: labels that depend on the data and on m selected columns.

    Labels of c clusters and exactly m columns are learned together, such that the labels depend on
    the similarities S of the samples and the columns on the labels. For the columns
    :math:`X_A` that are selected and the projection :math:`L = V(V^TV)^{-1}V^T` on the label
    indicators V,

    .. math:: \max_{V, |A| = m} \; (1 - \beta) \, \mathrm{tr}(X_A^T H L H X_A) \,/\, T
        + \beta \, \mathrm{tr}(S H L H) \,/\, \mathrm{tr}(S),

    where H centres and T is the most that m columns can reach. Features are ranked by their
    dependence on the labels, :math:`x_i^T H L H x_i`.

    Cost: the neighbour search, O(nk) per Lanczos step, then O(ndc) per iteration for the columns
    and O(n(m + c)c) per step of K-means for the labels; a few iterations. L and S are never formed.
    Sparse input is never densified.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps half. It is the m of the objective.
    n_clusters : int, default=5
        c.
    beta : float, default=0.5
        β, from 0, where the labels are those of K-means in the selected columns, to 1, where they
        are those of the graph and the columns follow.
    n_neighbors : int, default=5
        Neighbours of each sample in the graph, itself not counted.
    neighbors : {"auto", "exact", "approximate", "landmarks"}, default="auto"
        How they are found: one by one, approximately, or by landmarks that stand for the samples.
        "auto" is exact up to about 70,000 samples × 784 columns, and takes landmarks beyond; see
        :func:`tamis.graphs.sample_graph`.
    weights : {"heat", "binary", "cosine"}, default="heat"
        Weights of the edges; see :func:`tamis.graphs.neighbor_graph`.
    bandwidth : float or None, default=None
        Bandwidth of the heat weights; None takes the median distance between neighbours.
    affinity : {sparse, array-like} of shape (n_samples, n_samples) or None, default=None
        A precomputed symmetric graph, used instead of the neighbours of X.
    max_iter : int, default=100
    random_state : int, RandomState instance or None, default=0
        Seed of the K-means starts of the first labels.
    n_jobs : int or None, default=None
        Threads of the neighbour search where it uses a tree.
    verbose : bool, default=False
        Whether to show a progress bar, on a terminal.
    keep : list of str or int, or None, default=None
        Columns that are always selected, by name, pattern ("id_*") or index. They are among the m
        columns of the objective: labels and other columns are learned given them.
    drop : list of str or int, or None, default=None
        Columns that are not looked at and never selected.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The dependence of each feature on the labels, relative to the largest variance: of
        standardised columns, the share of the variance that the labels explain.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    labels_ : ndarray of shape (n_samples,)
        The clusters, from 0.
    embedding_ : ndarray of shape (n_samples, n_clusters)
        E with S = EEᵀ: the smoothest eigenvectors of the graph, centred, each of a length that its
        eigenvalue gives it.
    objective_ : ndarray of shape (n_iter_,)
        1 less the dependence that is maximised, after each iteration; it never rises.
    n_iter_ : int
    graph_ : GraphReport
        How the graph was made, why so, and how good it is; see
        :class:`tamis.graphs.GraphReport`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    Where this departs from the paper:

    - L is the projection on the labels, scaled by the sizes of the clusters. The paper's is VVᵀ, n
      × n with entries 0 and 1, under a penalty on its rank: with that, one cluster of all samples
      has the largest tr(SL), since S is not negative, and the smallest rank. A projection has rank
      c, whatever the sizes, and the penalty has no work left.
    - S is the part of the graph of neighbours that its c smoothest eigenvectors carry, of rank c,
      centred like the columns; the paper's is n × n and not centred.
    - The paper descends by a method of multipliers. In the authors' program it starts from zeros,
      where the m columns of the smallest norms are its first choice, and stops after a fixed
      number of steps. Here labels are a K-means of the selected columns beside E, and the columns
      are the m best for the labels: no step of either raises the one objective.
    - The weights of both terms are shares of what each can reach, free of units.

    References
    ----------
    J. Guo, W. Zhu. Dependence guided unsupervised feature selection. AAAI 2018.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tamis import DGUFS
    >>> X = StandardScaler().set_output(transform="pandas").fit_transform(
    ...     load_wine(as_frame=True).data
    ... )
    >>> DGUFS(n_features_to_select=3, n_clusters=3).fit(X).get_feature_names_out()
    array(['flavanoids', 'od280/od315_of_diluted_wines', 'proline'],
          dtype=object)
    """

    _keeps: ClassVar[Keeps] = "given"
    _learned: ClassVar[dict[str, Any]] = {
        **OBJECTIVE,
        "labels_": ("n_samples",),
        "embedding_": ("n_samples", "n_clusters"),
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GraphSelector._parameter_constraints,
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "beta": [Interval(Real, 0, 1, closed="both")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_clusters: int = 5,
        beta: float = 0.5,
        n_neighbors: int = 5,
        neighbors: Method = "auto",
        weights: Weights = "heat",
        bandwidth: float | None = None,
        affinity: Any = None,
        max_iter: int = 100,
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
        keep: Sequence[str | int] | None = None,
        drop: Sequence[str | int] | None = None,
    ) -> None:
        super().__init__(
            n_features_to_select,
            n_neighbors=n_neighbors,
            neighbors=neighbors,
            weights=weights,
            bandwidth=bandwidth,
            affinity=affinity,
            n_jobs=n_jobs,
            verbose=verbose,
            keep=keep,
            drop=drop,
        )
        self.n_clusters = n_clusters
        self.beta = beta
        self.max_iter = max_iter
        self.random_state = random_state

    @property
    def _count_is_fitted(self) -> bool:
        return True

    def _fit(self, X: Matrix) -> FloatArray:
        values, Y = spectral_embedding(self._sample_graph(X), self.n_clusters)
        self.embedding_ = E = centred_unit_columns(Y) * np.sqrt((1 - values).clip(min=0))
        lowest, highest = extent(X)
        X = X / (highest - lowest).max()  # squares stay far from the limits of floats
        n_constant = int(np.count_nonzero(self._listed("keep") & self._set_aside))
        n_columns = max(1, self._n_fitted - n_constant)
        problem = Dependence(X, E, self.beta, n_columns, self._kept)
        labels = kmeans(E, self.n_clusters, random_state=self.random_state).labels
        objective: list[float] = []
        converged = False
        for _ in range(self.max_iter):
            chosen = problem.best_columns(labels)
            before, labels = labels, problem.better_labels(labels, chosen)
            objective.append(problem.objective(labels, chosen))
            if converged := np.array_equal(labels, before):
                break
        self.labels_ = labels
        self._set_path(np.array(objective), converged)
        return problem.dependence(labels) / problem.lengths.max()


class Dependence:
    """The paper's two dependences, of labels on similarities and of columns on labels.

    Parameters
    ----------
    X : {ndarray, CSR} of shape (n_samples, n_features)
    E : ndarray of shape (n_samples, n_clusters)
        Centred, with S = EEᵀ.
    beta : float
    n_columns : int
        m.
    kept : ndarray of shape (n_features,)
        Which columns are among the m in any case.
    """

    def __init__(
        self, X: Matrix, E: FloatArray, beta: float, n_columns: int, kept: BoolArray
    ) -> None:
        self.X, self.E, self.beta = X, E, beta
        self.n_columns, self.kept = min(n_columns, X.shape[1]), kept
        self.table, self.graph = TableOperator.centred(X), TableOperator(E)
        self.lengths = self.table.squared_column_norms()
        # The most that each dependence can reach.
        self._reach = float(np.sort(self.lengths)[-self.n_columns :].sum())
        self._graph_reach = float(np.vdot(E, E)) or 1.0

    def dependence(self, labels: IntArray) -> FloatArray:
        """``x_iᵀHLHx_i`` for each column: its scatter between the clusters. O(ndc)."""
        return np.asarray((between_root(self.table, labels) ** 2).sum(axis=0))

    def best_columns(self, labels: IntArray) -> IntArray:
        """The m columns of the largest dependence, those to keep among them; ties by index."""
        order = np.lexsort((-self.dependence(labels), ~self.kept))
        return np.sort(order[: self.n_columns])

    def better_labels(self, labels: IntArray, chosen: IntArray) -> IntArray:
        """Labels of no smaller dependence: K-means of the chosen columns beside E, from `labels`.

        What K-means leaves within the clusters of this table is what the dependence lacks.
        """
        columns = self.X[:, chosen] * np.sqrt((1 - self.beta) / self._reach)
        graph = self.E * np.sqrt(self.beta / self._graph_reach)
        if is_sparse(columns):
            joint: Matrix = sp.hstack([columns, sp.csr_array(graph)], format="csr")
        else:
            joint = np.hstack([columns, graph])
        return kmeans(joint, int(labels.max()) + 1, start=labels).labels

    def objective(self, labels: IntArray, chosen: IntArray) -> float:
        """1 less both dependences, as shares of what they can reach."""
        of_columns = float(self.dependence(labels)[chosen].sum()) / self._reach
        of_graph = float((between_root(self.graph, labels) ** 2).sum()) / self._graph_reach
        return 1 - (1 - self.beta) * of_columns - self.beta * of_graph
