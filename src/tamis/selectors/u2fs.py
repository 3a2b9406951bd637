"""U2FS: prefers the columns that leave last when a regression of the embedding is thinned out."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from tamis._typing import FloatArray, Matrix
from tamis.graphs import Method, Weights
from tamis.selectors._graph import GraphSelector
from tamis.solvers.backward_elimination import backward_elimination


class U2FS(GraphSelector):
    r"""Utility metric for unsupervised feature selection: backward elimination on an embedding.

    The c smoothest eigenvectors Y of the sample graph are rebuilt from all features by ridge
    regression. Then feature after feature leaves, each time the one of least utility: that without
    which the misfit rises least,

    .. math:: U_l = \|w_l\|^2 \,/\, \big((X^T X + \mu I)^{-1}\big)_{ll}

    The last to leave is the best. A feature that repeats others is cheap to do without.

    Cost: the neighbour search, O(nk) per Lanczos step, then O(d·min(n, d)) for each feature that
    leaves, O(d²·min(n, d)) for all; memory O(d·min(n, d)). Sparse input is never densified where
    d < n; for n ≤ d its n × d table is. Tables with more than 6000 of both samples and features are
    refused.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps half.
    n_clusters : int, default=5
        c, the number of eigenvectors after the constant one.
    ridge : float, default=0.01
        μ, in units of the mean squared length of the columns.
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
    n_jobs : int or None, default=None
        Threads of the neighbour search where it uses a tree.
    verbose : bool, default=False
        Whether to show a progress bar, on a terminal.
    keep : list of str or int, or None, default=None
        Columns that are always selected, by name, pattern ("id_*") or index. They come first; the
        others are ranked as without them, since the method does not choose given some.
    drop : list of str or int, or None, default=None
        Columns that are not looked at and never selected.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The place in the order of elimination, the first to leave has 1/d, the last 1.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    utility_ : ndarray of shape (n_features,)
        By how much the misfit of Y rose when the feature left.
    embedding_ : ndarray of shape (n_samples, n_clusters)
        Y, centred and of unit length.
    graph_ : GraphReport
        How the graph was made, why so, and how good it is; see
        :class:`tamis.graphs.GraphReport`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    The paper's embedding is that of a dense Gaussian kernel of all pairs of samples, with a width
    from an approximation for many dimensions. Here it is that of the graph of neighbours, whose
    heat weights take the median distance between neighbours as their width: as automatic, and
    nothing n × n is formed.

    For n < d the paper takes the least squares solution of smallest norm, by a pseudo-inverse, and
    a utility of its own for dependent columns; a ridge covers both cases by one formula, which is
    the exact rise of what is minimised. Utilities follow each elimination by rank-one formulas, as
    in the paper, and are computed anew every 200.

    Of equal columns the last leaves first.

    References
    ----------
    A. Villa, A. M. Narayanan, S. Van Huffel, A. Bertrand, C. Varon. Utility metric for unsupervised
    feature selection. PeerJ Computer Science 7 (2021).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tamis import U2FS
    >>> X = StandardScaler().set_output(transform="pandas").fit_transform(
    ...     load_wine(as_frame=True).data
    ... )
    >>> U2FS(n_features_to_select=3, n_clusters=2).fit(X).get_feature_names_out()
    array(['flavanoids', 'color_intensity', 'proline'], dtype=object)
    """

    _learned: ClassVar[dict[str, Any]] = {
        "utility_": ("n_features",),
        "embedding_": ("n_samples", "n_clusters"),
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GraphSelector._parameter_constraints,
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "ridge": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_clusters: int = 5,
        ridge: float = 0.01,
        n_neighbors: int = 5,
        neighbors: Method = "auto",
        weights: Weights = "heat",
        bandwidth: float | None = None,
        affinity: Any = None,
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
        self.ridge = ridge

    def _fit(self, X: Matrix) -> FloatArray:
        table, Y = self._regression_on_embedding(X, self.n_clusters)
        ridge = self.ridge * float(table.squared_column_norms().mean())
        found = backward_elimination(table, Y, ridge)
        scores, self.utility_ = np.empty(X.shape[1]), np.empty(X.shape[1])
        scores[found.order] = np.arange(1, X.shape[1] + 1) / X.shape[1]
        self.utility_[found.order] = found.costs
        return scores
