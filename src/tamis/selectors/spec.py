"""SPEC: prefers the columns that agree with the smooth eigenvectors of the sample graph."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, Options

from tamis._typing import FloatArray, Matrix
from tamis.base import Keeps
from tamis.distributed import CondensedTable, Needs, condensed_embedding
from tamis.graphs import Method, Weights, degrees, laplacian_eigenvectors
from tamis.selectors._graph import GraphSelector
from tamis.utils.columns import weighted_moments


class SPEC(GraphSelector):
    r"""Rank features by spectral graph theory: the three ranking functions of Zhao and Liu.

    With :math:`\hat f = D^{1/2} f / \|D^{1/2} f\|`, the eigenpairs :math:`(\lambda_j, \xi_j)` of
    the normalised Laplacian :math:`\mathcal L`, :math:`\xi_1` the trivial one, and
    :math:`a_j = \hat f^T \xi_j`:

    - style 1: :math:`\varphi_1 = \hat f^T \mathcal L \hat f`, small for good features;
    - style 2: :math:`\varphi_2 = \varphi_1 / (1 - a_1^2)`, small for good features; this is
      exactly the Laplacian score;
    - style 3: :math:`\varphi_3 = \sum_{j=2}^{c+1} (2 - \lambda_j) a_j^2`, large for good features.

    `scores_` is the negative of the first two and the third itself: larger is better. "Feature
    ranking" in the UDFS paper is this method. Styles 1 and 3 depend on where a feature has its
    zero: style 1 favours a feature whose mean is large beside its spread, style 3 the opposite.
    Centre the columns first when their zero means nothing.

    Cost: the neighbour search (n²d/2 single-precision multiply–adds), O(nkd), and for style 3
    O(nk) per Lanczos step. No style needs the full eigendecomposition that the formulas suggest.
    Sparse input is never densified.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps half.
    style : {1, 2, 3}, default=1
        The ranking function.
    n_clusters : int, default=5
        c of style 3, the number of eigenvectors after the trivial one; unused by the others.
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
        others are ranked as without them, since each column is scored by itself.
    drop : list of str or int, or None, default=None
        Columns that are not looked at and never selected.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        :math:`-\varphi_1`, :math:`-\varphi_2` (both in [-2, 0]) or :math:`\varphi_3` (in [0, 2]).
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    graph_ : GraphReport
        How the graph was made, why so, and how good it is; see
        :class:`tamis.graphs.GraphReport`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    The paper uses a fully connected graph; a neighbour graph is sparse and follows the manifold.
    Style 3 leaves out the trivial eigenvector: with it, a feature that hardly varies around a
    large mean would come first. On a disconnected graph the vectors that tell the components apart
    come before all others.

    References
    ----------
    Z. Zhao, H. Liu. Spectral feature selection for supervised and unsupervised learning.
    ICML 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import SPEC
    >>> X = load_iris(as_frame=True).data
    >>> SPEC(n_features_to_select=2, style=3, n_clusters=3).fit(X).get_feature_names_out()
    array(['petal length (cm)', 'petal width (cm)'], dtype=object)
    """

    _keeps: ClassVar[Keeps] = "independent"
    _needs: ClassVar[Needs | None] = "graph"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GraphSelector._parameter_constraints,
        "style": [Options(Integral, {1, 2, 3})],
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        style: Literal[1, 2, 3] = 1,
        n_clusters: int = 5,
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
        self.style = style
        self.n_clusters = n_clusters

    def _fit(self, X: Matrix | CondensedTable) -> FloatArray:
        if self.style == 3:
            return self._agreement(X)
        return -self._roughness(X, centre=self.style == 2)

    def _unused_parameters(self) -> set[str]:
        unused = super()._unused_parameters()
        return unused if self.style == 3 else unused | {"n_clusters"}

    def _agreement(self, X: Matrix | CondensedTable) -> FloatArray:
        """φ3: agreement with the eigenvectors 2 … c + 1."""
        if isinstance(X, CondensedTable):  # all degrees are 1
            embedded = condensed_embedding(X, self._tie_products(X), self.n_clusters)
            eigenvalues, inner = embedded.eigenvalues, embedded.correlation
            squared_norm = X.scatter + X.n_samples * X.mean**2
        else:
            affinity = self._sample_graph(X)
            eigenvalues, eigenvectors = laplacian_eigenvectors(affinity, self.n_clusters)
            degree = degrees(affinity)
            mean, scatter = weighted_moments(X, degree)
            squared_norm = scatter + degree.sum() * mean**2  # ‖D^½ f‖²
            # The eigenvectors are orthogonal to D^½1, so that the mean of f plays no part.
            inner = X.T @ (np.sqrt(degree)[:, None] * eigenvectors)
        return np.divide(
            inner**2 @ (2 - eigenvalues),
            squared_norm,
            out=np.zeros(X.shape[1]),
            where=squared_norm > 0,
        )
