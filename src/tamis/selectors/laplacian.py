"""Laplacian score: prefers the columns that vary least between neighbouring samples."""

from __future__ import annotations

from typing import ClassVar

from tamis._typing import FloatArray, Matrix
from tamis.base import Keeps
from tamis.distributed import CondensedTable, Needs
from tamis.selectors._graph import GraphSelector


class LaplacianScore(GraphSelector):
    r"""Rank features by how smoothly they vary over the graph of neighbouring samples.

    The score of feature f is

    .. math:: \frac{\tilde f^T L \tilde f}{\tilde f^T D \tilde f}, \qquad
              \tilde f = f - \frac{f^T D 1}{1^T D 1} 1,

    its variation along the edges of the graph relative to its variance: small for a feature that
    agrees with the shape of the data, about one for noise. `scores_` holds the negative, so that
    larger is better. Each feature is judged alone: two copies of a good feature are both kept.

    Cost: the neighbour search (n²d/2 single-precision multiply–adds) and O(nkd); memory O(nk + nd)
    in single precision for the search. Sparse input is never densified.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps half.
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
        Negative Laplacian scores, in [-2, 0].
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    graph_ : GraphReport
        How the graph was made, why so, and how good it is; see
        :class:`tamis.graphs.GraphReport`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    The paper weighs edges by exp(-r²/t); here t = 2·bandwidth², with a bandwidth taken from the
    data.

    References
    ----------
    X. He, D. Cai, P. Niyogi. Laplacian score for feature selection. NIPS 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import LaplacianScore
    >>> X = load_iris(as_frame=True).data
    >>> LaplacianScore(n_features_to_select=2).fit(X).get_feature_names_out()
    array(['petal length (cm)', 'petal width (cm)'], dtype=object)
    """

    _keeps: ClassVar[Keeps] = "independent"
    _needs: ClassVar[Needs | None] = "graph"

    def _fit(self, X: Matrix | CondensedTable) -> FloatArray:
        return -self._roughness(X, centre=True)
