"""InfFS: prefers columns that vary much and correlate little with the others."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from tamis._typing import FloatArray, Matrix
from tamis.base import Selector
from tamis.solvers.all_paths import all_paths
from tamis.solvers.dense import scale_rows
from tamis.solvers.rank_correlation import RankCorrelation
from tamis.utils.columns import extent, variances

# Edges of no more than this are zero but for rounding.
ROUNDING = 1e-12


class InfFS(Selector):
    r"""Infinite feature selection: features as nodes of a graph, and the energy of all its paths.

    Two features are joined by an edge of weight

    .. math:: A_{ij} = \alpha \max(\sigma_i, \sigma_j) + (1 - \alpha) (1 - |\rho_{ij}|)

    with σ their standard deviations, the largest of which is 1, and ρ their rank correlation. The
    score of a feature is the energy of all paths that leave it (equation 8):
    :math:`\sum_{l \ge 1} r^l A^l \mathbf{1} = ((I - rA)^{-1} - I) \mathbf{1}`, with r a fraction of
    the inverse of the largest eigenvalue of A.

    Cost: O(nd²) once for up to 6000 features, beyond that per step of Lanczos, of which there are
    about ten; memory O(nd + min(d, 6000)²). No d × d matrix is inverted. Sparse input is never
    densified, but for columns of many values: rows of m values cost O(nm²) instead.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps half.
    alpha : float, default=0.5
        α, the weight of the variation, in [0, 1], beside that of the lack of correlation.
    factor : float, default=0.9
        r times the largest eigenvalue of A, in (0, 1): how much long paths count.
    keep : list of str or int, or None, default=None
        Columns that are always selected, by name, pattern ("id_*") or index. They come first; the
        others are ranked as without them, since the method does not choose given some.
    drop : list of str or int, or None, default=None
        Columns that are not looked at and never selected.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The energies.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    radius_ : float
        The largest eigenvalue of A.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    The authors' program brings max(σ_i, σ_j) to [0, 1] by its smallest and largest value. Where all
    columns vary alike, as standardised ones do, that turns rounding into the whole of the term, or
    divides zero by zero. Here σ is divided by its largest value: columns that vary alike then have
    equal weights, and only correlations are left to rank by. Their variances matter, so bring
    columns that are to be compared to a common range, not to unit variance.

    A has a dominant eigenvector, all of one sign, to which nearly all of the energy belongs. It is
    close to the row sums of A: the score of a feature is, in effect, its variation plus its mean
    lack of correlation with the others. Columns of noise, which correlate with nothing, have most
    of that.

    References
    ----------
    G. Roffo, S. Melzi, M. Cristani. Infinite feature selection. ICCV 2015.

    G. Roffo, S. Melzi, U. Castellani, A. Vinciarelli, M. Cristani. Infinite feature selection: a
    graph-based feature filtering approach. TPAMI 43 (2021).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from tamis import InfFS
    >>> X = MinMaxScaler().set_output(transform="pandas").fit_transform(
    ...     load_wine(as_frame=True).data
    ... )
    >>> InfFS(n_features_to_select=3).fit(X).get_feature_names_out()
    array(['malic_acid', 'nonflavanoid_phenols',
           'od280/od315_of_diluted_wines'], dtype=object)
    """

    _learned: ClassVar[dict[str, Any]] = {"radius_": 0.0}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Selector._parameter_constraints,
        "alpha": [Interval(Real, 0, 1, closed="both")],
        "factor": [Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        alpha: float = 0.5,
        factor: float = 0.9,
        keep: Sequence[str | int] | None = None,
        drop: Sequence[str | int] | None = None,
    ) -> None:
        super().__init__(n_features_to_select, keep=keep, drop=drop)
        self.alpha = alpha
        self.factor = factor

    def _fit(self, X: Matrix) -> FloatArray:
        lowest, highest = extent(X)
        sigma = np.sqrt(variances(X / (highest - lowest).max()))
        graph = FeatureGraph(RankCorrelation(X), sigma / sigma.max(), self.alpha)
        rounding = ROUNDING * X.shape[1]
        ones = np.ones(X.shape[1])
        found = all_paths(graph.times, ones, self.factor, negligible=rounding)
        self.radius_ = found.radius
        if self.radius_ <= rounding:  # all columns are copies of each other, and α is zero
            return np.zeros(X.shape[1])
        return found.solution


class FeatureGraph:
    """A as an operator.

    Parameters
    ----------
    correlation : RankCorrelation
    sigma : ndarray of shape (n_features,)
    alpha : float
    """

    def __init__(self, correlation: RankCorrelation, sigma: FloatArray, alpha: float) -> None:
        self._correlation, self._alpha = correlation, alpha
        self._order = np.argsort(sigma, kind="stable")
        self._sigma = sigma[self._order]

    def times(self, V: FloatArray) -> FloatArray:
        """``AV`` for a vector or columns."""
        unlike = V.sum(axis=0) - self._correlation.times(V)
        return self._alpha * self._largest_of_pairs_times(V) + (1 - self._alpha) * unlike

    def _largest_of_pairs_times(self, V: FloatArray) -> FloatArray:
        """``max(σ_i, σ_j)`` times V, in order of σ: the smaller ones count by σ_i. O(d)."""
        ordered = V[self._order]
        smaller = np.cumsum(ordered, axis=0)
        weighted = scale_rows(ordered, self._sigma)
        larger = weighted.sum(axis=0) - np.cumsum(weighted, axis=0)
        product = np.empty_like(V)
        product[self._order] = scale_rows(smaller, self._sigma) + larger
        return product
