"""PFA: prefers one column of each group of columns that share their principal components."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from tamis._typing import FloatArray, IntArray, Matrix
from tamis.clustering import kmeans
from tamis.selectors._components import ComponentSelector
from tamis.solvers.principal import principal_components
from tamis.utils.columns import extent

# Share of the variance that the components carry, unless told.
DEFAULT_SHARE = 0.9
# Distances of unit rows and shares that differ by less are equal.
ROUNDING = 1e-9
DIGITS = 9


class PFA(ComponentSelector):
    r"""Principal feature analysis: groups of columns by their loadings, and the centre of each.

    Feature i is the row :math:`v_i` of the leading q principal directions (equation 3). Columns
    that vary together have rows that are equal up to their sign. K-means groups the rows
    :math:`|v_i|` into as many clusters as features are asked for; the feature next to the mean of
    its cluster stands for it.

    Cost: O(nd·min(n, d)) where min(n, d) is at most 2000, else Lanczos at O(nd) per step, O(nnz)
    for sparse input, which is centred implicitly and never densified; then O(dqk) per iteration of
    K-means for k features.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        k: number or fraction of features to keep; None keeps half. It is the number of clusters:
        after a change, `fit` again.
    n_components : int, float or None, default=None
        Number q of components; a fraction in (0, 1) takes as many as carry that fraction of the
        variance; None takes as many as carry 0.9 of it, but no more than features are asked for.
    n_init : int, default=10
        Starts of K-means.
    random_state : int, RandomState instance or None, default=0
        Seed of K-means; None for another on every call.
    keep : list of str or int, or None, default=None
        Columns that are always selected, by name, pattern ("id_*") or index. They come first; the
        others are ranked as without them, since the method does not choose given some.
    drop : list of str or int, or None, default=None
        Columns that are not looked at and never selected.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Of the feature that stands for a cluster 1 and the share of the variance that the
        components carry in all features of the cluster; of another the closeness 1/(1 + r) to the
        mean of its cluster, r in units of the mean distance.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    groups_ : ndarray of shape (n_features,)
        The cluster of each feature, from 1 and the largest share first; 0 for constant features.
    n_components_ : int
        The number of components that was used.
    explained_variance_ : ndarray of shape (n_components_,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    The paper leaves three things open. It retains "some" variability: 0.9 is in its experiments'
    range, and q ≤ k is its rule that clusters must not be fewer than components. It does not order
    the features: here a feature that stands for a larger share of the carried variance is better.
    Of features equally near to a mean, as both of a pair are, the one is taken of which the
    components carry more; of equal columns the first stands for all.

    It clusters absolute values, so that a column and its negative are one. That also makes one of
    columns whose rows differ by the sign of some components only, such as a + b and a − b.

    The components come from the covariance; standardise the columns for those of the correlation,
    which the paper allows too.

    References
    ----------
    Y. Lu, I. Cohen, X. S. Zhou, Q. Tian. Feature selection using principal feature analysis. ACM
    Multimedia 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tamis import PFA
    >>> X = StandardScaler().set_output(transform="pandas").fit_transform(
    ...     load_wine(as_frame=True).data
    ... )
    >>> PFA(n_features_to_select=3).fit(X).get_feature_names_out()
    array(['ash', 'total_phenols', 'proline'], dtype=object)
    """

    _learned: ClassVar[dict[str, Any]] = {
        "groups_": ("n_features",),
        "n_components_": 0,
        "explained_variance_": ("n_components_",),
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ComponentSelector._parameter_constraints,
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_components: int | float | None = None,
        n_init: int = 10,
        random_state: int | np.random.RandomState | None = 0,
        keep: Sequence[str | int] | None = None,
        drop: Sequence[str | int] | None = None,
    ) -> None:
        super().__init__(n_features_to_select, keep=keep, drop=drop)
        self.n_components = n_components
        self.n_init = n_init
        self.random_state = random_state

    @property
    def _count_is_fitted(self) -> bool:
        return True

    def _fit(self, X: Matrix) -> FloatArray:
        n_clusters = min(self._n_fitted, X.shape[1])
        lowest, highest = extent(X)
        unit = (highest - lowest).max()  # squares of variances stay far from the limits of floats
        loadings = self._loadings(X / unit, n_clusters)
        self.explained_variance_ *= unit**2
        rows = np.abs(loadings).round(DIGITS)  # equal columns have equal rows
        found = kmeans(rows, n_clusters, n_init=self.n_init, random_state=self.random_state)
        distances = np.linalg.norm(rows - found.centres[found.labels], axis=1)
        carried = loadings**2 @ self.explained_variance_
        shares = np.bincount(found.labels, carried) / carried.sum()
        place = np.empty(len(shares), dtype=np.intp)
        place[np.argsort(-shares, kind="stable")] = np.arange(len(shares))
        self.groups_ = place[found.labels] + 1
        return _scores(found.labels, distances, carried, shares)

    def _loadings(self, X: Matrix, n_clusters: int) -> FloatArray:
        """Rows of the leading directions; sets the variances of the components."""
        wanted = self._wanted_components(X.shape, DEFAULT_SHARE)
        variances, directions = principal_components(X, wanted)
        most = n_clusters if self.n_components is None else len(variances)
        self.explained_variance_ = variances[:most]
        self.n_components_ = len(self.explained_variance_)
        return directions[:, :most]


def _scores(
    labels: IntArray, distances: FloatArray, carried: FloatArray, shares: FloatArray
) -> FloatArray:
    """Closeness to the mean of the cluster; 1 and the cluster's share for the one next to it.

    Both members of a pair are equally near to their mean, but for rounding: of such the one whose
    variance the components carry most stands for the cluster, of equal columns the first.
    """
    mean = distances.mean()
    scores = 1 / (1 + distances / mean) if mean > 0 else np.full(len(distances), 0.5)
    scores *= 1 - 1e-9  # below those that stand for a cluster, even at a mean
    smallest = np.full(len(shares), np.inf)
    np.minimum.at(smallest, labels, distances)
    near = np.flatnonzero(distances <= smallest[labels] + ROUNDING)
    most = np.zeros(len(shares))
    np.maximum.at(most, labels[near], carried[near])
    near = near[carried[near] >= (1 - ROUNDING) * most[labels[near]]]
    _, first = np.unique(labels[near], return_index=True)
    scores[near[first]] = 1 + shares
    return scores
