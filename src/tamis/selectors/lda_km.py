"""LDA-Km: prefers the columns from which discriminant analysis tells K-means clusters apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tamis._typing import FloatArray, IntArray, Matrix
from tamis.clustering import between_root
from tamis.selectors._projected_kmeans import ProjectedKMeans
from tamis.solvers.indefinite import IndefiniteGram
from tamis.solvers.ratio_trace import (
    RatioTrace,
    first_discriminants,
    ratio_trace_l21,
    scatter_root,
)
from tamis.solvers.refinement import Refinement
from tamis.solvers.result import SolverResult
from tamis.solvers.table_operator import TableOperator


class LDAKM(ProjectedKMeans):
    r"""Linear discriminant analysis and K-means in turn, with an l2,1 penalty.

    K-means clusters the projected samples, discriminant analysis finds the projection that tells
    the clusters apart best, and so on, which adapts the projection to the data (Ding and Li). With
    the penalty that the TRACK paper adds, the features are selected:

    .. math:: \min_{W, G} \mathrm{Tr}(W^T (S_w + \delta I) W) + \gamma \|W\|_{2,1}
       \quad\text{such that}\quad W^T (S_t + \delta I) W = I,

    with :math:`S_t` the total scatter of the features and :math:`S_w` that within the clusters G.
    Features are ranked by the norms of the rows of W. The scale of the table does not matter; that
    of its columns beside each other does.

    Cost: K-means, O(n·d·n_clusters) per iteration, then O(nd·min(n, d)) once and for each inner
    iteration O(d³) for d ≤ 2n, O(n²d) for d > 2n, with some dozens of products of the same size as
    X. Memory O(nd). Sparse input is centred implicitly and never densified. The smaller side of the
    table may not exceed 6000.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps half.
    n_clusters : int, default=5
        c, the number of clusters.
    n_components : int or None, default=None
        m, the number of columns of W, at most one per feature; None takes c − 1, as many as there
        are directions between c clusters.
    gamma : float, default=0.1
        γ, the weight of the penalty.
    ridge : float, default=0.1
        δ, added to the diagonal of both scatters, as a fraction of the mean scatter of a feature.
    n_init : int, default=1
        Runs from different clusters, of which the one of least objective is kept. The first run
        starts from the best of ten K-means, each other one from a single K-means.
    max_iter : int, default=50
        Rounds of clusters and projection.
    max_inner : int, default=300
        Steps of the projection in each round.
    tol : float, default=1e-6
        Relative decrease of the objective at which to stop, inside a round and between rounds; 0
        runs `max_iter` rounds of `max_inner` steps.
    random_state : int, RandomState instance or None, default=0
        Seed of the K-means starts; None for others on every call.
    keep : list of str or int, or None, default=None
        Columns that are always selected, by name, pattern ("id_*") or index. They come first; the
        others are ranked as without them, since the method does not choose given some.
    drop : list of str or int, or None, default=None
        Columns that are not looked at and never selected.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Norms of the rows of W.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    coef_ : ndarray of shape (n_features, n_columns)
        W, for the table scaled to a mean scatter of one per feature; zero rows for constant
        features.
    labels_ : ndarray of shape (n_samples,)
        The clusters.
    n_support_ : int
        Rows of W that the penalty has left: above 1e-4 of the largest.
    ratio_ : float
        The share of the scatter of XW that lies within the clusters.
    objective_ : ndarray of shape (n_iter_,)
        The objective after each round; it never rises.
    inner_objective_ : list of ndarray
        For each round the objective after its clusters and after each step of its projection.
    n_iter_ : int
        Rounds.
    solver_ : str
        The eigensolver that was used last, and why.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    Discriminant analysis leaves W free up to an invertible matrix, and K-means depends on which is
    taken. The one taken here, S_t + δI whitened, makes both steps descend one objective, which the
    original lacks: within this constraint the clusters matter through Tr(WᵀS_wW) alone, the inertia
    of K-means. The row norms are smoothed, sqrt(‖w‖² + ζ), with ζ = 1e-10/δ; they cannot exceed
    δ^-½.

    References
    ----------
    C. Ding, T. Li. Adaptive dimension reduction using discriminant analysis and K-means clustering.
    ICML 2007.

    D. Wang, F. Nie, H. Huang. Unsupervised feature selection via unified trace ratio formulation
    and K-means clustering (TRACK). ECML PKDD 2014.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tamis import LDAKM
    >>> X = StandardScaler().set_output(transform="pandas").fit_transform(
    ...     load_wine(as_frame=True).data
    ... )
    >>> LDAKM(n_features_to_select=3, n_clusters=3, random_state=0).fit(X).get_feature_names_out()
    array(['alcohol', 'flavanoids', 'proline'], dtype=object)
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_clusters: int = 5,
        n_components: int | None = None,
        gamma: float = 0.1,
        ridge: float = 0.1,
        n_init: int = 1,
        max_iter: int = 50,
        max_inner: int = 300,
        tol: float = 1e-6,
        random_state: int | np.random.RandomState | None = 0,
        keep: Sequence[str | int] | None = None,
        drop: Sequence[str | int] | None = None,
    ) -> None:
        super().__init__(
            n_features_to_select,
            n_clusters=n_clusters,
            n_components=n_components,
            gamma=gamma,
            ridge=ridge,
            n_init=n_init,
            max_iter=max_iter,
            max_inner=max_inner,
            tol=tol,
            random_state=random_state,
            keep=keep,
            drop=drop,
        )

    def _fit(self, X: Matrix) -> FloatArray:
        """Discriminant analysis and K-means in turn, from each of the first clusters."""
        gram = IndefiniteGram(TableOperator.centred(X, norm=np.sqrt(X.shape[1])))
        root = scatter_root(gram.X, self.ridge, remedy="use TRACK, or fewer samples")
        refinement = Refinement()
        n_columns = self._n_columns(*X.shape)

        def ratio_trace(labels: IntArray) -> RatioTrace:
            """The scatter within these clusters, the total one whitened, and the penalty."""
            B = between_root(gram.X, labels)
            return RatioTrace(gram, root, B, self.gamma, self.ridge, refinement)

        def project(problem: RatioTrace, W: FloatArray | None) -> SolverResult[FloatArray]:
            """W for given clusters: penalised discriminant analysis."""
            if W is None:
                W = first_discriminants(problem, n_columns)
            return ratio_trace_l21(problem, W, max_iter=self.max_inner, tol=self.tol)

        return self._fit_rounds(X, gram.X, ratio_trace, project)
