"""TRACK: prefers the columns in which K-means clusters are tight beside the spread of the data."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from tamis._typing import FloatArray, IntArray, Matrix
from tamis.clustering import between_root
from tamis.selectors._projected_kmeans import ProjectedKMeans
from tamis.solvers.indefinite import IndefiniteGram
from tamis.solvers.result import SolverResult
from tamis.solvers.table_operator import TableOperator
from tamis.solvers.trace_ratio import TraceRatio, first_directions, trace_ratio_l21


class TRACK(ProjectedKMeans):
    r"""Trace ratio and K-means with an l2,1 penalty, learned together.

    K-means clusters G and a projection W are sought such that, in the projected space, the clusters
    are tight beside the total spread, and such that W uses few features (equation 13):

    .. math:: \min_{W^T W = I,\; G} \frac{\mathrm{Tr}(W^T S_w W)}{\mathrm{Tr}(W^T S_t W)}
       + \gamma \|W\|_{2,1},

    with :math:`S_t` the total scatter of the features and :math:`S_w` that within the clusters.
    Features are ranked by the norms of the rows of W. The scale of the table does not matter; that
    of its columns beside each other does.

    Cost: K-means, O(n·d·n_clusters) per iteration, then for each inner iteration an eigenproblem:
    O(d³) for d ≤ 2n, O(n²d) and a few hundred products with X for d > 2n, less as the penalty opens
    a gap behind the eigenvectors. Memory O(nd). Sparse input is centred implicitly and never
    densified.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps half.
    n_clusters : int, default=5
        c, the number of clusters.
    n_components : int, "paper" or None, default=None
        m, the number of columns of W, at most one per feature. None takes c − 1, as many as there
        are directions between c clusters. "paper" takes c − 1 + d − n where d > n, the paper's
        rule: W then has at least that many non-zero rows, and the ratio is zero whatever the
        clusters.
    gamma : float, default=0.001
        γ, the weight of the penalty. Under WᵀW = I it cannot empty W: a large γ leaves as many
        rows as columns.
    ridge : float, default=1.0
        Added to the diagonal of both scatters, as a fraction of the mean scatter of a feature.
        Without it the ratio favours features that hardly vary.
    safeguard : bool, default=True
        Whether to hold back a step that would raise the objective; False is Algorithm 1 as printed.
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
        W, with orthonormal columns; zero rows for constant features.
    labels_ : ndarray of shape (n_samples,)
        The clusters.
    n_support_ : int
        Rows of W that the penalty has left: above 1e-4 of the largest.
    ratio_ : float
        The trace ratio reached, the penalty not counted.
    objective_ : ndarray of shape (n_iter_,)
        The objective after each round; it never rises with the safeguard.
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
    Where this departs from the paper:

    - Algorithm 1 does not descend, as Section 5.1 claims: its step solves equation 20 with the
      ratio held fixed, which need not lower the ratio. A step that rises is taken again closer to
      the current W until it does not.
    - The row norms are smoothed as in the text below equation 18, with ζ = 1e-10, in the weights
      and in the objective.
    - W starts at the directions that the first clusters span, not at D = I, which leaves the first
      step undetermined for n < d.
    - ``ridge`` and c − 1 columns for n < d; ``ridge=0, n_components="paper", safeguard=False`` is
      the printed form.
    - Constant features leave the problem.

    References
    ----------
    D. Wang, F. Nie, H. Huang. Unsupervised feature selection via unified trace ratio formulation
    and K-means clustering (TRACK). ECML PKDD 2014.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tamis import TRACK
    >>> X = StandardScaler().set_output(transform="pandas").fit_transform(
    ...     load_wine(as_frame=True).data
    ... )
    >>> TRACK(n_features_to_select=3, n_clusters=3, random_state=0).fit(X).get_feature_names_out()
    array(['alcohol', 'color_intensity', 'proline'], dtype=object)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ProjectedKMeans._parameter_constraints,
        "n_components": [None, StrOptions({"paper"}), Interval(Integral, 1, None, closed="left")],
        "ridge": [Interval(Real, 0, None, closed="left")],
        "safeguard": ["boolean"],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_clusters: int = 5,
        n_components: int | Literal["paper"] | None = None,
        gamma: float = 0.001,
        ridge: float = 1.0,
        safeguard: bool = True,
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
        self.n_components: Any = n_components
        self.safeguard = safeguard

    def _n_columns(self, n_samples: int, n_features: int) -> int:
        if self.n_components == "paper":
            wanted = self.n_clusters - 1 + max(0, n_features - n_samples)
            return max(1, min(wanted, n_features))
        return super()._n_columns(n_samples, n_features)

    def _fit(self, X: Matrix) -> FloatArray:
        """Algorithm 1 of the paper, from each of the first clusters."""
        gram = IndefiniteGram(TableOperator.centred(X, norm=1.0))
        ridge = self.ridge / X.shape[1]  # the mean scatter of a feature is 1/d
        n_columns = self._n_columns(*X.shape)

        def trace_ratio(labels: IntArray) -> TraceRatio:
            """The ratio of the scatters within these clusters and in total, and the penalty."""
            return TraceRatio(gram, between_root(gram.X, labels), self.gamma, ridge)

        def project(problem: TraceRatio, W: FloatArray | None) -> SolverResult[FloatArray]:
            """W for given clusters: equation 20, again and again."""
            if W is None:
                W = first_directions(problem, n_columns)
            return trace_ratio_l21(
                problem, W, safeguard=self.safeguard, max_iter=self.max_inner, tol=self.tol
            )

        return self._fit_rounds(X, gram.X, trace_ratio, project)
